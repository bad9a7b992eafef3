const RADIANS = Math.PI / 180
const FLATTENING = 1 / 298.257223563
const POLAR_METERS = 6_378_137 * (1 - FLATTENING)
/** Covers the rounding of the bound. */
const MARGIN = 1 - 1e-9
const MARGIN_METERS = 1e-6

/**
 * Returns a lower bound of the geodesic distance from a position to anything in a box of meridians and parallels.
 *
 * On the auxiliary sphere of Karney (2013), with reduced latitudes, an arc σ of a geodesic is at least σ times the polar radius long,
 * and its difference in longitude on the sphere is at least that on the ellipsoid. So the arc between two places with their
 * reduced latitudes and their own longitudes, times the polar radius, is no more than their distance.
 *
 * @param east from `west` to 180
 * @returns metres, 0 if the position is in the box
 */
export function boxDistance(
  lon: number,
  lat: number,
  west: number,
  south: number,
  east: number,
  north: number,
): number {
  const gap = longitudeGap(lon, west, east)
  if (gap === 0 && lat >= south && lat <= north) return 0
  const beta = reducedLatitude(lat)
  const low = reducedLatitude(south)
  const high = reducedLatitude(north)
  const gapRadians = gap * RADIANS
  // The cosine of the arc to latitude b on the nearest meridian of the box is a multiple of cos(b − nearest).
  const nearest = Math.atan2(Math.sin(beta), Math.cos(beta) * Math.cos(gapRadians))
  const arc =
    nearest >= low && nearest <= high
      ? arcBetween(beta, nearest, gapRadians)
      : Math.min(arcBetween(beta, low, gapRadians), arcBetween(beta, high, gapRadians))
  return Math.max(0, POLAR_METERS * arc * MARGIN - MARGIN_METERS)
}

function longitudeGap(lon: number, west: number, east: number): number {
  if (lon >= west && lon <= east) return 0
  const toWest = west - lon
  const toEast = lon - east
  return Math.min(toWest < 0 ? toWest + 360 : toWest, toEast < 0 ? toEast + 360 : toEast)
}

function reducedLatitude(lat: number): number {
  return Math.abs(lat) === 90 ? lat * RADIANS : Math.atan((1 - FLATTENING) * Math.tan(lat * RADIANS))
}

function arcBetween(latitude1: number, latitude2: number, gap: number): number {
  const haversine =
    Math.sin((latitude1 - latitude2) / 2) ** 2 + Math.cos(latitude1) * Math.cos(latitude2) * Math.sin(gap / 2) ** 2
  return 2 * Math.asin(Math.min(1, Math.sqrt(haversine)))
}
