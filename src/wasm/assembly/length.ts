/** Length of a polyline. */
import { inverse } from './inverse'
import { high, low, twoSum } from './math'

/**
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, ≥ 1
 * @returns metres; summed with the rounding errors, so 10⁵ edges lose nothing
 */
export function lineLength(vertices: usize, count: i32): f64 {
  let sum: f64 = 0
  let error: f64 = 0
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    twoSum(sum, inverse(load<f64>(p - 8), load<f64>(p - 16), load<f64>(p, 8), load<f64>(p)))
    sum = high
    error += low
  }
  return sum + error
}
