/**
 * Distance, reduced length and geodesic scales between two points of one geodesic. docs/geodesy.md lists the letters.
 *
 * The series need sums Σ cl (sin 2lσ2 − sin 2lσ1) over one geodesic. They are computed as products:
 *
 *   sin 2lσ2 − sin 2lσ1 = 2 cos l(σ1 + σ2) sin l(σ2 − σ1)
 *
 * All series of the geodesic share these products, and nothing cancels in them when the ends are near each other.
 */
import { square } from '../math/math'
import {
  A1m1f,
  A2m1f,
  C311,
  C312,
  C313,
  C314,
  C315,
  C322,
  C323,
  C324,
  C325,
  C333,
  C334,
  C335,
  C344,
  C345,
  C355,
  ep2,
} from './series'

/** The products cos l(σ1 + σ2) sin l(σ2 − σ1) for l = 1 … 6. */
@unmanaged
export class SineProducts {
  p1: f64
  p2: f64
  p3: f64
  p4: f64
  p5: f64
  p6: f64
}

/** Stores the products for the ends σ1 and σ2 and for σ12 = σ2 − σ1 in [0, π], all given by their sines and cosines. */
@inline
export function multiplySines(ssig1: f64, csig1: f64, ssig2: f64, csig2: f64, ssig12: f64, csig12: f64, out: SineProducts): void {
  const c1 = csig1 * csig2 - ssig1 * ssig2
  const twoC = 2 * c1
  const c2 = twoC * c1 - 1
  const c3 = twoC * c2 - c1
  const c4 = twoC * c3 - c2
  const c5 = twoC * c4 - c3
  const twoD = 2 * csig12
  const s2 = twoD * ssig12
  const s3 = twoD * s2 - ssig12
  const s4 = twoD * s3 - s2
  const s5 = twoD * s4 - s3
  out.p1 = c1 * ssig12
  out.p2 = c2 * s2
  out.p3 = c3 * s3
  out.p4 = c4 * s4
  out.p5 = c5 * s5
  out.p6 = (twoC * c5 - c4) * (twoD * s5 - s4)
}

/** B1(σ2) − B1(σ1), equation 18. */
@inline
function sumC1(p: SineProducts, eps: f64): f64 {
  const eps2 = square(eps)
  return (
    2 *
    eps *
    (p.p1 * (((6 - eps2) * eps2 - 16) / 32) +
      eps *
        (p.p2 * (((64 - 9 * eps2) * eps2 - 128) / 2048) +
          eps *
            (p.p3 * ((9 * eps2 - 16) / 768) +
              eps * (p.p4 * ((3 * eps2 - 5) / 512) + eps * (p.p5 * (-7 / 1280.0) + eps * p.p6 * (-7 / 2048.0))))))
  )
}

/** B2(σ2) − B2(σ1). */
@inline
function sumC2(p: SineProducts, eps: f64): f64 {
  const eps2 = square(eps)
  return (
    2 *
    eps *
    (p.p1 * ((eps2 * (eps2 + 2) + 16) / 32) +
      eps *
        (p.p2 * ((eps2 * (35 * eps2 + 64) + 384) / 2048) +
          eps *
            (p.p3 * ((15 * eps2 + 80) / 768) +
              eps * (p.p4 * ((7 * eps2 + 35) / 512) + eps * (p.p5 * (63 / 1280.0) + eps * p.p6 * (77 / 2048.0))))))
  )
}

/** B3(σ2) − B3(σ1). */
@inline
export function sumC3(p: SineProducts, eps: f64): f64 {
  return (
    2 *
    eps *
    (p.p1 * (C311 + eps * (C312 + eps * (C313 + eps * (C314 + eps * C315)))) +
      eps *
        (p.p2 * (C322 + eps * (C323 + eps * (C324 + eps * C325))) +
          eps * (p.p3 * (C333 + eps * (C334 + eps * C335)) + eps * (p.p4 * (C344 + eps * C345) + eps * p.p5 * C355))))
  )
}

/**
 * J(σ2) − J(σ1) of the reduced length to the second order in ε: accurate to 10⁻⁸, enough for a Newton
 * slope.
 */
@inline
export function roughJ12(p: SineProducts, eps: f64, sig12: f64): f64 {
  return eps * ((2 + eps) * sig12 - 2 * p.p1 - (eps / 2) * p.p2)
}

@unmanaged
export class Lengths {
  /** Distance / b. */
  s12b: f64
  /** Reduced length / b (Karney 2013). */
  m12b: f64
  /** Geodesic scales M12 and M21. */
  M12: f64
  M21: f64
}

/** The products of the last call of `lengths`. */
const p = changetype<SineProducts>(memory.data(offsetof<SineProducts>(), 8))

/**
 * Stores distance, reduced length and geodesic scales between two points of one geodesic.
 *
 * @param eps expansion parameter of the geodesic
 * @param sig12 arc length between the points on the auxiliary sphere, radians
 * @param ssig1 sine of σ1; the further arguments are named in the same way
 */
export function lengths(
  eps: f64,
  sig12: f64,
  ssig1: f64,
  csig1: f64,
  dn1: f64,
  ssig2: f64,
  csig2: f64,
  dn2: f64,
  cbet1: f64,
  cbet2: f64,
  out: Lengths,
): void {
  const csig12 = csig1 * csig2 + ssig1 * ssig2
  multiplySines(ssig1, csig1, ssig2, csig2, Math.max(0, csig1 * ssig2 - ssig1 * csig2), csig12, p)
  const A1m1 = A1m1f(eps)
  const A2m1 = A2m1f(eps)
  const A1 = 1 + A1m1
  const A2 = 1 + A2m1
  const B1 = sumC1(p, eps)
  const B2 = sumC2(p, eps)
  out.s12b = A1 * (sig12 + B1)
  const J12 = (A1m1 - A2m1) * sig12 + (A1 * B1 - A2 * B2)
  // With these parentheses the terms of coincident points cancel exactly.
  out.m12b = dn2 * (csig1 * ssig2) - dn1 * (ssig1 * csig2) - csig1 * csig2 * J12
  const t = (ep2 * (cbet1 - cbet2) * (cbet1 + cbet2)) / (dn1 + dn2)
  out.M12 = csig12 + ((t * ssig2 - csig2 * J12) * ssig1) / dn1
  out.M21 = csig12 - ((t * ssig1 - csig1 * J12) * ssig2) / dn2
}
