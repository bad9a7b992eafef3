import { Builder } from 'flatbuffers'
import type { LocationRecord, Position } from '../../../types/generated.ts'
import { type Geometry, parseGeometry } from '../documents.ts'
import { COLUMNS, type ColumnKind, type ExportWriter, parseUniformGeometry } from './export-writer.ts'

/** `fgb`, the major version of the specification, `fgb`, and the patch. */
const MAGIC = Uint8Array.of(0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 0)
/** WGS 84. FlatGeobuf has the longitude first, whatever the reference system says. */
const EPSG_CODE = 4326
const PIECE_BYTES = 65_536

/**
 * The tables of FlatGeobuf that are written here: how many fields each has, and the numbers of those that are used.
 *
 * @see https://github.com/flatgeobuf/flatgeobuf/tree/master/src/fbs
 */
const HEADER = {
  fields: 14,
  name: 0,
  geometryType: 2,
  hasZ: 3,
  columns: 7,
  featuresCount: 8,
  indexNodeSize: 9,
  crs: 10,
}
const COLUMN = { fields: 11, name: 0, type: 1, nullable: 7 }
const CRS = { fields: 6, org: 0, code: 1 }
const FEATURE = { fields: 3, geometry: 0, properties: 1 }
const GEOMETRY = { fields: 8, ends: 0, xy: 1, z: 2, type: 6, parts: 7 }

const COLUMN_TYPES: Readonly<Record<ColumnKind, number>> = { boolean: 2, number: 10, text: 11, list: 12, time: 13 }
const UNKNOWN = 0
const GEOMETRY_TYPES: Readonly<Record<string, number>> = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
}

/**
 * Writes FlatGeobuf as a stream: the header says that the number of features is unknown and that there is no index, and each
 * feature is complete in itself.
 *
 * The header also says whether every position has a height, and it is written before any record is read. GDAL drops all heights if
 * it says no, and rejects a position without a height if it says yes. So there are two forms of the file: one has heights where the
 * records have them, and its header says no; in the other one, each position has a height, 0 where the record has none.
 *
 * @see https://flatgeobuf.org
 */
export class FlatGeobufWriter implements ExportWriter {
  readonly #builder = new Builder(4096)
  readonly #hasHeights: boolean
  #isBegun = false

  /** @param options `hasHeights`: each position has a height, and the header says so */
  constructor({ hasHeights } = { hasHeights: false }) {
    this.#hasHeights = hasHeights
  }

