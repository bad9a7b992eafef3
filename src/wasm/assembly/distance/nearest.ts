/**
 * Least geodesic distance between two geometries, by branch and bound over their trees of boxes.
 *
 * If two geodesic edges do not cross, their least distance is attained at an end of one of them: between two inner
 * points, a parallel displacement of both would shorten the connection, because the curvature of the ellipsoid is
 * positive. So a pair of edges needs a crossing test and the distances from the ends to the other edge. Geometries are
 * compared by their edges and, for polygons, by containment.
 */

import { chordSquare, chordUpperBound, ECEF_BYTES, geodesicUpperBound, sagitta, segmentsDistanceSquare } from '../edges/ecef'
import { crossingPlace, edgesCross, setCrossing } from '../edges/edge-crossing'
import { fastInverse } from '../edges/general-edge'
import { Waypoint } from '../geodesic/direct'
import { square } from '../math/math'
import { countChecks, countSolutions, isOverLimit, startWork } from '../math/work'
import { boxDistanceSquare, boxSizeSquare, FANOUT } from './box-tree'
import { interiorsContain } from './interior-tree'
import { Best, boundByAnchor, isFar, isFarFromEdge, lowerBest, lowerBestTo, middleVertex, resetBest } from './node-bounds'
import {
  compareOperands,
  edgeFlags,
  edgeLength,
  firstVertex,
  latAt,
  levelSize,
  lonAt,
  nodeBox,
  Operand,
  OWNS_END,
  positionAt,
  startAt,
} from './operand'
import { chordToEdge, forgetEdge, isBeyond, placeNearest, toEdge } from './operand-edge'

/** Result of `minimumDistance` and `isWithin` when the work limit is reached. */
const OVER_LIMIT: i32 = -1
/** Results of `isWithin`. */
const BEYOND: i32 = 0
const WITHIN: i32 = 1
const UNDECIDED: i32 = 2

/** Rounding error of chords between vertices, metres. */
const CHORD_ROUNDING: f64 = 2e-8
/** Metres. Below this distance chords bound distances so tightly that edges are compared without further bounds. */
const SHORT_DISTANCE: f64 = 2e4

/**
 * Stack of the open pairs of nodes: i32 level and index of both nodes, then the square of the distance of their boxes.
 * A split adds at most three pairs and goes one level down, so 256 entries are more than two trees of sixteen levels
 * can need.
 */
const PAIR_BYTES: usize = 24
const pairs: usize = memory.data(24 * 256)

/** Buffers for the boxes of edges: one for each node of the current pair, and one for a child of either. */
const boxFirst: usize = memory.data(48, 16)
const boxSecond: usize = memory.data(48, 16)
const boxChild: usize = memory.data(48, 16)

/**
 * Returns the least geodesic distance in metres between two operands, 0 when they meet or one contains the other.
 * Swapping the operands changes no bit of the result.
 *
 * @param units work limit: one unit for each solution of the inverse problem, and one for every 16 box checks
 * @returns −1 when the limit is reached
 */
export function minimumDistance(first: usize, second: usize, units: f64): f64 {
  assert(first != 0 && second != 0, 'minimumDistance: an operand must be prepared')
  assert(units >= 0, 'minimumDistance: units must not be negative')
  const isOrdered = areOrdered(first, second)
  const p = changetype<Operand>(isOrdered ? first : second)
  const q = changetype<Operand>(isOrdered ? second : first)
  start(p, q, 0, Infinity, units)
  if (isOneInside(p, q)) return 0
  search(p, q, best)
  return isOverLimit() ? OVER_LIMIT : best.distance
}

/** Values of `best.edge` beside edges: the vertex is inside of the other operand; the edges cross. */
const INSIDE: i32 = -1
const CROSSING: i32 = -2

/**
 * Returns what `minimumDistance` returns, and stores the two places between which it is measured: a vertex of one operand
 * and the nearest point of an edge of the other. At distance 0 both are one place.
 *
 * @param onFirst where to store the place of the first operand; unchanged when the limit is reached
 */
