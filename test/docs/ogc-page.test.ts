import { exec, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { GDAL, gdal } from '../gdal.ts'
import { blocksOf } from '../markdown-pages.ts'
import { QGIS, readInQgis, runInQgis } from '../qgis.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

const run = promisify(exec)
const docs = join(import.meta.dirname, '../../docs')
const HAS_CURL = spawnSync('curl', ['--version']).status === 0
if (!HAS_CURL) console.warn('skipped with curl: no curl on this machine')

/** Returns the commands of a page, one per line. */
function readCommands(page: string): string[] {
  const text = readFileSync(join(docs, page), 'utf8')
  return [...text.matchAll(/^```sh\n([^`]*)^```/gm)]
    .flatMap(([, block]) => block!.trim().split('\n'))
    .filter((line) => /^(curl|ogrinfo|ogr2ogr) /.test(line))
}

/** Reads the layer as the map, the filter of a layer, the reprojection and the tool for identifying features do. */
const QGIS_PROGRAM = `
from qgis.analysis import QgsNativeAlgorithms

QgsApplication.processingRegistry().addProvider(QgsNativeAlgorithms())
features = list(layer.getFeatures())
points = {f['uid']: f.geometry().asPoint() for f in features if f.geometry().wkbType() == QgsWkbTypes.Point}
mercator = QgsCoordinateReferenceSystem('EPSG:3857')
request = QgsFeatureRequest().setDestinationCrs(mercator, QgsCoordinateTransformContext())
in_mercator = next(f for f in layer.getFeatures(request) if f['uid'] in points)
uid, point = in_mercator['uid'], points[in_mercator['uid']]
around = QgsFeatureRequest(QgsRectangle(point.x() - 1e-6, point.y() - 1e-6, point.x() + 1e-6, point.y() + 1e-6))

QgsProject.instance().addMapLayer(layer)
context = QgsProcessingContext()
context.setProject(QgsProject.instance())
split = QgsApplication.processingRegistry().algorithmById('native:filterbygeometry')
outputs = {'INPUT': layer.id(), 'POINTS': 'memory:', 'LINES': 'memory:', 'POLYGONS': 'memory:', 'NO_GEOMETRY': 'memory:'}
counts, _ = split.run(outputs, context, QgsProcessingFeedback())
result = {
    'count': layer.featureCount(),
    'crs': layer.crs().authid(),
    'fields': {field.name(): field.typeName() for field in layer.fields()},
    'uids': [f['uid'] for f in features],
    'coordinates': [uid, point.x(), point.y()],
    'mercator': [in_mercator.geometry().asPoint().x(), in_mercator.geometry().asPoint().y()],
    'inBox': [f['uid'] for f in layer.getFeatures(QgsFeatureRequest(QgsRectangle(-20, -40, 60, 70)))],
    'filtered': [f['chain'] for f in layer.getFeatures(QgsFeatureRequest().setFilterExpression('"chain" = \\'celo\\' AND NOT "revoked"'))],
    'identified': [f['uid'] for f in layer.getFeatures(around)],
    'types': Counter(QgsWkbTypes.displayString(f.geometry().wkbType()) for f in features),
    'split': {name: count for name, count in counts.items() if name.endswith('_COUNT')},
}
`

/** Reads a layer with the geometry type that QGIS takes it to have, and counts what is drawn. */
const LAYER_PROGRAM = `
request = QgsFeatureRequest(QgsRectangle(-20, -40, 60, 70))
result = {
    'type': QgsWkbTypes.geometryDisplayString(layer.geometryType()),
    'types': Counter(QgsWkbTypes.geometryDisplayString(f.geometry().type()) for f in layer.getFeatures()),
    'count': layer.featureCount(),
    'inBox': len(list(layer.getFeatures(request))),
    'extent': layer.extent().toString(1),
}
`

const COMMANDS = ['ogc.md', 'records.md'].flatMap((page) =>
  readCommands(page).map((command) => [page, command] as const),
)

describe('the commands of the record pages, with sample records', () => {
  let service: TestService
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trigpoint-page-'))
    service = await startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' })
    await untilReadable(service.url)
    await eventually(async () => {
      const stats = (await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { total: number }
      expect(stats.total).toBe(5000)
    })
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('exist', () => {
    expect(COMMANDS.filter(([page]) => page === 'ogc.md').length).toBeGreaterThanOrEqual(9)
    expect(COMMANDS.filter(([page]) => page === 'records.md').length).toBeGreaterThanOrEqual(5)
  })

  for (const [page, command] of COMMANDS) {
    const isPossible = command.startsWith('curl') ? HAS_CURL : GDAL !== undefined
    it.skipIf(!isPossible)(`${page}: ${command}`, async () => {
      const here = command.replace(/127\.0\.0\.1:3000/g, new URL(service.url).host)
      const { stdout, stderr } = await run(here, { cwd: folder, timeout: 600_000, maxBuffer: 64 * 1_048_576 })
      expect(stderr).not.toContain('ERROR')
      const file = /(?:-o |GPKG .*? |FlatGeobuf )(\S+\.(?:gpkg|fgb|parquet|ndjson|csv|geojsonl?))/.exec(command)?.[1]
      if (file === undefined) expect(stdout.length).toBeGreaterThan(20)
      else expect(statSync(join(folder, file)).size).toBeGreaterThan(1000)
    })
  }

  it.skipIf(GDAL === undefined || !HAS_CURL)('create files with every record', async () => {
    const text = await gdal('ogrinfo', ['-so', join(folder, 'indexed.fgb'), 'location-records'])
    expect(text).toContain('Feature Count: 5000')
    const response = await fetch(`${service.url}/api/v0/location-records?bbox=-20,-40,60,70&limit=1`)
    const { count } = (await response.json()) as { count: number }
    const region = await gdal('ogrinfo', ['-so', join(folder, 'region.gpkg'), 'location-records'])
    expect(Number(/Feature Count: (\d+)/.exec(region)![1])).toBe(count)
  })

  it.skipIf(QGIS === undefined)(`and QGIS read the same records (${QGIS ?? 'not installed'})`, async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the program above says what it has
    const read = (await readInQgis(`${service.url}/ogc`, 'location-records', QGIS_PROGRAM, folder)) as any
    const items = async (query: string) => {
      const response = await fetch(`${service.url}/ogc/collections/location-records/items?${query}`)
      return (await response.json()) as GeoJSON.FeatureCollection & { numberMatched: number }
    }
    expect([read.count, new Set(read.uids).size, read.crs]).toEqual([5000, 5000, 'EPSG:4326'])
    expect(read.fields).toMatchObject({ uid: 'String', timestamp: 'DateTime', revoked: 'Boolean', longitude: 'Real' })

    const [uid, longitude, latitude] = read.coordinates
    const feature = (await (
      await fetch(`${service.url}/ogc/collections/location-records/items/${uid}`)
    ).json()) as GeoJSON.Feature
    expect(feature.geometry).toEqual({ type: 'Point', coordinates: [longitude, latitude] })
    expect(read.identified).toContain(uid)
    expect(read.mercator[0]).toBeCloseTo((6_378_137 * longitude * Math.PI) / 180, 2)
    expect(read.mercator[1]).toBeCloseTo(6_378_137 * Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360)), 2)

    expect(read.inBox).toHaveLength((await items('bbox=-20,-40,60,70')).numberMatched)
    const filter = encodeURIComponent("chain = 'celo' AND NOT revoked = TRUE")
    expect(read.filtered).toEqual(Array((await items(`filter=${filter}`)).numberMatched).fill('celo'))
    // What crosses the antimeridian is in two parts, one on each side.
    const { Point, LineString, MultiLineString, Polygon, MultiPolygon = 0 } = read.types
    expect(MultiLineString).toBeGreaterThan(0)
    expect(read.split).toEqual({
      POINT_COUNT: Point,
      LINE_COUNT: LineString + MultiLineString,
      POLYGON_COUNT: Polygon + MultiPolygon,
      NO_GEOMETRY_COUNT: 0,
    })
    expect(Point + LineString + MultiLineString + Polygon + MultiPolygon).toBe(5000)
  })

  it.skipIf(QGIS === undefined)(`and QGIS draws every record of a collection of one family`, async () => {
    for (const [family, type] of [
      ['points', 'Point'],
      ['lines', 'Line'],
      ['polygons', 'Polygon'],
    ]) {
      const response = await fetch(`${service.url}/ogc/collections/location-${family}/items?bbox=-20,-40,60,70`)
      const { numberMatched: inBox } = (await response.json()) as { numberMatched: number }
      const all = await fetch(`${service.url}/ogc/collections/location-${family}/items?limit=1`)
      const { numberMatched: count } = (await all.json()) as { numberMatched: number }
      expect(inBox).toBeGreaterThan(100)
      // biome-ignore lint/suspicious/noExplicitAny: the program above says what it has
      const layer = (await readInQgis(`${service.url}/ogc`, `location-${family}`, LAYER_PROGRAM, folder)) as any
      expect(layer).toMatchObject({ type, types: { [type!]: count }, count, inBox })
    }
  })

  it.skipIf(QGIS === undefined)('and the program for the Python console of QGIS adds the points', async () => {
    const [program] = blocksOf('docs/ogc.md').filter(({ language }) => language === 'python')
    const response = await fetch(`${service.url}/ogc/collections/location-points/items?limit=1`)
    const { numberMatched } = (await response.json()) as { numberMatched: number }
    expect(numberMatched).toBeGreaterThan(1000)
    const here = program!.code.replace('http://127.0.0.1:3000', service.url)
    const check = '\nprint([one.name() for one in QgsProject.instance().mapLayers().values()])'
    expect(await runInQgis(here + check, folder)).toBe(`${numberMatched} points\n['Location points']\n`)
  })

  it('find records across the antimeridian, and revoked ones', async () => {
    const response = await fetch(`${service.url}/api/v0/location-records?bbox=179.9,-20,-179.9,-10`)
    expect(((await response.json()) as { count: number }).count).toBeGreaterThan(5)
    const stats = (await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { revoked: number }
    expect(stats.revoked).toBeGreaterThan(50)
  })

  it('have sample records only on request', async () => {
    expect(service.lines.some((line) => line.includes('"event":"sample records stored","records":5000'))).toBe(true)
    const other = await startTestService({ RECORDS: '1' })
    await untilReadable(other.url)
    const stats = (await (await fetch(`${other.url}/api/v0/location-records/stats`)).json()) as { total: number }
    expect(stats.total).toBe(0)
    expect(await other.stop()).toBe(0)
  })
})
