/**
 * Lengths of geodesics without iteration and without branches, for one lane or two.
 *
 * Karney's inverse searches the azimuth. Here the unknown is ω, the difference of longitude on the auxiliary sphere. Any ω
 * gives, between the two reduced latitudes, a geodesic that is known to the last digit: its azimuth at the equator from the
 * spherical triangle, its length s' and its difference of longitude λ' from the series. Only λ' is not quite the wanted λ.
 * But the length between two parallels has the derivative ds/dλ = a sin α0 (Clairaut), hence
 *
 *   s = s' + a (sin α0 δ + ½ sin α0' δ²) + O(δ³),   δ = λ − λ'
 *
 * and one Newton step from ω = λ leaves a δ so small that two terms are exact. Where it does not (near the antipode) the
 * result is NaN, and the caller asks Karney's inverse.
 *
 * The sums of the series are differences of sines at both ends: sin 2kσ2 − sin 2kσ1 = 2 cos 2kσm sin kσ12 with the
 * mean position σm. As cos α0 sin σ = sin β, the first factor times ε^k is a polynomial of
 *
 *   G = ε cos 2σm = ε/cos²α0 · (cos²α0 cos σ12 − 2 sin β1 sin β2)
 *
 * in which nothing is divided by cos α0: the equator and the meridians are not special.
 */
import { absOf, add, div, ifLess, mul, mulAdd, negate, splat, sqrtOf, sub } from './lanes'
import { coefficient, polynomial1, polynomial2, polynomial3, polynomial4, polynomial5 } from './lane-series'
import { angleOf, smallArcsineOf, smallSineOf, smallVersineOf } from './lane-trigonometry'
import {
  A1, A3, C11, C12, C13, C14, C15, C31, C32, C33, C34, EXPANSION, FIRST_EXPANSION,
} from './general-series'
import { cosineOfTurn, sineOfTurn } from './reduced-latitude'
import { a, b, ep2, f } from './series'

/**
 * Guards, each needed: without one of them errors of 42 mm and of 134 km have passed. The first two show that the step has
 * converged. The last shows that the geodesic is the shortest: below the injectivity radius, π b = 19,970 km for an oblate
 * ellipsoid, there is no other.
 */
const LARGEST_RESIDUAL: f64 = 1e-6 // radians
const LARGEST_CORRECTION: f64 = 1e-7 // metres, of the second order: the third is smaller by a factor of 10⁶
const LARGEST_LENGTH: f64 = 19.4e6 // metres

/** What the guards looked at, when asked for: radians, metres, metres. */
export let residualSeen: f64 = 0
export let correctionSeen: f64 = 0
export let lengthSeen: f64 = 0

/** Keeps quotients of coincident points finite; vanishes beside anything longer than 10⁻²⁷⁷ m. */
const NOTHING: f64 = 1e-300

/**
 * Length in metres of the shortest geodesic, NaN where a guard fails.
 *
 * @param lat1 degrees; the point of higher |latitude| plays the first part, so that a line and its reverse give the same
 *   bits
 * @param turn lon2 − lon1 reduced to [−180°, 180°], in degrees, as the sum of `turn` and `low`
 * @param sbet1 sine and cosine of the reduced latitudes
 * @param reports whether to leave what the guards saw in the globals above: a constant, and only for one lane
 */
