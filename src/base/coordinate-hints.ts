/** Hints for coordinates that are out of range. */

/** No usual mistake in degrees gives a larger number: swapped coordinates, or a map that was dragged around the world a few times. */
const MAX_DEGREES = 2000

/** The hint for coordinates in metres or feet. */
export const PROJECTED_HINT =
  'the coordinates look projected: reproject them to WGS 84 longitude and latitude, for example with ogr2ogr -t_srs EPSG:4326'

/** Tells whether a coordinate is too large for degrees, so that it is probably of a projected reference system. */
export function looksProjected(value: number): boolean {
  return Math.abs(value) > MAX_DEGREES
}

/** Returns the hint for a longitude outside -180..180. */
export function longitudeHint(longitude: number): string {
  return looksProjected(longitude) ? PROJECTED_HINT : 'longitudes are not wrapped: bring it into -180..180'
}

/**
 * Returns the hint for a latitude outside -90..90.
 *
 * @param order says in which order the notation has the two coordinates
 */
export function latitudeHint(latitude: number, order: string): string {
  if (looksProjected(latitude)) return PROJECTED_HINT
  return Math.abs(latitude) <= 180 ? order : 'latitudes end at the poles'
}
