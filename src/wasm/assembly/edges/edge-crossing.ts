/**
 * Decides whether two edges cross. Edges are shortest geodesics of any length.
 *
 * Long edges are halved while their boxes in space overlap, until both are short. Two short edges cross when the ends
 * of each lie on different sides of the other. The plane of an edge (`planeOffset`) decides the side of a point that is
 * farther from the plane than the geodesic can stray from it. Otherwise the azimuths of two geodesics decide.
 *
 * Touching does not count as crossing: the search already compares the ends with the other edge and finds distance 0.
 * Where an edge is halved, its middle is compared with the other edge, so that a crossing exactly between two pieces is
 * not missed.
 */
import { direct, Waypoint } from '../geodesic/direct'
import { Geodesic, inverse } from '../geodesic/inverse'
import { countChecks, countSolutions, isOverLimit } from '../math/work'
import {
  chordSquare,
  ECEF_BYTES,
  LONGEST_PLANAR,
  offsetRounding,
  planeDeviation,
  planeOffset,
  RHI,
  ROUNDING,
  sagitta,
  storePosition,
} from './ecef'
import { distanceToEdge, Edge, setEdge } from './point-edge'

/**
 * Metres. A middle nearer to the other edge than this lies on it. Far above rounding errors, far below any measured
 * distance.
 */
const TOUCH: f64 = 1e-7

/**
 * Metres. A point that is nearer to the line of a piece has no certain side: the error of an azimuth moves the far end of a line by
 * up to 15 nm. If all four sides of two pieces on one geodesic were taken as they come out, pieces that are kilometres apart would
 * seem to cross.
 */
const SIDE_ERROR: f64 = 5e-8

/** A piece of an edge: both ends in degrees, an upper bound of its length in metres, and both ends in space. */
@unmanaged
class Piece {
  lat1: f64
  lon1: f64
  lat2: f64
  lon2: f64
  length: f64
  x1: f64
  y1: f64
  z1: f64
  x2: f64
  y2: f64
  z2: f64
}

/** Both edges and two pieces for each level of halving. 20,004 km is below 500 km after six halvings of either edge. */
const pieces: usize = memory.data(88 * 40)

const geodesic = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))
const middle = changetype<Waypoint>(memory.data(offsetof<Waypoint>(), 8))
const touchedEdge = changetype<Edge>(memory.data(offsetof<Edge>(), 8))

@inline
function pieceAt(index: i32): Piece {
  return changetype<Piece>(pieces + <usize>index * offsetof<Piece>())
}

/** Sets one of the two edges (`which` is 0 or 1). `length` is an upper bound. */
export function setCrossing(
  which: i32,
  lat1: f64,
  lon1: f64,
  position1: usize,
  lat2: f64,
  lon2: f64,
  position2: usize,
  length: f64,
): void {
  const isOrdered = lat1 < lat2 || (lat1 == lat2 && lon1 <= lon2)
  const piece = pieceAt(which)
  piece.lat1 = isOrdered ? lat1 : lat2
  piece.lon1 = isOrdered ? lon1 : lon2
  piece.lat2 = isOrdered ? lat2 : lat1
  piece.lon2 = isOrdered ? lon2 : lon1
  memory.copy(start(piece), isOrdered ? position1 : position2, ECEF_BYTES)
  memory.copy(end(piece), isOrdered ? position2 : position1, ECEF_BYTES)
  piece.length = length
}

/** Whether the two edges of `setCrossing` cross. */
export function edgesCross(): bool {
  return piecesCross(pieceAt(0), pieceAt(1), 2)
}

/** The pieces that cross, once `edgesCross` has found a crossing; the second is 0 if the first one's start is on the other edge. */
let crossed: usize = 0
let crossing: usize = 0
/** Halvings of 500 km after which a piece is shorter than a nanometre. */
const HALVINGS = 50

/** Stores where the edges cross, after `edgesCross` was true. */
export function crossingPlace(out: Waypoint): void {
  const s = changetype<Piece>(crossed)
  out.lat = s.lat1
  out.lon = s.lon1
  if (crossing == 0) return
  const t = changetype<Piece>(crossing)
  let high = inverse(s.lat1, s.lon1, s.lat2, s.lon2, geodesic)
  const salp = geodesic.salp1
  const calp = geodesic.calp1
  const isLeft = offsetFrom(t, s.lat1, s.lon1) > 0
  let low: f64 = 0
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middleMeters = (low + high) / 2
    direct(s.lat1, s.lon1, salp, calp, middleMeters, out)
    if (offsetFrom(t, out.lat, out.lon) > 0 == isLeft) low = middleMeters
    else high = middleMeters
  }
}

@inline
function start(piece: Piece): usize {
  return changetype<usize>(piece) + offsetof<Piece>('x1')
}

@inline
function end(piece: Piece): usize {
  return changetype<usize>(piece) + offsetof<Piece>('x2')
}

