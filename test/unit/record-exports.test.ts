import { ByteBuffer } from 'flatbuffers'
import { Header } from 'flatgeobuf/lib/mjs/flat-geobuf/header.js'
import { parseProperties } from 'flatgeobuf/lib/mjs/generic/feature.js'
import { deserialize } from 'flatgeobuf/lib/mjs/generic/featurecollection.js'
import { fromFeature } from 'flatgeobuf/lib/mjs/geojson/feature.js'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { EXPORT_WRITERS } from '../../src/service/records/exports/export-formats.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../src/service/records/record-services.ts'
import { serializeRecord } from '../../src/store/records/writes.ts'
import type { LocationRecord } from '../../src/types/generated.ts'
import { recordOf } from '../store-records.ts'

const RING = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 0],
]
const HOLE = [
  [2, 1],
  [3, 1],
  [3, 2],
  [2, 1],
]
const withHeights = (positions: readonly number[][]) => positions.map(([x, y], index) => [x!, y!, index - 0.5])

/** Locations, each with its geometry in formats whose positions all have the same dimension. */
const SHAPES: readonly (readonly [location: unknown, expected: unknown])[] = [
  ...[
    { type: 'Point', coordinates: [-180, 90] },
    { type: 'Point', coordinates: [2.5, 48.25, -3.125] },
    { type: 'MultiPoint', coordinates: RING },
    { type: 'MultiPoint', coordinates: [[1, 2, 3]] },
    { type: 'LineString', coordinates: withHeights(RING) },
    { type: 'MultiLineString', coordinates: [HOLE] },
    { type: 'MultiLineString', coordinates: [withHeights(RING), withHeights(HOLE)] },
    { type: 'Polygon', coordinates: [RING] },
    { type: 'Polygon', coordinates: [withHeights(RING), withHeights(HOLE)] },
    // Across the antimeridian: the longitudes stay as they were attested.
    { type: 'Polygon', coordinates: [RING.map(([x, y]) => [x! < 2 ? 179 : -179, y!])] },
    { type: 'MultiPolygon', coordinates: [[RING, HOLE], [withHeights(HOLE).map(([x, y]) => [x!, y!])]] },
    { type: 'MultiPolygon', coordinates: [[withHeights(RING)]] },
    {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: [1, 2, 3] },
        { type: 'GeometryCollection', geometries: [{ type: 'LineString', coordinates: withHeights(HOLE) }] },
      ],
    },
  ].map((geometry) => [geometry, geometry] as const),
  [
    {
      type: 'LineString',
      coordinates: [
        [1, 2, 3],
        [4, 5],
      ],
    },
    {
      type: 'LineString',
      coordinates: [
        [1, 2],
        [4, 5],
      ],
    },
  ],
  [
    { type: 'Point', coordinates: [1, 2, 3, 4] },
    { type: 'Point', coordinates: [1, 2, 3] },
  ],
  ['Sydney Opera House', null],
  [{ type: 'Point', coordinates: ['1', '2'] }, null],
]
const RECORDS = SHAPES.map(([location], index) =>
  recordOf(index, {
    location: typeof location === 'string' ? location : JSON.stringify(location),
    ...(index % 2 === 0 ? { longitude: null, latitude: null, memo: 'Łódź 📍\u0000\n"' } : {}),
    ...(index % 3 === 0 ? { recipeTypes: ['a', ''], mediaTypes: ['image/jpeg', 'ü,"'], mediaData: [] } : {}),
  }),
)

/** Returns the JSON texts as a slice has them. */
const documentsOf = (records: readonly Parameters<typeof serializeRecord>[0][]) =>
  records.map(
    (record) =>
      `${serializeRecord(record, '2026-01-02T03:04:05.678Z').slice(0, -1)},"finalized":${record.uid.endsWith('1')}}`,
  )

/** Writes slices, and returns the file and the sizes of its pieces. */
async function writeFile(format: ExportFormat, slices: readonly (readonly string[])[]) {
  const writer = await EXPORT_WRITERS[format]()
  const pieces = [...slices.flatMap((slice) => [...writer.write(slice)]), ...writer.end()].filter(
    ({ length }) => length > 0,
  )
  return { bytes: new Uint8Array(Buffer.concat(pieces.map((piece) => Buffer.from(piece)))), pieces }
}

