import { attestationJsonHead, attestationJsonTail } from '../../attest/proof-texts.ts'
import { ProblemError } from '../../base/problem.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { ComputeResult } from '../../wire/compute-messages.ts'
import type { ResultPayload } from '../../wire/signing-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import type { ServiceResponse } from '../request.ts'
import { type Attested, attest, nonceHeaders } from './attest.ts'

/** The signature of a result without a nonce, in addition to its attestation (decision 104). */
interface ResultSignature {
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

/** A compute thread's result with no input left to resolve. */
export type Computed = Exclude<ComputeResult, { ok: 'unresolved' }>

/** Turns an unsigned result into a response: checks its schema, has it signed and writes the JSON. */
export interface ResponseSigner {
  /**
   * @param proofInputs JSON summary of each authenticated proof among the inputs (decision 86)
   * @param id `"id":…,` of a batch item, empty if it has none; undefined for a single request
   * @param prefersResultSignature also signs the result without a nonce (decision 104)
   * @throws {ProblemError} if the result is a problem, its schema must not be used, or the signer cannot sign now
   */
  sign(
    computed: Computed,
    proofInputs: readonly string[],
    id?: string,
    prefersResultSignature?: boolean,
  ): Promise<ServiceResponse>
}

/** @param randomSalt returns 32 random bytes */
export function createResponseSigner(
  signer: Pick<SignerClient, 'address' | 'sign'>,
  chains: ChainPolicy,
  randomSalt: () => Hex,
): ResponseSigner {
  return {
    async sign(computed, proofInputs, id, prefersResultSignature = false) {
      if (!computed.ok) throw new ProblemError(computed.problem)
      const { kind, chainId, recipient, data } = computed
      const chain = chains.require(chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, kind, computed.schema)
      const payload = { chainId, schema: computed.schema ?? chains.defaultSchema(kind), recipient, data }
      const pendingAttestation = attest({ kind, ...payload }, signer, id !== undefined)
      // Both requests are made in the same tick, so they travel to the signer in one message.
      const [attested, resultSignature] = prefersResultSignature
        ? await Promise.all([
            pendingAttestation,
            signResult({ kind: 'result', dataKind: kind, salt: randomSalt(), ...payload }),
          ])
        : [await pendingAttestation, undefined]
      const json = computeResponseJson({ members: computed.members, ...attested, proofInputs, resultSignature }, id)
      const headers = nonceHeaders(attested)
      return { json, headers: resultSignature === undefined ? headers : { ...headers, ...APPLIED } }
    },
  }

  async function signResult(payload: ResultPayload): Promise<ResultSignature> {
    const signed = await signer.sign(payload)
    if (!signed.ok) throw new ProblemError(signed.problem)
    return { signature: signed.signature, deadlineSeconds: signed.deadlineSeconds, salt: payload.salt }
  }
}

/** Tells the client that its preference was applied (RFC 7240). */
const APPLIED = { 'Preference-Applied': 'result-signature' }
