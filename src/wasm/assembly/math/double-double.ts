/**
 * Double-double arithmetic: a number is the unevaluated sum of two doubles, the second being the rounding error of the
 * first. That gives 31 digits. math.ts explains the idea.
 */
import { sumError } from './math'

/** The number high + low. */
@unmanaged
export class DoubleDouble {
  high: f64
  low: f64
}

/**
 * The rounding error of p = u · v: u · v = p + error exactly (Dekker), as long as neither factor nears overflow or
 * underflow.
 */
@inline
export function productError(u: f64, v: f64, p: f64): f64 {
  const SPLIT: f64 = 134217729 // 2²⁷ + 1
  const s = SPLIT * u
  const u1 = s - (s - u)
  const u2 = u - u1
  const t = SPLIT * v
  const v1 = t - (t - v)
  const v2 = v - v1
  return u2 * v2 - (p - u1 * v1 - u2 * v1 - u1 * v2)
}

/** Stores u + v, exactly. */
@inline
export function sum(u: f64, v: f64, out: DoubleDouble): void {
  const s = u + v
  out.high = s
  out.low = sumError(u, v, s)
}

/** Stores (x + xLow) (y + yLow). */
export function product(x: f64, xLow: f64, y: f64, yLow: f64, out: DoubleDouble): void {
  const p = x * y
  sum(p, productError(x, y, p) + (x * yLow + xLow * y), out)
}

/** Stores (x + xLow) (y + yLow) + (u + uLow) (v + vLow). */
export function sumOfProducts(
  x: f64,
  xLow: f64,
  y: f64,
  yLow: f64,
  u: f64,
  uLow: f64,
  v: f64,
  vLow: f64,
  out: DoubleDouble,
): void {
  const xy = x * y
  const xyLow = productError(x, y, xy) + (x * yLow + xLow * y)
  const uv = u * v
  const uvLow = productError(u, v, uv) + (u * vLow + uLow * v)
  const p = xy + xyLow
  const q = uv + uvLow
  const s = p + q
  sum(s, sumError(p, q, s) + (sumError(xy, xyLow, p) + sumError(uv, uvLow, q)), out)
}
