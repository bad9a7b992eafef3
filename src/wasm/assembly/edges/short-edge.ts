/**
 * Length and area of a short edge from one series about its middle, without solving for the geodesic.
 *
 * λ and Δ are the differences of longitude and latitude, s and c the sine and cosine of the mean latitude, and
 * W² = 1 − e²s². X = a c λ / W and Y = a (1 − e²) Δ / W³ are the lengths of λ on the parallel and of Δ on the meridian.
 * Then:
 *
 *   length² = X² (1 − λ² s²/12) + Y² (1 + p λ² + q Δ²)
 *     p = (8e² s⁴ − (2 + 5e²) s² − 1) / 12(1 − e²)      q = e² (1 − (2 − 4e²) s² − 3e² s⁴) / 4W⁴
 *   area to the equator = λ (A + s (X²/12 + w Y²))
 *     A = b² s (1 + 2/3 t + 3/5 t² + …), t = e² s²      w = (1 + 2e² − 3e² s²) / 8(1 − e²)
 *
 * The coefficients solve, order by order, the Hamilton–Jacobi equation for the length and the corresponding equation
 * for the area, dT = A dλ along the geodesic. They are exact in e²; the functions below have the next orders. No power of λ
 * has a factor tan φ, so the series holds up to the poles, and only the differences in degrees limit it.
 *
 * The size of the Earth does not amplify errors of length: Δ is exact, so the error is proportional to the length.
 *
 * Areas are differences A(φ) − A(φ₀) to the parallel φ₀ of the ring's first vertex (`Parallel`). Its sine (head + tail)
 * and A(φ₀)/b² − sin φ₀ (bulge) are subtracted term by term, so that small rings lose no digits.
 */

import { a, b, e2 } from '../geodesic/series'
import { add, div, mul, mulAdd, sqrtLanes, storeLanes, sub } from '../math/lanes'
import { DEGREE } from '../math/math'
import { equatorRow, ROW_BYTES, ROWS_PER_DEGREE } from '../math/sines'

/*
 * The next terms of the series above, for edges of up to half a degree: further factors of X² and Y².
 *
 * They solve the same equations. The terms of fourth order in λ and Δ are exact in e². Those of sixth order are
 * truncated after e² (after e⁴ where that is the first). With them a length agrees with numerical quadrature within
 * 10⁻¹⁰ m and an area within 10⁻⁸ m². For comparison, the S12 of an edge of that length has a rounding error of 10⁻⁴
 * m².
 *
 * Arguments: ll is λ² and dd is Δ², both in radians²; ss is s², the squared sine of the mean latitude.
 */

const e4: f64 = e2 * e2
const e6: f64 = e2 * e4

/** The factor of X² in length². */
function eastLength(ll: f64, ss: f64): f64 {
  const cc = 1 - ss
  return ll * ll * ss * ((4 * ss - 3) / 360 - (e2 * cc * cc) / 120)
}

/** The factor of Y² in length². */
function northLength(ll: f64, dd: f64, ss: f64): f64 {
  const dddd = (e2 * (2 * ss - 1) + e4 * (6 * ss - 5) * (7 * ss - 1)) / 80
  const lldd = (e2 * (2 * ss - 1) * (11 * ss + 4)) / 240 - (14 * ss + 1) / 720
  const llll = (ss * (24 * ss - 8) - 1 + e2 * (1 - ss) * (2 * ss - 1) * (43 * ss + 2)) / 720
  return dd * dd * dddd + ll * dd * lldd + ll * ll * llll
}

/** The factor of X² in the area. */
function eastArea(ll: f64, ss: f64): f64 {
  const cc = 1 - ss
  const second = (2 - ss * (3 + e2 * (1 - 2 * ss))) / (240 * (1 - e2))
  const fourth = (ss * (45 * ss - 60) + 17) / 20160 - (e2 * cc * cc * (48 * ss - 17)) / 10080
  return ll * (second + ll * fourth)
}

