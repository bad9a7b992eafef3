import { areRingsSimple } from './edge-join.ts'
import { EdgeRay, ODD } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'
import { CROSSES_ANTIMERIDIAN, NORTH, SOUTH } from './plane.ts'
import type { PreparedTopology } from './prepared.ts'
import { NO_STAR, starMargin } from './star-shaped.ts'

/** Edges visited while rings are located one by one: about 10 ms. */
const MAX_VISITED_EDGES = 2_000_000
const EDGES_PER_LEAF = 8
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
  if (!tree.isSurelyPlanar && (!isOnlyElement || (prepared.marks & (CROSSES_ANTIMERIDIAN | NORTH | SOUTH)) !== 0))
    return false
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
      if (depth !== expected || ownDepth !== expected || EDGES_PER_LEAF * ray.openedLeaves > MAX_VISITED_EDGES)
        return false
    }
  }
  return true
}
