/**
 * Areas under geodesics without iteration and without branches, for one lane or two. general-length.ts explains the
 * method.
 *
 * For a length, an error of ω can be corrected to second order. For an area it cannot, so ω must be accurate to the
 * last digit: two evaluations of the series after the first step leave an error of 10⁻¹⁶. The excess of the spherical
 * triangle then follows from ω and the reduced latitudes (excess.ts). The ellipsoidal part of Karney's section 6,
 *
 *   a²e² sin α0 cos α0 Σ C4l (cos (2l+1)σ2 − cos (2l+1)σ1),
 *
 * is written with the mean position σm as
 *
 *   −a²e² sin α0 (sin β1 + sin β2) tan(σ12/2) Σ C4l Vl Wl,
 *   Vl = sin (2l+1)σm / sin σm,   Wl = sin (2l+1)(σ12/2) / sin (σ12/2).
 *
 * Again nothing is divided by cos α0, and swapping the ends changes only the sign.
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
  smallAsin,
  splat,
  storeLanes,
  sub,
} from '../math/lanes'
import {
  atHigherLatitude,
  C40,
  C41,
  C42,
  C43,
  C44,
  cosArc,
  cosShifted,
  expansionRatio,
  firstHarmonic,
  firstStep,
  longitudeExcess,
  newtonGain,
  roughFA3,
  sinAlp0,
  sinAlp0Slope,
  sinArc,
  sinShifted,
} from './general-longitude'
import { cosDegrees, sinDegrees } from './reduced-latitude'
import { a, e2 } from './series'

/** Largest residual after the second step, radians. The error that remains after its correction is 10⁻⁵ of it. */
const LARGEST_RESIDUAL: f64 = 1e-13
/**
 * Largest arc length, radians. A geodesic below it is shorter than 19,400 km and therefore the shortest (see
 * general-length.ts).
 */
const LARGEST_ARC: f64 = 3.03

/**
 * Stores the inputs of `areaUnder` in excess.ts, both for |λ|: at `steps` ω − |λ| in radians, or NaN where a guard
 * fails, and at `ellipsoidalParts` the area between the geodesic and the equator or pole minus excess × c², in m².
 *
 * @param lat1 and further arguments up to `lon12Low` as for `generalLength`; a `lon12` of exactly ±180° fails the
 *   guard, because the geodesic then goes neither east nor west
 * @param fromPole whether to measure from the pole of the hemisphere, in which both ends must lie; a compile-time constant
 */
@inline
export function generalArea<T>(
  lat1: T,
  sbet1: T,
  cbet1: T,
  lat2: T,
  sbet2: T,
  cbet2: T,
  lon12: T,
  lon12Low: T,
  fromPole: bool,
  steps: usize,
  ellipsoidalParts: usize,
): void {
  const one = splat<T>(1)
  const east = ifLess<T>(lon12, splat<T>(0), splat<T>(-1), one)
  const slam = sinDegrees<T>(mul<T>(lon12, east), mul<T>(lon12Low, east))
  const clam = cosDegrees<T>(mul<T>(lon12, east), mul<T>(lon12Low, east))
  const ss = mul<T>(sbet1, sbet2)
  const cc = mul<T>(cbet1, cbet2)
  const cbetFar = atHigherLatitude<T>(lat1, lat2, cbet2, cbet1)
  const cs = atHigherLatitude<T>(lat1, lat2, mul<T>(cbet1, sbet2), mul<T>(sbet1, cbet2))
  const sc = atHigherLatitude<T>(lat1, lat2, mul<T>(sbet1, cbet2), mul<T>(cbet1, sbet2))

  // From here on, the digit in names such as step1 and ssig1 is the number of the step, not of a point.
  const step1 = firstStep<T>(cbetFar, cs, sc, ss, cc, slam, clam)
  const ssig0 = sinArc<T>(cbetFar, cs, sc, slam, clam)
  const csig0 = cosArc<T>(ss, cc, clam)
  const sig0 = atan2Lanes<T>(ssig0, csig0)

  const somg1 = sinShifted<T>(slam, clam, step1)
  const comg1 = cosShifted<T>(slam, clam, step1)
  const ssig1 = sinArc<T>(cbetFar, cs, sc, somg1, comg1)
  const csig1 = cosArc<T>(ss, cc, comg1)
  const sig1 = add<T>(sig0, smallAsin<T>(sub<T>(mul<T>(ssig1, csig0), mul<T>(csig1, ssig0))))
  const salp1 = sinAlp0<T>(cc, somg1, ssig1)
  const slope = sinAlp0Slope<T>(cc, comg1, salp1, ssig1, csig1)
  const eps1 = mul<T>(expansionRatio<T>(sub<T>(one, mul<T>(salp1, salp1))), sub<T>(one, mul<T>(salp1, salp1)))
  const gain = newtonGain<T>(roughFA3<T>(eps1), sig1, salp1, slope)
  const residual1 = sub<T>(longitudeExcess<T>(salp1, sig1, ssig1, csig1, ss), step1)
  const step2 = mulAdd<T>(residual1, gain, step1)

  const somg2 = sinShifted<T>(slam, clam, step2)
  const comg2 = cosShifted<T>(slam, clam, step2)
  const ssig = sinArc<T>(cbetFar, cs, sc, somg2, comg2)
  const csig = cosArc<T>(ss, cc, comg2)
  const sig = add<T>(sig0, smallAsin<T>(sub<T>(mul<T>(ssig, csig0), mul<T>(csig, ssig0))))
  const salp0 = sinAlp0<T>(cc, somg2, ssig)
  const residual = sub<T>(longitudeExcess<T>(salp0, sig, ssig, csig, ss), step2)
  const step = mulAdd<T>(residual, gain, step2)

  const calp0Square = sub<T>(one, mul<T>(salp0, salp0))
  const eps = mul<T>(expansionRatio<T>(calp0Square), calp0Square)
  const eps2 = mul<T>(eps, eps)
  const G = firstHarmonic<T>(calp0Square, csig, ss)
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
  const invalid = splat<T>(NaN)
  const scale = mul<T>(mul<T>(salp0, splat<T>(a * a * e2)), div<T>(ssig, add<T>(csig, one)))
  const ellipsoidal = mul<T>(mul<T>(scale, add<T>(sbet1, sbet2)), sum)

  const settled = ifLess<T>(sig, splat<T>(LARGEST_ARC), ifLess<T>(absLanes<T>(lon12), splat<T>(180), step, invalid), invalid)
  storeLanes<T>(steps, ifLess<T>(absLanes<T>(residual), splat<T>(LARGEST_RESIDUAL), settled, invalid))
  storeLanes<T>(ellipsoidalParts, fromPole ? absLanes<T>(ellipsoidal) : negate<T>(ellipsoidal))
}
