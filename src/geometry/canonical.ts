import type { Geometry } from '../types/generated.ts'

/**
 * Canonical text of a geometry: RFC 8785 (JCS) of the object with only `type` and `coordinates` or `geometries`.
 * Its keccak-256 is the geometry's reference in `inputRefs` (decision 19).
 *
 * Coordinates stay as received, altitudes included. Numbers need no care: JCS prescribes ECMAScript's own form.
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
const FIRST_ROOM_BYTES = 4096
const MAX_KEPT_BYTES = 65_536
/** What is being written, kept from one value to the next while it is small. */
let room = new Uint8Array(FIRST_ROOM_BYTES)
let used = 0

/**
 * Canonical text of any JSON value by RFC 8785, as UTF-8: members sorted by UTF-16 code units, no white space.
 *
 * @param value as `JSON.parse` gives it
 * @throws {RangeError} on a lone surrogate, a non-finite number or a value JSON cannot hold
 */
export function canonicalBytes(value: unknown): Uint8Array {
  used = 0
  try {
    putValue(value)
    return room.slice(0, used)
  } finally {
    if (room.length > MAX_KEPT_BYTES) room = new Uint8Array(FIRST_ROOM_BYTES)
  }
}

function putValue(value: unknown): void {
  if (typeof value === 'string') putText(value)
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${value} has no canonical form`)
    putAscii(String(value)) // −0 is 0
  } else if (typeof value === 'boolean') putAscii(value ? 'true' : 'false')
  else if (value === null) putAscii('null')
  else if (Array.isArray(value)) putList(value)
  else if (typeof value === 'object') putObject(value as Record<string, unknown>)
  else throw new RangeError(`a ${typeof value} has no canonical form`)
}

function putList(list: readonly unknown[]): void {
  putByte(OPEN_BRACKET)
  for (let index = 0; index < list.length; index++) {
    if (index > 0) putByte(COMMA)
    putValue(list[index])
  }
  putByte(CLOSE_BRACKET)
}

function putObject(object: Record<string, unknown>): void {
  putByte(OPEN_BRACE)
  const names = sortFew(Object.keys(object))
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    if (index > 0) putByte(COMMA)
    putText(name)
    putByte(COLON)
    putValue(object[name])
  }
  putByte(CLOSE_BRACE)
}

const FEW = 24

/** In place. Most objects have few members, in order or nearly so, and for those `sort` takes more room than all their text. */
function sortFew(names: string[]): string[] {
  if (names.length > FEW) return names.sort()
  for (let index = 1; index < names.length; index++) {
    const name = names[index]!
    let at = index
    for (; at > 0 && names[at - 1]! > name; at--) names[at] = names[at - 1]!
    names[at] = name
  }
  return names
}

function putText(text: string): void {
  const { length } = text
  reserve(length + 2)
  let at = used
  room[at++] = QUOTE
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < FIRST_PRINTABLE || unit > LAST_PRINTABLE || unit === QUOTE || unit === BACKSLASH) {
      putOdd(text)
      return
    }
    room[at++] = unit
  }
  room[at++] = QUOTE
  used = at
}

/** Text that does not stand in JSON as it is, or not as single bytes. */
function putOdd(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError('text with a lone surrogate has no canonical form')
  const quoted = JSON.stringify(text)
  reserve(3 * quoted.length)
  used += encoder.encodeInto(quoted, room.subarray(used)).written
}

function putAscii(text: string): void {
  reserve(text.length)
  for (let index = 0; index < text.length; index++) room[used++] = text.charCodeAt(index)
}

function putByte(byte: number): void {
  reserve(1)
  room[used++] = byte
}

function reserve(bytes: number): void {
  if (used + bytes <= room.length) return
  const larger = new Uint8Array(Math.max(2 * room.length, used + bytes))
  larger.set(room.subarray(0, used))
  room = larger
}
