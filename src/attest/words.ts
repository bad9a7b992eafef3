import { putDigits } from '../crypto/hex.ts'

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
