/** Length of a polyline. */
import { areDegrees } from '../math/contracts'
import * as sums from '../edges/edge-sums'
import { sumEdges } from '../edges/edge-sums'

/**
 * Returns the length of a polyline in metres. The sum is compensated, so 10⁵ edges lose no digits.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, ≥ 1
 */
export function lineLength(vertices: usize, count: i32): f64 {
  assert(count >= 1, 'lineLength: a line needs a vertex')
  assert(areDegrees(vertices, count), 'lineLength: vertices must be aligned, finite and in range')
  sumEdges(vertices, count, false)
  return sums.length
}
