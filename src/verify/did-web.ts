import { createPublicKey, ECDH } from 'node:crypto'
import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { DidKey } from '../wire/compute-messages.ts'

/** The most keys in one document. An Ed25519 signature that names no key is tried with each. */
const MAX_KEYS = 16
const DID = /^did:web:[A-Za-z0-9._%-]{1,253}(?::[A-Za-z0-9._%~-]{1,100}){0,10}$/

export interface DidDocument {
  readonly id: string
  readonly keys: readonly DidKey[]
}

/**
 * Reads the keys with which a `did:web` subject signs statements: those of `assertionMethod` that are on secp256k1
 * (JWK, multibase, hex or `blockchainAccountId`) or Ed25519 (JWK or multibase). Keys of other kinds are skipped.
 *
 * @param text a DID document (W3C DID Core 1.0) as JSON
 * @throws {TypeError} saying what is wrong with the document, also when it has no such key
 */
export function readDidDocument(text: string, keccak: Keccak): DidDocument {
  const document = requireObject(JSON.parse(text))
  const { id } = document
  if (typeof id !== 'string' || !DID.test(id)) throw new TypeError('id: must be a did:web identifier')
  if (document['deactivated'] === true) throw new TypeError('the document is deactivated')
  const methods = readArray(document, 'verificationMethod').map(requireObject)
  const keys = readArray(document, 'assertionMethod').flatMap((entry): DidKey[] => {
    const method =
      typeof entry === 'string'
        ? methods.find((candidate) => isSameId(candidate['id'], entry, id))
        : requireObject(entry)
    if (method === undefined)
      throw new TypeError(`assertionMethod: ${JSON.stringify(entry)} does not name a verification method`)
    const fragment = String(method['id'] ?? '').replace(/^[^#]*#/, '')
    const key = readKey(method, keccak)
    return key === undefined ? [] : [{ fragment, key }]
  })
  if (keys.length === 0) throw new TypeError('assertionMethod: has no key on secp256k1 or Ed25519')
  if (keys.length > MAX_KEYS) throw new TypeError(`assertionMethod: ${keys.length} keys, at most ${MAX_KEYS}`)
  return { id, keys }
}

type JsonObject = Readonly<Record<string, unknown>>

function isSameId(id: unknown, reference: string, did: string): boolean {
  const absolute = (text: string) => (text.startsWith('#') ? did + text : text)
  return typeof id === 'string' && absolute(id) === absolute(reference)
}

function readKey(method: JsonObject, keccak: Keccak): string | undefined {
  const { publicKeyJwk, publicKeyMultibase, publicKeyHex, blockchainAccountId } = method
  const secp256k1Key = (key: Uint8Array) => publicKeyAddress(uncompressKey(key), keccak)
  if (publicKeyJwk !== undefined) {
    const jwk = requireObject(publicKeyJwk)
    if (jwk['kty'] === 'OKP' && jwk['crv'] === 'Ed25519') return ed25519Key(decodeKey(jwk['x'], 'base64url'))
    if (jwk['kty'] !== 'EC' || jwk['crv'] !== 'secp256k1') return undefined
    return secp256k1Key(
      Buffer.concat([Buffer.of(4), decodeKey(jwk['x'], 'base64url'), decodeKey(jwk['y'], 'base64url')]),
    )
  }
  if (typeof publicKeyMultibase === 'string') {
    const bytes = decodeBase58(publicKeyMultibase)
    // Multicodec: ed25519-pub is 0xed, secp256k1-pub 0xe7, both as a varint of two bytes.
    if (bytes[0] === 0xed && bytes[1] === 1) return ed25519Key(bytes.subarray(2))
    return bytes[0] === 0xe7 && bytes[1] === 1 ? secp256k1Key(bytes.subarray(2)) : undefined
  }
  if (publicKeyHex !== undefined) {
    return method['type'] === 'EcdsaSecp256k1VerificationKey2019'
      ? secp256k1Key(decodeKey(publicKeyHex, 'hex'))
      : undefined
  }
  const account = /^eip155:\d{1,20}:(0x[0-9a-fA-F]{40})$/.exec(String(blockchainAccountId ?? ''))
  return account?.[1]?.toLowerCase()
}

/** @throws {TypeError} unless the key is a point on the curve */
function uncompressKey(key: Uint8Array): Uint8Array {
  try {
    return ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  } catch (error) {
    throw new TypeError('a key that is not a point on secp256k1', { cause: error })
  }
}

function ed25519Key(key: Buffer): string {
  if (key.length !== 32) throw new TypeError(`an Ed25519 key has ${key.length} bytes instead of 32`)
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') }, format: 'jwk' })
  return `ed25519:${key.toString('hex')}`
}

function decodeKey(value: unknown, encoding: 'base64url' | 'hex'): Buffer {
  const pattern = encoding === 'hex' ? /^(?:[0-9a-fA-F]{2}){33,65}$/ : /^[A-Za-z0-9_-]{43}$/
  if (typeof value !== 'string' || !pattern.test(value))
    throw new TypeError(`a key is not ${encoding} of the right length`)
  return Buffer.from(value, encoding)
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** @param text multibase: `z` and base58btc */
function decodeBase58(text: string): Buffer {
  if (!/^z[1-9A-HJ-NP-Za-km-z]{40,60}$/.test(text))
    throw new TypeError('publicKeyMultibase: must be z followed by base58')
  let value = 0n
  for (const letter of text.slice(1)) value = value * 58n + BigInt(BASE58.indexOf(letter))
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

function requireObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('expected an object')
  return value as JsonObject
}

function readArray(document: JsonObject, name: string): readonly unknown[] {
  const value = document[name] ?? []
  if (!Array.isArray(value)) throw new TypeError(`${name}: must be an array`)
  return value
}
