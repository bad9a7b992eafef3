import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { OPERATION_INPUTS } from '../../src/cli/options.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { cliFolder, runCli, Transcript } from '../cli-runner.ts'
import { createAnswers } from '../client-answers.ts'

const folder = cliFolder()
afterAll(() => folder.remove())

const EIFFEL = '2.2945,48.8584'
const TOWN_HALL = 'POINT (2.3522 48.8566)'
const KEY = `0x${'1'.padStart(64, '0')}`
const env = { DATA_DIR: join(folder.path, '.data') }

function file(name: string, text: string): string {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}

function transcript(name: string): Transcript {
  // The message of JSON.parse differs between versions of Node.js.
  return new Transcript(name, [
    [folder.path, '<folder>'],
    [/is not JSON: (?:[^"\\\n]|\\.)+/g, 'is not JSON: <why>'],
  ])
}

describe('the command line prints exactly what test/vectors/cli has', () => {
  it('for its help', async () => {
    const commandTranscript = transcript('help')
    for (const verb of [
      [],
      ['compute'],
      ['batch'],
      ['verify'],
      ['stamp', 'create'],
      ['stamp', 'sign'],
      ['keygen'],
      ['schema', 'register'],
    ])
      await commandTranscript.run([...verb, '--help'])
    for (const verb of [['sync'], ['bench'], ['doctor'], ['keys', 'add'], ['mcp'], ['openapi'], ['plugin-test']])
      await commandTranscript.run([...verb, '--help'])
    await commandTranscript.run(['nonsense'])
    await commandTranscript.run(['compute', '--nonsense'])
    const { said, expected } = commandTranscript.compared()
    expect(said).toBe(expected)
  })

  it('for compute', async () => {
    const commandTranscript = transcript('compute')
    const local = (...argv: string[]) => commandTranscript.run(['compute', ...argv, '--local'], { env })
    await local('distance', EIFFEL, TOWN_HALL)
    await local('distance', '-73.9857,40.7484', 'geohash:u09tvw0', '--json')
    await local('area', 'POLYGON ((2 48, 3 48, 3 49, 2 49, 2 48))')
    await local('area', 'h3:8a1fb46622dffff')
    await local(
      'length',
      '{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[0,0],[1,1]]}}',
    )
    await local('contains', 'POLYGON ((2 48, 3 48, 3 49, 2 49, 2 48))', '2.5,48.5')
    await local('contains', 'POLYGON ((2 48, 3 48, 3 49, 2 49, 2 48))', '2.5,49.0005', '--edges', 'geodesic')
    await local('contains', 'LINESTRING (0 0, 179.9 0.1)', '5,5', '--edges', 'geodesic')
    await local('covers', 'LINESTRING (2 48, 3 48)', '2.5,48', '--edges', 'geodesic')
    await local('within', EIFFEL, TOWN_HALL, '--radius', '4000')
    await local('within', EIFFEL, TOWN_HALL, '--radius', '4238.77', '--recipient', `0x${'ab'.repeat(20)}`)
    await local('intersects', 'LINESTRING (0 0, 2 2)', 'LINESTRING (0 2, 2 0)')
    await local('relate', 'LINESTRING (0 0, 2 2)', 'LINESTRING (0 2, 2 0)')
    await local('relate', 'LINESTRING (0 0, 2 2)', '{"type":"Point","coordinates":[]}', '--json')
    await local('equals', 'POINT EMPTY', 'GEOMETRYCOLLECTION EMPTY')
    await local('distance', 'POINT EMPTY', 'POINT (1 2)')
    await local('relate', 'LINESTRING (0 0, 2 2)', 'LINESTRING (0 2, 2 0)', '--pattern', '0********')
    await local('crosses', 'LINESTRING (0 0, 2 2)', 'LINESTRING (0 2, 2 0)')
    await local('touches', 'LINESTRING (0 0, 2 2)', 'LINESTRING (0 2, 2 0)')
    await local('touches', EIFFEL, TOWN_HALL, '--pattern', '0********')
    await local('relate', EIFFEL, TOWN_HALL, '--pattern', '0*')
    await local('direct', EIFFEL, '--azimuth', '90', '--distance', '1000')
    await local('direct', EIFFEL, '--azimuth', '90')
    await local('nearest', EIFFEL, 'LINESTRING (3 48, 3 49)')
    await local('waypoints', EIFFEL, TOWN_HALL, '--every', '2000', '--json')
    await local('waypoints', EIFFEL, TOWN_HALL, '--every', '2000', '--radius', '5')
    await local('buffer', EIFFEL, '--radius', '1000', '--tolerance', '20')
    await local('buffer', EIFFEL, TOWN_HALL, '--radius', '1000')
    await local('repair', 'POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))')
    await local('repair', 'POLYGON ((0 0, 2 0, 2 2, 0 0))', '--json')
    await local('repair', 'POLYGON ((0 0, 1 1, 2 2, 0 0))')
    const gpx = file('walk.gpx', WALK)
    await local('length', gpx)
    await local('length', `${gpx}#3`)
    await local('length', `${gpx}#9`)
    await local('area', file('open.wkt', 'POLYGON ((2 48, 3 48, 3 49, 2 49))\n'))
    await local('area', 'POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))')
    await local('distance', EIFFEL)
    await local('within', EIFFEL, TOWN_HALL)
    await local('distance', EIFFEL, TOWN_HALL, '--radius', '3')
    await local('distance', '2.2945,98.8584', TOWN_HALL)
    await local('distance', EIFFEL, 'nowhere.geojson')
    await local('distance', '2.2945', '48.8584')
    await local('distance', EIFFEL, `0x${'ab'.repeat(32)}`)
    await local('distance', EIFFEL, TOWN_HALL, '--chain-id', '5')
    await local('distance', '-', '-')
    await local('within', EIFFEL, TOWN_HALL, '--radius', 'far')
    await local('volume', EIFFEL)
    await commandTranscript.run(['compute', 'length', '-', '--local'], {
      env,
      input: '{"type":"LineString","coordinates":[[0,0],[0,1]]}',
    })
    await commandTranscript.run(['compute', 'distance', EIFFEL, TOWN_HALL, '--url', 'not-an-address'])
    await commandTranscript.run(['compute', 'distance', EIFFEL, TOWN_HALL, '--local', '--data', file('no-folder', 'x')])
    const { said, expected } = commandTranscript.compared()
    expect(said).toBe(expected)
  })

  it('for batch', async () => {
    const commandTranscript = transcript('batch')
    const batch = (...argv: string[]) => commandTranscript.run(['batch', ...argv, '--local'], { env })
    const points = file('points.csv', 'id;lon;lat\na;2.2945;48.8584\nb;"2.3522";48.8566\nc;far;48\nd;2;98\n')
    await batch('distance', points, '--with', 'to=2.3522,48.8566', '--attest', 'none')
    await batch('within', points, '--with', 'target=2.3522,48.8566')
    await batch('relate', points, '--with', 'geometry2=2.3522,48.8566', '--attest', 'none')
    await batch('direct', points, '--azimuth', '90', '--distance', '1000', '--attest', 'none')
    await batch('relate', points, '--with', 'geometry2=2.3522,48.8566', '--attest', 'none', '--pattern', 'T********')
    await batch('equals', points, '--with', 'geometry2=2.3522,48.8566', '--pattern', 'T********')
    await batch('distance', points)
    await batch('distance', points, '--with', 'target=2,48')
    await batch('area', points, '--with', 'geometry=2,48')
    await batch('length', file('walk.gpx', WALK), '--attest', 'none')
    const lines = file('items.ndjson', ITEMS)
    await batch('mixed', lines, '--attest', 'none')
    await batch('area', lines, '--attest', 'none')
    const collection = file('parcels.geojson', PARCELS)
    await batch('area', collection, '-o', join(folder.path, 'areas.ndjson'), '--json')
    await batch('area', collection, '-o', join(folder.path, 'areas.ndjson'))
    await batch('area', collection, '-o', join(folder.path, 'areas.ndjson'), '--restart')
    await batch(
      'distance',
      file('pairs.csv', 'from_lon,from_lat,to_wkt\n0,0,POINT(0 1)\n0,0,POINT(0)\n'),
      '--attest',
      'none',
    )
    await batch('distance', file('headless.csv', '2,48\n3,49\n'), '--with', 'to=2,48')
    await batch(
      'distance',
      join(folder.path, 'headless.csv'),
      '--with',
      'to=2,48',
      '--columns',
      'lon,lat',
      '--attest',
      'none',
    )
    await batch('area', file('empty.geojson', ''))
    await batch('area', file('broken.geojson', '{"type":"FeatureCollection","features":[{"type":"Feature"'))
    await batch('area', file('latin.csv', 'x'), '--format', 'gpx')
    await commandTranscript.run(['batch', 'area', '-', '--local', '--attest', 'none'], {
      env,
      input: 'POLYGON ((0 0, 1 0, 1 1, 0 0))\nPOLYGON ((0 0\n',
    })
    const { said, expected } = commandTranscript.compared()
    expect(said).toBe(expected)
  })

  it('for verify', async () => {
    const commandTranscript = transcript('verify')
    const response = (await runCli(['compute', 'distance', EIFFEL, TOWN_HALL, '--local', '--json'], { env })).out
    const good = file('answer.json', response)
    const inputs = ['--geometry', EIFFEL, '--geometry', TOWN_HALL]
    await commandTranscript.run(['verify', good])
    await commandTranscript.run([
      'verify',
      good,
      '--attester',
      '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      ...inputs,
      '--recompute',
    ])
    await commandTranscript.run(['verify', good, '--attester', `0x${'ab'.repeat(20)}`])
    await commandTranscript.run(['verify', good, '--geometry', EIFFEL, '--geometry', '0,0'])
    await commandTranscript.run(['verify', '-', '--json'], { input: response.replace('4238.77', '4238.78') })
    await commandTranscript.run(['verify', '-', '--json'], { input: `${response}${response}` })
    await commandTranscript.run(['verify', '-'], { input: response.replace(/"nonce":0/, '"nonce":1') })
    const { attestation, delegatedAttestation } = JSON.parse(response)
    const bare = file('bare.json', JSON.stringify(attestation))
    await commandTranscript.run(['verify', bare])
    await commandTranscript.run(['verify', bare, '--nonce', '0', '--deadline', String(delegatedAttestation.deadline)])
    await commandTranscript.run(['verify', '-'], {
      input: `${response}${response.replace('4238.77', '1')}{"id":3,"error":{"title":"no"}}\nnonsense\n`,
    })
    const stamp = (await runCli(['stamp', 'create', '--at', EIFFEL, '--key', KEY])).out
    await commandTranscript.run(['verify', '-'], { input: stamp })
    await commandTranscript.run(['verify', '-'], { input: stamp.replace('48.8584', '48.8585') })
    await commandTranscript.run(['verify', '-'], { input: '{"a":1}' })
    await commandTranscript.run(['verify', '-'], { input: '' })
    await commandTranscript.run(['verify', join(folder.path, 'none.json')])
    await commandTranscript.run(['verify', good, '--recompute'])
    await commandTranscript.run(['verify', good, '--chain-id', '5'])
    await commandTranscript.run(['verify', good, '--attester', 'somebody'])
    await commandTranscript.run(['verify', good, '--batch', good])
    await commandTranscript.run(['verify', good, '--issuer', good])
    const { merkleBatch, jobLine } = await createAnswers()
    const batch = file('batch.json', JSON.stringify(await merkleBatch()))
    const nowhere = ['--rpc', 'http://127.0.0.1:1']
    await commandTranscript.run(['verify', batch, '--allow-expired', '--geometry', '0,0', '--recompute'])
    await commandTranscript.run(['verify', batch, '--allow-expired', ...nowhere])
    await commandTranscript.run(['verify', '-', '--allow-expired', ...nowhere], { input: `${jobLine}\n${jobLine}\n` })
    await commandTranscript.run(['verify', good, '--url', 'http://127.0.0.1:3000'])
    const { said, expected } = commandTranscript.compared()
    expect(said).toBe(expected)
  })

  it('for stamp, schema and keygen', async () => {
    const commandTranscript = transcript('stamp-schema-keygen')
    const create = ['stamp', 'create', '--at', EIFFEL]
    const stamp = await commandTranscript.run([
      ...create,
      '--key',
      KEY,
      '--signal',
      'wifi=true',
      '--signal',
      'note=indoors',
    ])
    await commandTranscript.run([...create, '--start', '2026-01-01T00:00:00Z', '--seconds', '5'])
    await commandTranscript.run([...create, '--start', 'soon'])
    await commandTranscript.run([...create, '--signal', 'nothing'])
    await commandTranscript.run([...create, '--key', 'none.key'])
    await commandTranscript.run([
      'stamp',
      'sign',
      file('stamp.json', stamp.out),
      '--key',
      file('second.key', `${'2'.padStart(64, '0')}\n`),
    ])
    await commandTranscript.run(['stamp', 'sign', file('none.json', '{}'), '--key', KEY])
    await commandTranscript.run(['stamp', 'sign', join(folder.path, 'stamp.json')])
    await commandTranscript.run([
      'stamp',
      'sign',
      join(folder.path, 'stamp.json'),
      '--key',
      file('zero.key', '0'.repeat(64)),
    ])
    await commandTranscript.run(['schema', 'list'])
    await commandTranscript.run(['schema', 'list', '--json'])
    await commandTranscript.run(['schema', 'uid', 'boolean', '--json'])
    await commandTranscript.run([
      'schema',
      'uid',
      'uint256 result,string units',
      '--resolver',
      `0x${'ab'.repeat(20)}`,
      '--no-revocable',
    ])
    await commandTranscript.run(['schema', 'uid', 'x y z'])
    await commandTranscript.run(['schema', 'uid', 'uint25 x'])
    await commandTranscript.run(['schema', 'register', 'numeric'])
    await commandTranscript.run(['schema', 'register', 'numeric', '--rpc', 'http://127.0.0.1:9', '--key', KEY])
    await commandTranscript.run(['keygen'])
    await commandTranscript.run(['keygen', '--keystore', join(folder.path, 'keystore.json')])
    await commandTranscript.run(['keygen', '--out', join(folder.path, 'stamp.json')])
    const { said, expected } = commandTranscript.compared()
    expect(said).toBe(expected)
  })

  it('for keys', async () => {
    const made: string[] = []
    const keys = { DATA_DIR: join(folder.path, 'keys') }
    const commandTranscript = new Transcript('keys', [
      [folder.path, '<folder>'],
      [/tp_\w+/g, '<key>'],
      [/[0-9a-f]{12}/g, '<id>'],
    ])
    await commandTranscript.run(['keys', 'list'], { env: keys })
    made.push(
      (await commandTranscript.run(['keys', 'add', 'internal', '--label', 'night run'], { env: keys })).out.trim(),
    )
    made.push(JSON.parse((await commandTranscript.run(['keys', 'add', 'developer', '--json'], { env: keys })).out).id)
    await commandTranscript.run(['keys', 'list'], { env: keys })
    await commandTranscript.run(['keys', 'list', '--json'], { env: keys })
    await commandTranscript.run(['keys', 'revoke', made[0]!], { env: keys })
    await commandTranscript.run(['keys', 'revoke', made[1]!, '--json'], { env: keys })
    await commandTranscript.run(['keys', 'revoke', made[1]!], { env: keys })
    await commandTranscript.run(['keys', 'list'], { env: { ...keys, API_KEYS: '{"secret":{"tier":"internal"}}' } })
    await commandTranscript.run(['keys', 'add', 'royal'], { env: keys })
    await commandTranscript.run(['keys', 'list', '--file', file('not-keys.json', '[]')])
    const { said, expected } = commandTranscript.compared()
    expect(said).toBe(expected)
  })
})

describe('the command line', () => {
  it.each(['Eiffel Tower', '48.8584N 2.2945E', 'POINT 2 48', '0x1234', ''])(
    'lists the forms of an input, with examples that it accepts, for %j',
    async (input) => {
      const { exitCode, err } = await runCli(['compute', 'distance', input, EIFFEL, '--local'], { env })
      expect(exitCode).toBe(2)
      const examples = [...err.matchAll(/^ {4}[\w ,]+?(?: {2,}|(?<=longitude,latitude) +)(\S.*)$/gm)].map(
        ([, text]) => text!,
      )
      expect(examples).toHaveLength(12)
      for (const example of examples.slice(0, 6)) {
        const place = example.replace(/^'(.*)'$/, '$1')
        expect(await runCli(['compute', 'intersects', place, place, '--local'], { env })).toMatchObject({ exitCode: 0 })
      }
    },
  )

  it('uses the singular for one', async () => {
    const one = file('one.wkt', 'POLYGON ((2 48, 3 48, 3 49, 2 49, 2 48))\n')
    const output = join(folder.path, 'one.ndjson')
    expect((await runCli(['batch', 'area', one, '--local', '-o', output], { env })).out).toMatch(/^1 result in /)
    expect((await runCli(['compute', 'area', `${one}#2`, '--local'], { env })).err).toContain('contains 1 geometry:')
    const failedLine = '{"id":3,"error":{"title":"no"}}\n'
    const failedRun = await runCli(['verify', '-'], { input: `${failedLine}${failedLine}` })
    expect(failedRun.out).toContain('2 results: 0 are valid, 1 is not, 1 is an error')
  })

  it('accepts the types of Solidity in a schema, and names one that does not exist', async () => {
    const uid = (type: string) => runCli(['schema', 'uid', `uint256 first,${type} x`])
    for (const type of [
      'address',
      'bool',
      'string',
      'bytes',
      'bytes1',
      'bytes32',
      'uint',
      'int',
      'uint8',
      'int256',
      'uint24[]',
      'bytes32[2][]',
    ])
      expect(await uid(type)).toMatchObject({ exitCode: 0, err: '' })
    for (const type of [
      'uint25',
      'int7',
      'bytes33',
      'bytes0',
      'uint264',
      'uint0',
      'uint08',
      'boolean',
      'byte',
      'float',
      'uint8[0]',
    ]) {
      const run = await uid(type)
      expect([run.exitCode, run.err]).toEqual([
        2,
        expect.stringContaining(`trigpoint: ${type} is not a supported Solidity type`),
      ])
    }
  })

  it('knows the operations of the engine and their inputs', () => {
    const inputs = Object.fromEntries(Object.values(OPERATIONS).map((row) => [row.name, row.inputs]))
    expect(OPERATION_INPUTS).toEqual(inputs)
  })

  it('creates keystores that it can open, with distinct keys', async () => {
    const password = file('password.txt', 'correct horse\n')
    const keystore = join(folder.path, 'signer.json')
    const made = await runCli(['keygen', '--keystore', keystore, '--password-file', password, '--reveal', '--json'])
    const { address, privateKey } = JSON.parse(made.out)
    const stamp = file('unsigned.json', (await runCli(['stamp', 'create', '--at', EIFFEL])).out)
    const sign = async (...key: string[]) =>
      JSON.parse((await runCli(['stamp', 'sign', stamp, '--key', ...key])).out).signatures
    expect(await sign(keystore, '--password-file', password)).toEqual(await sign(privateKey))
    expect((await sign(privateKey))[0].signer.value).toBe(address.toLowerCase())
    const wrong = await runCli(['stamp', 'sign', stamp, '--key', keystore, '--password-file', file('wrong.txt', 'x')])
    expect([wrong.exitCode, wrong.err]).toEqual([
      78,
      `trigpoint: ${keystore}: cannot be decrypted with this password\n`,
    ])
    const words = JSON.parse((await runCli(['keygen', '--mnemonic', '--reveal', '--json'])).out)
    expect(words.mnemonic.split(' ')).toHaveLength(12)
    expect(words.address).not.toBe(address)
  })
})

const WALK = `<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="test">
  <metadata><bounds minlat="0" minlon="0" maxlat="1" maxlon="1"/></metadata>
  <wpt lat="48.8584" lon="2.2945"><name>tower &amp; park</name></wpt>
  <rte><rtept lat="0" lon="0"/><rtept lat="0" lon="x"/></rte>
  <trk><name>walk</name>
    <trkseg><trkpt lat="0" lon="0"><ele>3</ele></trkpt><trkpt lat="1" lon="0"/></trkseg>
    <trkseg><trkpt lat="5" lon="5"/></trkseg>
    <trkseg><trkpt lat="2" lon="0"/><trkpt lat="3" lon="0"/></trkseg>
  </trk>
</gpx>
`
const ITEMS = `{"op":"area","geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}
{"op":"area","id":"mine","geometry":{"type":"Point","coordinates":[0,0]}}
{"op":"within","geometry":{"type":"Point","coordinates":[0,0]},"target":{"type":"Point","coordinates":[0,1]},"radius":200000}
{"op":"within","geometry":{"type":"Point","coordinates":[0,0]},"target":{"type":"Point","coordinates":[0,1]}}
{"op":"distance","from":{"type":"Point","coordinates":[0,0]}}
{"op":"area","geometry":

{"type":"Point","coordinates":[0,0]}
[1,2]
`
const PARCELS = `{
  "type": "FeatureCollection",
  "name": "parcels",
  "features": [
    { "type": "Feature", "id": 7, "properties": { "note": "a } in a string \\" and \\\\" },
      "geometry": { "type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]] } },
    { "type": "Feature", "properties": null, "geometry": null },
    { "type": "Feature", "properties": {}, "geometry": { "type": "Polygon", "coordinates": [[[5,5],[6,5],[6,6],[5,5]]] } }
  ]
}
`
