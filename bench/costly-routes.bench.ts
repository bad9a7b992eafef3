/**
 * Measures the processor time of the most costly requests that we know, over HTTP, for every route that takes a body or reads
 * records: the time of all threads of the service together, from the request to the end of its response. It includes what the
 * compute threads do not count: reading JSON, scheduling, signing, and the pages of records.
 *
 * `BENCH_ROUTES` with a part of a name runs only these requests.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRecordStore } from '../src/store/operations.ts'
import type { Position } from '../src/types/generated.ts'
import type { LocationRecord } from '../src/wire/store-messages.ts'
import { canonicalJson } from '../test/canonical-json.ts'
import { COSTLY_SHAPES, costlyPair, fractalCoast, requestOf } from '../test/costly-shapes.ts'
import { proofOf, signatureOf, unsignedStamp } from '../test/evidence.ts'
import { recordOf, storeRecords } from '../test/store-records.ts'
import { startService } from './service-process.ts'
import { makeStore } from './store-engines.ts'

const MEBIBYTE = 1_048_576
const CHAIN_ID = 84532
/** Runs of each request. The least time counts, because the first runs include compilation of the code. */
const RUNS = 4

interface CostlyRequest {
  readonly name: string
  readonly path: string
  /** Makes the body; a different one for each run, if a cache could answer the second. Without it, the request is a GET. */
  readonly body?: (run: number) => string
}

interface RouteCost {
  readonly name: string
  readonly first: number
  readonly least: number
  readonly main: number
  readonly status: number
  readonly bytes: number
}

/** Prints and returns the milliseconds of each request. */
export async function run(): Promise<object> {
  const files = await makeStore('embedded')
  const database = await files.open()
  await storeRecords(
    createRecordStore(database, () => '2026-01-01T00:00:00.000Z'),
    [...heavyRecords()],
  )
  await database.close()
  const service = await startService(files.environment['DATA_DIR']!, {
    RECORDS: '1',
    RATE_LIMIT_INTERNAL: '1000000000',
    REQUEST_DEADLINE_MS: '60000',
    STORE_READ_MS: '20000',
  })
  const pid = service.child.pid!
  const results: RouteCost[] = []
  try {
    await untilReadable(service.url)
    const selected = REQUESTS.filter(({ name }) => name.includes(process.env['BENCH_ROUTES'] ?? ''))
    for (const request of selected) {
      const result = await measureRequest(service.url, pid, request)
      console.log(
        `${result.least.toFixed(0).padStart(6)} ms, on the main thread ${result.main.toFixed(0).padStart(5)} ms, first ${result.first.toFixed(0).padStart(5)} ms ` +
          `${result.status} ${Math.round(result.bytes / 1024)} KiB  ${result.name}`,
      )
      results.push(result)
    }
  } finally {
    const exited = new Promise((done) => service.child.once('exit', done))
    service.child.kill('SIGTERM')
    await exited
    await files.remove()
  }
  results.sort((a, b) => b.least - a.least)
  console.log('\nThe most costly:\n')
  for (const { name, least, main } of results.slice(0, 12))
    console.log(`${least.toFixed(0).padStart(6)} ms, on the main thread ${main.toFixed(0).padStart(5)} ms  ${name}`)
  return { results }
}

async function untilReadable(url: string): Promise<void> {
  for (let i = 0; i < 600; i++) {
    const { status } = await fetch(`${url}/api/v0/location-records?limit=1`)
    if (status === 200) return
    await sleep(100)
  }
  throw new Error('the records were not readable after a minute')
}

/** Milliseconds that each thread of a process has run. The ID of the main thread is that of the process. */
function threadMilliseconds(pid: number): Map<number, number> {
  const times = new Map<number, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    times.set(Number(thread), Number(nanoseconds) / 1e6)
  }
  return times
}

