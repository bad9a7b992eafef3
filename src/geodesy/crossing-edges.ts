import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Metres by which ends must stand off the other edge on both sides: far above rounding, which is 20 nm. */
const LEAST_OFFSET_METERS = 1e-3

/**
 * Whether an edge of a polygon crosses another one near a place, both as geodesics, their ends clearly on both sides.
 *
 * @param vertex index in `vertices` of the start of the edge
 * @param nearMeters how near to the place the other edge, or its continuation, has to pass
 */
export function crossesNear(
  kernel: Kernel,
  { vertices, sequenceStarts }: FlatGeometry,
  vertex: number,
  [lon, lat]: readonly [lon: number, lat: number],
  nearMeters: number,
): boolean {
  for (let sequence = 0; sequence + 1 < sequenceStarts.length; sequence++) {
    for (let other = sequenceStarts[sequence]!; other + 1 < sequenceStarts[sequence + 1]!; other++) {
      if (other === vertex) continue
      const offset = offsetMeters(kernel, vertices, other, lon, lat)
      if (Math.abs(offset) > nearMeters) continue
      if (separates(kernel, vertices, vertex, other) && separates(kernel, vertices, other, vertex)) return true
    }
  }
  return false
}

/** Whether the ends of an edge lie on both sides of another. */
function separates(kernel: Kernel, vertices: Float64Array, edge: number, other: number): boolean {
  const first = offsetMeters(kernel, vertices, edge, vertices[2 * other]!, vertices[2 * other + 1]!)
  const second = offsetMeters(kernel, vertices, edge, vertices[2 * other + 2]!, vertices[2 * other + 3]!)
  return Math.min(Math.abs(first), Math.abs(second)) > LEAST_OFFSET_METERS && first < 0 !== second < 0
}

/** How far a position lies to the right of the geodesic through an edge, to first order. */
function offsetMeters(kernel: Kernel, vertices: Float64Array, edge: number, lon: number, lat: number): number {
  const [lon1, lat1] = [vertices[2 * edge]!, vertices[2 * edge + 1]!]
  kernel.inverse(lat1, lon1, vertices[2 * edge + 3]!, vertices[2 * edge + 2]!)
  const [salp, calp] = [kernel.salp1(), kernel.calp1()]
  kernel.inverse(lat1, lon1, lat, lon)
  return (kernel.salp1() * calp - kernel.calp1() * salp) * kernel.m12()
}
