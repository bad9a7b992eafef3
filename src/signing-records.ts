/**
 * Payloads on their way to the signer and signatures on their way back, as bytes in one buffer a message: as objects with hex
 * in them, cloning and reading them took a sixth of the signer's time.
 */
import type {
  AttestationKind,
  AttestationPayload,
  Hex,
  NonceSource,
  ResultPayload,
  SignedAttestation,
  SignedResult,
} from './messages.ts'
import { ProblemError, problemAt } from './problem.ts'

/** A payload as the signer looks at it: views of the record's bytes. */
export interface PayloadRecord {
  readonly kind: AttestationKind
  /** 32 bytes, of a result signed without a nonce; else undefined. */
  readonly salt: Uint8Array | undefined
  readonly chainId: number
  /** 32 bytes. */
  readonly schema: Uint8Array
  /** 20 bytes. */
  readonly recipient: Uint8Array
  readonly data: Uint8Array
}

/** A signature with what the signer added. */
export interface SignedRecord {
  /** r‖s, 64 bytes, and its recovery bit. */
  readonly compact: Uint8Array
  readonly recovery: 0 | 1
  readonly deadlineSeconds: number
  /** Of a result 0 and undefined. */
  readonly nonce: number
  readonly nonceSource: NonceSource | undefined
}

const KINDS: readonly AttestationKind[] = ['numeric', 'boolean', 'verify', 'merkle-root']
/** Added to the kind of a result. */
const RESULT = 16
const NO_HEX = 'data is not 0x and pairs of hex digits'
const HEAD_BYTES = 59
const SALT_BYTES = 32

const BYTES32 = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/
/** Schemas and recipients whose bytes are kept: callers name few. */
const MAX_KNOWN = 1024
const schemaBytes = fieldReader('schema', BYTES32, 64)
const recipientBytes = fieldReader('recipient', ADDRESS, 40)

/** An attestation or a result whose data may be bytes already. */
export type PackablePayload =
  | (Omit<AttestationPayload, 'data'> & { readonly data: Hex | Uint8Array })
  | (Omit<ResultPayload, 'data'> & { readonly data: Hex | Uint8Array })

/**
 * @returns how many bytes `putPayload` will write
 * @throws {ProblemError} on data that is no hex from its beginning
 */
export function payloadSize({ kind, data }: PackablePayload): number {
  if (typeof data === 'string' && !data.startsWith('0x')) throw internal(NO_HEX)
  const dataBytes = typeof data === 'string' ? (data.length >> 1) - 1 : data.length
  return HEAD_BYTES + (kind === 'result' ? SALT_BYTES : 0) + dataBytes
}

/**
 * Kind (1 byte), chain ID (6), schema (32), recipient (20), a result's salt (32), data.
 *
 * @returns where it ends
 * @throws {ProblemError} on a field that is not what its type says
 */
export function putPayload(target: Buffer, start: number, payload: PackablePayload): number {
  const { chainId, schema, recipient, data } = payload
  const isResult = payload.kind === 'result'
  const kind = KINDS.indexOf(isResult ? payload.dataKind : payload.kind)
  if (kind < 0) throw internal('unknown kind of payload')
  target[start] = isResult ? kind + RESULT : kind
  if (!Number.isInteger(chainId) || chainId < 0 || chainId >= 2 ** 48) throw internal('a chain ID beyond 48 bits')
  putUint48(target, start + 1, chainId)
  target.set(schemaBytes(schema), start + 7)
  target.set(recipientBytes(recipient), start + 39)
  let at = start + HEAD_BYTES
  if (isResult) {
    if (!BYTES32.test(payload.salt)) throw internal('a salt is 0x and 64 lower-case hex digits')
    at += target.write(payload.salt.slice(2), at, 'hex')
  }
  if (typeof data !== 'string') {
    target.set(data, at)
    return at + data.length
  }
  const bytes = target.write(data.slice(2), at, 'hex') // ends before the first thing that is no pair of digits
  if (2 * bytes + 2 !== data.length) throw internal(NO_HEX)
  return at + bytes
}

/** @throws {ProblemError} as `putPayload` */
export function packPayload(payload: AttestationPayload | ResultPayload): Buffer {
  const bytes = Buffer.allocUnsafe(payloadSize(payload))
  putPayload(bytes, 0, payload)
  return bytes
}

