import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import wkx from 'wkx'
import { readWkb } from '../../src/geometry/wkb.ts'
import { readWkt } from '../../src/geometry/wkt.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { LIMITS } from '../format-limits.ts'
import { GDAL, gdal } from '../gdal.ts'
import { type Random, randomGeometry, seededRandom, TYPES } from '../random-geometry.ts'
import { scaled } from '../scale.ts'
import { writeWkb, writeWkt } from '../wkt-writer.ts'

const COUNT = scaled(3000)

function anyGeometry(random: Random): Geometry {
  const centre: [number, number] = [360 * random() - 180, 170 * random() - 85]
  return randomGeometry(random, TYPES[Math.floor(TYPES.length * random())]!, centre, 10 ** (7 * random())).geometry
}

describe('well-known text and binary', () => {
  it('are read as the geometry that was written, in every variant of the format', () => {
    const random = seededRandom(11)
    for (let index = 0; index < COUNT; index++) {
      const geometry = anyGeometry(random)
      const text = writeWkt(geometry, random)
      const bytes = writeWkb(geometry, random)
      expect(readWkt(text, [], LIMITS), text).toEqual(geometry)
      expect(readWkb(bytes, [], LIMITS), bytes.toString('hex')).toEqual(geometry)
    }
  })

  it('are read as the geometry that was written, when wkx wrote them', () => {
    const random = seededRandom(12)
    for (let index = 0; index < COUNT; index++) {
      const geometry = anyGeometry(random)
      const written = wkx.Geometry.parseGeoJSON(geometry)
      written.srid = 4326
      expect(readWkt(written.toEwkt(), [], LIMITS)).toEqual(geometry)
      expect(readWkb(written.toWkb(), [], LIMITS)).toEqual(geometry)
      expect(readWkb(written.toEwkb(), [], LIMITS)).toEqual(geometry)
    }
  })
})

describe.skipIf(GDAL === undefined)('GDAL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'well-known-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('reads the same geometries from the WKT and WKB of these tests', async () => {
    const random = seededRandom(13)
    const geometries = Array.from({ length: 400 }, () => anyGeometry(random))
    const texts = geometries.map((geometry) => writeWkt(geometry, random, true))
    const bytes = geometries.map((geometry) => writeWkb(geometry, random).toString('hex'))
    for (const [index, lines] of [texts, bytes].entries()) {
      const file = join(folder, `${index}.csv`)
      writeFileSync(file, `id,WKT\n${lines.map((line, id) => `${id},"${line}"`).join('\n')}\n`)
      const args = ['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=15', '-dim', 'XY', '/vsistdout/', file]
      const { features } = JSON.parse(await gdal('ogr2ogr', args))
      expect(features).toHaveLength(geometries.length)
      features.forEach((feature: { geometry: Geometry }, id: number) => {
        const ownGeometry =
          index === 0 ? readWkt(texts[id]!, [], LIMITS) : readWkb(Buffer.from(bytes[id]!, 'hex'), [], LIMITS)
        const [gdalNumbers, ownNumbers] = [extractNumbers(feature.geometry), extractNumbers(ownGeometry)]
        expect(structure(feature.geometry), lines[id]).toBe(structure(ownGeometry))
        // GDAL reads decimals to within a unit in the last place and writes fifteen digits. 1e-12 degrees are 0.1 µm.
        const worst = Math.max(...ownNumbers.map((value, index) => Math.abs(value - gdalNumbers[index]!)))
        expect(worst, lines[id]).toBeLessThan(1e-12)
      })
    }
  })
})

const extractNumbers = (geometry: Geometry): number[] =>
  JSON.stringify(geometry)
    .match(/-?\d[\d.e-]*/g)!
    .map(Number)

/** The structure of a geometry as text, with every number replaced by 0. */
function structure(geometry: Geometry): string {
  const members = geometry.type === 'GeometryCollection' ? geometry.geometries.map(structure) : geometry.coordinates
  return `${geometry.type} ${JSON.stringify(members).replace(/-?\d[\d.e-]*/g, '0')}`
}
