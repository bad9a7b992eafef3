/**
 * Lengths of geodesics without iteration and without branches, for one lane or two. docs/geodesy.md lists the letters.
 *
 * Karney's inverse searches for the azimuth. Here the unknown is ω, the difference of longitude on the auxiliary sphere.
 * Between the two reduced latitudes, any ω determines a geodesic to the last digit: the spherical triangle gives its
 * azimuth α0 at the equator, the series give its length s' and its difference of longitude λ'. That λ' differs slightly
 * from the given λ. But the length between two parallels has the derivative ds/dλ = a sin α0 (Clairaut), hence
 *
 *   s = s' + a (sin α0 δ + ½ sin α0' δ²) + O(δ³),   δ = λ − λ'
 *
 * where sin α0' is the derivative of sin α0. One Newton step from ω = λ leaves δ so small that two terms are exact.
 * Where it does not (near the antipode), the result is NaN, and the caller falls back to Karney's inverse.
 *
 * The series need differences of sines at both ends: sin 2kσ2 − sin 2kσ1 = 2 cos 2kσm sin kσ12 with the mean position
 * σm. Because cos α0 sin σ = sin β, the first factor times ε^k is a polynomial of
 *
 *   G = ε cos 2σm = ε/cos²α0 · (cos²α0 cos σ12 − 2 sin β1 sin β2)
 *
 * The factor ε/cos²α0 is finite, and nothing else is divided by cos α0. So the equator and the meridians need no
 * special cases.
 */
import {
  absLanes,
  add,
  atan2Lanes,
  ifLess,
  loadLanes,
  mul,
  mulAdd,
  polynomial1,
  polynomial2,
  polynomial4,
  smallAsin,
  splat,
  storeLanes,
  sub,
} from '../math/lanes'
import {
  A1,
  atHigherLatitude,
  C11,
  C12,
  C13,
  C14,
  C15,
  cosArc,
  cosShifted,
  expansionRatio,
  firstHarmonic,
  firstStep,
  longitudeExcess,
  product1,
  product2,
  product3,
  product4,
  product5,
  sinAlp0,
  sinAlp0Slope,
  sinArc,
  sinShifted,
} from './general-longitude'
import { cosDegrees, sinDegrees } from './reduced-latitude'
import { a, b } from './series'

/**
 * The limits of three guards, all of which are needed: with one of them missing, errors of 42 mm and of 134 km went
 * unnoticed. The first two show that the step has converged. The last shows that the geodesic is the shortest, because
 * below the injectivity radius (π b = 19,970 km on an oblate ellipsoid) there is no other geodesic between the points.
 */
const LARGEST_RESIDUAL: f64 = 1e-6 // radians
const LARGEST_CORRECTION: f64 = 1e-7 // metres, of the second-order term; the third-order term is smaller by a factor of 10⁶
const LARGEST_LENGTH: f64 = 19.4e6 // metres

/** The values that the guards compared: radians, metres, metres. */
@unmanaged
export class Guards {
  residual: f64
  correction: f64
  length: f64
}

/**
 * Bytes of the record that the first half of the computation stores for the second. Each half runs in its own loop over
 * a block of edges, because a processor can then overlap the work on several edges. The whole computation in one loop
 * is too long for that.
 */
export const RECORD_BYTES: usize = 176
/** The record of an edge that is measured on its own (`generalLength`). */
const singleRecord = memory.data(176, 16)

/**
 * First half: stores a first estimate of ω − λ and the spherical triangle for ω = λ in a record.
 *
 * @param lat1 degrees; the formulae treat the point of higher |latitude| as point 1, so a line and its reverse give the
 *   same bits
 * @param sbet1 sine of the reduced latitude, and so on
 * @param lon12 lon2 − lon1 reduced to [−180°, 180°], in degrees, as the sum of `lon12` and `lon12Low`
 */
@inline
export function prepareRecord<T>(
  record: usize,
  lat1: T,
  sbet1: T,
  cbet1: T,
  lat2: T,
  sbet2: T,
  cbet2: T,
  lon12: T,
  lon12Low: T,
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

  const step = firstStep<T>(cbetFar, cs, sc, ss, cc, slam, clam)
  const ssig0 = sinArc<T>(cbetFar, cs, sc, slam, clam)
  const csig0 = cosArc<T>(ss, cc, clam)
  storeLanes<T>(record, slam)
  storeLanes<T>(record + 16, clam)
  storeLanes<T>(record + 32, cbetFar)
  storeLanes<T>(record + 48, cs)
  storeLanes<T>(record + 64, sc)
  storeLanes<T>(record + 80, ss)
  storeLanes<T>(record + 96, cc)
  storeLanes<T>(record + 112, ssig0)
  storeLanes<T>(record + 128, csig0)
  storeLanes<T>(record + 144, atan2Lanes<T>(ssig0, csig0))
  storeLanes<T>(record + 160, step)
}

