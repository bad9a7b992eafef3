/**
 * Conversions between bytes and text, for browsers too. `Buffer` is used only if it exists. No other code that the client shares
 * with the service may need `Buffer`.
 */

/** Node's `Buffer` if there is one: several times as fast as the loops below. */
const native = (globalThis as { Buffer?: BufferConstructor }).Buffer

/** The two hex digits of each byte. */
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const NOT_A_DIGIT = 0xff
/** Value of each ASCII character as a hex digit. */
const DIGITS = new Uint8Array(128).fill(NOT_A_DIGIT)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  DIGITS[digit.charCodeAt(0)] = value
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

/** Returns lower-case hex digits, two per byte, without `0x`. */
export function bytesToHex(bytes: Uint8Array): string {
  if (native !== undefined) return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  let text = ''
  for (let index = 0; index < bytes.length; index++) text += PAIRS[bytes[index]!]
  return text
}

/**
 * Decodes hex.
 *
 * @param hex `0x` and pairs of hex digits in any case
 * @returns undefined for any other text
 */
export function hexToBytes(hex: string): Uint8Array | undefined {
  if (hex.length % 2 !== 0 || !hex.startsWith('0x')) return undefined
  if (native !== undefined) {
    const decoded = native.from(hex.slice(2), 'hex') // stops at the first pair that is not hex
    return 2 * decoded.length + 2 === hex.length ? decoded : undefined
  }
  const bytes = new Uint8Array(hex.length / 2 - 1)
  return putDigits(bytes, 0, hex) ? bytes : undefined
}

/**
 * Decodes hex into `bytes`, from offset `start` on. Does not check the `0x`.
 *
 * @param hex `0x` and pairs of hex digits in any case
 * @returns false when a character is not a hex digit; the bytes before it have been written
 */
export function putDigits(bytes: Uint8Array, start: number, hex: string): boolean {
  for (let index = 2, offset = start; index < hex.length; index += 2, offset++) {
    const high = DIGITS[hex.charCodeAt(index)] ?? NOT_A_DIGIT
    const low = DIGITS[hex.charCodeAt(index + 1)] ?? NOT_A_DIGIT
    if ((high | low) > 15) return false
    bytes[offset] = (high << 4) | low
  }
  return true
}

/** The two ASCII digits of each byte as one element, in this machine's byte order. */
const PAIR_CODES = new Uint16Array(256)
new Uint8Array(PAIR_CODES.buffer).set(PAIRS.flatMap((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]))

/**
 * Writes the hex digits of bytes [start, end) as ASCII, at the same indices.
 *
 * @param digits two ASCII characters per element
 */
export function putPairs(digits: Uint16Array, bytes: Uint8Array, start: number, end: number): void {
  for (let index = start; index < end; index++) digits[index] = PAIR_CODES[bytes[index]!]!
}

const encoder = new TextEncoder()

/** Encodes text as UTF-8. */
export function utf8(text: string): Uint8Array {
  return native === undefined ? encoder.encode(text) : native.from(text, 'utf8')
}

/** Compares byte arrays of equal length in lexicographic order: negative, 0 or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return a[index]! - b[index]!
  return 0
}