export function nearestPlaces(first: usize, second: usize, units: f64, onFirst: Waypoint, onSecond: Waypoint): f64 {
  const distance = minimumDistance(first, second, units)
  if (distance < 0) return distance
  if (best.edge == CROSSING) {
    crossingPlace(onFirst)
    copyPlace(onFirst, onSecond)
    return distance
  }
  const from = changetype<Operand>(best.from)
  const onFrom = best.from == first ? onFirst : onSecond
  const onTo = best.from == first ? onSecond : onFirst
  onFrom.lat = latAt(from, best.vertex)
  onFrom.lon = lonAt(from, best.vertex)
  if (distance == 0) copyPlace(onFrom, onTo)
  else placeNearest(from, best.vertex, changetype<Operand>(best.to), best.edge, onTo)
  return distance
}

function copyPlace(from: Waypoint, to: Waypoint): void {
  to.lat = from.lat
  to.lon = from.lon
}

/**
 * Decides whether the distance of `minimumDistance` is at most a radius. It stops as soon as a bound or a single distance
 * decides, so it need not find the least distance.
 *
 * @param inner the radius minus the error of a distance, metres; a negative number counts as 0
 * @param outer the radius plus the error of a distance, metres
 * @returns 1 when the distance is at most `inner`, 0 when at least `outer`, 2 when between them, −1 when the limit is
 *   reached
 */
export function isWithin(first: usize, second: usize, inner: f64, outer: f64, units: f64): i32 {
  assert(first != 0 && second != 0, 'isWithin: an operand must be prepared')
  assert(inner < outer && outer > 0, 'isWithin: inner must be less than outer')
  assert(units >= 0, 'isWithin: units must not be negative')
  const isOrdered = areOrdered(first, second)
  const p = changetype<Operand>(isOrdered ? first : second)
  const q = changetype<Operand>(isOrdered ? second : first)
  start(p, q, Math.max(0, inner), outer, units)
  search(p, q, best)
  if (best.distance <= best.goodEnough) return WITHIN
  if (isOneInside(p, q)) return WITHIN
  return isOverLimit() ? OVER_LIMIT : best.distance < outer ? UNDECIDED : BEYOND
}

/** Operands are searched in an order that does not depend on the order of the arguments. */
function areOrdered(first: usize, second: usize): bool {
  return compareOperands(changetype<Operand>(first), changetype<Operand>(second)) <= 0
}

const best = changetype<Best>(memory.data(offsetof<Best>(), 8))

function start(p: Operand, q: Operand, inner: f64, outer: f64, units: f64): void {
  startWork(units)
  // Preparing counts in every search, so that the count does not depend on whether an operand was prepared before.
  countSolutions(p.solutions + q.solutions)
  resetBest(best, inner, outer)
  forgetEdge()
}

function isOneInside(p: Operand, q: Operand): bool {
  return containsPartOf(p, q) || containsPartOf(q, p)
}

/** Whether a polygon of p contains the first vertex of a part of q. The edges find all other intersections. */
function containsPartOf(p: Operand, q: Operand): bool {
  if (p.interiorCount == 0) return false
  for (let part = 0; part < q.partCount && !isOverLimit(); part++) {
    const v = startAt(q.sequenceStarts, startAt(q.partStarts, part))
    if (interiorsContain(p, latAt(q, v), lonAt(q, v), positionAt(q, v))) {
      best.from = changetype<usize>(q)
      best.vertex = v
      best.edge = INSIDE
      return true
    }
  }
  return false
}

/**
 * Lowers `best` to the least distance. The search goes depth first with the nearer boxes first, so that `best` falls
 * early.
 */
