import { createHash, verify } from 'node:crypto'
import { spendOnVerification } from '../signature-work.ts'
import { OpenPgpError, readInteger, readNewLength } from './packets.ts'
import type { PublicKey } from './public-key.ts'

/** Hashes, as OpenPGP numbers them; those with known collisions are left out. */
const HASHES: Readonly<Record<number, string>> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' }
/** Types of subpackets that may be critical: they are checked here or do not affect validity. */
const KNOWN_SUBPACKETS = [2, 3, 9, 11, 16, 21, 22, 23, 25, 27, 30, 32, 33, 34]

/* Types of subpackets. */
const CREATED = 2
const EXPIRES = 3
const KEY_EXPIRES = 9
/** The last 8 bytes of the signer's fingerprint. */
export const ISSUER = 16
export const KEY_FLAGS = 27
export const EMBEDDED = 32
/** Bits of the key flags. */
export const MAY_SIGN = 2

/** A signature of version 4. */
export interface Signature {
  readonly type: number
  readonly algorithm: number
  readonly hash: string
  readonly createdSeconds: number
  /** Unix seconds from which the signature no longer counts; infinite if it does not expire. */
  readonly expiresSeconds: number
  /** How long the key counts that the signature certifies or binds; infinite if it does not expire. */
  readonly keyLifetimeSeconds: number
  /** Subpackets that the signature covers, by type. */
  readonly covered: ReadonlyMap<number, Buffer>
  /** Subpackets that the signature does not cover, by type. */
  readonly uncovered: ReadonlyMap<number, Buffer>
  /** The bytes that are hashed after the signed bytes. */
  readonly trailer: Buffer
  /** First two bytes of the digest. */
  readonly left: Buffer
  readonly material: Buffer
}

/**
 * Reads a signature of version 4.
 *
 * @param body of a packet of tag 2
 * @throws {OpenPgpError} on other versions, weak hashes and unknown critical subpackets
 */
export function readSignature(body: Buffer): Signature {
  if (body.length < 10 || body[0] !== 4) throw new OpenPgpError('the signature is not of version 4')
  const coveredEnd = 6 + body.readUInt16BE(4)
  if (coveredEnd + 2 > body.length) throw new OpenPgpError('the signature is truncated')
  const uncoveredEnd = coveredEnd + 2 + body.readUInt16BE(coveredEnd)
  if (uncoveredEnd + 2 > body.length) throw new OpenPgpError('the signature is truncated')
  const hash = HASHES[body[3]!]
  if (hash === undefined) throw new OpenPgpError(`the signature uses hash ${body[3]}, only SHA-2 is supported`)
  const covered = readSubpackets(body.subarray(6, coveredEnd))
  const createdSeconds = readSeconds(covered, CREATED)
  if (createdSeconds === undefined) throw new OpenPgpError('the signature has no creation time')
  const head = body.subarray(0, coveredEnd)
  // RFC 9580, 5.2.4: version 4, 0xff, and the length of the hashed part of the signature.
  const trailerEnd = Buffer.alloc(6)
  trailerEnd.writeUInt16BE(0x04ff, 0)
  trailerEnd.writeUInt32BE(head.length, 2)
  return {
    type: body[1]!,
    algorithm: body[2]!,
    hash,
    createdSeconds,
    // A lifetime of 0 means that it does not expire (RFC 9580, 5.2.3.13 and 5.2.3.18).
    expiresSeconds: createdSeconds + (readSeconds(covered, EXPIRES) || Number.POSITIVE_INFINITY),
    keyLifetimeSeconds: readSeconds(covered, KEY_EXPIRES) || Number.POSITIVE_INFINITY,
    covered,
    uncovered: readSubpackets(body.subarray(coveredEnd + 2, uncoveredEnd)),
    trailer: Buffer.concat([head, trailerEnd]),
    left: body.subarray(uncoveredEnd, uncoveredEnd + 2),
    material: body.subarray(uncoveredEnd + 2),
  }
}

/**
 * Returns whether the key made the signature.
 *
 * @param signed the bytes that this type of signature covers, without its trailer
 * @throws {OpenPgpError} on malformed integers
 */
export function isSignedBy(signature: Signature, { key, algorithm }: PublicKey, signed: readonly Buffer[]): boolean {
  const { hash, trailer, left, material } = signature
  // Both numbers mean RSA. A key of algorithm 3 can only sign, and its signatures have algorithm 1.
  const isSameKind = signature.algorithm === algorithm || (signature.algorithm === 1 && algorithm === 3)
  if (!isSameKind) return false
  const bytes = Buffer.concat([...signed, trailer])
  const digest = createHash(hash).update(bytes).digest()
  if (!digest.subarray(0, 2).equals(left)) return false
  spendOnVerification(key)
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const { value, next } = readInteger(material, 0)
      const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
      return next === material.length && value.length <= size && verify(hash, bytes, key, padded(value, size))
    }
    case 'ec': {
      const size = CURVE_SIZES[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 0
      const pair = readPair(material, size)
      return pair !== undefined && verify(hash, bytes, { key, dsaEncoding: 'ieee-p1363' }, pair)
    }
    default: {
      // The legacy algorithm encodes r and s as integers, the current one as 64 bytes. Both sign the digest.
      const pair = algorithm === 22 ? readPair(material, 32) : material.length === 64 ? material : undefined
      return pair !== undefined && verify(null, digest, key, pair)
    }
  }
}

const CURVE_SIZES: Readonly<Record<string, number>> = { prime256v1: 32, secp384r1: 48, secp521r1: 66 }

function readPair(material: Buffer, size: number): Buffer | undefined {
  const r = readInteger(material, 0)
  const s = readInteger(material, r.next)
  if (s.next !== material.length || r.value.length > size || s.value.length > size) return undefined
  return Buffer.concat([padded(r.value, size), padded(s.value, size)])
}

function padded(value: Buffer, size: number): Buffer {
  return Buffer.concat([Buffer.alloc(size - value.length), value])
}

function readSeconds(subpackets: ReadonlyMap<number, Buffer>, type: number): number | undefined {
  const body = subpackets.get(type)
  if (body !== undefined && body.length !== 4) throw new OpenPgpError(`subpacket ${type} is not a time of 4 bytes`)
  return body?.readUInt32BE(0)
}

function readSubpackets(bytes: Buffer): Map<number, Buffer> {
  const subpackets = new Map<number, Buffer>()
  for (let offset = 0; offset < bytes.length; ) {
    const { length, start } = readNewLength(bytes, offset, true)
    if (length === 0 || start + length > bytes.length) throw new OpenPgpError('a subpacket is truncated')
    const type = bytes[start]! & 0x7f
    if (bytes[start]! >= 0x80 && !KNOWN_SUBPACKETS.includes(type))
      throw new OpenPgpError(`unknown critical subpacket ${type}`)
    // The first subpacket of a type counts, so that an appended one cannot replace it.
    if (!subpackets.has(type)) subpackets.set(type, bytes.subarray(start + 1, start + length))
    offset = start + length
  }
  return subpackets
}
