import { crossingOf } from './crossing.ts'
import { type Scene, wrapLongitude } from './scene.ts'

/** What makes a polygon invalid (OGC 06-103r4, 6.1.11), in words for the one who sent it. */
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
  /** Place of the fault in degrees, lon in [−180, 180]; rounded when it is a crossing, and then only for the message. */
  readonly lon: number
  readonly lat: number
  /** Index of the ring's sequence in the geometry. */
  readonly sequence: number
  /** Index in the ring of the vertex at which the faulty edge starts. */
  readonly vertex?: number
}

/** A fault at a position of the scene, on a segment. */
export function faultAt(scene: Scene, reason: InvalidityReason, position: number, segment: number): Invalidity {
  const { positions } = scene
  const place = { lon: wrapLongitude(positions.x[position]!), lat: positions.lat[position]! }
  return { reason, ...place, ...edgeOf(scene, segment) }
}

/** Two edges that cross. */
export function crossingFault(scene: Scene, s: number, t: number): Invalidity {
  const { lon, lat } = crossingOf(scene, s, t)
  return { reason: 'self-intersection', lon: wrapLongitude(lon), lat, ...edgeOf(scene, Math.max(s, t)) }
}

/** Two edges that run on each other: a ring that folds back, or two rings side by side. */
export function overlapFault(scene: Scene, s: number, t: number): Invalidity {
  const { positions, left, sequence } = scene
  // The overlap begins where the later of the two does.
  const start = positions.compare(left[s]!, left[t]!) < 0 ? left[t]! : left[s]!
  const reason = sequence[s] === sequence[t] ? 'repeated edge' : 'shared edge'
  return faultAt(scene, reason, start, Math.max(s, t))
}

function edgeOf({ sequence, vertex }: Scene, segment: number): Pick<Invalidity, 'sequence' | 'vertex'> {
  return { sequence: sequence[segment]!, vertex: vertex[segment]! }
}
