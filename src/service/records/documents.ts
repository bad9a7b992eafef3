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

/** Changes the properties of a feature, which are JSON. */
type PropertyChange = (properties: string) => string

/**
 * Returns a record as a GeoJSON Feature: its UID is the id, and everything except the location is in the properties.
 *
 * @param document the record as JSON
 * @param more further members of the Feature, as JSON that begins with a comma
 * @param change makes the properties from the record without its location; undefined: they are the same
 */
export function featureText(
  document: string,
  more = '',
  convert?: PositionConverter,
  change: PropertyChange = (properties) => properties,
): string {
  const [start, end] = findLocation(document)
  const geometry =
    (convert === undefined ? plainGeometry(document, start + LOCATION.length, end) : undefined) ??
    geometryJson(readLocation(document), convert)
  const uid = document.slice(DOCUMENT_START.length, document.indexOf('"', DOCUMENT_START.length))
  const properties = change(document.slice(0, start) + document.slice(end))
  return `{"type":"Feature","id":"${uid}","geometry":${geometry},"properties":${properties}${more}}`
}

/** Returns the location of a record: the text of a geometry. */
export function readLocation(document: string): string {
  const [start, end] = findLocation(document)
  return JSON.parse(document.slice(start + LOCATION.length, end)) as string
}

/** The beginning of a JSON string with a geometry as `JSON.stringify` writes it. */
const PLAIN_START = new RegExp(
  `"\\{\\\\"type\\\\":\\\\"(${Object.keys(DEPTHS).join('|')})\\\\",\\\\"coordinates\\\\":`,
  'y',
)

/**
 * Returns a geometry that needs no parsing: its coordinates are plain decimal numbers, without spaces, and no members follow them.
 * Most locations are such geometries. To parse and write them would take ten times as long.
 *
 * @param document contains the geometry as a JSON string from `start` to `end`
 * @returns undefined if the location has to be parsed
 */
function plainGeometry(document: string, start: number, end: number): string | undefined {
  PLAIN_START.lastIndex = start
  const type = PLAIN_START.exec(document)?.[1]
  if (type === undefined) return undefined
  const coordinatesStart = PLAIN_START.lastIndex
  const coordinatesEnd = plainCoordinatesEnd(document, coordinatesStart, DEPTHS[type]!)
  if (coordinatesEnd !== end - 2 || document.charCodeAt(coordinatesEnd) !== CLOSING_BRACE) return undefined
  return `{"type":"${type}","coordinates":${document.slice(coordinatesStart, end - 1)}`
}

const [COMMA, MINUS, POINT, ZERO, NINE] = [0x2c, 0x2d, 0x2e, 0x30, 0x39]
const [OPENING, CLOSING, CLOSING_BRACE] = [0x5b, 0x5d, 0x7d]

/** Returns the index after coordinates; -1 if they contain an empty array, a space or anything else that has to be parsed. */
function plainCoordinatesEnd(text: string, start: number, depth: number): number {
  let index = start
  let open = 0
  for (;;) {
    while (open <= depth) {
      if (text.charCodeAt(index++) !== OPENING) return -1
      open++
    }
    index = plainPositionEnd(text, index)
    if (index < 0) return -1
    open--
    while (open > 0 && text.charCodeAt(index) === CLOSING) {
      index++
      open--
    }
    if (open === 0) return index
    if (text.charCodeAt(index++) !== COMMA) return -1
  }
}

/** Returns the index after the bracket that ends a position of two to four plain numbers; -1 for anything else. */
function plainPositionEnd(text: string, start: number): number {
  let index = start
  for (let count = 1; count <= 4; count++) {
    index = plainNumberEnd(text, index)
    const code = text.charCodeAt(index++)
    if (code === CLOSING) return count >= 2 ? index : -1
    if (code !== COMMA) return -1
  }
  return -1
}

/** Returns the index after a number without exponent and with at most 15 digits before its point; -1 for anything else. */
function plainNumberEnd(text: string, start: number): number {
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start
  let index = digitsEnd(text, first)
  const digits = index - first
  if (digits === 0 || digits > 15 || (digits > 1 && text.charCodeAt(first) === ZERO)) return -1
  if (text.charCodeAt(index) !== POINT) return index
  const fraction = index + 1
  index = digitsEnd(text, fraction)
  return index > fraction ? index : -1
}

function digitsEnd(text: string, start: number): number {
  let index = start
  for (let code = text.charCodeAt(index); code >= ZERO && code <= NINE; code = text.charCodeAt(++index));
  return index
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
 * @param costs is charged for the time without these pauses
 * @param change as for `featureText`
 */
export async function featureTexts(
  documents: string,
  convert: PositionConverter,
  costs: CostMeter | undefined,
  change?: PropertyChange,
): Promise<string> {
  const features: string[] = []
  let units = 0
  let beginMs = performance.now()
  for (const document of splitDocuments(documents)) {
    features.push(featureText(document, '', convert, change))
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

/** The part of a feature that a list of features shows. */
export interface FeatureProperties {
  readonly id: string
  readonly properties: Readonly<Record<string, unknown>>
}

const FEATURE_START = '{"type":"Feature","id":"'
const PROPERTIES = ',"properties":'

/**
 * Returns the properties of a page of features, without parsing their geometries. Yields to other requests in between.
 *
 * @param features from `featureTexts`
 * @param costs is charged for the time without these pauses
 */
export async function featureProperties(features: string, costs: CostMeter | undefined): Promise<FeatureProperties[]> {
  const list: FeatureProperties[] = []
  let units = 0
  let beginMs = performance.now()
  // Quotes inside values are escaped, so this text can only be the beginning of a feature. A geometry has no properties.
  for (const feature of features === '' ? [] : features.slice(FEATURE_START.length).split(`,${FEATURE_START}`)) {
    const start = feature.indexOf(PROPERTIES) + PROPERTIES.length
    list.push({ id: feature.slice(0, feature.indexOf('"')), properties: JSON.parse(feature.slice(start, -1)) })
    units += feature.length - start
    if (units < MAX_UNITS_AT_ONCE) continue
    units = 0
    costs?.charge('cpu-ms', performance.now() - beginMs)
    await setImmediate()
    beginMs = performance.now()
  }
  costs?.charge('cpu-ms', performance.now() - beginMs)
  return list
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
