/**
 * The byte encoding of payloads for the signer and of its signatures. A message carries them in one buffer, because cloning and
 * reading objects with hex strings took a sixth of the signer's time.
 */

import { ProblemError, problemAt } from '../base/problem.ts'
import type {
  AttestationPayload,
  NonceSource,
  ResultPayload,
  SignedAttestation,
  SignedResult,
} from './signing-messages.ts'
import type { AttestationKind, Hex } from './values.ts'

/** A decoded payload. Its arrays are views of the record's bytes. */
export interface PayloadRecord {
  readonly kind: AttestationKind
  /** 32 bytes for a result that is signed without a nonce; otherwise undefined. */
  readonly salt: Uint8Array | undefined
  readonly chainId: number
  /** 32 bytes. */
  readonly schema: Uint8Array
  /** 20 bytes. */
  readonly recipient: Uint8Array
  readonly data: Uint8Array
}

/** A signature and the fields that the signer added. */
export interface SignedRecord {
  /** r‖s, 64 bytes. */
  readonly compact: Uint8Array
  readonly recovery: 0 | 1
  readonly deadlineSeconds: number
  /** 0 for a result. */
  readonly nonce: number
  /** undefined for a result. */
  readonly nonceSource: NonceSource | undefined
}

const KINDS: readonly AttestationKind[] = ['numeric', 'boolean', 'verify', 'merkle-root']
/** Added to the kind byte of a result. */
const RESULT_FLAG = 16
const INVALID_HEX = 'data must be 0x and pairs of hex digits'
/** Bytes of a payload record before its salt or data. */
const HEAD_BYTES = 59
export const SALT_BYTES = 32

const BYTES32 = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/
/** Size of the caches of decoded schemas and recipients. Clients use only a few. */
const MAX_CACHED = 1024
const schemaBytes = createFieldDecoder('schema', BYTES32, 64)
const recipientBytes = createFieldDecoder('recipient', ADDRESS, 40)

/** A payload that has a byte encoding. */
export type PackablePayload = AttestationPayload<Hex | Uint8Array> | ResultPayload

/**
 * @returns the number of bytes that `putPayload` will write
 * @throws {ProblemError} if the data is a string that does not begin with `0x`
 */
export function payloadSize({ kind, data }: PackablePayload): number {
  if (typeof data === 'string' && !data.startsWith('0x')) throw internalProblem(INVALID_HEX)
  const dataBytes = typeof data === 'string' ? (data.length >> 1) - 1 : data.length
  return HEAD_BYTES + (kind === 'result' ? SALT_BYTES : 0) + dataBytes
}

/**
 * Writes a payload record: kind (1 byte), chain ID (6), schema (32), recipient (20), salt (32, results only), data.
 *
 * @returns the offset of its end
 * @throws {ProblemError} on an invalid field
 */
export function putPayload(target: Buffer, start: number, payload: PackablePayload): number {
  const { chainId, schema, recipient, data } = payload
  const isResult = payload.kind === 'result'
  const kind = KINDS.indexOf(isResult ? payload.dataKind : payload.kind)
  if (kind < 0) throw internalProblem('unknown kind of payload')
  target[start] = isResult ? kind + RESULT_FLAG : kind
  if (!Number.isInteger(chainId) || chainId < 0 || chainId >= 2 ** 48)
    throw internalProblem('the chain ID is not an integer of 48 bits')
  putUint48(target, start + 1, chainId)
  target.set(schemaBytes(schema), start + 7)
  target.set(recipientBytes(recipient), start + 39)
  let offset = start + HEAD_BYTES
  if (isResult) {
    if (!BYTES32.test(payload.salt)) throw internalProblem('the salt must be 0x and 64 lower-case hex digits')
    offset += target.write(payload.salt.slice(2), offset, 'hex')
  }
  if (typeof data !== 'string') {
    target.set(data, offset)
    return offset + data.length
  }
  const bytes = target.write(data.slice(2), offset, 'hex') // stops before the first invalid pair of digits
  if (2 * bytes + 2 !== data.length) throw internalProblem(INVALID_HEX)
  return offset + bytes
}

/** Replaces the salt in a payload record of a result. @param salt `SALT_BYTES` */
export function setSalt(record: Uint8Array, salt: Uint8Array): void {
  record.set(salt, HEAD_BYTES)
}

/** Encodes one payload. Throws like `putPayload`. */
export function packPayload(payload: PackablePayload): Buffer {
  const bytes = Buffer.allocUnsafe(payloadSize(payload))
  putPayload(bytes, 0, payload)
  return bytes
}

