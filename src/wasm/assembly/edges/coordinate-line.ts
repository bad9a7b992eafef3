/** Edges along the equator and along meridians. For these, coordinates show exactly whether a point is on the edge. */
import { high, longitudeDifference } from '../math/math'
import { f1 } from '../geodesic/series'

/**
 * Whether P lies exactly on the edge from A to B, which must run along the equator or a meridian; false for other
 * edges. latA ≤ latB.
 *
 * @param startsNorth whether the edge leaves A northward, which tells the pole if it goes over one
 */
export function isOnCoordinateLine(
  latA: f64, lonA: f64, latB: f64, lonB: f64, startsNorth: bool, latP: f64, lonP: f64,
): bool {
  longitudeDifference(lonA, lonB)
  const width = high
  longitudeDifference(lonA, lonP)
  const east = high
  longitudeDifference(lonB, lonP)
  const isOnMeridianA = east == 0
  const isOnMeridianB = high == 0
  if (latA == 0 && latB == 0 && latP == 0 && Math.abs(width) <= 180 * f1) {
    return width < 0 ? east <= 0 && east >= width : east >= 0 && east <= width
  }
  if (latA == -90 && latB == 90) return false
  if (latA == -90) return isOnMeridianB && latP <= latB
  if (latB == 90) return isOnMeridianA && latP >= latA
  if (width == 0) return isOnMeridianA && latP >= latA && latP <= latB
  if (Math.abs(width) != 180) return false
  return startsNorth
    ? (isOnMeridianA && latP >= latA) || (isOnMeridianB && latP >= latB)
    : (isOnMeridianA && latP <= latA) || (isOnMeridianB && latP <= latB)
}