  *write(documents: readonly string[]): Generator<Uint8Array, void, undefined> {
    let parts: Uint8Array[] = []
    let bytes = 0
    for (const document of documents) {
      const feature = this.#feature(JSON.parse(document))
      parts.push(feature)
      bytes += feature.length
      if (bytes < PIECE_BYTES) continue
      yield join([...this.#begin(), ...parts])
      parts = []
      bytes = 0
    }
    if (bytes > 0) yield join([...this.#begin(), ...parts])
  }

  *end(): Generator<Uint8Array, void, undefined> {
    if (!this.#isBegun) yield join(this.#begin())
  }

  /** Returns the beginning of the file, once. */
  #begin(): Uint8Array[] {
    if (this.#isBegun) return []
    this.#isBegun = true
    return [MAGIC, encodeHeader(this.#builder, this.#hasHeights)]
  }

  #feature(record: LocationRecord): Uint8Array {
    const builder = this.#builder
    start(builder)
    const geometry = this.#hasHeights
      ? parseGeometry(record.location, ([longitude, latitude, height = 0]) => [longitude!, latitude!, height])
      : parseUniformGeometry(record.location)
    const geometryOffset = geometry === undefined ? 0 : addGeometry(builder, geometry)
    const propertiesOffset = builder.createByteVector(encodeProperties(record))
    builder.startObject(FEATURE.fields)
    builder.addFieldOffset(FEATURE.geometry, geometryOffset, 0)
    builder.addFieldOffset(FEATURE.properties, propertiesOffset, 0)
    return finish(builder, builder.endObject())
  }
}

function encodeHeader(builder: Builder, hasHeights: boolean): Uint8Array {
  start(builder)
  const columns = COLUMNS.map(({ name, kind, isNullable = false }) => {
    const nameOffset = builder.createString(name)
    builder.startObject(COLUMN.fields)
    builder.addFieldOffset(COLUMN.name, nameOffset, 0)
    builder.addFieldInt8(COLUMN.type, COLUMN_TYPES[kind], 0)
    builder.addFieldInt8(COLUMN.nullable, isNullable ? 1 : 0, 1)
    return builder.endObject()
  })
  const columnsOffset = addOffsets(builder, columns)
  const nameOffset = builder.createString('location-records')
  const organisationOffset = builder.createString('EPSG')
  builder.startObject(CRS.fields)
  builder.addFieldOffset(CRS.org, organisationOffset, 0)
  builder.addFieldInt32(CRS.code, EPSG_CODE, 0)
  const crsOffset = builder.endObject()
  builder.startObject(HEADER.fields)
  builder.addFieldOffset(HEADER.name, nameOffset, 0)
  builder.addFieldInt8(HEADER.geometryType, UNKNOWN, UNKNOWN) // each feature has its own
  builder.addFieldInt8(HEADER.hasZ, hasHeights ? 1 : 0, 0)
  builder.addFieldOffset(HEADER.columns, columnsOffset, 0)
  builder.addFieldInt64(HEADER.featuresCount, 0n, 0n) // unknown
  builder.addFieldInt16(HEADER.indexNodeSize, 0, 16) // no index
  builder.addFieldOffset(HEADER.crs, crsOffset, 0)
  return finish(builder, builder.endObject())
}

/** Starts a table whose size will be a multiple of 8 bytes, so that readers find aligned doubles in the tables after it. */
function start(builder: Builder): void {
  builder.clear()
  builder.prep(8, 0)
}

/** Returns a copy of the table with its size before it; the builder is used again. */
function finish(builder: Builder, offset: number): Uint8Array {
  builder.finishSizePrefixed(offset)
  return builder.asUint8Array().slice()
}

/** Lists the lines of a geometry: rings, or one line of all positions. */
const LINES: Readonly<Record<string, (coordinates: readonly unknown[]) => readonly unknown[]>> = {
  Point: (position) => [[position]],
  MultiPoint: (positions) => [positions],
  LineString: (positions) => [positions],
  MultiLineString: (lines) => lines,
  Polygon: (rings) => rings,
}

/** Adds a geometry. @returns its offset; 0 if it has no position, because FlatGeobuf has no empty geometries */
function addGeometry(builder: Builder, geometry: Geometry): number {
  const { type } = geometry
  const lines = LINES[type]
  return lines === undefined
    ? addParts(builder, type, partsOf(geometry))
    : addLines(builder, type, lines((geometry as { coordinates: readonly unknown[] }).coordinates))
}

function partsOf(geometry: Geometry): readonly Geometry[] {
  if ('geometries' in geometry) return geometry.geometries
  return geometry.coordinates.map((rings) => ({ type: 'Polygon', coordinates: rings as readonly unknown[] }))
}

function addParts(builder: Builder, type: string, parts: readonly Geometry[]): number {
  const offsets = parts.map((part) => addGeometry(builder, part)).filter((offset) => offset !== 0)
  if (offsets.length === 0) return 0
  const partsOffset = addOffsets(builder, offsets)
  builder.startObject(GEOMETRY.fields)
  builder.addFieldInt8(GEOMETRY.type, GEOMETRY_TYPES[type]!, UNKNOWN)
  builder.addFieldOffset(GEOMETRY.parts, partsOffset, 0)
  return builder.endObject()
}

function addLines(builder: Builder, type: string, lines: readonly unknown[]): number {
  const [xy, heights, ends]: [number[], number[], number[]] = [[], [], []]
  for (const line of lines as readonly (readonly Position[])[]) {
    for (const [longitude, latitude, height] of line) {
      xy.push(longitude, latitude)
      if (height !== undefined) heights.push(height)
    }
    ends.push(xy.length / 2)
  }
  if (xy.length === 0) return 0
  const xyOffset = addDoubles(builder, xy)
  const heightsOffset = heights.length === 0 ? 0 : addDoubles(builder, heights)
  const endsOffset = ends.length > 1 || type === 'MultiLineString' ? addIntegers(builder, ends) : 0
  builder.startObject(GEOMETRY.fields)
  builder.addFieldInt8(GEOMETRY.type, GEOMETRY_TYPES[type]!, UNKNOWN)
  builder.addFieldOffset(GEOMETRY.xy, xyOffset, 0)
  builder.addFieldOffset(GEOMETRY.z, heightsOffset, 0)
  builder.addFieldOffset(GEOMETRY.ends, endsOffset, 0)
  return builder.endObject()
}

// A vector is built from its end, as all of FlatBuffers.

function addDoubles(builder: Builder, values: readonly number[]): number {
  builder.startVector(8, values.length, 8)
  for (let index = values.length - 1; index >= 0; index--) builder.addFloat64(values[index]!)
  return builder.endVector()
}

function addIntegers(builder: Builder, values: readonly number[]): number {
  builder.startVector(4, values.length, 4)
  for (let index = values.length - 1; index >= 0; index--) builder.addInt32(values[index]!)
  return builder.endVector()
}

function addOffsets(builder: Builder, offsets: readonly number[]): number {
  builder.startVector(4, offsets.length, 4)
  for (let index = offsets.length - 1; index >= 0; index--) builder.addOffset(offsets[index]!)
  return builder.endVector()
}

const encoder = new TextEncoder()

/** Encodes the properties of a feature: the index of the column and its value, for each value that is not null. */
function encodeProperties(record: LocationRecord): Uint8Array {
  const parts: Uint8Array[] = []
  COLUMNS.forEach(({ name, kind }, index) => {
    const value = record[name]
    if (value === null) return
    parts.push(Uint8Array.of(index, 0)) // 16 bits, little-endian
    if (typeof value === 'boolean') parts.push(Uint8Array.of(value ? 1 : 0))
    else if (typeof value === 'number') parts.push(new Uint8Array(Float64Array.of(value).buffer))
    else {
      const text = encoder.encode(kind === 'list' ? JSON.stringify(value) : (value as string))
      parts.push(new Uint8Array(Uint32Array.of(text.length).buffer), text)
    }
  })
  return join(parts)
}

/** Joins bytes in a buffer of their own, as sinks require. `Buffer.concat` would take it from Node.js' pool. */
function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((bytes, { length }) => bytes + length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}
