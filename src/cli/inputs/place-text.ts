import { ProblemError } from '../../base/problem.ts'
import type { Notation } from '../../geometry/notation.ts'
import type { Geometry } from '../../types/generated.ts'
import { parsePoint } from './source-item.ts'

/** Limits of one geometry from a file or the command line. The service has its own limits. */
const LIMITS = { maxVertices: 1_000_000, maxParts: 1_000_000, maxCollectionDepth: 8, maxBodyBytes: 32 * 1_048_576 }

const WKT =
  /^(?:SRID\s*=\s*\d+\s*;\s*)?(?:POINT|LINESTRING|POLYGON|MULTI[A-Z]+|GEOMETRYCOLLECTION)\s*(?:Z|M|ZM)?\s*(?:\(|EMPTY)/i
const NUMBER = String.raw`\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*`
const PAIR = new RegExp(`^${NUMBER},${NUMBER}$`)
/** Notations that need a prefix, because hex digits alone would be ambiguous. */
const PREFIXED = /^(wkb|h3|geohash):(.*)$/is

export type PlaceText = { readonly value: Geometry } | { readonly fault: string }

/** Tells whether a text is a geometry: WKT, `lon,lat`, or a text with the prefix `wkb:`, `h3:` or `geohash:`. */
export function isPlaceText(text: string): boolean {
  return WKT.test(text.trim()) || PAIR.test(text) || PREFIXED.test(text)
}

/** Reads such a text. Without a prefix it is WKT. */
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
  const { readLocationText } = await import('../../geometry/location-text.ts')
  try {
    return { value: readLocationText(notation, text, [], LIMITS) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const hint = error.data.places?.[0]?.hint
    return { fault: `not ${notation.toUpperCase()}: ${error.message}${hint === undefined ? '' : ` (${hint})`}` }
  }
}

/** Tells whether a text begins like WKT. */
export function isWkt(head: string): boolean {
  return WKT.test(head.trimStart())
}