async function measureRequest(url: string, pid: number, { name, path, body }: CostlyRequest): Promise<RouteCost> {
  const costs: { all: number; main: number }[] = []
  let [status, bytes] = [0, 0]
  for (let run = 0; run < RUNS; run++) {
    const text = body?.(run)
    const before = threadMilliseconds(pid)
    const response = await fetch(url + path.replace('{run}', String(run)), {
      ...(text === undefined ? {} : { method: 'POST', body: text, headers: { 'content-type': 'application/json' } }),
    })
    const { byteLength } = await response.arrayBuffer()
    // What a thread does after the response, such as collecting garbage, belongs to the request too.
    await sleep(20)
    const after = threadMilliseconds(pid)
    const spent = (thread: number) => after.get(thread)! - (before.get(thread) ?? 0)
    costs.push({ all: [...after.keys()].reduce((sum, thread) => sum + spent(thread), 0), main: spent(pid) })
    status = response.status
    bytes = text?.length ?? byteLength
  }
  const least = costs.reduce((a, b) => (b.all < a.all ? b : a))
  return { name, first: costs[0]!.all, least: least.all, main: least.main, status, bytes }
}

/** Records whose pages are as large as they may be: 40 coastlines of 0.4 MB, 1,500 of 10 KB and 3,000 points. */
function* heavyRecords(): Generator<LocationRecord> {
  const round = (ring: Position[]) => ring.map(([x, y]): Position => [Number(x.toFixed(6)), Number(y.toFixed(6))])
  const coast = (count: number, seed: number) =>
    JSON.stringify({ type: 'Polygon', coordinates: [round(fractalCoast(count, seed, (seed % 300) - 150, 40))] })
  const bounds = [-160, 30, 160, 50] as const
  const polygonOf = (index: number, count: number) =>
    recordOf(index, {
      locationType: 'geojson-polygon',
      location: coast(count, index % 50),
      longitude: null,
      latitude: null,
      bounds,
    })
  for (let i = 0; i < 3000; i++) yield recordOf(i)
  for (let i = 3000; i < 4500; i++) yield { ...polygonOf(i, 450), chainId: 42161, chain: 'arbitrum' }
  for (let i = 4500; i < 4540; i++) yield { ...polygonOf(i, 18_000), chainId: 42220, chain: 'celo' }
}

const fill = (piece: (i: number) => string, count: number): string =>
  Array.from({ length: count }, (_, i) => piece(i)).join(',')
const point = { type: 'Point', coordinates: [2, 48] }
const withForeign = (foreign: string): string =>
  `{"chainId":${CHAIN_ID},"from":${JSON.stringify(point)},"to":${JSON.stringify(point)},"x":${foreign}}`

function shapeBody(name: string, operation: Parameters<typeof requestOf>[0], vertices: number): string {
  const shape = COSTLY_SHAPES.find((candidate) => candidate.name === name)!
  return JSON.stringify({ chainId: CHAIN_ID, ...requestOf(operation, ...costlyPair(shape, vertices / 2)) })
}

function computeRequests(): CostlyRequest[] {
  const distance = (name: string, body: (run: number) => string): CostlyRequest => ({
    name: `distance: ${name}`,
    path: '/compute/v0/distance',
    body,
  })
  const shape = (name: string, operation: 'distance' | 'contains' | 'intersects', vertices: number): CostlyRequest => ({
    name: `${operation}: ${name}`,
    path: `/compute/v0/${operation}`,
    body: () => shapeBody(name, operation, vertices),
  })
  const empties = (text: string) => withForeign(`[${fill(() => text, Math.floor(MEBIBYTE / (text.length + 1)) - 100)}]`)
  return [
    distance('49,000 members that nobody reads', (run) =>
      withForeign(`[${fill((i) => `{${fill((k) => `"k${run}_${i}_${k}":0`, 900)}}`, 54)}]`),
    ),
    distance('empty arrays', () => empties('[]')),
    distance('arrays in arrays', () => empties('[[],[[]]]')),
    distance('numbers of one digit', () => empties('1')),
    distance('numbers of 17 digits', () => empties('1.2345678901234567e-300')),
    distance('strings of one character', () => empties('"a"')),
    distance('strings with escapes', () => empties('"\\u00e9\\ud83d\\ude00"')),
    distance('keys with escapes', (run) =>
      withForeign(`[${fill((i) => `{${fill((k) => `"\\u00e9${run}_${i}_${k}":0`, 900)}}`, 54)}]`),
    ),
    distance('one long string', () => withForeign(`"${'é'.repeat(500_000)}"`)),
    distance('spaces', () => withForeign(`0${' '.repeat(1_000_000)}`)),
    distance('a body that is not JSON at its end', () => `${empties('[1]').slice(0, -2)}!`),
    distance('10,000 points in a collection', (run) =>
      JSON.stringify({
        chainId: CHAIN_ID,
        from: {
          type: 'GeometryCollection',
          geometries: Array.from({ length: 9990 }, (_, i) => ({ type: 'Point', coordinates: [i / 1000 + run / 7, 5] })),
        },
        to: point,
      }),
    ),
    distance('10,000 faults', () =>
      JSON.stringify({
        chainId: CHAIN_ID,
        from: { type: 'LineString', coordinates: Array.from({ length: 49_000 }, (_, i) => [i, 95]) },
        to: point,
      }),
    ),
    distance('positions that are not numbers', () =>
      JSON.stringify({
        chainId: CHAIN_ID,
        from: { type: 'MultiPolygon', coordinates: [[Array.from({ length: 49_000 }, () => ['a', null])]] },
        to: point,
      }),
    ),
    shape('rings near the antipode', 'distance', 24_900),
    shape('polar caps', 'distance', 40_000),
    shape('slanting combs across the antimeridian', 'intersects', 44_000),
    shape('edges over half the globe', 'intersects', 44_000),
    shape('points among long lines', 'intersects', 24_000),
    shape('polygons in a collection', 'contains', 39_000),
  ]
}

