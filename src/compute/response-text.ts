/** The JSON of a response to a compute request. Compute threads write what is known before the signature, the main thread the rest. */

import { ZERO_UID } from '../attest/uid.ts'
import { checksumAddress } from '../crypto/address.ts'
import type { Hex } from '../wire/values.ts'

/** Tells how an input was read where a caller may expect otherwise. Not signed. */
export type Note =
  /** An edge of a polygon from −180 to 180 was read as the whole parallel. */
  | { readonly code: 'full-parallel' }
  /** Edges were read as straight lines in longitude and latitude; their geodesics are up to this far from them. */
  | { readonly code: 'planar-deviation'; readonly meters: number }
  /** The service has no RPC for the chain on which an off-chain attestation may be revoked. */
  | { readonly code: 'revocation-unchecked'; readonly chainId: number; readonly ref: Hex }

/** Returns the text of a note for people. */
export function noteText({
  code,
  meters,
  chainId,
}: Readonly<Record<string, unknown>> & { readonly code: string }): string {
  if (code === 'full-parallel') return 'an edge from −180 to 180 was read as the whole parallel'
  if (code === 'revocation-unchecked')
    return `the service cannot ask chain ${String(chainId)} whether an off-chain attestation is revoked`
  if (code !== 'planar-deviation') return code
  return `edges were read as straight in longitude and latitude; geodesics run up to ${String(meters)} m beside them`
}

/** The facts about a result that every response has, signed or not. */
export interface ResultFacts {
  /** A matrix is text. */
  readonly result: number | boolean | string
  /** Absent for predicates and matrices. */
  readonly units: string | undefined
  /** e.g. `distance`, `within:50000`. */
  readonly operation: string
  readonly timestampSeconds: number
  readonly inputRefs: readonly Hex[]
  readonly inputSalts?: readonly (Hex | null)[] | undefined
  readonly notes?: readonly Note[] | undefined
}

/**
 * Writes the first members of a response as JSON, without the braces.
 *
 * A template is faster than `JSON.stringify`. It is safe because every value is hex, a finite number, a boolean or one of our own
 * words, so nothing needs escaping.
 */
export function resultMembers(facts: ResultFacts): string {
  const { result, units } = facts
  const unitsMember = units === undefined ? '' : `,"units":"${units}"`
  const resultMember = typeof result === 'string' ? `"matrix":"${result}"` : `"result":${result}`
  return leadingMembers(`${resultMember}${unitsMember}`, facts)
}

/** Writes the first members of a response. @param own members that only this operation has, as JSON without braces */
export function leadingMembers(
  own: string,
  { operation, timestampSeconds, inputRefs, inputSalts, notes }: Omit<ResultFacts, 'result' | 'units'>,
): string {
  const refs = inputRefs.length === 0 ? '' : `"${inputRefs.join('","')}"`
  const saltsMember = inputSalts === undefined ? '' : `,"inputSalts":${JSON.stringify(inputSalts)}`
  const notesMember = notes === undefined ? '' : `,"notes":${JSON.stringify(notes)}`
  return `${own},"operation":"${operation}","timestamp":${timestampSeconds},"inputRefs":[${refs}]${saltsMember}${notesMember}`
}

/** The fields of an attestation that vary, before it is signed. */
interface UnsignedAttestation {
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
}

/** The signature, its signer, and the fields that the signer added. */
interface AttestationSignature {
  readonly signature: Hex
  /** Checksummed. */
  readonly attester: string
  readonly deadlineSeconds: number
  readonly nonce: number
}

type AttestedText = UnsignedAttestation & AttestationSignature

/**
 * Writes the members `attestation` and `delegatedAttestation` of a response as JSON without outer braces, up to the first
 * occurrence of the signature. A compute thread can write this part before the result is signed.
 */
export function attestationJsonHead({ schema, attester, recipient, data }: UnsignedAttestation): string {
  return (
    `"attestation":{"schema":"${schema}","attester":"${attester}","recipient":"${recipient}",` +
    `"data":"${data}","revocable":true,"refUID":"${ZERO_UID}","signature":"`
  )
}

/** Writes the remainder, from the signature on. */
export function attestationJsonTail({ signature, attester, deadlineSeconds, nonce }: AttestationSignature): string {
  return (
    `${signature}"},"delegatedAttestation":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"nonce":${nonce}}`
  )
}

/** Writes the fields that a leaf covers as members of its result: JSON without the outer braces. */
export function leafJson(schema: Hex, recipient: Hex, data: Hex): string {
  return `"schema":"${schema}","recipient":"${checksumAddress(recipient)}","data":"${data}"`
}

/** The signature of a result without a nonce, in addition to its attestation (decision 104). */
export interface ResultSignature {
  readonly signature: Hex
  readonly deadlineSeconds: number
  readonly salt: Hex
}

/** Everything in the response to a compute request. */
export interface ComputeResponse extends AttestedText {
  /** JSON members of the result, from `resultMembers`. */
  readonly members: string
  /** JSON summary of each authenticated proof among the inputs (decision 86). */
  readonly proofInputs: readonly string[]
  /** Present only if the client asked for one. */
  readonly resultSignature: ResultSignature | undefined
  /** Present only if the service submits the result to its chain itself. */
  readonly submission?: object | undefined
}

/**
 * Writes the body of a compute response. A template, for the reasons given at `resultMembers`.
 *
 * @param id `"id":…,` for a batch item
 */
export function computeResponseJson(response: ComputeResponse, id = ''): string {
  const proofInputs = proofInputsMember(response.proofInputs)
  const submission = response.submission === undefined ? '' : submissionMember(response.submission)
  return `{${id}${response.members},${attestationMembers(response)}${proofInputs}${resultSignatureMember(response)}${submission}}`
}

/** Returns the member `proofInputs` with a comma before it, or an empty string. */
export function proofInputsMember(proofInputs: readonly string[]): string {
  return proofInputs.length === 0 ? '' : `,"proofInputs":[${proofInputs.join(',')}]`
}

/** Returns the member `submission` with a comma before it. */
export function submissionMember(submission: object): string {
  return `,"submission":${JSON.stringify(submission)}`
}

/** Returns the members `attestation` and `delegatedAttestation`, without surrounding braces. */
export function attestationMembers(attested: AttestedText): string {
  return attestationJsonHead(attested) + attestationJsonTail(attested)
}

/** Returns the member `resultSignature` with a comma before it, or an empty string. @param response `attester` is checksummed */
export function resultSignatureMember({
  attester,
  resultSignature,
}: Pick<ComputeResponse, 'attester' | 'resultSignature'>): string {
  if (resultSignature === undefined) return ''
  const { signature, deadlineSeconds, salt } = resultSignature
  return (
    `,"resultSignature":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"salt":"${salt}"}`
  )
}
