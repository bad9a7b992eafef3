/**
 * Whether a point lies inside a polygon whose rings are geodesics.
 *
 * The meridian from the point to the north pole crosses a ring an odd number of times when the point and the pole are on
 * different sides of it. Which side is inside is decided in `area.ts` alone. Longitudes are never added or subtracted
 * here, only compared, so a vertex on the meridian is counted once, on whatever turn of longitude it was written.
 *
 * A ring has a tree of spans over its edges in their order. A span that the meridian cannot meet counts nothing; one that
 * lies north of the point as a whole counts by its two ends and the number of times it wraps, however many edges it has. So
 * a point looks at some spans on each level and at the edges of few.
 *
 * A point on a ring itself may be found inside or outside: its distance is 0 either way.
 */
import { enclosedPoleOf, NO_POLE, NORTH } from './area'
import { above, FANOUT, nodesFrom } from './box-tree'
import { chordSquare, ECEF_BYTES, LONGEST, longestOver, offsetRounding, PLANAR, planeOffset, RLO, stray } from './ecef'
import { inverse } from './inverse'
import * as solution from './inverse'
import { DEGREE, high, longitudeDifference } from './math'
import { aligned } from './memory'
import { dimensionOf, latAt, lonAt, Operand, positionAt, startOf, take } from './operand'
import { countLooks, countSolutions } from './work'

/** Edges in a span of the lowest level. */
const SPAN_EDGES: i32 = 8

/** A run of edges of one ring. */
@unmanaged
class Span {
  /** Longitudes of its vertices. */
  west: f64
  east: f64
  /** Latitudes that its edges do not leave. */
  south: f64
  north: f64
  /** How many of its edges lead over the antimeridian. */
  wraps: i32
}

/** Pointer to the spans, i32 enclosed pole; one for each sequence, only those of rings are filled. */
const RING_BYTES: usize = 8

/** Where the levels of the ring begin that is being looked at. */
const levelStarts: usize = memory.data(4 * 16)

// What is being looked for, and in which ring.
let subject: Operand = changetype<Operand>(0)
let firstEdge: i32 = 0
let edgeCount: i32 = 0
let latP: f64 = 0
let lonP: f64 = 0
let positionP: usize = 0

/** Bytes of the tables of the rings of an operand, at most. */
export function ringTablesBytes(vertexCount: i32, sequenceCount: i32): usize {
  // n spans have fewer than n spans above them.
  const spans = 2 * (<usize>(vertexCount / SPAN_EDGES) + <usize>sequenceCount)
  return aligned(<usize>sequenceCount * RING_BYTES) + spans * offsetof<Span>() + ((<usize>sequenceCount) << 4)
}

/** Makes the tables of the rings of an operand. */
export function prepareRings(operand: Operand): void {
  const rings = take(<usize>operand.sequenceCount * RING_BYTES)
  operand.rings = rings
  for (let part = 0; part < operand.partCount; part++) {
    if (dimensionOf(operand, part) != 2) continue
    for (let s = startOf(operand.partStarts, part); s < startOf(operand.partStarts, part + 1); s++) {
      const first = startOf(operand.sequenceStarts, s)
      const edges = startOf(operand.sequenceStarts, s + 1) - first - 1
      const leaves = (edges + SPAN_EDGES - 1) / SPAN_EDGES
      const spans = take(<usize>nodesFrom(leaves) * offsetof<Span>())
      const root = fillSpans(operand, first, edges, spans, leaves)
      store<u32>(rings + <usize>s * RING_BYTES, <u32>spans)
      // Without an edge over the antimeridian the differences of longitude along the ring add up to nothing.
      const pole = root.wraps == 0 ? NO_POLE : enclosedPoleOf(operand.vertices + ((<usize>first) << 4), edges + 1)
      store<i32>(rings + <usize>s * RING_BYTES, pole, 4)
    }
  }
}

/** The pole that a ring encloses, of a sequence that is a ring. */
@inline
export function poleOf(operand: Operand, sequence: i32): i32 {
  return load<i32>(operand.rings + <usize>sequence * RING_BYTES, 4)
}