@inline
export function generalLength<T>(
  lat1: T, sbet1: T, cbet1: T, lat2: T, sbet2: T, cbet2: T, turn: T, low: T, reports: bool,
): T {
  const one = splat<T>(1)
  const east = ifLess<T>(turn, splat<T>(0), splat<T>(-1), one)
  const slam = sineOfTurn<T>(mul<T>(turn, east), mul<T>(low, east))
  const clam = cosineOfTurn<T>(mul<T>(turn, east), mul<T>(low, east))

  const ss = mul<T>(sbet1, sbet2)
  const cc = mul<T>(cbet1, cbet2)
  const c1s2 = mul<T>(cbet1, sbet2)
  const s1c2 = mul<T>(sbet1, cbet2)
  const far = ifLess<T>(absOf<T>(lat1), absOf<T>(lat2), cbet1, cbet2)
  const straight = ifLess<T>(absOf<T>(lat1), absOf<T>(lat2), s1c2, c1s2)
  const turned = ifLess<T>(absOf<T>(lat1), absOf<T>(lat2), c1s2, s1c2)

  // First look: the spherical triangle with ω = λ.
  const x0 = mul<T>(far, slam)
  const y0 = sub<T>(straight, mul<T>(turned, clam))
  const ssig0 = sqrtOf<T>(mulAdd<T>(x0, x0, mul<T>(y0, y0)))
  const csig0 = mulAdd<T>(cc, clam, ss)
  const sig0 = angleOf<T>(ssig0, csig0)
  const inverse0 = div<T>(one, add<T>(ssig0, splat<T>(NOTHING)))
  const salp0 = mul<T>(mul<T>(cc, slam), inverse0)
  const salp02 = mul<T>(salp0, salp0)
  const calp02 = sub<T>(one, salp02)
  const ratio0 = polynomial2<T>(FIRST_EXPANSION, mul<T>(calp02, splat<T>(ep2)))
  const eps0 = mul<T>(ratio0, calp02)
  const g0 = mul<T>(ratio0, sub<T>(mul<T>(calp02, csig0), add<T>(ss, ss)))
  const fA3 = mul<T>(polynomial2<T>(A3, eps0), splat<T>(f))
  const b3 = mul<T>(mul<T>(polynomial1<T>(C31, eps0), add<T>(g0, g0)), ssig0)
  const start = mul<T>(mul<T>(salp0, fA3), add<T>(sig0, b3))
  const slope0 = mul<T>(sub<T>(mul<T>(cc, clam), mul<T>(salp02, csig0)), inverse0)
  // ω = λ + I(ω) with I(ω) ≈ start + y (ω − λ) + z (ω − λ)²/2: Newton's step, then what the curvature adds to it.
  const y = mul<T>(fA3, mulAdd<T>(sig0, slope0, salp02))
  const turning = mul<T>(mul<T>(csig0, inverse0), slope0)
  const bend0 = negate<T>(mul<T>(salp0, add<T>(calp02, mul<T>(splat<T>(3), turning))))
  const z = mul<T>(fA3, mulAdd<T>(sig0, bend0, mul<T>(splat<T>(3), mul<T>(salp0, slope0))))
  const gain = mulAdd<T>(y, mulAdd<T>(y, add<T>(y, one), one), one) // 1 / (1 − y)
  const newton = mul<T>(start, gain)
  const step = mulAdd<T>(mul<T>(mul<T>(newton, newton), mul<T>(z, splat<T>(0.5))), gain, newton)

  // The geodesic with ω = λ + step.
  const sstep = smallSineOf<T>(step)
  const vstep = smallVersineOf<T>(step)
  const somg = add<T>(slam, mulAdd<T>(slam, vstep, mul<T>(clam, sstep)))
  const comg = add<T>(clam, sub<T>(mul<T>(clam, vstep), mul<T>(slam, sstep)))
  const x1 = mul<T>(far, somg)
  const y1 = sub<T>(straight, mul<T>(turned, comg))
  const ssig = sqrtOf<T>(mulAdd<T>(x1, x1, mul<T>(y1, y1)))
  const csig = mulAdd<T>(cc, comg, ss)
  const sig = add<T>(sig0, smallArcsineOf<T>(sub<T>(mul<T>(ssig, csig0), mul<T>(csig, ssig0))))
  const inverse1 = div<T>(one, add<T>(ssig, splat<T>(NOTHING)))
  const salp = mul<T>(mul<T>(cc, somg), inverse1)
  const salp2 = mul<T>(salp, salp)
  const calp2 = sub<T>(one, salp2)
  const k2 = mul<T>(calp2, splat<T>(ep2))
  const ratio = mul<T>(polynomial5<T>(EXPANSION, k2), splat<T>(ep2))
  const eps = mul<T>(ratio, calp2)
  const eps2 = mul<T>(eps, eps)

  // Hk = ε^k cos 2kσm and Sk = sin kσ12 by their recurrences.
  const H1 = mul<T>(ratio, sub<T>(mul<T>(calp2, csig), add<T>(ss, ss)))
  const twoH = add<T>(H1, H1)
  const H2 = sub<T>(mul<T>(twoH, H1), eps2)
  const H3 = sub<T>(mul<T>(twoH, H2), mul<T>(eps2, H1))
  const H4 = sub<T>(mul<T>(twoH, H3), mul<T>(eps2, H2))
  const H5 = sub<T>(mul<T>(twoH, H4), mul<T>(eps2, H3))
  const twoC = add<T>(csig, csig)
  const S2 = mul<T>(twoC, ssig)
  const S3 = sub<T>(mul<T>(twoC, S2), ssig)
  const S4 = sub<T>(mul<T>(twoC, S3), S2)
  const S5 = sub<T>(mul<T>(twoC, S4), S3)
  const P1 = mul<T>(H1, ssig)
  const P2 = mul<T>(H2, S2)
  const P3 = mul<T>(H3, S3)
  const P4 = mul<T>(H4, S4)
  const P5 = mul<T>(H5, S5)

  const B3 = add<T>(
    mulAdd<T>(polynomial3<T>(C31, eps), P1, mul<T>(polynomial2<T>(C32, eps), P2)),
    mulAdd<T>(polynomial1<T>(C33, eps), P3, mul<T>(splat<T>(C34), P4)),
  )
  const I = mul<T>(mul<T>(mul<T>(salp, splat<T>(f)), polynomial4<T>(A3, eps)), add<T>(sig, add<T>(B3, B3)))
  const B1 = add<T>(
    mulAdd<T>(polynomial2<T>(C11, eps2), P1, mul<T>(polynomial1<T>(C12, eps2), P2)),
    add<T>(mul<T>(polynomial1<T>(C13, eps2), P3), mulAdd<T>(splat<T>(C14), P4, mul<T>(splat<T>(C15), P5))),
  )
  const tau = add<T>(sig, add<T>(B1, B1))
  const length = mul<T>(mulAdd<T>(mul<T>(eps, polynomial4<T>(A1, eps)), tau, tau), splat<T>(b))

  const residual = sub<T>(I, step)
  const slope = mul<T>(sub<T>(mul<T>(cc, comg), mul<T>(salp2, csig)), inverse1)
  const half = mul<T>(mul<T>(slope, residual), splat<T>(0.5))
  const corrected = mulAdd<T>(mul<T>(residual, splat<T>(a)), add<T>(salp, half), length)
  const second = absOf<T>(mul<T>(mul<T>(residual, splat<T>(a)), half))
  if (!isVector<T>() && reports) {
    residualSeen = absOf<f64>(<f64>residual)
    correctionSeen = <f64>second
    lengthSeen = <f64>corrected
  }
  const none = splat<T>(NaN)
  return ifLess<T>(
    absOf<T>(residual), splat<T>(LARGEST_RESIDUAL),
    ifLess<T>(second, splat<T>(LARGEST_CORRECTION), ifLess<T>(corrected, splat<T>(LARGEST_LENGTH), corrected, none), none),
    none,
  )
}
