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
 */
import { Waypoint } from '../geodesic/direct'
import { a, b, e2 } from '../geodesic/series'
import { DEGREE, norm, SineCosine, sincosDegrees, square } from '../math/math'
import { OBLATE } from './ecef'

/** Longest edge and greatest distance for which this file may be used, metres. */
export const NEAR_LENGTH: f64 = 1e4
export const NEAR_DISTANCE: f64 = 1e4

/** An edge between two positions in space: its start, its chord, and values derived from them. */
@unmanaged
export class NearEdge {
  start: usize
  dx: f64
  dy: f64
  dz: f64
  chordSquare: f64
  /** Unit normal of the ellipsoid at the middle of the chord. */
  nx: f64
  ny: f64
  nz: f64
  /** κ, 1/m. */
  kappa: f64
  /** κτ/6, 1/m². */
  torsion: f64
  /** Asymmetry of the rise, 1/m: the curvature changes along the edge. */
  skew: f64
  /** κ²L²/4, for the rise of a circle above its parabola (`setFoot`). */
  bulge: f64
  /** Square of the greatest slope of the arc against the chord. */
  spread: f64
  /** Metres. */
  length: f64
}

/** A point of an edge and, where it is the foot of a point P, the vector from it to P. */
@unmanaged
export class Foot {
  /** As a fraction of the chord from the start. */
  fraction: f64
  /** Relative to the start of the edge. */
  x: f64
  y: f64
  z: f64
  wx: f64
  wy: f64
  wz: f64
  wSquare: f64
}

/** Fills an edge from its two positions. */
export function setNear(edge: NearEdge, from: usize, to: usize): void {
  const ax = load<f64>(from)
  const ay = load<f64>(from, 8)
  const az = load<f64>(from, 16)
  const dx = load<f64>(to) - ax
  const dy = load<f64>(to, 8) - ay
  const dz = load<f64>(to, 16) - az
  const chordSquare = dx * dx + dy * dy + dz * dz
  let nx = ax + dx / 2
  let ny = ay + dy / 2
  let nz = (az + dz / 2) * OBLATE
  const size = 1 / Math.sqrt(nx * nx + ny * ny + nz * nz)
  nx *= size
  ny *= size
  nz *= size
  edge.start = from
  edge.dx = dx
  edge.dy = dy
  edge.dz = dz
  edge.chordSquare = chordSquare
  edge.nx = nx
  edge.ny = ny
  edge.nz = nz
  if (chordSquare == 0) {
    edge.kappa = 0
    edge.torsion = 0
    edge.skew = 0
    edge.bulge = 0
    edge.spread = 0
    edge.length = 0
    return
  }
  const stretch = (OBLATE - 1) * dz
  const kappa = ((chordSquare + stretch * dz) / chordSquare) * size
  edge.kappa = kappa
  // κτ/6. The torsion τ follows from (M d)·ν, with M = diag(1, 1, 1/(1 − e²)) and the left normal ν along n × d. Because
  // d·ν = 0, only the z components are needed.
  edge.torsion = (kappa * stretch * (nx * dy - ny * dx) * size) / (6 * chordSquare)
  // Along the edge the curvature changes by the fraction 3κ·(e′²·nz·dz).
  edge.skew = (kappa * kappa * stretch * nz) / 2
  const x = kappa * kappa * chordSquare
  // A circle rises higher than its parabola by the fraction κ²(U² + u²)/4, with U = L/2 and u the distance from the middle.
  edge.bulge = x / 4
  edge.spread = 0.2601 * x // (0.51 κL)²: the square of the greatest slope of the arc, rounded up
  edge.length = Math.sqrt(chordSquare) * (1 + x * (1.0 / 24 + x * (3.0 / 640)))
}

/** Stores the point of the edge over a given fraction of its chord. */
@inline
function setFoot(edge: NearEdge, fraction: f64, foot: Foot): void {
  const dx = edge.dx
  const dy = edge.dy
  const dz = edge.dz
  const nx = edge.nx
  const ny = edge.ny
  const nz = edge.nz
  const half = fraction - 0.5
  const parabola = (0.25 - half * half) * edge.chordSquare
  const rise = parabola * (edge.kappa / 2 - edge.skew * half) * (1 + edge.bulge * (0.25 + half * half))
  // w is proportional to L³. n × d is as long as the chord, and `parabola` has the factor chordSquare.
  const sideways = edge.torsion * half * parabola
  foot.fraction = fraction
  foot.x = fraction * dx + nx * rise + (ny * dz - nz * dy) * sideways
  foot.y = fraction * dy + ny * rise + (nz * dx - nx * dz) * sideways
  foot.z = fraction * dz + nz * rise + (nx * dy - ny * dx) * sideways
}

