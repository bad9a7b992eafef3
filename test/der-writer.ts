/** Writes DER for fixtures that no tool makes: certificates with the extensions of phones. */

/** @param tag first byte, or the number of a context-specific constructed element above 30 */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

export const sequence = (...contents: readonly Uint8Array[]) => der(0x30, ...contents)
export const set = (...contents: readonly Uint8Array[]) => der(0x31, ...contents)
export const octets = (content: Uint8Array) => der(4, content)
export const integer = (value: number) => der(2, magnitude(value))
export const enumerated = (value: number) => der(10, magnitude(value))
export const boolean = (value: boolean) => der(1, Buffer.of(value ? 0xff : 0))
export const utf8 = (text: string) => der(12, Buffer.from(text, 'utf8'))
export const bits = (content: Uint8Array) => der(3, Buffer.of(0), content)
export const time = (seconds: number) => {
  const text = new Date(seconds * 1000).toISOString().replace(/[-:T]|\.\d+/g, '')
  // UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280).
  return Number(text.slice(0, 4)) < 2050 ? der(23, Buffer.from(text.slice(2))) : der(24, Buffer.from(text))
}

/** Writes a context-specific, constructed element: [number] EXPLICIT. */
export function explicit(number: number, ...contents: readonly Uint8Array[]): Buffer {
  if (number < 31) return der(0xa0 | number, ...contents)
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(0xbf), base128(number), lengthOf(content.length), content])
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(6, ...[40 * first + second, ...rest].map(base128))
}

function base128(value: number): Buffer {
  const bytes = [value & 0x7f]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest & 0x7f) | 0x80)
  return Buffer.from(bytes)
}

function magnitude(value: number): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const bytes = magnitude(length)
  const digits = bytes[0] === 0 ? bytes.subarray(1) : bytes
  return Buffer.concat([Buffer.of(0x80 | digits.length), digits])
}
