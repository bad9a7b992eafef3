/**
 * The spherical excess of an edge with 20 digits, and from it the area under the edge as a double-double
 * (double-double.ts).
 *
 * The area between an edge and the equator grows with its distance from the equator, however small the ring is. At 30°
 * an edge of 100 km has 6·10¹¹ m² under it. Rounding that area and its angle to doubles cost a ring 10⁻³ m². So reduced
 * latitudes, ω and the excess are double-doubles here. The terms added to them, ω − λ and the ellipsoidal part, are
 * hundreds of times smaller, and so are their rounding errors; single doubles suffice for them.
 *
 * Reduced latitudes stay fractions: with S = (1 − f) sin φ, C = cos φ and N² = S² + C², sin β = S/N and cos β = C/N, so
 * N is the only square root. Variables …Low are the second doubles of their pairs.
 *
 * Edges are computed one at a time even in the SIMD build, so both builds give the same bits. Call order: `moveTo` for
 * the first vertex, then for each edge `moveTo` its second vertex and `areaUnder`.
 */
import * as exact from '../math/double-double'
import { product, sumOfProducts, twoProduct } from '../math/double-double'
import { atan2Lanes } from '../math/lanes'
import { DEGREE, high, low, twoSum } from '../math/math'
import { equatorRow, ROW_BYTES, ROWS_PER_DEGREE } from '../math/sines'

// 1 − f, π/180 and the square of the authalic radius, evaluated to 60 digits and split into two doubles; the first of
// π/180 is DEGREE.
const F1: f64 = 0.9966471893352525
const F1_LOW: f64 = -1.7576858257051413e-17
const DEGREE_LOW: f64 = 2.9486522708701687e-19
const AUTHALIC: f64 = 40589732499314.76
const AUTHALIC_LOW: f64 = 0.002185643266071792
const ROWS_TO_POLE: i32 = 720

/** Results of `areaUnder`: their sum is the area, m². */
export let area: f64 = 0
export let areaLow: f64 = 0

// S, C and N (see above) of the two ends of the edge.
let S1: f64 = 0
let S1Low: f64 = 0
let C1: f64 = 0
let C1Low: f64 = 0
let N1: f64 = 0
let N1Low: f64 = 0
let S2: f64 = 0
let S2Low: f64 = 0
let C2: f64 = 0
let C2Low: f64 = 0
let N2: f64 = 0
let N2Low: f64 = 0

// Results of `sineAndCosine`.
let s: f64 = 0
let sLow: f64 = 0
let c: f64 = 0
let cLow: f64 = 0

// Results of `excessAtEquator` and `excessAtPole`, radians.
let excess: f64 = 0
let excessLow: f64 = 0

/**
 * Sets s and c to the sine and cosine of an angle within [−0.7, 90.7] degrees.
 *
 * @param degrees in [0, 90], plus `degreesLow`
 * @param radians a further part of the angle
 */
@inline
function sineAndCosine(degrees: f64, degreesLow: f64, radians: f64): void {
  const index = max(0, min(ROWS_TO_POLE, <i32>nearest<f64>((degrees + radians / DEGREE) * ROWS_PER_DEGREE)))
  const row = equatorRow + <usize>index * ROW_BYTES
  const complement = equatorRow + <usize>(ROWS_TO_POLE - index) * ROW_BYTES
  const s0 = load<f64>(row)
  const c0 = load<f64>(complement)
  const d = (degrees - load<f64>(row, 24) + degreesLow) * DEGREE + radians
  const dd = d * d
  const sine = d + d * dd * (-1 / 6.0 + dd * (1 / 120.0 - dd / 5040))
  const versine = dd * (-1 / 2.0 + dd * (1 / 24.0 - dd / 720))
  twoSum(s0, load<f64>(row, 16) + (c0 * sine + s0 * versine))
  s = high
  sLow = low
  twoSum(c0, load<f64>(complement, 16) + (c0 * versine - s0 * sine))
  c = high
  cLow = low
}

/**
 * Moves to the next vertex, whose latitude is in degrees: the second end becomes the first. Call `fillSineTable`
 * before.
 */
export function moveTo(lat: f64): void {
  S1 = S2
  S1Low = S2Low
  C1 = C2
  C1Low = C2Low
  N1 = N2
  N1Low = N2Low
  sineAndCosine(Math.abs(lat), 0, 0)
  C2 = c
  C2Low = cLow
  product(s, sLow, F1, F1_LOW)
  S2 = exact.high
  S2Low = exact.low
  sumOfProducts(S2, S2Low, S2, S2Low, c, cLow, c, cLow)
  const square = exact.high
  const squareLow = exact.low
  N2 = Math.sqrt(square)
  twoProduct(N2, N2)
  N2Low = (square - exact.high - exact.low + squareLow) / (2 * N2)
  if (lat < 0) {
    S2 = -S2
    S2Low = -S2Low
  }
}