@inline
function spanAt(spans: usize, index: i32): Span {
  return changetype<Span>(spans + <usize>index * offsetof<Span>())
}

/** Fills the spans of all levels; returns the one over the whole ring. */
function fillSpans(operand: Operand, first: i32, edges: i32, spans: usize, leaves: i32): Span {
  for (let i = 0; i < leaves; i++) {
    fillLeaf(operand, first + i * SPAN_EDGES, min(SPAN_EDGES, edges - i * SPAN_EDGES), spanAt(spans, i))
  }
  let below = 0
  let next = leaves
  for (let size = leaves; size > 1; size = above(size)) {
    for (let i = 0; i < size; i += FANOUT) joinSpans(spans, below + i, min(FANOUT, size - i), spanAt(spans, next++))
    below += size
  }
  return spanAt(spans, next - 1)
}

function joinSpans(spans: usize, first: i32, count: i32, into: Span): void {
  memory.copy(changetype<usize>(into), changetype<usize>(spanAt(spans, first)), offsetof<Span>())
  for (let i = first + 1; i < first + count; i++) {
    const span = spanAt(spans, i)
    into.west = Math.min(into.west, span.west)
    into.east = Math.max(into.east, span.east)
    into.south = Math.min(into.south, span.south)
    into.north = Math.max(into.north, span.north)
    into.wraps += span.wraps
  }
}

function fillLeaf(operand: Operand, first: i32, edges: i32, span: Span): void {
  let lon1 = lonAt(operand, first)
  let west = lon1
  let east = lon1
  let south = latAt(operand, first)
  let north = south
  let wraps = 0
  let longest: f64 = 0
  let position = positionAt(operand, first)
  for (let v = first; v < first + edges; v++) {
    const lon = lonAt(operand, v + 1)
    const lat = latAt(operand, v + 1)
    if (isWrapped(lon1, lon)) wraps++
    west = lon < west ? lon : west
    east = lon > east ? lon : east
    south = lat < south ? lat : south
    north = lat > north ? lat : north
    const chord = chordSquare(position, position + ECEF_BYTES)
    longest = chord > longest ? chord : longest
    position += ECEF_BYTES
    lon1 = lon
  }
  // Half an edge away from its nearer end, every point of it is at most this many degrees of latitude away.
  const length = longestOver(Math.sqrt(longest))
  const room = length < LONGEST ? length / (2 * RLO * DEGREE) + 1e-9 : 180
  span.west = west
  span.east = east
  span.south = south - room
  span.north = north + room
  span.wraps = wraps
}

/** Whether a polygon part contains a point; position points to its x, y, z. */
export function polygonContains(operand: Operand, part: i32, lat: f64, lon: f64, position: usize): bool {
  subject = operand
  latP = lat
  // One name for the antimeridian: 180 is east of every other longitude then.
  lonP = lon == 180 ? -180 : lon
  positionP = position
  const first = startOf(operand.partStarts, part)
  if (!ringContains(first)) return false
  for (let s = first + 1; s < startOf(operand.partStarts, part + 1); s++) {
    if (ringContains(s)) return false
  }
  return true
}

function ringContains(sequence: i32): bool {
  firstEdge = startOf(subject.sequenceStarts, sequence)
  edgeCount = startOf(subject.sequenceStarts, sequence + 1) - firstEdge - 1
  let start = <usize>load<u32>(subject.rings + <usize>sequence * RING_BYTES)
  let level = 0
  for (let size = (edgeCount + SPAN_EDGES - 1) / SPAN_EDGES; ; size = above(size)) {
    store<u32>(levelStarts + ((<usize>level) << 2), <u32>start)
    if (size == 1) break
    start += <usize>size * offsetof<Span>()
    level++
  }
  const isOdd = crossesOddly(level, 0)
  const pole = poleOf(subject, sequence)
  return pole == NO_POLE ? isOdd : isOdd != (pole == NORTH)
}

