import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import recordSchema from '../../schemas/location-record.schema.json' with { type: 'json' }
import listSchema from '../../schemas/location-record-list.schema.json' with { type: 'json' }
import configSchema from '../../schemas/record-config.schema.json' with { type: 'json' }
import errorSchema from '../../schemas/record-error.schema.json' with { type: 'json' }
import statsSchema from '../../schemas/record-stats.schema.json' with { type: 'json' }
import { createRecordStore } from '../../src/store/operations.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'
import { addressOf, recordOf, storeRecords, uidOf } from '../store-records.ts'

const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true })
ajv.addSchema(recordSchema)
const VALID: Record<string, ValidateFunction> = Object.fromEntries(
  Object.entries({ list: listSchema, config: configSchema, stats: statsSchema, error: errorSchema }).map(
    ([name, schema]) => [name, ajv.compile(schema)],
  ),
)
VALID['record'] = ajv.getSchema('location-record.schema.json')!

const now = Math.floor(Date.now() / 1000)
const HOSTILE = '\u0000 \ud800 \u2028 " \\ "revoked":true,"srs":"EPSG:4326" 💥 </script>'
// 250 points along the diagonal of the world, one second apart; then records for special cases.
const POINTS = Array.from({ length: 250 }, (_, index) => recordOf(index))
const SQUARE = recordOf(1000, {
  locationType: 'geojson-polygon',
  location: '{"type":"Polygon","coordinates":[[[10.5,50.5],[11.5,50.5],[11.5,51.5],[10.5,51.5],[10.5,50.5]]]}',
  longitude: null,
  latitude: null,
  bounds: [10.5, 50.5, 11.5, 51.5],
})
const CROSSING = recordOf(1001, {
  locationType: 'geojson-polygon',
  location: '{"type":"Polygon","coordinates":[[[179,60],[-179,60],[-179,61],[179,60]]]}',
  longitude: null,
  latitude: null,
  bounds: [179, 60, 181, 61],
})
const RECENT = recordOf(1002, {
  timeSeconds: now - 3600,
  eventTimeSeconds: now - 7200,
  chainId: 42161,
  chain: 'arbitrum',
})
const NULL_ISLAND = recordOf(1003, {
  location: '{"type":"Point","coordinates":[0,0]}',
  longitude: 0,
  latitude: 0,
  bounds: [0, 0, 0, 0],
})
const ODD_TEXT = recordOf(1004, {
  memo: HOSTILE,
  mediaData: [HOSTILE],
  recipeTypes: [HOSTILE],
  chainId: 42220,
  chain: 'celo',
})
const ALL = [...POINTS, SQUARE, CROSSING, RECENT, NULL_ISLAND, ODD_TEXT]

