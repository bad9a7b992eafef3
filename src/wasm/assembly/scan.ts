/**
 * A JSON text → its geometries as doubles, and a skeleton: the same text with a number in place of each `coordinates`.
 *
 * Only what `JSON.parse` cannot do is done here. Whether the text is JSON is decided by parsing the skeleton: its strings
 * and brackets are those of the text, byte by byte, and each array taken out was read by the grammar of JSON, so one is
 * JSON when the other is. What is in any way unusual is declined with a code, and the host takes the long way, which also
 * words every error.
 */
import { patchCount, patches, startDecimals } from './decimal'
import {
  DEEPEST,
  isSpanCanonical,
  nesting,
  partEnds,
  passSpace,
  readCoordinates,
  sequenceEnds,
  startCoordinates,
  vertices,
} from './scan-coordinates'
import { reserve } from './memory'

/** Why a text was declined. */
const OUT_OF_MEMORY: i32 = 1
const MALFORMED: i32 = 2 // or an unusual member `coordinates`
const TOO_DEEP: i32 = 3
const KEYS: i32 = 4 // twice in one object, forbidden, escaped or very many
const TOO_MANY_SPANS: i32 = 5

const MOST_LEVELS: i32 = 64
/** Keys of one object and of those it stands in: each new one is compared with its siblings. */
const MOST_KEYS: i32 = 64
/** Below 1000, the number that stands for a span is never longer than `[0,0]`. */
const MOST_SPANS: i32 = 999
/** Bytes that may be read beyond a text. */
const MARGIN: usize = 96

const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c
const COMMA: u8 = 0x2c
const COLON: u8 = 0x3a
const OPEN_BRACKET: u8 = 0x5b
const CLOSE_BRACKET: u8 = 0x5d
const OPEN_BRACE: u8 = 0x7b
const CLOSE_BRACE: u8 = 0x7d

const SPAN_BYTES: i32 = 40
/** Ten words: skeleton and its length, whether the text is ASCII; spans and their number; vertices, ends of sequences, ends of parts; patches and their number. */
const result = memory.data(40, 16)

/** Start and length of each key of the open objects. */
const keys = memory.data(8 * MOST_KEYS, 16)
let keyCount: i32 = 0
/** Of each level: its first key, or NO_KEYS for an array. */
const firstKeys = memory.data(4 * (MOST_LEVELS + 1), 16)
const NO_KEYS: i32 = -1

/** Where the next byte of the skeleton goes. */
let skeletonEnd: usize = 0

/** Set by `endOfString`. */
let isEscaped: bool = false
let highBits: u8 = 0

/** Address of what the last `scanJson` that returned 0 found, as the words of `result`. */
export function scanResult(): usize {
  return result
}

/**
 * Reads a text. A span, ten words: nesting; start and end of its text; first vertex and their number; first entry of
 * sequence ends and their number; the same of part ends; 1 when its text is canonical.
 *
 * @param text pointer to UTF-8 bytes in the arena with 96 bytes of room behind them
 * @param maxDepth arrays and objects inside each other, 1 … 64
 * @param maxVertices of all spans together
 * @returns 0, or why the text is declined
 */
