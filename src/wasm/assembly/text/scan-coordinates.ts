/**
 * Reads the array of a `coordinates` member (a span) into doubles and into the ends of its sequences and parts.
 */
import { isCanonical, markNotCanonical, readDegrees, resetCanonical, skipNumber } from './decimal'
import { readPosition } from './position-lanes'

const COMMA: u8 = 0x2c
const OPEN: u8 = 0x5b
const CLOSE: u8 = 0x5d
/** `],[` as a little-endian word. */
const NEXT_POSITION: u32 = 0x5b2c5d

/** Deepest nesting of arrays: that of a MultiPolygon. */
export const MAX_NESTING: i32 = 4

/** Where the next span is written to, and the results for the last span. */
@unmanaged
export class Output {
  /** Address of the next double, and end of the table. */
  vertices: usize
  verticesEnd: usize
  /**
   * Addresses of the next sequence end, counted in vertices of the span, and of the next part end, counted in
   * sequences of the span.
   */
  sequenceEnds: usize
  partEnds: usize
  /** Results for the last span. */
  nesting: i32
  isCanonical: bool
}

/**
 * Reads one span: non-empty arrays of uniform depth with positions of 2 to 4 numbers, longitudes and latitudes in range.
 *
 * @param p address of its opening bracket
 * @param maxNesting number of nested arrays that may still be opened, 0 … 4
 * @param output is advanced when the span is read
 * @returns the byte after its closing bracket; 0 when the text is anything else or has more vertices than fit the table
 */
export function readCoordinates(p: usize, maxNesting: i32, output: Output): usize {
  resetCanonical()
  const first = output.vertices
  const verticesEnd = output.verticesEnd
  const firstSequence = output.sequenceEnds
  let out = first
  // Lengths of the last longitude and latitude. Most numbers are as long as their predecessor. Advancing by the
  // predicted length, not to the end that was read, lets the processor start on the next number before it has finished
  // this one.
  let lonLength: usize = 0
  let latLength: usize = 0
  let nesting = 0
  while (load<u8>(p) == OPEN) {
    nesting++
    p = skipSpace(p + 1)
  }
  if (nesting > maxNesting) return 0
  for (;;) {
    if (out == verticesEnd) return 0
    let end: usize = 0
    if (ASC_FEATURE_SIMD) end = readPosition(p, out)
    if (end != 0) {
      p = end
    } else {
      const lonEnd = readDegrees(p, out, 180)
      if (lonEnd != p + lonLength) {
        if (lonEnd == 0) return 0
        lonLength = lonEnd - p
      }
      p += lonLength
      if (load<u8>(p) != COMMA) {
        p = skipSpace(p)
        if (load<u8>(p) != COMMA) return 0
      }
      p = skipSpace(p + 1)
      const latEnd = readDegrees(p, out + 8, 90)
      if (latEnd != p + latLength) {
        if (latEnd == 0) return 0
        latLength = latEnd - p
      }
      p += latLength
    }
    out += 16
    if ((load<u32>(p) & 0xffffff) == NEXT_POSITION && nesting > 1) {
      p = skipSpace(p + 3)
      continue
    }
    p = findPositionEnd(p)
    if (p == 0) return 0
    // The number of arrays that end here; the first is the position itself.
    let closed = 1
    for (; closed < nesting; closed++) {
      const next = skipSpace(p + 1)
      if (load<u8>(next) != CLOSE) break
      p = next
      if (closed == 1 && nesting > 2) endSequence(output, out, first)
      if (closed == 2 && nesting > 3) endPart(output, firstSequence)
    }
    if (closed == nesting) break
    p = skipSpace(p + 1)
    if (load<u8>(p) != COMMA) return 0
    p = skipSpace(p + 1)
    for (; closed > 0; closed--) {
      if (load<u8>(p) != OPEN) return 0
      p = skipSpace(p + 1)
    }
  }
  output.vertices = out
  output.nesting = nesting
  output.isCanonical = isCanonical
  return p + 1
}

/**
 * Returns the address of the closing bracket of a position; 0 when anything but further numbers precedes it.
 *
 * @param p the byte after the latitude
 */
function findPositionEnd(p: usize): usize {
  p = skipSpace(p)
  for (let more = 2; more > 0 && load<u8>(p) == COMMA; more--) {
    p = skipNumber(skipSpace(p + 1))
    if (p == 0) return 0
    p = skipSpace(p)
  }
  return load<u8>(p) == CLOSE ? p : 0
}

@inline
function endSequence(output: Output, out: usize, first: usize): void {
  store<u32>(output.sequenceEnds, <u32>((out - first) >> 4))
  output.sequenceEnds += 4
}

@inline
function endPart(output: Output, firstSequence: usize): void {
  store<u32>(output.partEnds, <u32>((output.sequenceEnds - firstSequence) >> 2))
  output.partEnds += 4
}

/** Skips JSON white space and returns the first byte after it. White space clears `isCanonical`. */
@inline
export function skipSpace(p: usize): usize {
  return load<u8>(p) > 0x20 ? p : skipSpaces(p)
}

function skipSpaces(p: usize): usize {
  markNotCanonical()
  let c = load<u8>(p)
  while (c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09) c = load<u8>(++p)
  return p
}
