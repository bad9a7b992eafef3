import { problemAt } from '../problem.ts'
import type { Geometry } from '../types/generated.ts'
import { readDegrees } from './degrees.ts'
import type { FormatLimits, Path } from './format-budget.ts'
import { readGeohash } from './geohash.ts'
import { readH3 } from './h3.ts'
import { notationOf } from './notation.ts'
import { readWkbHex } from './wkb.ts'
import { readWkt } from './wkt.ts'

/**
 * A location in the notation that its type names, as a geometry.
 *
 * @param path where the text stands in the request, for messages
 * @throws {ProblemError} `invalid-input` for a type that is not read here, and for a text that is not of that type
 */
export function readLocationText(locationType: string, text: string, path: Path, limits: FormatLimits): Geometry {
  switch (notationOf(locationType)) {
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
      const shown = JSON.stringify(locationType.slice(0, 60))
      throw problemAt('invalid-input', path, `is text of the type ${shown}, which is not understood`, {
        code: 'unknown-location-type',
        hint: 'GeoJSON as an object, or text of the types wkt, wkb, h3, geohash and coordinate-decimal+lon-lat',
      })
    }
  }
}
