import { ProblemError, problemAt } from '../base/problem.ts'
import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { formatSignature } from '../crypto/signature.ts'
import {
  type AnySigningResult,
  type AttestationPayload,
  MAX_SEQUENCE,
  type RelayPayload,
  type RelaySigningResult,
  type ResultPayload,
  type ResultSigningResult,
  type SequencePayload,
  type SequenceSigningResult,
  type SignedAttestation,
  type SignedResult,
  type SigningFailure,
  type SigningPayload,
  type SigningResult,
} from '../wire/signing-messages.ts'
import type { PayloadRecord, SignedRecord } from '../wire/signing-records.ts'
import type { Hex } from '../wire/values.ts'
import type { Chain } from './chains.ts'
import type { NonceResult, Nonces } from './nonces.ts'
import { type CheckedPayload, createPayloadCheck } from './payload-check.ts'
import { type RelayCeilings, relayProblem, signRelayTransaction } from './relay-transaction.ts'
import type { SchemaKind } from './schemas.ts'
import { type AttestMessage, createAttestDigest, createResultDigest, type ResultMessage } from './typed-data.ts'

export interface SignerParts {
  readonly secp256k1: Secp256k1
  readonly keccak: Keccak
  /** 32 bytes; held only by the closure. */
  readonly privateKey: Uint8Array
  readonly chains: ReadonlyMap<number, Chain>
  /** Known schema UIDs, lower case, with their kinds of data. */
  readonly schemaKinds: ReadonlyMap<string, SchemaKind>
  readonly nonces: Nonces
  /** Time from the signature to its deadline. */
  readonly ttlSeconds: number
  /** Seconds since the epoch. */
  readonly nowSeconds: () => number
  /** Limits for transactions; undefined when none may be signed. */
  readonly relay?: RelayCeilings | undefined
}

