import { spendWork } from '../base/work.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import type { Kernel } from '../wasm/loader.ts'

/** a (π/180)² / 8: the geodesic of an edge of w by h degrees is less than this · w (w + 2h) metres from its planar edge. */
const METERS_PER_SQUARE_DEGREE = 242.9
/** Largest difference of longitude for which this bound holds. */
const MAX_BOUNDED_DEGREES = 90
/** Lower bound on the length of a degree of latitude, metres. */
const METERS_PER_DEGREE = 110_000
/** Number of halvings after which the rest of an edge is shorter than the rounding error. */
const HALVINGS = 60

/** Work of the search for one extreme latitude, in units. */
const SEARCH_WORK = 40

/** An edge whose geodesic crosses a whole parallel although both its ends lie on the same side. */
export interface ParallelCrossing {
  readonly sequence: number
  /** Index in the sequence of the vertex at which the edge starts. */
  readonly vertex: number
  /** Where it is farthest beyond the parallel. */
  readonly lon: number
  readonly lat: number
}

/**
 * Finds a geodesic edge that crosses a whole parallel of another ring of the same element, although neither of its ends lies
 * beyond that parallel. Geodesics bulge towards the nearer pole, so the extreme latitude of each edge decides.
 *
 * @param geometry is valid in the plane, so every ordinary ring lies on one side of every parallel
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function findParallelCrossing(kernel: Kernel, geometry: FlatGeometry): ParallelCrossing | undefined {
  const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts } = geometry
  for (let element = 0; element + 1 < elementStarts.length; element++) {
    if (partDimensions[elementStarts[element]!] !== 2) continue
    const parallels: number[] = []
    const ordinary: number[] = []
    const end = partStarts[elementStarts[element + 1]!]!
    for (let sequence = partStarts[elementStarts[element]!]!; sequence < end; sequence++) {
      const [first, last] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      const form = hasWholeTurn(vertices, first, last) ? ringForm(vertices, first, last) : undefined
      if (form?.kind === 'band') parallels.push(form.south, form.north)
      else ordinary.push(sequence)
    }
    if (parallels.length === 0) continue
    parallels.sort((a, b) => a - b)
    for (const sequence of ordinary) {
      const crossing = findCrossingOfRing(kernel, geometry, sequence, parallels)
      if (crossing !== undefined) return crossing
    }
  }
  return undefined
}

function findCrossingOfRing(
  kernel: Kernel,
  { vertices, sequenceStarts }: FlatGeometry,
  sequence: number,
  parallels: readonly number[],
): ParallelCrossing | undefined {
  const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
  let south = 90
  let north = -90
  for (let i = 2 * start + 1; i < 2 * end; i += 2) {
    south = Math.min(south, vertices[i]!)
    north = Math.max(north, vertices[i]!)
  }
  const above = parallels.find((parallel) => parallel >= north) ?? 90
  const below = parallels.findLast((parallel) => parallel <= south) ?? -90
  for (let vertex = start; vertex + 1 < end; vertex++) {
    for (const [side, parallel] of [
      [1, above],
      [-1, below],
    ] as const) {
      if (Math.abs(parallel) === 90) continue
      const beyond = findExtremeBeyond(kernel, vertices, vertex, side, parallel)
      if (beyond !== undefined) return { sequence, vertex: vertex - start, ...beyond }
    }
  }
  return undefined
}

/** Returns the northernmost position of an edge (side 1), or the southernmost (−1), if it lies beyond a parallel. */
function findExtremeBeyond(kernel: Kernel, vertices: Float64Array, vertex: number, side: 1 | -1, parallel: number) {
  const [lon1, lat1] = [vertices[2 * vertex]!, vertices[2 * vertex + 1]!]
  const [lon2, lat2] = [vertices[2 * vertex + 2]!, vertices[2 * vertex + 3]!]
  const gapMeters = side * (parallel - (side > 0 ? Math.max(lat1, lat2) : Math.min(lat1, lat2))) * METERS_PER_DEGREE
  const difference = Math.abs(lon2 - lon1)
  const widthDegrees = difference > 180 ? 360 - difference : difference
  const bulgeMeters = METERS_PER_SQUARE_DEGREE * widthDegrees * (widthDegrees + 2 * Math.abs(lat2 - lat1))
  if (widthDegrees <= MAX_BOUNDED_DEGREES && bulgeMeters < gapMeters) return undefined
  spendWork(SEARCH_WORK)
  const length = kernel.inverse(lat1, lon1, lat2, lon2)
  const [salp, calp] = [kernel.salp1(), kernel.calp1()]
  // The extreme latitude is between the ends only if the geodesic starts towards the parallel and arrives from it.
  if (!(side * calp > 0 && side * kernel.calp2() < 0)) return undefined
  let low = 0
  let high = length
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2
    kernel.direct(lat1, lon1, salp, calp, middle)
    if (side * kernel.arrivalCalp2() > 0) low = middle
    else high = middle
  }
  const lat = kernel.direct(lat1, lon1, salp, calp, low)
  return side * (lat - parallel) > 0 ? { lon: kernel.arrivalLon(), lat } : undefined
}
