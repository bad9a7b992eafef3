import { spendWork } from '../../base/work.ts'
import { edgeTurn } from '../../geometry/edge-turn.ts'
import type { FlatGeometry } from '../../geometry/flat.ts'
import type { PoleResolver } from '../../geometry/pole-resolver.ts'
import type { Location } from '../exact/point-in-ring.ts'
import type { UnwrappedRing } from './antimeridian-edges.ts'
import { LineBoundary } from './line-boundary.ts'
import { isEnclosedSideLeft, type PolygonRing, poleLocation } from './pole-location.ts'
import {
  computeRingExtent,
  EMPTY_EXTENT,
  type Extent,
  type SegmentRole,
  SegmentSet,
  shiftExtent,
  turnsToReach,
  uniteExtents,
} from './segment-set.ts'
import { areLocatedInPlane, arePlanar, findGlobeFlags, findGlobeTraits, unwrapRing } from './unwrap.ts'

/** A ring, an edge of a line, or a point. It can be added in any number of copies. */
interface Item {
  readonly role: SegmentRole
  readonly extent: Extent
  readonly segmentCount: number
  /** @param window edges of rings that lie wholly outside of it are left out */
  addCopy(turns: number, window: Extent): void
}

/**
 * Adds both geometries to a segment set on the unrolled cylinder. There longitudes continue beyond ±180, and everything repeats
 * after each whole turn. A shape that was cut at ±180 covers the same points as its uncut form.
 *
 * A pole is one point at all longitudes. It is located separately, and points and edges of lines that lie on a pole are not
 * added.
 *
 * All of b is added once, with the western ends of its rings, edges and points within one turn. The longitudes that it covers are
 * the window of the set. Everything else comes in all copies, shifted by whole turns, that come near the window, because the
 * sweep looks at the window only. Edges of rings outside of it are left out. Edges of lines are added one by one, because nothing
 * depends on how a line continues.
 *
 * @param copiesLines whether lines and points of b come in all copies too, as needed where each position in the window is to be located
 *   in both geometries
 * @throws {UndecidableError} when that takes too many copies
 */
export function unrollOntoCylinder(
  segments: SegmentSet,
  a: FlatGeometry,
  b: FlatGeometry,
  resolvePole: PoleResolver,
  copiesLines = false,
): void {
  const { items: itemsOfA, rings: ringsOfA } = collectItems(segments, a, 0, resolvePole)
  const { items: itemsOfB, rings: ringsOfB } = collectItems(segments, b, 1, resolvePole)
  segments.poles = ([1, -1] as const).map(
    (pole) => [locatePole(pole, a, ringsOfA), locatePole(pole, b, ringsOfB)] as const,
  )
  if (itemsOfB.length === 0) return
  // With the widest ring at its western end, the window is hardly wider than that ring.
  const width = ({ extent }: Item): number => extent.east - extent.west
  const { west } = itemsOfB.reduce((widest, item) => (width(item) > width(widest) ? item : widest)).extent
  const homeTurns = itemsOfB.map(({ extent }) => -Math.floor((extent.west - west) / 360))
  let window = EMPTY_EXTENT
  itemsOfB.forEach(({ extent }, i) => {
    window = uniteExtents(window, shiftExtent(extent, homeTurns[i]!))
  })
  if (copiesLines) {
    // Extents are rounded, and every node has to be within the window.
    window = { west: window.west - WINDOW_MARGIN, east: window.east + WINDOW_MARGIN }
    segments.isFirstInWindow = itemsOfA.every(({ extent }) => fitsInto(extent, window))
  }
  itemsOfB.forEach(({ role, extent, segmentCount, addCopy }, i) => {
    const home = homeTurns[i]!
    const isCopied = copiesLines || role.dimension === 2
    const [first, last] = isCopied ? turnsToReach(segments, extent, window, segmentCount) : [home, home]
    for (let turns = first; turns <= last; turns++) addCopy(turns, window)
  })
  for (const { extent, segmentCount, addCopy } of itemsOfA) {
    const [first, last] = turnsToReach(segments, extent, window, segmentCount)
    for (let turns = first; turns <= last; turns++) addCopy(turns, window)
  }
  segments.window = window
}

/** Degrees by which a window is wider than its geometry: far more than the rounding of an extent. */
const WINDOW_MARGIN = 1e-6

