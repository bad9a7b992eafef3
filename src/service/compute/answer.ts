import { attestationJsonHead, attestationJsonTail } from '../../attest/attestation-text.ts'
import type { Hex } from '../../wire/messages.ts'
import type { Attested } from './attest.ts'

/** The signature of a result without a nonce, in addition to its attestation (decision 104). */
export interface ResultSignature {
  readonly signature: Hex
  readonly deadlineSeconds: number
  readonly salt: Hex
}

/** Everything in the response to a compute request. */
export interface ComputeResponse extends Attested {
  /** JSON members of the result, from `resultMembers`. */
  readonly members: string
  /** JSON summary of each authenticated proof among the inputs (decision 86). */
  readonly proofInputs: readonly string[]
  /** Present only if the client asked for one. */
  readonly resultSignature: ResultSignature | undefined
}

/**
 * Writes the body of a compute response. A template, for the reasons given at `resultMembers`.
 *
 * @param id `"id":…,` for a batch item
 */
export function computeResponseJson(response: ComputeResponse, id = ''): string {
  const proofInputs = proofInputsMember(response.proofInputs)
  return `{${id}${response.members},${attestationMembers(response)}${proofInputs}${resultSignatureMember(response)}}`
}

/** Returns the member `proofInputs` with a comma before it, or an empty string. */
export function proofInputsMember(proofInputs: readonly string[]): string {
  return proofInputs.length === 0 ? '' : `,"proofInputs":[${proofInputs.join(',')}]`
}

/** Returns the members `attestation` and `delegatedAttestation`, without surrounding braces. */
export function attestationMembers(attested: Attested): string {
  return attestationJsonHead(attested) + attestationJsonTail(attested)
}

function resultSignatureMember({ attester, resultSignature }: ComputeResponse): string {
  if (resultSignature === undefined) return ''
  const { signature, deadlineSeconds, salt } = resultSignature
  return (
    `,"resultSignature":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"salt":"${salt}"}`
  )
}
