import { isAscii, isUtf8 } from 'node:buffer'
import { ProblemError } from '../base/problem.ts'

export type JsonObject = Record<string, unknown>

/**
 * Parses a request body that must be a JSON object.
 *
 * @param maxDepth see `guardJson`
 * @throws {ProblemError} `bad-request` if it is empty, not UTF-8, not JSON or not an object
 */
export function parseJsonObject(bytes: Uint8Array, maxDepth: number): JsonObject {
  if (bytes.byteLength === 0) reject('the body is empty; send a JSON object', 'empty-body')
  const text = decodeUtf8(bytes)
  if (text === undefined) reject('the body is not UTF-8 text', 'not-utf8')
  guardJson(bytes, maxDepth)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    reject(`the body is not JSON: ${oneLine((error as Error).message)}`, 'not-json', error)
  }
  if (!isJsonObject(value)) {
    reject(
      `the body is ${Array.isArray(value) ? 'an array' : `a JSON ${describeValue(value)}`}; send one object`,
      'not-an-object',
    )
  }
  return value
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns undefined for invalid UTF-8. Most bodies are ASCII, for which latin1 is the fastest decoder. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isAscii(buffer)) return buffer.toString('latin1')
  return isUtf8(buffer) ? buffer.toString('utf8') : undefined
}

/** Describes a JSON value for a message: its type, and a string (shortened to 40 characters), number or boolean itself. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `array of ${value.length}`
  if (typeof value === 'object') return 'object'
  if (typeof value === 'string') return `string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
  return `${typeof value} ${String(value)}`
}

function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').slice(0, 160)
}

function reject(detail: string, code: string, cause?: unknown): never {
  throw new ProblemError({ type: 'bad-request', detail, invalidParts: [{ pointer: '#', detail, code }] }, { cause })
}

/**
 * Scans JSON before it is parsed and rejects what `JSON.parse` accepts silently (decision 109).
 *
 * With duplicate keys, `__proto__` or `constructor`, two parsers may see two different objects, and a hash of the object would be
 * ambiguous. Deep nesting would overflow the stack of recursive code, and very many members would take long to parse. Malformed
 * JSON passes, because the parser reports it better.
 *
 * @param bytes UTF-8 text
 * @param maxDepth largest nesting of arrays and objects
 * @throws {ProblemError} `bad-request`; the detail names the key, the depth or the number of members
 */
export function guardJson(bytes: Uint8Array, maxDepth: number): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // keys[d] holds the keys of the object at depth d, and is reused for the next object at that depth. It stays empty for an array.
  const keys: Keys[] = []
  let depth = 0
  let expectsKey = false
  let members = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE: {
        const end = endOfString(text, at + 1)
        if (expectsKey) {
          expectsKey = false
          if (++members > MAX_BODY_MEMBERS) rejectMembers(at)
          addKey(keys[depth]!, text, at, end)
        }
        at = end
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        if (++depth > maxDepth) reject(`nesting is deeper than ${maxDepth} levels (byte ${at})`, 'json-depth')
        expectsKey = text[at] === OPEN_BRACE
        // An empty object costs as much as a member.
        if (expectsKey && ++members > MAX_BODY_MEMBERS) rejectMembers(at)
        keys[depth] ??= new Keys()
        keys[depth]!.begin(expectsKey)
        break
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth > 0) depth--
        expectsKey = false
        break
      case COMMA:
        expectsKey = depth > 0 && keys[depth]!.isObject
        break
    }
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Returns the offset of the closing quote, or the length of the text if there is none. */
function endOfString(text: Buffer, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const byte = text[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE) return at
  }
  return at
}

const MAX_OFFSET_KEYS = 16
/** Maximum number of members of one object. The parser takes seconds for an object with hundreds of thousands. */
const MAX_MEMBERS = 1000
/**
 * Maximum number of objects and members of a body, at all depths. The largest request that is accepted has 30,000: 10,000
 * geometries of two members. Half a million unused members would take a quarter of a second.
 */
