/**
 * Least geodesic distance between two geometries, by branch and bound over their trees of boxes.
 *
 * The least distance of two geodesic edges that do not cross is attained at an end of one of them: between two inner
 * points a parallel displacement of both would shorten the way, because the curvature of the ellipsoid is positive. So a
 * pair of edges costs a crossing test and the distances from ends to edges, and any geometry is its edges and, for
 * polygons, what they contain.
 */
import { best, bestChordSquare, forget, found } from './best'
import { boxDistanceSquare, BOX_BYTES, boxSizeSquare, FANOUT, levelAt, levelSize } from './box-tree'
import { edgesCross, setCrossing } from './edge-crossing'
import { interiorsContain, prepareInteriors } from './interior-tree'
import { inverse } from './inverse'
import { square } from './math'
import { isBeside, isFar } from './node-bounds'
import { firstVertex, flagsOf, latAt, lengthOf, lonAt, Operand, OWNS_END, positionAt, startOf } from './operand'
import { chordToEdge, forgetEdge, toEdge } from './operand-edge'
import { allow, countLooks, countSolutions, isSpent } from './work'

/** Results of `minimumDistance` that are no distance. */
const OVER_LIMIT: f64 = -1
const OUT_OF_MEMORY: f64 = -2

/**
 * Open pairs of nodes: i32 level and index of both, then the square of their boxes' distance. A split adds at most three
 * and goes one level down, so 256 are more than two trees of 50,000 edges can need.
 */
const PAIR: usize = 24
const pairs: usize = memory.data(24 * 256)

/**
 * Least geodesic distance in metres between two operands of `prepareOperand`; 0 when they meet or one contains the other.
 *
 * @param units limit of the work: solutions of the inverse problem, and one for every 16 looks at boxes
 * @returns −1 when the limit is reached, −2 when the memory cannot grow
 */
export function minimumDistance(first: usize, second: usize, units: f64): f64 {
  const p = changetype<Operand>(first)
  const q = changetype<Operand>(second)
  allow(units)
  forget()
  forgetEdge()
  if (!prepareInteriors(p) || !prepareInteriors(q)) return OUT_OF_MEMORY
  if (holdsPartOf(p, q) || holdsPartOf(q, p)) return 0
  search(p, q)
  return isSpent() ? OVER_LIMIT : best
}

/** Whether a polygon of p contains the first vertex of a part of q. Parts that only cross are found by their edges. */
function holdsPartOf(p: Operand, q: Operand): bool {
  for (let part = 0; part < q.partCount && !isSpent(); part++) {
    const v = startOf(q.sequenceStarts, startOf(q.partStarts, part))
    if (interiorsContain(p, latAt(q, v), lonAt(q, v), positionAt(q, v))) return true
  }
  return false
}

/** Depth first, the nearer boxes first, so that `best` is good early. */
function search(p: Operand, q: Operand): void {
  store<i32>(pairs, p.levels - 1)
  store<i32>(pairs, 0, 4)
  store<i32>(pairs, q.levels - 1, 8)
  store<i32>(pairs, 0, 12)
  store<f64>(pairs, 0, 16)
  for (let open = 1; open > 0 && best > 0 && !isSpent(); ) {
    open--
    const at = pairs + <usize>open * PAIR
    if (load<f64>(at, 16) >= bestChordSquare) continue
    const levelP = load<i32>(at)
    const indexP = load<i32>(at, 4)
    const levelQ = load<i32>(at, 8)
    const indexQ = load<i32>(at, 12)
    const boxP = levelAt(p.boxes, p.edgeCount, levelP) + <usize>indexP * BOX_BYTES
    const boxQ = levelAt(q.boxes, q.edgeCount, levelQ) + <usize>indexQ * BOX_BYTES
    if (isFar(p, levelP, indexP, boxP, q, levelQ, indexQ, boxQ)) continue
    if (levelP == 0 && levelQ == 0) {
      edgePair(p, indexP, q, indexQ, load<f64>(at, 16) == 0)
    } else if (
      (levelP == 0 && isBeside(p, indexP, q, levelQ, indexQ, boxQ)) ||
      (levelQ == 0 && isBeside(q, indexQ, p, levelP, indexP, boxP))
    ) {
      continue
    } else if (levelQ == 0 || (levelP > 0 && boxSizeSquare(boxP) >= boxSizeSquare(boxQ))) {
      open = split(open, p, levelP, indexP, levelQ, indexQ, boxQ, 0)
    } else {
      open = split(open, q, levelQ, indexQ, levelP, indexP, boxP, 8)
    }
  }
}

