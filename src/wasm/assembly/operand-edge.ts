/** Distances between positions and the edges of an operand. */
import { best } from './best'
import { chordSquare, ECEF_BYTES, offsetRounding, PLANAR, planeOffset, sagitta, segmentDistanceSquare, stray } from './ecef'
import { isOnCoordinateLine } from './coordinate-line'
import { square } from './math'
import { fastInverse } from './general-edge'
import {
  lookNear, nearDistance, nearestShare, NEAR_DISTANCE, NEAR_LENGTH, setNear, SHARE_DISTANCE, walkLat, walkLon, walkNear,
} from './near-edge'
import { firstVertex, latAt, lengthOf, lonAt, Operand, positionAt } from './operand'
import { distanceToEdge, setEdge } from './point-edge'
import { countSolutions } from './work'

// The edges that `setNear` and `setEdge` were last called for: a search asks for the same ones many times.
let nearOperand: usize = 0
let nearEdge: i32 = -1
let lastOperand: usize = 0
let lastEdge: i32 = -1

/** Rounding of the chords of `lookNear`, metres. */
const NEAR_ROUNDING: f64 = 1e-8

/** Forgets those edges: their operands are gone, or somebody else has called `setEdge`. */
export function forgetEdge(): void {
  nearOperand = 0
  lastOperand = 0
}

/** Whether `near-edge.ts` knows an edge; what begins and ends in one place is a point. */
@inline
function isNearEdge(operand: Operand, edge: i32): bool {
  const length = lengthOf(operand, edge)
  return length > 0 && length <= NEAR_LENGTH
}

/** Whether an edge begins with its smaller end in the order of lat, lon: reversing a line must not change a bit. */
@inline
function isOrdered(operand: Operand, v: i32): bool {
  const lat1 = latAt(operand, v)
  const lat2 = latAt(operand, v + 1)
  return lat1 < lat2 || (lat1 == lat2 && lonAt(operand, v) <= lonAt(operand, v + 1))
}

function chooseNear(operand: Operand, edge: i32): void {
  if (nearOperand == changetype<usize>(operand) && nearEdge == edge) return
  const v = firstVertex(operand, edge)
  const from = positionAt(operand, v)
  if (isOrdered(operand, v)) setNear(from, from + ECEF_BYTES)
  else setNear(from + ECEF_BYTES, from)
  nearOperand = changetype<usize>(operand)
  nearEdge = edge
}

/** Least chord between a position and the geodesic of an edge, or less; may be negative. */
export function chordToEdge(position: usize, operand: Operand, edge: i32): f64 {
  const start = positionAt(operand, firstVertex(operand, edge))
  const length = lengthOf(operand, edge)
  if (length == 0) return Math.sqrt(chordSquare(position, start))
  if (isNearEdge(operand, edge)) {
    chooseNear(operand, edge)
    return lookNear(position) - NEAR_ROUNDING
  }
  const chord = Math.sqrt(segmentDistanceSquare(position, start, start + ECEF_BYTES)) - sagitta(length)
  if (length > PLANAR) return chord
  // The sagitta points downwards: sideways the edge is where its plane is, to a small share of that.
  return Math.max(chord, Math.abs(planeOffset(position, start, start + ECEF_BYTES)) - stray(length, 0) - offsetRounding)
}

/** Distances up to which the series of `nearDistance` says more than a chord. */
const SERIES_DISTANCE: f64 = 4e5

/**
 * Whether the position and the edge of the last `chordToEdge` are farther apart than `best`, where a chord was not enough to
 * tell but its series is: it errs by less than 10⁻⁸ m up to 10 km and then like the fifth power of the distance.
 */
export function isBeyondBest(operand: Operand, edge: i32): bool {
  if (best > SERIES_DISTANCE || !isNearEdge(operand, edge)) return false
  const distance = nearDistance()
  const tens = distance / NEAR_DISTANCE
  return distance - NEAR_ROUNDING * (1 + 0.5 * square(square(tens)) * tens) > best
}

/** The distance from a vertex to the edge of an operand; see `distanceToEdge` about `cutoff`. */
export function toEdge(from: Operand, v: i32, operand: Operand, edge: i32, cutoff: f64): f64 {
  const position = positionAt(from, v)
  const w = firstVertex(operand, edge)
  const isNear = isNearEdge(operand, edge)
  if (isNear) {
    chooseNear(operand, edge)
    const chord = lookNear(position)
    if (chord < NEAR_DISTANCE) {
      const distance = nearDistance()
      return distance < 1e-6 && isOnLine(from, v, operand, w) ? 0 : distance
    }
    const share = chord < SHARE_DISTANCE ? nearestShare() : -1
    if (share >= 0) return toShare(from, v, operand, w, share)
  }
  if (lastOperand != changetype<usize>(operand) || lastEdge != edge) {
    const start = positionAt(operand, w)
    setEdge(
      latAt(operand, w), lonAt(operand, w), start,
      latAt(operand, w + 1), lonAt(operand, w + 1), start + ECEF_BYTES, isNear,
    )
    lastOperand = changetype<usize>(operand)
    lastEdge = edge
  }
  return distanceToEdge(latAt(from, v), lonAt(from, v), position, cutoff)
}

/** The distance from a vertex to the place on the chosen near edge that is nearest to it. */
function toShare(from: Operand, v: i32, operand: Operand, w: i32, share: f64): f64 {
  countSolutions(1)
  const lat = latAt(from, v)
  const lon = lonAt(from, v)
  if (share == 0 || share == 1) {
    const end = isOrdered(operand, w) == (share == 0) ? w : w + 1
    return fastInverse(lat, lon, latAt(operand, end), lonAt(operand, end))
  }
  walkNear(share, 0)
  return fastInverse(lat, lon, walkLat, walkLon)
}

/** Whether a vertex is on a short edge along a meridian or the equator exactly. */
function isOnLine(from: Operand, v: i32, operand: Operand, w: i32): bool {
  const first = isOrdered(operand, w) ? w : w + 1
  const second = first == w ? w + 1 : w
  const lat = latAt(operand, first)
  // An edge over a pole leaves for the pole that it is near.
  return isOnCoordinateLine(
    lat, lonAt(operand, first), latAt(operand, second), lonAt(operand, second), lat > 0, latAt(from, v), lonAt(from, v),
  )
}
