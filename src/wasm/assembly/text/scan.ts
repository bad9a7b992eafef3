/**
 * Reads a JSON text into the coordinates of its geometries as doubles, and a skeleton: the same text with `[n]` in
 * place of each `coordinates` array, n being the index of its span.
 *
 * The host parses the skeleton with `JSON.parse`, which also decides whether the text is JSON. The skeleton has the
 * same strings and brackets as the text, byte by byte, and the replaced arrays were read by the grammar of JSON here.
 * So the text is valid JSON if and only if the skeleton is. Anything unusual is declined with a code; then the host
 * parses the whole text and reports any error.
 */

import { reserve } from '../math/memory'
import { patchCount, patches, resetPatches } from './decimal'
import { MAX_NESTING, Output, readCoordinates, skipSpace } from './scan-coordinates'

/** Why a text was declined: the results of `scanJson` other than 0. */
const OUT_OF_MEMORY: i32 = 1
const MALFORMED: i32 = 2 // or a `coordinates` member of an unusual form
const TOO_DEEP: i32 = 3
const BAD_KEYS: i32 = 4 // a key is repeated in its object, forbidden or escaped, or there are too many
const TOO_MANY_SPANS: i32 = 5

const MAX_LEVELS: i32 = 64
/** Largest number of keys of one object and the objects around it together. Each new key is compared with its siblings. */
const MAX_KEYS: i32 = 64
/**
 * Below 1000, so that the `[n]` that replaces a span is never longer than `[0,0]`, and the skeleton never longer than
 * the text.
 */
const MAX_SPANS: i32 = 999
/** Bytes after a text that must be reserved: they are zeroed and may be read. */
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
/**
 * Ten words: skeleton and its length; whether the text is ASCII; spans and their number; vertices, ends of sequences,
 * ends of parts; patches and their number.
 */
const result = memory.data(40, 16)

/** Start and length of each key of all open objects. */
const keys = memory.data(8 * MAX_KEYS, 16)
/** For each level: the index of its first key, or NO_KEYS for an array. */
const firstKeys = memory.data(4 * (MAX_LEVELS + 1), 16)
const NO_KEYS: i32 = -1

@unmanaged
class Scan {
  /** Address of the next byte of the skeleton. */
  skeletonEnd: usize
  /** Number of keys of all open objects. */
  keyCount: i32
  /** Whether the last string has a backslash. */
  isEscaped: bool
  /** All bytes of the text so far, combined by `or`. */
  highBits: u8
}

const scan = changetype<Scan>(memory.data(offsetof<Scan>(), 8))
const output = changetype<Output>(memory.data(offsetof<Output>(), 8))

/** Returns a pointer to the results of the last `scanJson` that returned 0; `result` describes its words. */
export function scanResult(): usize {
  return result
}

/**
 * Scans a text. Each `coordinates` array becomes a span of ten words: nesting; start and end of its text; first vertex
 * and number of vertices; first entry of sequence ends and their number; first entry of part ends and their number; 1
 * when its text is canonical.
 *
 * @param text pointer to UTF-8 bytes in the arena, followed by 96 reserved bytes
 * @param maxDepth largest nesting of arrays and objects, 1 … 64
 * @param maxVertices of all spans together
 * @returns 0, or the reason why the text is declined
 */
export function scanJson(text: usize, length: i32, maxDepth: i32, maxVertices: i32): i32 {
  assert(text >= 16 && length >= 0, 'scanJson: text must be in the arena')
  assert(text + <usize>length + MARGIN <= (<usize>memory.size()) << 16, 'scanJson: text must be followed by 96 bytes of memory')
  assert(maxDepth > 0 && maxDepth <= MAX_LEVELS, 'scanJson: maxDepth must be 1 to 64')
  assert(maxVertices >= 0, 'scanJson: maxVertices must not be negative')
  const end = text + <usize>length
  memory.fill(end, 0, MARGIN) // so that no number and no white space continues after the end

  // A position takes at least 6 bytes with its comma: [0,0],
  const capacity = <usize>min(maxVertices, length / 6 + 1)
  const skeleton = reserve(<usize>length)
  const spanCapacity = min(MAX_SPANS, length / 20 + 1) // {"coordinates":[0,0]}
  const spans = reserve(<usize>(spanCapacity * SPAN_BYTES))
  const vertexTable = reserve(capacity * 16)
  const sequenceEndTable = reserve(capacity * 4)
  const partEndTable = reserve(capacity * 4)
  if (skeleton == 0 || spans == 0 || vertexTable == 0 || sequenceEndTable == 0 || partEndTable == 0) return OUT_OF_MEMORY
  resetPatches()
  output.vertices = vertexTable
  output.verticesEnd = vertexTable + capacity * 16
  output.sequenceEnds = sequenceEndTable
  output.partEnds = partEndTable

  let spanCount = 0
  let depth = 0
  let expectsKey = false
  let copied = text // everything before this address is in the skeleton
  scan.skeletonEnd = skeleton
  scan.keyCount = 0
  scan.highBits = 0
  let highBits: u8 = 0
  store<i32>(firstKeys, NO_KEYS)

  for (let p = text; p < end; p++) {
    const c = load<u8>(p)
    highBits |= c
    if (c == QUOTE) {
      const start = p + 1
      p = findStringEnd(start, end)
      if (p == end) return MALFORMED
      if (!expectsKey) continue
      expectsKey = false
      if (scan.isEscaped || !addKey(start, p, load<i32>(firstKeys + ((<usize>depth) << 2)))) return BAD_KEYS
      if (!isCoordinates(start, p)) continue
      p = skipSpace(p + 1)
      if (load<u8>(p) != COLON) return MALFORMED
      const from = skipSpace(p + 1)
      const span = spans + <usize>spanCount * SPAN_BYTES
      if (load<u8>(from) != OPEN_BRACKET) return MALFORMED
      if (spanCount == spanCapacity) return TOO_MANY_SPANS
      const to = readSpan(span, from, min(MAX_NESTING, maxDepth - depth), vertexTable, sequenceEndTable, partEndTable)
      if (to == 0) return MALFORMED
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
        store<i32>(firstKeys + ((<usize>depth) << 2), expectsKey ? scan.keyCount : NO_KEYS)
        break
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET: {
        if (depth == 0) return MALFORMED
        const first = load<i32>(firstKeys + ((<usize>depth) << 2))
        if (first != NO_KEYS) scan.keyCount = first
        depth--
        expectsKey = false
        break
      }
      case COMMA:
        expectsKey = load<i32>(firstKeys + ((<usize>depth) << 2)) != NO_KEYS
        break
    }
  }
  copy(copied, end)

  store<u32>(result, <u32>skeleton)
  store<u32>(result, <u32>(scan.skeletonEnd - skeleton), 4)
  store<u32>(result, <u32>((highBits | scan.highBits) < 0x80), 8)
  store<u32>(result, <u32>spans, 12)
  store<u32>(result, spanCount, 16)
  store<u32>(result, <u32>vertexTable, 20)
  store<u32>(result, <u32>sequenceEndTable, 24)
  store<u32>(result, <u32>partEndTable, 28)
  store<u32>(result, <u32>patches, 32)
  store<u32>(result, patchCount, 36)
  return 0
}

