/** Distances between positions and the edges of an operand. */
import {
  chordSquare,
  ECEF_BYTES,
  LONGEST_PLANAR,
  offsetRounding,
  planeDeviation,
  planeOffset,
  sagitta,
  segmentDistanceSquare,
} from '../edges/ecef'
import { fastInverse } from '../edges/general-edge'
import {
  Foot,
  FRACTION_DISTANCE,
  NEAR_DISTANCE,
  NEAR_LENGTH,
  NearEdge,
  nearDistance,
  nearestFraction,
  projectPoint,
  setNear,
  walkNear,
} from '../edges/near-edge'
import { distanceToEdge, Edge, isOnCoordinateLine, placeOnEdge, setEdge } from '../edges/point-edge'
import { Waypoint } from '../geodesic/direct'
import { square } from '../math/math'
import { countSolutions } from '../math/work'
import { edgeFlags, edgeLength, firstVertex, latAt, lonAt, Operand, positionAt } from './operand'

/** The edge that was last prepared for distances. A search uses the same edge many times in a row. */
@unmanaged
class Prepared {
  operand: usize
  edge: i32
}

const preparedNear = changetype<Prepared>(memory.data(offsetof<Prepared>(), 8))
const near = changetype<NearEdge>(memory.data(offsetof<NearEdge>(), 8))
const preparedEdge = changetype<Prepared>(memory.data(offsetof<Prepared>(), 8))
const edgeOfSearch = changetype<Edge>(memory.data(offsetof<Edge>(), 8))
/** The foot of the last `chordToEdge` or `toEdge` on `near`. */
const foot = changetype<Foot>(memory.data(offsetof<Foot>(), 8))
const waypoint = changetype<Waypoint>(memory.data(offsetof<Waypoint>(), 8))

/** Rounding error of the chords of `projectPoint`, metres. */
const NEAR_ROUNDING: f64 = 1e-8

/** Forgets both edges. Must be called at the start of a search, because an operand may have been replaced. */
export function forgetEdge(): void {
  preparedNear.operand = 0
  preparedEdge.operand = 0
}

/** Whether near-edge.ts handles an edge. An edge of length 0 is a point, which it does not handle. */
@inline
function isNearEdge(operand: Operand, edge: i32): bool {
  const length = edgeLength(operand, edge)
  return length > 0 && length <= NEAR_LENGTH
}

/**
 * Whether an edge starts at its smaller end in the order of lat, lon. Edges are oriented that way, so reversing a line
 * changes no bit.
 */
@inline
function isOrdered(operand: Operand, v: i32): bool {
  const lat1 = latAt(operand, v)
  const lat2 = latAt(operand, v + 1)
  return lat1 < lat2 || (lat1 == lat2 && lonAt(operand, v) <= lonAt(operand, v + 1))
}

function chooseNearEdge(operand: Operand, edge: i32): void {
  if (preparedNear.operand == changetype<usize>(operand) && preparedNear.edge == edge) return
  const v = firstVertex(operand, edge)
  const from = positionAt(operand, v)
  if (isOrdered(operand, v)) setNear(near, from, from + ECEF_BYTES)
  else setNear(near, from + ECEF_BYTES, from)
  preparedNear.operand = changetype<usize>(operand)
  preparedNear.edge = edge
}

/** Lower bound of the chord between a position and the geodesic of an edge, metres; may be negative. */
export function chordToEdge(position: usize, operand: Operand, edge: i32): f64 {
  const start = positionAt(operand, firstVertex(operand, edge))
  const length = edgeLength(operand, edge)
  if (length == 0) return Math.sqrt(chordSquare(position, start))
  if (isNearEdge(operand, edge)) {
    chooseNearEdge(operand, edge)
    return projectPoint(near, position, foot) - NEAR_ROUNDING
  }
  const chord = Math.sqrt(segmentDistanceSquare(position, start, start + ECEF_BYTES)) - sagitta(length)
  if (length > LONGEST_PLANAR) return chord
  // The sagitta is vertical. Sideways the edge leaves its plane by far less, so the distance from the plane may give a
  // better bound.
  const end = start + ECEF_BYTES
  const offset = Math.abs(planeOffset(position, start, end))
  return Math.max(chord, offset - planeDeviation(length, 0) - offsetRounding(position, start, end))
}

/** Greatest distance at which the series of `nearDistance` is more accurate than a chord, metres. */
const SERIES_DISTANCE: f64 = 4e5

