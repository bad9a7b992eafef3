import { ProblemError } from '../../base/problem.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { ComputeResult, Hex, ResultPayload } from '../../wire/messages.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import type { ServiceResponse } from '../services.ts'
import { computeResponseJson, type ResultSignature } from './answer.ts'
import { attest, nonceHeaders } from './attest.ts'

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