/** Reads with the library of the FlatGeobuf project, whose GeoJSON reader does not expect a feature without a geometry. */
async function readFlatGeobuf(bytes: Uint8Array) {
  const found: { geometry: unknown; properties: unknown }[] = []
  const features = deserialize(bytes, {
    fromFeature: (id, feature, header) => {
      const geometry = feature.geometry() === null ? null : fromFeature(id, feature, header).geometry
      found.push({ geometry, properties: parseProperties(feature, header.columns) })
      return {}
    },
  })
  for await (const _ of features);
  return found
}

const readParquet = (bytes: Uint8Array) => parquetReadObjects({ file: bytes.buffer as ArrayBuffer })

const DOCUMENTS = documentsOf(RECORDS)
const EXPECTED = DOCUMENTS.map((document) => JSON.parse(document) as LocationRecord)

describe('a FlatGeobuf export', () => {
  it('has every geometry and every member of the records', async () => {
    const features = await readFlatGeobuf((await writeFile('fgb', [DOCUMENTS.slice(0, 5), DOCUMENTS.slice(5)])).bytes)
    expect(features.map(({ geometry }) => geometry)).toEqual(SHAPES.map(([, expected]) => expected))
    expect(features.map(({ properties }) => properties)).toEqual(
      EXPECTED.map((record) => {
        const present = Object.entries(record).filter(([, value]) => value !== null)
        return Object.fromEntries(present)
      }),
    )
  })

  it('has a height at each position on request, and a header that says so', async () => {
    const location = {
      type: 'LineString',
      coordinates: [
        [1, 2, 3, 9],
        [4, 5],
      ],
    }
    const documents = documentsOf([recordOf(1, { location: JSON.stringify(location) })])
    for (const [format, hasZ, coordinates] of [
      ['fgb', false, '[[1,2],[4,5]]'],
      ['fgbz', true, '[[1,2,3],[4,5,0]]'],
    ] as const) {
      const { bytes } = await writeFile(format, [documents])
      const header = Header.getSizePrefixedRootAsHeader(new ByteBuffer(bytes.subarray(8)))
      const [feature] = await readFlatGeobuf(bytes)
      expect(header.hasZ()).toBe(hasZ)
      expect(feature!.geometry).toEqual({ type: 'LineString', coordinates: JSON.parse(coordinates) })
    }
  })

  it('leaves out empty geometries and empty parts, which the format does not have', async () => {
    const point = { type: 'Point', coordinates: [1, 2] }
    const empty = { type: 'MultiPoint', coordinates: [] }
    const locations = [
      empty,
      { type: 'MultiPolygon', coordinates: [[], [[]]] },
      { type: 'GeometryCollection', geometries: [] },
      { type: 'GeometryCollection', geometries: [empty, point] },
    ]
    const records = locations.map((location, index) => recordOf(index, { location: JSON.stringify(location) }))
    const features = await readFlatGeobuf((await writeFile('fgb', [documentsOf(records)])).bytes)
    expect(features.map(({ geometry }) => geometry)).toEqual([
      null,
      null,
      null,
      { type: 'GeometryCollection', geometries: [point] },
    ])
  })
})

