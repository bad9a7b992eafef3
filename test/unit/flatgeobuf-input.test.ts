import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize, serialize } from 'flatgeobuf/lib/mjs/geojson.js'
import { afterAll, describe, expect, it } from 'vitest'
import { CommandError } from '../../src/cli/exit-codes.ts'
import { isFlatGeobuf, readFlatGeobuf } from '../../src/cli/inputs/flatgeobuf.ts'
import { GDAL, gdal } from '../gdal.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-fgb-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ring = (west: number, size: number) => [
  [west, 0],
  [west + size, 0],
  [west + size, size],
  [west, size],
  [west, 0],
]
const GEOMETRIES = [
  { type: 'Point', coordinates: [2.2945, 48.8584] },
  { type: 'Point', coordinates: [2.2945, 48.8584, 330] },
  { type: 'MultiPoint', coordinates: ring(0, 3) },
  { type: 'LineString', coordinates: ring(0, 2) },
  { type: 'MultiLineString', coordinates: [ring(0, 2), ring(5, 2)] },
  { type: 'MultiLineString', coordinates: [ring(0, 2)] },
  { type: 'Polygon', coordinates: [ring(0, 9)] },
  { type: 'Polygon', coordinates: [ring(0, 9), ring(1, 2).toReversed(), ring(4, 2).toReversed()] },
  { type: 'MultiPolygon', coordinates: [[ring(0, 9), ring(1, 2).toReversed()], [ring(20, 5)]] },
  {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [1, 2] },
      { type: 'MultiPolygon', coordinates: [[ring(0, 1)], [ring(3, 1)]] },
    ],
  },
]
const FEATURES = GEOMETRIES.map((geometry, index) => ({
  type: 'Feature',
  geometry,
  properties: { name: `zone ${index} ☂`, rank: index, share: index / 7, open: index % 2 === 0 },
}))
const fileOf = (features: readonly object[], code?: number): Uint8Array =>
  serialize({ type: 'FeatureCollection', features } as unknown as Parameters<typeof serialize>[0], code)
const gdalFile = async (name: string, features: readonly object[], ...options: string[]) => {
  const [from, to] = [join(folder, `${name}.geojson`), join(folder, `${name}.fgb`)]
  writeFileSync(from, JSON.stringify({ type: 'FeatureCollection', features }))
  await gdal('ogr2ogr', ['-f', 'FlatGeobuf', ...options, to, from])
  return readFileSync(to)
}
const faultOf = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    expect(error).toBeInstanceOf(CommandError)
    return (error as Error).message
  }
  return 'none'
}

describe('FlatGeobuf', () => {
  it('is recognised by its first bytes', () => {
    expect(isFlatGeobuf(fileOf(FEATURES))).toBe(true)
    expect(isFlatGeobuf(Buffer.from('{"type":"FeatureCollection"}'))).toBe(false)
    expect(isFlatGeobuf(new Uint8Array())).toBe(false)
  })

  it('is read as its own library reads it', async () => {
    const bytes = fileOf(FEATURES)
    const expected = []
    for await (const { id: _, ...feature } of deserialize(bytes)) expected.push(feature)
    expect(readFlatGeobuf(bytes, 'zones.fgb')).toEqual(expected)
    expect(readFlatGeobuf(bytes, 'zones.fgb')).toEqual(FEATURES)
  })

  it.skipIf(GDAL === undefined)('is read as GDAL wrote it, with and without an index', async () => {
    const areas = FEATURES.filter(({ geometry }) => geometry.type === 'Polygon')
    const many = Array.from({ length: 1000 }, (_, index) => ({
      type: 'Feature',
      properties: { n: index, big: 2 ** 53 + 2 * index, at: '2026-01-02T03:04:05Z' },
      geometry: { type: 'Polygon', coordinates: [ring(index / 10, 0.05)] },
    }))
    for (const [name, features] of Object.entries({ areas, many })) {
      for (const index of ['YES', 'NO']) {
        const read = readFlatGeobuf(
          await gdalFile(`${name}-${index}`, features, '-lco', `SPATIAL_INDEX=${index}`),
          name,
        )
        // An index orders the features along a curve.
        const byText = (all: readonly { geometry: object }[]) =>
          all.map(({ geometry }) => JSON.stringify(geometry)).sort()
        expect(byText(read)).toEqual(byText(features))
        if (name === 'areas') continue
        const last = read.find(({ properties }) => properties?.['n'] === 999)
        expect(last?.properties).toMatchObject({ n: 999, big: String(2 ** 53 + 1998) })
      }
    }
  })

  it('is refused in another reference system, with the command that converts it', async () => {
    expect(faultOf(() => readFlatGeobuf(fileOf(FEATURES, 3857), 'a.fgb'))).toBe(
      'a.fgb: has the reference system EPSG:3857, and only WGS 84 is read; convert it: ogr2ogr -t_srs EPSG:4326 wgs84.fgb a.fgb',
    )
    expect(readFlatGeobuf(fileOf(FEATURES, 4326), 'a.fgb')).toHaveLength(FEATURES.length)
  })

  it('names what it cannot read', () => {
    // The library writes a geometry without positions for a type that it does not know.
    const curve = { type: 'Feature', geometry: { type: 'CircularString', coordinates: [] }, properties: {} }
    expect(faultOf(() => readFlatGeobuf(fileOf([FEATURES[0]!, curve]), 'a.fgb'))).toContain(
      'a.fgb: feature 2: has a curve',
    )
  })

  it('is never read in part: each cut is reported', () => {
    const bytes = fileOf(FEATURES)
    for (let length = 4; length < bytes.length; length++) {
      expect(faultOf(() => readFlatGeobuf(bytes.subarray(0, length), 'a.fgb'))).toMatch(/^a\.fgb: .*damaged or cut off/)
    }
  })

  it('reports damage as damage of the file, wherever a byte is changed', () => {
    const bytes = fileOf(FEATURES)
    let faults = 0
    for (let index = 8; index < bytes.length; index++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const changed = bytes.slice()
        changed[index]! ^= mask
        if (faultOf(() => readFlatGeobuf(changed, 'a.fgb')) !== 'none') faults++
      }
    }
    expect(faults).toBeGreaterThan(bytes.length / 10)
  })
})
