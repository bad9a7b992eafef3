import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cliFolder, runCli } from '../cli-runner.ts'
import { GDAL, gdal } from '../gdal.ts'

describe('a batch of geometries', () => {
  let folder: ReturnType<typeof cliFolder>
  beforeEach(() => {
    folder = cliFolder()
    writeFileSync(path('places.csv'), 'id,lon,lat\nnorth gate,0.1,0.2\nwrong,0.1,98\ntower,0.2,0.3\n')
  })
  afterEach(() => folder.remove())

  const path = (name: string) => join(folder.path, name)
  const batch = (operation: string, ...more: string[]) =>
    runCli(['batch', operation, path('places.csv'), '--local', ...more], { env: { DATA_DIR: path('.data') } })
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  it.each(['each', 'none'])(
    'gives Features with the id and the members of the results, --attest %s',
    async (attest) => {
      const more = ['--radius', '500', '--attest', attest]
      expect((await batch('buffer', ...more, '-o', path('zones.geojsonl'))).exitCode).toBe(1)
      const results = lines((await batch('buffer', ...more, '-o', '-', '--output-format', 'ndjson')).out)
      const features = lines(readFileSync(path('zones.geojsonl'), 'utf8'))
      expect(features.map(({ id }) => id)).toEqual(['north gate', 'tower'])
      const columns = [
        { lon: '0.1', lat: '0.2' },
        { lon: '0.2', lat: '0.3' },
      ]
      expect(features).toEqual(
        results.map(({ id, geometry, ...members }, index) => ({
          type: 'Feature',
          id,
          geometry,
          properties: { id, ...columns[index], ...members },
        })),
      )
    },
  )

  // Regression: a repaired geometry was written as a line of JSON under the name of a layer, without the properties.
  it.each(['each', 'none'])('repairs Features and keeps their properties, --attest %s', async (attest) => {
    const ring = (west: number) => [
      [west, 0],
      [west + 2, 2],
      [west + 2, 0],
      [west, 2],
      [west, 0],
    ]
    const feature = (id: number, properties: object) => {
      return { type: 'Feature', id, properties, geometry: { type: 'Polygon', coordinates: [ring(10 * id)] } }
    }
    const features = [feature(1, { name: 'bow', ref: 'own' }), feature(2, { name: 'tie' })]
    writeFileSync(path('bow.geojsonl'), features.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const argv = ['batch', 'repair', path('bow.geojsonl'), '--local', '--attest', attest, '-o', path('rep.geojson')]
    const run = await runCli(argv, { env: { DATA_DIR: path('.data') } })
    expect([run.exitCode, run.err]).toEqual([0, ''])
    const [bow, tie] = lines(readFileSync(path('rep.geojson'), 'utf8'))
    expect(bow.geometry.type).toBe('MultiPolygon')
    expect(bow.properties).toMatchObject({ name: 'bow', ref: 'own', areaMovedSquareMeters: 0, operation: 'repair' })
    expect(bow.properties.ref_2).toMatch(/^0x/)
    expect([tie.id, tie.properties.name]).toEqual([2, 'tie'])
    if (GDAL === undefined) return
    const layer = await gdal('ogrinfo', ['-al', path('rep.geojson')])
    expect(layer).toContain('Geometry: Multi Polygon')
    expect(layer).toContain('name (String) = tie')
  })

  it.skipIf(GDAL === undefined).each(['zones.geojson', 'zones.geojsonl'])(
    'is a layer with ids for GDAL: %s',
    async (name) => {
      await batch('buffer', '--radius', '500', '-o', path(name))
      const said = await gdal('ogrinfo', ['-al', '-geom=SUMMARY', path(name)])
      expect(said).toContain('Feature Count: 2')
      expect(said).toContain('id (String) = north gate')
      expect(said).toContain('id (String) = tower')
      expect(said).toMatch(/errorMeters \(Real\) = 0\.\d+/)
    },
  )

  // Regression: lines were cut as text at the offsets of their bytes.
  it.each(['zones.geojson', 'zones.csv'])('keeps ids that are not ASCII, unsigned: %s', async (name) => {
    const ids = ['Zürich', 'Genève', '東京', 'Bern']
    const requests = ids.map((id, index) => JSON.stringify({ id, type: 'Point', coordinates: [index, 1] }))
    writeFileSync(path('places.ndjson'), `${requests.join('\n')}\n`)
    const argv = ['batch', 'buffer', path('places.ndjson'), '--radius', '500', '--local', '--attest', 'none']
    const run = await runCli([...argv, '-o', path(name)], { env: { DATA_DIR: path('.data') } })
    expect([run.exitCode, run.err]).toEqual([0, ''])
    const text = readFileSync(path(name), 'utf8')
    for (const id of ids) expect(text).toContain(id)
  })

  it.each([
    ['buffer', ['--radius', '500'], 'zones.gpkg', 'write zones.geojsonl, and convert it with ogr2ogr'],
    ['distance', ['--with', 'to=1,1'], 'distances.FGB', 'write results.csv, and convert it with ogr2ogr'],
  ])('of %s is not written under the name of another format', async (operation, more, name, advice) => {
    const run = await batch(operation, ...more, '-o', path(name))
    expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining(advice)])
    expect(existsSync(path(name))).toBe(false)
  })

  it('says that results which are not one geometry cannot be Features, and writes no file', async () => {
    const to = ['--with', 'to=1,1']
    const named = await batch('distance', ...to, '-o', path('distances.geojson'))
    expect([named.exitCode, named.err]).toEqual([
      2,
      expect.stringContaining(
        'distances.geojson: GeoJSON is for buffer, direct, waypoints, repair: a result of distance',
      ),
    ])
    expect(existsSync(path('distances.geojson'))).toBe(false)
    const run = await batch('distance', ...to, '--output-format', 'geojson')
    expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining('a result of distance is not one geometry')])
    const lineOutput = await batch('distance', ...to, '-o', path('distances.geojson'), '--output-format', 'ndjson')
    expect(lineOutput.exitCode).toBe(1)
  })
})