/** The factor of Y² in the area. */
function northArea(ll: f64, dd: f64, ss: f64): f64 {
  const t = 1 - e2 * ss
  const north2 =
    (25 + 12 * e2 + 128 * e4 - ss * (147 * e2 + 280 * e4 - 232 * e6 - ss * (347 * e4 - 452 * e6 + ss * (135 * e6)))) /
    (1920 * (1 - e2) * t * t)
  const east2 =
    (5 + 6 * e2 - ss * (15 + 32 * e2 - 14 * e4 - ss * (46 * e2 - 13 * e4 - ss * (11 * e4)))) / (480 * (1 - e2) * (1 - e2))
  const north4 = 61 / 46080.0 + (e2 * (725 - 2069 * ss)) / 322560
  const both = (5 - 33 * ss) / 4608 + (e2 * (ss * (2467 * ss - 2176) + 129)) / 80640
  const east4 = (ss * (15 * ss - 15) + 2) / 1920 + (e2 * (1 - ss) * (ss * (212 * ss - 214) + 23)) / 6720
  return dd * (north2 + dd * north4) + ll * (east2 + dd * both + ll * east4)
}

/** Longest edge measured without the higher terms, degrees as on a plane: errors up to 6·10⁻⁷ m² and 10⁻¹³ m. */
export const SHORT_DEGREES: f64 = 0.02
/** Longest edge measured with the higher terms, degrees as on a plane: errors up to 10⁻⁸ m² and 10⁻¹⁰ m. */
export const LONGEST_DEGREES: f64 = 0.5

const DEGREE2: f64 = DEGREE * DEGREE

/**
 * The constants of the formulae above, for λ and Δ in degrees and areas in units of b². They are in memory because one
 * load brings a number into both lanes, whereas a constant in the code takes three instructions at each use.
 */
const constants = memory.data<f64>([
  ROWS_PER_DEGREE / 2,
  6755399441055744.0, // 1.5 · 2⁵²: added to a number below 2³¹, it leaves the nearest integer in the lowest bits
  DEGREE / 2,
  -0.16666665803980615, // of d³ in sin d = d − d³/6 + …, fitted to |d| < 1/16°: error below 2·10⁻¹⁸
  1 / 24.0,
  -0.5,
  e2,
  1,
  a * a * DEGREE2,
  a * a * (1 - e2) * (1 - e2) * DEGREE2,
  -DEGREE2 / 12,
  // p
  -DEGREE2 / (12 * (1 - e2)),
  (-DEGREE2 * (2 + 5 * e2)) / (12 * (1 - e2)),
  (DEGREE2 * 8 * e2) / (12 * (1 - e2)),
  // q
  (DEGREE2 * e2) / 4,
  (-DEGREE2 * e2 * (2 - 4 * e2)) / 4,
  (-DEGREE2 * e2 * 3 * e2) / 4,
  // 1/12 and w
  1 / (12 * b * b),
  (1 + 2 * e2) / (8 * (1 - e2) * b * b),
  (-3 * e2) / (8 * (1 - e2) * b * b),
  b * b * DEGREE,
  // 2/3 + 3/5 t + 4/7 t² + …, fitted to 0 ≤ t ≤ e²: error below 4·10⁻¹⁷
  0.6666666666666666,
  0.6000000000002571,
  0.5714285709806295,
  0.555555840769651,
  0.5453725336816249,
  0.5493073562367756,
  SHORT_DEGREES * SHORT_DEGREES,
])
// Byte offsets in `constants`. P, Q and W are p, q and w above; V is 1/12; G is 2/3, 3/5 … of `bulgeFromSine`.
const HALF_ROWS: usize = 0
const TO_INTEGER: usize = 8
const HALF_DEGREE: usize = 16
const SINE3: usize = 24
const COSINE4: usize = 32
const COSINE2: usize = 40
const E2: usize = 48
const ONE: usize = 56
const XX: usize = 64
const YY: usize = 72
const SS: usize = 80
const P: usize = 88
const Q: usize = 112
const V: usize = 136
const W: usize = 144
const B2: usize = 160
const G: usize = 168
const SHORT: usize = 216

@inline
function constant<T>(offset: usize): T {
  if (isVector<T>()) return changetype<T>(v128.load64_splat(constants + offset))
  return <T>load<f64>(constants + offset)
}

/** The parallel that areas are measured from: sin φ = head + tail, bulge = A(φ)/b² − sin φ. */
@unmanaged
export class Parallel {
  head: f64
  tail: f64
  bulge: f64
}

