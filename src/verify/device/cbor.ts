/**
 * A strict reader of the part of CBOR (RFC 8949) that WebAuthn uses: integers, byte and text strings, arrays and maps.
 * Lengths must be definite and in their shortest form. Map keys must be text or integers and must not repeat.
 */

export type CborValue = number | string | Uint8Array | readonly CborValue[] | CborMap
export type CborMap = ReadonlyMap<number | string, CborValue>

const MAX_DEPTH = 6
const MAX_ITEMS = 64

export class CborError extends Error {
  override readonly name = 'CborError'
}

/** @throws {CborError} unless the bytes are exactly one value */
export function readCbor(bytes: Uint8Array): CborValue {
  const reader = { bytes, offset: 0 }
  const value = readValue(reader, 0)
  if (reader.offset !== bytes.length) throw new CborError('extra bytes after the value')
  return value
}

interface Reader {
  readonly bytes: Uint8Array
  offset: number
}

function readValue(reader: Reader, depth: number): CborValue {
  if (depth > MAX_DEPTH) throw new CborError(`nested deeper than ${MAX_DEPTH}`)
  const first = take(reader, 1)[0]!
  const argument = readArgument(reader, first & 0x1f)
  switch (first >> 5) {
    case 0:
      return argument
    case 1:
      return -1 - argument
    case 2:
      return take(reader, argument)
    case 3:
      return decodeText(take(reader, argument))
    case 4:
      return Array.from({ length: checkCount(argument) }, () => readValue(reader, depth + 1))
    case 5:
      return readMap(reader, checkCount(argument), depth)
    default:
      throw new CborError('tags, floats and simple values are not supported')
  }
}

/** @param short the low five bits of the first byte */
function readArgument(reader: Reader, short: number): number {
  if (short < 24) return short
  const size = [1, 2, 4][short - 24]
  if (size === undefined) throw new CborError('a length is indefinite or too large')
  const value = take(reader, size).reduce((sum, byte) => sum * 256 + byte, 0)
  if (value < (size === 1 ? 24 : 256 ** (size / 2))) throw new CborError('a number is not in its shortest form')
  return value
}

function readMap(reader: Reader, count: number, depth: number): CborMap {
  const map = new Map<number | string, CborValue>()
  for (let i = 0; i < count; i++) {
    const key = readValue(reader, depth + 1)
    if (typeof key !== 'number' && typeof key !== 'string') throw new CborError('a key is neither text nor integer')
    if (map.has(key)) throw new CborError('a key is repeated')
    map.set(key, readValue(reader, depth + 1))
  }
  return map
}

function checkCount(argument: number): number {
  if (argument > MAX_ITEMS) throw new CborError(`more than ${MAX_ITEMS} items`)
  return argument
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new CborError('a text is not UTF-8', { cause: error })
  }
}

function take(reader: Reader, count: number): Uint8Array {
  const end = reader.offset + count
  if (end > reader.bytes.length) throw new CborError('a value is truncated')
  const bytes = reader.bytes.subarray(reader.offset, end)
  reader.offset = end
  return bytes
}
