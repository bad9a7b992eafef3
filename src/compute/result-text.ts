import type { Hex } from '../messages.ts'

/** What every answer says of a result, signed or not. */
export interface ResultFacts {
  readonly result: number | boolean
  /** Absent for the three predicates. */
  readonly units: string | undefined
  /** e.g. `distance`, `within:50000`. */
  readonly operation: string
  readonly timestampSeconds: number
  readonly inputRefs: readonly Hex[]
}

/**
 * The first members of an answer as JSON text, without the braces.
 *
 * A template, for `JSON.stringify` would look at every value again: each in it is hex, a finite number, a truth value or a
 * word of ours, so nothing needs escaping.
 */
export function resultMembers({ result, units, operation, timestampSeconds, inputRefs }: ResultFacts): string {
  const unitsMember = units === undefined ? '' : `"units":"${units}",`
  const refs = inputRefs.length === 1 ? `"${inputRefs[0]}"` : inputRefs.map((ref) => `"${ref}"`).join(',')
  return `"result":${result},${unitsMember}"operation":"${operation}","timestamp":${timestampSeconds},"inputRefs":[${refs}]`
}
