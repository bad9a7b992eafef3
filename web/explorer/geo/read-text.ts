/** Reads what people paste: GeoJSON, WKT, positions, a UID, a verified proof. */

import { parseDecimal } from '../../../src/base/decimal.ts'
import { ProblemError } from '../../../src/base/problem.ts'
import { checkShape } from '../../../src/geometry/check-shape.ts'
import { readWkt } from '../../../src/geometry/wkt.ts'
import type { Geometry, Input } from '../../../src/types/generated.ts'
import { readPosition } from './position-text.ts'
import type { LonLat } from './shape.ts'

export type ReadText =
  | { readonly ok: true; readonly input: Input; readonly form: string }
  /** `choices` are positions of which the reader of the page must choose one. */
  | { readonly ok: false; readonly reason: string; readonly choices?: readonly LonLat[] }

const MAX_CHARACTERS = 1_000_000
/** Longer than any position. */
const MAX_POSITION_CHARACTERS = 100
/** The default limits of the service, applied to pasted WKT. */
const LIMITS = { maxVertices: 50_000, maxParts: 10_000, maxCollectionDepth: 8, maxBodyBytes: MAX_CHARACTERS }

/** @returns the input, or a `reason` that says what is wrong and what would work; no text makes it throw */
export function readText(text: string): ReadText {
  const trimmed = text.trim()
  if (trimmed === '') return reject('The text is empty. Type coordinates, or paste GeoJSON or WKT.')
  if (trimmed.length > MAX_CHARACTERS)
    return reject('The text has more than a million characters; the service accepts 1 MiB.')
  if (/^0x[0-9a-fA-F]{64}$/.test(trimmed)) return { ok: true, input: { uid: trimmed }, form: 'Attestation UID' }
  if (trimmed.startsWith('{')) return readJson(trimmed)
  const position = trimmed.length <= MAX_POSITION_CHARACTERS ? readPosition(trimmed) : undefined
  if (position?.kind === 'position')
    return checkGeometry({ type: 'Point', coordinates: [...position.position] }, 'coordinates')
  if (position?.kind === 'invalid') return reject(position.reason)
  if (position?.kind === 'ambiguous')
    return { ok: false, reason: 'Which number is the latitude?', choices: position.readings }
  if (/^(?:SRID=4326;)?\s*[A-Za-z]/.test(trimmed)) {
    try {
      return checkGeometry(readWkt(trimmed, [], LIMITS), 'WKT')
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const [hint] = error.data.invalidParts?.flatMap((part) => part.hint ?? []) ?? []
      return reject(`WKT: ${error.data.detail}.${hint === undefined ? '' : ` ${hint}.`}`)
    }
  }
  return readPairs(trimmed)
}

function readJson(text: string): ReadText {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text)
  } catch (error) {
    return reject(`The text is not valid JSON: ${(error as Error).message}`)
  }
  if (typeof value['uid'] === 'string') return { ok: true, input: { uid: value['uid'] }, form: 'Attestation UID' }
  if ('attestation' in value) return { ok: true, input: value as unknown as Input, form: 'Off-chain attestation' }
  if ('sig' in value && 'signer' in value)
    return { ok: true, input: { attestation: value } as unknown as Input, form: 'Off-chain attestation' }
  if ('verifiedProof' in value) return { ok: true, input: value as unknown as Input, form: 'Verified proof' }
  if ('credibility' in value && 'proof' in value) {
    return { ok: true, input: { verifiedProof: value } as unknown as Input, form: 'Verified proof' }
  }
  if (value['type'] === 'FeatureCollection') {
    const features = Array.isArray(value['features']) ? value['features'] : []
    if (features.length === 1) return checkGeometry(features[0]?.geometry, 'GeoJSON')
    return reject(
      `A FeatureCollection of ${features.length} features cannot be one input. Paste one feature, or a GeometryCollection.`,
    )
  }
  return checkGeometry(value['type'] === 'Feature' ? value['geometry'] : value, 'GeoJSON')
}

/** Reads lines of `longitude, latitude` as a line, or as a polygon if the last position equals the first. */
function readPairs(text: string): ReadText {
  const lines = text.split(/[\n;]+/).filter((line) => line.trim() !== '')
  const positions: [number, number][] = []
  for (const [index, line] of lines.entries()) {
    const numbers = line
      .trim()
      .split(/[\s,]+/)
      .map(parseDecimal)
    if (numbers.length !== 2 || numbers.includes(undefined))
      return reject(`Line ${index + 1} is not longitude, latitude: “${line.trim().slice(0, 40)}”.`)
    positions.push(numbers as [number, number])
  }
  const [first, last] = [positions[0]!, positions.at(-1)!]
  const isClosed = positions.length >= 4 && first[0] === last[0] && first[1] === last[1]
  return isClosed
    ? checkGeometry({ type: 'Polygon', coordinates: [positions] }, 'longitude, latitude on each line')
    : checkGeometry({ type: 'LineString', coordinates: positions }, 'longitude, latitude on each line')
}

function checkGeometry(value: unknown, form: string): ReadText {
  const read = checkShape(value)
  if (read.ok) return { ok: true, input: read.geometry as Geometry, form }
  const hint = /latitude/.test(read.reason) ? ' The order is longitude, latitude.' : ''
  return reject(`This ${read.reason}.${hint}`)
}

function reject(reason: string): ReadText {
  return { ok: false, reason }
}
