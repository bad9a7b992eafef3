import type { FlatGeometry } from '../../geometry/flat.ts'
import { hasWholeParallel } from '../../geometry/whole-parallels.ts'
import { hasLongitudeJump } from '../layout/unwrap.ts'

/** Where a geometry meets the features in which the globe differs from the plane of longitude and latitude, as bits. */
export const EAST = 1
export const WEST = 2
export const NORTH = 4
export const SOUTH = 8
/** An edge takes the short way across ±180. */
export const CROSSES_ANTIMERIDIAN = 16
/** An edge of a ring is a whole parallel. */
export const HAS_WHOLE_PARALLEL = 32

/**
 * Returns what decides whether a geometry can be compared in the plane: vertices at 180 (`EAST`), at −180 (`WEST`) and at the
 * poles, edges across ±180, and edges along whole parallels. Takes linear time.
 *
 * Without edges across ±180, a geometry meets the antimeridian and the poles at its vertices or not at all.
 */
export function findGlobeMarks(geometry: FlatGeometry): number {
  const { vertices } = geometry
  let marks = hasLongitudeJump(geometry) ? CROSSES_ANTIMERIDIAN : 0
  for (let i = 0; i < vertices.length; i += 2) {
    const lon = vertices[i]!
    const lat = vertices[i + 1]!
    if (lon === 180) marks |= EAST
    else if (lon === -180) marks |= WEST
    if (lat === 90) marks |= NORTH
    else if (lat === -90) marks |= SOUTH
  }
  if ((marks & EAST) !== 0 && (marks & WEST) !== 0 && hasWholeParallel(geometry)) marks |= HAS_WHOLE_PARALLEL
  return marks
}

/**
 * Tells whether `contains` and `intersects` of two geometries are the same in the plane of longitude and latitude as on the
 * globe. They are when no edge crosses ±180, the two do not share a pole, and, if both reach the antimeridian, all their vertices
 * there are at 180, or all at −180. When only one of them reaches the antimeridian, the plane suffices even if that one is cut
 * there, because nothing is compared with the cut.
 *
 * @param a marks of the first geometry
 * @param b marks of the second one
 */
export function arePlanar(a: number, b: number): boolean {
  if (((a | b) & CROSSES_ANTIMERIDIAN) !== 0 || (a & b & (NORTH | SOUTH)) !== 0) return false
  const isAntimeridianShared = (a & (EAST | WEST)) !== 0 && (b & (EAST | WEST)) !== 0
  return !isAntimeridianShared || ((a | b) & (EAST | WEST)) !== (EAST | WEST)
}