/** Reads the array at `from` and fills a span. Returns the byte after the array, or 0 as `readCoordinates` does. */
function readSpan(
  span: usize,
  from: usize,
  maxNesting: i32,
  vertexTable: usize,
  sequenceEndTable: usize,
  partEndTable: usize,
): usize {
  const firstVertex = <u32>((output.vertices - vertexTable) >> 4)
  const firstSequenceEnd = <u32>((output.sequenceEnds - sequenceEndTable) >> 2)
  const firstPartEnd = <u32>((output.partEnds - partEndTable) >> 2)
  const to = readCoordinates(from, maxNesting, output)
  store<u32>(span, output.nesting)
  store<u32>(span, <u32>from, 4)
  store<u32>(span, <u32>to, 8)
  store<u32>(span, firstVertex, 12)
  store<u32>(span, <u32>((output.vertices - vertexTable) >> 4) - firstVertex, 16)
  store<u32>(span, firstSequenceEnd, 20)
  store<u32>(span, <u32>((output.sequenceEnds - sequenceEndTable) >> 2) - firstSequenceEnd, 24)
  store<u32>(span, firstPartEnd, 28)
  store<u32>(span, <u32>((output.partEnds - partEndTable) >> 2) - firstPartEnd, 32)
  store<u32>(span, <u32>output.isCanonical, 36)
  return to
}

/** Returns the address of the closing quote, or `end`. Sets `scan.isEscaped` and adds to `scan.highBits`. */
function findStringEnd(p: usize, end: usize): usize {
  scan.isEscaped = false
  for (; p < end; p++) {
    const c = load<u8>(p)
    if (c == QUOTE) return p
    scan.highBits |= c
    if (c == BACKSLASH) {
      scan.isEscaped = true
      scan.highBits |= load<u8>(++p)
    }
  }
  return end
}

/** Adds a key to the current object. Returns false when the host must check the keys of this object. */
function addKey(start: usize, end: usize, first: i32): bool {
  const length = <u32>(end - start)
  if (scan.keyCount == MAX_KEYS || isForbidden(start, length)) return false
  for (let index = first; index < scan.keyCount; index++) {
    const key = keys + ((<usize>index) << 3)
    if (load<u32>(key, 4) == length && memory.compare(load<u32>(key), start, length) == 0) return false
  }
  const key = keys + ((<usize>scan.keyCount) << 3)
  store<u32>(key, <u32>start)
  store<u32>(key, length, 4)
  scan.keyCount++
  return true
}

/** Whether a key is `__proto__` or `constructor`. */
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
  memory.copy(scan.skeletonEnd, from, to - from)
  scan.skeletonEnd += to - from
}

/** Appends `[n]` to the skeleton. The brackets keep the following text from becoming part of the number. */
function appendNumber(n: i32): void {
  store<u8>(scan.skeletonEnd++, OPEN_BRACKET)
  if (n > 99) store<u8>(scan.skeletonEnd++, <u8>(0x30 + n / 100))
  if (n > 9) store<u8>(scan.skeletonEnd++, <u8>(0x30 + ((n / 10) % 10)))
  store<u8>(scan.skeletonEnd++, <u8>(0x30 + (n % 10)))
  store<u8>(scan.skeletonEnd++, CLOSE_BRACKET)
}
