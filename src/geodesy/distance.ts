import { CM_PER_METER, toScaledInteger } from '../base/units.ts'
import { remainingWork, spendWork, WorkLimitError } from '../base/work.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { isPrepared, operandBytes, type PreparedDistance, writeOperand } from './prepared-distance.ts'

/** More than the length of any shortest geodesic on WGS 84, metres. */
const MAX_GEODESIC_METERS = 20_004_000
/** Margin of the bounds, metres. The methods for distances differ by much less, so the bounds never contradict the distance. */
const BOUND_MARGIN_METERS = 1e-6

/**
 * Returns the least geodesic distance between two geometries on WGS 84.
 *
 * Edges are shortest geodesics, and polygons include their interior. The result is 0 when the geometries meet or one contains the
 * other. Neither the order of the arguments nor preparing them changes a single bit of it. Between two points it is the length of
 * the line between them.
 *
 * @param workLimit units of work that it may cost: solutions of the inverse problem, and 16 bounding boxes count as one; what the
 *   request may still spend if it is absent
 * @returns metres, before any rounding
 * @throws {WorkLimitError} when the limit is reached
 * @throws {RangeError} when the kernel's memory cannot grow, or when a prepared geometry was released or belongs to another
 *   kernel
 */
export function distanceMeters(
  kernel: Kernel,
  a: FlatGeometry | PreparedDistance,
  b: FlatGeometry | PreparedDistance,
  workLimit = remainingWork(),
): number {
  // Gives the same bits as the search over two points, without writing them into the kernel.
  if (isPoint(a) && isPoint(b)) {
    spendWork(1)
    return kernel.fastInverse(a.vertices[1]!, a.vertices[0]!, b.vertices[1]!, b.vertices[0]!)
  }
  kernel.release()
  const first = operandPointer(kernel, a)
  const second = operandPointer(kernel, b)
  return leastDistance(kernel, first, second, workLimit)
}

/** Returns the distance of two operands of the kernel and counts its work. */
function leastDistance(kernel: Kernel, first: number, second: number, workLimit: number): number {
  const distance = kernel.minimumDistance(first, second, workLimit)
  spendWork(kernel.workDone())
  if (distance < 0) throw workLimitError(workLimit)
  return distance
}

/** Longitude and latitude in degrees. */
export type Place = readonly [longitude: number, latitude: number]

/**
 * Finds the two places between which `distanceMeters` measures, one on each geometry. If the geometries meet, both are one place
 * that they share.
 *
 * @returns the distance, bit for bit that of `distanceMeters`, and the places
 * @throws as `distanceMeters`
 */
export function nearestPlaces(
  kernel: Kernel,
  a: FlatGeometry | PreparedDistance,
  b: FlatGeometry | PreparedDistance,
  workLimit = remainingWork(),
): { readonly meters: number; readonly onA: Place; readonly onB: Place } {
  if (isPoint(a) && isPoint(b)) {
    const meters = distanceMeters(kernel, a, b, workLimit)
    const onA: Place = [a.vertices[0]!, a.vertices[1]!]
    const onB: Place = [b.vertices[0]!, b.vertices[1]!]
    if (meters > 0) return { meters, onA, onB }
    // Two names of one place: the kernel chooses the same.
    const common = onA[0] < onB[0] || (onA[0] === onB[0] && onA[1] <= onB[1]) ? onA : onB
    return { meters, onA: common, onB: common }
  }
  kernel.release()
  const first = operandPointer(kernel, a)
  const second = operandPointer(kernel, b)
  const meters = kernel.nearestPlaces(first, second, workLimit)
  spendWork(kernel.workDone())
  if (meters < 0) throw workLimitError(workLimit)
  return {
    meters,
    onA: [kernel.lonOnFirst() + 0, kernel.latOnFirst() + 0],
    onB: [kernel.lonOnSecond() + 0, kernel.latOnSecond() + 0],
  }
}

function isPoint(geometry: FlatGeometry | PreparedDistance): geometry is FlatGeometry {
  return !isPrepared(geometry) && geometry.type === 'Point'
}

/**
 * Tells whether the distance of two geometries, rounded to centimetres as it is attested, is at most a radius (decision 7). The
 * result is that of `toScaledInteger(distanceMeters(…), 100) <= radiusCm`, but bounds decide without the distance where they can.
 *
 * @param radiusCm ≥ 0
 * @throws {WorkLimitError} when the limit is reached; not in every case in which `distanceMeters` throws it
 * @throws {RangeError} as `distanceMeters`
 */
export function isWithinCentimeters(
  kernel: Kernel,
  a: FlatGeometry | PreparedDistance,
  b: FlatGeometry | PreparedDistance,
  radiusCm: bigint,
  workLimit = remainingWork(),
): boolean {
  // Distances up to half a centimetre beyond the radius round to it.
  const threshold = (Number(radiusCm) + 0.5) / CM_PER_METER
  if (threshold > MAX_GEODESIC_METERS) return true
  kernel.release()
  const first = operandPointer(kernel, a)
  const second = operandPointer(kernel, b)
  const inner = threshold - BOUND_MARGIN_METERS
  const result = kernel.isWithin(first, second, inner, threshold + BOUND_MARGIN_METERS, workLimit)
  const spent = kernel.workDone()
  spendWork(spent)
  if (result === 0 || result === 1) return result === 1
  if (result === -1) throw workLimitError(workLimit)
  const distance = leastDistance(kernel, first, second, Math.max(0, workLimit - spent))
  return toScaledInteger(distance, CM_PER_METER) <= radiusCm
}

function workLimitError(workLimit: number): WorkLimitError {
  return new WorkLimitError(`the distance needs more than ${workLimit} units of work`)
}

/** Returns the kernel's pointer to a geometry, which is written there unless it is prepared. */
function operandPointer(kernel: Kernel, geometry: FlatGeometry | PreparedDistance): number {
  if (isPrepared(geometry)) return geometry.pointerIn(kernel)
  const block = kernel.reserve(operandBytes(kernel, geometry))
  if (block === 0) throw new RangeError('the kernel is out of memory')
  writeOperand(kernel, geometry, block)
  return block
}
