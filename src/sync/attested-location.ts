import { checkShape } from '../geometry/check-shape.ts'
import type { FormatLimits } from '../geometry/format-budget.ts'
import { readLocationText } from '../geometry/location-text.ts'
import { ProblemError } from '../problem.ts'
import type { Geometry } from '../types/generated.ts'

export type AttestedLocation =
  | {
      readonly ok: true
      readonly geometry: Geometry
      /** A GeoJSON geometry: what was attested when it is one, else what it means. */
      readonly text: string
    }
  | { readonly ok: false; readonly reason: string }

/** The bytes of an attestation are bounded (`maxDataBytes`), and with them what they can hold. */
const LIMITS: FormatLimits = {
  maxVertices: Number.POSITIVE_INFINITY,
  maxParts: Number.POSITIVE_INFINITY,
  maxCollectionDepth: 8,
}

/**
 * What a location attestation says where it is.
 *
 * @param locationType as attested: GeoJSON, or the notation of a text (`readLocationText`)
 */
export function readLocation(locationType: string, location: string): AttestedLocation {
  const text = location.trim()
  if (text.startsWith('{')) return readGeoJson(text)
  const type = locationType.trim().toLowerCase()
  if (type.startsWith('geojson')) return { ok: false, reason: 'the location is not JSON of a geometry' }
  try {
    const geometry = readLocationText(type, text, ['location'], LIMITS)
    return { ok: true, geometry, text: JSON.stringify(geometry) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return { ok: false, reason: `the ${error.data.detail}` }
  }
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
  if (!shaped.ok) return { ok: false, reason: `the location ${shaped.reason}` }
  return { ok: true, geometry: shaped.geometry, text: isFeature ? JSON.stringify(shaped.geometry) : text }
}
