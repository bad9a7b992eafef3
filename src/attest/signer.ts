import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Secp256k1 } from '../crypto/secp256k1.ts'
import { formatSignature } from '../crypto/signature.ts'
import {
  type AnySigningResult,
  type AttestationKind,
  type AttestationPayload,
  type Hex,
  MAX_SEQUENCE,
  type ResultPayload,
  type ResultSigningResult,
  type SequencePayload,
  type SequenceSigningResult,
  type SignedAttestation,
  type SigningPayload,
  type SigningResult,
} from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { RelayPayload, RelaySigningResult } from '../relay-messages.ts'
import type { Decoded } from './abi-reader.ts'
import type { Chain } from './chains.ts'
import { decodeBoolean, decodeMerkleRoot, decodeNumeric, decodeVerify } from './decode.ts'
import type { NonceAnswer, Nonces } from './nonces.ts'
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
}

/** What a payload becomes before it is signed, for one chain. */
interface ChainDigests {
  readonly attestation: (message: AttestMessage) => Uint8Array
  readonly result: (message: ResultMessage) => Uint8Array
}

const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
const BYTES32 = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/

const DECODERS: Readonly<Record<AttestationKind, (data: Hex) => Decoded<unknown>>> = {
  numeric: decodeNumeric,
  boolean: decodeBoolean,
  verify: decodeVerify,
  'merkle-root': decodeMerkleRoot,
}
/** What can be signed without a nonce: a root is no result, and a proof is attested alone. */
const RESULT_KINDS: readonly AttestationKind[] = ['numeric', 'boolean']

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
  return { address, sign }

  function sign(payload: AttestationPayload): SigningResult | Promise<SigningResult>
  function sign(payload: ResultPayload): ResultSigningResult
  function sign(payload: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult>
  function sign(payload: RelayPayload): RelaySigningResult
  function sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult>
  function sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult> {
    if (payload.kind === 'sequence') return signSequence(payload)
    if (payload.kind === 'relay-transaction') return signRelay(payload)
    const refusal = refusalOf(payload, schemaKinds)
    if (refusal !== undefined) return { ok: false, problem: refusal.data }
    const digest = digests.get(payload.chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(payload.chainId, 'is not supported') }
    if (payload.kind === 'result') return signResult(payload, digest.result)
    const nonce = nonces.get(payload.chainId)
    return nonce instanceof Promise
      ? nonce.then((answer) => signWith(answer, payload, digest.attestation))
      : signWith(nonce, payload, digest.attestation)
  }

  function signSequence({ chainId, items }: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult> {
    const refusal = sequenceRefusal(chainId, items) ?? items.map((item) => refusalOf(item, schemaKinds)).find(Boolean)
    if (refusal !== undefined) return { ok: false, problem: refusal.data }
    const digest = digests.get(chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const signAll = (answer: NonceAnswer): SequenceSigningResult => {
      const signed: SignedAttestation[] = []
      // One for all: a group of them is submitted under one deadline.
      const deadlineSeconds = nowSeconds() + ttlSeconds
      for (const [index, item] of items.entries()) {
        const result = signWith(
          answer.ok ? { ...answer, nonce: answer.nonce + index } : answer,
          item,
          digest.attestation,
          deadlineSeconds,
        )
        if (!result.ok) return result
        signed.push(result)
      }
      return { ok: true, items: signed }
    }
    const nonce = nonces.get(chainId)
    return nonce instanceof Promise ? nonce.then(signAll) : signAll(nonce)
  }

  function signRelay(payload: RelayPayload): RelaySigningResult {
    const { chainId, items } = payload
    const refusal =
      relayRefusal(payload, parts.relay) ?? items.map((item) => refusalOf(item, schemaKinds)).find(Boolean)
    if (refusal !== undefined) return { ok: false, problem: refusal.data }
    const chain = chains.get(chainId)
    if (chain === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const { easAddress } = chain
    return {
      ok: true,
      ...signRelayTransaction(payload, easAddress, keccak, (hash) => secp256k1.sign(hash, privateKey)),
    }
  }

  function signResult(
    { schema, recipient, data, salt }: ResultPayload,
    digest: (message: ResultMessage) => Uint8Array,
  ): ResultSigningResult {
    const deadlineSeconds = nowSeconds() + ttlSeconds
    const hash = digest({ schema, recipient, data: Buffer.from(data.slice(2), 'hex'), deadlineSeconds, salt })
    return { ok: true, signature: formatSignature(secp256k1.sign(hash, privateKey)), deadlineSeconds }
  }

  function signWith(
    answer: NonceAnswer,
    { chainId, schema, recipient, data }: AttestationPayload,
    digest: (message: AttestMessage) => Uint8Array,
    deadlineSeconds = nowSeconds() + ttlSeconds,
  ): SigningResult {
    if (!answer.ok) return { ok: false, problem: unsupported(chainId, `is refused: ${answer.refusal}`) }
    const { nonce, source: nonceSource } = answer
    const hash = digest({
      attester: address,
      schema,
      recipient,
      expirationTimeSeconds: 0,
      revocable: true,
      refUID: ZERO_UID,
      data: Buffer.from(data.slice(2), 'hex'),
      nonce,
      deadlineSeconds,
    })
    const signature = formatSignature(secp256k1.sign(hash, privateKey))
    return { ok: true, signature, nonce, nonceSource, deadlineSeconds }
  }
}

function sequenceRefusal(chainId: number, items: readonly AttestationPayload[]): ProblemError | undefined {
  const isOfOneChain = items.every((item) => item.chainId === chainId)
  if (isOfOneChain && items.length > 0 && items.length <= MAX_SEQUENCE) return undefined
  return new ProblemError({ type: 'internal', detail: `a sequence is 1 to ${MAX_SEQUENCE} attestations of one chain` })
}

/** Main has checked what a client sent; this is checked again where the key is. */
function refusalOf(
  payload: AttestationPayload | ResultPayload,
  schemaKinds: ReadonlyMap<string, SchemaKind>,
): ProblemError | undefined {
  const { schema, recipient, data } = payload
  const kind = payload.kind === 'result' ? payload.dataKind : payload.kind
  const isKnown = payload.kind === 'result' ? RESULT_KINDS.includes(kind) : Object.hasOwn(DECODERS, kind)
  if (!isKnown) return new ProblemError({ type: 'internal', detail: 'unknown kind of payload' })
  if (payload.kind === 'result' && !BYTES32.test(payload.salt)) {
    return new ProblemError({ type: 'internal', detail: 'a salt is 0x and 64 lower-case hex digits' })
  }
  if (!BYTES32.test(schema)) return problemAt('invalid-input', ['schema'], 'is not 0x and 64 lower-case hex digits')
  if (!ADDRESS.test(recipient))
    return problemAt('invalid-input', ['recipient'], 'is not 0x and 40 lower-case hex digits')
  const schemaKind = schemaKinds.get(schema)
  if (schemaKind !== undefined && schemaKind !== kind) {
    return problemAt('invalid-input', ['schema'], `is the schema of ${schemaKind} data, the result is ${kind}`, {
      code: 'schema-mismatch',
    })
  }
  const decoded = DECODERS[kind](data)
  return decoded.ok
    ? undefined
    : new ProblemError({
        type: 'internal',
        detail: `the data of a ${kind} ${payload.kind === 'result' ? 'result' : 'attestation'} ${decoded.reason}`,
      })
}

function unsupported(chainId: number, why: string) {
  return problemAt('invalid-input', ['chainId'], `chain ${chainId} ${why}`, { code: 'unsupported-chain' }).data
}
