import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'

/** A distance would cost more than the work it was allowed. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError'
}

/**
 * Least geodesic distance between two geometries on WGS 84.
 *
 * Edges are shortest geodesics, polygons include their interior; the result is 0 when the geometries meet or one contains
 * the other. It does not depend on the order of the arguments, to the last bit.
 *
 * @param workLimit how many solutions of the inverse problem it may cost; 16 looks at bounding boxes count as one
 * @returns metres, before any rounding
 * @throws {WorkLimitError} when the limit is reached
 * @throws {RangeError} when the kernel's memory cannot grow
 */
export function distanceMeters(kernel: Kernel, a: FlatGeometry, b: FlatGeometry, workLimit: number): number {
  const isOrdered = compare(a, b) <= 0
  kernel.release()
  const first = prepare(kernel, isOrdered ? a : b)
  const second = prepare(kernel, isOrdered ? b : a)
  const distance = kernel.minimumDistance(first, second, workLimit)
  if (distance >= 0) return distance
  if (distance === -2) throw new RangeError('the kernel is out of memory')
  throw new WorkLimitError(`the distance needs more than ${workLimit} solutions`)
}

function prepare(kernel: Kernel, geometry: FlatGeometry): number {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  const operand = kernel.prepareOperand(
    kernel.write(vertices),
    kernel.writeIntegers(sequenceStarts),
    sequenceStarts.length - 1,
    kernel.writeIntegers(partStarts),
    kernel.writeIntegers(Uint32Array.from(partDimensions)),
    partDimensions.length,
  )
  if (operand === 0) throw new RangeError('the kernel is out of memory')
  return operand
}

/** A total order of geometries by what the kernel sees of them, so that equal ones are interchangeable. */
function compare(a: FlatGeometry, b: FlatGeometry): number {
  return (
    compareArrays(a.vertices, b.vertices) ||
    compareArrays(a.sequenceStarts, b.sequenceStarts) ||
    compareArrays(a.partStarts, b.partStarts) ||
    compareArrays(a.partDimensions, b.partDimensions)
  )
}

function compareArrays(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return a.length - b.length
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index]) return a[index]! - b[index]!
  }
  return 0
}
