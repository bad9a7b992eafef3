import type { CheckCollector, Coordinates } from '../plugin.ts'

/** The difference in degrees at which two notations still mean one position: 0.11 m on the equator. */
const SAME_DEGREES = 1e-6

/**
 * Checks that the signals name the position that the stamp claims. Longitudes are compared modulo 360°.
 *
 * @param isRequired whether a missing position fails the check too
 */
export function checkSamePlace(
  checks: CheckCollector,
  id: string,
  point: Coordinates | undefined,
  lat: number | undefined,
  lon: number | undefined,
  isRequired = false,
): void {
  if (point === undefined) return
  if (lat === undefined || lon === undefined) {
    if (isRequired || lat !== lon) checks.fail(id, false, null, SAME_DEGREES)
    return
  }
  const lonDifference = Math.abs(lon - point.lon) % 360
  const apart = Math.max(Math.abs(lat - point.lat), Math.min(lonDifference, 360 - lonDifference))
  checks.fail(id, apart <= SAME_DEGREES * (1 + 1e-9), apart, SAME_DEGREES)
}
