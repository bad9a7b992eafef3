import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { joinEdges } from './edge-join.ts'
import { isOnEdges, isVertexAtCrossing, ODD, ON } from './edge-ray.ts'
import { arePlanar, globeMarksOf } from './plane.ts'
import { type Location, passRings } from './point-in-ring.ts'
import { geometryOf, isPuntal, type PreparedTopology, preparedOf, type Topology } from './prepared.ts'
import { CROSS } from './segment-contact.ts'
import { joinBudget } from './segment-index.ts'

/** Points up to which passes over all vertices are cheaper than boxes made for them. */
const MAX_PASSES = 4
/** Edges looked at, and pairs of points, before a sweep takes over: about 10 ms. */
const MAX_LOOKS = 2_000_000
const LEAF_LOOKS = 8
/** Crossings with a MultiPolygon that are looked at one by one before a sweep takes over: the first one decides nearly always. */
const MAX_CROSSINGS = 4

/**
 * Two geometries that touch, or would cost too much without a sweep: by vertex, whether the edge that starts there touches the
 * other geometry; undefined when that is not known.
 */
export interface Touches {
  readonly own: Uint8Array | undefined
  readonly others: Uint8Array | undefined
}

/** Nothing is known. */
const UNKNOWN: Touches = { own: undefined, others: undefined }

/**
 * Decides `contains` in the plane without laying anything out, by boxes around the edges and exact sides.
 *
 * @returns undefined when the plane does not decide, touches when a sweep has to
 */
export function containsInPlane(
  a: PreparedTopology,
  containee: Topology,
  kernel: Kernel | undefined,
): boolean | Touches | undefined {
  if (isPuntal(containee)) return containsPoints(a, geometryOf(containee), kernel)
  const b = preparedOf(containee)
  // Before the marks, which they answer cheaply.
  const [own, others] = [a.tree, b.tree]
  if (!arePlanar(a.marks, b.marks)) return undefined
  const touches = new Touched(a, b)
  let crossingsLeft = a.isOnePolygonal ? MAX_CROSSINGS : 0
  const end = joinEdges(own, others, budgetOf(a, b), (contact, i, j) => {
    if (contact === CROSS) {
      if (a.isOnePolygon) return false
      // Where a vertex of another ring of a stands, b may go on inside that one.
      if (crossingsLeft-- > 0 && !isVertexAtCrossing(own, i, others, j)) return false
    }
    touches.add(i, j)
    return true
  })
  if (end === 'stopped') return false
  if (end === 'exhausted') return UNKNOWN
  if (touches.isAny) return touches
  // What touches nothing of a lies inside its polygons or outside of a altogether.
  if (!a.hasPolygons) return false
  const outside = findSequence(a, b, false)
  if (outside !== 'none') return outside === 'found' ? false : touches
  // A ring of a inside b has the outside of a on one side, unless another polygon of a lies there.
  const inside = b.hasPolygons ? findSequence(b, a, true, a.isRing) : 'none'
  if (inside === 'none') return true
  return inside === 'found' && a.isOnePolygonal ? false : touches
}

/**
 * Decides `intersects` in the plane likewise.
 *
 * @returns undefined when the plane does not decide, touches when a sweep has to
 */
export function intersectsInPlane(
  first: Topology,
  second: Topology,
  kernel: Kernel | undefined,
): boolean | Touches | undefined {
  if (isPuntal(second)) return meetsPoints(preparedOf(first), geometryOf(second), kernel)
  if (isPuntal(first)) return meetsPoints(preparedOf(second), geometryOf(first), kernel)
  const [a, b] = [preparedOf(first), preparedOf(second)]
  const [own, others] = [a.tree, b.tree]
  if (!arePlanar(a.marks, b.marks)) return undefined
  const end = joinEdges(own, others, budgetOf(a, b), () => false)
  if (end === 'stopped') return true
  if (end === 'exhausted') return UNKNOWN
  const ofB = a.hasPolygons ? findSequence(a, b, true) : 'none'
  if (ofB === 'found') return true
  const ofA = b.hasPolygons ? findSequence(b, a, true) : 'none'
  if (ofA === 'found') return true
  return ofA === 'unknown' || ofB === 'unknown' ? UNKNOWN : false
}

function budgetOf(a: PreparedTopology, b: PreparedTopology): number {
  return joinBudget((a.geometry.vertices.length + b.geometry.vertices.length) / 2)
}

/** Edges that touch the other geometry, as a join finds them. */
class Touched implements Touches {
  readonly own: Uint8Array
  readonly others: Uint8Array
  isAny = false

  constructor(a: PreparedTopology, b: PreparedTopology) {
    this.own = new Uint8Array(a.geometry.vertices.length / 2)
    this.others = new Uint8Array(b.geometry.vertices.length / 2)
  }

