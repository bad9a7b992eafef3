import type { FlatGeometry } from '../geometry/flat.ts'
import { CM_PER_METER, toScaledInteger } from '../units.ts'
import type { Kernel } from '../wasm/loader.ts'
import { isPrepared, layOperand, operandBytes, type PreparedDistance } from './prepared-distance.ts'

/** A distance would cost more than the work it was allowed. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError'
}

/** Longer than any shortest geodesic on WGS 84, metres. */
const LONGEST = 20_004_000
/** Metres: much more than two ways to the same distance differ by, so that the bounds never contradict the distance. */
const UNSURE = 1e-6

/**
 * Least geodesic distance between two geometries on WGS 84.
 *
 * Edges are shortest geodesics, polygons include their interior; the result is 0 when the geometries meet or one contains
 * the other. It depends neither on the order of the arguments nor on whether they are prepared, to the last bit; between
 * two points it is the length of the line between them.
 *
 * @param workLimit how many solutions of the inverse problem it may cost; 16 looks at bounding boxes count as one
 * @returns metres, before any rounding
 * @throws {WorkLimitError} when the limit is reached
 * @throws {RangeError} when the kernel's memory cannot grow; on a prepared geometry that was released or is another kernel's
 */
export function distanceMeters(
  kernel: Kernel,
  a: FlatGeometry | PreparedDistance,
  b: FlatGeometry | PreparedDistance,
  workLimit: number,
): number {
  // What the descent over two points comes to, without laying them out: the same bits.
  if (isPoint(a) && isPoint(b)) {
    return kernel.fastInverse(a.vertices[1]!, a.vertices[0]!, b.vertices[1]!, b.vertices[0]!)
  }
  const { first, second } = operandsOf(kernel, a, b)
  return checked(kernel.minimumDistance(first, second, workLimit), workLimit)
}

function isPoint(geometry: FlatGeometry | PreparedDistance): geometry is FlatGeometry {
  return !isPrepared(geometry) && geometry.type === 'Point'
}

/**
 * Whether the distance of two geometries, rounded to centimetres as it is attested, is at most a radius (decision 7): what
 * `toScaledInteger(distanceMeters(…), 100) <= radiusCm` says, but bounds alone decide where they can.
 *
 * @param radiusCm ≥ 0
 * @throws {WorkLimitError} when the limit is reached; not always where `distanceMeters` throws it
 * @throws {RangeError} as `distanceMeters`
 */
export function isWithinCentimeters(
  kernel: Kernel,
  a: FlatGeometry | PreparedDistance,
  b: FlatGeometry | PreparedDistance,
  radiusCm: bigint,
  workLimit: number,
): boolean {
  // What rounds to the radius ends half a centimetre beyond it.
  const threshold = (Number(radiusCm) + 0.5) / CM_PER_METER
  if (threshold > LONGEST) return true
  const { first, second } = operandsOf(kernel, a, b)
  const answer = kernel.isWithin(first, second, threshold - UNSURE, threshold + UNSURE, workLimit)
  if (answer === 0 || answer === 1) return answer === 1
  if (answer === -1) throw tooMuchWork(workLimit)
  const distance = checked(kernel.minimumDistance(first, second, workLimit), workLimit)
  return toScaledInteger(distance, CM_PER_METER) <= radiusCm
}

function checked(distance: number, workLimit: number): number {
  if (distance < 0) throw tooMuchWork(workLimit)
  return distance
}

function tooMuchWork(workLimit: number): WorkLimitError {
  return new WorkLimitError(`the distance needs more than ${workLimit} solutions`)
}

function operandsOf(kernel: Kernel, a: FlatGeometry | PreparedDistance, b: FlatGeometry | PreparedDistance) {
  kernel.release()
  return { first: operandOf(kernel, a), second: operandOf(kernel, b) }
}

function operandOf(kernel: Kernel, geometry: FlatGeometry | PreparedDistance): number {
  if (isPrepared(geometry)) return geometry.operandIn(kernel)
  const block = kernel.reserve(operandBytes(kernel, geometry))
  if (block === 0) throw new RangeError('the kernel is out of memory')
  layOperand(kernel, geometry, block)
  return block
}
