import { putDigits } from '../crypto/hex.ts'

/** The 32-byte words of which ABI encodings and EIP-712 structures are made, written in place. */

/**
 * Right-aligned in its word: addresses and full words alike. Every other bit of the word has to be zero already.
 *
 * @param index of the word
 * @throws {RangeError} on anything but 20 or 32 bytes of hex
 */
export function putHex(words: Uint8Array, index: number, hex: string): void {
  const bytes = (hex.length - 2) / 2
  if ((bytes !== 20 && bytes !== 32) || !putDigits(words, index * 32 + 32 - bytes, hex)) {
    throw new RangeError('a field is neither 20 nor 32 bytes of hex')
  }
}

/**
 * As `putHex`, for full words alone.
 *
 * @throws {RangeError} on anything but `0x` and 32 bytes of hex
 */
export function putBytes32(words: Uint8Array, index: number, hex: string): void {
  if (hex.length !== 66 || !hex.startsWith('0x') || !putDigits(words, index * 32, hex)) {
    throw new RangeError('a word is 0x and 64 hex digits')
  }
}

/**
 * As `putHex`, for what may be bytes already.
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
 * @param value 0 … 2⁴⁸−1
 * @throws {RangeError} on anything else
 */
export function putUint(words: Uint8Array, index: number, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 48) throw new RangeError(`${value} does not fit 48 bits`)
  let rest = value
  for (let at = index * 32 + 31; at > index * 32 + 25; at--) {
    words[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
}
