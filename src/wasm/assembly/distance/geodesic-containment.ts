/**
 * Decides whether a point lies inside a polygon whose edges are geodesics.
 *
 * The meridian from the point to the north pole crosses a ring an odd number of times if and only if the point and the
 * pole are on different sides of it. Only area.ts decides which side is inside. This file compares longitudes but never
 * adds or subtracts them, so a vertex on the meridian is counted exactly once, at ±180 too.
 *
 * Each ring has a tree of spans over its edges, in their order. A span that the meridian cannot meet has no crossing. A
 * span that lies wholly north of the point is counted by its two ends and the number of its edges over the
 * antimeridian, without looking at its edges. So a query visits a few spans on each level and the edges of few of them.
 *
 * A point exactly on a ring may count as inside or outside. Its distance is 0 either way.
 */
import { findEnclosedPole } from '../edges/area'
import {
  chordSquare,
  ECEF_BYTES,
  geodesicUpperBound,
  LONGEST_GEODESIC,
  LONGEST_PLANAR,
  offsetRounding,
  planeDeviation,
  planeOffset,
  RLO,
} from '../edges/ecef'
import { NO_POLE, NORTH } from '../edges/edge-sums'
import { Geodesic, inverse } from '../geodesic/inverse'
import { DEGREE, longitudeDifference } from '../math/math'
import { aligned } from '../math/memory'
import { countChecks, countSolutions } from '../math/work'
import { FANOUT, parentCount, treeSize } from './box-tree'
import { allocate, latAt, lonAt, Operand, partDimension, positionAt, startAt } from './operand'

/** Edges in a span of the lowest level. */
const SPAN_EDGES: i32 = 8

/** Bounds of a run of consecutive edges of one ring. */
@unmanaged
class Span {
  /** Least and greatest longitude of its vertices. */
  west: f64
  east: f64
  /** Bounds of the latitudes of its edges. */
  south: f64
  north: f64
  /** Number of its edges that cross the antimeridian. */
  wraps: i32
}

/**
 * Bytes of an entry of `operand.rings`: u32 pointer to the spans, i32 enclosed pole. Only the entries of rings are
 * filled.
 */
const RING_BYTES: usize = 8

/** Pointers to the levels of spans of the current ring. */
const levelStarts: usize = memory.data(4 * 16)

/** A point and a ring of an operand. */
@unmanaged
class Query {
  lat: f64
  lon: f64
  position: usize
  operand: Operand
  firstEdge: i32
  edgeCount: i32
}

const query = changetype<Query>(memory.data(offsetof<Query>(), 8))
const geodesic = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))

/** Upper bound of the bytes for the ring tables of an operand. */
export function ringTablesBytes(vertexCount: i32, sequenceCount: i32): usize {
  // n spans have fewer than n spans above them.
  const spans = 2 * (<usize>(vertexCount / SPAN_EDGES) + <usize>sequenceCount)
  return aligned(<usize>sequenceCount * RING_BYTES) + spans * offsetof<Span>() + ((<usize>sequenceCount) << 4)
}

/** Builds the ring tables of an operand. */
export function prepareRings(operand: Operand): void {
  const rings = allocate(operand, <usize>operand.sequenceCount * RING_BYTES)
  operand.rings = rings
  for (let part = 0; part < operand.partCount; part++) {
    if (partDimension(operand, part) != 2) continue
    for (let s = startAt(operand.partStarts, part); s < startAt(operand.partStarts, part + 1); s++) {
      const first = startAt(operand.sequenceStarts, s)
      const edges = startAt(operand.sequenceStarts, s + 1) - first - 1
      const leaves = (edges + SPAN_EDGES - 1) / SPAN_EDGES
      const spans = allocate(operand, <usize>treeSize(leaves) * offsetof<Span>())
      const root = fillSpans(operand, first, edges, spans, leaves)
      store<u32>(rings + <usize>s * RING_BYTES, <u32>spans)
      // Without an edge over the antimeridian the differences of longitude along the ring add up to 0, so it does not wind.
      const pole = root.wraps == 0 ? NO_POLE : findEnclosedPole(operand.vertices + ((<usize>first) << 4), edges + 1)
      store<i32>(rings + <usize>s * RING_BYTES, pole, 4)
    }
  }
}

/** The pole that a ring encloses. The sequence must be a ring. */
@inline
export function ringPole(operand: Operand, sequence: i32): i32 {
  return load<i32>(operand.rings + <usize>sequence * RING_BYTES, 4)
}

@inline
function spanAt(spans: usize, index: i32): Span {
  return changetype<Span>(spans + <usize>index * offsetof<Span>())
}

