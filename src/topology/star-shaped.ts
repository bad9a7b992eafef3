import { FILTER, orientation, SMALLEST_PRODUCT } from './orientation.ts'

/** What `starMargin` answers about a ring that it cannot prove star-shaped. */
export const NO_STAR = -1

/**
 * Whether all edges of a ring run the same way around the mean of its vertices, which it goes around once: then it meets
 * itself nowhere, since in each direction from there it has one position. Exact, and over with the first edge that does not.
 *
 * A certificate for jagged rings, which boxes take long for; rings without it may be simple too.
 *
 * @param vertices interleaved lon, lat
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function isStarShaped(vertices: Float64Array, start: number, end: number): boolean {
  return starMargin(vertices, start, end) !== NO_STAR
}

/**
 * The same, and by how much: twice the area of the smallest triangle between an edge and the mean of the vertices.
 *
 * @returns square degrees, rounded; 0 when rounding decides about an edge; NO_STAR when it is not star-shaped
 */
export function starMargin(vertices: Float64Array, start: number, end: number): number {
  let lon = 0
  let lat = 0
  for (let i = start + 1; i < end; i++) {
    lon += vertices[2 * i]!
    lat += vertices[2 * i + 1]!
  }
  lon /= end - start - 1
  lat /= end - start - 1
  let x1 = vertices[2 * start]!
  let y1 = vertices[2 * start + 1]!
  // 1 when the edges have the mean on their left, −1 on their right.
  let way = 0
  // Passes over the ray to the east: upward by the ones, downward by the others.
  let turns = 0
  let margin = Number.POSITIVE_INFINITY
  for (let i = 2 * start + 2; i < 2 * end; i += 2) {
    const x2 = vertices[i]!
    const y2 = vertices[i + 1]!
    const left = (x1 - lon) * (y2 - lat)
    const right = (y1 - lat) * (x2 - lon)
    const sum = Math.abs(left) + Math.abs(right)
    let side = left - right
    const size = Math.abs(side)
    if (sum > SMALLEST_PRODUCT && size > FILTER * sum) {
      if (size < margin) margin = size
    } else {
      side = orientation(x1, y1, x2, y2, lon, lat)
      if (side !== 0) margin = 0
    }
    if (side === 0) {
      // An edge of no length has no side, and does not matter.
      if (x1 !== x2 || y1 !== y2) return NO_STAR
    } else if (way === 0) {
      way = side > 0 ? 1 : -1
    } else if (side > 0 !== way > 0) {
      return NO_STAR
    }
    if (way > 0 ? y1 <= lat && y2 > lat : y1 > lat && y2 <= lat) turns++
    x1 = x2
    y1 = y2
  }
  return turns === 1 ? margin : NO_STAR
}