const MAX_BODY_MEMBERS = 50_000

function rejectMembers(at: number): never {
  reject(`the body has more than ${MAX_BODY_MEMBERS} objects and members (byte ${at})`, 'too-many-members')
}

/**
 * The keys of one object. Up to `MAX_OFFSET_KEYS` keys without escapes are stored as offsets in the text, which avoids allocating
 * strings for most objects. Otherwise they are stored as a set of strings.
 */
class Keys {
  /** Start and end of each key in the text. */
  readonly #offsets: number[] = []
  #count = 0
  /** Number of members of the object so far. */
  members = 0
  #texts: Set<string> | undefined
  /** False for an array, which has no keys. */
  isObject = false

  begin(isObject: boolean): void {
    this.isObject = isObject
    this.#count = 0
    this.members = 0
    this.#texts = undefined
  }

  /**
   * Adds the key at [from, end).
   *
   * @param key the unescaped key in latin1, if it has escapes in the text
   * @returns false if the object has this key already
   */
  add(text: Buffer, from: number, end: number, key: string | undefined): boolean {
    const offsets = this.#offsets
    const used = 2 * this.#count
    if (this.#texts === undefined && (key !== undefined || this.#count >= MAX_OFFSET_KEYS)) {
      this.#texts = new Set()
      for (let at = 0; at < used; at += 2) this.#texts.add(text.toString('latin1', offsets[at], offsets[at + 1]))
    }
    const texts = this.#texts
    if (texts !== undefined) return texts.size < texts.add(key ?? text.toString('latin1', from, end)).size
    for (let at = 0; at < used; at += 2) {
      if (offsets[at + 1]! - offsets[at]! === end - from && isSame(text, offsets[at]!, from, end - from)) return false
    }
    offsets[used] = from
    offsets[used + 1] = end
    this.#count++
    return true
  }
}

function isSame(text: Buffer, first: number, second: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (text[first + at] !== text[second + at]) return false
  return true
}

const FORBIDDEN_KEYS = ['__proto__', 'constructor']
const FORBIDDEN_LENGTHS = FORBIDDEN_KEYS.map(({ length }) => length)

function addKey(keys: Keys, text: Buffer, quote: number, end: number): void {
  if (end >= text.length) return
  if (++keys.members > MAX_MEMBERS)
    reject(`an object has more than ${MAX_MEMBERS} members (byte ${quote})`, 'too-many-members')
  const from = quote + 1
  const isPlain = !hasBackslash(text, from, end)
  const key = isPlain ? undefined : unescapeKey(text, quote, end)
  if (!isPlain && key === undefined) return // an invalid escape, which the parser rejects
  const mayBeForbidden = key !== undefined || FORBIDDEN_LENGTHS.includes(end - from)
  if (mayBeForbidden && FORBIDDEN_KEYS.includes(key ?? text.toString('latin1', from, end))) {
    reject(`the key "${key ?? text.toString('latin1', from, end)}" is not allowed (byte ${quote})`, 'forbidden-key')
  }
  if (!keys.add(text, from, end, key)) {
    const bytes = key === undefined ? text.subarray(from, end) : Buffer.from(key, 'latin1')
    reject(
      `the key ${JSON.stringify(bytes.toString('utf8', 0, 60))} appears twice in one object (byte ${quote})`,
      'duplicate-key',
    )
  }
}

function hasBackslash(text: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (text[at] === BACKSLASH) return true
  return false
}

/**
 * Unescapes a key as the parser will: "\u0074ype" is the key "type". The result is latin1, one character for each UTF-8 byte, so
 * that distinct keys stay distinct.
 */
function unescapeKey(text: Buffer, quote: number, end: number): string | undefined {
  try {
    return Buffer.from(JSON.parse(text.toString('utf8', quote, end + 1)), 'utf8').toString('latin1')
  } catch {
    return undefined
  }
}
