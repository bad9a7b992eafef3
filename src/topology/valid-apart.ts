import { areRingsSimple } from './edge-join.ts'
import { EdgeRay, ODD } from './edge-ray.ts'
import { EdgeTree } from './edge-tree.ts'
import { JUMPS, NORTH, SOUTH } from './plane.ts'
import type { PreparedTopology } from './prepared.ts'
import { NO_STAR, starMargin } from './star-shaped.ts'

/** Edges looked at while locating rings one by one: about 10 ms. */
const MAX_LOOKS = 2_000_000
const LEAF_LOOKS = 8
/** Comparisons of boxes that an attempt is worth: smooth rings need 1 to 10 an edge, jagged ones up to 50. */
const EFFORT_PER_EDGE = 60

/**
 * Whether a Polygon or MultiPolygon is valid in the simplest way: in the plane, rings that touch neither themselves nor each
 * other, each in its place. It is most of what is sent, and needs no scene.
 *
 * @returns false when it is not, or not certainly: another has to judge, and names the place
 */
export function isValidApart(prepared: PreparedTopology, element: number): boolean {
  const { elementStarts, partStarts, sequenceStarts, vertices } = prepared.geometry
  const firstSequence = partStarts[elementStarts[element]!]!
  const endSequence = partStarts[elementStarts[element + 1]!]!
  const isAlone = prepared.isOnePolygonal
  const tree = isAlone ? prepared.tree : new EdgeTree(prepared.geometry, firstSequence, endSequence)
  if (!tree.isClearOfSeam && (!isAlone || (prepared.marks & (JUMPS | NORTH | SOUTH)) !== 0)) return false
  const isStar = new Uint8Array(endSequence)
  for (let sequence = firstSequence; sequence < endSequence; sequence++) {
    const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
    if (isOnePlace(vertices, start, end)) return false
    const margin = starMargin(vertices, start, end)
    if (margin === NO_STAR) continue
    if (endSequence - firstSequence === 1) {
      if (isAlone) prepared.starMargin = margin
      return true
    }
    isStar[sequence] = 1
  }
  const edges = sequenceStarts[endSequence]! - sequenceStarts[firstSequence]!
  if (!areRingsSimple(tree, isStar, EFFORT_PER_EDGE * edges + 1000)) return false
  return endSequence - firstSequence === 1 || areRingsInPlace(prepared, tree, element)
}

function isOnePlace(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) {
    if (vertices[2 * i] !== vertices[2 * start] || vertices[2 * i + 1] !== vertices[2 * start + 1]) return false
  }
  return true
}

/** Rings that touch nowhere: every exterior ring outside of all polygons, every hole inside its own alone. */
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
      let covering = 0
      let own = 0
      for (const other of ray.seen) {
        if (other === sequence || (ray.sequences![other]! & ODD) === 0) continue
        const step = other === partStarts[partOf[other]!]! ? 1 : -1
        covering += step
        if (partOf[other] === part) own += step
      }
      const wanted = sequence === exterior ? 0 : 1
      if (covering !== wanted || own !== wanted || LEAF_LOOKS * ray.effort > MAX_LOOKS) return false
    }
  }
  return true
}