function search(p: Operand, q: Operand, best: Best): void {
  store<i32>(pairs, p.levelCount - 1)
  store<i32>(pairs, 0, 4)
  store<i32>(pairs, q.levelCount - 1, 8)
  store<i32>(pairs, 0, 12)
  store<f64>(pairs, 0, 16)
  for (let open = 1; open > 0 && best.distance > best.goodEnough && !isOverLimit(); ) {
    open--
    const entry = pairs + <usize>open * PAIR_BYTES
    if (load<f64>(entry, 16) >= best.chordSquare) continue
    const levelP = load<i32>(entry)
    const indexP = load<i32>(entry, 4)
    const levelQ = load<i32>(entry, 8)
    const indexQ = load<i32>(entry, 12)
    if (best.goodEnough > 0 && areWithin(p, levelP, indexP, q, levelQ, indexQ, best)) return
    if (
      levelP == 0 &&
      levelQ == 0 &&
      (edgeFlags(p, indexP) == 0 || edgeFlags(q, indexQ) == 0) &&
      best.distance < SHORT_DISTANCE
    ) {
      compareEdges(p, indexP, q, indexQ, false, best)
      continue
    }
    const boxP = nodeBox(p, levelP, indexP, boxFirst)
    const boxQ = nodeBox(q, levelQ, indexQ, boxSecond)
    if (isFar(p, levelP, indexP, boxP, q, levelQ, indexQ, boxQ, best)) continue
    if (levelP == 0 && levelQ == 0) {
      compareEdges(p, indexP, q, indexQ, load<f64>(entry, 16) == 0, best)
    } else if (
      (levelP == 0 && isFarFromEdge(p, indexP, q, levelQ, indexQ, boxQ, best)) ||
      (levelQ == 0 && isFarFromEdge(q, indexQ, p, levelP, indexP, boxP, best))
    ) {
    } else if (levelP + levelQ == 1 && best.distance < SHORT_DISTANCE) {
      if (levelP == 0) compareEdgeAndLeaf(p, indexP, boxP, q, indexQ, true, best)
      else compareEdgeAndLeaf(q, indexQ, boxQ, p, indexP, false, best)
    } else if (levelQ == 0 || (levelP > 0 && boxSizeSquare(boxP) >= boxSizeSquare(boxQ))) {
      open = split(open, p, levelP, indexP, levelQ, indexQ, boxQ, 0, best)
    } else {
      open = split(open, q, levelQ, indexQ, levelP, indexP, boxP, 8, best)
    }
  }
}

/** Whether the chord between one vertex of each node proves that they are near enough. If so, lowers `best` too. */
function areWithin(p: Operand, levelP: i32, indexP: i32, q: Operand, levelQ: i32, indexQ: i32, best: Best): bool {
  const chord = chordSquare(positionAt(p, middleVertex(p, levelP, indexP)), positionAt(q, middleVertex(q, levelQ, indexQ)))
  const goodEnough = best.goodEnough
  if (chord > goodEnough * goodEnough) return false
  const longest = geodesicUpperBound(Math.sqrt(chord) + CHORD_ROUNDING)
  if (longest > goodEnough) return false
  lowerBest(best, longest)
  return true
}

/**
 * Pushes the pairs of one node's children with the other node, the nearest on top. The caller has popped their pair.
 *
 * @param offset byte offset of the node to split within a pair: 0 for the first node, 8 for the second
 * @returns the new number of open pairs
 */
function split(
  open: i32,
  operand: Operand,
  level: i32,
  index: i32,
  otherLevel: i32,
  otherIndex: i32,
  otherBox: usize,
  offset: usize,
  best: Best,
): i32 {
  const first = index * FANOUT
  const count = min(FANOUT, levelSize(operand, level - 1) - first)
  const bottom = open
  countChecks(count)
  for (let child = first; child < first + count; child++) {
    const box = nodeBox(operand, level - 1, child, boxChild)
    let distance = boxDistanceSquare(box, otherBox)
    const bound = boundByAnchor(box, offset == 0)
    if (bound > 0) distance = Math.max(distance, square(chordUpperBound(bound)))
    if (distance >= best.chordSquare) continue
    let entry = pairs + <usize>open * PAIR_BYTES
    // Insertion sort: the new pairs stay in order of falling distance towards the top.
    for (let i = open; i > bottom && load<f64>(entry - PAIR_BYTES, 16) < distance; i--) {
      memory.copy(entry, entry - PAIR_BYTES, PAIR_BYTES)
      entry -= PAIR_BYTES
    }
    store<i32>(entry + offset, level - 1)
    store<i32>(entry + offset, child, 4)
    store<i32>(entry + (8 - offset), otherLevel)
    store<i32>(entry + (8 - offset), otherIndex, 4)
    store<f64>(entry, distance, 16)
    open++
  }
  return open
}

