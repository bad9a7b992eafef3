/**
 * Makes the canonical text (RFC 8785) of a coordinate array by removing white space and trailing zeros of decimals.
 * Arrays that need more than that, such as reformatted numbers, are left to the host.
 */

import { reserve } from '../math/memory'
import { isCanonical, patchCount, readDegrees, resetCanonical, resetPatches, skipNumber } from './decimal'

const DIGIT_0: u8 = 0x30
const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e
/** Bytes after a number that may be read. */
const MARGIN: usize = 32

/** Set by `canonicalText`: length of its text in bytes. */
export let canonicalLength: i32 = 0

/**
 * Writes the canonical text of a span to the arena and sets `canonicalLength`.
 *
 * @param p start of a span that `scanJson` read, in the arena
 * @param end the byte after the span
 * @returns pointer to the canonical text; 0 when a number has to be formatted or the memory is exhausted
 */
export function canonicalText(p: usize, end: usize): usize {
  assert(p > 0 && p < end, 'canonicalText: the span must not be empty')
  const text = reserve(end - p + MARGIN)
  if (text == 0) return 0
  const scratch = reserve(8)
  if (scratch == 0) return 0
  let out = text
  while (p < end) {
    const c = load<u8>(p)
    if (c <= 0x20) {
      p++
    } else if (c == MINUS || (c >= DIGIT_0 && c <= 0x39)) {
      const last = out
      const start = p
      while (isNumberByte(load<u8>(p))) p++
      out = copyNumber(start, p, out, scratch)
      if (out == last) return 0
    } else {
      store<u8>(out++, c)
      p++
    }
  }
  canonicalLength = <i32>(out - text)
  return text
}

@inline
function isNumberByte(c: u8): bool {
  return (c >= DIGIT_0 && c <= 0x39) || c == MINUS || c == POINT || c == 0x2b || (c | 0x20) == 0x65
}

/** Copies a number. Returns the address after the copy, or `out` itself when the number has to be formatted. */
function copyNumber(start: usize, end: usize, out: usize, scratch: usize): usize {
  let point: usize = 0
  for (let p = start; p < end; p++) {
    if (load<u8>(p) == POINT) point = p
    if ((load<u8>(p) | 0x20) == 0x65) return out
  }
  if (point != 0) {
    while (load<u8>(end - 1) == DIGIT_0) end--
    if (end - 1 == point) end = point
  }
  // −0 loses its sign.
  if (end - start == 2 && load<u8>(start) == MINUS && load<u8>(start, 1) == DIGIT_0) start++
  const outEnd = out + (end - start)
  memory.copy(out, start, end - start)
  memory.fill(outEnd, 0, MARGIN)
  resetCanonical()
  resetPatches()
  // `readDegrees` judges the spelling of a number exactly. A number that is not in its range is an altitude.
  if (readDegrees(out, scratch, 180) != outEnd || patchCount > 0) {
    resetCanonical()
    if (skipNumber(out) != outEnd) return out
  }
  return isCanonical ? outEnd : out
}
