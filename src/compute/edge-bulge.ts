/** Bounds on how far the geodesic of an edge leaves the straight line between its ends. They never decide, only spare work. */

/** a (π/180)² / 8, m: an edge of w by h degrees leaves its line in the plane by less than this · w (w + 2h), up to 90°. */
const METERS_PER_SQUARE_DEGREE = 242.9
/** Degrees of longitude up to which that bound is used. */
const BOUND_TO_DEGREES = 90
/** Metres in a degree of latitude, at least. */
export const METERS_PER_DEGREE = 110_000
/** Where cos φ ≥ 1 − |φ| / 90 is used to tell that a vertex is far from an edge. */
const [FAR_TO_WIDTH, FAR_TO_LATITUDE, FAR_FACTOR] = [20, 85, 1.2]
/** An edge from west to east on the unrolled cylinder. */
export interface Chord {
  readonly start: number
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

/** Degrees of latitude by which the geodesic of an edge of w by h degrees may leave its box, at most. */
export function reachOfEdge(width: number, height: number): number {
  return width === 0 ? 0 : metersOfBulge(width, height) / METERS_PER_DEGREE
}

export function metersOfBulge(width: number, height: number): number {
  return width > BOUND_TO_DEGREES ? 180 * METERS_PER_DEGREE : METERS_PER_SQUARE_DEGREE * width * (width + 2 * height)
}

/** Whether a position near the box of an edge is certainly farther from it than its geodesic. */
export function isFar({ x1, y1, x2, y2 }: Chord, x: number, y: number, reach: number): boolean {
  const latitude = Math.max(Math.abs(y1), Math.abs(y2)) + reach
  if (x2 - x1 > FAR_TO_WIDTH || latitude > FAR_TO_LATITUDE) return false
  const shrink = 1 - latitude / 90
  const cross = Math.abs((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) - 1e-13 * (x2 - x1 + Math.abs(y2 - y1))
  const across = FAR_FACTOR * reach
  return cross > 0 && (shrink * cross) ** 2 > across * across * ((shrink * (x2 - x1)) ** 2 + (y2 - y1) ** 2)
}
