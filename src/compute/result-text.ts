import type { Hex } from '../wire/values.ts'

/** Tells how an input was read where a caller may expect otherwise. Not signed. */
export interface Note {
  /** `full-parallel`: an edge of a polygon from −180 to 180 was read as the whole parallel. */
  readonly code: 'full-parallel'
}

/** Returns the text of a note for people. */
export function noteText({ code }: { readonly code: string }): string {
  return code === 'full-parallel' ? 'an edge from −180 to 180 was read as the whole parallel' : code
}

/** The facts about a result that every response has, signed or not. */
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
 * Writes the first members of a response as JSON, without the braces.
 *
 * A template is faster than `JSON.stringify`. It is safe because every value is hex, a finite number, a boolean or one of our own
 * words, so nothing needs escaping.
 */
export function resultMembers({ result, units, operation, timestampSeconds, inputRefs, notes }: ResultFacts): string {
  const unitsMember = units === undefined ? '' : `"units":"${units}",`
  const refs = inputRefs.length === 1 ? `"${inputRefs[0]}"` : inputRefs.map((ref) => `"${ref}"`).join(',')
  const notesMember = notes === undefined ? '' : `,"notes":${JSON.stringify(notes)}`
  return `"result":${result},${unitsMember}"operation":"${operation}","timestamp":${timestampSeconds},"inputRefs":[${refs}]${notesMember}`
}
