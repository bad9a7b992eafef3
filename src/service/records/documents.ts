import { setImmediate } from 'node:timers/promises'
import type { CostMeter } from '../../base/cost.ts'
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

/** Converts a position into another reference system. Undefined: positions stay as they are. */
export type PositionConverter = ((position: readonly number[]) => readonly number[]) | undefined

/**
 * Returns a record as a GeoJSON Feature: its UID is the id, and everything except the location is in the properties.
 *
 * @param document the record as JSON
 * @param more further members of the Feature, as JSON that begins with a comma
 */
export function featureText(document: string, more = '', convert?: PositionConverter): string {
  const [start, end] = findLocation(document)
  const location = readLocation(document)
  const uid = document.slice(DOCUMENT_START.length, document.indexOf('"', DOCUMENT_START.length))
  const properties = document.slice(0, start) + document.slice(end)
  return `{"type":"Feature","id":"${uid}","geometry":${geometryJson(location, convert)},"properties":${properties}${more}}`
}

/** Returns the location of a record: the text of a geometry. */
export function readLocation(document: string): string {
  const [start, end] = findLocation(document)
  return JSON.parse(document.slice(start + LOCATION.length, end)) as string
}

/** Returns where the member with the location starts and ends. */
function findLocation(document: string): readonly [start: number, end: number] {
  const start = document.indexOf(LOCATION)
  return [start, document.indexOf(LONGITUDE, start)]
}

/** UTF-16 code units converted at a time. This takes a few milliseconds, during which no other request is served. */
const MAX_UNITS_AT_ONCE = 131_072

/**
 * Returns the features of a page, joined with commas. Yields to other requests in between.
 *
 * @param costs takes the time without these pauses
 */
export async function featureTexts(
  documents: string,
  convert: PositionConverter,
  costs: CostMeter | undefined,
): Promise<string> {
  const features: string[] = []
  let units = 0
  let beginMs = performance.now()
  for (const document of splitDocuments(documents)) {
    features.push(featureText(document, '', convert))
    units += document.length
    if (units < MAX_UNITS_AT_ONCE) continue
    units = 0
    costs?.charge('cpu-ms', performance.now() - beginMs)
    await setImmediate()
    beginMs = performance.now()
  }
  const text = features.join(',')
  costs?.charge('cpu-ms', performance.now() - beginMs)
  return text
}

/** Returns the location as JSON if it is a GeoJSON geometry, otherwise `null`: any text can be attested as a location. */
function geometryJson(location: string, convert: PositionConverter): string {
  return JSON.stringify(parseGeometry(location, convert) ?? null)
}

/** A GeoJSON geometry without foreign members. */
export type Geometry =
  | { readonly type: string; readonly coordinates: readonly unknown[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

/** Parses a location; undefined if it is not a GeoJSON geometry. */
export function parseGeometry(location: string, convert?: PositionConverter): Geometry | undefined {
  try {
    return readGeometry(JSON.parse(location), 0, convert)
  } catch {
    return undefined
  }
}

function readGeometry(value: unknown, depth: number, convert: PositionConverter): Geometry | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_COLLECTION_DEPTH) return undefined
  const { type, coordinates, geometries } = value as Record<string, unknown>
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const members = geometries.map((member) => readGeometry(member, depth + 1, convert))
    return members.includes(undefined) ? undefined : { type, geometries: members as Geometry[] }
  }
  if (typeof type !== 'string' || !Object.hasOwn(DEPTHS, type)) return undefined
  const positionDepth = DEPTHS[type]!
  if (!arePositions(coordinates, positionDepth)) return undefined
  return { type, coordinates: convert === undefined ? coordinates : convertAll(coordinates, positionDepth, convert) }
}

function convertAll(
  coordinates: readonly unknown[],
  depth: number,
  convert: NonNullable<PositionConverter>,
): readonly unknown[] {
  if (depth === 0) return convert(coordinates as readonly number[])
  return coordinates.map((member) => convertAll(member as readonly unknown[], depth - 1, convert))
}

function arePositions(value: unknown, depth: number): value is readonly unknown[] {
  if (!Array.isArray(value)) return false
  if (depth > 0) return value.every((member) => arePositions(member, depth - 1))
  return value.length >= 2 && value.length <= 4 && value.every((number) => typeof number === 'number')
}
