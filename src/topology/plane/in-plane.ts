import { spendWork } from '../../base/work.ts'
import type { FlatGeometry } from '../../geometry/flat.ts'
import type { Kernel } from '../../wasm/loader.ts'
import { type Location, passRings } from '../exact/point-in-ring.ts'
import type { TouchingEdges } from '../layout/build-segments.ts'
import { arePlanar, CROSSES_ANTIMERIDIAN, findGlobeFlags, HAS_WHOLE_PARALLEL } from '../layout/unwrap.ts'
import { CROSS, joinBudget, joinEdges } from './edge-join.ts'
import { isOnEdges, isVertexAtCrossing, ODD, ON } from './edge-ray.ts'
import {
  eastwardLongitude,
  isPuntal,
  type PreparedTopology,
  type Topology,
  toGeometry,
  toPrepared,
} from './prepared.ts'

/** Largest number of points for which a pass over all vertices is cheaper than building boxes. */
const MAX_PASSES = 4
/** Edges visited, or pairs of points, before a sweep takes over: about 10 ms. */
const MAX_VISITED_EDGES = 2_000_000
const EDGES_PER_LEAF = 8
/** Nodes visited by rays, and pairs of a vertex and a point in passes, that count as one unit of work. */
export const NODES_PER_UNIT = 64
const VERTICES_PER_UNIT = 1024
/** Crossings with a MultiPolygon that are examined one by one before a sweep takes over. The first one nearly always decides. */
const MAX_CROSSINGS = 4

/**
 * Decides `contains` in the plane without a sweep, by boxes around the edges and exact orientation tests.
 *
 * @returns touches when a sweep has to decide, because the geometries touch or there is no plane for them
 */
export function containsInPlane(
  container: PreparedTopology,
  containee: Topology,
  kernel: Kernel | undefined,
): boolean | TouchingEdges {
  if (isPuntal(containee)) return containsPoints(container, toGeometry(containee), kernel)
  const pair = moveIntoPlane(container, toPrepared(containee))
  if (pair === undefined) {
    const other = toPrepared(containee)
    return areLatitudesApart(container, other) ? false : unknownTouches(container.geometry, other.geometry)
  }
  const [a, b] = pair
  const [treeA, treeB] = [a.tree, b.tree]
  const touches = new TouchCollector(a, b)
  let remainingCrossings = a.isOnePolygonal ? MAX_CROSSINGS : 0
  const end = joinEdges(treeA, treeB, budgetFor(a, b), (contact, i, j) => {
    if (contact === CROSS) {
      if (a.isOnePolygon) return false
      // If a vertex of another ring of a lies at the crossing, b may continue inside that ring.
      if (remainingCrossings-- > 0 && !isVertexAtCrossing(treeA, i, treeB, j)) return false
    }
    touches.add(i, j)
    return true
  })
  if (end === 'stopped') return false
  if (end === 'exhausted') return unknownTouches(a.geometry, b.geometry)
  if (touches.isAny) return touches
  // What does not touch a lies either inside its polygons or outside of a entirely.
  if (!a.hasPolygons) return false
  const outside = findSequence(a, b, false)
  if (outside !== 'none') return outside === 'found' ? false : touches
  // A ring of a that lies inside b has the exterior of a on one side, unless another polygon of a covers that side.
  const inside = b.hasPolygons ? findSequence(b, a, true, a.isRing) : 'none'
  if (inside === 'none') return true
  return inside === 'found' && a.isOnePolygonal ? false : touches
}

/**
 * Decides `intersects` in the plane without a sweep.
 *
 * @returns touches when a sweep has to decide
 */
