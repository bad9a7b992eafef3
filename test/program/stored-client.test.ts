import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'flatgeobuf/lib/mjs/geojson.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError, type Client, createClient, verifyResult } from '../../src/client/client.ts'
import { runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const ZONE = {
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 49],
      [2, 48],
    ],
  ],
} as const
const ZONES = [
  { type: 'Feature', id: 'west', properties: { name: 'West' }, geometry: ZONE },
  { type: 'Feature', properties: null, geometry: { type: 'Point', coordinates: [7, 48] } },
] as const
const POINT = { type: 'Point', coordinates: [2.2945, 48.8584] } as const

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of all) items.push(item)
  return items
}

let service: TestService
let client: Client
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-stored-'))
beforeAll(async () => {
  service = await startTestService({ ...NO_LOCAL_CALLERS, RECORDS: '1', RATE_LIMIT_DEVELOPER: '1000000' })
  await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  client = createClient({ baseUrl: service.url, apiKey: service.developerKey, chainId: 84532 })
})
afterAll(async () => {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the client', () => {
  it('stores geometries, names them in requests, and verifies the results by their references', async () => {
    const { ref } = await client.geometries.put({ type: 'Feature', geometry: ZONE })
    const answer = await client.compute.contains({ ref }, POINT)
    expect(answer.result).toBe(true)
    for (const inputs of [
      [ZONE, POINT],
      [{ ref }, POINT],
    ]) {
      const verdict = await verifyResult(answer, { attester: service.attester, inputs })
      expect(verdict.ok, JSON.stringify(verdict)).toBe(true)
    }
    const { geometry } = await client.geometries.get(ref)
    expect(geometry).toEqual(ZONE)
    expect((await client.geometries.list()).geometries.map((stored) => stored.ref)).toEqual([ref])
    expect(await client.geometries.delete(ref)).toEqual({ deleted: ref })
    await expect(client.compute.contains({ ref }, POINT)).rejects.toThrow(ApiError)
  })

  it('stores sets and matches points', async () => {
    expect(await client.sets.put('zones', ZONES)).toMatchObject({ name: 'zones', features: 2 })
    const points = Array.from({ length: 12_000 }, (_, id) => ({ ...POINT, id }))
    const lines = await collect(client.sets.match('zones', points, { properties: ['name'] }))
    expect(lines).toHaveLength(12_000)
    expect(lines[11_999]).toEqual({ id: 11_999, matches: [{ feature: 'west', properties: { name: 'West' } }] })
    const [signed] = await collect(client.sets.match('zones', [POINT], { nearest: 1, attest: 'each' }))
    expect(signed?.matches?.[0]).toMatchObject({ feature: 'west', distance: 0, operation: 'distance' })
    expect(await collect(client.sets.features('zones'))).toEqual(ZONES)
    expect((await client.sets.get('zones')).vertices).toBe(6)
    expect((await client.sets.list()).map(({ name }) => name)).toEqual(['zones'])
    const collection = { type: 'FeatureCollection', features: ZONES } as const
    expect(await client.sets.put('zones', collection)).toMatchObject({ features: 2 })
    for (const wrong of [ZONES[0], { features: ZONES }, { type: 'FeatureCollection' }, 'zones.geojson', 3, null])
      await expect(client.sets.put('zones', wrong as never)).rejects.toThrow(
        new TypeError('features: must be a FeatureCollection or an iterable of Features'),
      )
    await expect(client.sets.put('zones', [])).rejects.toMatchObject({ status: 400 })
    expect((await client.sets.get('zones')).features).toBe(2)
    expect(await client.sets.delete('zones')).toEqual({ deleted: 'zones' })
    await expect(client.sets.get('zones')).rejects.toThrow(ApiError)
  })
})