  add(own: number, others: number): void {
    this.own[own] = 1
    this.others[others] = 1
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

function meetsPoints(a: PreparedTopology, points: FlatGeometry, kernel: Kernel | undefined) {
  const end = visitPoints(a, points, kernel, (location) => location === 'exterior')
  return end === 'done' ? false : end === 'stopped' ? true : end
}

/**
 * Locates points one by one in the interior, boundary and exterior of a geometry, the union of its elements.
 *
 * @param visit answers false to stop
 * @returns undefined when the plane does not decide, touches when a sweep has to
 */
function visitPoints(
  a: PreparedTopology,
  points: FlatGeometry,
  kernel: Kernel | undefined,
  visit: (location: Location) => boolean,
): 'done' | 'stopped' | Touches | undefined {
  const { vertices } = points
  if (a.isOnePolygonal && !a.hasTree && vertices.length <= 2 * MAX_PASSES) {
    for (let i = 0; i < vertices.length; i += 2) {
      const { location, isClear } = passRings(a.geometry, vertices[i]!, vertices[i + 1]!, kernel)
      if (isClear) a.markClear()
      if (i === 0 && !isPlanarFor(a, points)) return visitOverSeam(a, points, visit)
      if (!visit(location)) return 'stopped'
    }
    return 'done'
  }
  // Before the marks, which it answers cheaply.
  const { tree } = a
  if (!isPlanarFor(a, points)) return visitOverSeam(a, points, visit)
  if (isPuntal(a) && tree.leafCount * vertices.length > 2 * MAX_LOOKS) return UNKNOWN
  const { ray } = a
  ray.effort = 0
  for (let i = 0; i < vertices.length; i += 2) {
    const location = locationOf(a, vertices[i]!, vertices[i + 1]!)
    if (location === undefined || LEAF_LOOKS * ray.effort > MAX_LOOKS) return UNKNOWN
    if (!visit(location)) return 'stopped'
  }
  return 'done'
}

/** The same where the plane does not decide: points of which it is sure that they lie inside or outside, over ±180. */
function visitOverSeam(
  a: PreparedTopology,
  { vertices }: FlatGeometry,
  visit: (location: Location) => boolean,
): 'done' | 'stopped' | undefined {
  const ray = a.seamRay
  if (ray === undefined) return undefined
  const effort = ray.effort
  for (let i = 0; i < vertices.length; i += 2) {
    if (Math.abs(vertices[i + 1]!) === 90) return undefined
    const location = ray.locate(vertices[i]!, vertices[i + 1]!)
    if (location === undefined || LEAF_LOOKS * (ray.effort - effort) > MAX_LOOKS) return undefined
    if (!visit(location)) return 'stopped'
  }
  return 'done'
}

/** Points tear nothing where a geometry keeps clear of the seam. */
function isPlanarFor(a: PreparedTopology, points: FlatGeometry): boolean {
  return a.marks === 0 || arePlanar(a.marks, globeMarksOf(points))
}

/** @returns undefined where edges of several polygonal elements meet: they may be inside the union, or not */
function locationOf(a: PreparedTopology, lon: number, lat: number): Location | undefined {
  if (a.isOnePolygonal) {
    const { isOnRing, isOdd } = a.ray.cast(lon, lat)
    return isOnRing ? 'boundary' : isOdd ? 'interior' : 'exterior'
  }
  if (a.hasPolygons) {
    const toPolygons = locationInElements(a, lon, lat)
    if (toPolygons !== 'exterior') return toPolygons
  }
  if (!a.hasLines && !a.hasPoints) return 'exterior'
  if (!isOnEdges(a.tree, lon, lat, a.hasPolygons ? a.isRing : undefined)) return 'exterior'
  return a.hasLines && a.lineBoundary.hasPlace(lon, lat) ? 'boundary' : 'interior'
}

function locationInElements(a: PreparedTopology, lon: number, lat: number): Location | undefined {
  const { elementStarts, elementTypes, partStarts } = a.geometry
  const sequences = a.ray.cast(lon, lat).sequences!
  a.ray.effort += sequences.length / LEAF_LOOKS
  let boundaries = 0
  for (let element = 0; element < elementTypes.length; element++) {
    if (!elementTypes[element]!.endsWith('Polygon')) continue
    let seen = 0
    const end = partStarts[elementStarts[element + 1]!]!
    for (let sequence = partStarts[elementStarts[element]!]!; sequence < end; sequence++) {
      seen = (seen ^ (sequences[sequence]! & ODD)) | (sequences[sequence]! & ON)
    }
    if ((seen & ON) !== 0) boundaries++
    else if (seen === ODD) return 'interior'
  }
  return boundaries === 0 ? 'exterior' : boundaries === 1 ? 'boundary' : undefined
}

/**
 * Looks for a sequence of one geometry that lies inside the polygons of another, or outside, when the two touch nowhere.
 *
 * @param isCounted by sequence: 0 for those left out; absent when all count
 */
function findSequence(
  polygons: PreparedTopology,
  { geometry }: PreparedTopology,
  isInside: boolean,
  isCounted?: Uint8Array,
): 'found' | 'none' | 'unknown' {
  const { ray } = polygons
  const { vertices, sequenceStarts } = geometry
  ray.effort = 0
  for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
    if (isCounted?.[sequence] === 0) continue
    const first = 2 * sequenceStarts[sequence]!
    if (isCovered(polygons, vertices[first]!, vertices[first + 1]!) === isInside) return 'found'
    if (LEAF_LOOKS * ray.effort > MAX_LOOKS) return 'unknown'
  }
  return 'none'
}

function isCovered(a: PreparedTopology, lon: number, lat: number): boolean {
  if (!a.isOnePolygonal) return locationInElements(a, lon, lat) !== 'exterior'
  const { isOnRing, isOdd } = a.ray.cast(lon, lat)
  return isOnRing || isOdd
}
