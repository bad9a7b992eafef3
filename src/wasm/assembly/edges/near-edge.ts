/**
 * Edges of at most 10 km, and distances of points near them, computed from positions in space without solving for a
 * geodesic.
 *
 * The chord A–B is perpendicular to (x, y, z/(1 − e²)) at its middle, the direction of the ellipsoid's normal there.
 * Over the chord the edge rises like a parabola with the normal curvature κ of the edge. It leaves the plane of chord
 * and normal sideways, because of the geodesic torsion τ, by
 *
 *   w(s) = κτ·((L/2)² − s²)·s/6
 *
 * with s measured from the middle: 0.7 µm for 10 km. The geodesic over a chord c between two points of the surface has
 * the length
 *
 *   c·(1 + x/24 + 3x²/640),   x = κ²c²
 *
 * with κ in the direction of the chord at its middle.
 *
 * Distances up to 10 km agree with Karney's solution within 6 nm, most of which is the rounding of positions.
 *
 * Call order: `setNear` for the edge, `projectPoint` for the point, then `nearDistance` or `nearestFraction`.
 * `walkNear` needs only `setNear`, but overwrites the foot of `projectPoint`.
 */
import { OBLATE } from './ecef'
import * as angle from '../math/math'
import { DEGREE, norm, sincosDegrees, square } from '../math/math'
import { a, b, e2 } from '../geodesic/series'

/** Longest edge and greatest distance for which this file may be used, metres. */
export const NEAR_LENGTH: f64 = 1e4
export const NEAR_DISTANCE: f64 = 1e4

// The edge: its start, its chord, and values derived from them.
let start: usize = 0
let dx: f64 = 0
let dy: f64 = 0
let dz: f64 = 0
let chordSquare: f64 = 0
/** Unit normal of the ellipsoid at the middle of the chord. */
let nx: f64 = 0
let ny: f64 = 0
let nz: f64 = 0
let kappa: f64 = 0
let torsion: f64 = 0
let skew: f64 = 0
let bulge: f64 = 0
let spread: f64 = 0

// Set by `projectPoint`: the vector from the foot on the edge to the point, and the foot, relative to the start of the
// edge.
let wx: f64 = 0
let wy: f64 = 0
let wz: f64 = 0
let footX: f64 = 0
let footY: f64 = 0
let footZ: f64 = 0
let wSquare: f64 = 0

/** Set by `setNear`: length of the edge in metres. */
export let nearLength: f64 = 0
/** Set by `projectPoint`: the point's foot on the edge, as a fraction of the chord from the start. */
export let footFraction: f64 = 0

/** Selects the edge between two positions for the following calls. */
export function setNear(from: usize, to: usize): void {
  start = from
  const ax = load<f64>(from)
  const ay = load<f64>(from, 8)
  const az = load<f64>(from, 16)
  dx = load<f64>(to) - ax
  dy = load<f64>(to, 8) - ay
  dz = load<f64>(to, 16) - az
  chordSquare = dx * dx + dy * dy + dz * dz
  nx = ax + dx / 2
  ny = ay + dy / 2
  nz = (az + dz / 2) * OBLATE
  const size = 1 / Math.sqrt(nx * nx + ny * ny + nz * nz)
  nx *= size
  ny *= size
  nz *= size
  if (chordSquare == 0) {
    kappa = 0
    torsion = 0
    skew = 0
    bulge = 0
    spread = 0
    nearLength = 0
    return
  }
  const stretch = (OBLATE - 1) * dz
  kappa = ((chordSquare + stretch * dz) / chordSquare) * size
  // κτ/6. The torsion τ follows from (M d)·ν, with M = diag(1, 1, 1/(1 − e²)) and the left normal ν along n × d. Because
  // d·ν = 0, only the z components are needed.
  torsion = (kappa * stretch * (nx * dy - ny * dx) * size) / (6 * chordSquare)
  // Along the edge the curvature changes by the fraction 3κ·(e′²·nz·dz).
  skew = (kappa * kappa * stretch * nz) / 2
  const x = kappa * kappa * chordSquare
  // A circle rises higher than its parabola by the fraction κ²(U² + u²)/4, with U = L/2 and u the distance from the middle.
  bulge = x / 4
  spread = 0.2601 * x // (0.51 κL)²: the square of the greatest slope of the arc, rounded up
  nearLength = Math.sqrt(chordSquare) * (1 + x * (1.0 / 24 + x * (3.0 / 640)))
}

/** Sets the foot: the point of the edge over a given fraction of its chord. */
@inline
function setFoot(fraction: f64): void {
  const half = fraction - 0.5
  const parabola = (0.25 - half * half) * chordSquare
  const rise = parabola * (kappa / 2 - skew * half) * (1 + bulge * (0.25 + half * half))
  // w is proportional to L³. n × d is as long as the chord, and `parabola` has the factor chordSquare.
  const sideways = torsion * half * parabola
  footX = fraction * dx + nx * rise + (ny * dz - nz * dy) * sideways
  footY = fraction * dy + ny * rise + (nz * dx - nx * dz) * sideways
  footZ = fraction * dz + nz * rise + (nx * dy - ny * dx) * sideways
}

