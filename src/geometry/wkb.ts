import wkx from 'wkx'
import { problemAt } from '../problem.ts'
import type { Geometry, Position } from '../types/generated.ts'
import { FormatBudget, type FormatLimits, type Path } from './format-budget.ts'
import { trimAscii } from './notation.ts'
import { guardWkb } from './wkb-guard.ts'

/**
 * Well-known binary as GeoJSON: OGC and ISO codes with Z and M, and PostGIS's EWKB with its SRID.
 *
 * @param bytes looked through before wkx reads them, which would believe any count in them
 * @param path where they stand in the request, for messages
 * @returns positions of longitude and latitude; further numbers are dropped
 * @throws {ProblemError} `invalid-input` that names the byte, counted from 0
 * @see OGC 06-103r4, section 8
 */
export function readWkb(bytes: Uint8Array, path: Path, limits: FormatLimits): Geometry {
  guardWkb(bytes, new FormatBudget('byte', bytes.byteLength, path, limits))
  const parsed = wkx.Geometry.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return flatPositions(parsed.toGeoJSON() as Geometry)
}

/**
 * The same as hex digits: what `psql` and `ST_AsHexEWKB` show, with or without `\x` or `0x` before them.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readWkbHex(text: string, path: Path, limits: FormatLimits): Geometry {
  const digits = trimAscii(text).replace(/^(?:0x|\\x)/i, '')
  // Twice the limit in digits is the limit in bytes; longer ones are not even looked at.
  new FormatBudget('byte', digits.length / 2, path, limits)
  if (digits === '' || digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw problemAt('invalid-input', path, 'is no well-known binary: an even number of hex digits is expected', {
      code: 'not-wkb',
    })
  }
  return readWkb(Buffer.from(digits, 'hex'), path, limits)
}

/** Without heights; the positions are ours, for wkx just made them. */
function flatPositions(geometry: Geometry): Geometry {
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map(flatPositions) } as Geometry
  }
  return { type: geometry.type, coordinates: flat(geometry.coordinates) } as Geometry
}

type Nested = Position | readonly Nested[]

function flat(value: Nested): Nested {
  if (typeof value[0] === 'number') return [value[0] + 0, (value[1] as number) + 0]
  return (value as readonly Nested[]).map(flat)
}
