/**
 * Least geodesic distance between two geometries, by branch and bound over their trees of boxes.
 *
 * The least distance of two geodesic edges that do not cross is attained at an end of one of them: between two inner
 * points a parallel displacement of both would shorten the way, because the curvature of the ellipsoid is positive. So a
 * pair of edges costs a crossing test and the distances from ends to edges, and any geometry is its edges and, for
 * polygons, what they contain.
 */
import { best, bestChordSquare, enough, forget, found } from './best'
import { boxDistanceSquare, boxSizeSquare, FANOUT } from './box-tree'
import { chordSquare, chordUnder, ECEF_BYTES, longestOver, sagitta, segmentsDistanceSquare } from './ecef'
import { edgesCross, setCrossing } from './edge-crossing'
import { fastInverse } from './general-edge'
import { interiorsContain } from './interior-tree'
import { square } from './math'
import { boundByAnchor, centre, isAnchored, isBeside, isFar } from './node-bounds'
import {
  boxOf, compareOperands, firstVertex, flagsOf, latAt, lengthOf, levelSize, lonAt, Operand, OWNS_END, positionAt, startOf,
} from './operand'
import { chordToEdge, forgetEdge, isBeyondBest, toEdge } from './operand-edge'
import { allow, countLooks, countSolutions, isSpent } from './work'

/** The result of both searches when the limit of the work is reached. */
const OVER_LIMIT: i32 = -1
/** Results of `isWithin`. */
const BEYOND: i32 = 0
const WITHIN: i32 = 1
const UNDECIDED: i32 = 2

/** Rounding of chords between vertices, metres. */
const CHORD_ROUNDING: f64 = 2e-8
/** Below it, metres, chords say so much about a distance that nothing else need be asked first. */
const SHORT_WAY: f64 = 2e4

/**
 * Open pairs of nodes: i32 level and index of both, then the square of their boxes' distance. A split adds at most three
 * and goes one level down, so 256 are more than two trees of sixteen levels can need.
 */
const PAIR: usize = 24
const pairs: usize = memory.data(24 * 256)

/** Where the boxes of edges are written: the pair that is being looked at, and a child of one of them. */
const boxFirst: usize = memory.data(48, 16)
const boxSecond: usize = memory.data(48, 16)
const boxChild: usize = memory.data(48, 16)

/**
 * Least geodesic distance in metres between two operands; 0 when they meet or one contains the other. The same bits in
 * either order.
 *
 * @param units limit of the work: solutions of the inverse problem, and one for every 16 looks at boxes
 * @returns −1 when the limit is reached
 */
export function minimumDistance(first: usize, second: usize, units: f64): f64 {
  assert(first != 0 && second != 0, 'minimumDistance: an operand must be prepared')
  assert(units >= 0, 'minimumDistance: units must not be negative')
  order(first, second)
  start(0, Infinity, units)
  if (isOneInside()) return 0
  search(p, q)
  return isSpent() ? OVER_LIMIT : best
}

/**
 * Whether the distance of `minimumDistance` is at most a radius, where that is clear: without the least distance, and where
 * chords decide without any.
 *
 * @param inner the radius less what the distance may err by; negative when only contained geometries are so near
 * @param outer the radius and as much, metres
 * @returns 1 at most `inner`, 0 at least `outer`, 2 when it lies between them, −1 when the limit is reached
 */
export function isWithin(first: usize, second: usize, inner: f64, outer: f64, units: f64): i32 {
  assert(first != 0 && second != 0, 'isWithin: an operand must be prepared')
  assert(inner < outer && outer > 0, 'isWithin: inner must be less than outer')
  assert(units >= 0, 'isWithin: units must not be negative')
  order(first, second)
  start(Math.max(0, inner), outer, units)
  search(p, q)
  if (best <= enough) return WITHIN
  if (isOneInside()) return WITHIN
  return isSpent() ? OVER_LIMIT : best < outer ? UNDECIDED : BEYOND
}