/**
 * Sets the foot of a point on the edge. Returns a lower bound of the chord between the point and the edge, up to
 * rounding.
 */
export function projectPoint(position: usize): f64 {
  const qx = load<f64>(position) - load<f64>(start)
  const qy = load<f64>(position, 8) - load<f64>(start, 8)
  const qz = load<f64>(position, 16) - load<f64>(start, 16)
  const along = qx * dx + qy * dy + qz * dz
  footFraction = along <= 0 ? 0 : along >= chordSquare ? 1 : along / chordSquare
  setFoot(footFraction)
  wx = qx - footX
  wy = qy - footY
  wz = qz - footZ
  wSquare = wx * wx + wy * wy + wz * wz
  // The nearest point of the arc is not exactly over the foot of the chord, because the arc rises; `spread` bounds its
  // slope.
  const gap = wx * nx + wy * ny + wz * nz
  return Math.sqrt(Math.max(0, wSquare - spread * gap * gap))
}

/**
 * Distance from the point of `projectPoint` to the edge, metres. The error bound holds for edges up to NEAR_LENGTH and
 * distances up to NEAR_DISTANCE.
 */
export function nearDistance(): f64 {
  if (wSquare == 0) return 0
  const mx = load<f64>(start) + footX + wx / 2
  const my = load<f64>(start, 8) + footY + wy / 2
  const mz = (load<f64>(start, 16) + footZ + wz / 2) * OBLATE
  // κ = w·Mw / (w·w |Mm|)
  const x = square(wSquare + (OBLATE - 1) * wz * wz) / (wSquare * (mx * mx + my * my + mz * mz))
  return Math.sqrt(wSquare) * (1 + x * (1.0 / 24 + x * (3.0 / 640)))
}

/**
 * Radians. On the ellipsoid the chord to the nearest point of an edge is not exactly at a right angle to the edge. The
 * deviation is e²(D/R)²/12 < 4·10⁻⁶; this is a safe bound.
 */
const SKEW_ANGLE: f64 = 1e-5
/**
 * Metres. Up to this distance the deviation does not matter: at 100 km it misplaces the foot by < 15 mm, which changes
 * the distance by 1 nm.
 */
const FOOT_DISTANCE: f64 = 1e5
/** Greatest distance that `nearestFraction` supports, metres. */
export const FRACTION_DISTANCE: f64 = 5e5

/**
 * Returns where the edge is nearest to the point of `projectPoint`, as a fraction of the edge, or −1 where positions in
 * space are not accurate enough to tell. The point must be at most SHARE_DISTANCE away and not on the edge.
 */
export function nearestFraction(): f64 {
  // Project onto the tangent at the foot instead of the chord.
  const tilt = (0.5 - footFraction) * chordSquare * kappa
  const along = wx * (dx + nx * tilt) + wy * (dy + ny * tilt) + wz * (dz + nz * tilt)
  const margin = SKEW_ANGLE * Math.sqrt(wSquare * chordSquare)
  if (footFraction == 0 && along < -margin) return 0
  if (footFraction == 1 && along > margin) return 1
  if (wSquare > FOOT_DISTANCE * FOOT_DISTANCE) return -1
  return Math.max(0, Math.min(1, footFraction + along / chordSquare))
}

/** Results of `walkNear`: position in degrees, and sine and cosine of the azimuth of the edge there. */
export let walkLat: f64 = 0
export let walkLon: f64 = 0
export let walkSalp: f64 = 0
export let walkCalp: f64 = 0

/**
 * Finds the point at a fraction of the edge and the azimuth there, and stores both in the globals above.
 *
 * @param poleLon the longitude to report if the point is a pole
 */
export function walkNear(fraction: f64, poleLon: f64): void {
  setFoot(fraction)
  const x = load<f64>(start) + footX
  const y = load<f64>(start, 8) + footY
  const z = load<f64>(start, 16) + footZ
  const r = norm(x, y)
  // Bowring's formula for the latitude: exact to picometres here, where heights are nanometres.
  let sine = a * z
  let cosine = b * r
  let size = norm(sine, cosine)
  sine /= size
  cosine /= size
  sine = z + (e2 / (1 - e2)) * b * (sine * sine * sine)
  cosine = r - e2 * a * (cosine * cosine * cosine)
  size = norm(sine, cosine)
  sine /= size
  cosine /= size
  let eastX = -y / r
  let eastY = x / r
  if (r == 0) {
    walkLat = z > 0 ? 90 : -90
    walkLon = poleLon
    sincosDegrees(poleLon, 0)
    eastX = -angle.sinx
    eastY = angle.cosx
  } else {
    walkLat = Math.atan2(sine, cosine) / DEGREE
    walkLon = Math.atan2(y, x) / DEGREE
  }
  const salp = dx * eastX + dy * eastY
  const calp = cosine * dz - sine * (dx * eastY - dy * eastX)
  size = norm(salp, calp)
  walkSalp = salp / size
  walkCalp = calp / size
}