function verifyRequests(): CostlyRequest[] {
  const proof =
    (valid: boolean, count: number, plugin = 'gpsd') =>
    () => {
      const stamps = Array.from({ length: count }, (_, i) => {
        const unsigned = unsignedStamp(plugin)
        unsigned['temporalFootprint'] = {
          start: unsigned['temporalFootprint'].start + i,
          end: unsigned['temporalFootprint'].end + i,
        }
        const text = canonicalJson(valid ? unsigned : { ...unsigned, plugin: 'other' })
        return { ...unsigned, signatures: Array.from({ length: 16 }, (_, n) => signatureOf(text, n + 1, unsigned)) }
      })
      return JSON.stringify({ chainId: CHAIN_ID, proof: proofOf(stamps) })
    }
  const [validProof, wrongProof, witnesses] = [proof(true, 64)(), proof(false, 64)(), proof(true, 64, 'witnesschain')()]
  const junk = `{"stamp":{"signals":{"a":[${fill((i) => `{"k${i}":0}`, 40_000)}]}}}`
  const lines = Array.from({ length: 64 }, (_, i) => ({
    ...unsignedStamp('gpsd', {
      locationType: 'geojson-linestring',
      location: { type: 'LineString', coordinates: Array.from({ length: 750 }, (_, k) => [k / 1000, i / 100]) },
    }),
    signatures: [],
  }))
  return [
    { name: 'proof: 64 stamps of 16 valid signatures', path: '/verify/v0/proof', body: () => validProof },
    { name: 'proof: 64 stamps of 16 wrong signatures', path: '/verify/v0/proof', body: () => wrongProof },
    { name: 'proof: 64 stamps of witnesses', path: '/verify/v0/proof', body: () => witnesses },
    {
      name: 'proof: 64 lines of 750 vertices',
      path: '/verify/v0/proof',
      body: () => JSON.stringify({ chainId: CHAIN_ID, proof: proofOf(lines) }),
    },
    { name: 'stamp: 40,000 objects as signals', path: '/verify/v0/stamp', body: () => junk },
    { name: 'older proof: 64 stamps of 16 valid signatures', path: '/v1/verify/proof', body: () => validProof },
    {
      name: 'resign: 40,000 objects',
      path: '/compute/v0/resign',
      body: () => withForeign(`[${fill((i) => `{"k${i}":0}`, 24_000)}]`),
    },
  ]
}

