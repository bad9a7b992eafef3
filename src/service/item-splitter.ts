import { ProblemError } from '../problem.ts'

/** A JSON batch taken apart without parsing its items. */
export interface SplitBatch {
  /** The text with an empty list in place of the items. */
  readonly envelope: Uint8Array
  /** Item i is bytes [starts[i], ends[i]) of the body. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly count: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const SPACE = 0x20

/** By byte, 1 where the text changes its course: most bytes are digits, and need one look. */
const SEPARATES = new Uint8Array(256)
for (const byte of [QUOTE, COMMA, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET]) SEPARATES[byte] = 1

const NAME = Buffer.from('items')

/**
 * Finds the items of `{"…": …, "items": [ … ]}` by counting brackets: a thread parses each item later, and the text around
 * them is parsed by the caller.
 *
 * What is not JSON between two commas becomes an item of its own and is refused there. Of two lists with the name only the
 * first is taken out; the envelope then shows both names.
 *
 * @returns undefined when there is no such list
 * @throws {ProblemError} `bad-request` when there are more than `maxItems`
 */
export function splitBatch(body: Uint8Array, maxItems: number): SplitBatch | undefined {
  const list = findItems(body)
  if (list === undefined) return undefined
  let starts = new Uint32Array(256)
  let ends = new Uint32Array(256)
  let count = 0
  let depth = 1
  let start = list + 1
  const add = (end: number): void => {
    if (count === maxItems) throw tooMany(maxItems)
    if (count === starts.length) {
      starts = grown(starts)
      ends = grown(ends)
    }
    starts[count] = start
    ends[count++] = end
  }
  let at = list + 1
  for (; at < body.length; at++) {
    const byte = body[at]!
    if (SEPARATES[byte] === 0) continue
    if (byte === QUOTE) at = endOfString(body, at)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth > 0) continue
      if (count > 0 || !isBlank(body, start, at)) add(at)
      break
    } else if (byte === COMMA && depth === 1) {
      add(at)
      start = at + 1
    }
  }
  if (at >= body.length) return undefined
  const envelope = Buffer.concat([body.subarray(0, list + 1), body.subarray(at)])
  return { envelope, starts, ends, count }
}

/** Offset of the bracket that opens the list. */
function findItems(body: Uint8Array): number | undefined {
  let depth = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
    else if (byte === QUOTE) {
      const end = endOfString(body, at)
      const isName = depth === 1 && end - at - 1 === NAME.length && NAME.equals(body.subarray(at + 1, end))
      at = end
      if (!isName) continue
      const colon = skipBlank(body, end + 1)
      if (body[colon] !== COLON) continue
      const open = skipBlank(body, colon + 1)
      if (body[open] === OPEN_BRACKET) return open
    }
  }
  return undefined
}

/** Offset of the closing quote, or the last byte when it is missing. */
function endOfString(body: Uint8Array, quote: number): number {
  let at = quote + 1
  for (; at < body.length; at++) {
    const byte = body[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE) return at
  }
  return at
}

function skipBlank(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length && body[at]! <= SPACE) at++
  return at
}

function isBlank(body: Uint8Array, from: number, to: number): boolean {
  return skipBlank(body.subarray(0, to), from) === to
}

function grown(list: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * list.length)
  larger.set(list)
  return larger
}

function tooMany(maxItems: number): ProblemError {
  const detail = `more than ${maxItems} items`
  return new ProblemError({
    type: 'bad-request',
    detail,
    places: [
      {
        pointer: '#/items',
        detail,
        code: 'too-many-items',
        hint: 'send several batches, or NDJSON, which has no limit',
      },
    ],
  })
}
