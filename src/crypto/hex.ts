/** Bytes as text and back, in browsers too: nothing else that the client shares with the service may need `Buffer`. */

/** Node's own, several times as fast as what a browser is left with. */
const native = (globalThis as { Buffer?: BufferConstructor }).Buffer

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const NOT_A_DIGIT = 0xff
/** Value of each ASCII character as a hex digit. */
const DIGITS = new Uint8Array(128).fill(NOT_A_DIGIT)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  DIGITS[digit.charCodeAt(0)] = value
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

/** Lower-case digits, two a byte, no `0x`. */
export function bytesToHex(bytes: Uint8Array): string {
  if (native !== undefined) return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  let text = ''
  for (let index = 0; index < bytes.length; index++) text += PAIRS[bytes[index]!]
  return text
}

/**
 * @param hex `0x` and pairs of digits of any case
 * @returns undefined for any other text
 */
export function hexToBytes(hex: string): Uint8Array | undefined {
  if (hex.length % 2 !== 0 || !hex.startsWith('0x')) return undefined
  if (native !== undefined) {
    const decoded = native.from(hex.slice(2), 'hex') // ends before the first thing that is no pair of digits
    return 2 * decoded.length + 2 === hex.length ? decoded : undefined
  }
  const bytes = new Uint8Array(hex.length / 2 - 1)
  return putDigits(bytes, 0, hex) ? bytes : undefined
}

/**
 * Writes the bytes of `0x` and pairs of digits in place.
 *
 * @returns false, some of it written, when a character is no digit
 */
export function putDigits(bytes: Uint8Array, start: number, hex: string): boolean {
  for (let at = 2, to = start; at < hex.length; at += 2, to++) {
    const high = DIGITS[hex.charCodeAt(at)] ?? NOT_A_DIGIT
    const low = DIGITS[hex.charCodeAt(at + 1)] ?? NOT_A_DIGIT
    if ((high | low) > 15) return false
    bytes[to] = (high << 4) | low
  }
  return true
}

/** The digits of each byte as one element, in the order of bytes that this machine has. */
const PAIR_CODES = new Uint16Array(256)
new Uint8Array(PAIR_CODES.buffer).set(PAIRS.flatMap((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]))

/**
 * The digits of bytes [start, end) as ASCII, at the same places.
 *
 * @param digits two ASCII characters an element
 */
export function putPairs(digits: Uint16Array, bytes: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) digits[at] = PAIR_CODES[bytes[at]!]!
}

const encoder = new TextEncoder()

/** The text as UTF-8. */
export function utf8(text: string): Uint8Array {
  return native === undefined ? encoder.encode(text) : native.from(text, 'utf8')
}

/** Byte order: negative, 0 or positive. Of equal lengths. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return a[index]! - b[index]!
  return 0
}