export function intersectsInPlane(
  first: Topology,
  second: Topology,
  kernel: Kernel | undefined,
): boolean | TouchingEdges {
  if (isPuntal(second)) return intersectsPoints(toPrepared(first), toGeometry(second), kernel)
  if (isPuntal(first)) return intersectsPoints(toPrepared(second), toGeometry(first), kernel)
  const [received, other] = [toPrepared(first), toPrepared(second)]
  const pair = moveIntoPlane(received, other)
  if (pair === undefined)
    return areLatitudesApart(received, other) ? false : unknownTouches(received.geometry, other.geometry)
  const [a, b] = pair
  const end = joinEdges(a.tree, b.tree, budgetFor(a, b), () => false)
  if (end === 'stopped') return true
  if (end === 'exhausted') return unknownTouches(a.geometry, b.geometry)
  const bInA = a.hasPolygons ? findSequence(a, b, true) : 'none'
  if (bInA === 'found') return true
  const aInB = b.hasPolygons ? findSequence(b, a, true) : 'none'
  if (aInB === 'found') return true
  return aInB === 'unknown' || bInA === 'unknown' ? unknownTouches(a.geometry, b.geometry) : false
}

/**
 * Returns two geometries in a plane in which they are the same as on the globe: as received, or both moved eastward, where
 * geometries on both sides of ±180 are in one piece. Undefined when there is no such plane.
 */
function moveIntoPlane(
  a: PreparedTopology,
  b: PreparedTopology,
): readonly [PreparedTopology, PreparedTopology] | undefined {
  // The boxes of a tree show at once that most geometries have no globe flags.
  const flagsA = a.tree.isSurelyPlanar ? 0 : a.globeFlags
  const flagsB = b.tree.isSurelyPlanar ? 0 : b.globeFlags
  if (arePlanar(flagsA, flagsB)) return [a, b]
  if (a.mayBeCut || b.mayBeCut) return undefined
  const [movedA, movedB] = [a.eastward, b.eastward]
  return movedA === undefined || movedB === undefined ? undefined : [movedA, movedB]
}

/**
 * Tells whether two geometries have no latitude in common. A polygon lies within the latitudes of its vertices if no edge crosses ±180
 * and none is a whole parallel: its rings then do not wind around the axis.
 */
function areLatitudesApart(a: PreparedTopology, b: PreparedTopology): boolean {
  if (((a.globeFlags | b.globeFlags) & (CROSSES_ANTIMERIDIAN | HAS_WHOLE_PARALLEL)) !== 0) return false
  const [boxesA, boxesB] = [a.tree.boxes, b.tree.boxes]
  const [rootA, rootB] = [boxesA.length - 4, boxesB.length - 4]
  return boxesA[rootA + 1]! > boxesB[rootB + 3]! || boxesA[rootA + 3]! < boxesB[rootB + 1]!
}

/** Returns the touches of two geometries of whose edges nothing is known. */
export function unknownTouches(a: FlatGeometry, b: FlatGeometry): TouchingEdges {
  return { a, b, edgesOfA: undefined, edgesOfB: undefined }
}

export function budgetFor(a: PreparedTopology, b: PreparedTopology): number {
  return joinBudget((a.geometry.vertices.length + b.geometry.vertices.length) / 2)
}

/** Collects the edges that touch the other geometry while a join finds them. */
export class TouchCollector implements TouchingEdges {
  readonly a: FlatGeometry
  readonly b: FlatGeometry
  readonly edgesOfA: Uint8Array
  readonly edgesOfB: Uint8Array
  isAny = false

  constructor(a: PreparedTopology, b: PreparedTopology) {
    this.a = a.geometry
    this.b = b.geometry
    this.edgesOfA = new Uint8Array(a.geometry.vertices.length / 2)
    this.edgesOfB = new Uint8Array(b.geometry.vertices.length / 2)
  }

  add(edgeA: number, edgeB: number): void {
    this.edgesOfA[edgeA] = 1
    this.edgesOfB[edgeB] = 1
    this.isAny = true
  }
}

function containsPoints(a: PreparedTopology, b: FlatGeometry, kernel: Kernel | undefined) {
  let isInteriorMet = false
  const end = visitPoints(a, b, kernel, (location) => {
    if (location === 'interior') isInteriorMet = true
    return location !== 'exterior'
  })
  return end === 'done' ? isInteriorMet : end === 'stopped' ? false : end
}

