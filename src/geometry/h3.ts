import { createRequire } from 'node:module'
import { problemAt } from '../base/problem.ts'
import type { MultiPolygon, Polygon, Position } from '../types/generated.ts'
import { cutAtAntimeridian } from './antimeridian.ts'
import type { Path } from './format-budget.ts'
import { trimAscii } from './notation.ts'

type Library = typeof import('h3-js')

let library: Library | undefined

/** Loads the library on first use, because that takes tens of milliseconds, and megabytes in every thread. */
function loadLibrary(): Library {
  library ??= createRequire(import.meta.url)('h3-js') as Library
  return library
}

/**
 * Steps per degree: 1e-9° is 0.1 mm on the ground. The corners come from JavaScript sines, whose last digits differ between
 * engines.
 */
const STEPS_PER_DEGREE = 1e9

/**
 * Returns the cell of an H3 index as a polygon. Its centre would be a guess, because an index does not say where in the cell
 * something is.
 *
 * @param text 15 hex digits in upper or lower case, with or without `0x` and a leading zero
 * @param path of the text in the request, for messages
 * @returns 5 to 10 corners (more than 6 where an edge of the icosahedron crosses the cell), rounded to 1e-9 degrees. A cell
 *   across the antimeridian is cut there (RFC 7946, section 3.1.9): into two polygons, or into one with an edge along the pole
 *   that it contains
 * @throws {ProblemError} `invalid-input`
 * @see h3geo.org
 */
export function readH3(text: string, path: Path): Polygon | MultiPolygon {
  const digits = trimAscii(text).replace(/^0x/i, '').replace(/^0/, '').toLowerCase()
  const h3 = /^[0-9a-f]{15,16}$/.test(digits) ? loadLibrary() : undefined
  if (h3 === undefined || !h3.isValidCell(digits)) {
    const isOtherIndex = h3?.isValidIndex(digits) === true
    throw problemAt('invalid-input', path, isOtherIndex ? 'is an H3 edge or vertex, not a cell' : 'is not an H3 cell', {
      code: 'not-h3',
      hint: 'send the index of a cell, such as 8928308280fffff',
    })
  }
  const rings = cutAtAntimeridian(h3.cellToBoundary(digits, true) as Position[]).map((ring) => ring.map(roundPosition))
  return rings.length === 1
    ? { type: 'Polygon', coordinates: [rings[0]!] }
    : { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) }
}

function roundPosition([longitude, latitude]: Position): Position {
  return [
    Math.round(longitude * STEPS_PER_DEGREE) / STEPS_PER_DEGREE + 0,
    Math.round(latitude * STEPS_PER_DEGREE) / STEPS_PER_DEGREE + 0,
  ]
}
