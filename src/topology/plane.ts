import type { FlatGeometry } from '../geometry/flat.ts'
import { hasLongitudeJump } from './unwrap.ts'

/** What of a geometry decides whether questions about it can be answered in the plane. Found in one pass over its vertices. */
export interface GlobeMarks {
  /** An edge goes the short way over ±180. */
  readonly jumps: boolean
}

export function globeMarksOf(geometry: FlatGeometry): GlobeMarks {
  return { jumps: hasLongitudeJump(geometry) }
}

/** Whether contains and intersects of two geometries may be decided in the plane of lon and lat, as both were sent. */
export function arePlanar(a: GlobeMarks, b: GlobeMarks): boolean {
  return !a.jumps && !b.jumps
}
