/** Decides which way around the globe an edge runs. Predicates, validity and bounding boxes use the same rule (decision 93). */
import { isWholeParallel } from './whole-parallels.ts'

/**
 * Returns the turns to add to the longitude of an edge's second end so that the edge takes the short way: −1, 0 or 1.
 *
 * The result is 0 along a pole, where longitude means nothing, and for exactly 180°, where both ways are equally short. The
 * comparison with 180 is exact: the rounding error of the difference breaks the tie.
 */
export function edgeTurn(lon1: number, lat1: number, lon2: number, lat2: number): -1 | 0 | 1 {
  if (lat1 === lat2 && (lat1 === 90 || lat1 === -90)) return 0
  return shortWayTurn(lon1, lon2)
}

/** Does the same for two longitudes, as if they were on the equator. */
export function shortWayTurn(lon1: number, lon2: number): -1 | 0 | 1 {
  const difference = lon2 - lon1
  if (difference < 180 && difference > -180) return 0
  const back = lon2 - difference
  const error = lon2 - (difference + back) + (back - lon1)
  if (difference > 180 || (difference === 180 && error > 0)) return -1
  if (difference < -180 || (difference === -180 && error < 0)) return 1
  return 0
}

/**
 * Does the same as `edgeTurn` for an edge of a ring. A whole parallel goes around the globe and does not cross ±180.
 *
 * @param vertices interleaved lon, lat in degrees
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 * @param vertex index of the vertex at which the edge starts
 */
export function ringEdgeTurn(vertices: Float64Array, start: number, end: number, vertex: number): -1 | 0 | 1 {
  const i = 2 * vertex
  const turn = edgeTurn(vertices[i]!, vertices[i + 1]!, vertices[i + 2]!, vertices[i + 3]!)
  return turn !== 0 && isWholeParallel(vertices, start, end, vertex) ? 0 : turn
}