/** Fills a parallel from its latitude in degrees. Call `fillSineTable` before. */
export function setParallel(parallel: Parallel, lat: f64): void {
  const row = equatorRow + <usize>(<i32>nearest<f64>(lat * ROWS_PER_DEGREE)) * ROW_BYTES
  const d = (lat - load<f64>(row, 24)) * DEGREE
  const head = load<f64>(row)
  const tail = load<f64>(row, 16) + sineStep<f64>(d, head, load<f64>(row, 8))
  parallel.head = head
  parallel.tail = tail
  parallel.bulge = bulgeFromSine<f64>(head + tail)
}

/** sin(φ0 + d) − sin φ0. */
@inline
function sineStep<T>(d: T, s0: T, c0: T): T {
  return add<T>(mul<T>(c0, tinySine<T>(d)), mul<T>(s0, tinyCosm1<T>(d)))
}

/** cos(φ0 + d) − cos φ0. */
@inline
function cosineStep<T>(d: T, s0: T, c0: T): T {
  return sub<T>(mul<T>(c0, tinyCosm1<T>(d)), mul<T>(s0, tinySine<T>(d)))
}

@inline
function tinySine<T>(d: T): T {
  const dd = mul<T>(d, d)
  return mulAdd<T>(mul<T>(d, dd), constant<T>(SINE3), d)
}

/** cos d − 1. */
@inline
function tinyCosm1<T>(d: T): T {
  const dd = mul<T>(d, d)
  return mul<T>(dd, mulAdd<T>(dd, constant<T>(COSINE4), constant<T>(COSINE2)))
}

/** A(φ)/b² − sin φ = s (2/3 t + 3/5 t² + …). It is 150 times smaller than the sine, and so is its rounding error. */
@inline
function bulgeFromSine<T>(s: T): T {
  const t = mul<T>(constant<T>(E2), mul<T>(s, s))
  const tt = mul<T>(t, t)
  const low = mulAdd<T>(t, constant<T>(G + 8), constant<T>(G))
  const middle = mulAdd<T>(t, constant<T>(G + 24), constant<T>(G + 16))
  const high = mulAdd<T>(t, constant<T>(G + 40), constant<T>(G + 32))
  const g = mulAdd<T>(tt, mulAdd<T>(tt, high, middle), low)
  return mul<T>(mul<T>(s, t), g)
}

/** Square of the distance between the ends of an edge in degrees, as on a plane. It selects the method for the edge. */
@inline
export function squareDegrees<T>(lon12: T, lat1: T, lat2: T): T {
  const lat12 = sub<T>(lat2, lat1)
  return mulAdd<T>(lon12, lon12, mul<T>(lat12, lat12))
}

/** Whether the edges in all lanes are short. */
@inline
export function areShort<T>(lon12: T, lat1: T, lat2: T): bool {
  const square = squareDegrees<T>(lon12, lat1, lat2)
  if (isVector<T>()) return i64x2.bitmask(f64x2.le(changetype<v128>(square), changetype<v128>(constant<T>(SHORT)))) == 3
  return <f64>square <= SHORT_DEGREES * SHORT_DEGREES
}

/**
 * Stores the lengths in metres at `lengths`. With `wantsArea` it also stores at `strips` the areas in m² between the
 * edges and the parallel of head, tail and bulge, east-going positive.
 *
 * @param lon12 difference of longitude, degrees
 * @param isLong whether to add the higher terms; only for one lane
 */
