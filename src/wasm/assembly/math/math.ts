/**
 * Elementary functions of the kernel. Everything is plain IEEE 754 double arithmetic inside WebAssembly, so the results
 * have the same bits on every machine. That includes AssemblyScript's Math, which is compiled into the module.
 *
 * Error-free transformations: the rounding error of a sum or a product of two doubles is itself a double, and a few
 * more operations find it (`sumError` here, `productError` in double-double.ts). Names …Low are such errors. The
 * operations and their order must stay as written: algebra would simplify the error to 0.
 */

import { atan2Lanes, cosLanes, sinLanes } from './lanes'

export const DEGREE: f64 = 0.017453292519943295 // π/180
/** √(smallest normal double). It stands for the cosine of the latitude at a pole, so that divisions by it stay finite. */
export const TINY: f64 = 1.4916681462400413e-154
export const EPSILON: f64 = 2.220446049250313e-16 // 2⁻⁵²

/** Sine and cosine of one angle. */
@unmanaged
export class SineCosine {
  sine: f64
  cosine: f64
}

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

/** The rounding error of s = u + v: u + v = s + error exactly (Knuth). */
@inline
export function sumError(u: f64, v: f64, s: f64): f64 {
  const up = s - v
  const vpp = s - up
  return -(up - u + (vpp - v))
}

/**
 * Stores sine and cosine of an angle of d + t degrees, |d| ≤ 360 and t tiny.
 *
 * The angle is reduced to ±45° exactly before the conversion to radians, so multiples of 90° give exact zeros and ones.
 */
export function sincosDegrees(d: f64, t: f64, out: SineCosine): void {
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
  const quadrant = <i32>q & 3
  const isOdd = (quadrant & 1) == 1
  const sine = isOdd ? c : s
  const cosine = isOdd ? s : c
  const signed = quadrant >= 2 ? -sine : sine
  out.sine = signed == 0 ? copysign<f64>(0, d + t) : signed
  out.cosine = (quadrant == 1 || quadrant == 2 ? -cosine : cosine) + 0 // no −0
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
 * Returns lon2 − lon1, reduced to [-180, 180]; `longitudeDifferenceLow` is its rounding error. Both longitudes are in
 * [-180, 180].
 *
 * +180 means east-going and −180 west-going. The sign is that of lon2 − lon1, so swapping the points flips it.
 */
export function longitudeDifference(lon1: f64, lon2: f64): f64 {
  const difference = lon2 - lon1
  const reduced = reduceLongitude(difference)
  const error = sumError(-lon1, lon2, difference)
  const high = reduced + error
  if (high != 0 && Math.abs(high) != 180) return high
  const low = sumError(reduced, error, high)
  return copysign(high, low == 0 ? difference : -low)
}

/** The rounding error of `longitudeDifference`: their sum is exact. */
export function longitudeDifferenceLow(lon1: f64, lon2: f64): f64 {
  const difference = lon2 - lon1
  const reduced = reduceLongitude(difference)
  const error = sumError(-lon1, lon2, difference)
  return sumError(reduced, error, reduced + error)
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
