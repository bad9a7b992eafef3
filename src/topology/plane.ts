import type { FlatGeometry } from '../geometry/flat.ts'
import { turnOfEdge } from './unwrap.ts'

/** Places where the plane of lon and lat is not the globe, as bits: where a geometry meets them. */
export const EAST = 1
export const WEST = 2
export const NORTH = 4
export const SOUTH = 8
/** An edge goes the short way over ±180. */
export const JUMPS = 16

/**
 * What of a geometry decides whether questions about it can be answered in the plane: vertices at 180 (`EAST`), −180 (`WEST`),
 * the poles, and edges that jump. One pass.
 *
 * Without jumps a geometry meets the seam and the poles in its vertices or not at all.
 */
export function globeMarksOf({ vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry): number {
  let marks = 0
  for (let i = 0; i < vertices.length; i += 2) {
    const lon = vertices[i]!
    const lat = vertices[i + 1]!
    if (lon === 180) marks |= EAST
    else if (lon === -180) marks |= WEST
    if (lat === 90) marks |= NORTH
    else if (lat === -90) marks |= SOUTH
  }
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] === 0) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const end = 2 * sequenceStarts[sequence + 1]! - 2
      for (let i = 2 * sequenceStarts[sequence]!; i < end; i += 2) {
        const difference = vertices[i + 2]! - vertices[i]!
        if (difference < 180 && difference > -180) continue
        if (turnOfEdge(vertices[i]!, vertices[i + 1]!, vertices[i + 2]!, vertices[i + 3]!) !== 0) return marks | JUMPS
      }
    }
  }
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
