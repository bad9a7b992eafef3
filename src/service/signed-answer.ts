import type { ComputeResult, Hex, ResultPayload } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { computeAnswerJson, type ResultSignature } from './answer.ts'
import { attest, nonceHeaders } from './attest.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { ServiceAnswer } from './services.ts'

/** Results of the compute threads that have nothing left to resolve. */
export type Computed = Exclude<ComputeResult, { ok: 'unresolved' }>

/** From an unsigned result to its answer: the schema is checked, the signer asked, the text made. */
export interface SignedAnswers {
  /**
   * @param proofInputs what authenticated proofs among the inputs said (decision 86), JSON texts
   * @param id `"id":…,` of a batch item, empty when it has none; single answers leave it out
   * @param prefersResultSignature also signs the result without a nonce (decision 104)
   * @throws {ProblemError} the result's own problem, a schema that must not be used, a signer that cannot sign now
   */
  answer(
    computed: Computed,
    proofInputs: readonly string[],
    id?: string,
    prefersResultSignature?: boolean,
  ): Promise<ServiceAnswer>
}

/** @param randomSalt gives 32 random bytes */
export function createSignedAnswers(
  signer: Pick<SignerClient, 'address' | 'sign'>,
  chains: ChainPolicy,
  randomSalt: () => Hex,
): SignedAnswers {
  return {
    async answer(computed, proofInputs, id, prefersResultSignature = false) {
      if (!computed.ok) throw new ProblemError(computed.problem)
      const { kind, chainId, recipient, data } = computed
      const chain = chains.require(chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, kind, computed.schema)
      const payload = { chainId, schema: computed.schema ?? chains.defaultSchema(kind), recipient, data }
      const attesting = attest({ kind, ...payload }, signer, id !== undefined)
      // Asked for in the same turn, both travel to the signer in one message.
      const [attested, resultSignature] = prefersResultSignature
        ? await Promise.all([attesting, signResult({ kind: 'result', dataKind: kind, salt: randomSalt(), ...payload })])
        : [await attesting, undefined]
      const json = computeAnswerJson({ members: computed.members, ...attested, proofInputs, resultSignature }, id)
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

/** RFC 7240: the preference was heard. */
const APPLIED = { 'Preference-Applied': 'result-signature' }