/** Decodes a payload record. Returns undefined for bytes that `putPayload` would not write; does not check the data itself. */
export function readPayload(bytes: Uint8Array): PayloadRecord | undefined {
  const code = bytes[0]
  if (code === undefined || bytes.length < HEAD_BYTES) return undefined
  const isResult = code >= RESULT_FLAG
  const kind = KINDS[isResult ? code - RESULT_FLAG : code]
  const dataStart = HEAD_BYTES + (isResult ? SALT_BYTES : 0)
  if (kind === undefined || bytes.length < dataStart) return undefined
  return {
    kind,
    salt: isResult ? bytes.subarray(HEAD_BYTES, dataStart) : undefined,
    chainId: payloadChainId(bytes),
    schema: bytes.subarray(7, 39),
    recipient: bytes.subarray(39, HEAD_BYTES),
    data: bytes.subarray(dataStart),
  }
}

/** Reads the chain ID of a payload record. */
export function payloadChainId(bytes: Uint8Array): number {
  return readUint48(bytes, 1)
}

/** Joins records for one message. Each is preceded by its ID (4 bytes) and its length (4 bytes). */
export function joinRecords(ids: readonly number[], records: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0
  for (const { length } of records) size += 8 + length
  const bytes = new Uint8Array(size)
  let offset = 0
  records.forEach((record, index) => {
    putUint32(bytes, offset, ids[index]!)
    putUint32(bytes, offset + 4, record.length)
    bytes.set(record, offset + 8)
    offset += 8 + record.length
  })
  return bytes
}

/** Splits what `joinRecords` joined. */
export function splitRecords(bytes: Uint8Array, take: (id: number, record: Uint8Array) => void): void {
  let offset = 0
  while (offset < bytes.length) {
    const end = offset + 8 + readUint32(bytes, offset + 4)
    take(readUint32(bytes, offset), bytes.subarray(offset + 8, end))
    offset = end
  }
}

/** Size of a signed record: ID (4 bytes), r‖s (64), recovery bit and nonce source (1), nonce (6), deadline (6). */
export const SIGNED_BYTES = 81
const SOURCES: readonly (NonceSource | undefined)[] = [undefined, 'chain', 'cache', 'default']

/** Writes a signed record of `SIGNED_BYTES` at `start`. */
export function putSigned(target: Uint8Array, start: number, id: number, signed: SignedRecord): void {
  putUint32(target, start, id)
  target.set(signed.compact, start + 4)
  target[start + 68] = signed.recovery | (SOURCES.indexOf(signed.nonceSource) << 1)
  putUint48(target, start + 69, signed.nonce)
  putUint48(target, start + 75, signed.deadlineSeconds)
}

/** Reads the ID of the payload that was signed. */
export function signedId(bytes: Uint8Array, start: number): number {
  return readUint32(bytes, start)
}

/** Decodes a signed record that `putSigned` wrote. */
export function readSigned(bytes: Buffer, start: number): SignedAttestation | SignedResult {
  const flags = bytes[start + 68]!
  const compact = bytes.toString('hex', start + 4, start + 68)
  const signature: Hex = (flags & 1) === 0 ? `0x${compact}1b` : `0x${compact}1c`
  const deadlineSeconds = readUint48(bytes, start + 75)
  const nonceSource = SOURCES[flags >> 1]
  if (nonceSource === undefined) return { ok: true, signature, deadlineSeconds }
  return { ok: true, signature, nonce: readUint48(bytes, start + 69), nonceSource, deadlineSeconds }
}

function createFieldDecoder(field: string, pattern: RegExp, digits: number): (hex: Hex) => Uint8Array {
  const cache = new Map<string, Uint8Array>()
  return (hex) => {
    const cached = cache.get(hex)
    if (cached !== undefined) return cached
    if (!pattern.test(hex)) throw problemAt('invalid-input', [field], `must be 0x and ${digits} lower-case hex digits`)
    const bytes = Buffer.from(hex.slice(2), 'hex')
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(hex, bytes)
    return bytes
  }
}

function internalProblem(detail: string): ProblemError {
  return new ProblemError({ type: 'internal', detail })
}

function putUint32(target: Uint8Array, offset: number, value: number): void {
  target[offset] = value >>> 24
  target[offset + 1] = value >>> 16
  target[offset + 2] = value >>> 8
  target[offset + 3] = value
}

function readUint32(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>> 0
}

function putUint48(target: Uint8Array, offset: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  target[offset] = high >>> 8
  target[offset + 1] = high
  putUint32(target, offset + 2, value % 2 ** 32)
}

function readUint48(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset]! << 8) | bytes[offset + 1]!) * 2 ** 32 + readUint32(bytes, offset + 2)
}