/** Tells whether a copy of an extent certainly lies within a window. */
function fitsInto(extent: Extent, window: Extent): boolean {
  const turns = Math.floor((window.east - extent.east) / 360)
  const { west, east } = shiftExtent(extent, turns)
  return west > window.west + WINDOW_MARGIN / 2 && east < window.east - WINDOW_MARGIN / 2
}

/** Locates a pole relative to a geometry: to its polygons where they cover it, else to its lines, else to its points. */
function locatePole(pole: 1 | -1, geometry: FlatGeometry, rings: readonly PolygonRing[]): Location {
  const polygonLocation = poleLocation(pole, rings)
  if (polygonLocation !== 'exterior') return polygonLocation
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  let isVertex = false
  let isOnLine = false
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] === 2) continue
    const sequence = partStarts[part]!
    for (let vertex = sequenceStarts[sequence]!; vertex < sequenceStarts[sequence + 1]!; vertex++) {
      if (vertices[2 * vertex + 1] !== 90 * pole) continue
      isVertex = true
      if (partDimensions[part] === 1) isOnLine = true
    }
  }
  if (!isVertex) return 'exterior'
  return isOnLine && new LineBoundary(geometry, false).hasCoordinates(0, 90 * pole) ? 'boundary' : 'interior'
}

interface Items {
  readonly items: Item[]
  readonly rings: PolygonRing[]
}

function collectItems(segments: SegmentSet, geometry: FlatGeometry, operand: 0 | 1, resolvePole: PoleResolver): Items {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  const items: Item[] = []
  const rings: PolygonRing[] = []
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const received = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      const role = { operand, dimension, step0: 1 - operand, step1: operand, sequence }
      if (dimension < 2) addLineOnCylinder(items, segments, received, { ...role, step0: 0, step1: 0 })
      else {
        const ring = { unwrapped: unwrapRing(received, resolvePole), isHole: sequence > partStarts[part]! }
        rings.push(ring)
        items.push(ringItem(segments, ring.unwrapped, role, ring.isHole))
      }
    }
  }
  return { items, rings }
}

function ringItem(segments: SegmentSet, ring: UnwrappedRing, role: SegmentRole, isHole: boolean): Item {
  const isInteriorOnLeft = isEnclosedSideLeft(ring) !== isHole
  const addCopy = (turns: number, window: Extent): void =>
    segments.addRingInWindow(ring, role, isInteriorOnLeft, turns, window)
  return { role, extent: computeRingExtent(ring), segmentCount: ring.lon.length, addCopy }
}

/** Units of work for each item of an edge of a line, and for each of its copies. Segments in the plane take far less. */
const LINE_EDGE_WORK = 1 / 2

/** Makes an item of each edge of a line. A line of zero length, or a Point, becomes a point. */
function addLineOnCylinder(items: Item[], segments: SegmentSet, received: Float64Array, role: SegmentRole): void {
  const { positions } = segments
  const before = items.length
  for (let i = 2; i < received.length; i += 2) {
    const [lon1, lat1, lon2, lat2] = [received[i - 2]!, received[i - 1]!, received[i]!, received[i + 1]!]
    const turn = edgeTurn(lon1, lat1, lon2, lat2)
    const x = lon2 + 360 * turn
    // An edge between the two names of one meridian has no length either: 180 and −180 + 360 are equal without rounding.
    if (lat1 === lat2 && (lon1 === x || Math.abs(lat1) === 90)) continue
    const addCopy = (turns: number): void => {
      spendWork(LINE_EDGE_WORK)
      const from = positions.add(lon1, lat1, turns)
      segments.addSegment(from, positions.add(lon2, lat2, turn + turns), { ...role, dimension: 1 }, 0, i / 2 - 1, turns)
    }
    const extent = { west: Math.min(lon1, x), east: Math.max(lon1, x) }
    spendWork(LINE_EDGE_WORK)
    items.push({ role: { ...role, dimension: 1 }, extent, segmentCount: 1, addCopy })
  }
  if (items.length > before || Math.abs(received[1]!) === 90) return
  const point = { ...role, dimension: 0 }
  const addCopy = (turns: number): void => {
    segments.addPoint(received[0]!, received[1]!, turns, point, 0, turns)
  }
  items.push({ role: point, extent: { west: received[0]!, east: received[0]! }, segmentCount: 1, addCopy })
}

/**
 * What is known about two geometries when only a sweep can decide, because they touch, because no plane suffices, or because any
 * other method would cost too much.
 */
