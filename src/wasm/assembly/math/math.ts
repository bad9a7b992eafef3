/**
 * Elementary functions of the kernel. Everything is plain IEEE 754 double arithmetic inside WebAssembly, so the results
 * have the same bits on every machine. That includes AssemblyScript's Math, which is compiled into the module.
 *
 * Error-free transformations: the rounding error of a sum or a product of two doubles is itself a double, and a few
 * more operations find it (`twoSum` here, `twoProduct` in double-double.ts). A result is then a pair, `high` the
 * rounded value and `low` the error, and high + low is exact. The operations and their order must stay as written:
 * algebra would simplify `low` to 0.
 *
 * Functions with two results leave them in the exported globals. The next call overwrites them, so copy them first.
 */

import { atan2Lanes, cosLanes, sinLanes } from './lanes'

export const DEGREE: f64 = 0.017453292519943295 // π/180
/** √(smallest normal double). It stands for the cosine of the latitude at a pole, so that divisions by it stay finite. */
export const TINY: f64 = 1.4916681462400413e-154
export const EPSILON: f64 = 2.220446049250313e-16 // 2⁻⁵²

/** Results of `sincosDegrees`: sine and cosine. */
export let sinx: f64 = 0
export let cosx: f64 = 0
/** Results of `twoSum` and `longitudeDifference`: the rounded value and its rounding error. */
export let high: f64 = 0
export let low: f64 = 0

@inline
export function square(x: f64): f64 {
  return x * x
}

/** Length of a vector. Squares the components without scaling, so they must be neither huge nor tiny. */
@inline
export function norm(x: f64, y: f64): f64 {
  return Math.sqrt(x * x + y * y)
}

/** Angle of the direction (x, y) in radians; 0 for (0, 0). */
@inline
export function atan2(y: f64, x: f64): f64 {
  return y == 0 && x == 0 ? 0 : copysign(atan2Lanes<f64>(Math.abs(y), x), y)
}

/** Sets `high` and `low` so that u + v = high + low exactly (Knuth). */
export function twoSum(u: f64, v: f64): void {
  const s = u + v
  const up = s - v
  const vpp = s - up
  low = -((up - u) + (vpp - v))
  high = s
}

/**
 * Sets `sinx` and `cosx` for an angle of d + t degrees, |d| ≤ 360 and t tiny.
 *
 * The angle is reduced to ±45° exactly before the conversion to radians, so multiples of 90° give exact zeros and ones.
 */
export function sincosDegrees(d: f64, t: f64): void {
  const q = Math.round(d / 90)
  let r = d - 90 * q + t
  // Angles that span less than a picometre on the ground would give near-singular triangles.
  r = roundAngle(r)
  let s: f64
  let c: f64
  const a = Math.abs(r)
  if (a == 45) {
    c = Math.sqrt(0.5)
    s = copysign(c, r)
  } else if (a == 30) {
    c = Math.sqrt(0.75)
    s = copysign<f64>(0.5, r)
  } else {
    const radians = r * DEGREE
    const radians2 = square(radians)
    s = sinLanes<f64>(radians, radians2)
    c = cosLanes<f64>(radians2)
  }
  switch ((<i32>q) & 3) {
    case 0:
      sinx = s
      cosx = c
      break
    case 1:
      sinx = c
      cosx = -s
      break
    case 2:
      sinx = -s
      cosx = -c
      break
    default:
      sinx = -c
      cosx = s
  }
  cosx += 0 // no -0
  if (sinx == 0) sinx = copysign<f64>(0, d + t)
}

/** Rounds an angle near zero to a multiple of 2⁻⁵⁷ degrees, which is 0.7 pm on the ground. */
export function roundAngle(x: f64): f64 {
  const z: f64 = 0.0625
  const y = Math.abs(x)
  return copysign(y < z ? z - (z - y) : y, x)
}

/** Reduces x to [-180, 180] by a multiple of 360, exactly; |x| ≤ 540. */
@inline
function reduceLongitude(x: f64): f64 {
  return x > 180 ? x - 360 : x < -180 ? x + 360 : x
}

/**
 * Sets `high` + `low` to lon2 − lon1, reduced to [-180, 180], exactly. Both longitudes are in [-180, 180].
 *
 * +180 means east-going and −180 west-going. The sign is that of lon2 − lon1, so swapping the points flips it.
 */
export function longitudeDifference(lon1: f64, lon2: f64): void {
  twoSum(-lon1, lon2)
  const e = low
  twoSum(reduceLongitude(high), e)
  if (high == 0 || Math.abs(high) == 180) high = copysign(high, low == 0 ? lon2 - lon1 : -low)
}

/** Angle of (y, x) in degrees, exact at multiples of 90°. */
export function atan2Degrees(y: f64, x: f64): f64 {
  let q: i32 = 0
  if (Math.abs(y) > Math.abs(x)) {
    const t = x
    x = y
    y = t
    q = 2
  }
  if (x < 0 || (x == 0 && 1 / x < 0)) {
    x = -x
    q++
  }
  const angle = Math.atan2(y, x) / DEGREE
  switch (q) {
    case 1:
      return copysign<f64>(180, y) - angle
    case 2:
      return 90 - angle
    case 3:
      return -90 + angle
    default:
      return angle
  }
}
