import { orientation } from './orientation.ts'

/** Where a position lies to an area: its DE-9IM part. */
export type Location = 'interior' | 'boundary' | 'exterior'

/**
 * Side of a position to one ring in the plane: 1 inside, 0 on the ring, −1 outside. One pass, exact.
 *
 * @param vertices interleaved lon, lat
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function sideOfRing(vertices: Float64Array, start: number, end: number, lon: number, lat: number): number {
  let isInside = false
  let x1 = vertices[2 * start]!
  let y1 = vertices[2 * start + 1]!
  for (let i = 2 * start + 2; i < 2 * end; i += 2) {
    const x2 = vertices[i]!
    const y2 = vertices[i + 1]!
    if (y1 > lat !== y2 > lat) {
      if (x1 > lon && x2 > lon) {
        isInside = !isInside
      } else if (x1 >= lon || x2 >= lon) {
        const side = orientation(x1, y1, x2, y2, lon, lat)
        if (side === 0) return 0
        if (side > 0 === y2 > y1) isInside = !isInside
      }
    } else if (y1 === lat && (x1 === lon || (y2 === lat && x1 > lon !== x2 > lon))) {
      return 0
    }
    x1 = x2
    y1 = y2
  }
  return isInside ? 1 : -1
}

/** Whether a position lies on the segment between two others. */
export function isOnSegment(x1: number, y1: number, x2: number, y2: number, lon: number, lat: number): boolean {
  if (lon < Math.min(x1, x2) || lon > Math.max(x1, x2) || lat < Math.min(y1, y2) || lat > Math.max(y1, y2)) return false
  return orientation(x1, y1, x2, y2, lon, lat) === 0
}
