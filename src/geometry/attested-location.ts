import { problemAt } from '../problem.ts'
import type { FormatLimits, Path } from './format-budget.ts'
import { readLocationText } from './location-text.ts'
import { notationOf, trimAscii } from './notation.ts'

/** EPSG codes of longitude and latitude on WGS 84, without and with a height. */
const WGS84_CODES = ['4326', '4979']
const EPSG_CODE = /\bEPSG(?:[:/]+[\d.]*)?[:/]+(\d+)\s*$/i

/**
 * The one reading of a location attestation, for records and for inputs `{uid}`: GeoJSON whatever its type is called (older
 * clients wrote `point` and `polygon`), a geometry or a Feature around one; else text of the notation that the type names.
 *
 * @param path where the location stands, for messages
 * @param parse of JSON; may throw a SyntaxError or a ProblemError
 * @returns of JSON what stands where a geometry has to, its shape unchecked; of other text a geometry
 * @throws {ProblemError} `invalid-input`
 */
export function readAttestedLocation(
  locationType: string,
  location: string,
  path: Path,
  limits: FormatLimits,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  const text = trimAscii(location)
  const notation = notationOf(locationType)
  if (!text.startsWith('{') && (notation !== undefined || !isGeoJsonType(locationType))) {
    return readLocationText(locationType, text, path, limits)
  }
  let value: { type?: unknown; geometry?: unknown } | null
  try {
    value = parse(text) as typeof value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw problemAt('invalid-input', path, 'is not JSON of a geometry', { code: 'not-geojson' })
  }
  if (value?.type !== 'Feature') return value
  if (typeof value.geometry === 'object' && value.geometry !== null) return value.geometry
  throw problemAt('invalid-input', path, 'is a Feature without a geometry', { code: 'not-geojson' })
}

/** False for a type that neither names a notation nor GeoJSON, when its location is not GeoJSON either. */
export function isReadableLocation(locationType: string, location: string): boolean {
  return trimAscii(location).startsWith('{') || notationOf(locationType) !== undefined || isGeoJsonType(locationType)
}

/** The EPSG code that a reference system names when it is not WGS 84: degrees are all that is read here. */
export function foreignEpsgCode(srs: string): string | undefined {
  const code = EPSG_CODE.exec(srs)?.[1]
  return code === undefined || WGS84_CODES.includes(code) ? undefined : code
}

function isGeoJsonType(locationType: string): boolean {
  return locationType.trim().toLowerCase().startsWith('geojson')
}
