/**
 * Lower bounds of the distance between two nodes of the trees, for pairs whose boxes give too loose a bound. They prove
 * that a pair of nodes holds nothing nearer than `best`.
 */

import { chordUpperBound, geodesicUpperBound, RLO, sagitta } from '../edges/ecef'
import { Geodesic, inverse } from '../geodesic/inverse'
import { b } from '../geodesic/series'
import { SineCosine, sincosDegrees, square } from '../math/math'
import { countSolutions } from '../math/work'
import { boxReach, boxSupport } from './box-tree'
import { edgeFlags, edgeLength, firstVertex, latAt, lonAt, Operand, positionAt } from './operand'
import { chordToEdge, toEdge } from './operand-edge'

/** What a search for the least distance has found so far, and when it may stop. Distances in metres. */
@unmanaged
export class Best {
  distance: f64
  /** Square of an upper bound of the chord under `distance`: a lesser distance has a shorter chord. */
  chordSquare: f64
  /** The search may stop as soon as `distance` is at most this. */
  goodEnough: f64
  /** Where the distance was measured: from a vertex of one operand to an edge of the other. */
  from: usize
  vertex: i32
  to: usize
  edge: i32
}

/**
 * Starts a search. It ends at the first distance of at most `inner` and ignores distances of at least `outer`. 0 and
 * Infinity search for the least distance.
 */
export function resetBest(best: Best, inner: f64, outer: f64): void {
  best.distance = outer
  best.chordSquare = outer < Infinity ? square(chordUpperBound(outer)) : Infinity
  best.goodEnough = inner
}

/** Lowers the best distance to `distance`, which is between two points of the geometries, if that is smaller. */
export function lowerBest(best: Best, distance: f64): void {
  if (distance >= best.distance) return
  best.distance = distance
  best.chordSquare = distance == 0 ? 0 : square(chordUpperBound(distance))
}

/** As `lowerBest`, for the distance from a vertex to an edge. Remembers both. */
export function lowerBestTo(best: Best, distance: f64, from: Operand, vertex: i32, to: Operand, edge: i32): void {
  if (distance >= best.distance) return
  lowerBest(best, distance)
  best.from = changetype<usize>(from)
  best.vertex = vertex
  best.to = changetype<usize>(to)
  best.edge = edge
}

/** Nodes larger than this, metres, are not bounded by `isFar`. */
const FAR_REACH: f64 = 5e5
/** Metres. Bounds by chords suffice while their uncertainty is below this, as it is while `best` is below 20 km. */
const ACCURATE_CHORD: f64 = 1e-4
/** Metres, a little less than πb. */
const UNIQUE_TO: f64 = 0.9999 * Math.PI * b
/**
 * Metres. The methods for lengths differ by less than this. It is added to the distances that `isFar` reports, so that
 * the comparison of edges, which gives the exact result, finds a lower one.
 */
const METHOD_DIFFERENCE: f64 = 1e-7

/**
 * Whether the geodesic between one vertex of each node proves that the nodes hold nothing nearer than `best`. Its
 * length also lowers `best`.
 *
 * A chord over thousands of kilometres determines the geodesic distance only within kilometres, because it does not
 * reveal the curvature on the way. With chords only, all pairs of edges of two small distant geometries would have to
 * be solved. Over the nodes, the distance differs from the length of that one geodesic by its first variation (the
 * cosines of the angles at both ends times the moves of the ends) and a small second variation, both of which are
 * bounded here.
 */
