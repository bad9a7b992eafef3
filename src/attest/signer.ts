import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Secp256k1 } from '../crypto/secp256k1.ts'
import { formatSignature } from '../crypto/signature.ts'
import {
  type AnySigningResult,
  type AttestationPayload,
  type Hex,
  MAX_SEQUENCE,
  type ResultPayload,
  type ResultSigningResult,
  type SequencePayload,
  type SequenceSigningResult,
  type SignedAttestation,
  type SignedResult,
  type SigningPayload,
  type SigningRefusal,
  type SigningResult,
} from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { RelayPayload, RelaySigningResult } from '../relay-messages.ts'
import type { PayloadRecord, SignedRecord } from '../signing-records.ts'
import type { Chain } from './chains.ts'
import type { NonceAnswer, Nonces } from './nonces.ts'
import { type CheckedPayload, createPayloadCheck } from './payload-check.ts'
import { type RelayCeilings, relayRefusal, signRelayTransaction } from './relay-transaction.ts'
import { createResultDigest, type ResultMessage } from './result-digest.ts'
import type { SchemaKind } from './schemas.ts'
import { type AttestMessage, createAttestDigest } from './typed-data.ts'

export interface SignerParts {
  readonly secp256k1: Secp256k1
  readonly keccak: Keccak
  /** 32 bytes; kept in the closure and nowhere else. */
  readonly privateKey: Uint8Array
  readonly chains: ReadonlyMap<number, Chain>
  /** Schema UIDs whose kind of data is known. */
  readonly schemaKinds: ReadonlyMap<string, SchemaKind>
  readonly nonces: Nonces
  /** From the signature to its deadline. */
  readonly ttlSeconds: number
  /** Seconds since the epoch. */
  readonly nowSeconds: () => number
  /** undefined: transactions are not signed at all. */
  readonly relay?: RelayCeilings | undefined
}

export interface Signer {
  /** Lower case. */
  readonly address: Hex
  /**
   * Checks a payload, adds nonce and deadline, hashes and signs.
   *
   * @returns at once unless a nonce has to be read first; a refusal as data, never a rejection
   */
  sign(payload: AttestationPayload): SigningResult | Promise<SigningResult>
  /** Checks a result, adds the deadline, hashes and signs; it has no nonce to wait for. */
  sign(payload: ResultPayload): ResultSigningResult
  /** Signs attestations with the chain's nonce and the ones after it; one that is refused refuses them all. */
  sign(payload: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult>
  /** Makes a transaction of our own account and signs it. */
  sign(payload: RelayPayload): RelaySigningResult
  sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult>
  /** An attestation or a result as bytes, by the same checks. @param record as `putPayload` writes it */
  signRecord(record: Uint8Array): RecordResult | Promise<RecordResult>
}

export type RecordResult = ({ readonly ok: true } & SignedRecord) | SigningRefusal

/** What a payload becomes before it is signed, for one chain. */
interface ChainDigests {
  readonly attestation: (message: AttestMessage) => Uint8Array
  readonly result: (message: ResultMessage) => Uint8Array
}

const ZERO_UID = new Uint8Array(32)

/**
 * The one place that signs. It takes typed payloads, never digests, so the key cannot be made to sign a login, an
 * attestation of another layout or a transaction of its caller's making (decision 95).
 *
 * Every attestation is revocable, never expires, refers to nothing and pays nothing: what clients submit.
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
    return signed instanceof Promise ? signed.then(spelled) : spelled(signed)
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
      ? nonce.then((answer) => signWith(answer, payload, digest.attestation))
      : signWith(nonce, payload, digest.attestation)
  }

  function signSequence({ chainId, items }: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult> {
    const refusal = sequenceRefusal(chainId, items)
    if (refusal !== undefined) return { ok: false, problem: refusal.data }
    const payloads = check.payloads(items)
    if (!Array.isArray(payloads)) return { ok: false, problem: payloads }
    const digest = digests.get(chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const signAll = (answer: NonceAnswer): SequenceSigningResult => {
      const signed: SignedAttestation[] = []
      // One for all: a group of them is submitted under one deadline.
      const deadlineSeconds = nowSeconds() + ttlSeconds
      for (const [index, payload] of payloads.entries()) {
        const own = answer.ok ? { ...answer, nonce: answer.nonce + index } : answer
        const result = spelled(signWith(own, payload, digest.attestation, deadlineSeconds))
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
    const refusal = relayRefusal(payload, parts.relay)
    if (refusal !== undefined) return { ok: false, problem: refusal.data }
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

  function signWith(
    answer: NonceAnswer,
    { chainId, schema, recipient, data }: PayloadRecord,
    digest: (message: AttestMessage) => Uint8Array,
    deadlineSeconds = nowSeconds() + ttlSeconds,
  ): RecordResult {
    if (!answer.ok) return { ok: false, problem: unsupported(chainId, `is refused: ${answer.refusal}`) }
    const { nonce, source: nonceSource } = answer
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

function spelled(signed: RecordResult): SignedAttestation | SigningRefusal
function spelled(signed: RecordResult): SignedAttestation | SignedResult | SigningRefusal {
  if (!signed.ok) return signed
  const { nonce, nonceSource, deadlineSeconds } = signed
  const signature = formatSignature(signed)
  return nonceSource === undefined
    ? { ok: true, signature, deadlineSeconds }
    : { ok: true, signature, nonce, nonceSource, deadlineSeconds }
}

function sequenceRefusal(chainId: number, items: readonly AttestationPayload[]): ProblemError | undefined {
  const isOfOneChain = items.every((item) => item.chainId === chainId)
  if (isOfOneChain && items.length > 0 && items.length <= MAX_SEQUENCE) return undefined
  return new ProblemError({ type: 'internal', detail: `a sequence is 1 to ${MAX_SEQUENCE} attestations of one chain` })
}

function unsupported(chainId: number, why: string) {
  return problemAt('invalid-input', ['chainId'], `chain ${chainId} ${why}`, { code: 'unsupported-chain' }).data
}
