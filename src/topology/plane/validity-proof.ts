import { spendWork } from '../../base/work.ts'
import { FILTER, orientation, SMALLEST_PRODUCT } from '../exact/exact.ts'
import { CROSSES_ANTIMERIDIAN, NORTH, SOUTH } from '../layout/unwrap.ts'
import { areRingsSimple } from './edge-join.ts'
import { EdgeRay, ODD } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'
import type { PreparedTopology } from './prepared.ts'

/** What `starMargin` returns for a ring that it cannot prove to be star-shaped. */
const NO_STAR = -1

/**
 * Tells whether a ring is star-shaped around the mean of its vertices: all edges run the same way around it, and the ring goes
 * around it once. Such a ring cannot intersect itself, because it has one position in each direction from the mean. Exact; ends
 * at the first edge that runs the other way.
 *
 * This is a proof of simplicity for jagged rings, for which boxes take long. Rings without it may be simple too.
 *
 * @param vertices interleaved lon, lat
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function isStarShaped(vertices: Float64Array, start: number, end: number): boolean {
  return starMargin(vertices, start, end) !== NO_STAR
}

/**
 * Does the same, and tells by how much: twice the area of the smallest triangle between an edge and the mean of the vertices.
 *
 * @returns square degrees, rounded; 0 when rounding decides about an edge; NO_STAR when the ring is not star-shaped
 */
function starMargin(vertices: Float64Array, start: number, end: number): number {
  // Each coordinate has two sums, because an addition waits for the previous one to the same sum.
  let lon = 0
  let lat = 0
  let otherLon = 0
  let otherLat = 0
  const last = end - 1
  for (let i = start + 1; i < last; i += 2) {
    lon += vertices[2 * i]!
    lat += vertices[2 * i + 1]!
    otherLon += vertices[2 * i + 2]!
    otherLat += vertices[2 * i + 3]!
  }
  if ((last - start) % 2 === 1) {
    lon += vertices[2 * last]!
    lat += vertices[2 * last + 1]!
  }
  lon = (lon + otherLon) / (last - start)
  lat = (lat + otherLat) / (last - start)
  let x1 = vertices[2 * start]!
  let y1 = vertices[2 * start + 1]!
  // 1 when the mean is to the left of the edges, −1 when it is to the right.
  let windingSign = 0
  // Crossings of the ray from the mean to the east: upward if windingSign is 1, downward if it is −1.
  let windings = 0
  let margin = Number.POSITIVE_INFINITY
  for (let i = 2 * start + 2; i < 2 * end; i += 2) {
    const x2 = vertices[i]!
    const y2 = vertices[i + 1]!
    const left = (x1 - lon) * (y2 - lat)
    const right = (y1 - lat) * (x2 - lon)
    const sum = Math.abs(left) + Math.abs(right)
    let side = left - right
    const size = Math.abs(side)
    if (sum > SMALLEST_PRODUCT && size > FILTER * sum) {
      if (size < margin) margin = size
    } else {
      side = orientation(x1, y1, x2, y2, lon, lat)
      if (side !== 0) margin = 0
    }
    if (side === 0) {
      // An edge of zero length has no side and does not matter.
      if (x1 !== x2 || y1 !== y2) return NO_STAR
    } else if (windingSign === 0) {
      windingSign = side > 0 ? 1 : -1
    } else if (side > 0 !== windingSign > 0) {
      return NO_STAR
    }
    if (windingSign > 0 ? y1 <= lat && y2 > lat : y1 > lat && y2 <= lat) windings++
    x1 = x2
    y1 = y2
  }
  return windings === 1 ? margin : NO_STAR
}

/** Edges visited while rings are located one by one: about 10 ms. */
const MAX_VISITED_EDGES = 2_000_000
const EDGES_PER_LEAF = 8
/** Nodes visited by rays that count as one unit of work. */
const NODES_PER_UNIT = 64
/** Comparisons of boxes per edge that an attempt is worth. Smooth rings need 1 to 10, jagged ones up to 50. */
const EFFORT_PER_EDGE = 60

