/** Bounds that prove that two nodes of the trees hold nothing nearer than the best, where the boxes' distance is too rough. */
import { best, bestChordSquare, found } from './best'
import { boxReach, boxSupport } from './box-tree'
import { longestOver, RLO, sagitta } from './ecef'
import { inverse } from './inverse'
import * as solution from './inverse'
import { cosx, sincosDegrees, sinx, square } from './math'
import { firstVertex, flagsOf, latAt, lengthOf, lonAt, Operand, positionAt } from './operand'
import { chordToEdge, toEdge } from './operand-edge'
import { b } from './series'
import { countSolutions } from './work'

/** Nodes larger than this, metres, are not bounded by `isFar`. */
const FAR_REACH: f64 = 5e5
/** What chords may leave open, metres, without anybody minding: best is below 20 km. */
const LITTLE: f64 = 1e-4
/** More than the kernels of lengths differ by, metres: what `isFar` finds is found again, and better, by the edges. */
const UNSURE: f64 = 1e-7

/**
 * Whether the geodesic between a vertex of each node proves that nothing nearer than `best` is in them; its own length is
 * a distance found.
 *
 * Chords over thousands of kilometres leave the distance open by kilometres (they do not know the curvature on the way),
 * and all pairs of two small distant geometries would have to be solved. The distance changes over the nodes by its first
 * variation and little more.
 */
export function isFar(
  p: Operand, levelP: i32, indexP: i32, boxP: usize, q: Operand, levelQ: i32, indexQ: i32, boxQ: usize,
): bool {
  isAnchored = false
  // What chords leave open: c ≈ s − s³/24R², and 1/R² differs by 1.35 % over the ellipsoid.
  const open = best < Infinity ? (0.0135 * best * best * best) / (24 * RLO * RLO) : FAR_REACH
  if (open < LITTLE) return false
  const v = centre(p, levelP, indexP)
  const w = centre(q, levelQ, indexQ)
  const atV = positionAt(p, v)
  const atW = positionAt(q, w)
  const reachP = boxReach(boxP, atV) * 1.001
  const reachQ = boxReach(boxQ, atW) * 1.001
  const reach = reachP + reachQ
  if (reach == 0 || reach > Math.min(16 * open, FAR_REACH)) return false
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
  found(distance + UNSURE)
  const farthest = distance + reachP + reachQ
  if (farthest > 0.98 * Math.PI * b) return distance - reachP - reachQ >= best
  changeP = variation(levelP == 0 ? 0 : boxP, atV, flagsOf(p, indexP), lat1, lon1, -salp1, -calp1, directionP)
  changeQ = variation(levelQ == 0 ? 0 : boxQ, atW, flagsOf(q, indexQ), lat2, lon2, salp2, calp2, directionQ)
  const second = secondVariation(distance, reachP, reachQ)
  const third = (reachP * square(reachP) + reachQ * square(reachQ)) / (6 * RLO * RLO)
  anchor = distance - second - third - 1e-7
  if (anchor + changeP + changeQ >= best) return true
  positionP = atV
  positionQ = atW
  isAnchored = true
  return false
}

/** Whether the last `isFar` solved a geodesic that bounds the distances in parts of its nodes too. */
export let isAnchored: bool = false
// Its length less what does not depend on the first variation, and that of each side, for the whole node and by direction.
let anchor: f64 = 0
let changeP: f64 = 0
let changeQ: f64 = 0
let positionP: usize = 0
let positionQ: usize = 0
const directionP: usize = memory.data(24, 8)
const directionQ: usize = memory.data(24, 8)

/** Lower bound of the distance, metres, between a child of one of the nodes of the last `isFar` and the whole other node. */
export function boundByAnchor(box: usize, isOfP: bool): f64 {
  return isOfP
    ? anchor + changeQ + support(box, positionP, directionP)
    : anchor + changeP + support(box, positionQ, directionQ)
}

@inline
function support(box: usize, position: usize, direction: usize): f64 {
  return boxSupport(box, position, load<f64>(direction), load<f64>(direction, 8), load<f64>(direction, 16))
}

/**
 * Bound of how much the second variation can shorten a distance r when its ends move by at most u and v.
 *
 * With y and z the sideways parts of the moves it is half of (M/m)·y² − (2/m)·y·z + (M'/m)·z², and Sturm's comparison as
 * in `point-edge.ts` gives M/m ≥ cot(r/b)/b and m ≥ b·sin(r/b). Either each term is bounded alone, or all together by
 * −tan(r/2b)/b · (y² + z²), which is better for short distances.
 */
function secondVariation(r: f64, u: f64, v: f64): f64 {
  const nearest = (r - u - v) / b
  const farthest = (r + u + v) / b
  const squares = u * u + v * v
  const together = Math.tan(farthest / 2) * squares
  if (nearest <= 0) return together / (2 * b)
  const sine = Math.min(Math.sin(nearest), Math.sin(farthest))
  const alone = Math.max(0, -Math.cos(farthest) / Math.sin(farthest)) * squares + (2 * u * v) / sine
  return Math.min(together, alone) / (2 * b)
}

/**
 * Whether a node lies farther than `best` from one edge: a long edge fills its box badly, so the node's middle is measured
 * against the edge itself, in space or, where that is too rough for the sagitta, along the ground.
 */
export function isBeside(operand: Operand, edge: i32, other: Operand, level: i32, index: i32, box: usize): bool {
  const v = centre(other, level, index)
  const position = positionAt(other, v)
  const reach = boxReach(box, position)
  const chord = chordToEdge(position, operand, edge) - reach
  if (chord > 0 && square(chord) >= bestChordSquare) return true
  if (flagsOf(operand, edge) == 0 || sagitta(lengthOf(operand, edge)) < reach) return false
  const ground = longestOver(reach)
  // A little more than what decides, so that a distance that was not sought to its end still does.
  const distance = toEdge(other, v, operand, edge, best + ground + 1e-4)
  found(distance)
  return distance - ground - 1e-5 >= best
}

/** A vertex in the middle of a node's edges. */
export function centre(operand: Operand, level: i32, index: i32): i32 {
  const width = 1 << (2 * level) // 4 to the level
  const first = index * width
  return firstVertex(operand, (first + min(first + width, operand.edgeCount)) >> 1)
}

/**
 * Least first-order change of a distance when its end moves from a position over a node; (salp, calp) points away.
 *
 * @param box of the node, or 0 for the edge with these flags that starts at the position: along an edge the change is
 *   linear, without the room that a box leaves for the sagitta
 * @param direction where to write the unit vector in which the distance grows
 */
function variation(
  box: usize, position: usize, flags: i32, lat: f64, lon: f64, salp: f64, calp: f64, direction: usize,
): f64 {
  sincosDegrees(lat, 0)
  const slat = sinx
  const clat = cosx
  sincosDegrees(lon, 0)
  const ux = -salp * sinx - calp * slat * cosx
  const uy = salp * cosx - calp * slat * sinx
  const uz = calp * clat
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