function piecesCross(s: Piece, t: Piece, firstFree: i32): bool {
  countChecks(1)
  if (areApart(s, t) || isOverLimit()) return false
  if (s.length <= LONGEST_PLANAR && t.length <= LONGEST_PLANAR) return crossShort(s, t)
  const first = pieceAt(firstFree)
  const second = pieceAt(firstFree + 1)
  if (s.length >= t.length) {
    halve(s, first, second)
    return startTouches(second, pieceAt(1)) || piecesCross(first, t, firstFree + 2) || piecesCross(second, t, firstFree + 2)
  }
  halve(t, first, second)
  return startTouches(second, pieceAt(0)) || piecesCross(s, first, firstFree + 2) || piecesCross(s, second, firstFree + 2)
}

/** Whether the first end of a piece lies on an edge, within TOUCH. */
function startTouches(piece: Piece, edge: Piece): bool {
  setEdge(touchedEdge, edge.lat1, edge.lon1, start(edge), edge.lat2, edge.lon2, end(edge), null)
  if (distanceToEdge(touchedEdge, piece.lat1, piece.lon1, start(piece), Infinity) >= TOUCH) return false
  crossed = changetype<usize>(piece)
  crossing = 0
  return true
}

function halve(whole: Piece, first: Piece, second: Piece): void {
  const half = inverse(whole.lat1, whole.lon1, whole.lat2, whole.lon2, geodesic) / 2
  direct(whole.lat1, whole.lon1, geodesic.salp1, geodesic.calp1, half, middle)
  countSolutions(2)
  memory.copy(changetype<usize>(first), changetype<usize>(whole), offsetof<Piece>())
  memory.copy(changetype<usize>(second), changetype<usize>(whole), offsetof<Piece>())
  first.lat2 = middle.lat
  first.lon2 = middle.lon
  second.lat1 = middle.lat
  second.lon1 = middle.lon
  storePosition(middle.lat, middle.lon, end(first))
  memory.copy(start(second), end(first), ECEF_BYTES)
  first.length = half + 1e-6
  second.length = first.length
}

/** Whether the boxes around both pieces are apart. The boxes hold the geodesics, not only their chords. */
function areApart(s: Piece, t: Piece): bool {
  // No point of a geodesic is farther from its chord than a radius of the Earth.
  const margin = Math.min(RHI, sagitta(s.length)) + Math.min(RHI, sagitta(t.length)) + ROUNDING
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const s1 = load<f64>(start(s) + axis)
    const s2 = load<f64>(end(s) + axis)
    const t1 = load<f64>(start(t) + axis)
    const t2 = load<f64>(end(t) + axis)
    if (Math.min(s1, s2) - Math.max(t1, t2) > margin || Math.min(t1, t2) - Math.max(s1, s2) > margin) return true
  }
  return false
}

function crossShort(s: Piece, t: Piece): bool {
  // The planes first: they decide most pairs without solving for a geodesic.
  const t1 = planeSide(s, start(t))
  const t2 = planeSide(s, end(t))
  if (t1 * t2 > 0) return false
  const s1 = planeSide(t, start(s))
  const s2 = planeSide(t, end(s))
  if (s1 * s2 > 0) return false
  crossed = changetype<usize>(s)
  crossing = changetype<usize>(t)
  return (
    (t1 != 0 ? t1 : geodesicSide(s, t.lat1, t.lon1)) * (t2 != 0 ? t2 : geodesicSide(s, t.lat2, t.lon2)) < 0 &&
    (s1 != 0 ? s1 : geodesicSide(t, s.lat1, s.lon1)) * (s2 != 0 ? s2 : geodesicSide(t, s.lat2, s.lon2)) < 0
  )
}

/**
 * Side of the piece on which p lies, by its plane: 1 left, −1 right, 0 when p is so near the plane that the geodesic
 * must decide.
 */
function planeSide(piece: Piece, p: usize): i32 {
  const offset = planeOffset(p, start(piece), end(piece))
  const margin =
    planeDeviation(piece.length, 1.01 * Math.sqrt(chordSquare(p, start(piece)))) + offsetRounding(p, start(piece), end(piece))
  return offset > margin ? 1 : offset < -margin ? -1 : 0
}

/** Reduced length of the piece that `offsetFrom` measured from. */
let pieceReducedLength: f64 = 0

/**
 * Distance of a point from the line of a piece, by the azimuths at the first end of the piece: metres to the first order, positive
 * on the left.
 */
function offsetFrom(piece: Piece, lat: f64, lon: f64): f64 {
  inverse(piece.lat1, piece.lon1, piece.lat2, piece.lon2, geodesic)
  const salp = geodesic.salp1
  const calp = geodesic.calp1
  pieceReducedLength = geodesic.m12
  inverse(piece.lat1, piece.lon1, lat, lon, geodesic)
  countSolutions(2)
  return (salp * geodesic.calp1 - calp * geodesic.salp1) * geodesic.m12
}

/**
 * Side of the piece on which a point lies, by the azimuths: 1 left, −1 right, 0 when the point is so near to its line that the side
 * is not certain. Then an end of one piece is that near to the other, or they do not meet.
 */
function geodesicSide(piece: Piece, lat: f64, lon: f64): i32 {
  const offset = offsetFrom(piece, lat, lon)
  const error = SIDE_ERROR * Math.max(1, geodesic.m12 / pieceReducedLength)
  return offset > error ? 1 : offset < -error ? -1 : 0
}
