import type { FlatGeometry } from '../geometry/flat.ts'

/** a (π/180)² / 8, metres. */
const METERS_PER_SQUARE_DEGREE = 242.86
const RADIANS_PER_DEGREE = 0.0174533
/** 3e²/2 and its higher terms: the largest change of the meridian's radius of curvature per radian, as a share of a. */
const RADIUS_CHANGE = 0.0103
/** Edges up to this many degrees wide and high leave a parabola of the same acceleration by less than `SHORT_FACTOR`. */
const SHORT_DEGREES = 20
const [SHORT_FACTOR, LONG_FACTOR] = [1.03, 2.1]
/** Width of an edge, in degrees of longitude, up to which the bound holds. */
const BOUND_TO_DEGREES = 90
/** Half of the longest meridian, metres: no two places are farther apart. */
const FARTHEST_METERS = 20_003_932

/**
 * Returns an upper bound on how far the geodesics of a geometry's edges leave the straight lines in longitude and latitude between the
 * same ends, metres.
 *
 * A straight line that is run through in unit time has the acceleration N cos φ sin φ λ′² + M′ φ′² to the north and 2 M sin φ φ′ λ′ to
 * the east, of which the part across the line counts. It leaves the geodesic by an eighth of that, and by a factor because the surface
 * is curved: 8 (sec(ω/2) − 1) / ω² for a line of ω radians.
 */
export function planarDeviationMeters({ vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry): number {
  let most = 0
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] === 0) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const end = 2 * sequenceStarts[sequence + 1]! - 2
      for (let i = 2 * sequenceStarts[sequence]!; i < end; i += 2) {
        const run = Math.abs(vertices[i + 2]! - vertices[i]!)
        const [lat1, lat2] = [vertices[i + 1]!, vertices[i + 3]!]
        const meters = edgeDeviationMeters(run > 180 ? 360 - run : run, lat1, lat2)
        if (meters > most) most = meters
      }
    }
  }
  return most
}

function edgeDeviationMeters(width: number, lat1: number, lat2: number): number {
  const latitude = Math.max(Math.abs(lat1), Math.abs(lat2))
  if (width === 0 || (lat1 === lat2 && latitude === 90)) return 0
  // The equator is a shortest geodesic up to 179.3°.
  if (latitude === 0 && width < 179) return 0
  if (width > BOUND_TO_DEGREES) return FARTHEST_METERS
  const height = Math.abs(lat2 - lat1)
  const sine = Math.min(1, latitude * RADIANS_PER_DEGREE)
  const factor = width <= SHORT_DEGREES && height <= SHORT_DEGREES ? SHORT_FACTOR : LONG_FACTOR
  const acceleration = width * (width * Math.min(0.5, sine) + height * (2 * sine + RADIUS_CHANGE))
  return Math.min(FARTHEST_METERS, factor * METERS_PER_SQUARE_DEGREE * acceleration)
}
