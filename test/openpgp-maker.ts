/** Makes OpenPGP keys and signatures of version 4 (RFC 9580); every part of them can be made invalid. */

import { createHash, type KeyObject, sign } from 'node:crypto'
import { ed25519Key, ellipticKey, type KeyPair, rsaKey } from './certificates.ts'
import { NOW } from './evidence.ts'

export type PgpKind = 'rsa' | 'ecdsa' | 'eddsa' | 'ed25519'

export interface PgpKey {
  readonly kind: PgpKind
  readonly pair: KeyPair
  readonly body: Buffer
  readonly fingerprint: string
}

const ALGORITHMS: Readonly<Record<PgpKind, number>> = { rsa: 1, ecdsa: 19, eddsa: 22, ed25519: 27 }
const HASHES: Readonly<Record<string, number>> = { sha1: 2, sha256: 8, sha384: 9, sha512: 10 }

export function pgpKey(kind: PgpKind, createdSeconds = NOW - 86_400, bits = 2048): PgpKey {
  const pair = kind === 'rsa' ? rsaKey(bits) : kind === 'ecdsa' ? ellipticKey() : ed25519Key()
  const head = Buffer.alloc(6, 4)
  head.writeUInt32BE(createdSeconds, 1)
  head[5] = ALGORITHMS[kind]
  const body = Buffer.concat([head, materialOf(kind, pair.publicKey)])
  const fingerprint = createHash('sha1').update(hashedKey(body)).digest('hex').toUpperCase()
  return { kind, pair, body, fingerprint }
}

function materialOf(kind: PgpKind, key: KeyObject): Buffer {
  const { n = '', x = '', y = '' } = key.export({ format: 'jwk' })
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  switch (kind) {
    case 'rsa':
      return Buffer.concat([mpi(bytes(n)), mpi(Buffer.of(1, 0, 1))])
    case 'ecdsa':
      return Buffer.concat([oid('2a8648ce3d030107'), mpi(Buffer.concat([Buffer.of(4), bytes(x), bytes(y)]))])
    case 'eddsa':
      return Buffer.concat([oid('2b06010401da470f01'), mpi(Buffer.concat([Buffer.of(0x40), bytes(x)]))])
    default:
      return bytes(x)
  }
}

export interface SignatureOptions {
  readonly type?: number
  readonly createdSeconds?: number
  readonly hash?: string
  /** Subpackets in addition to the time: hashed ones and unhashed ones. */
  readonly covered?: readonly Buffer[]
  readonly uncovered?: readonly Buffer[]
}

/** @returns the body of a signature packet over these bytes */
export function pgpSignature(
  { kind, pair, fingerprint }: PgpKey,
  signed: readonly Buffer[],
  options: SignatureOptions = {},
): Buffer {
  const { type = 0, createdSeconds = NOW, hash = 'sha256', covered = [], uncovered = [] } = options
  const issuer = subpacket(33, Buffer.concat([Buffer.of(4), Buffer.from(fingerprint, 'hex')]))
  const area = Buffer.concat([subpacket(2, seconds(createdSeconds)), issuer, ...covered])
  const head = Buffer.concat([Buffer.of(4, type, ALGORITHMS[kind], HASHES[hash]!), size(area), area])
  const count = Buffer.alloc(6)
  count.writeUInt16BE(0x04ff)
  count.writeUInt32BE(head.length, 2)
  const bytes = Buffer.concat([...signed, head, count])
  const digest = createHash(hash).update(bytes).digest()
  // GnuPG finds the key by this ID, whatever the hashed fingerprint says.
  const rest = Buffer.concat([subpacket(16, Buffer.from(fingerprint.slice(24), 'hex')), ...uncovered])
  return Buffer.concat([
    head,
    size(rest),
    rest,
    digest.subarray(0, 2),
    made(kind, pair.privateKey, hash, bytes, digest),
  ])
}

function made(kind: PgpKind, key: KeyObject, hash: string, bytes: Buffer, digest: Buffer): Buffer {
  if (kind === 'rsa') return mpi(sign(hash, bytes, key))
  const pair = kind === 'ecdsa' ? sign(hash, bytes, { key, dsaEncoding: 'ieee-p1363' }) : sign(null, digest, key)
  return kind === 'ed25519' ? pair : Buffer.concat([mpi(pair.subarray(0, 32)), mpi(pair.subarray(32))])
}

