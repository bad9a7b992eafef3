import { computeCrossing } from './exact/crossing.ts'
import { type SegmentSet, wrapLongitude } from './layout/segment-set.ts'

/**
 * What makes a polygon invalid (OGC 06-103r4, 6.1.11), in words for the client. The code of the problem is made from these words.
 */
export type InvalidityReason =
  | 'self-intersection'
  | 'self-touch'
  | 'repeated edge'
  | 'shared edge'
  | 'ring without an inside'
  | 'ring around the axis more than once'
  | 'inside not defined by edges along the poles'
  | 'hole outside its exterior ring'
  | 'nested holes'
  | 'overlapping polygons'
  | 'disconnected interior'
  | 'too intricate around the axis'

/** Why a geometry is invalid, and where. */
export interface Invalidity {
  readonly reason: InvalidityReason
  /** Location of the fault in degrees, lon in [−180, 180]. A crossing is rounded, and used in the message only. */
  readonly lon: number
  readonly lat: number
  /** Sequence of the ring in the geometry. */
  readonly sequence: number
  /** Index in the ring of the vertex at which the faulty edge starts. */
  readonly vertex?: number
}

/** Returns a fault at a position on a segment. */
export function faultAt(segments: SegmentSet, reason: InvalidityReason, position: number, segment: number): Invalidity {
  const { positions } = segments
  const location = { lon: wrapLongitude(positions.x[position]!), lat: positions.lat[position]! }
  return { reason, ...location, ...sourceEdge(segments, segment) }
}

/** Returns the fault of two edges that cross. */
export function crossingFault(segments: SegmentSet, s: number, t: number): Invalidity {
  const { lon, lat } = computeCrossing(segments, s, t)
  return { reason: 'self-intersection', lon: wrapLongitude(lon), lat, ...sourceEdge(segments, Math.max(s, t)) }
}

/** Returns the fault of two edges that overlap: a ring folds back on itself, or two rings share an edge. */
export function overlapFault(segments: SegmentSet, s: number, t: number): Invalidity {
  const { positions, left, sequence } = segments
  // The overlap begins where the later of the two begins.
  const start = positions.compare(left[s]!, left[t]!) < 0 ? left[t]! : left[s]!
  const reason = sequence[s] === sequence[t] ? 'repeated edge' : 'shared edge'
  return faultAt(segments, reason, start, Math.max(s, t))
}

function sourceEdge({ sequence, vertex }: SegmentSet, segment: number): Pick<Invalidity, 'sequence' | 'vertex'> {
  return { sequence: sequence[segment]!, vertex: vertex[segment]! }
}
