import { FILTER, orientation, SMALLEST_PRODUCT } from '../exact/orientation.ts'

/** What `starMargin` returns for a ring that it cannot prove to be star-shaped. */
export const NO_STAR = -1

/**
 * Tells whether a ring is star-shaped around the mean of its vertices: all edges run the same way around it, and the ring goes
 * around it once. Such a ring cannot intersect itself, because it has one position in each direction from the mean. Exact; ends
 * at the first edge that runs the other way.
 *
 * This is a proof of simplicity for jagged rings, for which boxes take long. Rings without it may be simple too.
 *
 * @param vertices interleaved lon, lat
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function isStarShaped(vertices: Float64Array, start: number, end: number): boolean {
  return starMargin(vertices, start, end) !== NO_STAR
}

/**
 * Does the same, and tells by how much: twice the area of the smallest triangle between an edge and the mean of the vertices.
 *
 * @returns square degrees, rounded; 0 when rounding decides about an edge; NO_STAR when the ring is not star-shaped
 */
export function starMargin(vertices: Float64Array, start: number, end: number): number {
  // Each coordinate has two sums, because an addition waits for the previous one to the same sum.
  let lon = 0
  let lat = 0
  let otherLon = 0
  let otherLat = 0
  const last = end - 1
  for (let i = start + 1; i < last; i += 2) {
    lon += vertices[2 * i]!
    lat += vertices[2 * i + 1]!
    otherLon += vertices[2 * i + 2]!
    otherLat += vertices[2 * i + 3]!
  }
  if ((last - start) % 2 === 1) {
    lon += vertices[2 * last]!
    lat += vertices[2 * last + 1]!
  }
  lon = (lon + otherLon) / (last - start)
  lat = (lat + otherLat) / (last - start)
  let x1 = vertices[2 * start]!
  let y1 = vertices[2 * start + 1]!
  // 1 when the mean is to the left of the edges, −1 when it is to the right.
  let windingSign = 0
  // Crossings of the ray from the mean to the east: upward in the first case, downward in the second.
  let windings = 0
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
      // An edge of zero length has no side and does not matter.
      if (x1 !== x2 || y1 !== y2) return NO_STAR
    } else if (windingSign === 0) {
      windingSign = side > 0 ? 1 : -1
    } else if (side > 0 !== windingSign > 0) {
      return NO_STAR
    }
    if (windingSign > 0 ? y1 <= lat && y2 > lat : y1 > lat && y2 <= lat) windings++
    x1 = x2
    y1 = y2
  }
  return windings === 1 ? margin : NO_STAR
}