/**
 * Second half: returns the length in metres of the shortest geodesic, NaN where a guard fails.
 *
 * @param guards where to store the values of the guards, or null; a compile-time constant, and for one lane only
 */
@inline
export function lengthFromRecord<T>(record: usize, guards: Guards | null): T {
  const one = splat<T>(1)
  const slam = loadLanes<T>(record)
  const clam = loadLanes<T>(record + 16)
  const cbetFar = loadLanes<T>(record + 32)
  const cs = loadLanes<T>(record + 48)
  const sc = loadLanes<T>(record + 64)
  const ss = loadLanes<T>(record + 80)
  const cc = loadLanes<T>(record + 96)
  const ssig0 = loadLanes<T>(record + 112)
  const csig0 = loadLanes<T>(record + 128)
  const sig0 = loadLanes<T>(record + 144)
  const step = loadLanes<T>(record + 160)
  const somg = sinShifted<T>(slam, clam, step)
  const comg = cosShifted<T>(slam, clam, step)
  const ssig = sinArc<T>(cbetFar, cs, sc, somg, comg)
  const csig = cosArc<T>(ss, cc, comg)
  const sig = add<T>(sig0, smallAsin<T>(sub<T>(mul<T>(ssig, csig0), mul<T>(csig, ssig0))))
  const salp0 = sinAlp0<T>(cc, somg, ssig)
  const residual = sub<T>(longitudeExcess<T>(salp0, sig, ssig, csig, ss), step)

  // A1 (σ12 + B1) between the two ends.
  const calp0Square = sub<T>(one, mul<T>(salp0, salp0))
  const eps = mul<T>(expansionRatio<T>(calp0Square), calp0Square)
  const eps2 = mul<T>(eps, eps)
  const G = firstHarmonic<T>(calp0Square, csig, ss)
  const B1 = add<T>(
    mulAdd<T>(
      polynomial2<T>(C11, eps2),
      product1<T>(G, ssig),
      mul<T>(polynomial1<T>(C12, eps2), product2<T>(G, eps2, ssig, csig)),
    ),
    add<T>(
      mul<T>(polynomial1<T>(C13, eps2), product3<T>(G, eps2, ssig, csig)),
      mulAdd<T>(splat<T>(C14), product4<T>(G, eps2, ssig, csig), mul<T>(splat<T>(C15), product5<T>(G, eps2, ssig, csig))),
    ),
  )
  const tau = add<T>(sig, add<T>(B1, B1))
  const length = mul<T>(mulAdd<T>(mul<T>(eps, polynomial4<T>(A1, eps)), tau, tau), splat<T>(b))

  const slope = sinAlp0Slope<T>(cc, comg, salp0, ssig, csig)
  const half = mul<T>(mul<T>(slope, residual), splat<T>(0.5))
  const corrected = mulAdd<T>(mul<T>(residual, splat<T>(a)), add<T>(salp0, half), length)
  const second = absLanes<T>(mul<T>(mul<T>(residual, splat<T>(a)), half))
  if (!isVector<T>() && guards) {
    guards.residual = absLanes<f64>(<f64>residual)
    guards.correction = <f64>second
    guards.length = <f64>corrected
  }
  const invalid = splat<T>(NaN)
  return ifLess<T>(
    absLanes<T>(residual),
    splat<T>(LARGEST_RESIDUAL),
    ifLess<T>(second, splat<T>(LARGEST_CORRECTION), ifLess<T>(corrected, splat<T>(LARGEST_LENGTH), corrected, invalid), invalid),
    invalid,
  )
}

/** Runs both halves for one edge. */
@inline
export function generalLength<T>(
  lat1: T,
  sbet1: T,
  cbet1: T,
  lat2: T,
  sbet2: T,
  cbet2: T,
  lon12: T,
  lon12Low: T,
  guards: Guards | null,
): T {
  prepareRecord<T>(singleRecord, lat1, sbet1, cbet1, lat2, sbet2, cbet2, lon12, lon12Low)
  return lengthFromRecord<T>(singleRecord, guards)
}
