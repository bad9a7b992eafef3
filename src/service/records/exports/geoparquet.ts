import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writeWkb } from '../../../geometry/wkb.ts'
import type { Geometry as GeoJson, LocationRecord } from '../../../types/generated.ts'
import type { Geometry } from '../documents.ts'
import { COLUMNS, type Column, type ColumnKind, type ExportWriter, parseUniformGeometry } from './export-writer.ts'

/** Records of a row group. Each column of a group is written at once; that of the UIDs takes the longest, about 10 ms. */
const GROUP_RECORDS = 4000
/** UTF-16 code units of JSON text after which a row group ends before it has all its records. */
const GROUP_UNITS = 4_194_304

/** UTF-16 code units of JSON text that are parsed at once, which takes a few milliseconds. */
const PIECE_UNITS = 131_072
const NOTHING_YET = new Uint8Array(0)

/** Columns with statistics, by which readers skip row groups. Those of all columns would double the end of the file. */
const INDEXED = ['chain', 'timestamp', 'event_timestamp', 'longitude', 'latitude']

type SchemaElement = NonNullable<ConstructorParameters<typeof ParquetWriter>[0]['schema']>[number]

/** Both annotations: older readers know only the first one. */
const TIME = {
  converted_type: 'TIMESTAMP_MILLIS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const

/** The Parquet type of a column. A list has two more elements below it, as the Parquet specification prescribes. */
const ELEMENTS: Readonly<
  Record<ColumnKind, (column: Pick<SchemaElement, 'name' | 'repetition_type'>) => SchemaElement[]>
> = {
  text: (column) => [{ ...column, ...TEXT }],
  time: (column) => [{ ...column, type: 'INT64', ...TIME }],
  number: (column) => [{ ...column, type: 'DOUBLE' }],
  boolean: (column) => [{ ...column, type: 'BOOLEAN' }],
  list: (column) => [
    { ...column, converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'REQUIRED', ...TEXT },
  ],
}

const SCHEMA: SchemaElement[] = [
  { name: 'records', num_children: COLUMNS.length + 1 },
  ...COLUMNS.flatMap(({ name, kind, isNullable }) =>
    ELEMENTS[kind]({ name, repetition_type: isNullable === true ? 'OPTIONAL' : 'REQUIRED' }),
  ),
  { name: 'geometry', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
]

/**
 * Writes GeoParquet 1.1: one column per member of a record, and `geometry` as well-known binary. The reference system is the
 * default, WGS 84 with the longitude first.
 *
 * A row group is sent when it is full. What stays in memory for each of them is its description, about 35 KB, because Parquet has
 * these at the end of the file.
 *
 * @see https://geoparquet.org/releases/v1.1.0/
 */
export class GeoParquetWriter implements ExportWriter {
  readonly #bytes = new ByteWriter()
  readonly #metadata = { key: 'geo', value: '' }
  readonly #parquet = new ParquetWriter({ writer: this.#bytes, schema: SCHEMA, kvMetadata: [this.#metadata] })
  readonly #geometryTypes = new Set<string>()
  #records: LocationRecord[] = []
  #geometries: (Uint8Array | null)[] = []
  #units = 0;

  *write(documents: readonly string[]): Generator<Uint8Array, void, undefined> {
    let units = 0
    for (const document of documents) {
      const record = JSON.parse(document) as LocationRecord
      this.#records.push(record)
      this.#geometries.push(this.#toWkb(parseUniformGeometry(record.location)))
      this.#units += document.length
      units += document.length
      if (units >= PIECE_UNITS) {
        units = 0
        yield NOTHING_YET
      }
      if (this.#records.length >= GROUP_RECORDS || this.#units >= GROUP_UNITS) yield* this.#writeGroup()
    }
  }

  *end(): Generator<Uint8Array, void, undefined> {
    if (this.#records.length > 0) yield* this.#writeGroup()
    const geometry = { encoding: 'WKB', geometry_types: [...this.#geometryTypes].sort() }
    this.#metadata.value = JSON.stringify({ version: '1.1.0', primary_column: 'geometry', columns: { geometry } })
    this.#parquet.finish()
    yield this.#takeBytes()
  }

  *#writeGroup(): Generator<Uint8Array, void, undefined> {
    const records = this.#records
    for (const column of COLUMNS) {
      const data = records.map((record) => toValue(column, record))
      yield this.#writeColumn(column.name, data)
    }
    yield this.#writeColumn('geometry', this.#geometries)
    this.#joinColumns(COLUMNS.length + 1)
    this.#records = []
    this.#geometries = []
    this.#units = 0
  }

  /** Writes a column as a row group of its own. The library has no smaller unit, and a whole group would take too long. */
  #writeColumn(name: string, data: unknown[]): Uint8Array {
    // The index of pages would stay in memory until the end, and a column of a group has few pages.
    const column = { name, data, offsetIndex: false, statistics: INDEXED.includes(name) }
    this.#parquet.write({ columnData: [column], rowGroupSize: data.length })
    return this.#takeBytes()
  }

  /** Joins the last row groups, which have one column each, into one with all columns. */
  #joinColumns(count: number): void {
    const groups = this.#parquet.row_groups.splice(-count)
    const sum = (size: (group: (typeof groups)[number]) => bigint) =>
      groups.reduce((total, group) => total + size(group), 0n)
    const rows = groups[0]!.num_rows
    this.#parquet.row_groups.push({
      columns: groups.flatMap(({ columns }) => columns),
      total_byte_size: sum((group) => group.total_byte_size),
      num_rows: rows,
      total_compressed_size: sum((group) => group.total_compressed_size ?? 0n),
    })
    this.#parquet.num_rows -= rows * BigInt(count - 1)
  }

  #toWkb(geometry: Geometry | undefined): Uint8Array | null {
    if (geometry === undefined) return null
    const wkb = writeWkb(geometry as GeoJson)
    // A code of 1001 and above has heights, which GeoParquet names after the type.
    const hasHeights = new DataView(wkb.buffer, wkb.byteOffset).getUint32(1, true) > 1000
    this.#geometryTypes.add(hasHeights ? `${geometry.type} Z` : geometry.type)
    return wkb
  }

  /** Takes what has been written since the last call. The offsets in the file go on. */
  #takeBytes(): Uint8Array {
    const taken = new Uint8Array(this.#bytes.buffer.slice(0, this.#bytes.index))
    this.#bytes.index = 0
    return taken
  }
}

function toValue({ name, kind }: Column, record: LocationRecord): unknown {
  const value = record[name]
  return kind === 'time' ? new Date(value as string) : value
}
