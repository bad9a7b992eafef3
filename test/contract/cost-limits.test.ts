import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { NO_JOBS } from '../../src/service/jobs/jobs.ts'
import type { RecordFeeds, RecordService } from '../../src/service/records/record-services.ts'
import type { Services } from '../../src/service/services.ts'
import { untilReadable } from '../record-service.ts'
import { ADAPTERS, type RunningServer, type ServerParts, startServer } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const API_KEYS = JSON.stringify({ 'dev-key': { tier: 'developer', label: 'd' } })
const NOON = Date.UTC(2026, 0, 1, 12)

/** A computation that costs what its body says. */
const costly: Services['compute'] = async (_operation, body, { costs }) => {
  const { cpuMs = 0, vertices = 0 } = JSON.parse(Buffer.from(body).toString())
  costs?.charge('cpu-ms', cpuMs)
  costs?.charge('vertices', vertices)
  return { json: '{}' }
}

describe.each(ADAPTERS)('limits by cost on %s', (adapter) => {
  let server: RunningServer
  let nowMs = NOON
  afterEach(() => server.stop())

  const start = async (limit: string, parts: ServerParts = {}) => {
    nowMs = NOON
    const env = { NODE_ENV: 'production', RATE_LIMIT_PUBLIC: '100', COST_LIMIT_PUBLIC: limit, API_KEYS, ...parts.env }
    server = await startServer(adapter, { now: () => nowMs, compute: costly, ...parts, env })
  }
  const compute = (body: object | string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/compute/v0/area`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers,
    })
  const remaining = ({ headers }: Response) => headers.get('ratelimit')

  it('admit requests until the budget is used up, and again when the hour of the client ends', async () => {
    await start('cpu-ms=100')
    const first = await compute({ cpuMs: 99.5 })
    expect(first.status).toBe(200)
    expect(remaining(first)).toBe('"requests";r=99;t=3600, "cpu-ms";r=1;t=3600')
    nowMs += 600_000
    const second = await compute({ cpuMs: 0.5 })
    expect([second.status, remaining(second)]).toEqual([200, '"requests";r=98;t=3000, "cpu-ms";r=0;t=3000'])
    const rejected = await compute({})
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '3000'])
    expect(remaining(rejected)).toBe('"requests";r=97;t=3000, "cpu-ms";r=0;t=3000')
    expect(await rejected.json()).toMatchObject({
      title: 'Rate Limited',
      detail:
        'the limit of 100 milliseconds of processor time (cpu-ms) per hour is reached; the hour ends at 2026-01-01T13:00:00Z, ' +
        'and an API key (X-API-Key or Authorization: Bearer) raises the limit',
      errors: [{ code: 'cost-limit', hint: 'COST_LIMIT_PUBLIC of the service sets this limit' }],
    })
    nowMs = NOON + 3_599_999
    expect((await compute({})).status).toBe(429)
    nowMs = NOON + 3_600_000
    expect((await compute({})).status).toBe(200)
  })

  it.each([
    ['vertices', 'vertices=1000', { vertices: 999 }, { vertices: 1 }],
    ['bytes', `bytes=${JSON.stringify({ pad: '' }).length + 500}`, { pad: 'x'.repeat(499) }, { pad: '' }],
  ])('are exact to the unit for %s', async (resource, limit, almostAll, last) => {
    await start(limit)
    const first = await compute(almostAll)
    expect([first.status, remaining(first)]).toEqual([200, `"requests";r=99;t=3600, "${resource}";r=1;t=3600`])
    expect((await compute(last)).status).toBe(200)
    const rejected = await compute(last)
    expect([rejected.status, remaining(rejected)]).toEqual([429, `"requests";r=97;t=3600, "${resource}";r=0;t=3600`])
  })

  it('name every policy, and leave the headers of the interface as they are', async () => {
    await start('bytes=1000,vertices=0,cpu-ms=5')
    const { headers } = await compute({})
    expect(headers.get('ratelimit-policy')).toBe(
      '"requests";q=100;w=3600, "bytes";q=1000;qu="content-bytes";w=3600, "cpu-ms";q=5;qu="cpu-ms";w=3600',
    )
    expect(headers.get('x-ratelimit-limit')).toBe('100')
    expect(headers.get('x-ratelimit-remaining')).toBe('99')
    expect(headers.get('ratelimit-limit')).toBe('100')
    const elsewhere = await fetch(`${server.url}/health`, { headers: { Origin: 'https://page.example' } })
    expect(remaining(elsewhere)).toBe('"requests";r=99;t=3600, "bytes";r=998;t=3600')
    expect(elsewhere.headers.get('access-control-expose-headers')).toContain('RateLimit-Policy, RateLimit,')
  })

  it('reject requests before their bodies are read', async () => {
    await start('bytes=100')
    await compute({ pad: 'x'.repeat(100) })
    const before = (await fetch(`${server.url}/health`)).headers.get('ratelimit')
    for (let count = 0; count < 3; count++) expect((await compute({ pad: 'x'.repeat(500_000) })).status).toBe(429)
    expect((await fetch(`${server.url}/health`)).headers.get('ratelimit')).toBe(before?.replace('r=99', 'r=96'))
  })

  it('hold for each key and each address', async () => {
    await start('cpu-ms=10', { env: { COST_LIMIT_DEVELOPER: 'cpu-ms=20', TRUSTED_PROXIES: '127.0.0.1' } })
    const from = (address: string) => ({ 'X-Forwarded-For': address })
    expect((await compute({ cpuMs: 10 }, from('1.1.1.1, 198.51.100.1'))).status).toBe(200)
    // A forged left part changes nothing; another client is not affected.
    expect((await compute({}, from('2.2.2.2, 198.51.100.1'))).status).toBe(429)
    expect((await compute({ cpuMs: 10 }, from('198.51.100.2'))).status).toBe(200)
    expect((await compute({ cpuMs: 10 }, from('2001:db8:0:1::1'))).status).toBe(200)
    expect((await compute({}, from('2001:db8:0:1:ffff::2'))).status).toBe(429)
    expect((await compute({}, from('2001:db8:0:2::1'))).status).toBe(200)
    const keyed = { ...from('198.51.100.1'), 'X-API-Key': 'dev-key' }
    const withKey = await compute({ cpuMs: 19 }, keyed)
    expect([withKey.status, remaining(withKey)]).toEqual([200, '"requests";r=999;t=3600, "cpu-ms";r=1;t=3600'])
    expect((await compute({ cpuMs: 1 }, keyed)).status).toBe(200)
    const rejected = await compute({}, { ...from('198.51.100.9'), Authorization: 'Bearer dev-key' })
    expect(await rejected.json()).toMatchObject({
      status: 429,
      errors: [{ hint: 'COST_LIMIT_DEVELOPER of the service sets this limit' }],
    })
    // A wrong key counts against its address.
    expect((await compute({}, { ...from('198.51.100.3'), 'X-API-Key': 'wrong' })).status).toBe(401)
    expect((await compute({}, { ...from('198.51.100.1'), 'X-API-Key': 'wrong' })).status).toBe(401)
  })

  const PAGE = '{"data":[]}'
  /** Each list takes the store 40 ms. */
  const records: RecordService = {
    config: () => ({ json: '{}' }),
    async list(_route, _search, _address, { costs }) {
      costs?.charge('cpu-ms', 40)
      return { json: Buffer.from(PAGE) }
    },
    record: async () => ({ json: '{}' }),
    stats: async () => ({ json: '{}' }),
  }
  const graphql: Services['graphql'] = {
    schemaText: '',
    query: async () => ({ json: '{}', status: 200 }),
    post: async () => ({ json: '{}', status: 200 }),
  }

  it('limit the routes of records by cost only, and answer in the form of each API', async () => {
    await start('cpu-ms=100', { env: { RATE_LIMIT_PUBLIC: '2' }, records, graphql })
    const get = (path: string) => fetch(server.url + path)
    for (let count = 0; count < 3; count++) {
      const response = await get('/api/v0/location-records')
      expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([200, '2'])
    }
    const message = expect.stringMatching(/^the limit of 100 milliseconds .* the hour ends at 2026-01-01T13:00:00Z/)
    for (const path of ['/api/v0/location-records', '/proofs', '/api/v0/config', '/api/v0/location-records/export']) {
      const rejected = await get(path)
      expect([path, rejected.status, rejected.headers.get('retry-after')]).toEqual([path, 429, '3600'])
      expect(rejected.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await rejected.json()).toEqual({ status: 'error', message: 'Rate Limited', detail: message })
    }
    const feature = await get('/ogc/collections/location-records/items')
    expect([feature.status, await feature.json()]).toEqual([
      429,
      expect.objectContaining({ code: 'rate-limited', description: expect.stringMatching(/^Rate Limited: the limit/) }),
    ])
    for (const method of ['GET', 'POST']) {
      const query = await fetch(`${server.url}/graphql?query={a}`, { method })
      expect([query.status, await query.json()]).toEqual([
        429,
        expect.objectContaining({
          errors: [{ message: expect.stringMatching(/^Rate Limited/), extensions: { code: 'rate-limited' } }],
        }),
      ])
    }
    // The time of computations and of records is one budget, but the requests are counted apart.
    expect((await compute({})).status).toBe(429)
    expect((await get('/health')).status).toBe(200)
  })

  it('charge the bytes that the routes of records send', async () => {
    await start(`bytes=${2 * PAGE.length},vertices=0,cpu-ms=0`, { records })
    const list = (method: string) => fetch(`${server.url}/api/v0/location-records`, { method })
    expect(remaining(await list('HEAD'))).toBe(`"requests";r=100;t=3600, "bytes";r=${2 * PAGE.length};t=3600`)
    expect(remaining(await list('GET'))).toBe(`"requests";r=100;t=3600, "bytes";r=${PAGE.length};t=3600`)
    expect((await list('GET')).status).toBe(200)
    expect((await list('GET')).status).toBe(429)
    // Other routes do not charge what they send.
    expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200)
  })

  it('charge the bytes of jobs that are sent and read, and never keep a client from cancelling one', async () => {
    const response = { json: '0123456789' }
    const jobs: Services['jobs'] = {
      ...NO_JOBS,
      create: async () => response,
      state: async () => response,
      cancel: async () => response,
      results: async (_id, _query, _caller, _context, sink) => void (await sink.write(response.json)),
    }
    await start('', { env: { COST_LIMIT_DEVELOPER: 'bytes=50,vertices=0,cpu-ms=0' }, jobs })
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${server.url}/compute/v0/jobs${path}`, {
        ...init,
        headers: { 'X-API-Key': 'dev-key' },
      })
      await answer.text()
      return [answer.status, Number(/"bytes";r=(\d+)/.exec(answer.headers.get('ratelimit')!)![1])]
    }
    expect(await ask('', { method: 'POST', body: 'x'.repeat(20) })).toEqual([202, 30])
    expect(await ask('/a')).toEqual([200, 20])
    expect((await ask('/a/results'))[0]).toBe(200)
    expect(await ask('/a')).toEqual([200, 0])
    for (const path of ['', '/a', '/a/results', '/a/events', '/a/attestation', '/a/results/0/proof'])
      expect([path, ...(await ask(path))]).toEqual([path, 429, 0])
    expect(await ask('/a', { method: 'DELETE' })).toEqual([200, 0])
  })

  it('end an export that uses up the budget, without its last chunk', async () => {
    const feeds: RecordFeeds = {
      async export(_format, _search, _context, sink) {
        for (let piece = 0; piece < 10; piece++) await sink.write('0123456789')
      },
      stream: async () => {},
      close: () => {},
    }
    await start('bytes=35,vertices=0,cpu-ms=0', { feeds })
    const read = async () => (await fetch(`${server.url}/api/v0/location-records/export`)).text()
    await expect(read()).rejects.toThrow()
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect((await fetch(`${server.url}/api/v0/location-records/export`)).status).toBe(429)
    nowMs = NOON + 3_600_000
    const next = await fetch(`${server.url}/health`)
    expect(remaining(next)).toBe('"requests";r=100;t=3600, "bytes";r=35;t=3600')
  })

  it('charge a stream to the hour in which it is used', async () => {
    await start('bytes=20', {
      openBatch: (_query, context, sink) => ({
        isFull: false,
        take() {},
        async end() {
          nowMs = NOON + 3_600_000
          context.costs?.charge('vertices', 1)
          await sink.write(JSON.stringify(context.costProblem(1) ?? 'none'))
        },
      }),
    })
    const send = () =>
      fetch(`${server.url}/compute/v0/batch`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson' },
        body: 'x'.repeat(30),
      })
    expect(await (await send()).text()).toBe('"none"')
    // The bytes of this one arrive in the new hour, so its items have no budget.
    expect(await (await send()).json()).toMatchObject({ type: 'rate-limited', invalidParts: [{ code: 'cost-limit' }] })
    expect((await send()).status).toBe(429)
  })

  it('are those of the internal tier for programs on the same machine', async () => {
    const env = { NODE_ENV: '', COST_LIMIT_INTERNAL: 'bytes=0,cpu-ms=7' }
    await start('bytes=0,cpu-ms=1', { env })
    const local = await compute({ cpuMs: 6 })
    expect(remaining(local)).toBe('"requests";r=9999;t=3600, "cpu-ms";r=1;t=3600')
    expect(remaining(await compute({}, { 'X-Forwarded-For': '127.0.0.1' }))).toBe(
      '"requests";r=99;t=3600, "cpu-ms";r=1;t=3600',
    )
  })
})

