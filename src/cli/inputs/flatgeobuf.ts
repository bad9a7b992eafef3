/**
 * Reads FlatGeobuf. Its own library would bring a map library of 20 MB into every installation, as an optional dependency of it.
 *
 * @see https://flatgeobuf.org
 */
import type { SetFeature } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'

/** `fgb` and the major version of the specification. `fgb` and the patch follow. */
const MAGIC = [0x66, 0x67, 0x62, 3]
const HEADER_POSITION = 8
const SIZE_BYTES = 4
const INDEX_NODE_BYTES = 40
const DEFAULT_NODE_SIZE = 16
const MAX_DEPTH = 32

/** Numbers of the fields that are read. */
const HEADER = { geometryType: 2, columns: 7, featuresCount: 8, indexNodeSize: 9, crs: 10 }
const COLUMN = { name: 0, type: 1 }
const CRS = { org: 0, code: 1, wkt: 4, codeString: 5 }
const FEATURE = { geometry: 0, properties: 1, columns: 2 }
const GEOMETRY = { ends: 0, xy: 1, z: 2, type: 6, parts: 7 }

const TYPES = [
  undefined,
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
] as const
const POLYGON = TYPES.indexOf('Polygon')
/** WGS 84 in two and in three dimensions. FlatGeobuf has the longitude first, whatever the reference system says. */
const WGS84 = ['EPSG:4326', 'EPSG:4979', 'OGC:CRS84', 'OGC:CRS84H']

type Position = number[]

interface Column {
  readonly name: string
  readonly type: number
}

export function isFlatGeobuf(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte)
}

/**
 * Reads all features of a file, with or without an index. They have no `id`: FlatGeobuf has none.
 *
 * @param name name of the file, for messages
 * @throws {CommandError} if the file is damaged, has another reference system than WGS 84, or curves
 */
export function readFlatGeobuf(bytes: Uint8Array, name: string): SetFeature[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const features: SetFeature[] = []
  let place = 'the header'
  try {
    const header = rootTable(view, HEADER_POSITION)
    requireWgs84(header.table(HEADER.crs), name)
    const columns = readColumns(header, HEADER.columns)
    const geometryType = header.byte(HEADER.geometryType)
    const count = header.long(HEADER.featuresCount)
    let position = HEADER_POSITION + sizeAt(view, HEADER_POSITION) + indexBytes(header, count)
    while (position < bytes.byteLength) {
      place = `feature ${features.length + 1}`
      const feature = rootTable(view, position)
      features.push(readFeature(feature, geometryType, columns))
      position += sizeAt(view, position)
    }
    // A file that was written as a stream says 0.
    if (count !== 0 && features.length !== count) throw new RangeError(`it has ${features.length} of ${count} features`)
  } catch (error) {
    if (error instanceof UnreadableFeature) throw usage(`${name}: ${place}: ${error.message}`)
    if (error instanceof RangeError || error instanceof SyntaxError)
      throw usage(`${name}: ${place}: the file is damaged or cut off: ${error.message}`, error)
    throw error
  }
  return features
}

class UnreadableFeature extends Error {}

/** One table of FlatBuffers. Reading outside of the file throws a `RangeError`. */
class Table {
  readonly view: DataView
  readonly #position: number
  readonly #fields: number
  readonly #fieldsEnd: number

  constructor(view: DataView, position: number) {
    this.view = view
    this.#position = position
    this.#fields = position - view.getInt32(position, true)
    this.#fieldsEnd = this.#fields + view.getUint16(this.#fields, true)
  }

  byte(field: number): number {
    const at = this.#find(field)
    return at === undefined ? 0 : this.view.getUint8(at)
  }

  short(field: number, absent: number): number {
    const at = this.#find(field)
    return at === undefined ? absent : this.view.getUint16(at, true)
  }

  integer(field: number): number {
    const at = this.#find(field)
    return at === undefined ? 0 : this.view.getInt32(at, true)
  }

  long(field: number): number {
    const at = this.#find(field)
    return at === undefined ? 0 : Number(this.view.getBigUint64(at, true))
  }

  table(field: number): Table | undefined {
    const at = this.#find(field)
    return at === undefined ? undefined : new Table(this.view, follow(this.view, at))
  }

