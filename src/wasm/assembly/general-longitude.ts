/**
 * Longitudes on the ellipsoid and on the auxiliary sphere, for one lane or two: what lengths and areas of general edges
 * have in common. The idea is in `general-length.ts`. All functions are expressions of their arguments: what two of them
 * share is computed once, for the compiler merges equal expressions.
 *
 * Names: ss and cc are sin β1 sin β2 and cos β1 cos β2; far, straight and turned are cos β2, cos β1 sin β2 and
 * sin β1 cos β2, point 1 being the one of higher |latitude|; the rest are Karney's letters.
 */
import { absOf, add, div, ifLess, mul, mulAdd, negate, splat, sqrtOf, sub } from './lanes'
import { polynomial1, polynomial2, polynomial3, polynomial4, polynomial5 } from './lane-series'
import { angleOf, smallSineOf, smallVersineOf } from './lane-trigonometry'
import { A3, C31, C32, C33, C34, EXPANSION, FIRST_EXPANSION } from './general-series'
import { ep2, f } from './series'

/** Keeps quotients of coincident points finite; vanishes beside anything longer than 10⁻²⁷⁷ m. */
const NOTHING: f64 = 1e-300

/** Of x1 and x2 the one that belongs to the point of higher |latitude|: a line and its reverse then give the same bits. */
@inline
export function ofHigher<T>(lat1: T, lat2: T, x1: T, x2: T): T {
  return ifLess<T>(absOf<T>(lat1), absOf<T>(lat2), x2, x1)
}

/** sin σ12 of the spherical triangle with ω. */
@inline
export function arcSine<T>(far: T, straight: T, turned: T, somg: T, comg: T): T {
  const x = mul<T>(far, somg)
  const y = sub<T>(straight, mul<T>(turned, comg))
  return sqrtOf<T>(mulAdd<T>(x, x, mul<T>(y, y)))
}

/** cos σ12. */
@inline
export function arcCosine<T>(ss: T, cc: T, comg: T): T {
  return mulAdd<T>(cc, comg, ss)
}

@inline
function reciprocal<T>(ssig: T): T {
  return div<T>(splat<T>(1), add<T>(ssig, splat<T>(NOTHING)))
}

/** sin α0. */
@inline
export function equatorialSine<T>(cc: T, somg: T, ssig: T): T {
  return mul<T>(mul<T>(cc, somg), reciprocal<T>(ssig))
}

/** d sin α0 / dω between the two parallels. */
@inline
export function equatorialSlope<T>(cc: T, comg: T, salp: T, ssig: T, csig: T): T {
  return mul<T>(sub<T>(mul<T>(cc, comg), mul<T>(mul<T>(salp, salp), csig)), reciprocal<T>(ssig))
}

/** sin (λ + step) and cos (λ + step) for a step below 0.02. */
@inline
export function turnedSine<T>(slam: T, clam: T, step: T): T {
  return add<T>(slam, mulAdd<T>(slam, smallVersineOf<T>(step), mul<T>(clam, smallSineOf<T>(step))))
}

@inline
export function turnedCosine<T>(slam: T, clam: T, step: T): T {
  return add<T>(clam, sub<T>(mul<T>(clam, smallVersineOf<T>(step)), mul<T>(slam, smallSineOf<T>(step))))
}

/** 1 / (1 − I'(ω)), by which Newton's step exceeds the residual; I' is below 0.02 where a guard does not refuse. */
@inline
export function newtonGain<T>(fA3: T, sig: T, salp: T, slope: T): T {
  const one = splat<T>(1)
  const y = mul<T>(fA3, mulAdd<T>(sig, slope, mul<T>(salp, salp)))
  return mulAdd<T>(y, mulAdd<T>(y, add<T>(y, one), one), one)
}

/** f A3 to low order. */
@inline
export function meanExcess<T>(eps: T): T {
  return mul<T>(polynomial2<T>(A3, eps), splat<T>(f))
}

/**
 * A first ω − λ, from the triangle with ω = λ: Newton's step for ω = λ + I(ω), and what the curvature of I adds to it.
 * Right to 10⁻⁹ on most of the Earth.
 */
@inline
export function firstStep<T>(far: T, straight: T, turned: T, ss: T, cc: T, slam: T, clam: T): T {
  const ssig = arcSine<T>(far, straight, turned, slam, clam)
  const csig = arcCosine<T>(ss, cc, clam)
  const sig = angleOf<T>(ssig, csig)
  const salp = equatorialSine<T>(cc, slam, ssig)
  const calp2 = sub<T>(splat<T>(1), mul<T>(salp, salp))
  const ratio = polynomial2<T>(FIRST_EXPANSION, mul<T>(calp2, splat<T>(ep2)))
  const eps = mul<T>(ratio, calp2)
  const G = mul<T>(ratio, sub<T>(mul<T>(calp2, csig), add<T>(ss, ss)))
  const fA3 = meanExcess<T>(eps)
  const B3 = mul<T>(mul<T>(polynomial1<T>(C31, eps), add<T>(G, G)), ssig)
  const excess = mul<T>(mul<T>(salp, fA3), add<T>(sig, B3))
  const slope = equatorialSlope<T>(cc, clam, salp, ssig, csig)
  const turning = mul<T>(mul<T>(csig, reciprocal<T>(ssig)), slope)
  const bend = negate<T>(mul<T>(salp, add<T>(calp2, mul<T>(splat<T>(3), turning)))) // d² sin α0 / dω²
  const curvature = mul<T>(fA3, mulAdd<T>(sig, bend, mul<T>(splat<T>(3), mul<T>(salp, slope))))
  const gain = newtonGain<T>(fA3, sig, salp, slope)
  const newton = mul<T>(excess, gain)
  return mulAdd<T>(mul<T>(mul<T>(newton, newton), mul<T>(curvature, splat<T>(0.5))), gain, newton)
}

/** ε / cos²α0. */
@inline
export function expansionRatio<T>(calp2: T): T {
  return mul<T>(polynomial5<T>(EXPANSION, mul<T>(calp2, splat<T>(ep2))), splat<T>(ep2))
}

/** G = ε cos 2σm. */
@inline
export function firstHarmonic<T>(calp2: T, csig: T, ss: T): T {
  return mul<T>(expansionRatio<T>(calp2), sub<T>(mul<T>(calp2, csig), add<T>(ss, ss)))
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

/** ε^k cos 2kσm sin kσ12 for k = 1 … 5: half the difference of ε^k sin 2kσ between the ends. */
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

/** I(ω) = ω − λ' = f sin α0 A3 (σ12 + B3), equation 23 between the two ends. */
@inline
export function longitudeExcess<T>(salp: T, sig: T, ssig: T, csig: T, ss: T): T {
  const calp2 = sub<T>(splat<T>(1), mul<T>(salp, salp))
  const eps = mul<T>(expansionRatio<T>(calp2), calp2)
  const eps2 = mul<T>(eps, eps)
  const G = firstHarmonic<T>(calp2, csig, ss)
  const B3 = add<T>(
    mulAdd<T>(
      polynomial3<T>(C31, eps), product1<T>(G, ssig),
      mul<T>(polynomial2<T>(C32, eps), product2<T>(G, eps2, ssig, csig)),
    ),
    mulAdd<T>(
      polynomial1<T>(C33, eps), product3<T>(G, eps2, ssig, csig),
      mul<T>(splat<T>(C34), product4<T>(G, eps2, ssig, csig)),
    ),
  )
  return mul<T>(mul<T>(mul<T>(salp, splat<T>(f)), polynomial4<T>(A3, eps)), add<T>(sig, add<T>(B3, B3)))
}
