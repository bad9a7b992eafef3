import { checksumAddress } from '../attest/address.ts'
import { OPERATIONS } from '../compute/operations.ts'
import type { ComputeResult, Hex, OperationName, SigningResult } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { computeAnswerJson } from './answer.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { ServiceAnswer } from './services.ts'

/** Results of the compute threads that have nothing left to resolve. */
export type Computed = Exclude<ComputeResult, { ok: 'unresolved' }>

/** From an unsigned result to its answer: the schema is checked, the signer asked, the text made. */
export interface SignedAnswers {
  /**
   * @param proofInputs what authenticated proofs among the inputs said (decision 86)
   * @param id `"id":…,` of a batch item
   * @throws {ProblemError} the result's own problem, a schema that must not be used, a signer that cannot sign now
   */
  answer(
    operation: OperationName,
    computed: Computed,
    timestampSeconds: number,
    proofInputs: readonly unknown[],
    id?: string,
  ): Promise<ServiceAnswer>
}

export function createSignedAnswers(signer: SignerClient, chains: ChainPolicy): SignedAnswers {
  return {
    async answer(operation, computed, timestampSeconds, proofInputs, id) {
      if (!computed.ok) throw new ProblemError(computed.problem)
      const { kind, chainId, recipient, data } = computed
      const chain = chains.require(chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, kind, computed.schema)
      const schema: Hex = computed.schema ?? chains.defaultSchema(kind)
      const signed = await signer.sign({ kind, chainId, schema, recipient, data })
      if (!signed.ok) throw new ProblemError(signed.problem)
      const { result } = OPERATIONS[operation]
      const json = computeAnswerJson(
        {
          result: computed.result,
          units: result.kind === 'numeric' ? result.units : undefined,
          operation: computed.operation,
          timestampSeconds,
          inputRefs: computed.inputRefs,
          schema,
          attester: signer.address,
          recipient: checksumAddress(recipient),
          data,
          signature: signed.signature,
          nonce: signed.nonce,
          deadlineSeconds: signed.deadlineSeconds,
          proofInputs,
        },
        id,
      )
      const headers = NONCE_HEADERS[signed.nonceSource]
      return headers === undefined ? { json } : { json, headers }
    },
  }
}

type NonceSource = Extract<SigningResult, { ok: true }>['nonceSource']

/** Said when the nonce was not read from the chain just now (decision 100). */
const NONCE_HEADERS: Readonly<Record<NonceSource, Readonly<Record<string, string>> | undefined>> = {
  chain: undefined,
  cache: { 'X-Attester-Nonce-Source': 'cache' },
  default: { 'X-Attester-Nonce-Source': 'default' },
}
