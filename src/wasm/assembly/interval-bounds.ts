/**
 * Lower bounds of the distance f from a point to the points of a geodesic, on an interval of it, by f and f' at both ends;
 * `point-edge.ts` says what is known of f''.
 */
import { b } from './series'

/** Beyond this cot(r/b) is of no use: πb is 19,970 km. */
export const BOUNDED_TO: f64 = 0.98 * Math.PI * b
/**
 * Where r/b is within 0.3 of a right angle, ρ away from it at most, the fourth derivative of f is below (0.1 + 3ρ)/b³.
 *
 * On the sphere f = arccos(A·cos t), whose fourth derivative is −u·(1 − A²)(1 − 9A²) to the first order of u = A·cos t: at
 * most 16/9·ρ, and by its closed form 1.78ρ at 0.02 and 2.07ρ at 0.3. What is left, 0.1 + 0.9ρ, is for the ellipsoid, whose
 * curvature differs from a sphere's by e² = 0.0067: not proved, but 59,759 random lines took 0.005 of it.
 */
export const SMOOTH: f64 = 0.3
/** Lower bound of f on an interval of length h where no point is farther than `farthest`: f'' ≥ cot(farthest / b) / b. */
export function tangentBound(h: f64, f0: f64, d0: f64, f1: f64, d1: f64, farthest: f64): f64 {
  const angle = farthest / b
  const kappa = Math.max(0, -Math.cos(angle) / (b * Math.sin(angle)))
  // f minus a parabola that vanishes at both ends is convex and nowhere above f: its tangents bound it.
  const s0 = d0 - (kappa * h) / 2
  const s1 = d1 + (kappa * h) / 2
  if (s0 >= 0) return f0
  if (s1 <= 0) return f1
  return (f0 * s1 - f1 * s0 + s0 * s1 * h) / (s1 - s0)
}

/** Where the cubic of `cubicBound` is least, metres from the start of the interval. */
export let cubicLeastAt: f64 = 0

/** Lower bound of f on an interval of length h: the cubic with the same ends, which errs by at most f''''·h⁴/384. */
export function cubicBound(h: f64, f0: f64, d0: f64, f1: f64, d1: f64, fourth: f64): f64 {
  const secant = (f1 - f0) / h
  const c2 = (3 * secant - 2 * d0 - d1) / h
  const c3 = (d0 + d1 - 2 * secant) / (h * h)
  const discriminant = c2 * c2 - 3 * c3 * d0
  let least = Math.min(f0, f1)
  cubicLeastAt = h / 2
  if (discriminant > 0) {
    const x = -d0 / (c2 + Math.sqrt(discriminant))
    if (x > 0 && x < h) {
      cubicLeastAt = x
      least = Math.min(least, f0 + x * (d0 + x * (c2 + x * c3)))
    }
  }
  return least - (fourth * (h * h) * (h * h)) / 384
}
