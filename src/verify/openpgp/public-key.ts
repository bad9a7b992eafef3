import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { findWeakness } from '../device/trust.ts'
import { spendOnKey } from '../signature-work.ts'
import { OpenPgpError, readInteger } from './packets.ts'

/** Public-key algorithms, as OpenPGP numbers them. */
const RSA = [1, 3]
const ECDSA = 19
const EDDSA_LEGACY = 22
const ED25519 = 27

/** Curves by their object identifier in hex. */
const CURVES: Readonly<Record<string, { readonly name: string; readonly size: number }>> = {
  '2a8648ce3d030107': { name: 'P-256', size: 32 },
  '2b81040022': { name: 'P-384', size: 48 },
  '2b81040023': { name: 'P-521', size: 66 },
}
const ED25519_LEGACY_CURVE = '2b06010401da470f01'

/** A public key or subkey of version 4. */
export interface PublicKey {
  readonly key: KeyObject
  readonly algorithm: number
  readonly createdSeconds: number
  /** 40 upper-case hex digits. */
  readonly fingerprint: string
  /** The bytes of the key as they are hashed for fingerprints and for signatures over keys. */
  readonly hashed: Buffer
}

/**
 * Reads a public key or subkey of version 4 that can sign.
 *
 * @param body of a packet of tag 6 or 14
 * @returns undefined for a key with another purpose, such as encryption
 * @throws {OpenPgpError} on other versions, malformed or weak keys
 */
export function readPublicKey(body: Buffer): PublicKey | undefined {
  if (body.length < 6 || body[0] !== 4) throw new OpenPgpError('the key is not of version 4')
  const algorithm = body[5]!
  const material = body.subarray(6)
  const jwk = readJwk(algorithm, material)
  if (jwk === undefined) return undefined
  const key = createKey(jwk)
  spendOnKey(key)
  const weakness = findWeakness(key)
  if (weakness !== undefined) throw new OpenPgpError(weakness)
  const hashed = Buffer.concat([Buffer.of(0x99, body.length >> 8, body.length & 0xff), body])
  const fingerprint = createHash('sha1').update(hashed).digest('hex').toUpperCase()
  return { key, algorithm, createdSeconds: body.readUInt32BE(1), fingerprint, hashed }
}

function createKey(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch (error) {
    throw new OpenPgpError('the key material is not valid for its algorithm', { cause: error })
  }
}

function readJwk(algorithm: number, material: Buffer): JsonWebKey | undefined {
  if (RSA.includes(algorithm)) {
    const n = readInteger(material, 0)
    const e = readInteger(material, n.next)
    requireEnd(material, e.next)
    return { kty: 'RSA', n: n.value.toString('base64url'), e: e.value.toString('base64url') }
  }
  if (algorithm === ED25519) {
    requireEnd(material, 32)
    return { kty: 'OKP', crv: 'Ed25519', x: material.toString('base64url') }
  }
  if (algorithm !== ECDSA && algorithm !== EDDSA_LEGACY) return undefined
  const length = material[0] ?? 0
  const oid = material.subarray(1, 1 + length).toString('hex')
  const point = readInteger(material, 1 + length)
  requireEnd(material, point.next)
  if (algorithm === EDDSA_LEGACY) {
    if (oid !== ED25519_LEGACY_CURVE || point.value.length !== 33 || point.value[0] !== 0x40) {
      throw new OpenPgpError('the EdDSA key is not on the curve Ed25519')
    }
    return { kty: 'OKP', crv: 'Ed25519', x: point.value.subarray(1).toString('base64url') }
  }
  const curve = Object.hasOwn(CURVES, oid) ? CURVES[oid] : undefined
  if (curve === undefined || point.value.length !== 1 + 2 * curve.size || point.value[0] !== 4) {
    throw new OpenPgpError('the ECDSA key has an unknown curve or form')
  }
  const x = point.value.subarray(1, 1 + curve.size)
  const y = point.value.subarray(1 + curve.size)
  return { kty: 'EC', crv: curve.name, x: x.toString('base64url'), y: y.toString('base64url') }
}

function requireEnd(bytes: Buffer, end: number): void {
  if (bytes.length !== end) throw new OpenPgpError('the key has the wrong length')
}
