import { spendWork } from '../base/work.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'

/**
 * Adds numbers in the given order and corrects the sum by the rounding error of each addition (Neumaier). So a geometry that is
 * cut into many parts has no larger error than the parts themselves.
 */
export function compensatedSum(terms: Iterable<number>): number {
  let sum = 0
  let compensation = 0
  for (const term of terms) {
    const next = sum + term
    compensation += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum
    sum = next
  }
  return sum + compensation
}

/**
 * Returns the geodesic length of the lines of a geometry on WGS 84. Each edge is the shortest geodesic between its vertices.
 *
 * @param geometry LineString or MultiLineString
 * @returns metres, before any rounding
 * @throws {WorkLimitError} when the request exceeds its limit of work
 * @see C. F. F. Karney, Algorithms for geodesics, J. Geodesy 87 (2013), doi:10.1007/s00190-012-0578-z
 */
export function lengthMeters(kernel: Kernel, geometry: FlatGeometry): number {
  return compensatedSum(lineLengths(kernel, geometry))
}

function* lineLengths(kernel: Kernel, { vertices, sequenceStarts }: FlatGeometry): Iterable<number> {
  kernel.release()
  const pointer = kernel.write(vertices)
  for (let sequence = 0; sequence + 1 < sequenceStarts.length; sequence++) {
    const start = sequenceStarts[sequence]!
    kernel.startWork(Number.POSITIVE_INFINITY)
    const length = kernel.lineLength(pointer + 16 * start, sequenceStarts[sequence + 1]! - start)
    spendWork(kernel.workDone())
    yield length
  }
}
