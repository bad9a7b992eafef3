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
 * Edges are computed one at a time even in the SIMD build, so both builds give the same bits.
 */
import { DoubleDouble, product, productError, sum, sumOfProducts } from '../math/double-double'
import { atan2Lanes } from '../math/lanes'
import { DEGREE, sumError } from '../math/math'
import { equatorRow, ROW_BYTES, ROWS_PER_DEGREE } from '../math/sines'

// 1 − f, π/180 and the square of the authalic radius, evaluated to 60 digits and split into two doubles; the first of
// π/180 is DEGREE.
const F1: f64 = 0.9966471893352525
const F1_LOW: f64 = -1.7576858257051413e-17
const DEGREE_LOW: f64 = 2.9486522708701687e-19
const AUTHALIC: f64 = 40589732499314.76
const AUTHALIC_LOW: f64 = 0.002185643266071792
const ROWS_TO_POLE: i32 = 720

/** S, C and N (see above) of an end of an edge. */
@unmanaged
export class EdgeEnd {
  S: f64
  SLow: f64
  C: f64
  CLow: f64
  N: f64
  NLow: f64
}

/** Sine and cosine of an angle. */
@unmanaged
class Angle {
  s: f64
  sLow: f64
  c: f64
  cLow: f64
}

// Working memory of one call of `fillEnd` or `areaUnder`.
const angle = changetype<Angle>(memory.data(offsetof<Angle>(), 8))
const excess = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))
const p = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))
const q = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))

/**
 * Stores sine and cosine of an angle within [−0.7, 90.7] degrees.
 *
 * @param degrees in [0, 90], plus `degreesLow`
 * @param radians a further part of the angle
 */
@inline
function sineAndCosine(degrees: f64, degreesLow: f64, radians: f64, out: Angle): void {
  const index = max(0, min(ROWS_TO_POLE, <i32>nearest<f64>((degrees + radians / DEGREE) * ROWS_PER_DEGREE)))
  const row = equatorRow + <usize>index * ROW_BYTES
  const complement = equatorRow + <usize>(ROWS_TO_POLE - index) * ROW_BYTES
  const s0 = load<f64>(row)
  const c0 = load<f64>(complement)
  const d = (degrees - load<f64>(row, 24) + degreesLow) * DEGREE + radians
  const dd = d * d
  const sine = d + d * dd * (-1 / 6.0 + dd * (1 / 120.0 - dd / 5040))
  const cosm1 = dd * (-1 / 2.0 + dd * (1 / 24.0 - dd / 720))
  const sineStep = load<f64>(row, 16) + (c0 * sine + s0 * cosm1)
  const cosineStep = load<f64>(complement, 16) + (c0 * cosm1 - s0 * sine)
  out.s = s0 + sineStep
  out.sLow = sumError(s0, sineStep, out.s)
  out.c = c0 + cosineStep
  out.cLow = sumError(c0, cosineStep, out.c)
}

/** Fills an end from its latitude in degrees. Call `fillSineTable` before. */
export function fillEnd(end: EdgeEnd, lat: f64): void {
  sineAndCosine(Math.abs(lat), 0, 0, angle)
  end.C = angle.c
  end.CLow = angle.cLow
  product(angle.s, angle.sLow, F1, F1_LOW, p)
  sumOfProducts(p.high, p.low, p.high, p.low, angle.c, angle.cLow, angle.c, angle.cLow, q)
  const N = Math.sqrt(q.high)
  const square = N * N
  end.N = N
  end.NLow = (q.high - square - productError(N, N, square) + q.low) / (2 * N)
  end.S = lat < 0 ? -p.high : p.high
  end.SLow = lat < 0 ? -p.low : p.low
}

/**
 * Stores the area between an edge and the equator or, with `fromPole`, the pole of the hemisphere in which both ends
 * lie. Square metres, east-going positive.
 *
 * @param lon12 difference of longitude, degrees, plus `lon12Low`; not ±180
 * @param step ω − λ for |lon12|, radians, ≥ 0
 * @param ellipsoidal area minus excess × authalic radius squared, m², for |lon12|
 */