describe('what the built service charges', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      ...NO_LOCAL_CALLERS,
      RECORDS: '1',
      RATE_LIMIT_DEVELOPER: '100000',
      COST_LIMIT_PUBLIC: 'bytes=0,vertices=0',
      COST_LIMIT_DEVELOPER: 'bytes=0,vertices=2000,cpu-ms=0',
      API_KEYS: JSON.stringify({
        one: { tier: 'developer' },
        two: { tier: 'developer' },
        three: { tier: 'developer' },
      }),
    })
    await untilReadable(service.url)
  })
  afterAll(() => service.stop())

  const point = (longitude: number) => ({ type: 'Point', coordinates: [longitude, 48] })
  /** Reads what was charged to callers without a key. */
  const charged = async (resource: string) => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(new RegExp(`^cost_charged_total.tier="public",resource="${resource}". (.*)$`, 'm').exec(text)![1])
  }

  it('is each vertex, wherever it is computed', async () => {
    const call = async (path: string, body: object) => {
      const { status, headers } = await service.post(`/compute/v0/${path}`, body, { 'X-API-Key': 'one' })
      const remaining = Number(/"vertices";r=(\d+)/.exec(headers.get('ratelimit')!)![1])
      return { status, remaining }
    }
    const line = (count: number) => ({
      type: 'LineString',
      coordinates: Array.from({ length: count }, (_, index) => [index / 100, 1]),
    })
    // On the main thread, in the small lane, in the large lane.
    expect(await call('distance', { chainId: 84532, from: point(1), to: point(2) })).toEqual({
      status: 200,
      remaining: 1998,
    })
    expect(await call('length', { chainId: 84532, geometry: line(98) })).toEqual({ status: 200, remaining: 1900 })
    expect(await call('length', { chainId: 84532, geometry: line(1899) })).toEqual({ status: 200, remaining: 1 })
    expect(await call('length', { chainId: 84532, geometry: line(2) })).toEqual({ status: 200, remaining: 0 })
    expect((await call('length', { chainId: 84532, geometry: line(2) })).status).toBe(429)
  })

  it.each([
    ['a JSON batch', 'two', 'application/json'],
    ['a stream of lines', 'three', 'application/x-ndjson'],
  ])('is what %s computes, and its items are rejected when a budget is used up', async (_, key, type) => {
    const items = Array.from({ length: 6000 }, (_, id) => ({ op: 'distance', id, from: point(1), to: point(id / 100) }))
    const body =
      type === 'application/json'
        ? JSON.stringify({ chainId: 84532, attest: 'none', items })
        : items.map((item) => JSON.stringify(item)).join('\n')
    const send = () =>
      fetch(`${service.url}/compute/v0/batch?chainId=84532&attest=none`, {
        method: 'POST',
        body,
        headers: { 'X-API-Key': key, 'Content-Type': type },
      })
    const text = await (await send()).text()
    const results =
      type === 'application/json'
        ? JSON.parse(text).results
        : text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
    expect(results).toHaveLength(items.length)
    const rejected = results.filter(({ error }: { error?: { type: string } }) => error !== undefined)
    // Chunks that were under way when the budget was used up are computed.
    expect(results.length - rejected.length).toBeGreaterThanOrEqual(1000)
    expect(rejected.length).toBeGreaterThan(0)
    for (const { error } of rejected) {
      expect(error).toMatchObject({ status: 429, errors: [{ code: 'cost-limit' }] })
      expect(error.detail).toMatch(/^the limit of 2000 vertices per hour is reached; the hour ends at /)
    }
    expect(results.at(-1)).toMatchObject({ id: 5999, error: { title: 'Rate Limited' } })
    expect((await send()).status).toBe(429)
  })

  it('is the time of the threads that compute and verify, of the store, and the bytes of bodies', async () => {
    const grows = async (resource: string, send: () => Promise<unknown>) => {
      const before = await charged(resource)
      await send()
      return (await charged(resource)) - before
    }
    const body = { chainId: 84532, from: point(1), to: point(2) }
    const distance = () => service.post('/compute/v0/distance', body)
    expect(await grows('cpu-ms', distance)).toBeGreaterThan(0)
    expect(await grows('bytes', distance)).toBe(JSON.stringify(body).length)
    expect(await grows('cpu-ms', () => service.post('/verify/v0/stamp', { stamp: {} }))).toBeGreaterThan(0)
    for (const path of ['location-records', 'location-records/stats', 'location-records/export']) {
      const get = async () => (await fetch(`${service.url}/api/v0/${path}`)).text()
      expect(await grows('cpu-ms', get), path).toBeGreaterThan(0)
    }
    expect(await grows('cpu-ms', async () => (await fetch(`${service.url}/openapi.json`)).text())).toBe(0)
    expect(await grows('bytes', async () => (await fetch(`${service.url}/health`)).text())).toBe(0)
    const list = '/api/v0/location-records'
    const sent = (await (await fetch(service.url + list)).text()).length
    expect(await grows('bytes', async () => (await fetch(service.url + list)).text())).toBe(sent)
  })
})