/** @returns undefined for bytes that `putPayload` would not write; the data itself is not looked at */
export function readPayload(bytes: Uint8Array): PayloadRecord | undefined {
  const code = bytes[0]
  if (code === undefined || bytes.length < HEAD_BYTES) return undefined
  const isResult = code >= RESULT
  const kind = KINDS[isResult ? code - RESULT : code]
  const dataAt = HEAD_BYTES + (isResult ? SALT_BYTES : 0)
  if (kind === undefined || bytes.length < dataAt) return undefined
  return {
    kind,
    salt: isResult ? bytes.subarray(HEAD_BYTES, dataAt) : undefined,
    chainId: payloadChainId(bytes),
    schema: bytes.subarray(7, 39),
    recipient: bytes.subarray(39, HEAD_BYTES),
    data: bytes.subarray(dataAt),
  }
}

/** Of a record that `putPayload` wrote. */
export function payloadChainId(bytes: Uint8Array): number {
  return readUint48(bytes, 1)
}

/** Records in one message: each with its ID (4 bytes) and its length (4) before it. */
export function joinRecords(ids: readonly number[], records: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0
  for (const { length } of records) size += 8 + length
  const bytes = new Uint8Array(size)
  let at = 0
  records.forEach((record, index) => {
    putUint32(bytes, at, ids[index]!)
    putUint32(bytes, at + 4, record.length)
    bytes.set(record, at + 8)
    at += 8 + record.length
  })
  return bytes
}

/** @param take gets each record as a view */
export function splitRecords(bytes: Uint8Array, take: (id: number, record: Uint8Array) => void): void {
  let at = 0
  while (at < bytes.length) {
    const end = at + 8 + readUint32(bytes, at + 4)
    take(readUint32(bytes, at), bytes.subarray(at + 8, end))
    at = end
  }
}

/** ID (4 bytes), r‖s (64), recovery bit and nonce source (1), nonce (6), deadline (6). */
export const SIGNED_BYTES = 81
const SOURCES: readonly (NonceSource | undefined)[] = [undefined, 'chain', 'cache', 'default']

/** @param start of `SIGNED_BYTES` */
export function putSigned(target: Uint8Array, start: number, id: number, signed: SignedRecord): void {
  putUint32(target, start, id)
  target.set(signed.compact, start + 4)
  target[start + 68] = signed.recovery | (SOURCES.indexOf(signed.nonceSource) << 1)
  putUint48(target, start + 69, signed.nonce)
  putUint48(target, start + 75, signed.deadlineSeconds)
}

/** ID of the payload that was signed. */
export function signedId(bytes: Uint8Array, start: number): number {
  return readUint32(bytes, start)
}

/** @param bytes as `putSigned` wrote them */
export function readSigned(bytes: Buffer, start: number): SignedAttestation | SignedResult {
  const flags = bytes[start + 68]!
  const compact = bytes.toString('hex', start + 4, start + 68)
  const signature: Hex = (flags & 1) === 0 ? `0x${compact}1b` : `0x${compact}1c`
  const deadlineSeconds = readUint48(bytes, start + 75)
  const nonceSource = SOURCES[flags >> 1]
  if (nonceSource === undefined) return { ok: true, signature, deadlineSeconds }
  return { ok: true, signature, nonce: readUint48(bytes, start + 69), nonceSource, deadlineSeconds }
}

function fieldReader(field: string, form: RegExp, digits: number): (hex: Hex) => Uint8Array {
  const known = new Map<string, Uint8Array>()
  return (hex) => {
    const found = known.get(hex)
    if (found !== undefined) return found
    if (!form.test(hex)) throw problemAt('invalid-input', [field], `is not 0x and ${digits} lower-case hex digits`)
    const bytes = Buffer.from(hex.slice(2), 'hex')
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(hex, bytes)
    return bytes
  }
}

function internal(detail: string): ProblemError {
  return new ProblemError({ type: 'internal', detail })
}

function putUint32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

function putUint48(target: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  target[at] = high >>> 8
  target[at + 1] = high
  putUint32(target, at + 2, value % 2 ** 32)
}

function readUint48(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 8) | bytes[at + 1]!) * 2 ** 32 + readUint32(bytes, at + 2)
}