/** Compares an edge of one operand with the edges under a level 1 node of the other, without pushing pairs for them. */
function compareEdgeAndLeaf(
  operand: Operand,
  edge: i32,
  box: usize,
  other: Operand,
  index: i32,
  isFirst: bool,
  best: Best,
): void {
  const first = index * FANOUT
  const last = min(first + FANOUT, other.edgeCount)
  countChecks(last - first)
  for (let child = first; child < last && best.distance > best.goodEnough; child++) {
    const distance = boxDistanceSquare(nodeBox(other, 0, child, boxChild), box)
    if (distance >= best.chordSquare) continue
    if (isFirst) compareEdges(operand, edge, other, child, distance == 0, best)
    else compareEdges(other, child, operand, edge, distance == 0, best)
  }
}

/**
 * Compares two edges: lowers `best` to the distances from the ends that each of them owns to the other, and to 0 if
 * they cross.
 *
 * @param overlap whether their boxes overlap; otherwise they cannot cross
 */
function compareEdges(p: Operand, i: i32, q: Operand, j: i32, overlap: bool, best: Best): void {
  const v = firstVertex(p, i)
  const w = firstVertex(q, j)
  const flagsP = edgeFlags(p, i)
  const flagsQ = edgeFlags(q, j)
  if (flagsP == 0 && flagsQ == 0) {
    countSolutions(1)
    // By the method for lengths, so that the distance of two points has the same bits as the length of the line between
    // them.
    lowerBestTo(best, fastInverse(latAt(p, v), lonAt(p, v), latAt(q, w), lonAt(q, w)), p, v, q, j)
    return
  }
  if (flagsP != 0 && flagsQ != 0 && areChordsFar(p, i, q, j, best)) return
  if (flagsQ != 0) measureEnds(p, v, flagsP, q, j, best)
  if (flagsP != 0 && best.distance > best.goodEnough) measureEnds(q, w, flagsQ, p, i, best)
  if (!overlap || flagsP == 0 || flagsQ == 0 || best.distance <= best.goodEnough) return
  setCrossingEdge(0, p, i)
  setCrossingEdge(1, q, j)
  if (!edgesCross()) return
  lowerBest(best, 0)
  best.edge = CROSSING
}

/** Whether the chords of two edges prove that the edges are farther apart than `best`. */
function areChordsFar(p: Operand, i: i32, q: Operand, j: i32, best: Best): bool {
  const margin = sagitta(edgeLength(p, i)) + sagitta(edgeLength(q, j))
  const from = positionAt(p, firstVertex(p, i))
  const to = positionAt(q, firstVertex(q, j))
  const least = segmentsDistanceSquare(from, from + ECEF_BYTES, to, to + ECEF_BYTES)
  return least > square(Math.sqrt(best.chordSquare) + margin)
}

function measureEnds(from: Operand, v: i32, flags: i32, operand: Operand, edge: i32, best: Best): void {
  measureVertex(from, v, operand, edge, best)
  if ((flags & OWNS_END) != 0) measureVertex(from, v + 1, operand, edge, best)
}

function measureVertex(from: Operand, v: i32, operand: Operand, edge: i32, best: Best): void {
  countChecks(1)
  const chord = chordToEdge(positionAt(from, v), operand, edge)
  if (chord > 0 && square(chord) >= best.chordSquare) return
  if (isBeyond(operand, edge, best.distance)) return
  lowerBestTo(best, toEdge(from, v, operand, edge, best.distance), from, v, operand, edge)
}

function setCrossingEdge(which: i32, operand: Operand, edge: i32): void {
  const v = firstVertex(operand, edge)
  setCrossing(
    which,
    latAt(operand, v),
    lonAt(operand, v),
    positionAt(operand, v),
    latAt(operand, v + 1),
    lonAt(operand, v + 1),
    positionAt(operand, v + 1),
    edgeLength(operand, edge),
  )
}