export interface KeyringOptions {
  readonly flags?: number
  readonly expiresAfter?: number
  readonly isRevoked?: boolean
  readonly subkey?: {
    readonly key: PgpKey
    readonly flags?: number
    readonly isAnswered?: boolean
    /** When the subkey signed the binding in return. */
    readonly answeredSeconds?: number
    readonly isRevoked?: boolean
  }
  readonly withoutSelfSignature?: boolean
}

/** Returns the packets of a key with one user name. */
export function pgpKeyring(primary: PgpKey, options: KeyringOptions = {}): Buffer {
  const { flags = 3, expiresAfter, isRevoked = false, subkey } = options
  const name = Buffer.from('Camera <camera@example.org>')
  const covered = [subpacket(27, Buffer.of(flags))]
  if (expiresAfter !== undefined) covered.push(subpacket(9, seconds(expiresAfter)))
  const own = hashedKey(primary.body)
  const certified = pgpSignature(primary, [own, hashedName(name)], {
    type: 0x13,
    createdSeconds: NOW - 86_400,
    covered,
  })
  const packets = [packet(6, primary.body)]
  if (isRevoked) packets.push(packet(2, pgpSignature(primary, [own], { type: 0x20 })))
  packets.push(packet(13, name))
  if (options.withoutSelfSignature !== true) packets.push(packet(2, certified))
  if (subkey !== undefined) {
    const both = [own, hashedKey(subkey.key.body)]
    const { answeredSeconds = NOW } = subkey
    const answer = subpacket(32, pgpSignature(subkey.key, both, { type: 0x19, createdSeconds: answeredSeconds }))
    const binding = pgpSignature(primary, both, {
      type: 0x18,
      covered: [subpacket(27, Buffer.of(subkey.flags ?? 2))],
      uncovered: subkey.isAnswered === false ? [] : [answer],
    })
    packets.push(packet(14, subkey.key.body), packet(2, binding))
    if (subkey.isRevoked) packets.push(packet(2, pgpSignature(primary, both, { type: 0x28 })))
  }
  return Buffer.concat(packets)
}

export function armor(kind: 'PUBLIC KEY BLOCK' | 'SIGNATURE', bytes: Buffer): string {
  const lines = bytes
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return `-----BEGIN PGP ${kind}-----\n\n${lines}\n=${checksum(bytes)}\n-----END PGP ${kind}-----\n`
}

/** Returns the CRC-24, computed by long division. */
function checksum(bytes: Buffer): string {
  let crc = 0xb704cen
  for (const byte of bytes) {
    crc ^= BigInt(byte) << 16n
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1n
      if (crc >> 24n === 1n) crc ^= 0x1864cfbn
    }
  }
  return Buffer.from(crc.toString(16).padStart(6, '0'), 'hex').toString('base64')
}

export const signatureArmor = (body: Buffer) => armor('SIGNATURE', packet(2, body))

/** Returns a packet in the new format. */
export function packet(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0xc0 | tag), length(body.length), body])
}

export function subpacket(type: number, body: Buffer): Buffer {
  return Buffer.concat([length(body.length + 1), Buffer.of(type), body])
}

function length(value: number): Buffer {
  if (value < 192) return Buffer.of(value)
  return Buffer.of(((value - 192) >> 8) + 192, (value - 192) & 0xff)
}

export function hashedKey(body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0x99, body.length >> 8, body.length & 0xff), body])
}

export function hashedName(name: Buffer): Buffer {
  const head = Buffer.alloc(5, 0xb4)
  head.writeUInt32BE(name.length, 1)
  return Buffer.concat([head, name])
}

function seconds(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function size(area: Buffer): Buffer {
  return Buffer.of(area.length >> 8, area.length & 0xff)
}

function oid(hex: string): Buffer {
  return Buffer.concat([Buffer.of(hex.length / 2), Buffer.from(hex, 'hex')])
}

function mpi(bytes: Buffer): Buffer {
  const value = bytes.subarray(bytes.findIndex((byte) => byte !== 0))
  const bits = value.length * 8 - (Math.clz32(value[0]!) - 24)
  return Buffer.concat([Buffer.of(bits >> 8, bits & 0xff), value])
}
