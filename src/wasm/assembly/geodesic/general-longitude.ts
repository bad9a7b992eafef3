/**
 * Longitudes on the ellipsoid and on the auxiliary sphere, for one lane or two; general-length.ts and general-area.ts
 * share them. general-length.ts explains the method. All functions are pure expressions of their arguments. After
 * inlining the compiler merges equal expressions, so a common subexpression of two functions is computed once.
 *
 * Names, besides Karney's letters (inverse.ts), with point 1 being the one of higher |latitude|:
 *
 * | name | meaning |
 * | --- | --- |
 * | ss, cc | sin β1 sin β2, cos β1 cos β2 |
 * | cs, sc | cos β1 sin β2, sin β1 cos β2 |
 * | cbetFar | cos β2 |
 * | slam, clam, somg, comg, ssig, csig | sine and cosine of λ12, ω12, σ12 |
 * | salp0, calp0Square | sin α0, cos² α0 |
 * | G | ε cos 2σm, σm being the mean of σ1 and σ2 |
 * | step | ω − λ |
 */

import {
  absLanes,
  add,
  atan2Lanes,
  div,
  ifLess,
  mul,
  mulAdd,
  negate,
  polynomial1,
  polynomial2,
  polynomial3,
  polynomial4,
  polynomial5,
  smallCosm1,
  smallSin,
  splat,
  sqrtLanes,
  sub,
} from '../math/lanes'
import { C400, C401, C402, C403, C404, C411, C412, C413, C414, C422, C423, C424, C433, C434, C444, ep2, f, n } from './series'

/*
 * The series of Karney, Algorithms for geodesics, J. Geodesy 87 (2013), on WGS 84, truncated to what general edges
 * need: the omitted terms stay below 0.1 nm of a length and 10⁻⁴ m² of the area under the longest line. series.ts has
 * the full series.
 *
 * The products below (`product1` …) already contain the factor ε^k. So the table of a coefficient begins with the order
 * k; its entries multiply further powers of ε or, where only every second power occurs, of ε².
 */

/** ε / k² by powers of k² = e'² cos²α0. */
const EXPANSION = memory.data<f64>([1 / 4.0, -1 / 8.0, 5 / 64.0, -7 / 128.0, 21 / 512.0, -33 / 1024.0])

/** (A1 − 1) / ε (expanded). */
export const A1 = memory.data<f64>([1, 5 / 4.0, 5 / 4.0, 81 / 64.0, 81 / 64.0])

/** C1 (equation 18), by powers of ε². */
export const C11 = memory.data<f64>([-1 / 2.0, 3 / 16.0, -1 / 32.0])
export const C12 = memory.data<f64>([-1 / 16.0, 1 / 32.0])
export const C13 = memory.data<f64>([-1 / 48.0, 3 / 256.0])
export const C14: f64 = -5 / 512.0
export const C15: f64 = -7 / 1280.0

/** A3. */
const A3 = memory.data<f64>([1, (n - 1) / 2, (n * (3 * n - 1) - 2) / 8, (n * (-n - 3) - 1) / 16, (-2 * n - 3) / 64, -3 / 128.0])

/** C3. */
const C31 = memory.data<f64>([(1 - n) / 4, (1 - n * n) / 8, (n * (3 - n) + 3) / 64, (2 * n + 5) / 128])
const C32 = memory.data<f64>([(n * (n - 3) + 2) / 32, (n * (-3 * n - 2) + 3) / 64, (n + 3) / 128])
const C33 = memory.data<f64>([(n * (5 * n - 9) + 5) / 192, (9 - 10 * n) / 384])
const C34: f64 = (7 - 14 * n) / 512

/** C4, to the fourth order. */
export const C40 = memory.data<f64>([C400, C401, C402, C403, C404])
export const C41 = memory.data<f64>([C411, C412, C413, C414])
export const C42 = memory.data<f64>([C422, C423, C424])
export const C43 = memory.data<f64>([C433, C434])
export const C44: f64 = C444

/** ε / cos²α0 by powers of k², to low order, for the first step. */
const FIRST_EXPANSION = memory.data<f64>([ep2 / 4, -ep2 / 8, (5 * ep2) / 64])

/** Keeps quotients finite when the points coincide. For any distance above 10⁻²⁷⁷ m, rounding removes it. */
const ZERO_GUARD: f64 = 1e-300

/** Selects x1 or x2, the one of the point of higher |latitude|, so that a line and its reverse give the same bits. */
@inline
export function atHigherLatitude<T>(lat1: T, lat2: T, x1: T, x2: T): T {
  return ifLess<T>(absLanes<T>(lat1), absLanes<T>(lat2), x2, x1)
}

