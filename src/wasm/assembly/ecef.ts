/**
 * Earth-centred Cartesian coordinates of WGS 84 vertices, and what a straight chord says about the geodesic over it.
 *
 * In space there are no poles and no antimeridian, so boxes and bounds need no special cases.
 */
import { cosx, sincosDegrees, sinx, square } from './math'
import { a, e2 } from './series'

/** Smallest and greatest radius of curvature of the ellipsoid: meridian at the equator, any direction at a pole. */
export const RLO: f64 = 6335439.3272928195
export const RHI: f64 = 6399593.6257584931
/** Longer than any shortest geodesic on WGS 84, metres. */
export const LONGEST: f64 = 20004000
/** Doubles a position takes in a table of `toEcef`: x, y, z. */
export const ECEF_BYTES: usize = 24

/**
 * Writes x, y, z in metres for each vertex.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param out pointer to 3 doubles a vertex
 */
export function toEcef(vertices: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++) {
    positionOf(load<f64>(vertices, 8), load<f64>(vertices), out)
    vertices += 16
    out += ECEF_BYTES
  }
}

/** The same for one position in degrees. */
export function positionOf(lat: f64, lon: f64, out: usize): void {
  sincosDegrees(lat, 0)
  const normal = a / Math.sqrt(1 - e2 * square(sinx))
  const r = normal * cosx
  const z = normal * (1 - e2) * sinx
  sincosDegrees(lon, 0)
  store<f64>(out, r * cosx)
  store<f64>(out, r * sinx, 8)
  store<f64>(out, z, 16)
}

/** Square of the chord between two positions. */
@inline
export function chordSquare(p: usize, q: usize): f64 {
  return (
    square(load<f64>(p) - load<f64>(q)) +
    square(load<f64>(p, 8) - load<f64>(q, 8)) +
    square(load<f64>(p, 16) - load<f64>(q, 16))
  )
}

/**
 * Upper bound of the geodesic over a chord: 2·Rlo·asin(c / 2Rlo), with the series of the arcsine rounded up.
 * Beyond 5,000 km the bound says nothing useful and is that of every geodesic (decision 99).
 */
export function longestOver(chord: f64): f64 {
  if (chord > 5e6) return LONGEST
  const x2 = square(chord / (2 * RLO))
  return chord * (1 + x2 * (1.0 / 6 + 0.09 * x2))
}

/** Longest chord under a geodesic of this length: 2·Rhi·sin(s / 2Rhi), with room for the rounding of coordinates. */
export function chordUnder(length: f64): f64 {
  const c = 2 * RHI * Math.sin(length / (2 * RHI))
  return c * (1 + 1e-12) + 1e-8
}

/** How far a geodesic of at most this length can stand off its chord: it bends with at most 1 / Rlo. */
@inline
export function sagitta(length: f64): f64 {
  return square(length) / (8 * RLO)
}

/** Square of the distance in space from P to the straight segment A–B; all three point to x, y, z. */
export function segmentDistanceSquare(p: usize, from: usize, to: usize): f64 {
  const dx = load<f64>(to) - load<f64>(from)
  const dy = load<f64>(to, 8) - load<f64>(from, 8)
  const dz = load<f64>(to, 16) - load<f64>(from, 16)
  const qx = load<f64>(p) - load<f64>(from)
  const qy = load<f64>(p, 8) - load<f64>(from, 8)
  const qz = load<f64>(p, 16) - load<f64>(from, 16)
  const along = qx * dx + qy * dy + qz * dz
  if (along <= 0) return qx * qx + qy * qy + qz * qz
  const whole = dx * dx + dy * dy + dz * dz
  const t = along >= whole ? 1 : along / whole
  return square(qx - t * dx) + square(qy - t * dy) + square(qz - t * dz)
}

/**
 * A geodesic of at most this length, metres, strays from the plane through its ends and the Earth's centre by at most LEAN
 * of its sagitta: the plane leans by at most 0.00336 (the greatest angle between normal and radius) against the normals.
 */
export const PLANAR: f64 = 5e5
export const LEAN: f64 = 0.004
/** Rounding of positions in space, metres. */
export const ROUNDING: f64 = 4e-9

/** Set by `planeOffset`: how much of it may be rounding, for a short segment fixes its plane only as well as its ends. */
export let offsetRounding: f64 = 0

/** Signed distance of P from the plane through A, B and the Earth's centre, left of A–B positive; A and B differ. */
export function planeOffset(p: usize, from: usize, to: usize): f64 {
  const ax = load<f64>(from)
  const ay = load<f64>(from, 8)
  const az = load<f64>(from, 16)
  const dx = load<f64>(to) - ax
  const dy = load<f64>(to, 8) - ay
  const dz = load<f64>(to, 16) - az
  const nx = ay * dz - az * dy
  const ny = az * dx - ax * dz
  const nz = ax * dy - ay * dx
  const qx = load<f64>(p) - ax
  const qy = load<f64>(p, 8) - ay
  const qz = load<f64>(p, 16) - az
  offsetRounding =
    ROUNDING * (1 + Math.sqrt((qx * qx + qy * qy + qz * qz) / (dx * dx + dy * dy + dz * dz)))
  return (qx * nx + qy * ny + qz * nz) / Math.sqrt(nx * nx + ny * ny + nz * nz)
}
