import { type ResultFacts, resultMembers } from '../compute/result-text.ts'
import type { Hex } from '../messages.ts'

/** Everything an answer to a compute request says. */
export interface ComputeAnswer extends ResultFacts {
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
 * The body of a compute answer, as a template like `resultMembers`; `proofInputs` holds the caller's words and is stringified.
 *
 * @param id `"id":…,` of a batch item
 */
export function computeAnswerJson(answer: ComputeAnswer, id = ''): string {
  const { signature, attester } = answer
  const proofInputs = answer.proofInputs.length === 0 ? '' : `,"proofInputs":${JSON.stringify(answer.proofInputs)}`
  return (
    `{${id}${resultMembers(answer)},` +
    `"attestation":{"schema":"${answer.schema}","attester":"${attester}","recipient":"${answer.recipient}",` +
    `"data":"${answer.data}","revocable":true,"refUID":"${ZERO_UID}","signature":"${signature}"},` +
    `"delegatedAttestation":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${answer.deadlineSeconds},"nonce":${answer.nonce}}${proofInputs}}`
  )
}
