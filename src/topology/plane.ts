import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeParallel } from '../geometry/whole-parallels.ts'
import { hasLongitudeJump } from './unwrap.ts'

/** Places where the plane of lon and lat is not the globe, as bits: where a geometry meets them. */
export const EAST = 1
export const WEST = 2
export const NORTH = 4
export const SOUTH = 8
/** An edge goes the short way over ±180. */
export const JUMPS = 16
/** An edge of a ring is a whole parallel. */
export const AROUND = 32

/**
 * What of a geometry decides whether questions about it can be answered in the plane: vertices at 180 (`EAST`), −180 (`WEST`),
 * the poles, edges that jump and edges that are whole parallels. Linear.
 *
 * Without jumps a geometry meets the seam and the poles in its vertices or not at all.
 */
export function globeMarksOf(geometry: FlatGeometry): number {
  const { vertices } = geometry
  let marks = hasLongitudeJump(geometry) ? JUMPS : 0
  for (let i = 0; i < vertices.length; i += 2) {
    const lon = vertices[i]!
    const lat = vertices[i + 1]!
    if (lon === 180) marks |= EAST
    else if (lon === -180) marks |= WEST
    if (lat === 90) marks |= NORTH
    else if (lat === -90) marks |= SOUTH
  }
  if ((marks & EAST) !== 0 && (marks & WEST) !== 0 && hasWholeParallel(geometry)) marks |= AROUND
  return marks
}

/**
 * Whether contains and intersects of two geometries are the same in the plane of lon and lat as on the globe: nothing jumps,
 * they do not meet at a pole, and on the seam only if both stand on the same side of it. A geometry cut at ±180 beside one
 * that stays clear of the seam is planar: nobody asks about the cut then.
 *
 * @param a from `globeMarksOf`
 * @param b likewise
 */
export function arePlanar(a: number, b: number): boolean {
  if (((a | b) & JUMPS) !== 0 || (a & b & (NORTH | SOUTH)) !== 0) return false
  const isSeamShared = (a & (EAST | WEST)) !== 0 && (b & (EAST | WEST)) !== 0
  return !isSeamShared || ((a | b) & (EAST | WEST)) !== (EAST | WEST)
}
