import type { Hex } from '../messages.ts'

/** How an input was read, where a reader may expect something else. Not signed. */
export interface Note {
  /** `full-parallel`: an edge of a polygon from −180 to 180 was read as the whole parallel. */
  readonly code: 'full-parallel'
}

/** What a note says to people. */
export function noteText({ code }: { readonly code: string }): string {
  return code === 'full-parallel' ? 'an edge from −180 to 180 was read as the whole parallel' : code
}

/** What every answer says of a result, signed or not. */
export interface ResultFacts {
  readonly result: number | boolean
  /** Absent for the three predicates. */
  readonly units: string | undefined
  /** e.g. `distance`, `within:50000`. */
  readonly operation: string
  readonly timestampSeconds: number
  readonly inputRefs: readonly Hex[]
  readonly notes?: readonly Note[] | undefined
}

/**
 * The first members of an answer as JSON text, without the braces.
 *
 * A template, for `JSON.stringify` would look at every value again: each in it is hex, a finite number, a truth value or a
 * word of ours, so nothing needs escaping.
 */
export function resultMembers({ result, units, operation, timestampSeconds, inputRefs, notes }: ResultFacts): string {
  const unitsMember = units === undefined ? '' : `"units":"${units}",`
  const refs = inputRefs.length === 1 ? `"${inputRefs[0]}"` : inputRefs.map((ref) => `"${ref}"`).join(',')
  const notesMember = notes === undefined ? '' : `,"notes":${JSON.stringify(notes)}`
  return `"result":${result},${unitsMember}"operation":"${operation}","timestamp":${timestampSeconds},"inputRefs":[${refs}]${notesMember}`
}
