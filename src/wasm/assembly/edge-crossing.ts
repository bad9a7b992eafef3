/**
 * Whether two edges, shortest geodesics of any length, cross.
 *
 * Long edges are halved where their boxes in space overlap, until both are short. Then each edge's ends must lie on
 * different sides of the other. A side is certain by the plane of the edge (`planeOffset`) when the point is
 * farther from it than a geodesic can stray from that plane; otherwise the azimuths of two geodesics decide.
 *
 * Touching is no crossing here: an end on the other edge has distance 0 as a point. Where an edge is halved its middle is
 * compared with the other edge, so that no crossing hides between two pieces.
 */
import { inverse, s12 } from './inverse'
import * as solution from './inverse'
import { direct } from './direct'
import * as arrival from './direct'
import { chordSquare, ECEF_BYTES, offsetRounding, PLANAR, planeOffset, positionOf, RHI, ROUNDING, sagitta, stray } from './ecef'
import { distanceToEdge, setEdge } from './point-edge'
import { countLooks, countSolutions, isSpent } from './work'

/** A middle that is nearer to the other edge lies on it, metres: far above rounding, far below what anyone measures. */
const TOUCH: f64 = 1e-7

/** A piece of an edge: both ends with their positions, and its length or a little more. */
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

/** Two pieces for each level of halving; 20,004 km is below 500 km after six halvings of either edge. */
const pieces: usize = memory.data(88 * 40)

@inline
function pieceAt(index: i32): Piece {
  return changetype<Piece>(pieces + <usize>index * offsetof<Piece>())
}

/** Sets one of the two edges (0 or 1); `length` may be a little too great. */
export function setCrossing(
  which: i32, lat1: f64, lon1: f64, position1: usize, lat2: f64, lon2: f64, position2: usize, length: f64,
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

/** Whether the edges of `setCrossing` cross. Chooses another edge in `point-edge.ts`. */
export function edgesCross(): bool {
  return cross(pieceAt(0), pieceAt(1), 2)
}

@inline
function start(piece: Piece): usize {
  return changetype<usize>(piece) + offsetof<Piece>('x1')
}

@inline
function end(piece: Piece): usize {
  return changetype<usize>(piece) + offsetof<Piece>('x2')
}

function cross(s: Piece, t: Piece, free: i32): bool {
  countLooks(1)
  if (areApart(s, t) || isSpent()) return false
  if (s.length <= PLANAR && t.length <= PLANAR) return crossShort(s, t)
  const first = pieceAt(free)
  const second = pieceAt(free + 1)
  if (s.length >= t.length) {
    halve(s, first, second)
    return touches(second, pieceAt(1)) || cross(first, t, free + 2) || cross(second, t, free + 2)
  }
  halve(t, first, second)
  return touches(second, pieceAt(0)) || cross(s, first, free + 2) || cross(s, second, free + 2)
}

/** Whether the first end of a piece lies on an edge. */
function touches(piece: Piece, edge: Piece): bool {
  setEdge(edge.lat1, edge.lon1, start(edge), edge.lat2, edge.lon2, end(edge), false)
  return distanceToEdge(piece.lat1, piece.lon1, start(piece), Infinity) < TOUCH
}

function halve(whole: Piece, first: Piece, second: Piece): void {
  inverse(whole.lat1, whole.lon1, whole.lat2, whole.lon2)
  direct(whole.lat1, whole.lon1, solution.salp1, solution.calp1, s12 / 2)
  countSolutions(2)
  memory.copy(changetype<usize>(first), changetype<usize>(whole), offsetof<Piece>())
  memory.copy(changetype<usize>(second), changetype<usize>(whole), offsetof<Piece>())
  first.lat2 = arrival.lat2
  first.lon2 = arrival.lon2
  second.lat1 = arrival.lat2
  second.lon1 = arrival.lon2
  positionOf(arrival.lat2, arrival.lon2, end(first))
  memory.copy(start(second), end(first), ECEF_BYTES)
  first.length = s12 / 2 + 1e-6
  second.length = first.length
}

/** Whether the boxes around both pieces, widened by what they stand off their chords, leave a gap. */
function areApart(s: Piece, t: Piece): bool {
  // No two points of a geodesic are farther off a chord than a radius.
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
  // The certain answers first: most pairs end here, without a geodesic.
  const t1 = planeSide(s, start(t))
  const t2 = planeSide(s, end(t))
  if (t1 * t2 > 0) return false
  const s1 = planeSide(t, start(s))
  const s2 = planeSide(t, end(s))
  if (s1 * s2 > 0) return false
  return (
    (t1 != 0 ? t1 : geodesicSide(s, t.lat1, t.lon1)) * (t2 != 0 ? t2 : geodesicSide(s, t.lat2, t.lon2)) < 0 &&
    (s1 != 0 ? s1 : geodesicSide(t, s.lat1, s.lon1)) * (s2 != 0 ? s2 : geodesicSide(t, s.lat2, s.lon2)) < 0
  )
}

/** On which side of the plane of a piece P lies: 1 left, −1 right, 0 when the geodesic may be on either side of it. */
function planeSide(piece: Piece, p: usize): i32 {
  const offset = planeOffset(p, start(piece), end(piece))
  const room = stray(piece.length, 1.01 * Math.sqrt(chordSquare(p, start(piece)))) + offsetRounding
  return offset > room ? 1 : offset < -room ? -1 : 0
}

/** The same for the geodesic itself: by the azimuths at its first end. */
function geodesicSide(piece: Piece, lat: f64, lon: f64): i32 {
  inverse(piece.lat1, piece.lon1, piece.lat2, piece.lon2)
  const salp = solution.salp1
  const calp = solution.calp1
  inverse(piece.lat1, piece.lon1, lat, lon)
  countSolutions(2)
  const sine = salp * solution.calp1 - calp * solution.salp1
  return sine > 0 ? 1 : sine < 0 ? -1 : 0
}