@inline
export function shortEdge<T>(
  lon12: T,
  lat1: T,
  lat2: T,
  head: T,
  tail: T,
  bulge: T,
  wantsArea: bool,
  isLong: bool,
  lengths: usize,
  strips: usize,
): void {
  const rowNumber = add<T>(mul<T>(add<T>(lat1, lat2), constant<T>(HALF_ROWS)), constant<T>(TO_INTEGER))
  let s0: T
  let c0: T
  let low0: T
  let lat0: T
  if (isVector<T>()) {
    const bits = changetype<v128>(rowNumber)
    const row0 = equatorRow + <usize>i32x4.extract_lane(bits, 0) * ROW_BYTES
    const row1 = equatorRow + <usize>i32x4.extract_lane(bits, 2) * ROW_BYTES
    const left0 = v128.load(row0)
    const left1 = v128.load(row1)
    const right0 = v128.load(row0, 16)
    const right1 = v128.load(row1, 16)
    s0 = changetype<T>(v128.shuffle<f64>(left0, left1, 0, 2))
    c0 = changetype<T>(v128.shuffle<f64>(left0, left1, 1, 3))
    low0 = changetype<T>(v128.shuffle<f64>(right0, right1, 0, 2))
    lat0 = changetype<T>(v128.shuffle<f64>(right0, right1, 1, 3))
  } else {
    const row = equatorRow + <usize>(<i32>reinterpret<i64>(<f64>rowNumber)) * ROW_BYTES
    s0 = <T>load<f64>(row)
    c0 = <T>load<f64>(row, 8)
    low0 = <T>load<f64>(row, 16)
    lat0 = <T>load<f64>(row, 24)
  }
  // Each difference is exact, and in their sum the digits of the latitude itself have cancelled.
  const d = mul<T>(add<T>(sub<T>(lat1, lat0), sub<T>(lat2, lat0)), constant<T>(HALF_DEGREE))
  const ds = sineStep<T>(d, s0, c0)
  const s = add<T>(s0, ds)
  const c = add<T>(c0, cosineStep<T>(d, s0, c0))
  const ss = mul<T>(s, s)
  const inverseW2 = div<T>(constant<T>(ONE), sub<T>(constant<T>(ONE), mul<T>(constant<T>(E2), ss)))
  const inverseW4 = mul<T>(inverseW2, inverseW2)

  const lat12 = sub<T>(lat2, lat1)
  const ll = mul<T>(lon12, lon12)
  const dd = mul<T>(lat12, lat12)
  const x2 = mul<T>(mul<T>(ll, constant<T>(XX)), mul<T>(mul<T>(c, c), inverseW2))
  const y2 = mul<T>(mul<T>(dd, constant<T>(YY)), mul<T>(inverseW4, inverseW2))
  const p = mulAdd<T>(ss, mulAdd<T>(ss, constant<T>(P + 16), constant<T>(P + 8)), constant<T>(P))
  const q = mul<T>(inverseW4, mulAdd<T>(ss, mulAdd<T>(ss, constant<T>(Q + 16), constant<T>(Q + 8)), constant<T>(Q)))
  const higherOrder = mulAdd<T>(y2, mulAdd<T>(ll, p, mul<T>(dd, q)), mul<T>(x2, mul<T>(mul<T>(ss, constant<T>(SS)), ll)))
  let square = add<T>(add<T>(x2, y2), higherOrder)
  if (!isVector<T>() && isLong) square = add<T>(square, <T>lengthTerms(<f64>x2, <f64>y2, <f64>ll, <f64>dd, <f64>ss))
  storeLanes<T>(lengths, sqrtLanes<T>(square))
  if (!wantsArea) return

  const w = mulAdd<T>(ss, constant<T>(W + 8), constant<T>(W))
  let curvature = mulAdd<T>(x2, constant<T>(V), mul<T>(y2, w))
  if (!isVector<T>() && isLong) curvature = add<T>(curvature, <T>areaTerms(<f64>x2, <f64>y2, <f64>ll, <f64>dd, <f64>ss))
  const above = add<T>(sub<T>(s0, head), sub<T>(add<T>(low0, ds), tail))
  const curved = mul<T>(s, curvature)
  const mean = add<T>(above, add<T>(sub<T>(bulgeFromSine<T>(s), bulge), curved))
  storeLanes<T>(strips, mul<T>(mul<T>(lon12, constant<T>(B2)), mean))
}

function lengthTerms(x2: f64, y2: f64, ll: f64, dd: f64, ss: f64): f64 {
  ll *= DEGREE2
  dd *= DEGREE2
  return x2 * eastLength(ll, ss) + y2 * northLength(ll, dd, ss)
}

function areaTerms(x2: f64, y2: f64, ll: f64, dd: f64, ss: f64): f64 {
  ll *= DEGREE2
  dd *= DEGREE2
  return (x2 * eastArea(ll, ss) + y2 * northArea(ll, dd, ss)) / (b * b)
}
