/**
 * Least geodesic distance between two geometries, by branch and bound over their trees of boxes.
 *
 * The least distance of two geodesic edges that do not cross is attained at an end of one of them: between two inner
 * points a parallel displacement of both would shorten the way, because the curvature of the ellipsoid is positive. So a
 * pair of edges costs a crossing test and the distances from ends to edges, and any geometry is its edges and, for
 * polygons, what they contain.
 */
import { boxDistanceSquare, BOX_BYTES, boxReach, boxSizeSquare, boxSupport, FANOUT, levelAt, levelSize } from './box-tree'
import { chordUnder, ECEF_BYTES, RLO, sagitta, segmentDistanceSquare } from './ecef'
import { edgesCross, setCrossing } from './edge-crossing'
import { polygonContains, prepareRings } from './geodesic-containment'
import { inverse } from './inverse'
import * as solution from './inverse'
import { cosx, sincosDegrees, sinx, square } from './math'
import { firstVertex, flagsOf, latAt, lengthBound, lonAt, Operand, OWNS_END, positionAt, startOf } from './operand'
import { distanceToEdge, setEdge } from './point-edge'
import { b } from './series'
import { allow, countLooks, countSolutions, isSpent } from './work'

/** Results of `minimumDistance` that are no distance. */
const OVER_LIMIT: f64 = -1
const OUT_OF_MEMORY: f64 = -2

/** Nodes larger than this, metres, are not bounded by `farBound`. */
const FAR_REACH: f64 = 5e5

/** The least distance found, metres, and the square of a chord that any lower one must be shorter than. */
let best: f64 = 0
let bestChordSquare: f64 = 0

// The edge that `setEdge` and the like were last called for.
let edgeOperand: usize = 0
let edgeIndex: i32 = -1

/**
 * Open pairs of nodes: i32 level and index of both, then the square of their boxes' distance. A split adds at most three
 * and goes one level down, so 256 are more than two trees of 50,000 edges can need.
 */
const PAIR: usize = 24
const pairs: usize = memory.data(24 * 256)

function found(distance: f64): void {
  if (distance >= best) return
  best = distance
  bestChordSquare = distance == 0 ? 0 : square(chordUnder(distance))
}

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
  best = Infinity
  bestChordSquare = Infinity
  edgeOperand = 0
  if (!prepareRings(p) || !prepareRings(q)) return OUT_OF_MEMORY
  if (holdsPartOf(p, q) || holdsPartOf(q, p)) return 0
  search(p, q)
  return isSpent() ? OVER_LIMIT : best
}

/** Whether a polygon of p contains the first vertex of a part of q. Parts that only cross are found by their edges. */
function holdsPartOf(p: Operand, q: Operand): bool {
  for (let container = 0; container < p.partCount && !isSpent(); container++) {
    if (startOf(p.partDimensions, container) != 2) continue
    for (let part = 0; part < q.partCount; part++) {
      const v = startOf(q.sequenceStarts, startOf(q.partStarts, part))
      if (polygonContains(p, container, latAt(q, v), lonAt(q, v))) return true
    }
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

/**
 * Whether the geodesic between a vertex of each node proves that nothing nearer than `best` is in them; its own length is
 * a distance found.
 *
 * Chords over thousands of kilometres leave the distance open by kilometres (they do not know the curvature on the way),
 * and all pairs of two small distant geometries would have to be solved. The distance changes over the nodes by its first
 * variation and at most −tan(r/2b)/2b · (ra² + rb²), with r the greatest distance in question (from the second variation
 * and Sturm's comparison as in `point-edge.ts`, with the term that couples both ends).
 */
function isFar(
  p: Operand, levelP: i32, indexP: i32, boxP: usize, q: Operand, levelQ: i32, indexQ: i32, boxQ: usize,
): bool {
  // What chords leave open: c ≈ s − s³/24R², and 1/R² differs by 1.35 % over the ellipsoid.
  const open = best < Infinity ? (0.0135 * best * best * best) / (24 * RLO * RLO) : FAR_REACH
  const v = centre(p, levelP, indexP)
  const w = centre(q, levelQ, indexQ)
  const atV = positionAt(p, v)
  const atW = positionAt(q, w)
  const reachP = boxReach(boxP, atV) * 1.001
  const reachQ = boxReach(boxQ, atW) * 1.001
  if (reachP + reachQ > Math.min(4 * open, FAR_REACH)) return false
  const lat1 = latAt(p, v)
  const lon1 = lonAt(p, v)
  const lat2 = latAt(q, w)
  const lon2 = lonAt(q, w)
  const distance = inverse(lat1, lon1, lat2, lon2)
  const salp1 = solution.salp1
  const calp1 = solution.calp1
  const salp2 = solution.salp2
  const calp2 = solution.calp2
  countSolutions(1)
  found(distance)
  if (reachP == 0 && reachQ == 0) return true
  const farthest = distance + reachP + reachQ
  if (farthest > 0.97 * Math.PI * b) return distance - reachP - reachQ >= best
  const change = variation(boxP, atV, lat1, lon1, -salp1, -calp1) + variation(boxQ, atW, lat2, lon2, salp2, calp2)
  const second = (Math.tan(farthest / (2 * b)) / (2 * b)) * (square(reachP) + square(reachQ))
  const third = (reachP * square(reachP) + reachQ * square(reachQ)) / (6 * RLO * RLO)
  return distance + change - second - third - 1e-7 >= best
}

/** A vertex in the middle of a node's edges. */
function centre(operand: Operand, level: i32, index: i32): i32 {
  const width = 1 << (2 * level) // 4 to the level
  const first = index * width
  return firstVertex(operand, (first + min(first + width, operand.edgeCount)) >> 1)
}

/** Least first-order change of a distance over a box when its end moves from a position: (salp, calp) points away. */
function variation(box: usize, position: usize, lat: f64, lon: f64, salp: f64, calp: f64): f64 {
  sincosDegrees(lat, 0)
  const slat = sinx
  const clat = cosx
  sincosDegrees(lon, 0)
  return boxSupport(
    box, position, -salp * sinx - calp * slat * cosx, salp * cosx - calp * slat * sinx, calp * clat,
  )
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
  setSide(0, p, v)
  setSide(1, q, w)
  if (edgesCross()) found(0)
}

function fromEnds(from: Operand, v: i32, flags: i32, operand: Operand, edge: i32): void {
  fromVertex(from, v, operand, edge)
  if ((flags & OWNS_END) != 0) fromVertex(from, v + 1, operand, edge)
}

function fromVertex(from: Operand, v: i32, operand: Operand, edge: i32): void {
  const w = firstVertex(operand, edge)
  const position = positionAt(from, v)
  const start = positionAt(operand, w)
  const end = start + ECEF_BYTES
  countLooks(1)
  const chord = Math.sqrt(segmentDistanceSquare(position, start, end)) - sagitta(lengthBound(operand, w))
  if (chord > 0 && square(chord) >= bestChordSquare) return
  if (edgeOperand != changetype<usize>(operand) || edgeIndex != edge) {
    setEdge(latAt(operand, w), lonAt(operand, w), start, latAt(operand, w + 1), lonAt(operand, w + 1), end)
    edgeOperand = changetype<usize>(operand)
    edgeIndex = edge
  }
  found(distanceToEdge(latAt(from, v), lonAt(from, v), position))
}

function setSide(which: i32, operand: Operand, v: i32): void {
  setCrossing(
    which, latAt(operand, v), lonAt(operand, v), positionAt(operand, v),
    latAt(operand, v + 1), lonAt(operand, v + 1), positionAt(operand, v + 1), lengthBound(operand, v),
  )
}