export function isFar(
  p: Operand,
  levelP: i32,
  indexP: i32,
  boxP: usize,
  q: Operand,
  levelQ: i32,
  indexQ: i32,
  boxQ: usize,
  best: Best,
): bool {
  anchor.isSet = false
  // The uncertainty of a distance bounded by a chord: c ≈ s − s³/24R², and 1/R² varies by 1.35 % over the ellipsoid.
  const d = best.distance
  const uncertainty = d < Infinity ? (0.0135 * d * d * d) / (24 * RLO * RLO) : FAR_REACH
  if (uncertainty < ACCURATE_CHORD) return false
  const v = middleVertex(p, levelP, indexP)
  const w = middleVertex(q, levelQ, indexQ)
  const atV = positionAt(p, v)
  const atW = positionAt(q, w)
  const reachP = boxReach(boxP, atV) * 1.001
  const reachQ = boxReach(boxQ, atW) * 1.001
  const reach = reachP + reachQ
  if (reach == 0 || reach > Math.min(16 * uncertainty, FAR_REACH)) return false
  const lat1 = latAt(p, v)
  const lon1 = lonAt(p, v)
  const lat2 = latAt(q, w)
  const lon2 = lonAt(q, w)
  const distance = inverse(lat1, lon1, lat2, lon2, geodesic)
  countSolutions(1)
  lowerBest(best, distance + METHOD_DIFFERENCE)
  const farthest = distance + reachP + reachQ
  if (distance - reachP - reachQ >= best.distance) return true
  // Up to πb every geodesic is the only shortest one between its ends, and its length has the bounds below: no point has a greater
  // curvature than 1/b² (Klingenberg 1959; half of the shortest closed geodesic, a meridian, is longer).
  if (farthest > UNIQUE_TO) return false
  const flagsP = edgeFlags(p, indexP)
  const flagsQ = edgeFlags(q, indexQ)
  const salp1 = geodesic.salp1
  const calp1 = geodesic.calp1
  const changeP = variation(levelP == 0 ? 0 : boxP, atV, flagsP, lat1, lon1, -salp1, -calp1, directionP)
  const changeQ = variation(levelQ == 0 ? 0 : boxQ, atW, flagsQ, lat2, lon2, geodesic.salp2, geodesic.calp2, directionQ)
  const second = secondVariation(distance, reachP, reachQ)
  const third = (reachP * square(reachP) + reachQ * square(reachQ)) / (6 * RLO * RLO)
  // The error of an azimuth moves the far end of a line by nanometres. Near the antipode, lines of quite different azimuths end there.
  const azimuths = 1e-7 * Math.max(1, reach / (2 * geodesic.m12))
  const least = distance - second - third - azimuths
  if (least + changeP + changeQ >= best.distance) return true
  anchor.isSet = true
  anchor.least = least
  anchor.changeP = changeP
  anchor.changeQ = changeQ
  anchor.positionP = atV
  anchor.positionQ = atW
  return false
}

/** What the geodesic of `isFar` tells about the children of its two nodes. */
@unmanaged
class Anchor {
  /** Whether the last `isFar` solved a geodesic that bounds the distances of the children. */
  isSet: bool
  /** Length of the geodesic minus bounds of the second variation and of higher terms. */
  least: f64
  /** For each side: the least first variation over the whole node, and the vertex that was used. */
  changeP: f64
  changeQ: f64
  positionP: usize
  positionQ: usize
}

const anchor = changetype<Anchor>(memory.data(offsetof<Anchor>(), 8))
const geodesic = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))
const phi = changetype<SineCosine>(memory.data(offsetof<SineCosine>(), 8))
const lambda = changetype<SineCosine>(memory.data(offsetof<SineCosine>(), 8))
/** For each side: at the anchor's vertex, the unit vector of the direction in which the distance grows. */
const directionP: usize = memory.data(24, 8)
const directionQ: usize = memory.data(24, 8)

/**
 * Lower bound of the distance in metres between a child of one node of the last `isFar` and the whole other node; 0
 * when that call gives none.
 */
export function boundByAnchor(box: usize, isOfP: bool): f64 {
  if (!anchor.isSet) return 0
  return isOfP
    ? anchor.least + anchor.changeQ + support(box, anchor.positionP, directionP)
    : anchor.least + anchor.changeP + support(box, anchor.positionQ, directionQ)
}

