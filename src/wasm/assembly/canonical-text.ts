/**
 * The canonical text (RFC 8785) of an array of coordinates that is not canonical itself, where that takes no more than
 * leaving out white space and zeros behind the last decimal.
 */
import { isCanonical, patchCount, passNumber, readDegrees, startDecimals, startSpelling } from './decimal'
import { reserve } from './memory'

const DIGIT_0: u8 = 0x30
const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e
/** Bytes that may be read behind a number. */
const MARGIN: usize = 32

/** Length of the text that `canonicalText` wrote. */
export let canonicalLength: i32 = 0

/**
 * @param p start of a span that `scanJson` read, as it stands in the arena
 * @param end behind its last byte
 * @returns pointer to the canonical text; 0 when a number has to be formatted for it, or there is no memory
 */
export function canonicalText(p: usize, end: usize): usize {
  assert(p > 0 && p < end, 'a span is not empty')
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

/** @returns where the text goes on; `out` itself when the number has to be formatted */
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
  // Of −0 the sign goes too.
  if (end - start == 2 && load<u8>(start) == MINUS && load<u8>(start, 1) == DIGIT_0) start++
  const outEnd = out + (end - start)
  memory.copy(out, start, end - start)
  memory.fill(outEnd, 0, MARGIN)
  startSpelling()
  startDecimals()
  // A number of degrees is judged to its last digit. Where it is none, it is an altitude.
  if (readDegrees(out, scratch, 180) != outEnd || patchCount > 0) {
    startSpelling()
    if (passNumber(out) != outEnd) return out
  }
  return isCanonical ? outEnd : out
}