function intersectsPoints(a: PreparedTopology, points: FlatGeometry, kernel: Kernel | undefined) {
  const end = visitPoints(a, points, kernel, (location) => location === 'exterior')
  return end === 'done' ? false : end === 'stopped' ? true : end
}

/**
 * Locates points one by one in the interior, boundary or exterior of a geometry, which counts as the union of its elements.
 *
 * @param visit returns false to stop
 * @returns touches when a sweep has to decide
 */
export function visitPoints(
  a: PreparedTopology,
  points: FlatGeometry,
  kernel: Kernel | undefined,
  visit: (location: Location) => boolean,
): 'done' | 'stopped' | TouchingEdges {
  const { vertices } = points
  if (a.isOnePolygonal && vertices.length <= 2 * MAX_PASSES) {
    // As much for rays as for passes, so that the count does not depend on whether there is a tree already.
    spendWork((a.geometry.vertices.length * vertices.length) / VERTICES_PER_UNIT)
    return locatePoints(a, points, kernel, visit)
  }
  a.ray.visitedNodes = 0
  const end = locatePoints(a, points, kernel, visit)
  spendWork((vertices.length + a.ray.visitedNodes) / NODES_PER_UNIT)
  return end
}

function locatePoints(
  a: PreparedTopology,
  points: FlatGeometry,
  kernel: Kernel | undefined,
  visit: (location: Location) => boolean,
): 'done' | 'stopped' | TouchingEdges {
  const { vertices } = points
  if (a.isOnePolygonal && !a.hasTree && vertices.length <= 2 * MAX_PASSES) {
    for (let i = 0; i < vertices.length; i += 2) {
      const { location, isSurelyPlanar } = passRings(a.geometry, vertices[i]!, vertices[i + 1]!, kernel)
      if (isSurelyPlanar) a.clearMarks()
      if (i === 0 && !isPlanarFor(a, points)) return visitAcrossAntimeridian(a, points, visit)
      if (!visit(location)) return 'stopped'
    }
    return 'done'
  }
  // Tree first: with it, the globe flags cost little.
  const { tree } = a
  if (!isPlanarFor(a, points)) return visitAcrossAntimeridian(a, points, visit)
  if (isPuntal(a) && tree.leafCount * vertices.length > 2 * MAX_VISITED_EDGES) return unknownTouches(a.geometry, points)
  const { ray } = a
  ray.openedLeaves = 0
  for (let i = 0; i < vertices.length; i += 2) {
    const location = locate(a, vertices[i]!, vertices[i + 1]!)
    if (location === undefined || EDGES_PER_LEAF * ray.openedLeaves > MAX_VISITED_EDGES)
      return unknownTouches(a.geometry, points)
    if (!visit(location)) return 'stopped'
  }
  return 'done'
}

/** Does the same across ±180, with the geometry moved eastward. */
function visitAcrossAntimeridian(
  a: PreparedTopology,
  points: FlatGeometry,
  visit: (location: Location) => boolean,
): 'done' | 'stopped' | TouchingEdges {
  const { vertices } = points
  const unknown = unknownTouches(a.geometry, points)
  const moved = isPuntal(a) ? undefined : a.eastward
  if (moved === undefined) return unknown
  const { ray } = moved
  ray.openedLeaves = 0
  for (let i = 0; i < vertices.length; i += 2) {
    const [received, lat] = [vertices[i]!, vertices[i + 1]!]
    const lon = eastwardLongitude(received)
    ray.visitedNodes = 1
    const location = Math.abs(lat) === 90 ? undefined : locate(moved, lon, lat)
    spendWork(ray.visitedNodes / NODES_PER_UNIT)
    // The edge between two parts may be a cut along the antimeridian, which is no boundary.
    if (location === undefined || (location === 'boundary' && a.mayBeCut)) return unknown
    // A rounded position is outside of the box of all edges if and only if the exact one is.
    if (lon !== received && lon - 360 !== received && !moved.tree.isOutside(lon, lat)) return unknown
    if (EDGES_PER_LEAF * ray.openedLeaves > MAX_VISITED_EDGES) return unknown
    if (!visit(location)) return 'stopped'
  }
  return 'done'
}

