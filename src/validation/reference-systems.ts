/** Coordinate reference systems of OGC API Features, Part 2. Records are stored in CRS84: longitude, latitude on WGS 84. */
import { parseDecimal } from '../base/decimal.ts'
import type { Bounds } from '../wire/store-messages.ts'
import { readBbox, recordProblem } from './record-query.ts'

const DEFINITIONS = 'http://www.opengis.net/def/crs'
/** Longitude, latitude on WGS 84: the reference system of GeoJSON and of the stored records. */
export const CRS84 = `${DEFINITIONS}/OGC/1.3/CRS84`
/** Latitude, longitude on WGS 84. */
const EPSG_4326 = `${DEFINITIONS}/EPSG/0/4326`
/** Easting, northing in metres on the spherical Mercator projection. */
const EPSG_3857 = `${DEFINITIONS}/EPSG/0/3857`

/** Every supported system; the first one is the default. */
export const REFERENCE_SYSTEMS = [CRS84, EPSG_4326, EPSG_3857] as const
export type Crs = (typeof REFERENCE_SYSTEMS)[number]

/** The sphere of EPSG:3857: the equatorial radius of WGS 84, in metres. */
const RADIUS_METERS = 6_378_137
const DEGREES = 180 / Math.PI
/** A pole is infinitely far away on the Mercator projection, so latitudes beyond this one are drawn at it. */
const MAX_MERCATOR_LATITUDE = 89.99

/**
 * Reads the URI of a reference system.
 *
 * @param name parameter that the error names
 * @throws {ProblemError} if it is not supported
 */
export function readCrs(name: string, uri: string | undefined): Crs {
  const crs = uri === undefined ? CRS84 : REFERENCE_SYSTEMS.find((known) => known === uri)
  if (crs !== undefined) return crs
  throw recordProblem(`Invalid ${name} parameter`, `${name} must be one of ${REFERENCE_SYSTEMS.join(', ')}`)
}

/** Reads a box of four numbers, in the axis order of its reference system, as west, south, east and north in degrees. */
export function readBoxIn(crs: Crs, texts: readonly string[]): Bounds {
  if (crs === CRS84 || texts.length !== 4) return readBbox(texts)
  const [first, second, third, fourth] = texts as [string, string, string, string]
  if (crs === EPSG_4326) return readBbox([second, first, fourth, third])
  const corners = [mercatorDegrees(first, second), mercatorDegrees(third, fourth)].flat()
  return readBbox(corners)
}

function mercatorDegrees(easting: string, northing: string): readonly string[] {
  const [x, y] = [parseDecimal(easting), parseDecimal(northing)]
  if (x === undefined || y === undefined) return [easting, northing].map((text) => `${text.slice(0, 40)} m`)
  const longitude = (x / RADIUS_METERS) * DEGREES
  // The edge of the projection may exceed 180° by rounding.
  const limited = Math.abs(longitude) < 180 + 1e-6 ? Math.max(-180, Math.min(180, longitude)) : longitude
  return [limited, Math.atan(Math.sinh(y / RADIUS_METERS)) * DEGREES].map(String)
}

/** Converts a position in place of its two first numbers; a height stays. Undefined for CRS84, which needs no conversion. */
export function positionConverter(crs: Crs): ((position: readonly number[]) => readonly number[]) | undefined {
  if (crs === CRS84) return undefined
  if (crs === EPSG_4326) return ([longitude, latitude, ...height]) => [latitude!, longitude!, ...height]
  return ([longitude, latitude, ...height]) => {
    const limited = Math.max(-MAX_MERCATOR_LATITUDE, Math.min(MAX_MERCATOR_LATITUDE, latitude!))
    const northing = RADIUS_METERS * Math.asinh(Math.tan(limited / DEGREES))
    return [(RADIUS_METERS * longitude!) / DEGREES, northing, ...height]
  }
}
