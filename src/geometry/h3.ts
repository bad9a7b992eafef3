import { createRequire } from 'node:module'
import { problemAt } from '../problem.ts'
import type { MultiPolygon, Polygon, Position } from '../types/generated.ts'
import { cutAtAntimeridian } from './antimeridian.ts'
import type { Path } from './format-budget.ts'
import { trimAscii } from './notation.ts'

type Library = typeof import('h3-js')

let library: Library | undefined

/** Loaded when it is first needed: that takes tens of milliseconds and megabytes, in every thread. */
function loadLibrary(): Library {
  library ??= createRequire(import.meta.url)('h3-js') as Library
  return library
}

/** 0.1 mm on the ground. The corners come from sines of JavaScript, whose last digits differ between engines. */
const ROUNDED_TO = 1e9

/**
 * The cell of an H3 index as the polygon that it is, not its centre: nobody said where in the cell.
 *
 * @param text 15 hex digits of any case, with or without `0x` and a leading zero
 * @param path where it stands in the request, for messages
 * @returns its 5 to 10 corners (more than 6 where an edge of the icosahedron crosses it), rounded to 1e-9 degrees, cut where
 *   it lies across the antimeridian (RFC 7946, section 3.1.9): two polygons, or one with an edge along the pole that it holds
 * @throws {ProblemError} `invalid-input`
 * @see h3geo.org
 */
export function readH3(text: string, path: Path): Polygon | MultiPolygon {
  const digits = trimAscii(text).replace(/^0x/i, '').replace(/^0/, '').toLowerCase()
  const h3 = /^[0-9a-f]{15,16}$/.test(digits) ? loadLibrary() : undefined
  if (h3 === undefined || !h3.isValidCell(digits)) {
    const isOther = h3?.isValidIndex(digits) === true
    throw problemAt('invalid-input', path, isOther ? 'is an edge or a corner of H3, no cell' : 'is no cell of H3', {
      code: 'not-h3',
      hint: 'send the index of a cell, such as 8928308280fffff',
    })
  }
  const rings = cutAtAntimeridian(h3.cellToBoundary(digits, true) as Position[]).map((ring) => ring.map(rounded))
  return rings.length === 1
    ? { type: 'Polygon', coordinates: [rings[0]!] }
    : { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) }
}

function rounded([longitude, latitude]: Position): Position {
  return [Math.round(longitude * ROUNDED_TO) / ROUNDED_TO + 0, Math.round(latitude * ROUNDED_TO) / ROUNDED_TO + 0]
}