/** A geometry without globe flags stays clear of ±180 and the poles, so any points can be compared with it in the plane. */
function isPlanarFor(a: PreparedTopology, points: FlatGeometry): boolean {
  return a.globeFlags === 0 || arePlanar(a.globeFlags, findGlobeFlags(points))
}

/** @returns undefined where boundaries of several polygonal elements meet: the position may be interior to their union, or not */
function locate(a: PreparedTopology, lon: number, lat: number): Location | undefined {
  if (a.isOnePolygonal) {
    const { isOnRing, isOdd } = a.ray.cast(lon, lat)
    return isOnRing ? 'boundary' : isOdd ? 'interior' : 'exterior'
  }
  if (a.hasPolygons) {
    const polygonLocation = locationInElements(a, lon, lat)
    if (polygonLocation !== 'exterior') return polygonLocation
  }
  if (!a.hasLines && !a.hasPoints) return 'exterior'
  if (!isOnEdges(a.tree, lon, lat, a.hasPolygons ? a.isRing : undefined)) return 'exterior'
  return a.hasLines && a.lineBoundary.hasCoordinates(lon, lat) ? 'boundary' : 'interior'
}

function locationInElements(a: PreparedTopology, lon: number, lat: number): Location | undefined {
  const { elementStarts, elementTypes, partStarts } = a.geometry
  const sequences = a.ray.cast(lon, lat).flagsBySequence!
  a.ray.openedLeaves += sequences.length / EDGES_PER_LEAF
  a.ray.visitedNodes += sequences.length / EDGES_PER_LEAF
  let boundaries = 0
  for (let element = 0; element < elementTypes.length; element++) {
    if (!elementTypes[element]!.endsWith('Polygon')) continue
    let flags = 0
    const end = partStarts[elementStarts[element + 1]!]!
    for (let sequence = partStarts[elementStarts[element]!]!; sequence < end; sequence++) {
      flags = (flags ^ (sequences[sequence]! & ODD)) | (sequences[sequence]! & ON)
    }
    if ((flags & ON) !== 0) boundaries++
    else if (flags === ODD) return 'interior'
  }
  return boundaries === 0 ? 'exterior' : boundaries === 1 ? 'boundary' : undefined
}

/**
 * Looks for a sequence of one geometry that lies inside the polygons of another, or outside of them. The two must not touch.
 *
 * @param isCounted by sequence: 0 for those to skip; absent when all count
 */
function findSequence(
  polygons: PreparedTopology,
  other: PreparedTopology,
  isInside: boolean,
  isCounted?: Uint8Array,
): 'found' | 'none' | 'unknown' {
  const { ray } = polygons
  ray.visitedNodes = 0
  const found = searchSequence(polygons, other, isInside, isCounted)
  spendWork(ray.visitedNodes / NODES_PER_UNIT)
  return found
}

function searchSequence(
  polygons: PreparedTopology,
  { geometry }: PreparedTopology,
  isInside: boolean,
  isCounted?: Uint8Array,
): 'found' | 'none' | 'unknown' {
  const { ray } = polygons
  const { vertices, sequenceStarts } = geometry
  ray.openedLeaves = 0
  for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
    if (isCounted?.[sequence] === 0) continue
    const first = 2 * sequenceStarts[sequence]!
    if (isCovered(polygons, vertices[first]!, vertices[first + 1]!) === isInside) return 'found'
    if (EDGES_PER_LEAF * ray.openedLeaves > MAX_VISITED_EDGES) return 'unknown'
  }
  return 'none'
}

function isCovered(a: PreparedTopology, lon: number, lat: number): boolean {
  if (!a.isOnePolygonal) return locationInElements(a, lon, lat) !== 'exterior'
  const { isOnRing, isOdd } = a.ray.cast(lon, lat)
  return isOnRing || isOdd
}