/**
 * Whether the position and the edge of the last `chordToEdge` are farther apart than `limit`, by the series of
 * `nearDistance`. Call it when the chord did not decide. The error of the series is below 10⁻⁸ m up to 10 km and then
 * grows with the fifth power of the distance.
 */
export function isBeyond(operand: Operand, edge: i32, limit: f64): bool {
  if (limit > SERIES_DISTANCE || !isNearEdge(operand, edge)) return false
  const distance = nearDistance(near, foot)
  const ratio = distance / NEAR_DISTANCE
  return distance - NEAR_ROUNDING * (1 + 0.5 * square(square(ratio)) * ratio) > limit
}

/** Where the last `toEdge` found the nearest point, as a fraction of `near`; negative if `distanceToEdge` found it. */
let usedFraction: f64 = -1

/** Stores the point of an edge to which `toEdge` measures from a vertex. The vertex must not be on the edge. */
export function placeNearest(from: Operand, v: i32, operand: Operand, edge: i32, out: Waypoint): void {
  const w = firstVertex(operand, edge)
  let end = w
  if (edgeFlags(operand, edge) != 0 && edgeLength(operand, edge) > 0) {
    toEdge(from, v, operand, edge, Infinity)
    if (usedFraction < 0) {
      placeOnEdge(edgeOfSearch, out)
      return
    }
    if (usedFraction > 0 && usedFraction < 1) {
      walkNear(near, usedFraction, 0, out)
      return
    }
    end = isOrdered(operand, w) == (usedFraction == 0) ? w : w + 1
  }
  out.lat = latAt(operand, end)
  out.lon = lonAt(operand, end)
}

/** The distance from a vertex to an edge of an operand, metres. `cutoff` is the `best` of `distanceToEdge`. */
export function toEdge(from: Operand, v: i32, operand: Operand, edge: i32, cutoff: f64): f64 {
  const position = positionAt(from, v)
  const w = firstVertex(operand, edge)
  const isNear = isNearEdge(operand, edge)
  usedFraction = -1
  if (isNear) {
    chooseNearEdge(operand, edge)
    const chord = projectPoint(near, position, foot)
    if (chord < NEAR_DISTANCE) {
      const distance = nearDistance(near, foot)
      usedFraction = foot.fraction
      return distance < 1e-6 && isOnLine(from, v, operand, w) ? 0 : distance
    }
    const fraction = chord < FRACTION_DISTANCE ? nearestFraction(near, foot) : -1
    usedFraction = fraction
    if (fraction >= 0) return toFraction(from, v, operand, w, fraction)
  }
  if (preparedEdge.operand != changetype<usize>(operand) || preparedEdge.edge != edge) {
    const start = positionAt(operand, w)
    setEdge(
      edgeOfSearch,
      latAt(operand, w),
      lonAt(operand, w),
      start,
      latAt(operand, w + 1),
      lonAt(operand, w + 1),
      start + ECEF_BYTES,
      isNear ? near : null,
    )
    preparedEdge.operand = changetype<usize>(operand)
    preparedEdge.edge = edge
  }
  return distanceToEdge(edgeOfSearch, latAt(from, v), lonAt(from, v), position, cutoff)
}

/** The distance from a vertex to the point at a fraction of the selected near edge, metres. */
function toFraction(from: Operand, v: i32, operand: Operand, w: i32, fraction: f64): f64 {
  countSolutions(1)
  const lat = latAt(from, v)
  const lon = lonAt(from, v)
  if (fraction == 0 || fraction == 1) {
    const end = isOrdered(operand, w) == (fraction == 0) ? w : w + 1
    return fastInverse(lat, lon, latAt(operand, end), lonAt(operand, end))
  }
  walkNear(near, fraction, 0, waypoint)
  return fastInverse(lat, lon, waypoint.lat, waypoint.lon)
}

/** Whether a vertex lies exactly on a short edge along a meridian or the equator. */
function isOnLine(from: Operand, v: i32, operand: Operand, w: i32): bool {
  const first = isOrdered(operand, w) ? w : w + 1
  const second = first == w ? w + 1 : w
  const lat = latAt(operand, first)
  // A short edge over a pole is near that pole, so it leaves its first end towards the pole of its hemisphere.
  return isOnCoordinateLine(
    lat,
    lonAt(operand, first),
    latAt(operand, second),
    lonAt(operand, second),
    lat > 0,
    latAt(from, v),
    lonAt(from, v),
  )
}
