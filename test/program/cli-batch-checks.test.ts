import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cliFolder, runCli } from '../cli-runner.ts'

const BOW = '{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}'
const SQUARE = '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}'

describe('what a batch says about its input', () => {
  let folder: ReturnType<typeof cliFolder>
  beforeEach(() => {
    folder = cliFolder()
    file('places.csv', 'id,lon,lat\na,0.1,0.2\nb,0.2,0.3\n')
    file('bow.geojson', BOW)
    file('square.geojson', SQUARE)
  })
  afterEach(() => folder.remove())

  const path = (name: string) => join(folder.path, name)
  const file = (name: string, text: string) => {
    writeFileSync(path(name), text)
    return path(name)
  }
  const batch = (...argv: string[]) => runCli(['batch', ...argv], { env: { DATA_DIR: path('.data') } })
  const outputs = () => ['y.csv', 'y.csv.part', 'y.errors.ndjson'].filter((name) => existsSync(path(name)))

  // Nothing listens on port 1: the geometry is rejected before the service is called.
  it.each([
    ['in this process', ['--local']],
    ['for a service', ['--url', 'http://127.0.0.1:1']],
  ])('rejects an invalid geometry of --with once, and writes no file, %s', async (_where, more) => {
    const argv = ['contains', path('places.csv'), '-o', path('y.csv'), ...more]
    const run = await batch(...argv, '--with', `container=${path('bow.geojson')}`)
    expect([run.exitCode, run.out]).toEqual([2, ''])
    expect(run.err).toMatch(
      /^trigpoint: --with container\.coordinates\[0\]\[2\]: self-intersection at \[0\.5, 0\.5\].*\n$/,
    )
    expect(outputs()).toEqual([])
  })

  it('accepts the corrected command after that', async () => {
    const argv = ['contains', path('places.csv'), '-o', path('y.csv'), '--local']
    await batch(...argv, '--with', `container=${path('bow.geojson')}`)
    await batch(...argv)
    expect(outputs()).toEqual([])
    const run = await batch(...argv, '--with', `container=${path('square.geojson')}`)
    expect([run.exitCode, run.err]).toEqual([0, ''])
    expect(readFileSync(path('y.csv'), 'utf8')).toContain('a,0.1,0.2,true,,contains,\n')
  })

  it.each([
    ['a table', 'places.csv', 'id,lon,lat\nbad,x,y\na,0.1,0.2\n'],
    ['lines of JSON', 'places.ndjson', '{"type":"Point","coordinates":[0,0]}\n{"type":"Point","coordinates":[0,1]}\n'],
    ['a collection', 'places.geojson', '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null}]}'],
  ])('says that --with is missing if the file is %s, and writes no file', async (_what, name, text) => {
    const run = await batch('contains', file(name, text), '-o', path('y.csv'), '--local')
    expect([run.exitCode, run.err]).toEqual([
      2,
      `trigpoint: ${path(name)}: each item is one input, but contains takes container and containee: give the other one with --with container=…\n`,
    ])
    expect(outputs()).toEqual([])
  })

  it('rejects single items if others have both inputs', async () => {
    const both = `{"container":${SQUARE},"containee":{"type":"Point","coordinates":[0.5,0.5]}}`
    const run = await batch('contains', file('mixed.ndjson', `${SQUARE}\n${both}\n`), '--local', '--attest', 'none')
    expect([run.exitCode, JSON.parse(run.out)]).toEqual([1, expect.objectContaining({ id: 2, result: true })])
  })

  it.each([
    ['distance', 'to=2.35,48.85', []],
    ['within', 'target=POINT (0 0)', ['--radius', '5']],
    ['within', 'geometry=POINT (0 0)', ['--radius', '5']],
    ['waypoints', 'to=2.35,48.85', ['--every', '100000']],
    ['nearest', 'to=LINESTRING (0 0, 1 1)', []],
    ['crosses', 'geometry1=LINESTRING (0 0, 1 1)', []],
    ['relate', 'geometry2=POINT EMPTY', []],
  ])('accepts a valid --with of %s: %s', async (operation, input, more) => {
    const run = await batch(operation, path('places.csv'), '--with', input, '--local', ...more)
    expect([run.exitCode, run.err]).toEqual([0, expect.stringContaining('2 results')])
  })

  it('leaves an attestation of --with to the service', async () => {
    const uid = `0x${'1'.repeat(64)}`
    const run = await batch('contains', path('places.csv'), '--with', `container=${uid}`, '--url', 'http://127.0.0.1:1')
    expect(run.exitCode).toBe(3)
  })

  it('prints the first rejection if every item was rejected', async () => {
    const input = file('far.csv', 'lon,lat\n200,0\n300,0\n')
    const run = await batch('distance', input, '--with', 'to=1,1', '--local', '-o', path('y.csv'))
    expect([run.exitCode, run.err]).toEqual([
      1,
      'every item was rejected; the first: line 2, id 1: column "lon": longitude 200 is outside -180..180\n',
    ])
  })

  it('leaves no empty file of errors, nor one of an earlier run', async () => {
    const argv = ['distance', path('places.csv'), '--with', 'to=1,1', '--local', '-o', path('y.csv')]
    file('y.errors.ndjson', '{}\n')
    const run = await batch(...argv, '--restart')
    expect([run.exitCode, outputs()]).toEqual([0, ['y.csv']])
  })

  it.each([
    ['lines of text', 'id,breite,laenge\na,0.1,0.2\n', true],
    ['a number', 'id,n.a.,0.5\na,0.1,0.2\n', false],
  ])('says whether a first row with %s looks like a header', async (_what, text, isHeader) => {
    const run = await batch(
      'distance',
      file('german.csv', text),
      '--with',
      'to=1,1',
      '--local',
      '--columns',
      'id,lat,lon',
    )
    const { problem } = JSON.parse(run.err.split('\n')[0]!)
    expect(problem.detail.includes('this looks like a header')).toBe(isHeader)
    expect(run.out).toContain('a,0.1,0.2,')
  })

  it.each(['json', 'ndjson'])(
    'gives the index of a feature in a collection of one line, read as %s',
    async (format) => {
      const features = [0, 98, 1, 99].map((latitude) => {
        return { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [0, latitude] } }
      })
      const collection = file('one.geojson', `${JSON.stringify({ type: 'FeatureCollection', features })}\n`)
      const run = await batch('distance', collection, '--with', 'to=1,1', '--local', '--format', format)
      const errors = run.err.split('\n').slice(0, 2)
      expect(errors.map((line) => JSON.parse(line).place)).toEqual(['line 1, features[1]', 'line 1, features[3]'])
    },
  )

  // Regression: if "type" came before "features", as usual, the collection was one item, held in memory and limited to 32 MiB.
  it('gives the line of a feature in a collection of many lines', async () => {
    const features = [0, 98].map(
      (latitude) => `{"type":"Feature","geometry":{"type":"Point","coordinates":[0,${latitude}]}}`,
    )
    const collection = file(
      'many.geojson',
      `{"type":"FeatureCollection","name":"x","features":[\n${features.join(',\n')}\n]}\n`,
    )
    const run = await batch('distance', collection, '--with', 'to=1,1', '--local')
    expect(JSON.parse(run.err.split('\n')[0]!).place).toBe('line 3')
  })
})
