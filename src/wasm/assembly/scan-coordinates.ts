/** The array of a member `coordinates` → doubles and the offsets of its nesting. */
import { isCanonical, markRespelled, passNumber, readDegrees, startSpelling } from './decimal'
import { readPosition } from './position-lanes'

const COMMA: u8 = 0x2c
const OPEN: u8 = 0x5b
const CLOSE: u8 = 0x5d
/** `],[` as a little-endian word. */
const NEXT_POSITION: u32 = 0x5b2c5d

/** Arrays inside each other, of a Point to a MultiPolygon. */
export const DEEPEST: i32 = 4

/** Where the next double goes, and where none goes any more. */
export let vertices: usize = 0
export let verticesEnd: usize = 0
/** Where the end of the next sequence goes, counted in vertices of its span; of the next part, counted in its sequences. */
export let sequenceEnds: usize = 0
export let partEnds: usize = 0
/** Of the span read last. */
export let nesting: i32 = 0
export let isSpanCanonical: bool = false

export function startCoordinates(toVertices: usize, toVerticesEnd: usize, toSequenceEnds: usize, toPartEnds: usize): void {
  vertices = toVertices
  verticesEnd = toVerticesEnd
  sequenceEnds = toSequenceEnds
  partEnds = toPartEnds
}

/**
 * Reads one span: positions of 2 to 4 numbers in arrays of one depth, none of them empty, longitudes and latitudes in range.
 *
 * @param p its opening bracket
 * @param deepest arrays that may still open, 0 … 4
 * @returns the byte after its closing bracket; 0 when it is anything else, or has more vertices than there is room for
 */
export function readCoordinates(p: usize, deepest: i32): usize {
  startSpelling()
  const first = vertices
  const firstSequence = sequenceEnds
  let out = vertices
  // Lengths of the last longitude and latitude: most numbers are as long as the one before them. Going on from there, and
  // not from where the digits end, lets the processor read the next number before it is done with this one.
  let lonLength: usize = 0
  let latLength: usize = 0
  nesting = 0
  while (load<u8>(p) == OPEN) {
    nesting++
    p = passSpace(p + 1)
  }
  if (nesting > deepest) return 0
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
        p = passSpace(p)
        if (load<u8>(p) != COMMA) return 0
      }
      p = passSpace(p + 1)
      const latEnd = readDegrees(p, out + 8, 90)
      if (latEnd != p + latLength) {
        if (latEnd == 0) return 0
        latLength = latEnd - p
      }
      p += latLength
    }
    out += 16
    if ((load<u32>(p) & 0xffffff) == NEXT_POSITION && nesting > 1) {
      p = passSpace(p + 3)
      continue
    }
    p = endOfPosition(p)
    if (p == 0) return 0
    // How many arrays end here; the first is the position itself.
    let closed = 1
    for (; closed < nesting; closed++) {
      const next = passSpace(p + 1)
      if (load<u8>(next) != CLOSE) break
      p = next
      if (closed == 1 && nesting > 2) endSequence(out, first)
      if (closed == 2 && nesting > 3) endPart(firstSequence)
    }
    if (closed == nesting) break
    p = passSpace(p + 1)
    if (load<u8>(p) != COMMA) return 0
    p = passSpace(p + 1)
    for (; closed > 0; closed--) {
      if (load<u8>(p) != OPEN) return 0
      p = passSpace(p + 1)
    }
  }
  vertices = out
  isSpanCanonical = isCanonical
  return p + 1
}

/** The closing bracket of a position from behind its latitude on; 0 when something else stands there. */
function endOfPosition(p: usize): usize {
  p = passSpace(p)
  for (let more = 2; more > 0 && load<u8>(p) == COMMA; more--) {
    p = passNumber(passSpace(p + 1))
    if (p == 0) return 0
    p = passSpace(p)
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

/** The first byte that is no white space of JSON. A text that has any is not the canonical one. */
@inline
export function passSpace(p: usize): usize {
  return load<u8>(p) > 0x20 ? p : passSpaces(p)
}

function passSpaces(p: usize): usize {
  markRespelled()
  let c = load<u8>(p)
  while (c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09) c = load<u8>(++p)
  return p
}