export interface Signer {
  /** Lower case. */
  readonly address: Hex
  /**
   * Checks a payload, adds nonce and deadline, hashes and signs.
   *
   * @returns a promise only if a nonce must be read first; a problem is returned as data, the promise never rejects
   */
  sign(payload: AttestationPayload): SigningResult | Promise<SigningResult>
  /** Checks a result, adds the deadline, hashes and signs. Results have no nonce, so this never waits. */
  sign(payload: ResultPayload): ResultSigningResult
  /** Signs attestations with consecutive nonces from the chain's current one on. A problem with one of them rejects them all. */
  sign(payload: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult>
  /** Builds a transaction from our own account and signs it. */
  sign(payload: RelayPayload): RelaySigningResult
  sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult>
  /** Signs an attestation or a result given as bytes, after the same checks. @param record as `putPayload` writes it */
  signRecord(record: Uint8Array): RecordResult | Promise<RecordResult>
}

export type RecordResult = ({ readonly ok: true } & SignedRecord) | SigningFailure

/** The digest functions of one chain. */
interface ChainDigests {
  readonly attestation: (message: AttestMessage) => Uint8Array
  readonly result: (message: ResultMessage) => Uint8Array
}

const ZERO_UID = new Uint8Array(32)

/**
 * Creates the signer, the only code that uses the private key. It takes typed payloads, never digests. So no caller can make it
 * sign a login, an attestation of another layout or an arbitrary transaction (decision 95).
 *
 * Every attestation is revocable, never expires, has no refUID and no value, because that is what clients submit.
 */
export function createSigner(parts: SignerParts): Signer {
  const { secp256k1, keccak, privateKey, chains, schemaKinds, nonces, ttlSeconds, nowSeconds } = parts
  const address = publicKeyAddress(secp256k1.publicKey(privateKey), keccak)
  const digests = new Map<number, ChainDigests>()
  for (const chain of chains.values()) {
    digests.set(chain.id, {
      attestation: createAttestDigest(chain, keccak),
      result: createResultDigest(chain.id, keccak),
    })
  }
  const attester = Buffer.from(address.slice(2), 'hex')
  const check = createPayloadCheck(schemaKinds)
  return { address, sign, signRecord }

  function sign(payload: AttestationPayload): SigningResult | Promise<SigningResult>
  function sign(payload: ResultPayload): ResultSigningResult
  function sign(payload: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult>
  function sign(payload: RelayPayload): RelaySigningResult
  function sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult>
  function sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult> {
    if (payload.kind === 'sequence') return signSequence(payload)
    if (payload.kind === 'relay-transaction') return signRelay(payload)
    const signed = signChecked(check.payload(payload))
    return signed instanceof Promise ? signed.then(toSigningResult) : toSigningResult(signed)
  }

  function signRecord(record: Uint8Array): RecordResult | Promise<RecordResult> {
    return signChecked(check.record(record))
  }

  function signChecked(payload: CheckedPayload): RecordResult | Promise<RecordResult> {
    if (!('chainId' in payload)) return { ok: false, problem: payload }
    const digest = digests.get(payload.chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(payload.chainId, 'is not supported') }
    if (payload.salt !== undefined) return signResult(payload, payload.salt, digest.result)
    const nonce = nonces.get(payload.chainId)
    return nonce instanceof Promise
      ? nonce.then((read) => signAttestation(read, payload, digest.attestation))
      : signAttestation(nonce, payload, digest.attestation)
  }

  function signSequence({ chainId, items }: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult> {
    const problem = sequenceProblem(chainId, items)
    if (problem !== undefined) return { ok: false, problem: problem.data }
    const payloads = check.payloads(items)
    if (!Array.isArray(payloads)) return { ok: false, problem: payloads }
    const digest = digests.get(chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const signAll = (nonce: NonceResult): SequenceSigningResult => {
      const signed: SignedAttestation[] = []
      // One deadline for all of them, because a group is submitted under one deadline.
      const deadlineSeconds = nowSeconds() + ttlSeconds
      for (const [index, payload] of payloads.entries()) {
        const itemNonce = nonce.ok ? { ...nonce, nonce: nonce.nonce + index } : nonce
        const result = toSigningResult(signAttestation(itemNonce, payload, digest.attestation, deadlineSeconds))
        if (!result.ok) return result
        signed.push(result as SignedAttestation)
      }
      return { ok: true, items: signed }
    }
    const nonce = nonces.get(chainId)
    return nonce instanceof Promise ? nonce.then(signAll) : signAll(nonce)
  }

  function signRelay(payload: RelayPayload): RelaySigningResult {
    const { chainId, items } = payload
    const problem = relayProblem(payload, parts.relay)
    if (problem !== undefined) return { ok: false, problem: problem.data }
    const payloads = check.payloads(items)
    if (!Array.isArray(payloads)) return { ok: false, problem: payloads }
    const chain = chains.get(chainId)
    if (chain === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const { easAddress } = chain
    return {
      ok: true,
      ...signRelayTransaction(payload, easAddress, keccak, (hash) => secp256k1.sign(hash, privateKey)),
    }
  }

  function signResult(
    { schema, recipient, data }: PayloadRecord,
    salt: Uint8Array,
    digest: (message: ResultMessage) => Uint8Array,
  ): RecordResult {
    const deadlineSeconds = nowSeconds() + ttlSeconds
    const hash = digest({ schema, recipient, data, deadlineSeconds, salt })
    const { compact, recovery } = secp256k1.sign(hash, privateKey)
    return { ok: true, compact, recovery, nonce: 0, nonceSource: undefined, deadlineSeconds }
  }

  function signAttestation(
    read: NonceResult,
    { chainId, schema, recipient, data }: PayloadRecord,
    digest: (message: AttestMessage) => Uint8Array,
    deadlineSeconds = nowSeconds() + ttlSeconds,
  ): RecordResult {
    if (!read.ok) return { ok: false, problem: unsupported(chainId, `is refused: ${read.refusal}`) }
    const { nonce, source: nonceSource } = read
    const hash = digest({
      attester,
      schema,
      recipient,
      expirationTimeSeconds: 0,
      revocable: true,
      refUID: ZERO_UID,
      data,
      nonce,
      deadlineSeconds,
    })
    const { compact, recovery } = secp256k1.sign(hash, privateKey)
    return { ok: true, compact, recovery, nonce, nonceSource, deadlineSeconds }
  }
}

function toSigningResult(signed: RecordResult): SignedAttestation | SigningFailure
function toSigningResult(signed: RecordResult): SignedAttestation | SignedResult | SigningFailure {
  if (!signed.ok) return signed
  const { nonce, nonceSource, deadlineSeconds } = signed
  const signature = formatSignature(signed)
  return nonceSource === undefined
    ? { ok: true, signature, deadlineSeconds }
    : { ok: true, signature, nonce, nonceSource, deadlineSeconds }
}

function sequenceProblem(chainId: number, items: readonly AttestationPayload[]): ProblemError | undefined {
  const isOneChain = items.every((item) => item.chainId === chainId)
  if (isOneChain && items.length > 0 && items.length <= MAX_SEQUENCE) return undefined
  return new ProblemError({ type: 'internal', detail: `a sequence is 1 to ${MAX_SEQUENCE} attestations of one chain` })
}

function unsupported(chainId: number, reason: string) {
  return problemAt('invalid-input', ['chainId'], `chain ${chainId} ${reason}`, { code: 'unsupported-chain' }).data
}
