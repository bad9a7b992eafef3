import { setImmediate } from 'node:timers/promises'
import type { RecordKey } from '../store-messages.ts'

/** Depth of the positions in `coordinates`. */
const DEPTHS: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}
const MAX_COLLECTION_DEPTH = 8

/** Takes records apart that the store gave joined with commas. */
export function splitDocuments(documents: string): readonly string[] {
  if (documents === '') return []
  // Quotes within values are escaped, so this is the beginning of a record and nothing else.
  return documents
    .slice(BEGIN.length)
    .split(`,${BEGIN}`)
    .map((rest) => BEGIN + rest)
}

/**
 * The place of the last of several documents in the order of lists.
 *
 * @param documents text, or its UTF-8
 * @param idsByName chains of this deployment
 */
export function lastKey(documents: string | Buffer, idsByName: ReadonlyMap<string, number>): RecordKey {
  const start = documents.lastIndexOf(BEGIN)
  const last = typeof documents === 'string' ? documents.slice(start) : documents.toString('utf8', start)
  const { uid, chain, timestamp } = JSON.parse(last)
  return {
    uid,
    chainId: idsByName.get(chain) ?? Number(chain.replace('chain-', '')),
    timeSeconds: Date.parse(timestamp) / 1000,
  }
}

const BEGIN = '{"uid":"'
const LOCATION = ',"location":'
const LONGITUDE = ',"longitude":'

/**
 * A record as a GeoJSON Feature: its uid is the id, everything but the location its properties.
 *
 * @param document the record as JSON text
 * @param more further members of the Feature, as JSON text that begins with a comma
 */
export function featureText(document: string, more = ''): string {
  const start = document.indexOf(LOCATION)
  const end = document.indexOf(LONGITUDE, start)
  const location = JSON.parse(document.slice(start + LOCATION.length, end)) as string
  const uid = document.slice(BEGIN.length, document.indexOf('"', BEGIN.length))
  const properties = document.slice(0, start) + document.slice(end)
  return `{"type":"Feature","id":"${uid}","geometry":${geometryText(location)},"properties":${properties}${more}}`
}

/** UTF-16 units made into features in one go: a few milliseconds, in which nobody else is answered. */
const UNITS_AT_ONCE = 131_072

/** Features of a page, joined with commas; others are answered meanwhile. */
export async function featureTexts(documents: string): Promise<string> {
  const features: string[] = []
  let units = 0
  for (const document of splitDocuments(documents)) {
    features.push(featureText(document))
    units += document.length
    if (units < UNITS_AT_ONCE) continue
    units = 0
    await setImmediate()
  }
  return features.join(',')
}

/** What was attested as a location may be any text: it is shown when it is a GeoJSON geometry, else there is none. */
function geometryText(location: string): string {
  try {
    return JSON.stringify(geometryOf(JSON.parse(location), 0) ?? null)
  } catch {
    return 'null'
  }
}

function geometryOf(value: unknown, depth: number): object | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_COLLECTION_DEPTH) return undefined
  const { type, coordinates, geometries } = value as Record<string, unknown>
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const members = geometries.map((member) => geometryOf(member, depth + 1))
    return members.includes(undefined) ? undefined : { type, geometries: members }
  }
  const positions = typeof type === 'string' && Object.hasOwn(DEPTHS, type) ? DEPTHS[type] : undefined
  return positions !== undefined && arePositions(coordinates, positions) ? { type, coordinates } : undefined
}

function arePositions(value: unknown, depth: number): boolean {
  if (!Array.isArray(value)) return false
  if (depth > 0) return value.every((member) => arePositions(member, depth - 1))
  return value.length >= 2 && value.length <= 4 && value.every((number) => typeof number === 'number')
}
