/**
 * Lower bounds for branch and bound. Let f(t) be the distance from a fixed point to the point at t metres along a
 * geodesic. On an interval, f and f' are known at both ends and a bound of a higher derivative inside; that gives a
 * lower bound of f on the whole interval. When it is not below the least distance so far, the search can skip the
 * interval. point-edge.ts derives the bounds of f''.
 *
 * Arguments: h is the length of the interval in metres, f0 and f1 are f at its ends, d0 and d1 are f' there.
 */
import { b } from '../geodesic/series'

/** Metres. Near πb (19,970 km) cot(r/b) tends to −∞, so the bound is useless beyond this distance. */
export const BOUNDED_TO: f64 = 0.98 * Math.PI * b
/**
 * Radians. Let ρ ≤ 0.3 be the largest deviation of r/b from a right angle on the interval. Then the fourth derivative
 * of f is below (0.1 + 3ρ)/b³.
 *
 * On the sphere f = arccos(A·cos t). To the first order of u = A·cos t its fourth derivative is −u·(1 − A²)(1 − 9A²),
 * at most 16/9·ρ; its closed form gives 1.78ρ at ρ = 0.02 and 2.07ρ at ρ = 0.3. The remaining 0.1 + 0.9ρ is a margin
 * for the ellipsoid, whose curvature differs from a sphere's by e² = 0.0067. The margin is not proved, but 59,759
 * random lines used only 0.005 of it.
 */
export const SMOOTH: f64 = 0.3
/**
 * Lower bound of f on an interval where no point is farther than `farthest` metres. There f'' ≥ cot(farthest / b) / b.
 */
export function tangentBound(h: f64, f0: f64, d0: f64, f1: f64, d1: f64, farthest: f64): f64 {
  const angle = farthest / b
  const kappa = Math.max(0, -Math.cos(angle) / (b * Math.sin(angle)))
  // f minus the parabola kappa/2 · t(h − t), which is ≥ 0 and vanishes at both ends, is convex and not above f. So the
  // tangents of the difference bound f from below; the least value is where they meet.
  const s0 = d0 - (kappa * h) / 2
  const s1 = d1 + (kappa * h) / 2
  if (s0 >= 0) return f0
  if (s1 <= 0) return f1
  return (f0 * s1 - f1 * s0 + s0 * s1 * h) / (s1 - s0)
}

/**
 * Lower bound of f on an interval from the cubic Hermite interpolant, whose error is at most f''''·h⁴/384.
 *
 * @param fourth upper bound of |f''''| on the interval
 */
export function cubicBound(h: f64, f0: f64, d0: f64, f1: f64, d1: f64, fourth: f64): f64 {
  const secant = (f1 - f0) / h
  const c2 = (3 * secant - 2 * d0 - d1) / h
  const c3 = (d0 + d1 - 2 * secant) / (h * h)
  const x = leastOfCubic(c2, c3, d0)
  let least = Math.min(f0, f1)
  if (x > 0 && x < h) least = Math.min(least, f0 + x * (d0 + x * (c2 + x * c3)))
  return least - (fourth * (h * h) * (h * h)) / 384
}

/** Where the interpolant of `cubicBound` has its minimum, metres from the start of the interval; h/2 if it has none. */
export function cubicMinimum(h: f64, f0: f64, d0: f64, f1: f64, d1: f64): f64 {
  const secant = (f1 - f0) / h
  const x = leastOfCubic((3 * secant - 2 * d0 - d1) / h, (d0 + d1 - 2 * secant) / (h * h), d0)
  return x > 0 && x < h ? x : h / 2
}

/** Where d0·x + c2·x² + c3·x³ has its local minimum; −1 if it has none. */
@inline
function leastOfCubic(c2: f64, c3: f64, d0: f64): f64 {
  const discriminant = c2 * c2 - 3 * c3 * d0
  return discriminant > 0 ? -d0 / (c2 + Math.sqrt(discriminant)) : -1
}