export function scanJson(text: usize, length: i32, maxDepth: i32, maxVertices: i32): i32 {
  assert(text >= 16 && length >= 0, 'a text lies in the arena')
  assert(text + <usize>length + MARGIN <= <usize>memory.size() << 16, 'a text has room behind it')
  assert(maxDepth > 0 && maxDepth <= MOST_LEVELS, 'maxDepth is 1 to 64')
  assert(maxVertices >= 0, 'maxVertices is not negative')
  const end = text + <usize>length
  memory.fill(end, 0, MARGIN) // no number and no white space runs over the end

  // A position takes 6 bytes with its comma: [0,0],
  const room = <usize>min(maxVertices, length / 6 + 1)
  const skeleton = reserve(<usize>length)
  const spanRoom = min(MOST_SPANS, length / 20 + 1) // {"coordinates":[0,0]}
  const spans = reserve(<usize>(spanRoom * SPAN_BYTES))
  const toVertices = reserve(room * 16)
  const toSequenceEnds = reserve(room * 4)
  const toPartEnds = reserve(room * 4)
  if (skeleton == 0 || spans == 0 || toVertices == 0 || toSequenceEnds == 0 || toPartEnds == 0) return OUT_OF_MEMORY
  startDecimals()
  startCoordinates(toVertices, toVertices + room * 16, toSequenceEnds, toPartEnds)

  let spanCount = 0
  let depth = 0
  let expectsKey = false
  let copied = text // all before it is in the skeleton
  skeletonEnd = skeleton
  keyCount = 0
  highBits = 0
  store<i32>(firstKeys, NO_KEYS)

  for (let p = text; p < end; p++) {
    const c = load<u8>(p)
    highBits |= c
    if (c == QUOTE) {
      const start = p + 1
      p = endOfString(start, end)
      if (p == end) return MALFORMED
      if (!expectsKey) continue
      expectsKey = false
      if (isEscaped || !addKey(start, p, load<i32>(firstKeys + (<usize>depth << 2)))) return KEYS
      if (!isCoordinates(start, p)) continue
      p = passSpace(p + 1)
      if (load<u8>(p) != COLON) return MALFORMED
      const from = passSpace(p + 1)
      const span = spans + <usize>spanCount * SPAN_BYTES
      if (load<u8>(from) != OPEN_BRACKET) return MALFORMED
      if (spanCount == spanRoom) return TOO_MANY_SPANS
      store<u32>(span, <u32>from, 4)
      store<u32>(span, <u32>((vertices - toVertices) >> 4), 12)
      store<u32>(span, <u32>((sequenceEnds - toSequenceEnds) >> 2), 20)
      store<u32>(span, <u32>((partEnds - toPartEnds) >> 2), 28)
      const to = readCoordinates(from, min(DEEPEST, maxDepth - depth))
      if (to == 0) return MALFORMED
      store<u32>(span, nesting)
      store<u32>(span, <u32>to, 8)
      store<u32>(span, <u32>((vertices - toVertices) >> 4) - load<u32>(span, 12), 16)
      store<u32>(span, <u32>((sequenceEnds - toSequenceEnds) >> 2) - load<u32>(span, 20), 24)
      store<u32>(span, <u32>((partEnds - toPartEnds) >> 2) - load<u32>(span, 28), 32)
      store<u32>(span, <u32>isSpanCanonical, 36)
      copy(copied, from)
      appendNumber(spanCount++)
      copied = to
      p = to - 1
      continue
    }
    switch (c) {
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        if (++depth > maxDepth) return TOO_DEEP
        expectsKey = c == OPEN_BRACE
        store<i32>(firstKeys + (<usize>depth << 2), expectsKey ? keyCount : NO_KEYS)
        break
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET: {
        if (depth == 0) return MALFORMED
        const first = load<i32>(firstKeys + (<usize>depth << 2))
        if (first != NO_KEYS) keyCount = first
        depth--
        expectsKey = false
        break
      }
      case COMMA:
        expectsKey = load<i32>(firstKeys + (<usize>depth << 2)) != NO_KEYS
        break
    }
  }
  copy(copied, end)

  store<u32>(result, <u32>skeleton)
  store<u32>(result, <u32>(skeletonEnd - skeleton), 4)
  store<u32>(result, <u32>(highBits < 0x80), 8)
  store<u32>(result, <u32>spans, 12)
  store<u32>(result, spanCount, 16)
  store<u32>(result, <u32>toVertices, 20)
  store<u32>(result, <u32>toSequenceEnds, 24)
  store<u32>(result, <u32>toPartEnds, 28)
  store<u32>(result, <u32>patches, 32)
  store<u32>(result, patchCount, 36)
  return 0
}

/** The closing quote, or `end`. */
function endOfString(p: usize, end: usize): usize {
  isEscaped = false
  for (; p < end; p++) {
    const c = load<u8>(p)
    if (c == QUOTE) return p
    highBits |= c
    if (c == BACKSLASH) {
      isEscaped = true
      highBits |= load<u8>(++p)
    }
  }
  return end
}

/** @returns false when the host has to look at the keys of this object */
function addKey(start: usize, end: usize, first: i32): bool {
  const length = <u32>(end - start)
  if (keyCount == MOST_KEYS || isForbidden(start, length)) return false
  for (let index = first; index < keyCount; index++) {
    const key = keys + (<usize>index << 3)
    if (load<u32>(key, 4) == length && memory.compare(load<u32>(key), start, length) == 0) return false
  }
  const key = keys + (<usize>keyCount << 3)
  store<u32>(key, <u32>start)
  store<u32>(key, length, 4)
  keyCount++
  return true
}

/** `__proto__` and `constructor`. */
@inline
function isForbidden(start: usize, length: u32): bool {
  const head = load<u64>(start)
  return length == 9
    ? head == 0x5f6f746f72705f5f && load<u8>(start, 8) == 0x5f
    : length == 11 && head == 0x63757274736e6f63 && load<u32>(start, 7) == 0x726f7463
}

@inline
function isCoordinates(start: usize, end: usize): bool {
  return end - start == 11 && load<u64>(start) == 0x616e6964726f6f63 && load<u32>(start, 7) == 0x73657461
}

/** Appends the text from `from` to `to` to the skeleton. */
@inline
function copy(from: usize, to: usize): void {
  memory.copy(skeletonEnd, from, to - from)
  skeletonEnd += to - from
}

/** Appends `[n]`: brackets, so that what follows cannot become part of the number. */
function appendNumber(n: i32): void {
  store<u8>(skeletonEnd++, OPEN_BRACKET)
  if (n > 99) store<u8>(skeletonEnd++, <u8>(0x30 + n / 100))
  if (n > 9) store<u8>(skeletonEnd++, <u8>(0x30 + (n / 10) % 10))
  store<u8>(skeletonEnd++, <u8>(0x30 + n % 10))
  store<u8>(skeletonEnd++, CLOSE_BRACKET)
}
