import { problemAt } from '../base/problem.ts'
import type { Geometry, Point } from '../types/generated.ts'
import { readGeohash } from './geohash.ts'
import { readH3 } from './h3.ts'
import { FormatBudget, type FormatLimits, findNotation, type Path, trimAscii } from './notation.ts'
import { readWkbHex } from './wkb.ts'
import { readWkt } from './wkt.ts'

const SPACES = '[ \\t\\r\\n]*'
const NUMBER = '(-?\\d{1,3}(?:\\.\\d{1,30})?)'
const PAIR = new RegExp(`^${NUMBER}${SPACES}[,; \\t\\r\\n]${SPACES}${NUMBER}$`)
/** Longer than any pair that the pattern matches. */
const MAX_CHARACTERS = 200

/**
 * Reads two decimal degrees, such as `2.2945, 48.8584`, as a point.
 *
 * @param isLongitudeFirst has to be known from elsewhere: the order is never guessed from the numbers
 * @param path of the text in the request, for messages
 * @throws {ProblemError} `invalid-input`
 */
export function readDegrees(text: string, isLongitudeFirst: boolean, path: Path, limits: FormatLimits): Point {
  const trimmed = trimAscii(text)
  const isBracketed = trimmed.startsWith('[') && trimmed.endsWith(']')
  const inside = isBracketed ? trimAscii(trimmed.slice(1, -1)) : trimmed
  const match = trimmed.length > MAX_CHARACTERS ? null : PAIR.exec(inside)
  if (match === null) {
    throw problemAt('invalid-input', path, 'is not two decimal numbers', {
      code: 'not-degrees',
      hint: isLongitudeFirst ? 'write longitude, latitude in degrees' : 'write latitude, longitude in degrees',
    })
  }
  const [first, second] = [Number(match[1]) + 0, Number(match[2]) + 0]
  const [longitude, latitude] = isLongitudeFirst ? [first, second] : [second, first]
  new FormatBudget('character', trimmed.length, path, limits).requirePosition(longitude, latitude, 1)
  return { type: 'Point', coordinates: [longitude, latitude] }
}

/**
 * Reads a location in the notation that its type names.
 *
 * @param path of the text in the request, for messages
 * @throws {ProblemError} `invalid-input` for an unsupported type, and for text that does not fit its type
 */
export function readLocationText(locationType: string, text: string, path: Path, limits: FormatLimits): Geometry {
  switch (findNotation(locationType)) {
    case 'wkt':
      return readWkt(text, path, limits)
    case 'wkb':
      return readWkbHex(text, path, limits)
    case 'h3':
      return readH3(text, path)
    case 'geohash':
      return readGeohash(text, path)
    case 'lon-lat':
      return readDegrees(text, true, path, limits)
    case 'lat-lon':
      return readDegrees(text, false, path, limits)
    default: {
      const typeJson = JSON.stringify(locationType.slice(0, 60))
      throw problemAt('invalid-input', path, `is text of type ${typeJson}, which is not supported`, {
        code: 'unknown-location-type',
        hint: 'send GeoJSON as an object, or text of one of the types wkt, wkb, h3, geohash and coordinate-decimal+lon-lat',
      })
    }
  }
}
