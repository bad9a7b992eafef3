import { createHash, verify } from 'node:crypto'
import { newLength, OpenPgpError, readInteger } from './packets.ts'
import type { PublicKey } from './public-key.ts'

/** Hashes by their number in OpenPGP; those that collide are left out. */
const HASHES: Readonly<Record<number, string>> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' }
/** Subpackets that may be critical: what they say is regarded here or judges nothing. */
const UNDERSTOOD = [2, 3, 9, 11, 16, 21, 22, 23, 25, 27, 30, 32, 33, 34]

export const CREATED = 2
export const EXPIRES = 3
export const KEY_EXPIRES = 9
/** The last 8 bytes of the signer's fingerprint. */
export const ISSUER = 16
export const KEY_FLAGS = 27
export const EMBEDDED = 32
/** Bits of the key flags. */
export const MAY_SIGN = 2

export interface Signature {
  readonly type: number
  readonly algorithm: number
  readonly hash: string
  readonly createdSeconds: number
  /** Subpackets that the signature covers, by type. */
  readonly covered: ReadonlyMap<number, Buffer>
  /** Those that it does not. */
  readonly uncovered: ReadonlyMap<number, Buffer>
  /** What is hashed after the signed bytes. */
  readonly trailer: Buffer
  /** First two bytes of the digest. */
  readonly left: Buffer
  readonly material: Buffer
}

/**
 * A version 4 signature.
 *
 * @param body of a packet of tag 2
 * @throws {OpenPgpError} on other versions, weak hashes and critical subpackets nobody here understands
 */
export function readSignature(body: Buffer): Signature {
  if (body.length < 10 || body[0] !== 4) throw new OpenPgpError('a signature that is not of version 4')
  const coveredEnd = 6 + body.readUInt16BE(4)
  if (coveredEnd + 2 > body.length) throw new OpenPgpError('a signature that ends within')
  const uncoveredEnd = coveredEnd + 2 + body.readUInt16BE(coveredEnd)
  if (uncoveredEnd + 2 > body.length) throw new OpenPgpError('a signature that ends within')
  const hash = HASHES[body[3]!]
  if (hash === undefined) throw new OpenPgpError(`a signature by hash ${body[3]}, SHA-2 is read`)
  const covered = subpacketsOf(body.subarray(6, coveredEnd))
  const created = covered.get(CREATED)
  if (created?.length !== 4) throw new OpenPgpError('a signature that does not say when it was made')
  const head = body.subarray(0, coveredEnd)
  const count = Buffer.alloc(6)
  count.writeUInt16BE(0x04ff, 0)
  count.writeUInt32BE(head.length, 2)
  return {
    type: body[1]!,
    algorithm: body[2]!,
    hash,
    createdSeconds: created.readUInt32BE(0),
    covered,
    uncovered: subpacketsOf(body.subarray(coveredEnd + 2, uncoveredEnd)),
    trailer: Buffer.concat([head, count]),
    left: body.subarray(uncoveredEnd, uncoveredEnd + 2),
    material: body.subarray(uncoveredEnd + 2),
  }
}

/**
 * @param signed what the signature's type says it covers, before its trailer
 * @returns whether the key made the signature
 * @throws {OpenPgpError} on malformed integers
 */
export function isSignedBy(signature: Signature, { key, algorithm }: PublicKey, signed: readonly Buffer[]): boolean {
  const { hash, trailer, left, material } = signature
  // 1 and 3 are both RSA, as algorithms of a key and of a signature.
  const isSameKind = signature.algorithm === algorithm || (signature.algorithm === 1 && algorithm === 3)
  if (!isSameKind) return false
  const bytes = Buffer.concat([...signed, trailer])
  const digest = createHash(hash).update(bytes).digest()
  if (!digest.subarray(0, 2).equals(left)) return false
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const { value, next } = readInteger(material, 0)
      const size = (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8
      return next === material.length && value.length <= size && verify(hash, bytes, key, padded(value, size))
    }
    case 'ec': {
      const size = CURVE_SIZES[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 0
      const pair = pairOf(material, size)
      return pair !== undefined && verify(hash, bytes, { key, dsaEncoding: 'ieee-p1363' }, pair)
    }
    default: {
      // The legacy form writes the halves as integers, the present one as 64 bytes; both sign the digest.
      const pair = algorithm === 22 ? pairOf(material, 32) : material.length === 64 ? material : undefined
      return pair !== undefined && verify(null, digest, key, pair)
    }
  }
}

const CURVE_SIZES: Readonly<Record<string, number>> = { prime256v1: 32, secp384r1: 48, secp521r1: 66 }

function pairOf(material: Buffer, size: number): Buffer | undefined {
  const r = readInteger(material, 0)
  const s = readInteger(material, r.next)
  if (s.next !== material.length || r.value.length > size || s.value.length > size) return undefined
  return Buffer.concat([padded(r.value, size), padded(s.value, size)])
}

function padded(value: Buffer, size: number): Buffer {
  return Buffer.concat([Buffer.alloc(Math.ceil(size) - value.length), value])
}

function subpacketsOf(bytes: Buffer): Map<number, Buffer> {
  const subpackets = new Map<number, Buffer>()
  for (let offset = 0; offset < bytes.length; ) {
    const { length, start } = newLength(bytes, offset, true)
    if (length === 0 || start + length > bytes.length) throw new OpenPgpError('a subpacket that ends after the bytes')
    const type = bytes[start]! & 0x7f
    if (bytes[start]! >= 0x80 && !UNDERSTOOD.includes(type)) throw new OpenPgpError(`a critical subpacket ${type}`)
    // The first of its kind counts, so that nothing appended can replace it.
    if (!subpackets.has(type)) subpackets.set(type, bytes.subarray(start + 1, start + length))
    offset = start + length
  }
  return subpackets
}
