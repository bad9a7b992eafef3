import type { Hex } from '../messages.ts'

/** Everything an answer to a compute request says. */
export interface ComputeAnswer {
  readonly result: number | boolean
  /** Absent for the three predicates. */
  readonly units: string | undefined
  readonly operation: string
  readonly timestampSeconds: number
  readonly inputRefs: readonly Hex[]
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
  readonly signature: Hex
  readonly nonce: number
  readonly deadlineSeconds: number
  /** What authenticated proofs among the inputs said (decision 86); JSON values. */
  readonly proofInputs: readonly unknown[]
}

const ZERO_UID = `0x${'0'.repeat(64)}`

/**
 * The body of a compute answer.
 *
 * A template, for `JSON.stringify` would look at every value again: each in it is hex, a finite number, a truth value
 * or a word of ours, so nothing needs escaping. `proofInputs` holds the caller's words and is stringified.
 */
export function computeAnswerJson(answer: ComputeAnswer): string {
  const { signature, attester } = answer
  const units = answer.units === undefined ? '' : `"units":"${answer.units}",`
  const refs = answer.inputRefs.map((ref) => `"${ref}"`).join(',')
  const proofInputs = answer.proofInputs.length === 0 ? '' : `,"proofInputs":${JSON.stringify(answer.proofInputs)}`
  return (
    `{"result":${answer.result},${units}"operation":"${answer.operation}","timestamp":${answer.timestampSeconds},` +
    `"inputRefs":[${refs}],` +
    `"attestation":{"schema":"${answer.schema}","attester":"${attester}","recipient":"${answer.recipient}",` +
    `"data":"${answer.data}","revocable":true,"refUID":"${ZERO_UID}","signature":"${signature}"},` +
    `"delegatedAttestation":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${answer.deadlineSeconds},"nonce":${answer.nonce}}${proofInputs}}`
  )
}