/**
 * Sets `area` and `areaLow` to the area between the edge and the equator or, with `fromPole`, the pole of the
 * hemisphere in which both ends lie. Square metres, east-going positive.
 *
 * @param lon12 difference of longitude, degrees, plus `lon12Low`; not ±180
 * @param step ω − λ for |lon12|, radians, ≥ 0
 * @param ellipsoidal area minus excess × authalic radius squared, m², for |lon12|
 */
export function areaUnder(lon12: f64, lon12Low: f64, step: f64, ellipsoidal: f64, fromPole: bool): void {
  const east: f64 = lon12 < 0 ? -1 : 1
  lon12 *= east
  lon12Low *= east
  const isObtuse = lon12 > 90
  if (isObtuse) sineAndCosine(180 - lon12, -lon12Low, -step)
  else sineAndCosine(lon12, lon12Low, step)
  if (isObtuse) {
    c = -c
    cLow = -cLow
  }
  if (fromPole) excessAtPole()
  else excessAtEquator()
  if (fromPole) {
    twoSum(excess, -step)
    excess = high
    excessLow += low
  }
  product(excess, excessLow, AUTHALIC, AUTHALIC_LOW)
  twoSum(exact.high, ellipsoidal)
  twoSum(high, low + exact.low)
  area = east * high + 0 // no −0
  areaLow = east * low + 0
}

/** Sets `excess` to α2 − α1: the area between a great circle and the equator on the unit sphere. */
@inline
function excessAtEquator(): void {
  twoSum(N1, C1)
  const n1 = high
  const n1Low = low + (N1Low + C1Low)
  twoSum(N2, C2)
  const n2 = high
  const n2Low = low + (N2Low + C2Low)
  sumOfProducts(S1, S1Low, n2, n2Low, S2, S2Low, n1, n1Low)
  const sign: f64 = exact.high < 0 ? -1 : 1
  const rise = sign * exact.high
  const riseLow = sign * exact.low
  sumOfProducts(S1, S1Low, S2, S2Low, n1, n1Low, n2, n2Low)
  const base = exact.high
  const baseLow = exact.low
  // tan(ω/2) is sin ω / (1 + cos ω) or (1 − cos ω) / sin ω; the code takes the one in which nothing cancels.
  const isObtuse = c < 0
  twoSum(1, Math.abs(c))
  const onePlusCos = high
  const onePlusCosLow = low + (isObtuse ? -cLow : cLow)
  product(isObtuse ? onePlusCos : s, isObtuse ? onePlusCosLow : sLow, rise, riseLow)
  const y = exact.high
  const yLow = exact.low
  product(isObtuse ? s : onePlusCos, isObtuse ? sLow : onePlusCosLow, base, baseLow)
  twiceAngle(y, yLow, exact.high, exact.low)
  excess *= sign
  excessLow *= sign
}

/**
 * Sets `excess` to ω12 − |α2 − α1|: the area between a great circle and the pole of its hemisphere, the excess of their
 * triangle.
 */
@inline
function excessAtPole(): void {
  product(C1, C1Low, C2, C2Low)
  const cc = exact.high
  const ccLow = exact.low
  twoSum(N1, Math.abs(S1))
  const n1 = high
  const n1Low = low + (N1Low + (S1 < 0 ? -S1Low : S1Low))
  twoSum(N2, Math.abs(S2))
  const n2 = high
  const n2Low = low + (N2Low + (S2 < 0 ? -S2Low : S2Low))
  product(cc, ccLow, s, sLow)
  const y = exact.high
  const yLow = exact.low
  sumOfProducts(cc, ccLow, c, cLow, n1, n1Low, n2, n2Low)
  twiceAngle(y, yLow, exact.high, exact.low)
}

/** Sets `excess` and `excessLow` to twice the angle of the direction (x, y); x, y ≥ 0. */
@inline
function twiceAngle(y: f64, yLow: f64, x: f64, xLow: f64): void {
  const index = <i32>nearest<f64>((atan2Lanes<f64>(y, x) / DEGREE) * ROWS_PER_DEGREE)
  const row = equatorRow + <usize>index * ROW_BYTES
  const complement = equatorRow + <usize>(ROWS_TO_POLE - index) * ROW_BYTES
  const s0 = load<f64>(row)
  const c0 = load<f64>(complement)
  // Rotate the direction back by the angle of the table row. The remaining angle is below 1/16°, and t is its tangent.
  sumOfProducts(y, yLow, c0, load<f64>(complement, 16), -x, -xLow, s0, load<f64>(row, 16))
  const t = (exact.high + exact.low) / (y * s0 + x * c0)
  const tt = t * t
  const radians = t + t * tt * (-1 / 3.0 + tt / 5)
  product(load<f64>(row, 24), 0, DEGREE, DEGREE_LOW)
  twoSum(exact.high, radians)
  excess = 2 * high
  excessLow = 2 * (low + exact.low)
}
