/**
 * Double-double arithmetic: a number is the unevaluated sum of two doubles, the second being the rounding error of the
 * first. That gives 31 digits. math.ts explains the idea.
 */
import { high as sumHigh, low as sumLow, twoSum } from './math'

/** Results of the functions below: the value is high + low. */
export let high: f64 = 0
export let low: f64 = 0

/**
 * Sets `high` and `low` so that u · v = high + low exactly (Dekker), as long as neither factor nears overflow or
 * underflow.
 */
export function twoProduct(u: f64, v: f64): void {
  const SPLIT: f64 = 134217729 // 2²⁷ + 1
  const p = u * v
  let t = SPLIT * u
  const u1 = t - (t - u)
  const u2 = u - u1
  t = SPLIT * v
  const v1 = t - (t - v)
  const v2 = v - v1
  low = u2 * v2 - (p - u1 * v1 - u2 * v1 - u1 * v2)
  high = p
}

/** (x + xLow) (y + yLow). */
export function product(x: f64, xLow: f64, y: f64, yLow: f64): void {
  twoProduct(x, y)
  twoSum(high, low + (x * yLow + xLow * y))
  high = sumHigh
  low = sumLow
}

/** (x + xLow) (y + yLow) + (u + uLow) (v + vLow). */
export function sumOfProducts(x: f64, xLow: f64, y: f64, yLow: f64, u: f64, uLow: f64, v: f64, vLow: f64): void {
  product(x, xLow, y, yLow)
  const p = high
  const pLow = low
  product(u, uLow, v, vLow)
  twoSum(p, high)
  twoSum(sumHigh, sumLow + (pLow + low))
  high = sumHigh
  low = sumLow
}
