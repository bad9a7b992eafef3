import type { Notation } from '../../geometry/notation.ts'
import { ProblemError } from '../../problem.ts'
import type { Geometry } from '../../types/generated.ts'
import { pointOf } from './source-item.ts'

/** What one geometry from a file or the command line may have; the service has its own limits. */
const LIMITS = { maxVertices: 1_000_000, maxParts: 1_000_000, maxCollectionDepth: 8, maxBodyBytes: 32 * 1_048_576 }

const WKT =
  /^(?:SRID\s*=\s*\d+\s*;\s*)?(?:POINT|LINESTRING|POLYGON|MULTI[A-Z]+|GEOMETRYCOLLECTION)\s*(?:Z|M|ZM)?\s*(?:\(|EMPTY)/i
const NUMBER = String.raw`\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*`
const PAIR = new RegExp(`^${NUMBER},${NUMBER}$`)
/** Hex digits alone could be many things, so their kind is said before them. */
const PREFIXED = /^(wkb|h3|geohash):(.*)$/is

export type PlaceText = { readonly value: Geometry } | { readonly fault: string }

/** Whether a text is a place by itself: WKT, `lon,lat`, or `wkb:`, `h3:` or `geohash:` before the place. */
export function isPlaceText(text: string): boolean {
  return WKT.test(text.trim()) || PAIR.test(text) || PREFIXED.test(text)
}

/** Reads such a text; WKT where nothing else is said. */
export async function readPlaceText(text: string): Promise<PlaceText> {
  if (PAIR.test(text)) {
    const [longitude, latitude] = text.split(',')
    return pointOf(longitude!, latitude!)
  }
  const [, notation, rest] = PREFIXED.exec(text) ?? []
  return readNotation((notation?.toLowerCase() ?? 'wkt') as Notation, (rest ?? text).trim())
}

/** Reads a text whose notation is known. */
export async function readNotation(notation: Notation, text: string): Promise<PlaceText> {
  const { readLocationText } = await import('../../geometry/location-text.ts')
  try {
    return { value: readLocationText(notation, text, [], LIMITS) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const hint = error.data.places?.[0]?.hint
    return { fault: `is no ${notation.toUpperCase()}: ${error.message}${hint === undefined ? '' : ` (${hint})`}` }
  }
}

/** Whether a text begins like WKT. */
export function isWkt(head: string): boolean {
  return WKT.test(head.trimStart())
}
