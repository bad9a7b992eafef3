/**
 * Edges of at most 10 km, and the distances of points near them, from positions in space alone: no geodesic is solved.
 *
 * The chord A–B is perpendicular to the normal of the ellipsoid's direction at its middle, (x, y, z/(1 − e²)), and the edge
 * stands over it like a parabola of the edge's normal curvature κ. Sideways it leaves that plane by the geodesic torsion τ,
 * w(s) = κτ·((L/2)² − s²)·s/6 with s counted from the middle: 0.7 µm for 10 km. The geodesic over a chord c between two
 * points of the surface is c·(1 + x/24 + 3x²/640), x = κ²c², with κ in the direction of the chord at its middle.
 *
 * Against Karney's solution distances up to 10 km are within 6 nm, most of which is the rounding of positions.
 */
import { OBLATE } from './ecef'
import { DEGREE, norm, sincosDegrees, square } from './math'
import * as angle from './math'
import { a, b, e2 } from './series'

/** Longest edge and greatest distance, metres, for which this is used. */
export const NEAR_LENGTH: f64 = 1e4
export const NEAR_DISTANCE: f64 = 1e4

// The edge: its start, the chord and what follows from it.
let start: usize = 0
let dx: f64 = 0
let dy: f64 = 0
let dz: f64 = 0
let chordSquare: f64 = 0
/** Unit normal in the middle. */
let nx: f64 = 0
let ny: f64 = 0
let nz: f64 = 0
let kappa: f64 = 0
let torsion: f64 = 0
let skew: f64 = 0
let bulge: f64 = 0
let spread: f64 = 0

// The point that was looked at last: from the edge to it, and the share of the chord that its foot is at.
let wx: f64 = 0
let wy: f64 = 0
let wz: f64 = 0
let footX: f64 = 0
let footY: f64 = 0
let footZ: f64 = 0
let wSquare: f64 = 0

/** Set by `setNear`: length of the edge in metres. */
export let nearLength: f64 = 0
/** Set by `lookNear`: where on the edge the point's foot is, as a share of it. */
export let footShare: f64 = 0

/** Chooses the edge between two positions. */
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
  // κ·τ/6 · L³ over the left normal n × d, whose z is all that M d·ν needs.
  torsion = (kappa * stretch * (nx * dy - ny * dx) * size) / (6 * chordSquare)
  // Along the edge the curvature changes by the share 3κ·(e′²·nz·dz).
  skew = (kappa * kappa * stretch * nz) / 2
  const x = kappa * kappa * chordSquare
  // A circle stands higher than its parabola by this share, U and u from the middle: κ²(U² + u²)/4.
  bulge = x / 4
  spread = 0.2601 * x // (0.51 κL)²: the greatest slope of the arc, and a little more
  nearLength = Math.sqrt(chordSquare) * (1 + x * (1.0 / 24 + x * (3.0 / 640)))
}

/** Sets the foot: the point of the edge over a share of its chord. */
@inline
function place(share: f64): void {
  const half = share - 0.5
  const parabola = (0.25 - half * half) * chordSquare
  const rise = parabola * (kappa / 2 - skew * half) * (1 + bulge * (0.25 + half * half))
  // n × d is as long as the chord, so the chord's square makes the rest of the cube of the length.
  const aside = torsion * half * parabola
  footX = share * dx + nx * rise + (ny * dz - nz * dy) * aside
  footY = share * dy + ny * rise + (nz * dx - nx * dz) * aside
  footZ = share * dz + nz * rise + (nx * dy - ny * dx) * aside
}

/** Looks at a point from the edge; returns a lower bound of the chord between them, up to rounding. */
export function lookNear(position: usize): f64 {
  const qx = load<f64>(position) - load<f64>(start)
  const qy = load<f64>(position, 8) - load<f64>(start, 8)
  const qz = load<f64>(position, 16) - load<f64>(start, 16)
  const along = qx * dx + qy * dy + qz * dz
  footShare = along <= 0 ? 0 : along >= chordSquare ? 1 : along / chordSquare
  place(footShare)
  wx = qx - footX
  wy = qy - footY
  wz = qz - footZ
  wSquare = wx * wx + wy * wy + wz * wz
  // The nearest point of the arc lies a little beside the foot of its chord, where it stands higher or lower.
  const gap = wx * nx + wy * ny + wz * nz
  return Math.sqrt(Math.max(0, wSquare - spread * gap * gap))
}

/** Distance from the point of `lookNear` to the edge, metres; they are at most NEAR_LENGTH and NEAR_DISTANCE. */
export function nearDistance(): f64 {
  if (wSquare == 0) return 0
  const mx = load<f64>(start) + footX + wx / 2
  const my = load<f64>(start, 8) + footY + wy / 2
  const mz = (load<f64>(start, 16) + footZ + wz / 2) * OBLATE
  // κ = w·Mw / (w·w |Mm|)
  const x = square(wSquare + (OBLATE - 1) * wz * wz) / (wSquare * (mx * mx + my * my + mz * mz))
  return Math.sqrt(wSquare) * (1 + x * (1.0 / 24 + x * (3.0 / 640)))
}

/** How far from a right angle the chord of `lookNear` may meet the edge at its foot by the ellipsoid alone: e²(D/R)²/12 < 4·10⁻⁶. */
const SKEW_ANGLE: f64 = 1e-5
/** Metres up to which that does not matter: the foot is wrong by less than 15 mm at 100 km, the distance by 1 nm. */
const FOOT_DISTANCE: f64 = 1e5
/** Metres up to which `nearestShare` answers. */
export const SHARE_DISTANCE: f64 = 5e5

/**
 * The share of the edge that is nearest to the point of `lookNear`, at most SHARE_DISTANCE away and not on the edge; −1 where
 * space does not tell exactly enough.
 */
export function nearestShare(): f64 {
  // Along the tangent at the foot rather than along the chord.
  const tilt = (0.5 - footShare) * chordSquare * kappa
  const along = wx * (dx + nx * tilt) + wy * (dy + ny * tilt) + wz * (dz + nz * tilt)
  const room = SKEW_ANGLE * Math.sqrt(wSquare * chordSquare)
  if (footShare == 0 && along < -room) return 0
  if (footShare == 1 && along > room) return 1
  if (wSquare > FOOT_DISTANCE * FOOT_DISTANCE) return -1
  return Math.max(0, Math.min(1, footShare + along / chordSquare))
}

/** Results of `walkNear`: degrees, and the direction of the edge there. */
export let walkLat: f64 = 0
export let walkLon: f64 = 0
export let walkSalp: f64 = 0
export let walkCalp: f64 = 0

/**
 * Where the edge is at a share of its length, and its azimuth.
 *
 * @param poleLon the longitude that a pole has, should this be one
 */
export function walkNear(share: f64, poleLon: f64): void {
  place(share)
  const x = load<f64>(start) + footX
  const y = load<f64>(start, 8) + footY
  const z = load<f64>(start, 16) + footZ
  const r = norm(x, y)
  // Bowring's formula, exact to picometres at heights of nanometres.
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