// The operands in an order that does not depend on that of the arguments.
let p: Operand = changetype<Operand>(0)
let q: Operand = changetype<Operand>(0)

function order(first: usize, second: usize): void {
  const isOrdered = compareOperands(changetype<Operand>(first), changetype<Operand>(second)) <= 0
  p = changetype<Operand>(isOrdered ? first : second)
  q = changetype<Operand>(isOrdered ? second : first)
}

function start(inner: f64, outer: f64, units: f64): void {
  allow(units)
  forget(inner, outer)
  forgetEdge()
}

function isOneInside(): bool {
  return holdsPartOf(p, q) || holdsPartOf(q, p)
}

/** Whether a polygon of p contains the first vertex of a part of q. Parts that only cross are found by their edges. */
function holdsPartOf(p: Operand, q: Operand): bool {
  if (p.interiorCount == 0) return false
  for (let part = 0; part < q.partCount && !isSpent(); part++) {
    const v = startOf(q.sequenceStarts, startOf(q.partStarts, part))
    if (interiorsContain(p, latAt(q, v), lonAt(q, v), positionAt(q, v))) return true
  }
  return false
}

/** Depth first, the nearer boxes first, so that `best` is good early. */
function search(p: Operand, q: Operand): void {
  store<i32>(pairs, p.levelCount - 1)
  store<i32>(pairs, 0, 4)
  store<i32>(pairs, q.levelCount - 1, 8)
  store<i32>(pairs, 0, 12)
  store<f64>(pairs, 0, 16)
  for (let open = 1; open > 0 && best > enough && !isSpent(); ) {
    open--
    const at = pairs + <usize>open * PAIR
    if (load<f64>(at, 16) >= bestChordSquare) continue
    const levelP = load<i32>(at)
    const indexP = load<i32>(at, 4)
    const levelQ = load<i32>(at, 8)
    const indexQ = load<i32>(at, 12)
    if (enough > 0 && areWithin(p, levelP, indexP, q, levelQ, indexQ)) return
    if (levelP == 0 && levelQ == 0 && (flagsOf(p, indexP) == 0 || flagsOf(q, indexQ) == 0) && best < SHORT_WAY) {
      edgePair(p, indexP, q, indexQ, false)
      continue
    }
    const boxP = boxOf(p, levelP, indexP, boxFirst)
    const boxQ = boxOf(q, levelQ, indexQ, boxSecond)
    if (isFar(p, levelP, indexP, boxP, q, levelQ, indexQ, boxQ)) continue
    if (levelP == 0 && levelQ == 0) {
      edgePair(p, indexP, q, indexQ, load<f64>(at, 16) == 0)
    } else if (
      (levelP == 0 && isBeside(p, indexP, q, levelQ, indexQ, boxQ)) ||
      (levelQ == 0 && isBeside(q, indexQ, p, levelP, indexP, boxP))
    ) {
      continue
    } else if (levelP + levelQ == 1 && best < SHORT_WAY) {
      if (levelP == 0) edgeAndLeaf(p, indexP, boxP, q, indexQ, true)
      else edgeAndLeaf(q, indexQ, boxQ, p, indexP, false)
    } else if (levelQ == 0 || (levelP > 0 && boxSizeSquare(boxP) >= boxSizeSquare(boxQ))) {
      open = split(open, p, levelP, indexP, levelQ, indexQ, boxQ, 0)
    } else {
      open = split(open, q, levelQ, indexQ, levelP, indexP, boxP, 8)
    }
  }
}

