/** OGC API Features as other programs read them: OWSLib, QGIS and GDAL. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GDAL, gdal } from '../gdal.ts'
import { ALL, FAMILY_NAMES, LIST_TEXTS, ODD, type OgcService, startOgcService, uidsOf, WORLD } from '../ogc-service.ts'
import { QGIS, readInQgis } from '../qgis.ts'
import { ENGINES_AND_ADAPTERS } from '../record-service.ts'
import { uidOf } from '../store-records.ts'

/** OWSLib is a package of Debian, so Debian's own Python has it. */
const PYTHON = '/usr/bin/python3'
const HAS_OWSLIB = spawnSync(PYTHON, ['-c', 'import owslib.ogcapi.features']).status === 0
if (!HAS_OWSLIB) console.warn('skipped with OWSLib: it is not installed (apt-get install python3-owslib)')
const OWSLIB_PROGRAM = `
import json, sys
from owslib.ogcapi.features import Features
service = Features(sys.argv[1])
page = service.collection_items('location-records', bbox=[-20, -40, 60, 70], limit=7)
queryables = service.collection_queryables('location-records')
filtered = service.collection_items('location-records', filter="chain = 'celo'", limit=1000)
lines = service.collection_items('location-lines')
types = [feature['geometry']['type'] for feature in lines['features']]
print(json.dumps([service.feature_collections(), list(queryables['properties']), page['numberMatched'], len(page['features']), types, filtered['numberMatched']]))
`
/** Saves the layer as the menu of QGIS does, and reads the file. */
const SAVING_PROGRAM = `
options = QgsVectorFileWriter.SaveVectorOptions()
options.driverName = 'FORMAT'
options.forceMulti = True
written = QgsVectorFileWriter.writeAsVectorFormatV3(layer, 'FILE', QgsCoordinateTransformContext(), options)
saved = QgsVectorLayer('FILE', 'saved', 'ogr')
names = ['recipe_types', 'recipe_payloads', 'media_types', 'media_data', 'memo', 'chain', 'revoked']
value = lambda field: None if field == NULL else json.dumps(field) if isinstance(field, (list, dict)) else field
result = {
    'written': list(written)[:2],
    'values': {f['uid']: [value(f[name]) for name in names] for f in saved.getFeatures()},
}
`
describe.each(ENGINES_AND_ADAPTERS)('OGC API Features on %s behind %s', (engine, adapter) => {
  let service: OgcService

  beforeAll(async () => {
    service = await startOgcService(engine, adapter)
  })
  afterAll(() => service.remove())

  const get: OgcService['get'] = (...request) => service.get(...request)
  const items: OgcService['items'] = (query) => service.items(query)

  it.skipIf(!HAS_OWSLIB)('is read by OWSLib', async () => {
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', OWSLIB_PROGRAM, `${service.url}/ogc`])
    const [collections, queryables, matched, returned, types, filtered] = JSON.parse(stdout)
    expect(filtered).toBe((await items('chain=celo')).numberMatched)
    expect(types).toEqual(['MultiLineString', 'LineString', 'LineString'])
    expect(collections).toEqual(['location-records', ...FAMILY_NAMES.map((family) => `location-${family}`)])
    expect(queryables).toContain('event_timestamp')
    expect(matched).toBe((await items('bbox=-20,-40,60,70')).numberMatched)
    expect(returned).toBe(7)
  })

  it.skipIf(QGIS === undefined).each(['lines', 'polygons'] as const)(
    `is read by ${QGIS}: %s of one part and of several in one layer`,
    async (family) => {
      const home = mkdtempSync(join(tmpdir(), 'trigpoint-qgis-'))
      // Their number by UID, because a geometry of another type than the layer's would be left out.
      const program = "result = {f['uid']: f.geometry().constGet().partCount() for f in layer.getFeatures()}"
      const parts = (await readInQgis(`${service.url}/ogc`, `location-${family}`, program, home)) as object
      rmSync(home, { recursive: true })
      const uids = uidsOf(family)
      const expected = uids.map((uid) => {
        const { type, coordinates } = JSON.parse(ALL.find((record) => record.uid === uid)!.location)
        return [uid, type.startsWith('Multi') ? coordinates.length : 1]
      })
      expect(parts).toEqual(Object.fromEntries(expected))
    },
  )

  it.skipIf(QGIS === undefined).each([
    ['GPKG', 'gpkg'],
    ['FlatGeobuf', 'fgb'],
    ['GeoJSON', 'geojson'],
  ])(`is saved by ${QGIS} as %s, with the same values`, async (format, extension) => {
    const home = mkdtempSync(join(tmpdir(), 'trigpoint-qgis-'))
    const { written, values } = (await readInQgis(
      `${service.url}/ogc`,
      'location-polygons',
      SAVING_PROGRAM.replace('FORMAT', format).replaceAll('FILE', join(home, `saved.${extension}`)),
      home,
      // biome-ignore lint/suspicious/noExplicitAny: the program says what it has
    )) as any
    rmSync(home, { recursive: true })
    expect(written).toEqual([0, ''])
    const uids = uidsOf('polygons')
    expect(Object.keys(values).sort()).toEqual([...uids].sort())
    const { body } = await get('/ogc/collections/location-polygons/items?limit=1000', 'application/geo+json')
    for (const { id, properties } of body.features) {
      const { memo, chain, revoked } = properties
      const texts = Object.keys(LIST_TEXTS).map((name) => properties[name] as string)
      // GeoJSON has the lists themselves, because GDAL parses texts that are JSON.
      const lists = values[id].slice(0, texts.length)
      if (format === 'GeoJSON') expect(lists.map(parse)).toEqual(texts.map(parse))
      else expect(lists).toEqual(texts)
      expect(values[id].slice(texts.length)).toEqual([memo, chain, revoked])
    }
  })

  describe.skipIf(GDAL === undefined)(`read by ${GDAL}`, () => {
    const source = () => `OAPIF:${service.url}/ogc`

    it('shows the layer, its geometries and its fields', async () => {
      const text = await gdal('ogrinfo', ['-so', source(), 'location-records'])
      expect(text).toContain('Layer name: location-records')
      expect(text).toContain(`Feature Count: ${ALL.length}`)
      expect(text).toMatch(/ID\["OGC","CRS84"\]|GEOGCRS\["WGS 84/)
      for (const field of ['uid: String', 'timestamp: DateTime', 'revoked: Integer(Boolean)', 'longitude: Real']) {
        expect(text).toContain(field)
      }
    })

    it.each(FAMILY_NAMES)('shows the layer of %s, with its extent', async (family) => {
      const text = await gdal('ogrinfo', ['-so', source(), `location-${family}`])
      expect(text).toContain(`Feature Count: ${uidsOf(family).length}`)
      if (family === 'lines') expect(text).toContain('Extent: (-30.000000, -21.000000) - (25.000000, 31.000000)')
      const where = await gdal('ogrinfo', ['-so', '-where', "chain = 'base-sepolia'", source(), `location-${family}`])
      const { body } = await get(
        `/ogc/collections/location-${family}/items?limit=1&chain=base-sepolia`,
        'application/geo+json',
      )
      expect(Number(/Feature Count: (\d+)/.exec(where)![1])).toBe(body.numberMatched)
    })

    it('copies every collection into one GeoPackage, with fields of the same types and the same values', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'trigpoint-gdal-'))
      const file = join(folder, 'records.gpkg')
      const copy = ['-f', 'GPKG', '-oo', 'PAGE_SIZE=1000', '-nlt', 'PROMOTE_TO_MULTI', file, source()]
      await gdal('ogr2ogr', copy, /ERROR|Warning/)
      const names = ['location-records', ...FAMILY_NAMES.map((family) => `location-${family}`)]
      const fieldsOf = async (name: string) => {
        const text = await gdal('ogrinfo', ['-so', file, name])
        return Object.fromEntries(
          [...text.matchAll(/^(?!Geometry)(\w+): (\w+(?:\(\w+\))?) \(/gm)].map(([, key, type]) => [key, type]),
        )
      }
      const [all, points, ...others] = await Promise.all(names.map(fieldsOf))
      expect(all).toMatchObject({
        media_types: 'String',
        revoked: 'Integer(Boolean)',
        longitude: 'Real',
        latitude: 'Real',
      })
      expect(points).toEqual(all)
      const { longitude: _, latitude: __, ...common } = all!
      expect(others).toEqual([common, common])
      const where = ['-where', `uid = '${uidOf(1)}'`, file, 'location-polygons']
      const json = await gdal('ogr2ogr', ['-f', 'GeoJSON', '/vsistdout/', ...where])
      // To write GeoJSON, GDAL parses texts that are JSON.
      const lists = Object.entries(LIST_TEXTS).map(([name, text]) => [name, JSON.parse(text)])
      expect(JSON.parse(json).features[0].properties).toMatchObject(Object.fromEntries(lists))
      rmSync(folder, { recursive: true })
    })

    it('counts the features in a box, as the record API does', async () => {
      const text = await gdal('ogrinfo', ['-so', '-spat', '-20', '-40', '60', '70', source(), 'location-records'])
      const expected = (await items('bbox=-20,-40,60,70')).numberMatched
      expect(Number(/Feature Count: (\d+)/.exec(text)![1])).toBe(expected)
    })

    it('filters by an attribute', async () => {
      const text = await gdal('ogrinfo', ['-so', '-where', "chain = 'celo'", source(), 'location-records'])
      expect(Number(/Feature Count: (\d+)/.exec(text)![1])).toBe((await items('chain=celo')).numberMatched)
    })

    it('copies every feature, page by page, into a file', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'trigpoint-gdal-'))
      const file = join(folder, 'records.geojsonl')
      await gdal('ogr2ogr', [
        '-f',
        'GeoJSONSeq',
        '-lco',
        'COORDINATE_PRECISION=17',
        '-oo',
        'PAGE_SIZE=700',
        file,
        source(),
        'location-records',
      ])
      const features = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      rmSync(folder, { recursive: true })
      expect(features.length).toBe(ALL.length)
      const byUid = new Map(features.map((feature) => [feature.properties.uid, feature]))
      for (const { uid, location } of [...WORLD, ODD[0]!]) {
        const { type, coordinates } = JSON.parse(location)
        const copied = byUid.get(uid).geometry
        expect(copied.type).toBe(type)
        // ogr2ogr may reverse rings, so positions are compared as a set.
        const positions = (value: unknown) => new Set(JSON.stringify(value).match(/\[-?[\d.e-]+,\s*-?[\d.e-]+\]/g))
        expect(positions(copied.coordinates)).toEqual(positions(coordinates))
      }
    })
  })
})

const parse = (text: string): unknown => JSON.parse(text)
