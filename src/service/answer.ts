import { attestationHead, attestationTail } from '../attest/attestation-text.ts'
import type { Hex } from '../messages.ts'
import type { Attested } from './attest.ts'

/** A result signed without a nonce, beside its attestation (decision 104). */
export interface ResultSignature {
  readonly signature: Hex
  readonly deadlineSeconds: number
  readonly salt: Hex
}

/** Everything an answer to a compute request says. */
export interface ComputeAnswer extends Attested {
  /** What `resultMembers` says of the result. */
  readonly members: string
  /** What authenticated proofs among the inputs said (decision 86); JSON texts. */
  readonly proofInputs: readonly string[]
  /** Only for those who prefer one. */
  readonly resultSignature: ResultSignature | undefined
}

/**
 * The body of a compute answer, as a template like `resultMembers`.
 *
 * @param id `"id":…,` of a batch item
 */
export function computeAnswerJson(answer: ComputeAnswer, id = ''): string {
  const proofInputs = proofInputsMember(answer.proofInputs)
  return `{${id}${answer.members},${attestationMembers(answer)}${proofInputs}${resultSignatureMember(answer)}}`
}

/** With a comma before it, or nothing. */
export function proofInputsMember(proofInputs: readonly string[]): string {
  return proofInputs.length === 0 ? '' : `,"proofInputs":[${proofInputs.join(',')}]`
}

/** The members `attestation` and `delegatedAttestation`, without braces around them. */
export function attestationMembers(attested: Attested): string {
  return attestationHead(attested) + attestationTail(attested)
}

function resultSignatureMember({ attester, resultSignature }: ComputeAnswer): string {
  if (resultSignature === undefined) return ''
  const { signature, deadlineSeconds, salt } = resultSignature
  return (
    `,"resultSignature":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"salt":"${salt}"}`
  )
}
