import { bytesToHex, hexToBytes } from '../crypto/hex.ts'
import type { Hex } from '../messages.ts'

/** Why bytes are not the encoding they should be. Never leaves `attest`: `readAbi` turns it into data. */
class AbiFailure extends Error {}

export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string }

/**
 * Reads a tuple from hostile bytes.
 *
 * Strict: only what Solidity's `abi.encode` itself would write is taken, so each value has one encoding and no offset
 * can point twice at the same bytes. Lengths are compared with the bytes that are left before anything is allocated.
 *
 * @param data bytes, or `0x` and hex digits
 * @param headWords number of fields of the tuple
 * @param read takes the fields in order
 */
export function readAbi<T>(data: Uint8Array | string, headWords: number, read: (tuple: TupleReader) => T): Decoded<T> {
  const bytes = typeof data === 'string' ? hexToBytes(data) : data
  if (bytes === undefined) return { ok: false, reason: 'is not 0x and pairs of hex digits' }
  try {
    const tuple = new TupleReader(bytes, 0, headWords)
    const value = read(tuple)
    if (tuple.end !== bytes.length) fail(`has ${bytes.length} bytes where the encoding ends after ${tuple.end}`)
    return { ok: true, value }
  } catch (error) {
    if (error instanceof AbiFailure) return { ok: false, reason: error.message }
    throw error
  }
}

/** A mark at the beginning is part of the text: dropped, two texts would have one encoding. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The fields of one tuple (or the items of one array of dynamic items), in order. */
export class TupleReader {
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

  /** Where the encoding ends, once every field is read. */
  get end(): number {
    return this.#tail
  }

  /** @param bits 8 … 256, a multiple of 8 */
  uint(bits: number): bigint {
    return BigInt(`0x${bytesToHex(this.#word(this.skipUint(bits)))}`)
  }

  /** A field of any 256 bits or fewer, as `uint` takes it; its value is left where it is. @returns where it stands */
  skipUint(bits: number): number {
    const at = this.#head
    this.#head += 32
    if (!isZero(this.#bytes, at, at + 32 - bits / 8)) fail(`has a value beyond uint${bits}`)
    return at
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

  /** What `string` takes, without making one of it. */
  skipString(): void {
    const length = this.#skipDynamic()
    const start = this.#tail - Math.ceil(length / 32) * 32
    let at = start
    while (at < start + length && this.#bytes[at]! < 128) at++
    if (at < start + length) requireUtf8(this.#bytes.subarray(start, start + length))
  }

  bytes(): Hex {
    return `0x${bytesToHex(this.#dynamicBytes())}`
  }

  bytes32Array(): Hex[] {
    const count = this.skipBytes32Array()
    const start = this.#tail - count * 32
    return Array.from({ length: count }, (_, index): Hex => `0x${bytesToHex(this.#word(start + index * 32))}`)
  }

  /** @returns the number of its items, which end at the end of what was read */
  skipBytes32Array(): number {
    const start = this.#enterTail()
    const count = this.#length(start, 32)
    this.#tail = start + 32 + count * 32
    return count
  }

  /** An array of strings or bytes. */
  dynamicArray<T>(readItem: (items: TupleReader) => T): T[] {
    const start = this.#enterTail()
    const count = this.#length(start, 64) // each item takes an offset and a length at least
    const items = new TupleReader(this.#bytes, start + 32, count)
    const values = Array.from({ length: count }, () => readItem(items))
    this.#tail = items.end
    return values
  }

  #word(at: number): Uint8Array {
    return this.#bytes.subarray(at, at + 32)
  }

  /** The next field's offset has to name the place right after what was read before it. */
  #enterTail(): number {
    const offset = this.smallUint(48)
    if (offset !== this.#tail - this.#base) fail('has an offset that is not the canonical one')
    if (this.#tail + 32 > this.#bytes.length) fail('ends before a length')
    return this.#tail
  }

  #length(at: number, bytesPerItem: number): number {
    const left = this.#bytes.length - at - 32
    if (!isZero(this.#bytes, at, at + 26)) fail('has a length beyond its bytes')
    const length = lowUint48(this.#bytes, at)
    if (length * bytesPerItem > left) fail('has a length beyond its bytes')
    return length
  }

  #dynamicBytes(): Uint8Array {
    const length = this.#skipDynamic()
    const start = this.#tail - Math.ceil(length / 32) * 32
    return this.#bytes.subarray(start, start + length)
  }

  /** @returns the length of bytes whose words end at the end of what was read */
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

/** The last six bytes of the word at `at`. */
function lowUint48(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let index = at + 26; index < at + 32; index++) value = value * 256 + bytes[index]!
  return value
}

function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (bytes[index] !== 0) return false
  return true
}

function fail(reason: string): never {
  throw new AbiFailure(reason)
}
