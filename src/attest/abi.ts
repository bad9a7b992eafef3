import { bytesToHex, hexToBytes, putDigits } from '../crypto/hex.ts'
import type { Hex } from '../wire/values.ts'

/** Writes the 32-byte words of ABI encodings and EIP-712 structures in place. */

/**
 * Writes an address or a full word, right-aligned. The remaining bytes of the word must be zero already.
 *
 * @param index index of the word
 * @throws {RangeError} on anything but 20 or 32 bytes of hex
 */
export function putHex(words: Uint8Array, index: number, hex: string): void {
  const bytes = (hex.length - 2) / 2
  if ((bytes !== 20 && bytes !== 32) || !putDigits(words, index * 32 + 32 - bytes, hex)) {
    throw new RangeError('a field is neither 20 nor 32 bytes of hex')
  }
}

/**
 * Writes a full word; an address is rejected.
 *
 * @throws {RangeError} on anything but `0x` and 32 bytes of hex
 */
export function putBytes32(words: Uint8Array, index: number, hex: string): void {
  if (hex.length !== 66 || !hex.startsWith('0x') || !putDigits(words, index * 32, hex)) {
    throw new RangeError('a word is 0x and 64 hex digits')
  }
}

/**
 * Writes an address or a full word, as `putHex` does; the value may also be bytes.
 *
 * @throws {RangeError} on anything but 20 or 32 bytes
 */
export function putWord(words: Uint8Array, index: number, value: Uint8Array | string): void {
  if (typeof value === 'string') {
    putHex(words, index, value)
    return
  }
  if (value.length !== 20 && value.length !== 32) throw new RangeError('a field is neither 20 nor 32 bytes')
  words.set(value, index * 32 + 32 - value.length)
}

/**
 * Writes an unsigned integer into the last 6 bytes of a word.
 *
 * @param value 0 … 2⁴⁸−1
 * @throws {RangeError} on anything else
 */
export function putUint(words: Uint8Array, index: number, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 48)
    throw new RangeError(`${value} does not fit in 48 bits`)
  let remaining = value
  for (let offset = index * 32 + 31; offset > index * 32 + 25; offset--) {
    words[offset] = remaining % 256
    remaining = Math.floor(remaining / 256)
  }
}

/** Thrown when bytes are not a canonical encoding. Never leaves `attest`: `readAbi` catches it and returns the reason as data. */
class AbiFailure extends Error {}

export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string }

/**
 * Reads an ABI-encoded tuple from untrusted bytes.
 *
 * Strict: accepts only what Solidity's `abi.encode` would write. So each value has exactly one encoding, and no two offsets can
 * point at the same bytes. Lengths are checked against the remaining bytes before anything is allocated.
 *
 * @param data bytes, or `0x` and hex digits
 * @param headWords number of fields of the tuple
 * @param read reads the fields in order
 * @returns the value, or why the bytes are not its canonical encoding
 */
export function readAbi<T>(data: Uint8Array | string, headWords: number, read: (tuple: TupleReader) => T): Decoded<T> {
  const bytes = typeof data === 'string' ? hexToBytes(data) : data
  if (bytes === undefined) return { ok: false, reason: 'is not 0x and pairs of hex digits' }
  try {
    const tuple = new TupleReader(bytes, 0, headWords)
    const value = read(tuple)
    if (tuple.end !== bytes.length) fail(`has ${bytes.length} bytes, but the encoding ends after ${tuple.end}`)
    return { ok: true, value }
  } catch (error) {
    if (error instanceof AbiFailure) return { ok: false, reason: error.message }
    throw error
  }
}

/** Keeps a byte order mark as part of the text: if it were dropped, two encodings would decode to the same text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the fields of one tuple, or the items of one array of dynamic items, in order. */
class TupleReader {
  readonly #bytes: Uint8Array
  readonly #base: number
  #head: number
  #tail: number

