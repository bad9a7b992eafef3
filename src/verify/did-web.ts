import { createPublicKey, ECDH } from 'node:crypto'
import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { DidKey } from '../evidence-messages.ts'

/** Keys of one document: each is tried for a signature by Ed25519 that names none of them. */
const MAX_KEYS = 16
const DID = /^did:web:[A-Za-z0-9._%-]{1,253}(?::[A-Za-z0-9._%~-]{1,100}){0,10}$/

export interface DidDocument {
  readonly id: string
  readonly keys: readonly DidKey[]
}

/**
 * The keys by which a subject of the method `did:web` makes statements: those of `assertionMethod`, on secp256k1 (JWK,
 * multibase, hex or `blockchainAccountId`) or Ed25519 (JWK or multibase). Keys of other kinds are left out.
 *
 * @param text a DID document (W3C DID Core 1.0) as JSON
 * @throws {TypeError} saying what is wrong with it, also when no such key is in it
 */
export function readDidDocument(text: string, keccak: Keccak): DidDocument {
  const document = asRecord(JSON.parse(text))
  const { id } = document
  if (typeof id !== 'string' || !DID.test(id)) throw new TypeError('id: must be a did:web identifier')
  if (document['deactivated'] === true) throw new TypeError('it is deactivated')
  const named = listOf(document, 'verificationMethod').map(asRecord)
  const keys = listOf(document, 'assertionMethod').flatMap((entry): DidKey[] => {
    const method = typeof entry === 'string' ? named.find((one) => isSameId(one['id'], entry, id)) : asRecord(entry)
    if (method === undefined) throw new TypeError(`assertionMethod: ${JSON.stringify(entry)} is no verificationMethod`)
    const fragment = String(method['id'] ?? '').replace(/^[^#]*#/, '')
    const key = keyOf(method, keccak)
    return key === undefined ? [] : [{ fragment, key }]
  })
  if (keys.length === 0) throw new TypeError('assertionMethod: no key on secp256k1 or of Ed25519')
  if (keys.length > MAX_KEYS) throw new TypeError(`assertionMethod: ${keys.length} keys, at most ${MAX_KEYS}`)
  return { id, keys }
}

type JsonRecord = Readonly<Record<string, unknown>>

function isSameId(id: unknown, wanted: string, did: string): boolean {
  const absolute = (text: string) => (text.startsWith('#') ? did + text : text)
  return typeof id === 'string' && absolute(id) === absolute(wanted)
}

function keyOf(method: JsonRecord, keccak: Keccak): string | undefined {
  const { publicKeyJwk, publicKeyMultibase, publicKeyHex, blockchainAccountId } = method
  const ofSecp256k1 = (key: Uint8Array) => publicKeyAddress(uncompressed(key), keccak)
  if (publicKeyJwk !== undefined) {
    const jwk = asRecord(publicKeyJwk)
    if (jwk['kty'] === 'OKP' && jwk['crv'] === 'Ed25519') return ed25519Key(bytesOf(jwk['x'], 'base64url'))
    if (jwk['kty'] !== 'EC' || jwk['crv'] !== 'secp256k1') return undefined
    return ofSecp256k1(Buffer.concat([Buffer.of(4), bytesOf(jwk['x'], 'base64url'), bytesOf(jwk['y'], 'base64url')]))
  }
  if (typeof publicKeyMultibase === 'string') {
    const bytes = fromBase58(publicKeyMultibase)
    // Multicodec: ed25519-pub is 0xed, secp256k1-pub 0xe7, both as a varint of two bytes.
    if (bytes[0] === 0xed && bytes[1] === 1) return ed25519Key(bytes.subarray(2))
    return bytes[0] === 0xe7 && bytes[1] === 1 ? ofSecp256k1(bytes.subarray(2)) : undefined
  }
  if (publicKeyHex !== undefined) {
    return method['type'] === 'EcdsaSecp256k1VerificationKey2019'
      ? ofSecp256k1(bytesOf(publicKeyHex, 'hex'))
      : undefined
  }
  const account = /^eip155:\d{1,20}:(0x[0-9a-fA-F]{40})$/.exec(String(blockchainAccountId ?? ''))
  return account?.[1]?.toLowerCase()
}

/** @throws {TypeError} unless it is a point of the curve */
function uncompressed(key: Uint8Array): Uint8Array {
  try {
    return ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  } catch (error) {
    throw new TypeError('a key that is no point of secp256k1', { cause: error })
  }
}

function ed25519Key(key: Buffer): string {
  if (key.length !== 32) throw new TypeError(`an Ed25519 key of ${key.length} bytes`)
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') }, format: 'jwk' })
  return `ed25519:${key.toString('hex')}`
}

function bytesOf(value: unknown, encoding: 'base64url' | 'hex'): Buffer {
  const form = encoding === 'hex' ? /^(?:[0-9a-fA-F]{2}){33,65}$/ : /^[A-Za-z0-9_-]{43}$/
  if (typeof value !== 'string' || !form.test(value)) throw new TypeError(`a key that is not ${encoding} of its length`)
  return Buffer.from(value, encoding)
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** @param text multibase: `z` and base58btc */
function fromBase58(text: string): Buffer {
  if (!/^z[1-9A-HJ-NP-Za-km-z]{40,60}$/.test(text)) throw new TypeError('publicKeyMultibase: must be z and base58')
  let value = 0n
  for (const letter of text.slice(1)) value = value * 58n + BigInt(BASE58.indexOf(letter))
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

function asRecord(value: unknown): JsonRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('an object was expected')
  return value as JsonRecord
}

function listOf(document: JsonRecord, name: string): readonly unknown[] {
  const value = document[name] ?? []
  if (!Array.isArray(value)) throw new TypeError(`${name}: must be a list`)
  return value
}