@inline
function support(box: usize, position: usize, direction: usize): f64 {
  return boxSupport(box, position, load<f64>(direction), load<f64>(direction, 8), load<f64>(direction, 16))
}

/**
 * Upper bound of how much the second variation can shorten a distance r when its ends move by at most u and v.
 *
 * With y and z the sideways components of the moves, the second variation is half of (M/m)·y² − (2/m)·y·z + (M'/m)·z².
 * Sturm's comparison theorem, as in point-edge.ts, gives M/m ≥ cot(r/b)/b and m ≥ b·sin(r/b). The three terms are
 * bounded one by one, or together by −tan(r/2b)/b · (y² + z²), which is better for short distances; the result is the
 * better of both.
 */
function secondVariation(r: f64, u: f64, v: f64): f64 {
  const nearest = (r - u - v) / b
  const farthest = (r + u + v) / b
  const squares = u * u + v * v
  const together = Math.tan(farthest / 2) * squares
  if (nearest <= 0) return together / (2 * b)
  const sine = Math.min(Math.sin(nearest), Math.sin(farthest))
  const separate = Math.max(0, -Math.cos(farthest) / Math.sin(farthest)) * squares + (2 * u * v) / sine
  return Math.min(together, separate) / (2 * b)
}

/**
 * Whether a node is farther than `best` from one edge. The box of a long edge is a poor bound, so a vertex in the
 * middle of the node is measured against the edge itself: by chords in space, and if the sagitta makes them too rough,
 * by the geodesic distance.
 */
export function isFarFromEdge(operand: Operand, edge: i32, other: Operand, level: i32, index: i32, box: usize, best: Best): bool {
  const v = middleVertex(other, level, index)
  const position = positionAt(other, v)
  const reach = boxReach(box, position)
  const chord = chordToEdge(position, operand, edge) - reach
  if (chord > 0 && square(chord) >= best.chordSquare) return true
  if (edgeFlags(operand, edge) == 0 || sagitta(edgeLength(operand, edge)) < reach) return false
  const ground = geodesicUpperBound(reach)
  // `toEdge` may stop early with any value not below its cutoff. The cutoff is a little higher than needed, so such a
  // value still makes the comparison below true.
  const distance = toEdge(other, v, operand, edge, best.distance + ground + 1e-4)
  lowerBestTo(best, distance, other, v, operand, edge)
  return distance - ground - 1e-5 >= best.distance
}

/** The first vertex of the middle edge of a node. */
export function middleVertex(operand: Operand, level: i32, index: i32): i32 {
  const width = 1 << (2 * level) // 4 to the level
  const first = index * width
  return firstVertex(operand, (first + min(first + width, operand.edgeCount)) >> 1)
}

/**
 * Returns the least first-order change of a distance when its end moves from a position to any point of a node. The
 * azimuth (salp, calp) at the position points away from the other end.
 *
 * @param box of the node, or 0 for the edge with these flags that starts at the position: the change along an edge is
 *   linear in its chord, so the box's margin for the sagitta is not needed
 * @param direction where to write the unit vector of the direction in which the distance grows
 */
function variation(box: usize, position: usize, flags: i32, lat: f64, lon: f64, salp: f64, calp: f64, direction: usize): f64 {
  sincosDegrees(lat, 0, phi)
  sincosDegrees(lon, 0, lambda)
  const ux = -salp * lambda.sine - calp * phi.sine * lambda.cosine
  const uy = salp * lambda.cosine - calp * phi.sine * lambda.sine
  const uz = calp * phi.cosine
  store<f64>(direction, ux)
  store<f64>(direction, uy, 8)
  store<f64>(direction, uz, 16)
  if (box != 0) return boxSupport(box, position, ux, uy, uz)
  if (flags == 0) return 0
  const x = load<f64>(position, 24) - load<f64>(position)
  const y = load<f64>(position, 32) - load<f64>(position, 8)
  const z = load<f64>(position, 40) - load<f64>(position, 16)
  return Math.min(0, ux * x + uy * y + uz * z)
}
