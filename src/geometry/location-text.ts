import { problemAt } from '../base/problem.ts'
import type { Geometry } from '../types/generated.ts'
import { readDegrees } from './degrees.ts'
import type { FormatLimits, Path } from './format-budget.ts'
import { readGeohash } from './geohash.ts'
import { readH3 } from './h3.ts'
import { findNotation } from './notation.ts'
import { readWkbHex } from './wkb.ts'
import { readWkt } from './wkt.ts'

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