export function areaUnder(
  end1: EdgeEnd,
  end2: EdgeEnd,
  lon12: f64,
  lon12Low: f64,
  step: f64,
  ellipsoidal: f64,
  fromPole: bool,
  out: DoubleDouble,
): void {
  const east: f64 = lon12 < 0 ? -1 : 1
  lon12 *= east
  lon12Low *= east
  const isObtuse = lon12 > 90
  if (isObtuse) sineAndCosine(180 - lon12, -lon12Low, -step, angle)
  else sineAndCosine(lon12, lon12Low, step, angle)
  if (isObtuse) {
    angle.c = -angle.c
    angle.cLow = -angle.cLow
  }
  if (fromPole) {
    excessAtPole(end1, end2)
    const low = excess.low
    sum(excess.high, -step, excess)
    excess.low += low
  } else {
    excessAtEquator(end1, end2)
  }
  product(excess.high, excess.low, AUTHALIC, AUTHALIC_LOW, p)
  sum(p.high, ellipsoidal, q)
  sum(q.high, q.low + p.low, out)
  out.high = east * out.high + 0 // no −0
  out.low = east * out.low + 0
}

/** Stores α2 − α1 in `excess`: the area between a great circle and the equator on the unit sphere. */
@inline
function excessAtEquator(end1: EdgeEnd, end2: EdgeEnd): void {
  const n1 = end1.N + end1.C
  const n1Low = sumError(end1.N, end1.C, n1) + (end1.NLow + end1.CLow)
  const n2 = end2.N + end2.C
  const n2Low = sumError(end2.N, end2.C, n2) + (end2.NLow + end2.CLow)
  sumOfProducts(end1.S, end1.SLow, n2, n2Low, end2.S, end2.SLow, n1, n1Low, p)
  const sign: f64 = p.high < 0 ? -1 : 1
  const rise = sign * p.high
  const riseLow = sign * p.low
  sumOfProducts(end1.S, end1.SLow, end2.S, end2.SLow, n1, n1Low, n2, n2Low, p)
  // tan(ω/2) is sin ω / (1 + cos ω) or (1 − cos ω) / sin ω; the code takes the one in which nothing cancels.
  const isObtuse = angle.c < 0
  const cosine = Math.abs(angle.c)
  const onePlusCos = 1 + cosine
  const onePlusCosLow = sumError(1, cosine, onePlusCos) + (isObtuse ? -angle.cLow : angle.cLow)
  const s = angle.s
  const sLow = angle.sLow
  product(isObtuse ? onePlusCos : s, isObtuse ? onePlusCosLow : sLow, rise, riseLow, q)
  product(isObtuse ? s : onePlusCos, isObtuse ? sLow : onePlusCosLow, p.high, p.low, p)
  twiceAngle(q.high, q.low, p.high, p.low)
  excess.high *= sign
  excess.low *= sign
}

/**
 * Stores ω12 − |α2 − α1| in `excess`: the area between a great circle and the pole of its hemisphere, the excess of
 * their triangle.
 */
@inline
function excessAtPole(end1: EdgeEnd, end2: EdgeEnd): void {
  const S1 = Math.abs(end1.S)
  const n1 = end1.N + S1
  const n1Low = sumError(end1.N, S1, n1) + (end1.NLow + (end1.S < 0 ? -end1.SLow : end1.SLow))
  const S2 = Math.abs(end2.S)
  const n2 = end2.N + S2
  const n2Low = sumError(end2.N, S2, n2) + (end2.NLow + (end2.S < 0 ? -end2.SLow : end2.SLow))
  product(end1.C, end1.CLow, end2.C, end2.CLow, p)
  product(p.high, p.low, angle.s, angle.sLow, q)
  sumOfProducts(p.high, p.low, angle.c, angle.cLow, n1, n1Low, n2, n2Low, p)
  twiceAngle(q.high, q.low, p.high, p.low)
}

/** Stores twice the angle of the direction (x, y) in `excess`; x, y ≥ 0. */
@inline
function twiceAngle(y: f64, yLow: f64, x: f64, xLow: f64): void {
  const index = <i32>nearest<f64>((atan2Lanes<f64>(y, x) / DEGREE) * ROWS_PER_DEGREE)
  const row = equatorRow + <usize>index * ROW_BYTES
  const complement = equatorRow + <usize>(ROWS_TO_POLE - index) * ROW_BYTES
  const s0 = load<f64>(row)
  const c0 = load<f64>(complement)
  // Rotate the direction back by the angle of the table row. The remaining angle is below 1/16°, and t is its tangent.
  sumOfProducts(y, yLow, c0, load<f64>(complement, 16), -x, -xLow, s0, load<f64>(row, 16), p)
  const t = (p.high + p.low) / (y * s0 + x * c0)
  const tt = t * t
  const radians = t + t * tt * (-1 / 3.0 + tt / 5)
  product(load<f64>(row, 24), 0, DEGREE, DEGREE_LOW, p)
  const half = p.high + radians
  excess.high = 2 * half
  excess.low = 2 * (sumError(p.high, radians, half) + p.low)
}
