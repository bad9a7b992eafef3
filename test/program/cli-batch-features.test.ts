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
      expect(features).toEqual(
        results.map(({ id, geometry, ...properties }) => ({ type: 'Feature', id, geometry, properties })),
      )
    },
  )

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

  it('gives lines of results if they are not one geometry, and says so if Features are asked for', async () => {
    const to = ['--with', 'to=1,1']
    await batch('distance', ...to, '-o', path('distances.geojson'))
    expect(lines(readFileSync(path('distances.geojson'), 'utf8'))[0]).toMatchObject({
      id: 'north gate',
      units: 'meters',
    })
    const run = await batch('distance', ...to, '--output-format', 'geojson')
    expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining('a result of distance is not one geometry')])
  })
})
