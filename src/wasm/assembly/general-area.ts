/**
 * Areas under geodesics without iteration and without branches, for one lane or two; the idea is in `general-length.ts`.
 *
 * An area, unlike a length, is not stationary: ω is needed to the last digit. Two evaluations of the series after the first
 * step leave 10⁻¹⁶. Then the excess of the spherical triangle follows from ω and the reduced latitudes alone (excess.ts), and
 * the ellipsoidal part of Karney's section 6, a²e² sin α0 cos α0 Σ C4l (cos (2l+1)σ2 − cos (2l+1)σ1), is by the mean position
 *
 *   −a²e² sin α0 (sin β1 + sin β2) tan(σ12/2) Σ C4l Vl Wl,   Vl = sin (2l+1)σm / sin σm,   Wl likewise of σ12/2,
 *
 * in which again nothing is divided by cos α0, and which changes only its sign when the ends are swapped.
 */
import { absOf, add, div, ifLess, mul, mulAdd, negate, splat, storeLanes, sub } from './lanes'
import { polynomial1, polynomial2, polynomial3, polynomial4 } from './lane-series'
import { angleOf, smallArcsineOf } from './lane-trigonometry'
import {
  arcCosine, arcSine, equatorialSine, equatorialSlope, expansionRatio, firstHarmonic, firstStep, longitudeExcess,
  meanExcess, newtonGain, ofHigher, turnedCosine, turnedSine,
} from './general-longitude'
import { C40, C41, C42, C43, C44 } from './general-series'
import { cosineOfTurn, sineOfTurn } from './reduced-latitude'
import { a, e2 } from './series'

/** Radians by which the second step may still have been wrong; its error is 10⁻⁵ of that. */
const LARGEST_RESIDUAL: f64 = 1e-13
/** Arc length in radians: such a geodesic is shorter than 19,400 km, hence the shortest (`general-length.ts`). */
const LARGEST_ARC: f64 = 3.03

/**
 * Stores ω − |λ| in radians at `steps`, NaN where a guard fails, and at `ellipsoidals` what the area between a geodesic and
 * the equator or a pole has more than the excess times c², m², for |λ|: all that `areaUnder` of excess.ts needs.
 *
 * @param turn as for `generalLength`, and the other arguments before it; exactly ±180° is refused, for it has no direction
 * @param fromPole measures from the pole of the hemisphere in which both ends must lie then: a constant
 */
@inline
export function generalArea<T>(
  lat1: T, sbet1: T, cbet1: T, lat2: T, sbet2: T, cbet2: T, turn: T, low: T, fromPole: bool, steps: usize,
  ellipsoidals: usize,
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

  const step1 = firstStep<T>(far, straight, turned, ss, cc, slam, clam)
  const ssig0 = arcSine<T>(far, straight, turned, slam, clam)
  const csig0 = arcCosine<T>(ss, cc, clam)
  const sig0 = angleOf<T>(ssig0, csig0)

  const somg1 = turnedSine<T>(slam, clam, step1)
  const comg1 = turnedCosine<T>(slam, clam, step1)
  const ssig1 = arcSine<T>(far, straight, turned, somg1, comg1)
  const csig1 = arcCosine<T>(ss, cc, comg1)
  const sig1 = add<T>(sig0, smallArcsineOf<T>(sub<T>(mul<T>(ssig1, csig0), mul<T>(csig1, ssig0))))
  const salp1 = equatorialSine<T>(cc, somg1, ssig1)
  const slope = equatorialSlope<T>(cc, comg1, salp1, ssig1, csig1)
  const eps1 = mul<T>(expansionRatio<T>(sub<T>(one, mul<T>(salp1, salp1))), sub<T>(one, mul<T>(salp1, salp1)))
  const gain = newtonGain<T>(meanExcess<T>(eps1), sig1, salp1, slope)
  const residual1 = sub<T>(longitudeExcess<T>(salp1, sig1, ssig1, csig1, ss), step1)
  const step2 = mulAdd<T>(residual1, gain, step1)

  const somg2 = turnedSine<T>(slam, clam, step2)
  const comg2 = turnedCosine<T>(slam, clam, step2)
  const ssig = arcSine<T>(far, straight, turned, somg2, comg2)
  const csig = arcCosine<T>(ss, cc, comg2)
  const sig = add<T>(sig0, smallArcsineOf<T>(sub<T>(mul<T>(ssig, csig0), mul<T>(csig, ssig0))))
  const salp = equatorialSine<T>(cc, somg2, ssig)
  const residual = sub<T>(longitudeExcess<T>(salp, sig, ssig, csig, ss), step2)
  const step = mulAdd<T>(residual, gain, step2)

  const calp2 = sub<T>(one, mul<T>(salp, salp))
  const eps = mul<T>(expansionRatio<T>(calp2), calp2)
  const eps2 = mul<T>(eps, eps)
  const G = firstHarmonic<T>(calp2, csig, ss)
  const twoG = add<T>(G, G)
  const V1 = add<T>(twoG, eps) // ε^l Vl
  const V2 = sub<T>(mul<T>(twoG, V1), eps2)
  const V3 = sub<T>(mul<T>(twoG, V2), mul<T>(eps2, V1))
  const V4 = sub<T>(mul<T>(twoG, V3), mul<T>(eps2, V2))
  const twoC = add<T>(csig, csig)
  const W1 = add<T>(twoC, one)
  const W2 = sub<T>(mul<T>(twoC, W1), one)
  const W3 = sub<T>(mul<T>(twoC, W2), W1)
  const W4 = sub<T>(mul<T>(twoC, W3), W2)
  const sum = add<T>(
    mulAdd<T>(polynomial3<T>(C41, eps), mul<T>(V1, W1), polynomial4<T>(C40, eps)),
    add<T>(
      mul<T>(polynomial2<T>(C42, eps), mul<T>(V2, W2)),
      mulAdd<T>(polynomial1<T>(C43, eps), mul<T>(V3, W3), mul<T>(splat<T>(C44), mul<T>(V4, W4))),
    ),
  )
  const none = splat<T>(NaN)
  const scale = mul<T>(mul<T>(salp, splat<T>(a * a * e2)), div<T>(ssig, add<T>(csig, one)))
  const ellipsoidal = mul<T>(mul<T>(scale, add<T>(sbet1, sbet2)), sum)

  const settled = ifLess<T>(sig, splat<T>(LARGEST_ARC), ifLess<T>(absOf<T>(turn), splat<T>(180), step, none), none)
  storeLanes<T>(steps, ifLess<T>(absOf<T>(residual), splat<T>(LARGEST_RESIDUAL), settled, none))
  storeLanes<T>(ellipsoidals, fromPole ? absOf<T>(ellipsoidal) : negate<T>(ellipsoidal))
}