/** sin σ12 of the spherical triangle with the longitude difference ω. */
@inline
export function sinArc<T>(cbetFar: T, cs: T, sc: T, somg: T, comg: T): T {
  const x = mul<T>(cbetFar, somg)
  const y = sub<T>(cs, mul<T>(sc, comg))
  return sqrtLanes<T>(mulAdd<T>(x, x, mul<T>(y, y)))
}

/** cos σ12. */
@inline
export function cosArc<T>(ss: T, cc: T, comg: T): T {
  return mulAdd<T>(cc, comg, ss)
}

@inline
function reciprocal<T>(ssig: T): T {
  return div<T>(splat<T>(1), add<T>(ssig, splat<T>(ZERO_GUARD)))
}

/** sin α0. */
@inline
export function sinAlp0<T>(cc: T, somg: T, ssig: T): T {
  return mul<T>(mul<T>(cc, somg), reciprocal<T>(ssig))
}

/** d sin α0 / dω between the two parallels. */
@inline
export function sinAlp0Slope<T>(cc: T, comg: T, salp0: T, ssig: T, csig: T): T {
  return mul<T>(sub<T>(mul<T>(cc, comg), mul<T>(mul<T>(salp0, salp0), csig)), reciprocal<T>(ssig))
}

/** sin (λ + step) and cos (λ + step) for a step below 0.02. */
@inline
export function sinShifted<T>(slam: T, clam: T, step: T): T {
  return add<T>(slam, mulAdd<T>(slam, smallCosm1<T>(step), mul<T>(clam, smallSin<T>(step))))
}

@inline
export function cosShifted<T>(slam: T, clam: T, step: T): T {
  return add<T>(clam, sub<T>(mul<T>(clam, smallCosm1<T>(step)), mul<T>(slam, smallSin<T>(step))))
}

/** 1 / (1 − I'(ω)), the ratio of Newton's step to the residual. I' is below 0.02 wherever the guards pass. */
@inline
export function newtonGain<T>(fA3: T, sig: T, salp0: T, slope: T): T {
  const one = splat<T>(1)
  const y = mul<T>(fA3, mulAdd<T>(sig, slope, mul<T>(salp0, salp0)))
  return mulAdd<T>(y, mulAdd<T>(y, add<T>(y, one), one), one)
}

/** f A3 to low order. */
@inline
export function roughFA3<T>(eps: T): T {
  return mul<T>(polynomial2<T>(A3, eps), splat<T>(f))
}

/**
 * A first estimate of ω − λ, from the triangle with ω = λ: Newton's step for the equation ω = λ + I(ω), plus a
 * correction for the curvature of I. Accurate to 10⁻⁹ on most of the Earth.
 */
@inline
export function firstStep<T>(cbetFar: T, cs: T, sc: T, ss: T, cc: T, slam: T, clam: T): T {
  const ssig = sinArc<T>(cbetFar, cs, sc, slam, clam)
  const csig = cosArc<T>(ss, cc, clam)
  const sig = atan2Lanes<T>(ssig, csig)
  const salp0 = sinAlp0<T>(cc, slam, ssig)
  const calp0Square = sub<T>(splat<T>(1), mul<T>(salp0, salp0))
  const ratio = polynomial2<T>(FIRST_EXPANSION, mul<T>(calp0Square, splat<T>(ep2)))
  const eps = mul<T>(ratio, calp0Square)
  const G = mul<T>(ratio, sub<T>(mul<T>(calp0Square, csig), add<T>(ss, ss)))
  const fA3 = roughFA3<T>(eps)
  const B3 = mul<T>(mul<T>(polynomial1<T>(C31, eps), add<T>(G, G)), ssig)
  const excess = mul<T>(mul<T>(salp0, fA3), add<T>(sig, B3))
  const slope = sinAlp0Slope<T>(cc, clam, salp0, ssig, csig)
  const cotTimesSlope = mul<T>(mul<T>(csig, reciprocal<T>(ssig)), slope)
  const bend = negate<T>(mul<T>(salp0, add<T>(calp0Square, mul<T>(splat<T>(3), cotTimesSlope)))) // d² sin α0 / dω²
  const curvature = mul<T>(fA3, mulAdd<T>(sig, bend, mul<T>(splat<T>(3), mul<T>(salp0, slope))))
  const gain = newtonGain<T>(fA3, sig, salp0, slope)
  const newton = mul<T>(excess, gain)
  return mulAdd<T>(mul<T>(mul<T>(newton, newton), mul<T>(curvature, splat<T>(0.5))), gain, newton)
}

