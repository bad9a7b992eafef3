import { problemAt } from '../problem.ts'
import type { Geometry } from '../types/generated.ts'
import { readDegrees } from './degrees.ts'
import type { FormatLimits, Path } from './format-budget.ts'
import { readGeohash } from './geohash.ts'
import { readH3 } from './h3.ts'
import { readWkbHex } from './wkb.ts'
import { readWkt } from './wkt.ts'

/** How a location is written that is not GeoJSON. */
export type Notation = 'wkt' | 'wkb' | 'h3' | 'geohash' | 'lon-lat' | 'lat-lon'

/** Location types by their notation; compared in lower case. */
const TYPES: readonly (readonly [pattern: RegExp, notation: Notation])[] = [
  [/^e?wkt$/, 'wkt'],
  [/^e?wkb$/, 'wkb'],
  [/^h3(?:-(?:index|cell))?$/, 'h3'],
  [/^geohash$/, 'geohash'],
  [/(?:^|[+_-])(?:lon|lng|long|longitude)[-_,]?(?:lat|latitude)$/, 'lon-lat'],
  [/(?:^|[+_-])(?:lat|latitude)[-_,]?(?:lon|lng|long|longitude)$/, 'lat-lon'],
]
const MOST_SHOWN = 60

/** @returns undefined for a location type whose locations are GeoJSON, and for one that nobody here reads */
export function notationOf(locationType: string): Notation | undefined {
  if (locationType.length > MOST_SHOWN) return undefined
  const type = locationType.trim().toLowerCase()
  return TYPES.find(([pattern]) => pattern.test(type))?.[1]
}

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
      const shown = JSON.stringify(locationType.slice(0, MOST_SHOWN))
      throw problemAt('invalid-input', path, `text of the type ${shown} is not understood`, {
        code: 'unknown-location-type',
        hint: 'GeoJSON, or text of the types wkt, wkb, h3, geohash and coordinate-decimal+lon-lat',
      })
    }
  }
}
