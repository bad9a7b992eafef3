/** Exports as files for GIS and databases, read by programs that others wrote. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordWorld } from '../../bench/record-world.ts'
import { readWkbHex } from '../../src/geometry/wkb.ts'
import type { Geometry, LocationRecord } from '../../src/types/generated.ts'
import { HAS_DUCKDB, queryDuckdb } from '../duckdb.ts'
import { LIMITS } from '../format-limits.ts'
import { GDAL, gdal } from '../gdal.ts'
import { type RecordService, startRecordService } from '../record-service.ts'
import { addressOf, recordOf } from '../store-records.ts'

const WORLD = [...recordWorld({ seed: 5, count: 3000, newestSeconds: 1_790_000_000, spanDays: 365 })]
const geometryRecord = (index: number, location: unknown) =>
  recordOf(index, {
    chainId: 42220,
    chain: 'celo',
    location: typeof location === 'string' ? location : JSON.stringify(location),
    longitude: null,
    latitude: null,
    memo: 'Łódź, "here"\nand there',
    mediaTypes: ['image/jpeg', 'text/plain'],
  })
const ODD = [
  { type: 'Point', coordinates: [2.5, 48.25, 35.5] },
  {
    type: 'MultiPoint',
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [179, 1, 10],
      [-179, 1, 20],
    ],
  },
  {
    type: 'MultiLineString',
    coordinates: [
      [
        [1, 2],
        [3, 4],
      ],
    ],
  },
  {
    type: 'Polygon',
    coordinates: [
      [
        [179, 0],
        [-179, 0],
        [-179, 1],
        [179, 0],
      ],
    ],
  },
  {
    type: 'MultiPolygon',
    coordinates: [
      [
        [
          [0, 0],
          [4, 0],
          [4, 4],
          [0, 0],
        ],
        [
          [2, 1],
          [3, 1],
          [3, 2],
          [2, 1],
        ],
      ],
    ],
  },
  { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
  'Sydney Opera House',
].map((location, index) => geometryRecord(index + 1, location))
const COUNT = WORLD.length + ODD.length
const FILTERS = ['', '&chain=celo', '&bbox=170,-50,-170,50', `&prover=${addressOf(0xabcdef)}`]

let service: RecordService
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-exports-'))
beforeAll(async () => {
  service = await startRecordService('embedded', {}, [...WORLD, ...ODD])
})
afterAll(async () => {
  await service.remove()
  rmSync(folder, { recursive: true, force: true })
})

const open = (query: string, init?: RequestInit) =>
  fetch(`${service.url}/api/v0/location-records/export?${query}`, init)

/** Returns the records of an export, which the test compares with a file. */
async function exportedRecords(filter: string): Promise<LocationRecord[]> {
  const text = await (await open(`f=ndjson${filter}`)).text()
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

async function download(format: string, filter = ''): Promise<string> {
  const file = join(folder, `records${FILTERS.indexOf(filter)}.${format}`)
  writeFileSync(file, new Uint8Array(await (await open(`f=${format}${filter}`)).arrayBuffer()))
  return file
}

describe('exports as files', () => {
  it.each([
    ['fgb', 'application/flatgeobuf'],
    ['parquet', 'application/vnd.apache.parquet'],
  ])('are negotiated by media type: %s', async (format, mediaType) => {
    for (const [query, accept] of [
      [`f=${format}`, '*/*'],
      ['', mediaType],
    ] as const) {
      const { status, headers, body } = await open(query, { headers: { accept } })
      await body!.cancel()
      expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([200, mediaType, 'Accept'])
    }
    const rejected = await open(`f=${format}&limit=5`)
    expect([rejected.status, rejected.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8'])
    await rejected.text()
  })
})

/** Reads a file with ogr2ogr, as features by their UID. @param options further options */
async function readWithGdal(file: string, ...options: string[]): Promise<Map<string, GeoJSON.Feature>> {
  const copy = `${file}.geojson`
  await gdal('ogr2ogr', ['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=17', ...options, copy, file])
  const { features } = JSON.parse(readFileSync(copy, 'utf8')) as GeoJSON.FeatureCollection
  rmSync(copy)
  const byUid = new Map(features.map((feature) => [feature.properties!['uid'] as string, feature]))
  expect(byUid.size).toBe(features.length)
  return byUid
}

describe.skipIf(GDAL === undefined)(`a FlatGeobuf export read by ${GDAL}`, () => {
  it.each(FILTERS)('has every record, with its members and its geometry: %s', async (filter) => {
    const records = await exportedRecords(filter)
    const file = await download('fgb', filter)
    const summary = await gdal('ogrinfo', ['-so', file, 'location-records'])
    expect(summary).toContain(`Feature Count: ${records.length}`)
    expect(summary).toContain('WGS 84')
    const features = await readWithGdal(file)
    expect([...features.keys()]).toEqual(records.map(({ uid }) => uid))
    for (const record of records) {
      const { geometry, properties } = features.get(record.uid)!
      expect(geometry).toEqual(flatGeometry(record.location))
      expect(comparable(properties!)).toEqual(comparable(record))
    }
  })

  // Regression: GDAL dropped all heights, because the header could not say that every position has one.
  it('has a height at each position on request, 0 where the record has none', async () => {
    const file = await download('fgbz')
    const points = await gdal('ogrinfo', ['-al', '-q', '-where', "chain = 'celo' AND location LIKE '%35.5%'", file])
    expect(points).toContain('POINT Z (2.5 48.25 35.5)')
    expect(await gdal('ogrinfo', ['-so', file, 'location-records'])).toContain('Geometry: 3D Unknown (any)')
    const features = await readWithGdal(file)
    const records = await exportedRecords('')
    expect(features.size).toBe(records.length)
    for (const { uid, location } of records) expect(features.get(uid)!.geometry).toEqual(geometryWithHeights(location))
  })

  it('has the features that ogr2ogr writes into FlatGeobuf from the GeoJSON export', async () => {
    const source = await download('geojson')
    const converted = join(folder, 'converted.fgb')
    const options = ['-lco', 'SPATIAL_INDEX=NO', '-mapFieldType', 'StringList=String']
    await gdal('ogr2ogr', ['-f', 'FlatGeobuf', ...options, converted, source])
    const own = await readWithGdal(await download('fgb'))
    // Without -dim, GDAL gives each feature of its file a height of 0 because one of them has a height.
    const theirs = await readWithGdal(converted, '-dim', 'XY')
    expect(own.size).toBe(COUNT)
    // GDAL's writer leaves out features without a geometry.
    const drawn = [...own].filter(([, { geometry }]) => geometry !== null)
    expect(drawn.map(([uid]) => uid).sort()).toEqual([...theirs.keys()].sort())
    for (const [uid, { geometry, properties }] of theirs) {
      expect(own.get(uid)!.geometry).toEqual(geometry)
      for (const name of ['chain', 'prover', 'srs', 'memo', 'revoked', 'timestamp', 'longitude']) {
        expect([name, own.get(uid)!.properties![name]]).toEqual([name, properties![name]])
      }
    }
  })
})

describe.skipIf(!HAS_DUCKDB)('a GeoParquet export read by DuckDB', () => {
  it.each(FILTERS)('has every record, with its members and its geometry: %s', async (filter) => {
    const records = await exportedRecords(filter)
    const file = await download('parquet', filter)
    const rows = await queryDuckdb(`select * replace (hex(geometry) as geometry) from '${file}'`)
    expect(rows.map(({ uid }) => uid)).toEqual(records.map(({ uid }) => uid))
    for (const [index, record] of records.entries()) {
      const { geometry, ...row } = rows[index]!
      expect(comparable(row)).toEqual(comparable(record))
      const expected = flatGeometry(record.location)
      // The code of a point with a height is 1001.
      const isPointWithHeight = record.location.includes('[2.5,48.25,35.5]')
      if (isPointWithHeight) expect(geometry).toMatch(/^01E9030000/)
      if (expected === null) expect(geometry).toBeNull()
      else expect(readWkbHex(geometry as string, [], LIMITS)).toEqual(expected)
    }
  })

  it('has columns with types, and is filtered by their values', async () => {
    const file = await download('parquet')
    const described = await queryDuckdb(`describe select * from '${file}'`)
    const types = Object.fromEntries(described.map(({ column_name: name, column_type: type }) => [name, type]))
    expect(types).toMatchObject({
      uid: 'VARCHAR',
      timestamp: 'TIMESTAMP WITH TIME ZONE',
      longitude: 'DOUBLE',
      media_types: 'VARCHAR[]',
      revoked: 'BOOLEAN',
      geometry: 'BLOB',
    })
    const [geometry] = await queryDuckdb(`select distinct typeof(geometry) as type from '${file}'`, true)
    expect(geometry).toEqual({ type: "GEOMETRY('OGC:CRS84')" })
    // Readers skip row groups by their statistics, so each value has to be found by a filter too.
    const records = await exportedRecords('')
    const uids = records.map(({ uid }) => uid).sort()
    for (const uid of [uids[0]!, uids.at(-1)!]) {
      expect(await queryDuckdb(`select uid from '${file}' where uid = '${uid}'`)).toEqual([{ uid }])
    }
    const [{ count }] = (await queryDuckdb(
      `select count(*)::int as count from '${file}' where chain = 'celo' and list_contains(media_types, 'text/plain')`,
    )) as [{ count: number }]
    expect(count).toBe(ODD.length)
  })
})

/** Returns the geometry of a location with a height at each position, 0 where it has none; null if it is not a geometry. */
function geometryWithHeights(location: string): Geometry | null {
  if (!location.startsWith('{')) return null
  return JSON.parse(location, (_, value) =>
    Array.isArray(value) && typeof value[0] === 'number' ? [...value.slice(0, 2), value[2] ?? 0] : value,
  )
}

/** Returns the geometry of a location without heights; null if it is not a geometry. */
function flatGeometry(location: string): Geometry | null {
  if (!location.startsWith('{')) return null
  return JSON.parse(location, (_, value) =>
    Array.isArray(value) && typeof value[0] === 'number' ? value.slice(0, 2) : value,
  )
}

/** Returns the members of a record in the same form, whatever the reader makes of times, JSON and null. */
function comparable(members: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => {
        if (/timestamp|_at$/.test(name)) return [name, Date.parse(value)]
        return [name, typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : value]
      }),
  )
}