/** ε / cos²α0. */
@inline
export function expansionRatio<T>(calp0Square: T): T {
  return mul<T>(polynomial5<T>(EXPANSION, mul<T>(calp0Square, splat<T>(ep2))), splat<T>(ep2))
}

/** G = ε cos 2σm. */
@inline
export function firstHarmonic<T>(calp0Square: T, csig: T, ss: T): T {
  return mul<T>(expansionRatio<T>(calp0Square), sub<T>(mul<T>(calp0Square, csig), add<T>(ss, ss)))
}

/** ε^k cos 2kσm for k = 2 … 5 by the recurrence of cosines. */
@inline
function harmonic2<T>(G: T, eps2: T): T {
  return sub<T>(mul<T>(add<T>(G, G), G), eps2)
}
@inline
function harmonic3<T>(G: T, eps2: T): T {
  return sub<T>(mul<T>(add<T>(G, G), harmonic2<T>(G, eps2)), mul<T>(eps2, G))
}
@inline
function harmonic4<T>(G: T, eps2: T): T {
  return sub<T>(mul<T>(add<T>(G, G), harmonic3<T>(G, eps2)), mul<T>(eps2, harmonic2<T>(G, eps2)))
}
@inline
function harmonic5<T>(G: T, eps2: T): T {
  return sub<T>(mul<T>(add<T>(G, G), harmonic4<T>(G, eps2)), mul<T>(eps2, harmonic3<T>(G, eps2)))
}

/** sin kσ12 for k = 2 … 5. */
@inline
function sine2<T>(s: T, c: T): T {
  return mul<T>(add<T>(c, c), s)
}
@inline
function sine3<T>(s: T, c: T): T {
  return sub<T>(mul<T>(add<T>(c, c), sine2<T>(s, c)), s)
}
@inline
function sine4<T>(s: T, c: T): T {
  return sub<T>(mul<T>(add<T>(c, c), sine3<T>(s, c)), sine2<T>(s, c))
}
@inline
function sine5<T>(s: T, c: T): T {
  return sub<T>(mul<T>(add<T>(c, c), sine4<T>(s, c)), sine3<T>(s, c))
}

/** ε^k cos 2kσm sin kσ12 for k = 1 … 5, which is half the difference of ε^k sin 2kσ between the ends. */
@inline
export function product1<T>(G: T, s: T): T {
  return mul<T>(G, s)
}
@inline
export function product2<T>(G: T, eps2: T, s: T, c: T): T {
  return mul<T>(harmonic2<T>(G, eps2), sine2<T>(s, c))
}
@inline
export function product3<T>(G: T, eps2: T, s: T, c: T): T {
  return mul<T>(harmonic3<T>(G, eps2), sine3<T>(s, c))
}
@inline
export function product4<T>(G: T, eps2: T, s: T, c: T): T {
  return mul<T>(harmonic4<T>(G, eps2), sine4<T>(s, c))
}
@inline
export function product5<T>(G: T, eps2: T, s: T, c: T): T {
  return mul<T>(harmonic5<T>(G, eps2), sine5<T>(s, c))
}

/**
 * I(ω) = ω − λ' = f sin α0 A3 (σ12 + B3), taken between the two ends. λ' is the longitude difference of the
 * geodesic that ω gives.
 */
@inline
export function longitudeExcess<T>(salp0: T, sig: T, ssig: T, csig: T, ss: T): T {
  const calp0Square = sub<T>(splat<T>(1), mul<T>(salp0, salp0))
  const eps = mul<T>(expansionRatio<T>(calp0Square), calp0Square)
  const eps2 = mul<T>(eps, eps)
  const G = firstHarmonic<T>(calp0Square, csig, ss)
  const B3 = add<T>(
    mulAdd<T>(polynomial3<T>(C31, eps), product1<T>(G, ssig), mul<T>(polynomial2<T>(C32, eps), product2<T>(G, eps2, ssig, csig))),
    mulAdd<T>(
      polynomial1<T>(C33, eps),
      product3<T>(G, eps2, ssig, csig),
      mul<T>(splat<T>(C34), product4<T>(G, eps2, ssig, csig)),
    ),
  )
  return mul<T>(mul<T>(mul<T>(salp0, splat<T>(f)), polynomial4<T>(A3, eps)), add<T>(sig, add<T>(B3, B3)))
}
