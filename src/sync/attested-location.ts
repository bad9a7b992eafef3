import { checkShape, type Shaped } from '../geometry/check-shape.ts'
import type { Geometry } from '../types/generated.ts'

export type AttestedLocation =
  | {
      readonly ok: true
      readonly geometry: Geometry
      /** A GeoJSON geometry: what was attested when it is one, else what it means. */
      readonly text: string
    }
  | { readonly ok: false; readonly reason: string }

/** Formats of two numbers, by their order. An order is never guessed from the numbers. */
const PAIRS: readonly (readonly [pattern: RegExp, isLongitudeFirst: boolean])[] = [
  [/(^|[+_-])(lon|lng|long|longitude)[-_,]?(lat|latitude)$/, true],
  [/(^|[+_-])(lat|latitude)[-_,]?(lon|lng|long|longitude)$/, false],
]

/**
 * What a location attestation says where it is.
 *
 * @param locationType as attested: GeoJSON formats, and pairs of decimal degrees whose type names their order
 */
export function readLocation(locationType: string, location: string): AttestedLocation {
  const text = location.trim()
  if (text.startsWith('{')) return readGeoJson(text)
  const type = locationType.trim().toLowerCase()
  if (type.startsWith('geojson')) return { ok: false, reason: 'the location is not JSON of a geometry' }
  const order = PAIRS.find(([pattern]) => pattern.test(type))
  if (order === undefined) {
    const shown = JSON.stringify(locationType.slice(0, 60))
    return { ok: false, reason: `a location of type ${shown} is not understood: GeoJSON and pairs of degrees are` }
  }
  return readPair(text, order[1])
}

function readGeoJson(text: string): AttestedLocation {
  let value: { type?: unknown; geometry?: unknown } | null
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, reason: 'the location is not JSON of a geometry' }
  }
  const isFeature = value?.type === 'Feature'
  const shaped = checkShape(isFeature ? value?.geometry : value)
  if (!shaped.ok) return refusal(shaped)
  return { ok: true, geometry: shaped.geometry, text: isFeature ? JSON.stringify(shaped.geometry) : text }
}

function readPair(text: string, isLongitudeFirst: boolean): AttestedLocation {
  const match = /^\[?\s*(-?\d{1,3}(?:\.\d{1,30})?)\s*[,;\s]\s*(-?\d{1,3}(?:\.\d{1,30})?)\s*\]?$/.exec(text)
  if (match === null) return { ok: false, reason: 'the location is not two decimal numbers' }
  const pair = [Number(match[1]), Number(match[2])]
  const coordinates = isLongitudeFirst ? pair : pair.reverse()
  const shaped = checkShape({ type: 'Point', coordinates })
  return shaped.ok ? { ...shaped, text: JSON.stringify(shaped.geometry) } : refusal(shaped)
}

function refusal({ reason }: Extract<Shaped, { ok: false }>): AttestedLocation {
  return { ok: false, reason: `the location ${reason}` }
}