/**
 * Tries to prove that a Polygon or MultiPolygon is valid in the simplest way: in the plane, its rings touch neither themselves
 * nor each other, and each lies where it belongs. Most received polygons are like this, and the proof needs no segment set.
 *
 * @returns false when the polygon is invalid or the proof fails; then another check has to decide and name the location
 */
export function isProvablyValid(prepared: PreparedTopology, element: number): boolean {
  const { elementStarts, partStarts, sequenceStarts, vertices } = prepared.geometry
  const firstSequence = partStarts[elementStarts[element]!]!
  const endSequence = partStarts[elementStarts[element + 1]!]!
  const isOnlyElement = prepared.isOnePolygonal
  const tree = isOnlyElement ? prepared.tree : new EdgeTree(prepared.geometry, firstSequence, endSequence)
  if (!tree.isSurelyPlanar) {
    if (!isOnlyElement || (prepared.globeFlags & (NORTH | SOUTH)) !== 0) return false
    if ((prepared.globeFlags & CROSSES_ANTIMERIDIAN) !== 0) {
      const moved = prepared.mayBeCut ? undefined : prepared.eastward
      return moved !== undefined && isProvablyValid(moved, element)
    }
  }
  const isStar = new Uint8Array(endSequence)
  for (let sequence = firstSequence; sequence < endSequence; sequence++) {
    const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
    if (isSinglePoint(vertices, start, end)) return false
    const margin = starMargin(vertices, start, end)
    if (margin === NO_STAR) continue
    if (endSequence - firstSequence === 1) {
      if (isOnlyElement) prepared.starMargin = margin
      return true
    }
    isStar[sequence] = 1
  }
  const edges = sequenceStarts[endSequence]! - sequenceStarts[firstSequence]!
  if (!areRingsSimple(tree, isStar, EFFORT_PER_EDGE * edges + 1000)) return false
  return endSequence - firstSequence === 1 || areRingsInPlace(prepared, tree, element)
}

function isSinglePoint(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) {
    if (vertices[2 * i] !== vertices[2 * start] || vertices[2 * i + 1] !== vertices[2 * start + 1]) return false
  }
  return true
}

/**
 * Tells, of rings that do not touch, whether every exterior ring lies outside all polygons and every hole inside its own polygon
 * only.
 */
function areRingsInPlace({ geometry }: PreparedTopology, tree: EdgeTree, element: number): boolean {
  const { elementStarts, partStarts, sequenceStarts, vertices } = geometry
  const ray = new EdgeRay(tree, true)
  const partOf = new Int32Array(sequenceStarts.length - 1)
  for (let part = elementStarts[element]!; part < elementStarts[element + 1]!; part++) {
    partOf.fill(part, partStarts[part]!, partStarts[part + 1]!)
  }
  for (let part = elementStarts[element]!; part < elementStarts[element + 1]!; part++) {
    const exterior = partStarts[part]!
    for (let sequence = exterior; sequence < partStarts[part + 1]!; sequence++) {
      const first = 2 * sequenceStarts[sequence]!
      ray.cast(vertices[first]!, vertices[first + 1]!)
      let depth = 0
      let ownDepth = 0
      for (const other of ray.flaggedSequences) {
        if (other === sequence || (ray.flagsBySequence![other]! & ODD) === 0) continue
        const step = other === partStarts[partOf[other]!]! ? 1 : -1
        depth += step
        if (partOf[other] === part) ownDepth += step
      }
      const expected = sequence === exterior ? 0 : 1
      spendWork(1 / 4 + ray.visitedNodes / NODES_PER_UNIT)
      ray.visitedNodes = 0
      if (depth !== expected || ownDepth !== expected || EDGES_PER_LEAF * ray.openedLeaves > MAX_VISITED_EDGES)
        return false
    }
  }
  return true
}