describe('the command line', () => {
  const cli = (...argv: string[]) =>
    runCli(argv, {
      env: { TRIGPOINT_URL: service.url, TRIGPOINT_API_KEY: service.developerKey },
      nowMs: Date.now(),
    })
  const file = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }

  it('stores geometries and computes with them', async () => {
    const put = await cli('geometries', 'put', file('city.geojson', JSON.stringify(ZONE)), '2.3,48.8')
    expect([put.exitCode, put.err]).toEqual([0, ''])
    const [ref] = put.out.trim().split('\n')
    const contains = await cli('compute', 'contains', `ref:${ref}`, '2.2945,48.8584')
    expect([contains.exitCode, contains.out.split('\n')[0]]).toEqual([0, 'true'])
    const list = await cli('geometries', 'list')
    expect(list.out).toContain(ref)
    expect(list.err).toMatch(/^2 geometries; \d+ of 67108864 bytes used, those of sets included\n$/)
    expect(JSON.parse((await cli('geometries', 'get', `ref:${ref}`)).out)).toEqual(ZONE)
    const collection = file('two.geojson', JSON.stringify({ type: 'FeatureCollection', features: ZONES }))
    const several = await cli('geometries', 'put', collection)
    expect([several.exitCode, several.err]).toEqual([2, expect.stringContaining(`${collection}#1 ${collection}#2`)])
    expect(several.err).toContain('trigpoint sets put')
    expect((await cli('geometries', 'put', `${collection}#1`)).out).toBe(`${ref}\n`)
    expect((await cli('geometries', 'delete', ref!)).err).toBe(`deleted ${ref}\n`)
    expect((await cli('geometries', 'delete', ref!)).exitCode).toBe(2)
    expect((await cli('compute', 'contains', `ref:${ref}`, '2.2945,48.8584', '--local')).err).toContain(
      'stored geometry',
    )
  })

  it('stores sets of files and matches the points of a file', async () => {
    const collection = file('zones.geojson', JSON.stringify({ type: 'FeatureCollection', features: ZONES }, null, 1))
    expect((await cli('sets', 'put', 'zones', collection)).err).toMatch(/^zones: 2 features, 6 vertices, \d+ bytes\n$/)
    const sequence = file('zones.geojsons', ZONES.map((feature) => `\u001e${JSON.stringify(feature)}\n`).join(''))
    expect((await cli('sets', 'put', 'copy', sequence, '--json')).out).toContain('"features":2')
    const features = ZONES.map((feature) => ({ ...feature, properties: {} }))
    const written = serialize({ type: 'FeatureCollection', features } as unknown as Parameters<typeof serialize>[0])
    expect((await cli('sets', 'put', 'copy', file('zones.fgb', written), '--json')).out).toContain('"features":2')
    const stops = file('stops.csv', 'id,lon,lat\na,2.2945,48.8584\nb,50,50\n')
    const match = await cli('sets', 'match', 'zones', stops, '--properties', 'name')
    expect([match.exitCode, match.err]).toEqual([0, expect.stringMatching(/^2 results; \d+\.\d s/)])
    expect(
      match.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { id: 'a', matches: [{ feature: 'west', properties: { name: 'West' } }] },
      { id: 'b', matches: [] },
    ])
    for (const place of ['2.2945,48.8584', 'POINT (2.2945 48.8584)', JSON.stringify(POINT)])
      expect((await cli('sets', 'match', 'zones', place)).out, place).toBe('{"id":1,"matches":[{"feature":"west"}]}\n')
    const near = await cli('sets', 'match', 'zones', stops, '--nearest', '3', '--within', '5000', '--attest', 'each')
    expect(JSON.parse(near.out.split('\n')[0]!).matches[0]).toMatchObject({ feature: 'west', operation: 'distance' })
    const signed = await cli('sets', 'match', 'zones', stops, '--attest', 'each')
    const verify = (text: string, ...argv: string[]) =>
      cli('verify', file('matches.ndjson', text), '--attester', service.attester, ...argv)
    const one = await verify(signed.out)
    expect([one.exitCode, one.err]).toEqual([0, ''])
    expect(one.out).toMatch(/– feature .*not signed/)
    expect((await verify(near.out + signed.out)).out).toBe('2 results: 2 are valid, 0 are not\n')
    const forged = near.out.replace('"distance":0,', '"distance":5,')
    expect(await verify(signed.out + forged)).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining('✗ line 3, matches[0]: values: distance is not the result'),
    })
    expect((await verify(match.out)).out).toContain('match with attest=each')
    expect((await cli('sets', 'list')).out.split('\n').map((line) => line.split(' ')[0])).toEqual(['copy', 'zones', ''])
    expect((await cli('sets', 'features', 'copy')).out.trim().split('\n')).toHaveLength(2)
    expect((await cli('sets', 'delete', 'copy')).err).toBe('deleted copy\n')
    const missing = await cli('sets', 'match', 'none', '2,48')
    expect([missing.exitCode, missing.err]).toEqual([
      2,
      expect.stringMatching(
        /this API key has no set "none"[^\n]+\n {2}send the API key with which it was stored: --api-key, or for the development key DATA_DIR \(by default \.data of the current folder\)\n$/,
      ),
    ])
    const packed = await cli('sets', 'put', 'zones', file('packed.gpkg', 'SQLite format 3\0'))
    expect([packed.exitCode, packed.err]).toEqual([
      2,
      expect.stringMatching(
        /packed\.gpkg: is a GeoPackage, which is not read; convert it: ogr2ogr -f GeoJSONSeq -t_srs EPSG:4326 packed\.geojsonl \S+packed\.gpkg\n$/,
      ),
    ])
    const wrong = await cli('sets', 'put', 'zones', file('wrong.geojsonl', '{"type":"Feature"}\nno\n'))
    expect([wrong.exitCode, wrong.err]).toEqual([2, expect.stringContaining('line 2')])
  })
})
