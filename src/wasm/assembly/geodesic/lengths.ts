/** Distance, reduced length and geodesic scales between two points of one geodesic. inverse.ts introduces the letters. */
import { square } from '../math/math'
import { A1m1f, A2m1f, ep2 } from './series'
import { multiplySines, sumC1, sumC2 } from '../math/sines'

/** Distance / b. */
export let s12b: f64 = 0
/** Reduced length / b (Karney 2013, equation 38). */
export let m12b: f64 = 0
/** Geodesic scales (equation 46). */
export let scale12: f64 = 0
export let scale21: f64 = 0

/**
 * Sets the globals above.
 *
 * @param eps expansion parameter of the geodesic
 * @param sig12 arc length between the points on the auxiliary sphere, radians
 * @param ssig1 sine of σ1; the further arguments are named in the same way
 */
export function lengths(
  eps: f64, sig12: f64, ssig1: f64, csig1: f64, dn1: f64, ssig2: f64, csig2: f64, dn2: f64, cbet1: f64, cbet2: f64,
): void {
  const csig12 = csig1 * csig2 + ssig1 * ssig2
  multiplySines(ssig1, csig1, ssig2, csig2, Math.max(0, csig1 * ssig2 - ssig1 * csig2), csig12)
  const A1m1 = A1m1f(eps)
  const A2m1 = A2m1f(eps)
  const A1 = 1 + A1m1
  const A2 = 1 + A2m1
  const B1 = sumC1(eps)
  const B2 = sumC2(eps)
  s12b = A1 * (sig12 + B1)
  const J12 = (A1m1 - A2m1) * sig12 + (A1 * B1 - A2 * B2)
  // With these parentheses the terms of coincident points cancel exactly.
  m12b = dn2 * (csig1 * ssig2) - dn1 * (ssig1 * csig2) - csig1 * csig2 * J12
  const t = (ep2 * (cbet1 - cbet2) * (cbet1 + cbet2)) / (dn1 + dn2)
  scale12 = csig12 + ((t * ssig2 - csig2 * J12) * ssig1) / dn1
  scale21 = csig12 - ((t * ssig1 - csig1 * J12) * ssig2) / dn2
}

/** Expansion parameter of the geodesic with azimuth α0 at the equator (equation 16). */
export function expansion(calp0: f64): f64 {
  const k2 = square(calp0) * ep2
  return k2 / (2 * (1 + Math.sqrt(1 + k2)) + k2)
}
