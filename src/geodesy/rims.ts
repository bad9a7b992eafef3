import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import type { Kernel } from '../wasm/loader.ts'
import { WorkLimitError } from './distance.ts'

/** a (π/180)² / 8, m: an edge of w by h degrees leaves its line in the plane by less than this · w (w + 2h), up to 90°. */
const METERS_PER_SQUARE_DEGREE = 242.9
const BOUND_TO_DEGREES = 90
/** Less than the length of a degree of latitude anywhere, metres. */
const METERS_PER_DEGREE = 110_000
/** Halvings of an edge: its length becomes less than rounding. */
const HALVINGS = 60

/** So many exact solutions the search for an extreme latitude costs. */
const SOLUTIONS = 8

/** An edge whose geodesic leaves the side of a whole parallel on which its ends lie. */
export interface RimCrossing {
  readonly sequence: number
  /** Index in the sequence of the vertex at which the edge starts. */
  readonly vertex: number
  /** Where it is farthest beyond. */
  readonly lon: number
  readonly lat: number
}

/**
 * Finds a geodesic edge that crosses a whole parallel of another ring of the same element, though neither of its ends lies
 * beyond. Geodesics bulge towards the nearer pole, so this is decided by the extreme latitude of each edge.
 *
 * @param geometry valid in the plane, so that every ordinary ring lies on one side of every parallel
 * @param workLimit exact solutions that it may cost
 * @throws {WorkLimitError} when the limit is reached
 */
export function findRimCrossing(kernel: Kernel, geometry: FlatGeometry, workLimit: number): RimCrossing | undefined {
  const budget = { solutions: workLimit }
  const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts } = geometry
  for (let element = 0; element + 1 < elementStarts.length; element++) {
    if (partDimensions[elementStarts[element]!] !== 2) continue
    const rims: number[] = []
    const ordinary: number[] = []
    const end = partStarts[elementStarts[element + 1]!]!
    for (let sequence = partStarts[elementStarts[element]!]!; sequence < end; sequence++) {
      const [first, last] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      const form = hasWholeTurn(vertices, first, last) ? ringForm(vertices, first, last) : undefined
      if (form?.kind === 'band') rims.push(form.south, form.north)
      else ordinary.push(sequence)
    }
    if (rims.length === 0) continue
    rims.sort((a, b) => a - b)
    for (const sequence of ordinary) {
      const found = crossingOfRing(kernel, geometry, sequence, rims, budget)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function crossingOfRing(
  kernel: Kernel,
  { vertices, sequenceStarts }: FlatGeometry,
  sequence: number,
  rims: readonly number[],
  budget: { solutions: number },
): RimCrossing | undefined {
  const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
  let south = 90
  let north = -90
  for (let i = 2 * start + 1; i < 2 * end; i += 2) {
    south = Math.min(south, vertices[i]!)
    north = Math.max(north, vertices[i]!)
  }
  const above = rims.find((rim) => rim >= north) ?? 90
  const below = rims.findLast((rim) => rim <= south) ?? -90
  for (let vertex = start; vertex + 1 < end; vertex++) {
    for (const [side, rim] of [
      [1, above],
      [-1, below],
    ] as const) {
      if (Math.abs(rim) === 90) continue
      if (budget.solutions < 0) throw new WorkLimitError('too many edges along whole parallels')
      const beyond = extremeOf(kernel, vertices, vertex, side, rim, budget)
      if (beyond !== undefined) return { sequence, vertex: vertex - start, ...beyond }
    }
  }
  return undefined
}

/** The northernmost position of an edge (side 1), or the southernmost (−1), when it lies beyond a parallel. */
function extremeOf(
  kernel: Kernel,
  vertices: Float64Array,
  vertex: number,
  side: 1 | -1,
  rim: number,
  budget: { solutions: number },
) {
  const [lon1, lat1] = [vertices[2 * vertex]!, vertices[2 * vertex + 1]!]
  const [lon2, lat2] = [vertices[2 * vertex + 2]!, vertices[2 * vertex + 3]!]
  const room = side * (rim - (side > 0 ? Math.max(lat1, lat2) : Math.min(lat1, lat2))) * METERS_PER_DEGREE
  const turn = Math.abs(lon2 - lon1)
  const width = turn > 180 ? 360 - turn : turn
  const bulge = METERS_PER_SQUARE_DEGREE * width * (width + 2 * Math.abs(lat2 - lat1))
  if (width <= BOUND_TO_DEGREES && bulge < room) return undefined
  budget.solutions -= SOLUTIONS
  const length = kernel.inverse(lat1, lon1, lat2, lon2)
  const [salp, calp] = [kernel.salp1(), kernel.calp1()]
  // It turns back on the way only if it starts towards the parallel and arrives coming from it.
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
  return side * (lat - rim) > 0 ? { lon: kernel.arrivalLon(), lat } : undefined
}
