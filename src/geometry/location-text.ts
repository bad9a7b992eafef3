import { problemAt } from '../base/problem.ts'
import type { Geometry, Point, Polygon } from '../types/generated.ts'
import { readH3 } from './h3.ts'
import { FormatBudget, type FormatLimits, findNotation, type Path, trimAscii } from './notation.ts'
import { readWkbHex } from './wkb.ts'
import { readWkt } from './wkt.ts'

const SPACES = '[ \\t\\r\\n]*'
const NUMBER = '(-?\\d{1,3}(?:\\.\\d{1,30})?)'
const PAIR = new RegExp(`^${NUMBER}${SPACES}[,; \\t\\r\\n]${SPACES}${NUMBER}$`)
/** Longer than any pair without superfluous white space. Limits the work of the pattern. */
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

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'
/** 60 bits: cells of 3.7 by 1.9 cm, whose borders doubles still hold exactly. */
const MAX_GEOHASH_CHARACTERS = 12
const BITS_PER_CHARACTER = 5

/**
 * Returns the cell of a geohash as a rectangle. Its centre would be a guess, because a geohash does not say where in the cell
 * something is.
 *
 * @param text 1 to 12 characters, in upper or lower case
 * @param path of the text in the request, for messages
 * @returns counter-clockwise from the south-west; its borders are exact binary fractions of 360° and 180°
 * @throws {ProblemError} `invalid-input`
 * @see G. Niemeyer, geohash.org (2008): base 32 without a, i, l and o; bits of longitude and latitude alternate
 */
export function readGeohash(text: string, path: Path): Polygon {
  const characters = trimAscii(text)
  if (characters === '' || characters.length > MAX_GEOHASH_CHARACTERS) {
    const fault = characters === '' ? 'is empty' : `has ${characters.length} characters`
    throw problemAt('invalid-input', path, `${fault}; a geohash has 1 to ${MAX_GEOHASH_CHARACTERS}`, {
      code: 'not-geohash',
    })
  }
  const indices = [0, 0]
  let bits = 0
  for (const character of characters) {
    const value = ALPHABET.indexOf(lowerAscii(character))
    if (value < 0) {
      throw problemAt('invalid-input', path, `has ${JSON.stringify(character)}, which is not a geohash character`, {
        code: 'not-geohash',
        hint: 'use digits, and letters other than a, i, l and o',
      })
    }
    for (let bit = BITS_PER_CHARACTER - 1; bit >= 0; bit--, bits++) {
      const axis = bits % 2
      indices[axis] = 2 * indices[axis]! + ((value >> bit) & 1)
    }
  }
  const width = 360 / 2 ** Math.ceil(bits / 2)
  const height = 180 / 2 ** Math.floor(bits / 2)
  const west = indices[0]! * width - 180
  const south = indices[1]! * height - 90
  const [east, north] = [west + width, south + height]
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}

/** Changes ASCII letters only. `toLowerCase` would also turn the Kelvin sign into a `k`. */
function lowerAscii(character: string): string {
  return character >= 'A' && character <= 'Z' ? character.toLowerCase() : character
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