describe.each(ENGINES)('the record API on %s', (engine) => {
  let files: StoreFiles
  let service: TestService

  beforeAll(async () => {
    files = await makeStore(engine)
    const database = await files.open()
    const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
    await storeRecords(store, ALL)
    await store.apply({ chainId: 84532, records: [], revocations: [{ uid: uidOf(7), blockNumber: 5000 }] })
    await database.close()
    service = await startTestService({
      ...files.environment,
      RECORDS: '1',
      STORE_READ_MS: '20000',
      RPC_URL_84532: 'http://127.0.0.1:1',
    })
    await untilReadable(service.url)
  })
  afterAll(async () => {
    await service.stop()
    await files.remove()
  })

  async function get(path: string, shape: string, status = 200) {
    const response = await fetch(`${service.url}/api/v0/${path}`)
    const text = await response.text()
    expect([response.status, text.slice(0, 300)]).toEqual([status, text.slice(0, 300)])
    const body = JSON.parse(text)
    const validate = VALID[shape]!
    expect(validate(body), JSON.stringify(validate.errors)).toBe(true)
    return { body, headers: response.headers }
  }
  const list = async (query: string) => (await get(`location-records?${query}`, 'list')).body
  const uids = async (query: string) => (await list(query)).data.map(({ uid }: { uid: string }) => uid)
  const getProblem = async (query: string) => (await get(`location-records?${query}`, 'error', 400)).body

  it('returns its configuration with the four chains of the interface', async () => {
    const { body } = await get('config', 'config')
    // An RPC of base-sepolia turns base on (decision 111).
    expect(body.chains).toEqual({ arbitrum: false, celo: false, sepolia: false, base: true })
    expect(body.chains_all).toMatchObject({ 'base-sepolia': true, base: false })
    expect(body.schema).toBe('0xba4171c92572b1e4f241d044c32cdf083be9fd946b8766977558ca6378c824e2')
    expect(body.schema_fields.split(',')).toHaveLength(9)
  })

  it.each(['location-proofs', 'location-records'])('lists %s newest first, with the total count', async (route) => {
    const { body } = await get(route, 'list')
    expect(body).toMatchObject({ count: ALL.length, limit: 100, offset: 0 })
    expect(body.data).toHaveLength(100)
    expect(body.data[0].uid).toBe(RECENT.uid)
    const times = body.data.map(({ timestamp }: { timestamp: string }) => timestamp)
    expect(times).toEqual([...times].sort().reverse())
  })

  it('answers /proofs and /proofs/{uid} like the older API version, for published clients', async () => {
    const ask = async (path: string) => {
      const response = await fetch(`${service.url}${path}`)
      return { status: response.status, body: await response.json(), link: response.headers.get('link') }
    }
    const query = '?limit=3&offset=2&chain=base-sepolia'
    for (const path of [query, `/${SQUARE.uid}`, '?limit=0', '/0x12', `/${uidOf(0xffff)}`]) {
      const [alias, older] = [await ask(`/proofs${path}`), await ask(`/api/v0/location-proofs${path}`)]
      expect(alias).toEqual({ ...older, link: older.link?.replace('/api/v0/location-proofs', '/proofs') ?? null })
      if (path === query) expect(alias.link).toContain('/proofs?')
    }
    expect(await ask('/proofs/a/b')).toMatchObject({ status: 404, body: { status: 'error', message: 'Not found' } })
  })

  it('returns one record as it was attested', async () => {
    const { body } = await get(`location-records/${SQUARE.uid}`, 'record')
    expect(body).toEqual({
      uid: SQUARE.uid,
      chain: 'base-sepolia',
      prover: SQUARE.prover,
      subject: SQUARE.subject,
      timestamp: new Date(SQUARE.timeSeconds * 1000).toISOString(),
      event_timestamp: new Date(SQUARE.eventTimeSeconds * 1000).toISOString(),
      srs: 'EPSG:4326',
      location_type: 'geojson-polygon',
      location: SQUARE.location,
      longitude: null,
      latitude: null,
      recipe_types: [],
      recipe_payloads: [],
      media_types: [],
      media_data: [],
      memo: null,
      revoked: false,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
      finalized: false,
    })
  })

  it('accepts a UID in upper or lower case on both routes, and returns it in lower case', async () => {
    const upper = `0x${uidOf(1003).slice(2).toUpperCase()}`
    for (const route of ['location-proofs', 'location-records']) {
      expect((await get(`${route}/${upper}`, 'record')).body.uid).toBe(uidOf(1003))
      expect((await get(`${route}/${upper}/`, 'record')).body.uid).toBe(uidOf(1003))
    }
  })

  it('reports an unknown UID', async () => {
    const { body } = await get(`location-records/${uidOf(0xffff)}`, 'error', 404)
    expect(body.message).toBe('Location record not found')
    expect(body.detail).toContain(uidOf(0xffff))
  })

  it.each([
    '0x12',
    '12',
    `0X${'0'.repeat(64)}`,
    `0x${'g'.repeat(64)}`,
    `${uidOf(1)}0`,
    '%00',
    "'%20or%201=1",
    `${uidOf(1)}%0a`,
  ])('rejects the UID %s', async (uid) => {
    const { body } = await get(`location-proofs/${uid}`, 'error', 400)
    expect(body.message).toBe('Invalid UID format')
    expect(body.detail).toBe('UID must be a 66-character hex string starting with 0x')
  })

  it('marks a revoked record', async () => {
    const { body } = await get(`location-records/${uidOf(7)}`, 'record')
    expect(body.revoked).toBe(true)
  })

  it('keeps zero degrees (R7)', async () => {
    const { body } = await get(`location-records/${NULL_ISLAND.uid}`, 'record')
    expect([body.longitude, body.latitude]).toEqual([0, 0])
  })

  it('returns any text as it was attested, including U+0000 and lone surrogates', async () => {
    const { body } = await get(`location-records/${ODD_TEXT.uid}`, 'record')
    expect([body.memo, body.media_data[0], body.recipe_types[0]]).toEqual([HOSTILE, HOSTILE, HOSTILE])
    expect(body.revoked).toBe(false)
  })

  it('counts all matches, not only those on the page', async () => {
    const body = await list('chain=base-sepolia&limit=20&offset=40')
    expect(body).toMatchObject({ count: ALL.length - 2, limit: 20, offset: 40 })
    const everything = await uids('chain=base-sepolia&limit=1000')
    expect(body.data.map(({ uid }: { uid: string }) => uid)).toEqual(everything.slice(40, 60))
  })

  it.each(['base', 'sepolia'])(
    'accepts the chain %s, of the older or the current API version, which has no records',
    async (chain) => {
      expect(await list(`chain=${chain}`)).toMatchObject({ data: [], count: 0 })
    },
  )

  it('finds records by prover and subject, ignoring case', async () => {
    expect((await list(`prover=${addressOf(1).toUpperCase().replace('0X', '0x')}`)).count).toBe(
      ALL.filter(({ prover }) => prover === addressOf(1)).length,
    )
    expect((await list(`subject=${addressOf(100)}&prover=${addressOf(2)}&limit=1`)).count).toBe(
      ALL.filter(({ prover, subject }) => prover === addressOf(2) && subject === addressOf(100)).length,
    )
  })

  it('includes both ends of a time span, by event time', async () => {
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
    const [first, last] = [POINTS[10]!.eventTimeSeconds, POINTS[20]!.eventTimeSeconds]
    expect((await list(`fromTimestamp=${iso(first)}&toTimestamp=${iso(last)}`)).count).toBe(11)
    expect((await list(`fromTimestamp=${iso(first + 0.001)}&toTimestamp=${iso(last - 0.001)}`)).count).toBe(9)
    expect((await list('fromTimestamp=2024-01-01')).count).toBe(1)
    expect((await list('toTimestamp=2024-01-01')).count).toBe(ALL.length - 1)
    // An offset from UTC, with its plus sign encoded and plain.
    for (const plus of ['%2B', '+']) {
      expect((await list(`fromTimestamp=2023-11-14T23:13:20${plus}01:00&toTimestamp=2023-11-14T22:13:25Z`)).count).toBe(
        6,
      )
    }
  })

  it('reads a bbox in every notation', async () => {
    const expected = [SQUARE.uid]
    for (const query of [
      'bbox=10,50,12,52',
      'bbox=10.0,5e1,12.,%2B52',
      'bbox=10&bbox=50&bbox=12&bbox=52',
      'bbox[]=10&bbox[]=50&bbox[]=12&bbox[]=52',
      'bbox%5B%5D=10&bbox%5B%5D=50&bbox%5B%5D=12&bbox%5B%5D=52',
      'bbox[0]=10&bbox[1]=50&bbox[2]=12&bbox[3]=52',
      'bbox=[10,50,12,52]',
      'bbox=%5B10,%2050,%2012,%2052%5D',
      'bbox=10,+50,+12,+52',
    ]) {
      expect(await uids(query), query).toEqual(expected)
    }
  })

  it('finds records across the antimeridian, from either side and with crossing boxes', async () => {
    for (const bbox of [
      '178,59,180,62',
      '-180,59,-178,62',
      '170,59,-170,62',
      '-179.5,60.2,-179.4,60.3',
      '-180,-90,180,90',
    ]) {
      expect(await uids(`bbox=${bbox}&limit=1000`), bbox).toContain(CROSSING.uid)
    }
    for (const bbox of [
      '170,59,178.9,62',
      '-178.9,59,-170,62',
      '178.5,59,178.9,62',
      '170,61.5,-170,62',
      '-178,59,178,62',
    ]) {
      expect(await uids(`bbox=${bbox}&limit=1000`), bbox).not.toContain(CROSSING.uid)
    }
    expect((await list('bbox=-180,-90,180,90')).count).toBe(ALL.length)
  })

  it('includes a record that touches the box, and none just outside it', async () => {
    expect(await uids('bbox=11.5,51.5,12,52')).toEqual([SQUARE.uid])
    expect(await uids('bbox=11.5000001,51.5000001,12,52')).toEqual([])
  })

  it('clamps the limit to 1000, on both routes', async () => {
    for (const route of ['location-proofs', 'location-records']) {
      const { body } = await get(`${route}?limit=99999`, 'list')
      expect(body).toMatchObject({ limit: 1000, count: ALL.length })
      expect(body.data).toHaveLength(ALL.length)
    }
  })

  it('answers an offset past the end with an empty page and the total count', async () => {
    expect(await list('offset=10000')).toMatchObject({ data: [], count: ALL.length, offset: 10000 })
    expect(await list(`offset=10000&prover=${addressOf(1)}`)).toMatchObject({ data: [], offset: 10000 })
  })

  it('pages through all records by links, each record once', async () => {
    for (const filter of ['', `prover=${addressOf(1)}&`, 'bbox=-180,-90,0,90&', 'chain=base-sepolia&']) {
      const expected = await uids(`${filter}limit=1000`)
      const foundUids: string[] = []
      let next = `location-records?${filter}limit=37`
      while (next !== '') {
        const { body, headers } = await get(next, 'list')
        expect(body).toMatchObject({ offset: foundUids.length, limit: 37, count: expected.length })
        foundUids.push(...body.data.map(({ uid }: { uid: string }) => uid))
        const link = headers.get('link')
        next = link === null ? '' : new URL(/^<(.*)>; rel="next"$/.exec(link)![1]!).href.split('/api/v0/')[1]!
      }
      expect(foundUids).toEqual(expected)
    }
  })

  it.each([
    ['chain=bitcoin', 'Invalid chain parameter', /^Supported chains: .*arbitrum.*base-sepolia/],
    ['chain=', 'Invalid chain parameter', /Supported/],
    ['chain=Base', 'Invalid chain parameter', /Supported/],
    ['chain=celo&chain=celo', 'Duplicate parameter', /chain/],
    ['prover=0x12', 'Invalid address format', /prover/],
    [`subject=${'0'.repeat(42)}`, 'Invalid address format', /subject/],
    ['prover=', 'Invalid address format', /prover/],
    ['fromTimestamp=yesterday', 'Invalid timestamp format', /fromTimestamp/],
    ['fromTimestamp=2023-02-30', 'Invalid timestamp format', /fromTimestamp/],
    ['toTimestamp=1700000000', 'Invalid timestamp format', /toTimestamp/],
    ['toTimestamp=', 'Invalid timestamp format', /toTimestamp/],
    ['bbox=1,2,3', 'Invalid bbox format', /minLng,minLat,maxLng,maxLat; 3 numbers/],
    ['bbox=1,2,3,4,5,6', 'Invalid bbox format', /6 numbers/],
    ['bbox=', 'Invalid bbox format', /minLng,minLat,maxLng,maxLat/],
    ['bbox=a,2,3,4', 'Invalid bbox format', /"a" is not a number/],
    ['bbox=0x1,2,3,4', 'Invalid bbox format', /not a number/],
    ['bbox=1e999,2,3,4', 'Invalid bbox format', /not a number/],
    ['bbox=,,,', 'Invalid bbox format', /not a number/],
    ['bbox=-181,0,0,1', 'Invalid bbox format', /longitude -181 is outside -180..180/],
    ['bbox=0,0,1,91', 'Invalid bbox format', /latitude 91 is outside -90..90/],
    ['bbox=0,10,1,5', 'Invalid bbox format', /minLat 10 is above maxLat 5/],
    ['limit=0', 'Invalid limit parameter', /whole number/],
    ['limit=-5', 'Invalid limit parameter', /whole number/],
    ['limit=10abc', 'Invalid limit parameter', /whole number/],
    ['limit=1e3', 'Invalid limit parameter', /whole number/],
    ['limit=1.5', 'Invalid limit parameter', /whole number/],
    ['limit=', 'Invalid limit parameter', /whole number/],
    ['limit=1&limit=2', 'Duplicate parameter', /limit/],
    ['offset=-1', 'Invalid offset parameter', /whole number/],
    ['offset=NaN', 'Invalid offset parameter', /whole number/],
    ['offset=99999999999999999999', 'Invalid offset parameter', /whole number/],
    ['cursor=abc', 'Invalid cursor', /Link/],
    ['chain=%ff', 'Invalid query', /percent-encoded/],
    [`chain=${'x'.repeat(4100)}`, 'Invalid query', /longer than/],
  ])('rejects %s', async (query, message, detail) => {
    const body = await getProblem(query)
    expect(body.message).toBe(message)
    expect(body.detail).toMatch(detail)
  })

  it('counts by chain, by block time and by revocation', async () => {
    for (const route of ['location-proofs', 'location-records']) {
      const { body } = await get(`${route}/stats`, 'stats')
      expect(body).toEqual({
        total: ALL.length,
        by_chain: { arbitrum: 1, celo: 1, 'base-sepolia': ALL.length - 2 },
        by_time: { last_24_hours: 1, last_7_days: 1, last_30_days: 1 },
        revoked: 1,
      })
    }
  })

  it('answers unknown paths with its own error format', async () => {
    expect((await get('nothing', 'error', 404)).body.message).toBe('Not found')
    const response = await fetch(`${service.url}/api/v0/location-records`, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  it('reports in /health and /ready that the database is connected', async () => {
    expect(await (await fetch(`${service.url}/health`)).json()).toMatchObject({ status: 'ok', database: 'connected' })
    const ready = (await (await fetch(`${service.url}/ready`)).json()) as { checks: { database: { detail: string } } }
    expect(ready.checks.database.detail).toContain(engine)
  })
})
