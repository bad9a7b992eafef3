import { ProblemError } from '../../base/problem.ts'
import {
  computeResponseJson,
  leafJson,
  proofInputsMember,
  type ResultSignature,
  resultSignatureMember,
} from '../../compute/response-text.ts'
import { checksumAddress } from '../../crypto/address.ts'
import { bytesToHex } from '../../crypto/hex.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { ComputeResult } from '../../wire/compute-messages.ts'
import type { AttestationPayload, NonceSource, ResultPayload, SignedAttestation } from '../../wire/signing-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import type { ServiceResponse } from '../request.ts'

/** A compute thread's result with no input left to resolve. */
export type Computed = Exclude<ComputeResult, { type: 'unresolved' }>

/** Turns an unsigned result into a response: checks its schema, has it signed and writes the JSON. */
export interface ResponseSigner {
  /**
   * @param proofInputs JSON summary of each authenticated proof among the inputs (decision 86)
   * @param id `"id":…,` of a batch item, empty if it has none; undefined for a single request
   * @param options `prefersResultSignature`: also signs the result without a nonce (decision 104). `submit`: submits the attestation
   *   after it was signed, and returns the submission as it appears in the response; without it, nothing is submitted
   * @throws {ProblemError} if the result is a problem, its schema must not be used, or the signer cannot sign now
   */
  sign(
    computed: Computed,
    proofInputs: readonly string[],
    id?: string,
    options?: { readonly prefersResultSignature?: boolean; readonly submit?: Submit | undefined },
  ): Promise<ServiceResponse>
  /**
   * Signs the result without a nonce and without an attestation, for an operation of a job. Otherwise like `sign`.
   *
   * @returns its JSON
   */
  signWithoutNonce(computed: Computed, proofInputs: readonly string[], id: string): Promise<string>
}

type Submit = (payload: AttestationPayload) => Promise<object>

/** @param randomSalt returns 32 random bytes */
export function createResponseSigner(
  signer: Pick<SignerClient, 'address' | 'sign'>,
  chains: ChainPolicy,
  randomSalt: () => Hex,
): ResponseSigner {
  return {
    async sign(computed, proofInputs, id, { prefersResultSignature = false, submit } = {}) {
      if (computed.type === 'problem') throw new ProblemError(computed.problem)
      if (computed.type === 'unsigned') {
        chains.require(computed.chainId)
        return { json: unsignedJson(computed, proofInputs, id) }
      }
      const { kind, chainId, recipient, data } = computed
      const chain = chains.require(chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, kind, computed.schema)
      if (submit !== undefined) chains.requireOwnSchema(kind, computed.schema)
      const payload = { chainId, schema: computed.schema ?? chains.defaultSchema(kind), recipient, data }
      const pendingAttestation = attest({ kind, ...payload }, signer, id !== undefined)
      // Both requests are made in the same tick, so they travel to the signer in one message.
      const [attested, resultSignature] = prefersResultSignature
        ? await Promise.all([
            pendingAttestation,
            signResult({ kind: 'result', dataKind: kind, salt: randomSalt(), ...payload }),
          ])
        : [await pendingAttestation, undefined]
      const submission = await submit?.({ kind, ...payload, data: attested.data })
      const { members } = computed
      const json = computeResponseJson({ members, ...attested, proofInputs, resultSignature, submission }, id)
      const headers = nonceHeaders(attested)
      return { json, headers: resultSignature === undefined ? headers : { ...headers, ...APPLIED } }
    },
    async signWithoutNonce(computed, proofInputs, id) {
      if (computed.type === 'problem') throw new ProblemError(computed.problem)
      if (computed.type === 'unsigned') return unsignedJson(computed, proofInputs, id)
      const { kind, chainId, recipient, data, members } = computed
      const chain = chains.require(chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, kind, computed.schema)
      const schema = computed.schema ?? chains.defaultSchema(kind)
      const resultSignature = await signResult(
        { kind: 'result', dataKind: kind, salt: randomSalt(), chainId, schema, recipient, data },
        true,
      )
      const signature = resultSignatureMember({ attester: signer.address, resultSignature })
      const leaf = leafJson(schema, recipient, `0x${bytesToHex(data)}`)
      return `{${id}${members},${leaf}${proofInputsMember(proofInputs)}${signature}}`
    },
  }

  async function signResult(payload: ResultPayload, isBulk = false): Promise<ResultSignature> {
    const signed = await signer.sign(payload, isBulk)
    if (!signed.ok) throw new ProblemError(signed.problem)
    return { signature: signed.signature, deadlineSeconds: signed.deadlineSeconds, salt: payload.salt }
  }
}

/** Writes the response of a result that is never signed. */
export function unsignedJson(
  { members }: { readonly members: string },
  proofInputs: readonly string[],
  id = '',
): string {
  return `{${id}${members}${proofInputsMember(proofInputs)}}`
}

/** Tells the client that its preference was applied (RFC 7240). */
const APPLIED = { 'Preference-Applied': 'result-signature' }

/** A delegated attestation as it appears in responses. */
export interface Attested {
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
  readonly signature: Hex
  readonly nonce: number
  readonly nonceSource: NonceSource
  readonly deadlineSeconds: number
}

/**
 * Has the signer sign a payload.
 *
 * @param payload its schema must have passed `ChainPolicy.requireSchema`
 * @param isBulk true for a batch, which the signer serves after single requests
 * @throws {ProblemError} if the signer does not sign it
 */
export async function attest(
  payload: AttestationPayload<Hex | Uint8Array>,
  signer: Pick<SignerClient, 'address' | 'sign'>,
  isBulk = false,
): Promise<Attested> {
  const signed = await signer.sign(payload, isBulk)
  if (!signed.ok) throw new ProblemError(signed.problem)
  return toAttested(payload, signed, signer.address)
}

/** Joins a payload with its signature. @param attester checksummed */
export function toAttested(
  { schema, recipient, data }: AttestationPayload<Hex | Uint8Array>,
  { signature, nonce, nonceSource, deadlineSeconds }: SignedAttestation,
  attester: string,
): Attested {
  return {
    schema,
    attester,
    recipient: checksumAddress(recipient),
    data: typeof data === 'string' ? data : `0x${bytesToHex(data)}`,
    signature,
    nonce,
    nonceSource,
    deadlineSeconds,
  }
}

export const NONCE_SOURCE = 'X-Attester-Nonce-Source'
const NO_HEADERS = {}
const FROM_CACHE = { [NONCE_SOURCE]: 'cache' }
const FROM_DEFAULT = { [NONCE_SOURCE]: 'default' }

/** Returns the response header that marks a nonce which was not just read from the chain (decision 100). */
export function nonceHeaders({ nonceSource }: Pick<Attested, 'nonceSource'>): Readonly<Record<string, string>> {
  if (nonceSource === 'chain') return NO_HEADERS
  return nonceSource === 'cache' ? FROM_CACHE : FROM_DEFAULT
}
