/** Bounds on how far the geodesic of an edge leaves its planar edge. They only rule candidates out; they never decide a case. */

/**
 * a (π/180)² / 8, m. The geodesic of an edge of w by h degrees, w at most 90, leaves its planar edge by less than this · w (w +
 * 2h).
 */
const METERS_PER_SQUARE_DEGREE = 242.9
/** Width of an edge, in degrees of longitude, up to which that bound is used. */
const BOUND_TO_DEGREES = 90
/** Lower bound on the metres in a degree of latitude. */
export const METERS_PER_DEGREE = 110_000
/** Limits, in degrees, within which `isFar` uses cos φ ≥ 1 − |φ| / 90, and its safety factor. */
const [FAR_TO_WIDTH, FAR_TO_LATITUDE, FAR_FACTOR] = [20, 85, 1.2]

/** A planar edge on the unrolled cylinder with its ends in order from west to east, degrees. */
export interface Chord {
  /** Index of the vertex at which the edge starts on its ring, whichever end that is. */
  readonly start: number
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

/** Returns an upper bound, in degrees of latitude, on how far the geodesic of an edge of these degrees leaves the edge's box. */
export function edgeReachDegrees(width: number, height: number): number {
  return width === 0 ? 0 : bulgeMeters(width, height) / METERS_PER_DEGREE
}

/** Returns an upper bound, in metres, on how far the geodesic of an edge of these degrees leaves its planar edge. */
export function bulgeMeters(width: number, height: number): number {
  return width > BOUND_TO_DEGREES ? 180 * METERS_PER_DEGREE : METERS_PER_SQUARE_DEGREE * width * (width + 2 * height)
}

/** Returns true if a position is certainly farther from the edge than the edge's geodesic is. False proves nothing. */
export function isFar({ x1, y1, x2, y2 }: Chord, x: number, y: number, reach: number): boolean {
  const latitude = Math.max(Math.abs(y1), Math.abs(y2)) + reach
  if (x2 - x1 > FAR_TO_WIDTH || latitude > FAR_TO_LATITUDE) return false
  const shrink = 1 - latitude / 90
  const cross = Math.abs((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) - 1e-13 * (x2 - x1 + Math.abs(y2 - y1))
  const across = FAR_FACTOR * reach
  return cross > 0 && (shrink * cross) ** 2 > across * across * ((shrink * (x2 - x1)) ** 2 + (y2 - y1) ** 2)
}
