import { problemAt } from '../base/problem.ts'
import { readLocationText } from './location-text.ts'
import { type FormatLimits, findNotation, type Path, trimAscii } from './notation.ts'

/** EPSG codes of longitude and latitude on WGS 84, without and with height. */
const WGS84_CODES = ['4326', '4979']
const EPSG_CODE = /\bEPSG(?:[:/]+[\d.]*)?[:/]+(\d+)\s*$/i

/**
 * Reads the location of an attestation. Records and inputs `{uid}` both use this function. A text that begins with `{` is read as
 * GeoJSON under any `locationType` (older clients wrote `point` and `polygon`): a geometry, or a Feature around one. Other text
 * is read in the notation that `locationType` names.
 *
 * @param path of the location in the request, for messages
 * @param parse parses JSON; may throw a SyntaxError or a ProblemError
 * @returns for JSON, the value where a geometry should be, with its shape unchecked; for other text, a geometry
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
  const notation = findNotation(locationType)
  if (!text.startsWith('{') && (notation !== undefined || !isGeoJsonType(locationType))) {
    return readLocationText(locationType, text, path, limits)
  }
  let value: { type?: unknown; geometry?: unknown } | null
  try {
    value = parse(text) as typeof value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw problemAt('invalid-input', path, 'is not valid JSON', { code: 'not-geojson' })
  }
  if (value?.type !== 'Feature') return value
  if (typeof value.geometry === 'object' && value.geometry !== null) return value.geometry
  throw problemAt('invalid-input', path, 'is a Feature without a geometry', { code: 'not-geojson' })
}

/**
 * Tells whether the format of a location is known: its type names a notation or GeoJSON, or the text looks like a JSON object.
 */
export function isReadableLocation(locationType: string, location: string): boolean {
  return trimAscii(location).startsWith('{') || findNotation(locationType) !== undefined || isGeoJsonType(locationType)
}

/** Returns the EPSG code that a reference system names, unless it is WGS 84. Only degrees on WGS 84 are supported. */
export function foreignEpsgCode(srs: string): string | undefined {
  const code = EPSG_CODE.exec(srs)?.[1]
  return code === undefined || WGS84_CODES.includes(code) ? undefined : code
}

function isGeoJsonType(locationType: string): boolean {
  return locationType.trim().toLowerCase().startsWith('geojson')
}
