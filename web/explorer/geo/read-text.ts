/** What people paste: GeoJSON, WKT, pairs of numbers, a UID, a verified proof. */
import { checkShape } from '../../../src/geometry/check-shape.ts'
import { readWkt } from '../../../src/geometry/wkt.ts'
import { ProblemError } from '../../../src/problem.ts'
import type { Geometry, Input } from '../../../src/types/generated.ts'

export type ReadText =
  | { readonly ok: true; readonly input: Input; readonly form: string }
  | { readonly ok: false; readonly reason: string }

const MAX_CHARACTERS = 1_000_000
/** Of a service in its default configuration; one that takes more says what it takes. */
const LIMITS = { maxVertices: 50_000, maxParts: 10_000, maxCollectionDepth: 8, maxBodyBytes: MAX_CHARACTERS }

/** @returns never throws on text; `reason` says what is wrong and what would do */
export function readText(text: string): ReadText {
  const trimmed = text.trim()
  if (trimmed === '') return refuse('Nothing here yet. Paste GeoJSON or WKT, or type longitude, latitude.')
  if (trimmed.length > MAX_CHARACTERS) return refuse('More than a million characters: the service takes 1 MiB.')
  if (/^0x[0-9a-fA-F]{64}$/.test(trimmed)) return { ok: true, input: { uid: trimmed }, form: 'Attestation UID' }
  if (trimmed.startsWith('{')) return readJson(trimmed)
  if (/^(?:SRID=4326;)?\s*[A-Za-z]/.test(trimmed)) {
    try {
      return shaped(readWkt(trimmed, [], LIMITS), 'WKT')
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const [hint] = error.data.places?.flatMap((place) => place.hint ?? []) ?? []
      return refuse(`WKT: ${error.data.detail}.${hint === undefined ? '' : ` ${hint}.`}`)
    }
  }
  return readPairs(trimmed)
}

function readJson(text: string): ReadText {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text)
  } catch (error) {
    return refuse(`This is not JSON: ${(error as Error).message}`)
  }
  if (typeof value['uid'] === 'string') return { ok: true, input: { uid: value['uid'] }, form: 'Attestation UID' }
  if ('verifiedProof' in value) return { ok: true, input: value as unknown as Input, form: 'Verified proof' }
  if ('credibility' in value && 'proof' in value) {
    return { ok: true, input: { verifiedProof: value } as unknown as Input, form: 'Verified proof' }
  }
  if (value['type'] === 'FeatureCollection') {
    const features = Array.isArray(value['features']) ? value['features'] : []
    if (features.length === 1) return shaped(features[0]?.geometry, 'GeoJSON')
    return refuse(`A FeatureCollection of ${features.length} features: paste one of them, or one GeometryCollection.`)
  }
  return shaped(value['type'] === 'Feature' ? value['geometry'] : value, 'GeoJSON')
}

/** `2.29, 48.85` is a point; more lines of it a line, or a polygon when the last is the first. */
function readPairs(text: string): ReadText {
  const lines = text.split(/[\n;]+/).filter((line) => line.trim() !== '')
  const positions: [number, number][] = []
  for (const [index, line] of lines.entries()) {
    const texts = line.trim().split(/[\s,]+/)
    const numbers = texts.map(Number)
    // Number('') is 0: a comma without a number beside it would become a coordinate.
    if (numbers.length !== 2 || texts.includes('') || numbers.some((number) => !Number.isFinite(number)))
      return refuse(`Line ${index + 1} is not longitude, latitude: “${line.trim().slice(0, 40)}”.`)
    positions.push(numbers as [number, number])
  }
  if (positions.length === 1) return shaped({ type: 'Point', coordinates: positions[0] }, 'Coordinates')
  const [first, last] = [positions[0]!, positions.at(-1)!]
  const isClosed = positions.length >= 4 && first[0] === last[0] && first[1] === last[1]
  return isClosed
    ? shaped({ type: 'Polygon', coordinates: [positions] }, 'Coordinates')
    : shaped({ type: 'LineString', coordinates: positions }, 'Coordinates')
}

function shaped(value: unknown, form: string): ReadText {
  const read = checkShape(value)
  if (read.ok) return { ok: true, input: read.geometry as Geometry, form }
  const hint = /latitude/.test(read.reason) ? ' The order is longitude, latitude.' : ''
  return refuse(`This ${read.reason}.${hint}`)
}

function refuse(reason: string): ReadText {
  return { ok: false, reason }
}
