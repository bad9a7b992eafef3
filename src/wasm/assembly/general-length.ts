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
import { absOf, add, ifLess, loadLanes, storeLanes, mul, mulAdd, splat, sub } from './lanes'
import { polynomial1, polynomial2, polynomial4 } from './lane-series'
import { angleOf, smallArcsineOf } from './lane-trigonometry'
import {
  arcCosine, arcSine, equatorialSine, equatorialSlope, expansionRatio, firstHarmonic, firstStep, longitudeExcess, ofHigher,
  product1, product2, product3, product4, product5, turnedCosine, turnedSine,
} from './general-longitude'
import { A1, C11, C12, C13, C14, C15 } from './general-series'
import { cosineOfTurn, sineOfTurn } from './reduced-latitude'
import { a, b } from './series'

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

/**
 * Bytes of what the first half leaves for the second. With the halves in loops of their own a processor has several edges
 * at work at once; the whole is too long for that, and each edge waits for the one before.
 */
export const RECORD: usize = 176
/** The record of a lone edge. */
const lone = memory.data(176, 16)

/**
 * First half: leaves ω − λ and the triangle with ω = λ in a record.
 *
 * @param lat1 degrees; the point of higher |latitude| plays the first part, so that a line and its reverse give the same
 *   bits
 * @param turn lon2 − lon1 reduced to [−180°, 180°], in degrees, as the sum of `turn` and `low`
 * @param sbet1 sine and cosine of the reduced latitudes
 */
@inline
export function lookAt<T>(
  record: usize, lat1: T, sbet1: T, cbet1: T, lat2: T, sbet2: T, cbet2: T, turn: T, low: T,
): void {
  const one = splat<T>(1)
  const east = ifLess<T>(turn, splat<T>(0), splat<T>(-1), one)
  const slam = sineOfTurn<T>(mul<T>(turn, east), mul<T>(low, east))
  const clam = cosineOfTurn<T>(mul<T>(turn, east), mul<T>(low, east))
  const ss = mul<T>(sbet1, sbet2)
  const cc = mul<T>(cbet1, cbet2)
  const far = ofHigher<T>(lat1, lat2, cbet2, cbet1)
  const straight = ofHigher<T>(lat1, lat2, mul<T>(cbet1, sbet2), mul<T>(sbet1, cbet2))
  const turned = ofHigher<T>(lat1, lat2, mul<T>(sbet1, cbet2), mul<T>(cbet1, sbet2))

  const step = firstStep<T>(far, straight, turned, ss, cc, slam, clam)
  const ssig0 = arcSine<T>(far, straight, turned, slam, clam)
  const csig0 = arcCosine<T>(ss, cc, clam)
  storeLanes<T>(record, slam)
  storeLanes<T>(record + 16, clam)
  storeLanes<T>(record + 32, far)
  storeLanes<T>(record + 48, straight)
  storeLanes<T>(record + 64, turned)
  storeLanes<T>(record + 80, ss)
  storeLanes<T>(record + 96, cc)
  storeLanes<T>(record + 112, ssig0)
  storeLanes<T>(record + 128, csig0)
  storeLanes<T>(record + 144, angleOf<T>(ssig0, csig0))
  storeLanes<T>(record + 160, step)
}

/**
 * Second half: length in metres of the shortest geodesic, NaN where a guard fails.
 *
 * @param reports whether to leave what the guards saw in the globals above: a constant, and only for one lane
 */
@inline
export function lengthFrom<T>(record: usize, reports: bool): T {
  const one = splat<T>(1)
  const slam = loadLanes<T>(record)
  const clam = loadLanes<T>(record + 16)
  const far = loadLanes<T>(record + 32)
  const straight = loadLanes<T>(record + 48)
  const turned = loadLanes<T>(record + 64)
  const ss = loadLanes<T>(record + 80)
  const cc = loadLanes<T>(record + 96)
  const ssig0 = loadLanes<T>(record + 112)
  const csig0 = loadLanes<T>(record + 128)
  const sig0 = loadLanes<T>(record + 144)
  const step = loadLanes<T>(record + 160)
  const somg = turnedSine<T>(slam, clam, step)
  const comg = turnedCosine<T>(slam, clam, step)
  const ssig = arcSine<T>(far, straight, turned, somg, comg)
  const csig = arcCosine<T>(ss, cc, comg)
  const sig = add<T>(sig0, smallArcsineOf<T>(sub<T>(mul<T>(ssig, csig0), mul<T>(csig, ssig0))))
  const salp = equatorialSine<T>(cc, somg, ssig)
  const residual = sub<T>(longitudeExcess<T>(salp, sig, ssig, csig, ss), step)

  // Equation 7: A1 (σ12 + B1) between the two ends.
  const calp2 = sub<T>(one, mul<T>(salp, salp))
  const eps = mul<T>(expansionRatio<T>(calp2), calp2)
  const eps2 = mul<T>(eps, eps)
  const G = firstHarmonic<T>(calp2, csig, ss)
  const B1 = add<T>(
    mulAdd<T>(
      polynomial2<T>(C11, eps2), product1<T>(G, ssig),
      mul<T>(polynomial1<T>(C12, eps2), product2<T>(G, eps2, ssig, csig)),
    ),
    add<T>(
      mul<T>(polynomial1<T>(C13, eps2), product3<T>(G, eps2, ssig, csig)),
      mulAdd<T>(
        splat<T>(C14), product4<T>(G, eps2, ssig, csig),
        mul<T>(splat<T>(C15), product5<T>(G, eps2, ssig, csig)),
      ),
    ),
  )
  const tau = add<T>(sig, add<T>(B1, B1))
  const length = mul<T>(mulAdd<T>(mul<T>(eps, polynomial4<T>(A1, eps)), tau, tau), splat<T>(b))

  const slope = equatorialSlope<T>(cc, comg, salp, ssig, csig)
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

/** Both halves for one edge. */
@inline
export function generalLength<T>(
  lat1: T, sbet1: T, cbet1: T, lat2: T, sbet2: T, cbet2: T, turn: T, low: T, reports: bool,
): T {
  lookAt<T>(lone, lat1, sbet1, cbet1, lat2, sbet2, cbet2, turn, low)
  return lengthFrom<T>(lone, reports)
}
