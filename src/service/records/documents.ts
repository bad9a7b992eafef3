import { setImmediate } from 'node:timers/promises'
import type { RecordKey } from '../../wire/store-messages.ts'

/** Nesting depth of the positions in `coordinates`. */
const DEPTHS: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}
const MAX_COLLECTION_DEPTH = 8

/** Splits the comma-separated records that the store returns. */
export function splitDocuments(documents: string): readonly string[] {
  if (documents === '') return []
  // Quotes inside values are escaped, so this text can only be the beginning of a record.
  return documents
    .slice(DOCUMENT_START.length)
    .split(`,${DOCUMENT_START}`)
    .map((remainder) => DOCUMENT_START + remainder)
}

/**
 * Returns the sort key of the last of several documents.
 *
 * @param documents JSON, or its UTF-8 bytes
 * @param idsByName chain ids by name
 */
export function lastKey(documents: string | Buffer, idsByName: ReadonlyMap<string, number>): RecordKey {
  const start = documents.lastIndexOf(DOCUMENT_START)
  const last = typeof documents === 'string' ? documents.slice(start) : documents.toString('utf8', start)
  const { uid, chain, timestamp } = JSON.parse(last)
  return {
    uid,
    chainId: idsByName.get(chain) ?? Number(chain.replace('chain-', '')),
    timeSeconds: Date.parse(timestamp) / 1000,
  }
}

const DOCUMENT_START = '{"uid":"'
const LOCATION = ',"location":'
const LONGITUDE = ',"longitude":'

/**
 * Returns a record as a GeoJSON Feature: its UID is the id, and everything except the location is in the properties.
 *
 * @param document the record as JSON
 * @param more further members of the Feature, as JSON that begins with a comma
 */
export function featureText(document: string, more = ''): string {
  const start = document.indexOf(LOCATION)
  const end = document.indexOf(LONGITUDE, start)
  const location = JSON.parse(document.slice(start + LOCATION.length, end)) as string
  const uid = document.slice(DOCUMENT_START.length, document.indexOf('"', DOCUMENT_START.length))
  const properties = document.slice(0, start) + document.slice(end)
  return `{"type":"Feature","id":"${uid}","geometry":${geometryJson(location)},"properties":${properties}${more}}`
}

/** UTF-16 code units converted at a time. This takes a few milliseconds, during which no other request is served. */
const MAX_UNITS_AT_ONCE = 131_072

/** Returns the features of a page, joined with commas. Yields to other requests in between. */
export async function featureTexts(documents: string): Promise<string> {
  const features: string[] = []
  let units = 0
  for (const document of splitDocuments(documents)) {
    features.push(featureText(document))
    units += document.length
    if (units < MAX_UNITS_AT_ONCE) continue
    units = 0
    await setImmediate()
  }
  return features.join(',')
}

/** Returns the location as JSON if it is a GeoJSON geometry, otherwise `null`: any text can be attested as a location. */
function geometryJson(location: string): string {
  try {
    return JSON.stringify(readGeometry(JSON.parse(location), 0) ?? null)
  } catch {
    return 'null'
  }
}

function readGeometry(value: unknown, depth: number): object | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_COLLECTION_DEPTH) return undefined
  const { type, coordinates, geometries } = value as Record<string, unknown>
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const members = geometries.map((member) => readGeometry(member, depth + 1))
    return members.includes(undefined) ? undefined : { type, geometries: members }
  }
  const positionDepth = typeof type === 'string' && Object.hasOwn(DEPTHS, type) ? DEPTHS[type] : undefined
  return positionDepth !== undefined && arePositions(coordinates, positionDepth) ? { type, coordinates } : undefined
}

function arePositions(value: unknown, depth: number): boolean {
  if (!Array.isArray(value)) return false
  if (depth > 0) return value.every((member) => arePositions(member, depth - 1))
  return value.length >= 2 && value.length <= 4 && value.every((number) => typeof number === 'number')
}
