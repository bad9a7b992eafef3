import { looksProjected, PROJECTED_HINT } from '../../base/coordinate-hints.ts'
import { parseDecimal } from '../../base/decimal.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Notation } from '../../geometry/notation.ts'
import type { Geometry, Point } from '../../types/generated.ts'

/** One item of a file: its value, or why it is invalid. */
export interface SourceItem {
  /** Its position in the file, for people: `line 7`. */
  readonly place: string
  /** A geometry, a Feature, another form of input, or the members of an operation. Absent with `fault`. */
  readonly value?: unknown
  /** Why the item is invalid. The items after it are still read. */
  readonly fault?: string
  /** The `id` of the Feature or the row. */
  readonly id?: string | number
  /** The row of a table, unchanged. */
  readonly row?: TableRow
}

/** A row of a table as text. It may have more or fewer fields than the table has columns. */
export interface TableRow {
  /** Column names, the same list for all rows of a table. */
  readonly columns: readonly string[]
  readonly fields: readonly string[]
}

/** An error after which the remaining file cannot be read. */
export class SourceError extends Error {
  constructor(place: string, reason: string) {
    super(place === '' ? reason : `${place}: ${reason}`)
    this.name = 'SourceError'
  }
}

/** Longest line, record or geometry in memory, in characters. */
export const MAX_ITEM_CHARACTERS = 32 * 1024 * 1024

/**
 * Parses a point from two texts.
 *
 * @returns the point, or a fault that names the invalid text
 */
export function parsePoint(
  longitude: string,
  latitude: string,
): { readonly value: Point } | { readonly fault: string } {
  const read = (text: string, name: string, limit: number): number | string => {
    const value = parseDecimal(text)
    if (value === undefined) return `${name} ${notANumber(text, limit === 180 ? '2.3522' : '48.8566')}`
    if (Math.abs(value) <= limit) return value
    const isSwapped = limit === 90 && Math.abs(value) <= 180
    const hint = looksProjected(value)
      ? ` (${PROJECTED_HINT})`
      : isSwapped
        ? ' (are longitude and latitude swapped?)'
        : ''
    return `${name} ${value} is outside -${limit}..${limit}${hint}`
  }
  const lon = read(longitude, 'longitude', 180)
  const lat = read(latitude, 'latitude', 90)
  if (typeof lon === 'string') return { fault: lon }
  return typeof lat === 'string' ? { fault: lat } : { value: { type: 'Point', coordinates: [lon, lat] } }
}

/** Says why `parseDecimal` rejects a text, and what would work. */
export function notANumber(text: string, example: string): string {
  if (text.trim() === '') return `is empty: write a number such as ${example}`
  const found = JSON.stringify(text.slice(0, 40))
  const withPoint = text.trim().replace(',', '.')
  return withPoint !== text.trim() && parseDecimal(withPoint) !== undefined
    ? `${found} has a decimal comma: write ${withPoint}`
    : `${found} is not a decimal number such as ${example}`
}

/** Limits of one geometry from a file or the command line. The service has its own limits, and says which operations take empty ones. */
const LIMITS = {
  maxVertices: 1_000_000,
  maxParts: 1_000_000,
  maxCollectionDepth: 8,
  maxBodyBytes: 32 * 1_048_576,
  acceptsEmpty: true,
}

const WKT =
  /^(?:SRID\s*=\s*\d+\s*;\s*)?(?:POINT|LINESTRING|POLYGON|MULTI[A-Z]+|GEOMETRYCOLLECTION|CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON|TIN|TRIANGLE|POLYHEDRALSURFACE)\s*(?:Z|M|ZM)?\s*(?:\(|EMPTY)/i
const NUMBER = String.raw`\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*`
const PAIR = new RegExp(`^${NUMBER},${NUMBER}$`)
/** Notations that need a prefix, because hex digits alone would be ambiguous. */
const PREFIXED = /^(wkb|h3|geohash):(.*)$/is

type PlaceText = { readonly value: Geometry } | { readonly fault: string }

/** Tells whether a text is a geometry: WKT, `lon,lat`, or a text with the prefix `wkb:`, `h3:` or `geohash:`. */
export function isPlaceText(text: string): boolean {
  return WKT.test(text.trim()) || PAIR.test(text) || PREFIXED.test(text)
}

/** Reads a text that `isPlaceText` accepts. */
export async function readPlaceText(text: string): Promise<PlaceText> {
  if (PAIR.test(text)) {
    const [longitude, latitude] = text.split(',')
    return parsePoint(longitude!, latitude!)
  }
  const [, notation, body] = PREFIXED.exec(text) ?? []
  return readNotation((notation?.toLowerCase() ?? 'wkt') as Notation, (body ?? text).trim())
}

/** Reads a text in a given notation. */
export async function readNotation(notation: Notation, text: string): Promise<PlaceText> {
  return (await loadNotationReader())(notation, text)
}

/** Reads a text in a given notation, for many texts in a row. */
export type NotationReader = (notation: Notation, text: string) => PlaceText

/** Loads the readers of all notations. Most inputs need none of them. */
export async function loadNotationReader(): Promise<NotationReader> {
  const { readLocationText } = await import('../../geometry/location-text.ts')
  return (notation, text) => {
    try {
      return { value: readLocationText(notation, text, [], LIMITS) }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const hint = error.data.invalidParts?.[0]?.hint
      return { fault: `not ${notation.toUpperCase()}: ${error.message}${hint === undefined ? '' : ` (${hint})`}` }
    }
  }
}

/** Tells whether a text begins like WKT. */
export function isWkt(head: string): boolean {
  return WKT.test(head.trimStart())
}

/** Input formats. `json` is GeoJSON over any number of lines. */
export const FORMATS = ['json', 'ndjson', 'csv', 'gpx', 'wkt'] as const
export type Format = (typeof FORMATS)[number]
