/** Edges along the equator and along meridians, where a point is on the edge exactly or not at all. */
import { high, longitudeDifference } from './math'
import { f1 } from './series'

/**
 * Whether P lies on the edge from A to B by its coordinates alone: on an edge along the equator or a meridian.
 *
 * @param startsNorth whether the edge leaves A northward: over which pole it goes when it goes over one; latA ≤ latB
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