describe('a GeoParquet export', () => {
  it('has every geometry and every member of the records', async () => {
    const rows = await readParquet((await writeFile('parquet', [DOCUMENTS.slice(0, 5), DOCUMENTS.slice(5)])).bytes)
    expect(rows.map(({ geometry }) => geometry ?? null)).toEqual(SHAPES.map(([, expected]) => expected))
    const times = ['timestamp', 'event_timestamp', 'created_at', 'updated_at']
    expect(rows.map(({ geometry, ...row }) => row)).toEqual(
      EXPECTED.map((record) =>
        Object.fromEntries(
          Object.entries(record).map(([name, value]) => [name, times.includes(name) ? new Date(value) : value]),
        ),
      ),
    )
  })

  it('describes its geometry column as GeoParquet 1.1.0 requires', async () => {
    const { key_value_metadata: metadata = [] } = parquetMetadata(
      (await writeFile('parquet', [DOCUMENTS])).bytes.buffer as ArrayBuffer,
    )
    // https://geoparquet.org/releases/v1.1.0/: without `crs` it is OGC:CRS84, without `edges` planar.
    expect(metadata.map(({ key, value }) => [key, JSON.parse(value!)])).toEqual([
      [
        'geo',
        {
          version: '1.1.0',
          primary_column: 'geometry',
          columns: {
            geometry: {
              encoding: 'WKB',
              geometry_types: [
                'GeometryCollection Z',
                'LineString',
                'LineString Z',
                'MultiLineString',
                'MultiLineString Z',
                'MultiPoint',
                'MultiPoint Z',
                'MultiPolygon',
                'MultiPolygon Z',
                'Point',
                'Point Z',
                'Polygon',
                'Polygon Z',
              ],
            },
          },
        },
      ],
    ])
  })

  it('begins a row group after 4000 records or four million characters, whatever the slices are', async () => {
    const small = documentsOf(Array.from({ length: 9000 }, (_, index) => recordOf(index)))
    const slices = Array.from({ length: 900 }, (_, index) => small.slice(10 * index, 10 * index + 10))
    const { bytes, pieces } = await writeFile('parquet', slices)
    const { row_groups: groups } = parquetMetadata(bytes.buffer as ArrayBuffer)
    expect([pieces.length, groups.map(({ num_rows: rows }) => Number(rows))]).toEqual([3 * 21 + 1, [4000, 4000, 1000]])
    expect((await readParquet(bytes)).map(({ uid }) => uid)).toEqual(small.map((text) => JSON.parse(text).uid))
    const large = documentsOf([1, 2, 3].map((index) => recordOf(index, { memo: 'm'.repeat(2_200_000) })))
    const { row_groups: largeGroups } = parquetMetadata(
      (await writeFile('parquet', [large])).bytes.buffer as ArrayBuffer,
    )
    expect(largeGroups.map(({ num_rows: rows }) => Number(rows))).toEqual([2, 1])
  })
})

describe.each(Object.keys(EXPORT_FORMATS) as ExportFormat[])('an export as %s', (format) => {
  it('does not depend on how the records are divided into slices', async () => {
    const whole = (await writeFile(format, [DOCUMENTS])).bytes
    expect((await writeFile(format, [[], ...DOCUMENTS.map((document) => [document]), []])).bytes).toEqual(whole)
  })

  it('gives each piece a buffer of its own, because the sink takes it', async () => {
    const pieces = (await writeFile(format, [DOCUMENTS])).pieces.filter((piece) => typeof piece !== 'string')
    expect(pieces.every((piece) => piece.buffer.byteLength === piece.byteLength)).toBe(true)
  })
})

describe('a CSV export', () => {
  it('has an apostrophe before a text that a spreadsheet would run as a formula, and nowhere else', async () => {
    const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r\n=1', '\uff1d1', '=HYPERLINK("https://a.invalid",A1)']
    const harmless = ['a=1', "'=1", ' =1', '', 'memo']
    const records = [...formulas, ...harmless].map((memo, index) =>
      recordOf(index, { memo, longitude: -1.5, recipeTypes: ['=1'] }),
    )
    const text = Buffer.from((await writeFile('csv', [documentsOf(records)])).bytes).toString()
    const fields = (memo: string) => (/[",\r\n]/.test(memo) ? `"${memo.replaceAll('"', '""')}"` : memo)
    for (const memo of formulas) expect(text).toContain(`,[],[],${fields(`'${memo}`)},false,`)
    for (const memo of harmless) expect(text).toContain(`,[],[],${fields(memo)},false,`)
    expect(text.match(/,-1\.5,/g)).toHaveLength(records.length)
  })
})

describe('an export without any record', () => {
  it.each([
    ['fgb', async (bytes: Uint8Array) => readFlatGeobuf(bytes)],
    ['parquet', async (bytes: Uint8Array) => readParquet(bytes)],
  ] as const)('is a complete file: %s', async (format, read) => {
    const { bytes } = await writeFile(format, [[]])
    expect(bytes.length).toBeGreaterThan(300)
    expect(await read(bytes)).toEqual([])
  })
})