/**
 * Stores the foot of a point on the edge. Returns a lower bound of the chord between the point and the edge, up to
 * rounding.
 */
export function projectPoint(edge: NearEdge, position: usize, foot: Foot): f64 {
  const start = edge.start
  const qx = load<f64>(position) - load<f64>(start)
  const qy = load<f64>(position, 8) - load<f64>(start, 8)
  const qz = load<f64>(position, 16) - load<f64>(start, 16)
  const along = qx * edge.dx + qy * edge.dy + qz * edge.dz
  const chordSquare = edge.chordSquare
  setFoot(edge, along <= 0 ? 0 : along >= chordSquare ? 1 : along / chordSquare, foot)
  const wx = qx - foot.x
  const wy = qy - foot.y
  const wz = qz - foot.z
  const wSquare = wx * wx + wy * wy + wz * wz
  foot.wx = wx
  foot.wy = wy
  foot.wz = wz
  foot.wSquare = wSquare
  // The nearest point of the arc is not exactly over the foot of the chord, because the arc rises; `spread` bounds its
  // slope.
  const gap = wx * edge.nx + wy * edge.ny + wz * edge.nz
  return Math.sqrt(Math.max(0, wSquare - edge.spread * gap * gap))
}

/**
 * Distance from the point that `projectPoint` projected to its foot, metres. The error bound holds for edges up to
 * NEAR_LENGTH and distances up to NEAR_DISTANCE.
 */
export function nearDistance(edge: NearEdge, foot: Foot): f64 {
  const wSquare = foot.wSquare
  if (wSquare == 0) return 0
  const mx = load<f64>(edge.start) + foot.x + foot.wx / 2
  const my = load<f64>(edge.start, 8) + foot.y + foot.wy / 2
  const mz = (load<f64>(edge.start, 16) + foot.z + foot.wz / 2) * OBLATE
  // κ = w·Mw / (w·w |Mm|)
  const x = square(wSquare + (OBLATE - 1) * foot.wz * foot.wz) / (wSquare * (mx * mx + my * my + mz * mz))
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
 * Returns where the edge is nearest to the point that `projectPoint` projected, as a fraction of the edge, or −1 where
 * positions in space are not accurate enough to tell. The point must be at most FRACTION_DISTANCE away and not on the
 * edge.
 */
export function nearestFraction(edge: NearEdge, foot: Foot): f64 {
  const chordSquare = edge.chordSquare
  // Project onto the tangent at the foot instead of the chord.
  const tilt = (0.5 - foot.fraction) * chordSquare * edge.kappa
  const along = foot.wx * (edge.dx + edge.nx * tilt) + foot.wy * (edge.dy + edge.ny * tilt) + foot.wz * (edge.dz + edge.nz * tilt)
  const margin = SKEW_ANGLE * Math.sqrt(foot.wSquare * chordSquare)
  if (foot.fraction == 0 && along < -margin) return 0
  if (foot.fraction == 1 && along > margin) return 1
  if (foot.wSquare > FOOT_DISTANCE * FOOT_DISTANCE) return -1
  return Math.max(0, Math.min(1, foot.fraction + along / chordSquare))
}

const walked = changetype<Foot>(memory.data(offsetof<Foot>(), 8))
const east = changetype<SineCosine>(memory.data(offsetof<SineCosine>(), 8))

/**
 * Stores the point at a fraction of the edge and the azimuth there.
 *
 * @param poleLon the longitude to report if the point is a pole
 */
export function walkNear(edge: NearEdge, fraction: f64, poleLon: f64, out: Waypoint): void {
  const start = edge.start
  const dx = edge.dx
  const dy = edge.dy
  setFoot(edge, fraction, walked)
  const x = load<f64>(start) + walked.x
  const y = load<f64>(start, 8) + walked.y
  const z = load<f64>(start, 16) + walked.z
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
    out.lat = z > 0 ? 90 : -90
    out.lon = poleLon
    sincosDegrees(poleLon, 0, east)
    eastX = -east.sine
    eastY = east.cosine
  } else {
    out.lat = Math.atan2(sine, cosine) / DEGREE
    out.lon = Math.atan2(y, x) / DEGREE
  }
  const salp = dx * eastX + dy * eastY
  const calp = cosine * edge.dz - sine * (dx * eastY - dy * eastX)
  size = norm(salp, calp)
  out.salp = salp / size
  out.calp = calp / size
}
