import wkx from 'wkx'
import { problemAt } from '../base/problem.ts'
import type { Geometry, Position } from '../types/generated.ts'
import { FormatBudget, type FormatLimits, type Path } from './format-budget.ts'
import { trimAscii } from './notation.ts'
import { guardWkb } from './wkb-guard.ts'

/**
 * Converts well-known binary to GeoJSON: OGC and ISO codes with Z and M, and PostGIS's EWKB with its SRID.
 *
 * @param bytes are checked before wkx reads them, because wkx believes every count in them
 * @param path of the bytes in the request, for messages
 * @returns positions of longitude and latitude; further numbers are dropped
 * @throws {ProblemError} `invalid-input` that names the byte, counted from 0
 * @see OGC 06-103r4, section 8
 */
export function readWkb(bytes: Uint8Array, path: Path, limits: FormatLimits): Geometry {
  guardWkb(bytes, new FormatBudget('byte', bytes.byteLength, path, limits))
  const parsed = wkx.Geometry.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return dropHeights(parsed.toGeoJSON() as Geometry)
}

/**
 * Does the same for hex digits, as `psql` and `ST_AsHexEWKB` show them, with or without a leading `\x` or `0x`.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readWkbHex(text: string, path: Path, limits: FormatLimits): Geometry {
  const digits = trimAscii(text).replace(/^(?:0x|\\x)/i, '')
  // Two digits are one byte. Text over the limit is rejected before it is examined.
  new FormatBudget('byte', digits.length / 2, path, limits)
  if (digits === '' || digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw problemAt('invalid-input', path, 'is not well-known binary: expected an even number of hex digits', {
      code: 'not-wkb',
    })
  }
  return readWkb(Buffer.from(digits, 'hex'), path, limits)
}

/** Drops heights, and turns −0 into 0. */
function dropHeights(geometry: Geometry): Geometry {
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map(dropHeights) } as Geometry
  }
  return { type: geometry.type, coordinates: flatten(geometry.coordinates) } as Geometry
}

type Nested = Position | readonly Nested[]

function flatten(value: Nested): Nested {
  if (typeof value[0] === 'number') return [value[0] + 0, (value[1] as number) + 0]
  return (value as readonly Nested[]).map(flatten)
}