function batchRequests(): CostlyRequest[] {
  const batch = (name: string, items: (run: number) => string, options = '{"attest":"none"}'): CostlyRequest => ({
    name: `batch of 1 MiB: ${name}`,
    path: '/compute/v0/batch',
    body: (run) => `{"chainId":${CHAIN_ID},"options":${options},"items":[${items(run)}]}`,
  })
  const small = (i: number, run: number) =>
    `{"op":"distance","from":{"type":"Point","coordinates":[${i / 1000},${run}]},"to":{"type":"Point","coordinates":[1,2]}}`
  return [
    batch(
      'one item of 49,000 members',
      (run) => `{"op":"distance","x":[${fill((i) => `{${fill((k) => `"k${run}_${i}_${k}":0`, 900)}}`, 54)}]}`,
    ),
    batch(
      'one item of 600,000 property keys',
      () => `{"op":"distance","x":{${fill((k) => `"${k.toString(36)}":0`, 120_000)}}}`,
    ),
    batch('empty items', () => fill(() => '{}', 9999)),
    batch('items that are not objects', () => fill(() => '0', 9999)),
    batch('8,000 distances', (run) => fill((i) => small(i, run), 8000)),
    batch('8,000 distances under one root', (run) => fill((i) => small(i, run), 8000), '{"attest":"batch"}'),
    batch('members before the items', () => `{"op":"area"}],"x":[${fill(() => '[]', 340_000)}`),
  ]
}

function recordRequests(): CostlyRequest[] {
  const get = (name: string, path: string): CostlyRequest => ({ name, path })
  const celo = '?chain=celo&limit=38'
  const arbitrum = '?chain=arbitrum&limit=1000'
  const list = '/api/v0/location-records'
  const items = '/ogc/collections/location-records/items'
  const graphql = (name: string, query: (run: number) => string): CostlyRequest => ({
    name: `GraphQL: ${name}`,
    path: '/graphql',
    body: (run) => JSON.stringify({ query: query(run) }),
  })
  return [
    get('records: 38 of 0.4 MB', `${list}${celo}&offset={run}`),
    get('records: 1,000 of 10 KB', `${list}${arbitrum}&offset={run}`),
    get('records as GeoJSON: 38 of 0.4 MB', `${list}${celo}&offset={run}&f=geojson`),
    get('records as GeoJSON: 1,000 of 10 KB', `${list}${arbitrum}&offset={run}&f=geojson`),
    get('records: 1,000 points', `${list}?chain=base-sepolia&limit=1000&offset={run}`),
    get('older records: 38 of 0.4 MB', `/proofs${celo}&offset={run}`),
    get('OGC items: 30 of 0.4 MB', `${items}?chain=celo&limit=3{run}`),
    get('OGC items: 1,000 of 10 KB', `${items}?chain=arbitrum&limit=99{run}`),
    get(
      'OGC items in Web Mercator: 1,000 of 10 KB',
      `${items}?chain=arbitrum&limit=99{run}&crs=http://www.opengis.net/def/crs/EPSG/0/3857`,
    ),
    get('OGC items as a page: 30 of 0.4 MB', `${items}?chain=celo&limit=3{run}&f=html`),
    get('OGC items as a page: 1,000 of 10 KB', `${items}?chain=arbitrum&limit=99{run}&f=html`),
    get('OGC item as a page', `${items}/0x${(4501).toString(16).padStart(64, '0')}?f=html`),
    graphql(
      'a list of 1,000 points',
      (run) => `{ locationRecords(limit: 1000, chain: "base-sepolia", offset: ${run}) { data { uid memo location } } }`,
    ),
    graphql(
      'lists by 20 names',
      (run) =>
        `{ ${fill((i) => `a${i}: locationRecords(limit: 100, offset: ${run + 100 * i}, chain: "base-sepolia") { data { uid } }`, 20)} }`,
    ),
    graphql(
      'introspection',
      () =>
        '{ __schema { types { name fields { name args { name type { name ofType { name } } } type { name ofType { name } } } } } }',
    ),
    graphql('the most tokens', () => `{ ${'a '.repeat(20_000)} }`),
    graphql('names that do not exist', () => `{ ${fill((i) => `locationRecord${i}`, 400)} }`),
    get('OpenAPI', '/openapi.json'),
    get('stats', '/api/v0/location-records/stats'),
  ]
}

const REQUESTS: readonly CostlyRequest[] = [
  ...computeRequests(),
  ...verifyRequests(),
  ...batchRequests(),
  ...recordRequests(),
]
