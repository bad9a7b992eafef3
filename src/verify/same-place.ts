import type { CheckCollector, Coordinates } from './plugin.ts'

/** Degrees that two spellings of one position may differ by: 0.11 m on the equator. */
const SAME_DEGREES = 1e-6

/**
 * Whether the signals name the position that the stamp claims to have observed. Longitudes are compared around the globe.
 *
 * @param isRequired a missing position fails too
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
  const turn = Math.abs(lon - point.lon) % 360
  const apart = Math.max(Math.abs(lat - point.lat), Math.min(turn, 360 - turn))
  checks.fail(id, apart <= SAME_DEGREES * (1 + 1e-9), apart, SAME_DEGREES)
}