/**
 * Replaces a pair by the pairs of one node's children with the other node, the nearest on top.
 *
 * @param offset where the node to split stands in a pair: 0 first, 8 second
 */
function split(
  open: i32, operand: Operand, level: i32, index: i32, otherLevel: i32, otherIndex: i32, otherBox: usize, offset: usize,
): i32 {
  const first = index * FANOUT
  const count = min(FANOUT, levelSize(operand.edgeCount, level - 1) - first)
  const boxes = levelAt(operand.boxes, operand.edgeCount, level - 1)
  const bottom = open
  countLooks(count)
  for (let child = first; child < first + count; child++) {
    const distance = boxDistanceSquare(boxes + <usize>child * BOX_BYTES, otherBox)
    if (distance >= bestChordSquare) continue
    let at = pairs + <usize>open * PAIR
    // Insertion from the top: the stack below keeps falling distances.
    for (let i = open; i > bottom && load<f64>(at - PAIR, 16) < distance; i--) {
      memory.copy(at, at - PAIR, PAIR)
      at -= PAIR
    }
    store<i32>(at + offset, level - 1)
    store<i32>(at + offset, child, 4)
    store<i32>(at + (8 - offset), otherLevel)
    store<i32>(at + (8 - offset), otherIndex, 4)
    store<f64>(at, distance, 16)
    open++
  }
  return open
}

/** Two edges: whether they cross, and the distances from the ends that each of them owns to the other. */
function edgePair(p: Operand, i: i32, q: Operand, j: i32, overlap: bool): void {
  const v = firstVertex(p, i)
  const w = firstVertex(q, j)
  const flagsP = flagsOf(p, i)
  const flagsQ = flagsOf(q, j)
  if (flagsP == 0 && flagsQ == 0) {
    countSolutions(1)
    found(inverse(latAt(p, v), lonAt(p, v), latAt(q, w), lonAt(q, w)))
    return
  }
  if (flagsQ != 0) fromEnds(p, v, flagsP, q, j)
  if (flagsP != 0 && best > 0) fromEnds(q, w, flagsQ, p, i)
  if (!overlap || flagsP == 0 || flagsQ == 0 || best == 0) return
  setSide(0, p, i)
  setSide(1, q, j)
  if (edgesCross()) found(0)
  forgetEdge()
}

function fromEnds(from: Operand, v: i32, flags: i32, operand: Operand, edge: i32): void {
  fromVertex(from, v, operand, edge)
  if ((flags & OWNS_END) != 0) fromVertex(from, v + 1, operand, edge)
}

function fromVertex(from: Operand, v: i32, operand: Operand, edge: i32): void {
  countLooks(1)
  const chord = chordToEdge(positionAt(from, v), operand, edge)
  if (chord > 0 && square(chord) >= bestChordSquare) return
  found(toEdge(from, v, operand, edge, best))
}

function setSide(which: i32, operand: Operand, edge: i32): void {
  const v = firstVertex(operand, edge)
  setCrossing(
    which, latAt(operand, v), lonAt(operand, v), positionAt(operand, v),
    latAt(operand, v + 1), lonAt(operand, v + 1), positionAt(operand, v + 1), lengthOf(operand, edge),
  )
}