/** Whether the chord between a vertex of each node proves that they are near enough; notes it then. */
function areWithin(p: Operand, levelP: i32, indexP: i32, q: Operand, levelQ: i32, indexQ: i32): bool {
  const chord = chordSquare(positionAt(p, centre(p, levelP, indexP)), positionAt(q, centre(q, levelQ, indexQ)))
  if (chord > enough * enough) return false
  const longest = longestOver(Math.sqrt(chord) + CHORD_ROUNDING)
  if (longest > enough) return false
  found(longest)
  return true
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
  const count = min(FANOUT, levelSize(operand, level - 1) - first)
  const bottom = open
  countLooks(count)
  for (let child = first; child < first + count; child++) {
    const box = boxOf(operand, level - 1, child, boxChild)
    let distance = boxDistanceSquare(box, otherBox)
    if (isAnchored) {
      const bound = boundByAnchor(box, offset == 0)
      if (bound > 0) distance = Math.max(distance, square(chordUnder(bound)))
    }
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

/** An edge of one operand and the edges under a node of level 1 of the other, without opening pairs for them. */
function edgeAndLeaf(operand: Operand, edge: i32, box: usize, other: Operand, index: i32, isFirst: bool): void {
  const first = index * FANOUT
  const last = min(first + FANOUT, other.edgeCount)
  countLooks(last - first)
  for (let child = first; child < last && best > enough; child++) {
    const distance = boxDistanceSquare(boxOf(other, 0, child, boxChild), box)
    if (distance >= bestChordSquare) continue
    if (isFirst) edgePair(operand, edge, other, child, distance == 0)
    else edgePair(other, child, operand, edge, distance == 0)
  }
}

/** Two edges: whether they cross, and the distances from the ends that each of them owns to the other. */
function edgePair(p: Operand, i: i32, q: Operand, j: i32, overlap: bool): void {
  const v = firstVertex(p, i)
  const w = firstVertex(q, j)
  const flagsP = flagsOf(p, i)
  const flagsQ = flagsOf(q, j)
  if (flagsP == 0 && flagsQ == 0) {
    countSolutions(1)
    // The kernel of lengths: the distance of two points is the length of the line between them, to the last bit.
    found(fastInverse(latAt(p, v), lonAt(p, v), latAt(q, w), lonAt(q, w)))
    return
  }
  if (flagsP != 0 && flagsQ != 0 && areChordsFar(p, i, q, j)) return
  if (flagsQ != 0) fromEnds(p, v, flagsP, q, j)
  if (flagsP != 0 && best > enough) fromEnds(q, w, flagsQ, p, i)
  if (!overlap || flagsP == 0 || flagsQ == 0 || best <= enough) return
  setSide(0, p, i)
  setSide(1, q, j)
  if (edgesCross()) found(0)
  forgetEdge()
}

/** Whether the chords of two edges prove that they lie farther apart than `best`. */
function areChordsFar(p: Operand, i: i32, q: Operand, j: i32): bool {
  const room = sagitta(lengthOf(p, i)) + sagitta(lengthOf(q, j))
  const from = positionAt(p, firstVertex(p, i))
  const to = positionAt(q, firstVertex(q, j))
  const least = segmentsDistanceSquare(from, from + ECEF_BYTES, to, to + ECEF_BYTES)
  return least > square(Math.sqrt(bestChordSquare) + room)
}

function fromEnds(from: Operand, v: i32, flags: i32, operand: Operand, edge: i32): void {
  fromVertex(from, v, operand, edge)
  if ((flags & OWNS_END) != 0) fromVertex(from, v + 1, operand, edge)
}

function fromVertex(from: Operand, v: i32, operand: Operand, edge: i32): void {
  countLooks(1)
  const chord = chordToEdge(positionAt(from, v), operand, edge)
  if (chord > 0 && square(chord) >= bestChordSquare) return
  if (isBeyondBest(operand, edge)) return
  found(toEdge(from, v, operand, edge, best))
}

function setSide(which: i32, operand: Operand, edge: i32): void {
  const v = firstVertex(operand, edge)
  setCrossing(
    which, latAt(operand, v), lonAt(operand, v), positionAt(operand, v),
    latAt(operand, v + 1), lonAt(operand, v + 1), positionAt(operand, v + 1), lengthOf(operand, edge),
  )
}
