import { problemAt } from '../base/problem.ts'
import type { Polygon } from '../types/generated.ts'
import { type Path, trimAscii } from './notation.ts'

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'
/** 60 bits: cells of 3.7 by 1.9 cm, whose borders doubles still hold exactly. */
const MAX_CHARACTERS = 12
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
  if (characters === '' || characters.length > MAX_CHARACTERS) {
    const fault = characters === '' ? 'is empty' : `has ${characters.length} characters`
    throw problemAt('invalid-input', path, `${fault}; a geohash has 1 to ${MAX_CHARACTERS}`, { code: 'not-geohash' })
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