/** Whether the meridian north of the point crosses the edges of a span an odd number of times. */
function crossesOddly(level: i32, index: i32): bool {
  const span = spanAt(<usize>load<u32>(levelStarts + ((<usize>level) << 2)), index)
  countLooks(1)
  if (latP > span.north) return false
  if (span.wraps == 0 && (lonP < span.west || lonP >= span.east)) return false
  const width = SPAN_EDGES << (2 * level) // 4 to the level
  const first = firstEdge + index * width
  const last = min(first + width, firstEdge + edgeCount)
  if (latP < span.south) {
    return lonAt(subject, first) > lonP != lonAt(subject, last) > lonP != ((span.wraps & 1) == 1)
  }
  let isOdd = false
  if (level > 0) {
    const end = min(FANOUT * (index + 1), (edgeCount + (width >> 2) - 1) / (width >> 2))
    for (let child = FANOUT * index; child < end; child++) {
      if (crossesOddly(level - 1, child)) isOdd = !isOdd
    }
    return isOdd
  }
  for (let v = first; v < last; v++) {
    const lon1 = lonAt(subject, v)
    const lon2 = lonAt(subject, v + 1)
    // East of the meridian or not; an edge over the antimeridian starts on the one side and comes back on the other.
    const changes = lon1 > lonP != lon2 > lonP
    const wraps = isWrapped(lon1, lon2)
    if (changes != wraps && isNorth(v, lon2 > lon1 != wraps)) isOdd = !isOdd
  }
  return isOdd
}

/** Whether the short way between two longitudes leads over the antimeridian; the way that `longitudeDifference` goes. */
@inline
function isWrapped(lon1: f64, lon2: f64): bool {
  return Math.abs(lon2 - lon1) >= 179 && isWideWrapped(lon1, lon2)
}

function isWideWrapped(lon1: f64, lon2: f64): bool {
  longitudeDifference(lon1, lon2)
  return high == 0 ? true : lon2 < lon1 != high < 0
}

/** Whether the edge from a vertex, which crosses the meridian of the point, does so north of it. */
function isNorth(v: i32, leadsEast: bool): bool {
  let lat1 = latAt(subject, v)
  let lon1 = lonAt(subject, v)
  let lat2 = latAt(subject, v + 1)
  let lon2 = lonAt(subject, v + 1)
  // An edge that ends at a pole runs along a meridian and takes all its longitudes there.
  if (lat1 == 90 || lat2 == 90) return true
  if (lat1 == -90 || lat2 == -90) return false
  longitudeDifference(lon1, lon2)
  if (Math.abs(high) != 180) {
    // North is left on the way east, and almost always the plane of the edge is enough to tell.
    const side = sideOf(positionAt(subject, v), positionP)
    if (side != 0) return side > 0 != leadsEast
  }
  const isOrdered = lat1 < lat2 || (lat1 == lat2 && lon1 <= lon2)
  if (!isOrdered) {
    const t = lat1
    lat1 = lat2
    lat2 = t
    const u = lon1
    lon1 = lon2
    lon2 = u
  }
  countSolutions(2)
  inverse(lat1, lon1, lat2, lon2)
  longitudeDifference(lon1, lon2)
  // Over a pole, which the azimuth at the first end names.
  if (Math.abs(high) == 180) return solution.calp1 > 0
  // From its western end every geodesic leads east, and the ones farther north start with smaller azimuths.
  let salp = solution.salp1
  let calp = solution.calp1
  if (high < 0) {
    lat1 = lat2
    lon1 = lon2
    salp = -solution.salp2
    calp = -solution.calp2
  }
  inverse(lat1, lon1, latP, lonP)
  return salp * solution.calp1 - calp * solution.salp1 < 0
}

/** On which side of the edge from a position to the next one the point lies: 1 left, −1 right, 0 not certain. */
function sideOf(from: usize, position: usize): i32 {
  const length = longestOver(Math.sqrt(chordSquare(from, from + ECEF_BYTES)))
  const distance = longestOver(Math.sqrt(chordSquare(from, position)))
  if (length == 0 || length + distance > PLANAR) return 0
  const offset = planeOffset(position, from, from + ECEF_BYTES)
  const room = stray(length, distance) + offsetRounding
  return offset > room ? 1 : offset < -room ? -1 : 0
}