export interface TouchingEdges {
  readonly a: FlatGeometry
  readonly b: FlatGeometry
  /** By vertex: 1 when the edge that starts there touches the other geometry; undefined when that is not known. */
  readonly edgesOfA: Uint8Array | undefined
  readonly edgesOfB: Uint8Array | undefined
}

/**
 * Returns the segments that a sweep needs: rings, points, and the edges of lines that touch the other geometry. A run of edges of b
 * that touches nothing is replaced by one point. This keeps the sweep cheap for lines that cross themselves a million times.
 *
 * @param segments of both geometries; points may be added
 */
export function segmentsToSweep(segments: SegmentSet, touches: TouchingEdges): Int32Array {
  const { a, b, edgesOfA, edgesOfB } = touches
  if (edgesOfA === undefined || edgesOfB === undefined) return Int32Array.from({ length: segments.count }, (_, s) => s)
  const { operand, dimension, sequence, left, vertex, count } = segments
  const needed: number[] = []
  let last = -1
  for (let s = 0; s < count; s++) {
    const [geometry, touching] = operand[s] === 0 ? [a, edgesOfA] : [b, edgesOfB]
    if (dimension[s] !== 1 || touching[geometry.sequenceStarts[sequence[s]!]! + vertex[s]!] === 1) {
      needed.push(s)
      last = -1
      continue
    }
    if (operand[s] === 0) continue
    // The whole run lies in the interior or in the exterior of a, as its first position does, because it touches nothing.
    const follows = last >= 0 && sequence[s] === sequence[last]
    if (!follows) {
      const role = { operand: 1, dimension: 0, step0: 0, step1: 0, sequence: sequence[s]! }
      needed.push(segments.addSegment(left[s]!, left[s]!, role, 0, vertex[s]!, 0))
    }
    last = s
  }
  return Int32Array.from(needed)
}

/**
 * Puts both geometries of a predicate into one segment set. Depth 0 counts the polygons of a, depth 1 those of b. Coordinates
 * stay as received where the plane suffices; otherwise both geometries are unrolled onto the cylinder.
 *
 * @param locatesAll whether each position is to be located in both geometries, not only those of b in a
 * @throws {UndecidableError} when rings wind around the axis so often that it would cost too much
 */
export function buildSegmentSet(
  a: FlatGeometry,
  b: FlatGeometry,
  resolvePole: PoleResolver,
  locatesAll = false,
): SegmentSet {
  const capacity = (a.vertices.length + b.vertices.length) / 2
  const isPlanar = locatesAll
    ? areLocatedInPlane(findGlobeTraits(a), findGlobeTraits(b))
    : arePlanar(findGlobeFlags(a), findGlobeFlags(b))
  if (!isPlanar) {
    const segments = new SegmentSet(3 * capacity, false)
    unrollOntoCylinder(segments, a, b, resolvePole, locatesAll)
    return segments
  }
  const segments = new SegmentSet(capacity, true)
  addInPlane(segments, a, 0, resolvePole)
  addInPlane(segments, b, 1, resolvePole)
  return segments
}

function addInPlane(segments: SegmentSet, geometry: FlatGeometry, operand: 0 | 1, resolvePole: PoleResolver): void {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    const role = { operand, dimension, step0: 1 - operand, step1: operand, sequence: partStarts[part]! }
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const received = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      if (dimension < 2) addLine(segments, received, operand, sequence)
      else segments.addRing(unwrapRing(received, resolvePole), { ...role, sequence }, sequence > partStarts[part]!, 0)
    }
  }
}

/** Adds the edges of a line. A line of zero length, or a Point, is added as a point. */
function addLine(segments: SegmentSet, received: Float64Array, operand: 0 | 1, sequence: number): void {
  const line = { operand, dimension: 1, step0: 0, step1: 0, sequence }
  const { positions } = segments
  let last = -1
  for (let i = 2; i < received.length; i += 2) {
    if (received[i] === received[i - 2] && received[i + 1] === received[i - 1]) continue
    const from = last >= 0 ? last : positions.add(received[i - 2]!, received[i - 1]!, 0)
    last = positions.add(received[i]!, received[i + 1]!, 0)
    segments.addSegment(from, last, line, 0, i / 2 - 1, 0)
  }
  if (last < 0) segments.addPoint(received[0]!, received[1]!, 0, { ...line, dimension: 0 }, 0, 0)
}
