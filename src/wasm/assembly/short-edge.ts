/**
 * Area between a short edge and the equator, without solving for the geodesic.
 *
 * Karney's S12 is the difference of two numbers of the size of e²a²: every edge, however short, adds 10⁻⁵ m² of rounding,
 * and rings of real data are dense. Here all terms shrink with the edge. A(φ) is the area between the equator and latitude φ
 * under one radian of longitude; along a geodesic its second derivative by length is −sin φ times that of the straight line
 * from end to end, which leaves λ/12 · sin φ · (x² + 3y²) above the mean of its ends, x and y being the extent of the edge
 * across and along the meridian. The next term is of the fifth order in the length: 4·10⁻⁷ m² at the limit below, which is
 * 2 km on the equator, 1 km at 60°, by quadrature.
 */
import { a, b, e2 } from './series'
import { cosx, sincosDegrees, sinx, square } from './math'

/** Largest chord as a share of the distance from the axis. */
const LIMIT: f64 = 1 / 3200.0
/** Largest difference of longitude in radians for which the chord is worth computing. */
const LIMIT_LONGITUDE: f64 = 1 / 2000.0

/** Results of `place`: sine of the latitude, distance from the axis and height above the equator, metres, A(φ). */
export let sphi: f64 = 0
export let r: f64 = 0
export let z: f64 = 0
export let A: f64 = 0

/** Result of `isShort`: mean of A(φ) along the edge. */
export let meanA: f64 = 0

/** Looks at one vertex; latitude in degrees. */
export function place(lat: f64): void {
  sincosDegrees(lat, 0)
  sphi = sinx
  const t = e2 * square(sinx)
  const N = a / Math.sqrt(1 - t)
  r = N * cosx
  z = N * (1 - e2) * sinx
  // b²/2 (s / (1 − t) + atanh(e s) / e) as a series, converged at t⁷.
  A =
    b * b * sinx * (1 + t * (2 / 3.0 + t * (3 / 5.0 + t * (4 / 7.0 + t * (5 / 9.0 + t * (6 / 11.0 + t * (7 / 13.0 + (t * 8) / 15)))))))
}

/** Whether the edge from a vertex to the one placed last is short; sets `meanA` then. */
export function isShort(lam12: f64, sphi1: f64, r1: f64, z1: f64, A1: f64): bool {
  if (Math.abs(lam12) > LIMIT_LONGITUDE) return false
  const r1r2 = r1 * r
  const lam2 = square(lam12)
  const x2 = r1r2 * lam2 * (1 - lam2 / 12)
  const y2 = square(r - r1) + square(z - z1)
  if (x2 + y2 > r1r2 * (LIMIT * LIMIT)) return false
  const sphim = ((sphi1 + sphi) / 2) * (1 + y2 / (8 * a * a))
  meanA = (A1 + A) / 2 + (sphim / 12) * (x2 + 3 * y2)
  return true
}
