import type { Geometry } from '../types/generated.ts'

/**
 * Returns the canonical text of a geometry: RFC 8785 (JCS) of an object with only `type` and `coordinates` or `geometries`. The
 * keccak-256 of this text is the geometry's reference in `inputRefs` (decision 19).
 *
 * Coordinates stay as received, including altitudes. Numbers need no special treatment, because JCS prescribes the form that
 * ECMAScript writes.
 */
export function canonicalGeometry(geometry: Geometry): string {
  return geometry.type === 'GeometryCollection'
    ? `{"geometries":[${geometry.geometries.map(canonicalGeometry).join(',')}],"type":"GeometryCollection"}`
    : `{"coordinates":${JSON.stringify(geometry.coordinates)},"type":"${geometry.type}"}`
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const FIRST_PRINTABLE = 0x20
const LAST_PRINTABLE = 0x7e

const encoder = new TextEncoder()
const INITIAL_BUFFER_BYTES = 4096
const MAX_REUSED_BYTES = 65_536
/** The output buffer, reused for the next value while it is small. */
let buffer = new Uint8Array(INITIAL_BUFFER_BYTES)
let usedBytes = 0

/**
 * Returns the canonical form of any JSON value by RFC 8785, as UTF-8: members sorted by UTF-16 code units, no white space.
 *
 * @param value as `JSON.parse` returns it
 * @throws {RangeError} on a lone surrogate, a non-finite number or a value that JSON cannot hold
 */
export function canonicalBytes(value: unknown): Uint8Array {
  usedBytes = 0
  try {
    writeValue(value)
    return buffer.slice(0, usedBytes)
  } finally {
    if (buffer.length > MAX_REUSED_BYTES) buffer = new Uint8Array(INITIAL_BUFFER_BYTES)
  }
}

function writeValue(value: unknown): void {
  if (typeof value === 'string') writeText(value)
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${value} has no canonical form`)
    writeAscii(String(value)) // −0 becomes 0
  } else if (typeof value === 'boolean') writeAscii(value ? 'true' : 'false')
  else if (value === null) writeAscii('null')
  else if (Array.isArray(value)) writeList(value)
  else if (typeof value === 'object') writeObject(value as Record<string, unknown>)
  else throw new RangeError(`a ${typeof value} has no canonical form`)
}

function writeList(list: readonly unknown[]): void {
  writeByte(OPEN_BRACKET)
  for (let index = 0; index < list.length; index++) {
    if (index > 0) writeByte(COMMA)
    writeValue(list[index])
  }
  writeByte(CLOSE_BRACKET)
}

function writeObject(object: Record<string, unknown>): void {
  writeByte(OPEN_BRACE)
  const names = sortNames(Object.keys(object))
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    if (index > 0) writeByte(COMMA)
    writeText(name)
    writeByte(COLON)
    writeValue(object[name])
  }
  writeByte(CLOSE_BRACE)
}

const MAX_INSERTION_SORT = 24

/** Sorts in place. Most objects have few members, nearly in order; for those `sort` allocates more than all their text. */
function sortNames(names: string[]): string[] {
  if (names.length > MAX_INSERTION_SORT) return names.sort()
  for (let index = 1; index < names.length; index++) {
    const name = names[index]!
    let at = index
    for (; at > 0 && names[at - 1]! > name; at--) names[at] = names[at - 1]!
    names[at] = name
  }
  return names
}

function writeText(text: string): void {
  const { length } = text
  reserve(length + 2)
  let at = usedBytes
  buffer[at++] = QUOTE
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < FIRST_PRINTABLE || unit > LAST_PRINTABLE || unit === QUOTE || unit === BACKSLASH) {
      writeEscaped(text)
      return
    }
    buffer[at++] = unit
  }
  buffer[at++] = QUOTE
  usedBytes = at
}

/** Writes text that needs escapes in JSON or is not ASCII. */
function writeEscaped(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError('text with a lone surrogate has no canonical form')
  const quoted = JSON.stringify(text)
  reserve(3 * quoted.length)
  usedBytes += encoder.encodeInto(quoted, buffer.subarray(usedBytes)).written
}

function writeAscii(text: string): void {
  reserve(text.length)
  for (let index = 0; index < text.length; index++) buffer[usedBytes++] = text.charCodeAt(index)
}

function writeByte(byte: number): void {
  reserve(1)
  buffer[usedBytes++] = byte
}

function reserve(bytes: number): void {
  if (usedBytes + bytes <= buffer.length) return
  const larger = new Uint8Array(Math.max(2 * buffer.length, usedBytes + bytes))
  larger.set(buffer.subarray(0, usedBytes))
  buffer = larger
}