  tables(field: number): Table[] {
    const { start, length } = this.vector(field, 4)
    return Array.from({ length }, (_, index) => new Table(this.view, follow(this.view, start + 4 * index)))
  }

  text(field: number): string | undefined {
    if (this.#find(field) === undefined) return undefined
    const { start, length } = this.vector(field, 1)
    return textAt(this.view, start, length)
  }

  integers(field: number): number[] {
    const { start, length } = this.vector(field, 4)
    return Array.from({ length }, (_, index) => this.view.getUint32(start + 4 * index, true))
  }

  doubles(field: number): number[] {
    const { start, length } = this.vector(field, 8)
    return Array.from({ length }, (_, index) => this.view.getFloat64(start + 8 * index, true))
  }

  /** Finds the elements of a vector, which are within the file. */
  vector(field: number, elementBytes: number): { readonly start: number; readonly length: number } {
    const at = this.#find(field)
    if (at === undefined) return { start: 0, length: 0 }
    const vector = follow(this.view, at)
    const length = this.view.getUint32(vector, true)
    const start = vector + SIZE_BYTES
    requireWithin(this.view, start, length * elementBytes)
    return { start, length }
  }

  /** @returns the position of a field, undefined if the table does not have it */
  #find(field: number): number | undefined {
    const entry = this.#fields + 4 + 2 * field
    const offset = entry < this.#fieldsEnd ? this.view.getUint16(entry, true) : 0
    return offset === 0 ? undefined : this.#position + offset
  }
}

function follow(view: DataView, at: number): number {
  return at + view.getUint32(at, true)
}

function requireWithin(view: DataView, start: number, bytes: number): void {
  if (start + bytes > view.byteLength) throw new RangeError('a part of it is missing')
}

/** Returns the bytes of a table at the top, with its size before it. */
function sizeAt(view: DataView, position: number): number {
  const bytes = SIZE_BYTES + view.getUint32(position, true)
  requireWithin(view, position, bytes)
  return bytes
}

function rootTable(view: DataView, position: number): Table {
  sizeAt(view, position)
  return new Table(view, follow(view, position + SIZE_BYTES))
}

/** Returns the bytes of the packed R-tree between header and features. */
function indexBytes(header: Table, count: number): number {
  const nodeSize = header.short(HEADER.indexNodeSize, DEFAULT_NODE_SIZE)
  if (nodeSize < 2 || count === 0) return 0
  let nodes = count
  let level = count
  do {
    level = Math.ceil(level / nodeSize)
    nodes += level
  } while (level > 1)
  return nodes * INDEX_NODE_BYTES
}

function requireWgs84(crs: Table | undefined, name: string): void {
  const code = crs?.integer(CRS.code) ?? 0
  const text = crs?.text(CRS.codeString)
  if (crs === undefined || (code === 0 && text === undefined && crs.text(CRS.wkt) === undefined)) return
  const system = `${crs.text(CRS.org) ?? 'EPSG'}:${code === 0 ? (text ?? 'unknown') : code}`
  if (WGS84.includes(system.toUpperCase())) return
  const remedy = `ogr2ogr -t_srs EPSG:4326 wgs84.fgb ${name}`
  throw usage(`${name}: has the reference system ${system}, and only WGS 84 is read; convert it: ${remedy}`)
}

function readColumns(table: Table, field: number): Column[] {
  return table.tables(field).map((column) => ({ name: column.text(COLUMN.name) ?? '', type: column.byte(COLUMN.type) }))
}

function readFeature(feature: Table, headerType: number, columns: readonly Column[]): SetFeature {
  const geometry = feature.table(FEATURE.geometry)
  if (geometry === undefined) throw new UnreadableFeature('has no geometry')
  const own = readColumns(feature, FEATURE.columns)
  return {
    type: 'Feature',
    geometry: readGeometry(geometry, headerType, 0) as SetFeature['geometry'],
    properties: readProperties(feature, own.length > 0 ? own : columns),
  }
}