/** Fills the spans of all levels and returns the root, which covers the whole ring. */
function fillSpans(operand: Operand, first: i32, edges: i32, spans: usize, leaves: i32): Span {
  for (let i = 0; i < leaves; i++) {
    fillLeaf(operand, first + i * SPAN_EDGES, min(SPAN_EDGES, edges - i * SPAN_EDGES), spanAt(spans, i))
  }
  let below = 0
  let next = leaves
  for (let size = leaves; size > 1; size = parentCount(size)) {
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
  // Every point of an edge is within half its length of an end; `margin` is that length in degrees of latitude, rounded up.
  const length = geodesicUpperBound(Math.sqrt(longest))
  const margin = length < LONGEST_GEODESIC ? length / (2 * RLO * DEGREE) + 1e-9 : 180
  span.west = west
  span.east = east
  span.south = south - margin
  span.north = north + margin
  span.wraps = wraps
}

/** Whether a polygon part contains a point in degrees; `position` points to its x, y, z. */
export function polygonContains(operand: Operand, part: i32, lat: f64, lon: f64, position: usize): bool {
  query.operand = operand
  query.lat = lat
  // The antimeridian gets one longitude, −180. Every vertex at another longitude, 180 included, is then east of it.
  query.lon = lon == 180 ? -180 : lon
  query.position = position
  const first = startAt(operand.partStarts, part)
  if (!ringContains(query, first)) return false
  for (let s = first + 1; s < startAt(operand.partStarts, part + 1); s++) {
    if (ringContains(query, s)) return false
  }
  return true
}

function ringContains(query: Query, sequence: i32): bool {
  const operand = query.operand
  const firstEdge = startAt(operand.sequenceStarts, sequence)
  const edgeCount = startAt(operand.sequenceStarts, sequence + 1) - firstEdge - 1
  query.firstEdge = firstEdge
  query.edgeCount = edgeCount
  let start = <usize>load<u32>(operand.rings + <usize>sequence * RING_BYTES)
  let level = 0
  for (let size = (edgeCount + SPAN_EDGES - 1) / SPAN_EDGES; ; size = parentCount(size)) {
    store<u32>(levelStarts + ((<usize>level) << 2), <u32>start)
    if (size == 1) break
    start += <usize>size * offsetof<Span>()
    level++
  }
  const isOdd = hasOddCrossings(query, level, 0)
  const pole = ringPole(operand, sequence)
  return pole == NO_POLE ? isOdd : isOdd != (pole == NORTH)
}

/** Whether the meridian north of the point crosses the edges of a span an odd number of times. */
function hasOddCrossings(query: Query, level: i32, index: i32): bool {
  const operand = query.operand
  const lonP = query.lon
  const span = spanAt(<usize>load<u32>(levelStarts + ((<usize>level) << 2)), index)
  countChecks(1)
  if (query.lat > span.north) return false
  if (span.wraps == 0 && (lonP < span.west || lonP >= span.east)) return false
  const width = SPAN_EDGES << (2 * level) // 4 to the level
  const first = query.firstEdge + index * width
  const last = min(first + width, query.firstEdge + query.edgeCount)
  if (query.lat < span.south) {
    return (lonAt(operand, first) > lonP != lonAt(operand, last) > lonP) != ((span.wraps & 1) == 1)
  }
  let isOdd = false
  if (level > 0) {
    const end = min(FANOUT * (index + 1), (query.edgeCount + (width >> 2) - 1) / (width >> 2))
    for (let child = FANOUT * index; child < end; child++) {
      if (hasOddCrossings(query, level - 1, child)) isOdd = !isOdd
    }
    return isOdd
  }
  for (let v = first; v < last; v++) {
    const lon1 = lonAt(operand, v)
    const lon2 = lonAt(operand, v + 1)
    // The edge crosses the meridian if exactly one end is east of it; an edge over the antimeridian does if both or
    // none are.
    const changes = lon1 > lonP != lon2 > lonP
    const wraps = isWrapped(lon1, lon2)
    if (changes != wraps && isNorth(query, v, lon2 > lon1 != wraps)) isOdd = !isOdd
  }
  return isOdd
}

/** Whether the shorter way between two longitudes crosses the antimeridian, as `longitudeDifference` decides it. */
@inline
function isWrapped(lon1: f64, lon2: f64): bool {
  return Math.abs(lon2 - lon1) >= 179 && isWideWrapped(lon1, lon2)
}

function isWideWrapped(lon1: f64, lon2: f64): bool {
  const lon12 = longitudeDifference(lon1, lon2)
  return lon12 == 0 ? true : lon2 < lon1 != lon12 < 0
}

/**
 * Whether the edge that starts at vertex v crosses the meridian of the point north of the point. It must cross the
 * meridian.
 */
function isNorth(query: Query, v: i32, leadsEast: bool): bool {
  const operand = query.operand
  let lat1 = latAt(operand, v)
  let lon1 = lonAt(operand, v)
  let lat2 = latAt(operand, v + 1)
  let lon2 = lonAt(operand, v + 1)
  // An edge that ends at a pole runs along a meridian; it passes all longitudes at the pole.
  if (lat1 == 90 || lat2 == 90) return true
  if (lat1 == -90 || lat2 == -90) return false
  if (Math.abs(longitudeDifference(lon1, lon2)) != 180) {
    // Going east, north is to the left. In almost all cases the plane of the edge decides.
    const side = sideOfEdge(positionAt(operand, v), query.position)
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
  inverse(lat1, lon1, lat2, lon2, geodesic)
  const lon12 = longitudeDifference(lon1, lon2)
  // The edge goes over a pole; its azimuth at the first end shows which.
  if (Math.abs(lon12) == 180) return geodesic.calp1 > 0
  // From the western end all geodesics lead east, and those that pass farther north start with smaller azimuths.
  let salp = geodesic.salp1
  let calp = geodesic.calp1
  if (lon12 < 0) {
    lat1 = lat2
    lon1 = lon2
    salp = -geodesic.salp2
    calp = -geodesic.calp2
  }
  inverse(lat1, lon1, query.lat, query.lon, geodesic)
  return salp * geodesic.calp1 - calp * geodesic.salp1 < 0
}

/**
 * Side on which the point lies of the edge between the position `from` and the next one: 1 left, −1 right, 0 not
 * certain.
 */
function sideOfEdge(from: usize, position: usize): i32 {
  const length = geodesicUpperBound(Math.sqrt(chordSquare(from, from + ECEF_BYTES)))
  const distance = geodesicUpperBound(Math.sqrt(chordSquare(from, position)))
  if (length == 0 || length + distance > LONGEST_PLANAR) return 0
  const offset = planeOffset(position, from, from + ECEF_BYTES)
  const margin = planeDeviation(length, distance) + offsetRounding(position, from, from + ECEF_BYTES)
  return offset > margin ? 1 : offset < -margin ? -1 : 0
}
