import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Secp256k1 } from '../crypto/secp256k1.ts'
import { formatSignature } from '../crypto/signature.ts'
import type { Hex, PayloadKind, SigningPayload, SigningResult } from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { Decoded } from './abi-reader.ts'
import type { Chain } from './chains.ts'
import { decodeBoolean, decodeNumeric, decodeVerify } from './decode.ts'
import type { NonceAnswer, Nonces } from './nonces.ts'
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
}

export interface Signer {
  /** Lower case. */
  readonly address: Hex
  /**
   * Checks a payload, adds nonce and deadline, hashes and signs.
   *
   * @returns at once unless a nonce has to be read first; a refusal as data, never a rejection
   */
  sign(payload: SigningPayload): SigningResult | Promise<SigningResult>
}

const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
const BYTES32 = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/

const DECODERS: Readonly<Record<PayloadKind, (data: Hex) => Decoded<unknown>>> = {
  numeric: decodeNumeric,
  boolean: decodeBoolean,
  verify: decodeVerify,
}

/**
 * The one place that signs. It takes typed payloads, never digests, so the key cannot be made to sign a transaction, a
 * login or an attestation of another layout (decision 95).
 *
 * Every attestation is revocable, never expires, refers to nothing and pays nothing: what clients submit.
 */
export function createSigner(parts: SignerParts): Signer {
  const { secp256k1, keccak, privateKey, chains, schemaKinds, nonces, ttlSeconds, nowSeconds } = parts
  const address = publicKeyAddress(secp256k1.publicKey(privateKey), keccak)
  const digests = new Map<number, (message: AttestMessage) => Uint8Array>()
  for (const chain of chains.values()) digests.set(chain.id, createAttestDigest(chain, keccak))

  return {
    address,
    sign(payload) {
      const refusal = refusalOf(payload, schemaKinds)
      if (refusal !== undefined) return { ok: false, problem: refusal.data }
      const digest = digests.get(payload.chainId)
      if (digest === undefined) return { ok: false, problem: unsupported(payload.chainId, 'is not supported') }
      const nonce = nonces.get(payload.chainId)
      return nonce instanceof Promise
        ? nonce.then((answer) => signWith(answer, payload, digest))
        : signWith(nonce, payload, digest)
    },
  }

  function signWith(
    answer: NonceAnswer,
    { chainId, schema, recipient, data }: SigningPayload,
    digest: (message: AttestMessage) => Uint8Array,
  ): SigningResult {
    if (!answer.ok) return { ok: false, problem: unsupported(chainId, `is refused: ${answer.refusal}`) }
    const { nonce, source: nonceSource } = answer
    const deadlineSeconds = nowSeconds() + ttlSeconds
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

/** Main has checked what a client sent; this is checked again where the key is. */
function refusalOf(
  { kind, schema, recipient, data }: SigningPayload,
  schemaKinds: ReadonlyMap<string, SchemaKind>,
): ProblemError | undefined {
  if (!Object.hasOwn(DECODERS, kind)) return new ProblemError({ type: 'internal', detail: 'unknown kind of payload' })
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
    : new ProblemError({ type: 'internal', detail: `the data of a ${kind} attestation ${decoded.reason}` })
}

function unsupported(chainId: number, why: string) {
  return problemAt('invalid-input', ['chainId'], `chain ${chainId} ${why}`, { code: 'unsupported-chain' }).data
}