/** @param givenType type that the header or the parent gives; 0 if the geometry has its own */
function readGeometry(geometry: Table, givenType: number, depth: number): object {
  const number = givenType === 0 ? geometry.byte(GEOMETRY.type) : givenType
  const type = TYPES[number]
  if (type === undefined)
    throw new UnreadableFeature(`has a curve or surface (type ${number}); ogr2ogr -nlt CONVERT_TO_LINEAR converts it`)
  if (depth > MAX_DEPTH) throw new UnreadableFeature(`has collections in collections, more than ${MAX_DEPTH} deep`)
  const partType = type === 'MultiPolygon' ? POLYGON : 0
  const parts = () => geometry.tables(GEOMETRY.parts).map((part) => readGeometry(part, partType, depth + 1))
  switch (type) {
    case 'GeometryCollection':
      return { type, geometries: parts() }
    case 'MultiPolygon':
      return { type, coordinates: parts().map((part) => (part as { coordinates: unknown }).coordinates) }
    case 'Point':
      return { type, coordinates: readPositions(geometry)[0] ?? [] }
    case 'LineString':
    case 'MultiPoint':
      return { type, coordinates: readPositions(geometry) }
    default:
      return { type, coordinates: splitAt(readPositions(geometry), geometry.integers(GEOMETRY.ends)) }
  }
}

function readPositions(geometry: Table): Position[] {
  const xy = geometry.doubles(GEOMETRY.xy)
  const heights = geometry.doubles(GEOMETRY.z)
  return Array.from({ length: xy.length >> 1 }, (_, index) => {
    const height = heights[index]
    const position = [xy[2 * index]!, xy[2 * index + 1]!]
    return height === undefined || Number.isNaN(height) ? position : [...position, height]
  })
}

/** @param ends the end of each line; none if there is one line */
function splitAt(positions: readonly Position[], ends: readonly number[]): Position[][] {
  if (ends.length === 0) return [[...positions]]
  if (ends.at(-1) !== positions.length) throw new RangeError('its lines do not end with its positions')
  return ends.map((end, index) => positions.slice(ends[index - 1] ?? 0, end))
}

/** Reads values, each after the number of its column. Integers beyond 2^53 become text, so that no digit is lost. */
function readProperties(feature: Table, columns: readonly Column[]): Record<string, unknown> {
  const { view } = feature
  const { start, length } = feature.vector(FEATURE.properties, 1)
  const end = start + length
  const properties: Record<string, unknown> = {}
  let at = start
  while (at < end) {
    const column = columns[view.getUint16(at, true)]
    if (column === undefined) throw new RangeError('a value has no column')
    const [value, bytes] = readValue(view, at + 2, column.type)
    // A column may be called `__proto__`.
    Object.defineProperty(properties, column.name, { value, enumerable: true, writable: true, configurable: true })
    at += 2 + bytes
  }
  return properties
}

/** @returns the value and its number of bytes */
function readValue(view: DataView, at: number, type: number): readonly [value: unknown, bytes: number] {
  switch (type) {
    case 0:
      return [view.getInt8(at), 1]
    case 1:
      return [view.getUint8(at), 1]
    case 2:
      return [view.getUint8(at) !== 0, 1]
    case 3:
      return [view.getInt16(at, true), 2]
    case 4:
      return [view.getUint16(at, true), 2]
    case 5:
      return [view.getInt32(at, true), 4]
    case 6:
      return [view.getUint32(at, true), 4]
    case 7:
      return [numberOrText(view.getBigInt64(at, true)), 8]
    case 8:
      return [numberOrText(view.getBigUint64(at, true)), 8]
    case 9:
      return [finiteOrNull(view.getFloat32(at, true)), 4]
    case 10:
      return [finiteOrNull(view.getFloat64(at, true)), 8]
  }
  const bytes = view.getUint32(at, true)
  const start = at + SIZE_BYTES
  requireWithin(view, start, bytes)
  return [readLongValue(view, start, bytes, type), SIZE_BYTES + bytes]
}

/** Reads text, JSON, a time, or binary data, which becomes base64. */
function readLongValue(view: DataView, start: number, bytes: number, type: number): unknown {
  if (type === 14) return Buffer.from(view.buffer, view.byteOffset + start, bytes).toString('base64')
  if (type < 11 || type > 14) throw new RangeError(`a column has the unknown type ${type}`)
  const text = textAt(view, start, bytes)
  return type === 12 ? JSON.parse(text) : text
}

function textAt(view: DataView, start: number, bytes: number): string {
  return Buffer.from(view.buffer, view.byteOffset + start, bytes).toString('utf8')
}

function numberOrText(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** JSON has neither NaN nor infinity. */
function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
