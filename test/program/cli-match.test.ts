import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cliFolder, runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { GDAL, gdal } from '../gdal.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const box = (west: number, east: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, 48],
      [east, 48],
      [east, 49],
      [west, 49],
      [west, 48],
    ],
  ],
})
/** Both contain 2.7,48.5. */
const ZONES = [
  { type: 'Feature', id: 'west', properties: { name: 'West', inhabitants: 12 }, geometry: box(2, 3) },
  { type: 'Feature', id: 'east', properties: { name: 'East, far' }, geometry: box(2.5, 4) },
]
const STOPS = 'id,name,lon,lat\na,Alpha,2.2,48.5\nb,Beta,2.7,48.5\nc,Gamma,9,50\n'

describe('sets match', () => {
  let service: TestService
  const folder = cliFolder()
  const path = (name: string) => join(folder.path, name)
  const file = (name: string, text: string) => {
    writeFileSync(path(name), text)
    return path(name)
  }
  const cli = (argv: readonly string[], input?: string) =>
    runCli(argv, {
      env: { TRIGPOINT_URL: service.url, TRIGPOINT_API_KEY: service.developerKey, DATA_DIR: path('.data') },
      nowMs: Date.now(),
      ...(input === undefined ? {} : { input }),
    })
  const match = (points: string, ...more: string[]) => cli(['sets', 'match', 'zones', points, ...more])
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  beforeAll(async () => {
    service = await startTestService({ ...NO_LOCAL_CALLERS, RECORDS: '1', RATE_LIMIT_DEVELOPER: '1000000' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    const zones = file('zones.geojson', JSON.stringify({ type: 'FeatureCollection', features: ZONES }))
    expect((await cli(['sets', 'put', 'zones', zones])).exitCode).toBe(0)
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })
  beforeEach(() => {
    for (const name of ['out.csv', 'out.geojson', 'out.errors.ndjson', 'out.ndjson', 'out.gpkg'])
      rmSync(path(name), { force: true })
  })

  it('writes a table: the columns of the input, and a row for each match or one without a match', async () => {
    const run = await match(file('stops.csv', STOPS), '--properties', '-o', path('out.csv'))
    expect([run.exitCode, run.err, run.out]).toEqual([
      0,
      '',
      expect.stringMatching(/^3 results in \S+out\.csv; \d+\.\d s/),
    ])
    expect(readFileSync(path('out.csv'), 'utf8')).toBe(
      [
        'id,name,lon,lat,feature,name_2,inhabitants,error',
        'a,Alpha,2.2,48.5,west,West,12,',
        'b,Beta,2.7,48.5,west,West,12,',
        'b,Beta,2.7,48.5,east,"East, far",,',
        'c,Gamma,9,50,,,,',
        '',
      ].join('\n'),
    )
    expect(existsSync(path('out.errors.ndjson'))).toBe(false)
  })

  it('has the named properties and the distance of the nearest features as columns', async () => {
    const near = await match(
      path('stops.csv'),
      '--properties',
      'inhabitants',
      '--nearest',
      '1',
      '--output-format',
      'csv',
    )
    const [head, alpha, , gamma] = near.out.split('\n')
    expect(head).toBe('id,name,lon,lat,feature,distance,inhabitants,error')
    expect(alpha).toBe('a,Alpha,2.2,48.5,west,0,12,')
    expect(gamma).toMatch(/^c,Gamma,9,50,east,\d+(\.\d+)?,,$/)
    const within = await match(path('stops.csv'), '--within', '1000', '--output-format', 'csv')
    expect(within.out.split('\n')[4]).toBe('c,Gamma,9,50,,,')
  })

  it('has the id of each point if the input is not a table', async () => {
    const points = file(
      'points.ndjson',
      '{"type":"Point","coordinates":[2.2,48.5],"id":"p"}\n{"type":"Point","coordinates":[9,50]}\n',
    )
    expect((await match(points, '--output-format', 'csv')).out).toBe('id,feature,error\np,west,\n2,,\n')
  })

  it('writes Features with the geometry and the properties of the input, then those of the match', async () => {
    const feature = (longitude: number, properties: object | null, id?: number) =>
      JSON.stringify({ type: 'Feature', id, properties, geometry: { type: 'Point', coordinates: [longitude, 48.5] } })
    const points = file(
      'points.geojsonl',
      [feature(2.7, { name: 'Beta' }, 7), feature(9, { id: 'own' }), feature(9, null)].join('\n'),
    )
    const run = await match(points, '--properties', 'name', '-o', path('out.geojson'))
    expect([run.exitCode, run.err]).toEqual([0, ''])
    const point = (longitude: number) => ({ type: 'Point', coordinates: [longitude, 48.5] })
    expect(lines(readFileSync(path('out.geojson'), 'utf8'))).toEqual([
      { type: 'Feature', geometry: point(2.7), properties: { name: 'Beta', id: 7, feature: 'west', name_2: 'West' } },
      {
        type: 'Feature',
        geometry: point(2.7),
        properties: { name: 'Beta', id: 7, feature: 'east', name_2: 'East, far' },
      },
      { type: 'Feature', geometry: point(9), properties: { id: 'own', feature: null, name: null } },
      { type: 'Feature', geometry: point(9), properties: { id: 3, feature: null, name: null } },
    ])
    const table = await match(path('stops.csv'), '--output-format', 'geojson')
    expect(lines(table.out)[0]).toEqual({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [2.2, 48.5] },
      properties: { id: 'a', name: 'Alpha', lon: '2.2', lat: '48.5', feature: 'west' },
    })
  })

  it.skipIf(GDAL === undefined)('is a layer for GDAL, as Features and as a table', async () => {
    await match(path('stops.csv'), '--properties', '-o', path('out.geojson'))
    const features = await gdal('ogrinfo', ['-al', path('out.geojson')])
    expect(features).toContain('Feature Count: 4')
    expect(features).toContain('name_2 (String) = East, far')
    await match(path('stops.csv'), '--properties', '-o', path('out.csv'))
    const columns = ['X_POSSIBLE_NAMES=lon', 'Y_POSSIBLE_NAMES=lat', 'AUTODETECT_TYPE=YES'].flatMap((name) => [
      '-oo',
      name,
    ])
    await gdal('ogr2ogr', ['-f', 'GPKG', '-a_srs', 'EPSG:4326', ...columns, path('out.gpkg'), path('out.csv')])
    const table = await gdal('ogrinfo', ['-al', path('out.gpkg')])
    expect(table).toContain('Feature Count: 4')
    expect(table).toContain('inhabitants (Integer) = 12')
    expect(table).toContain('POINT (2.7 48.5)')
  })

  it('gives a wrong row an error and goes on, numbers the rows without an id, and exits with 1', async () => {
    const stops = file('wrong.csv', 'station,lon,lat\nA,2.2,48.5\nB,x,48.5\nC,9,50\n')
    const detail = 'column "lon": longitude "x" is not a decimal number such as 2.3522'
    const run = await match(stops)
    expect([run.exitCode, run.err]).toEqual([1, expect.stringMatching(/^2 results, 1 rejected; \d+\.\d s/)])
    expect(lines(run.out)).toEqual([
      { id: 1, matches: [{ feature: 'west' }] },
      { id: 2, error: expect.objectContaining({ status: 400, detail }) },
      { id: 3, matches: [] },
    ])
    const table = await match(stops, '-o', path('out.csv'))
    expect([table.exitCode, table.err]).toEqual([1, ''])
    expect(readFileSync(path('out.csv'), 'utf8').split('\n')[2]).toBe(`B,x,48.5,,"${detail.replaceAll('"', '""')}"`)
    expect(lines(readFileSync(path('out.errors.ndjson'), 'utf8'))).toEqual([
      { place: 'line 3', id: 2, problem: expect.objectContaining({ detail }) },
    ])
  })

  it('gives a line that the service rejects an error too', async () => {
    const mixed = [ZONES[0]!.geometry, { type: 'Point', coordinates: [2.2, 48.5] }].map((line) => JSON.stringify(line))
    const run = await match(file('mixed.ndjson', mixed.join('\n')))
    expect(run.exitCode).toBe(1)
    expect(lines(run.out)).toEqual([
      { id: 1, error: expect.objectContaining({ status: 400 }) },
      { id: 2, matches: [{ feature: 'west' }] },
    ])
  })

  it('says once that a file of polygons is the wrong one', async () => {
    const run = await match(path('zones.geojson'))
    expect([run.exitCode, run.out]).toEqual([2, ''])
    expect(run.err).toBe(
      `trigpoint: ${path('zones.geojson')}: line 1, features[0]: is Polygon, and sets match takes points; \`trigpoint sets put\` stores zones\n`,
    )
  })

  it('says how many points have more matches than it prints', async () => {
    const run = await match('2.7,48.5', '--limit', '1', '--output-format', 'csv')
    expect([run.out, run.err]).toEqual([
      'id,feature,error\n1,west,\n',
      expect.stringContaining('1 point has more matches than --limit allows\n'),
    ])
  })

  it('signs only lines of JSON, and writes no file for a set that is missing', async () => {
    const signed = await match(path('stops.csv'), '--attest', 'each', '-o', path('out.csv'))
    expect([signed.exitCode, signed.err]).toEqual([2, expect.stringContaining('csv has no signatures')])
    const missing = await cli(['sets', 'match', 'none', path('stops.csv'), '-o', path('out.csv')])
    expect([missing.exitCode, missing.err]).toEqual([2, expect.stringContaining('no set "none"')])
    const other = await match(path('stops.csv'), '-o', path('out.gpkg'))
    expect([other.exitCode, other.err]).toEqual([2, expect.stringContaining('write matches.geojsonl')])
    for (const name of ['out.csv', 'out.csv.part', 'out.gpkg']) expect(existsSync(path(name))).toBe(false)
  })

  it('reads standard input', async () => {
    const run = await cli(['sets', 'match', 'zones', '-', '--output-format', 'csv'], STOPS)
    expect(run.out.split('\n')[1]).toBe('a,Alpha,2.2,48.5,west,')
  })
})

// The set counts as one request, and each point as another.
describe('sets match at the hourly limit', () => {
  let service: TestService
  const folder = cliFolder()
  const path = (name: string) => join(folder.path, name)
  beforeAll(async () => {
    service = await startTestService({ RECORDS: '1', RATE_LIMIT_PUBLIC: '4', RATE_LIMIT_INTERNAL: '6' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })

  it('stops, keeps what is done, and says what raises the limit of this caller', async () => {
    const env = { TRIGPOINT_URL: service.url, DATA_DIR: path('.data') }
    const cli = (...argv: string[]) => runCli(argv, { env, nowMs: Date.now() })
    writeFileSync(path('zones.geojsonl'), ZONES.map((zone) => `${JSON.stringify(zone)}\n`).join(''))
    expect((await cli('sets', 'put', 'zones', path('zones.geojsonl'))).exitCode).toBe(0)
    writeFileSync(path('stops.csv'), `lon,lat\n${'2.2,48.5\n'.repeat(8)}`)
    const run = await cli('sets', 'match', 'zones', path('stops.csv'), '-o', path('out.csv'))
    expect(run.exitCode).toBe(5)
    expect(run.err).toMatch(/^the hourly limit allows 5 more items until 20\S+Z, and the file has more/)
    expect(run.err).toMatch(
      /the hourly limit is reached until 20\S+Z; 5 items are done: run the same command again to resume, after that time; each point counts as one request\n {2}RATE_LIMIT_INTERNAL of the service sets this limit: to raise it, start the service again with RATE_LIMIT_INTERNAL=1000000, for example\n$/,
    )
    expect(readFileSync(path('out.csv'), 'utf8').trim().split('\n')).toHaveLength(6)
    const one = await cli('compute', 'distance', '2,48', '3,49')
    expect(one.exitCode).toBe(5)
    expect(one.err).toContain('start the service again with RATE_LIMIT_INTERNAL=1000000')
    expect(one.err).toContain('compute and batch have --local')
    expect(one.err).not.toContain('--api-key')
  })
})