  constructor(bytes: Uint8Array, base: number, headWords: number) {
    this.#bytes = bytes
    this.#base = base
    this.#head = base
    this.#tail = base + headWords * 32
    if (this.#tail > bytes.length) fail(`ends within its first ${headWords} words`)
  }

  /** The offset at which the encoding ends; valid once every field has been read. */
  get end(): number {
    return this.#tail
  }

  /** @param bits 8 … 256, a multiple of 8 */
  uint(bits: number): bigint {
    return BigInt(`0x${bytesToHex(this.#word(this.skipUint(bits)))}`)
  }

  /**
   * Checks an unsigned integer without decoding it.
   *
   * @param bits 8 … 256, a multiple of 8
   * @returns the offset of its word
   */
  skipUint(bits: number): number {
    const offset = this.#head
    this.#head += 32
    if (!isZero(this.#bytes, offset, offset + 32 - bits / 8)) fail(`has a value that does not fit uint${bits}`)
    return offset
  }

  /** @param bits 8 … 48, a multiple of 8 */
  smallUint(bits: number): number {
    return lowUint48(this.#bytes, this.skipUint(bits))
  }

  bool(): boolean {
    const value = this.smallUint(8)
    if (value > 1) fail('has a bool other than 0 and 1')
    return value === 1
  }

  bytes32(): Hex {
    return `0x${bytesToHex(this.#word(this.skipUint(256)))}`
  }

  string(): string {
    return requireUtf8(this.#dynamicBytes())
  }

  /** Checks a string as `string` does, without decoding it when it is ASCII. */
  skipString(): void {
    const length = this.#skipDynamic()
    const start = this.#tail - Math.ceil(length / 32) * 32
    let offset = start
    while (offset < start + length && this.#bytes[offset]! < 128) offset++
    if (offset < start + length) requireUtf8(this.#bytes.subarray(start, start + length))
  }

  bytes(): Hex {
    return `0x${bytesToHex(this.#dynamicBytes())}`
  }

  bytes32Array(): Hex[] {
    const count = this.skipBytes32Array()
    const start = this.#tail - count * 32
    return Array.from({ length: count }, (_, index): Hex => `0x${bytesToHex(this.#word(start + index * 32))}`)
  }

  /** @returns the number of items; the last one ends where the bytes read so far end */
  skipBytes32Array(): number {
    const start = this.#enterTail()
    const count = this.#length(start, 32)
    this.#tail = start + 32 + count * 32
    return count
  }

  /** Reads an array of strings or of bytes. */
  dynamicArray<T>(readItem: (items: TupleReader) => T): T[] {
    const start = this.#enterTail()
    const count = this.#length(start, 64) // each item has at least an offset and a length
    const items = new TupleReader(this.#bytes, start + 32, count)
    const values = Array.from({ length: count }, () => readItem(items))
    this.#tail = items.end
    return values
  }

  #word(offset: number): Uint8Array {
    return this.#bytes.subarray(offset, offset + 32)
  }

  /**
   * Reads the offset of a dynamic field, which must point to the end of the bytes read so far.
   *
   * @returns that offset, where the field's length is
   */
  #enterTail(): number {
    const offset = this.smallUint(48)
    if (offset !== this.#tail - this.#base) fail('has an offset that is not canonical')
    if (this.#tail + 32 > this.#bytes.length) fail('ends before a length')
    return this.#tail
  }

  #length(offset: number, bytesPerItem: number): number {
    const remaining = this.#bytes.length - offset - 32
    if (!isZero(this.#bytes, offset, offset + 26)) fail('has a length that exceeds its bytes')
    const length = lowUint48(this.#bytes, offset)
    if (length * bytesPerItem > remaining) fail('has a length that exceeds its bytes')
    return length
  }

  #dynamicBytes(): Uint8Array {
    const length = this.#skipDynamic()
    const start = this.#tail - Math.ceil(length / 32) * 32
    return this.#bytes.subarray(start, start + length)
  }

  /** @returns the length in bytes, without padding; the padded bytes end where the bytes read so far end */
  #skipDynamic(): number {
    const start = this.#enterTail() + 32
    const length = this.#length(start - 32, 1)
    const end = start + Math.ceil(length / 32) * 32
    if (end > this.#bytes.length) fail('ends within its last word')
    if (!isZero(this.#bytes, start + length, end)) fail('has padding other than zeros')
    this.#tail = end
    return length
  }
}

function requireUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return fail('has a string that is not UTF-8')
  }
}

/** Reads the last six bytes of the word at `offset`. */
function lowUint48(bytes: Uint8Array, offset: number): number {
  let value = 0
  for (let index = offset + 26; index < offset + 32; index++) value = value * 256 + bytes[index]!
  return value
}

function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (bytes[index] !== 0) return false
  return true
}

function fail(reason: string): never {
  throw new AbiFailure(reason)
}
