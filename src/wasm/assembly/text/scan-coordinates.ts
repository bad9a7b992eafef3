/** Reads the array of a `coordinates` member into doubles and offsets of its sequences and parts. */
import { isCanonical, markNotCanonical, readDegrees, resetCanonical, skipNumber } from './decimal'
import { readPosition } from './position-lanes'

const COMMA: u8 = 0x2c
const OPEN: u8 = 0x5b
const CLOSE: u8 = 0x5d
/** `],[` as a little-endian word. */
const NEXT_POSITION: u32 = 0x5b2c5d

/** Deepest nesting of arrays: that of a MultiPolygon. */
export const MAX_NESTING: i32 = 4

/** Address of the next double, and end of the table. */
export let vertices: usize = 0
export let verticesEnd: usize = 0
/**
 * Addresses of the next sequence end, counted in vertices of the span, and of the next part end, counted in sequences
 * of the span.
 */
export let sequenceEnds: usize = 0
export let partEnds: usize = 0
/** Results for the last span. */
export let nesting: i32 = 0
export let isSpanCanonical: bool = false

/** Sets the tables before a text is read. */
export function setOutputTables(vertexTable: usize, vertexTableEnd: usize, sequenceEndTable: usize, partEndTable: usize): void {
  vertices = vertexTable
  verticesEnd = vertexTableEnd
  sequenceEnds = sequenceEndTable
  partEnds = partEndTable
}

/**
 * Reads one span: non-empty arrays of uniform depth with positions of 2 to 4 numbers, longitudes and latitudes in range.
 *
 * @param p address of its opening bracket
 * @param maxNesting number of nested arrays that may still be opened, 0 … 4
 * @returns the byte after its closing bracket; 0 when the text is anything else or has more vertices than fit the table
 */
export function readCoordinates(p: usize, maxNesting: i32): usize {
  resetCanonical()
  const first = vertices
  const firstSequence = sequenceEnds
  let out = vertices
  // Lengths of the last longitude and latitude. Most numbers are as long as their predecessor. Advancing by the
  // predicted length, not to the end that was read, lets the processor start on the next number before it has finished
  // this one.
  let lonLength: usize = 0
  let latLength: usize = 0
  nesting = 0
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
      if (closed == 1 && nesting > 2) endSequence(out, first)
      if (closed == 2 && nesting > 3) endPart(firstSequence)
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
  vertices = out
  isSpanCanonical = isCanonical
  return p + 1
}

/**
 * Returns the address of the closing bracket of a position. p is the byte after its latitude; 0 when anything else is
 * there.
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
function endSequence(out: usize, first: usize): void {
  store<u32>(sequenceEnds, <u32>((out - first) >> 4))
  sequenceEnds += 4
}

@inline
function endPart(firstSequence: usize): void {
  store<u32>(partEnds, <u32>((sequenceEnds - firstSequence) >> 2))
  partEnds += 4
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
