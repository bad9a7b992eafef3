import { afterEach, describe, expect, it } from 'vitest'
import { SharedCount } from '../../src/http/access/shared-counts.ts'
import { sendRaw } from '../raw-socket.ts'
import { ADAPTERS, type RunningServer, type ServerParts, startServer } from '../running-http-server.ts'

const KEYS = {
  API_KEYS: JSON.stringify({
    'dev-key': { tier: 'developer', label: 'd' },
    'int-key': { tier: 'internal', label: 'i' },
    other: { tier: 'developer', label: 'o' },
  }),
}
// The tiers of the interface allow 100, 1,000 and 10,000 requests an hour; a test that has to reach a limit lowers it.
const TIERS = { NODE_ENV: 'production', RATE_LIMIT_PUBLIC: '100', ...KEYS }
const NOON = Date.UTC(2026, 0, 1, 12)
const NOON_SECONDS = NOON / 1000

describe.each(ADAPTERS)('limits on %s', (adapter) => {
  let server: RunningServer
  let nowMs = NOON
  afterEach(() => server.stop())

  const start = async (parts: ServerParts = {}) => {
    nowMs = NOON
    server = await startServer(adapter, { now: () => nowMs, ...parts, env: { ...TIERS, ...parts.env } })
  }
  const compute = (headers: Record<string, string> = {}, body: string | null = '{}') =>
    fetch(`${server.url}/compute/v0/area`, { method: 'POST', body, headers })
  const limits = ({ headers }: Response) => [
    headers.get('x-ratelimit-limit'),
    headers.get('x-ratelimit-remaining'),
    headers.get('x-ratelimit-reset'),
    headers.get('ratelimit-limit'),
    headers.get('ratelimit-remaining'),
    headers.get('ratelimit-reset'),
  ]
  const expectedLimits = (limit: number, remaining: number, passedSeconds: number) =>
    [limit, remaining, NOON_SECONDS + 3600, limit, remaining, 3600 - passedSeconds].map(String)

  it('starts a window of one hour at the first request and reports it exactly', async () => {
    await start({ env: { RATE_LIMIT_PUBLIC: '3' } })
    expect(limits(await compute())).toEqual(expectedLimits(3, 2, 0))
    nowMs += 10_000
    expect(limits(await compute())).toEqual(expectedLimits(3, 1, 10))
    expect(limits(await compute())).toEqual(expectedLimits(3, 0, 10))
    nowMs += 1_800_000
    const rejected = await compute()
    expect(rejected.status).toBe(429)
    expect(limits(rejected)).toEqual(expectedLimits(3, 0, 1810))
    expect(rejected.headers.get('retry-after')).toBe('1790')
    expect(await rejected.json()).toMatchObject({ title: 'Rate Limited', status: 429 })
    nowMs = NOON + 3_599_999
    expect((await compute()).status).toBe(429)
    nowMs = NOON + 3_600_000
    const fresh = await compute()
    expect(fresh.status).toBe(200)
    expect(fresh.headers.get('x-ratelimit-remaining')).toBe('2')
    expect(fresh.headers.get('x-ratelimit-reset')).toBe(String(NOON_SECONDS + 7200))
  })

  it('sends the quota headers, unchanged, with responses that do not count', async () => {
    await start()
    await compute()
    for (const path of ['/', '/health', '/nowhere', '/errors/internal', '/api/v0/config']) {
      expect(limits(await fetch(server.url + path))).toEqual(expectedLimits(100, 99, 0))
    }
    expect(limits(await fetch(`${server.url}/compute/v0/area`))).toEqual(expectedLimits(100, 99, 0))
    expect(limits(await fetch(`${server.url}/compute/v0/area`, { method: 'OPTIONS' }))).toEqual(
      expectedLimits(100, 99, 0),
    )
  })

  it('refuses a compute request in an overload before its body, and does not count it', async () => {
    let isOverloaded = true
    const problem = { type: 'overloaded', detail: 'too many results are waiting', retryAfterSeconds: 1 } as const
    await start({ computeRefusal: (_client, bodyBytes) => (isOverloaded && bodyBytes === 2 ? problem : undefined) })
    const refused = await compute()
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ detail: problem.detail })
    expect(limits(refused)).toEqual(expectedLimits(100, 100, 0))
    expect((await compute({}, '{"a":1}')).status).toBe(200)
    const next = await compute({ 'X-Request-Id': 'the-second' })
    expect(limits(next), 'after a request that counted').toEqual(expectedLimits(100, 99, 0))
    expect(next.headers.get('x-request-id')).toBe('the-second')
    expect(await next.json()).toEqual({
      type: `${server.url}/errors/overloaded`,
      title: 'Overloaded',
      status: 503,
      detail: problem.detail,
      instance: '/compute/v0/area',
      requestId: 'the-second',
    })
    nowMs += 10_000
    expect(limits(await compute()), 'ten seconds later').toEqual(expectedLimits(100, 99, 10))
    isOverloaded = false
    expect((await compute()).headers.get('x-ratelimit-remaining')).toBe('98')
  })

  it('refuses requests for records in an overload, by any method, and answers those that need no store', async () => {
    const problem = { type: 'overloaded', detail: 'too many requests wait', retryAfterSeconds: 1 } as const
    const emptyAnswer = { json: '{}', status: 200 } as const
    const graphql = { schemaText: '', query: async () => emptyAnswer, post: async () => emptyAnswer }
    await start({ recordRefusal: () => problem, graphql })
    const path = '/api/v0/location-records'
    const ogcPath = '/ogc/collections/location-records/items'
    for (const refused of [
      path,
      `${path}/0x${'1'.repeat(64)}`,
      `${path}/stats`,
      `${path}/export`,
      '/proofs',
      ogcPath,
    ]) {
      for (const method of ['GET', 'HEAD']) {
        const response = await fetch(server.url + refused, { method })
        expect(response.status, `${method} ${refused}`).toBe(503)
        expect(response.headers.get('retry-after')).toBe('1')
        expect(response.headers.get('x-request-id')).not.toBeNull()
        const body = await response.text()
        if (method === 'HEAD') expect(body).toBe('')
        else expect(JSON.parse(body)).toMatchObject({ status: 'error', detail: problem.detail })
      }
    }
    const query = await fetch(`${server.url}/graphql`, { method: 'POST', body: '{}' })
    expect([query.status, query.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await query.json()).toMatchObject({ errors: [{ extensions: { code: 'overloaded' } }] })
    for (const served of ['/api/v0/config', '/health', '/graphql/schema', '/ogc'])
      expect((await fetch(server.url + served)).status, served).toBe(200)
    expect((await compute()).status).toBe(200)
  })

  it('drops the body of a refused request, and answers the next request of the connection', async () => {
    const problem = { type: 'overloaded', detail: 'too many results are waiting', retryAfterSeconds: 1 } as const
    await start({ computeRefusal: () => problem })
    const head = 'POST /compute/v0/area HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n'
    const next = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
    for (const steps of [[`${head}{}${next}`], [head, { after: 1, send: `{}${next}` }]]) {
      const { answers } = await sendRaw(server.port, steps, { wanted: 2 })
      expect(answers.map(({ status }) => status)).toEqual([503, 200])
    }
  })

  it('counts rejected bodies and failures like successful requests', async () => {
    await start({ compute: () => Promise.reject(new Error('broken')), env: { MAX_BODY_BYTES: '1024' } })
    expect((await compute()).status).toBe(500)
    expect((await compute({}, 'x'.repeat(2000))).status).toBe(413)
    const last = await compute({ 'Content-Encoding': 'gzip' })
    expect(last.status).toBe(415)
    expect(limits(last)).toEqual(expectedLimits(100, 97, 0))
  })

  // auth.md: either header may carry the key; both may, if they are equal. An empty value or another scheme is no key.
  const MATRIX: readonly [string, Record<string, string>, number, string][] = [
    ['no key', {}, 200, '100'],
    ['X-API-Key', { 'X-API-Key': 'dev-key' }, 200, '1000'],
    ['Bearer', { Authorization: 'Bearer dev-key' }, 200, '1000'],
    ['bearer in lower case', { Authorization: 'bearer int-key' }, 200, '10000'],
    ['internal', { 'X-API-Key': 'int-key' }, 200, '10000'],
    ['both and equal', { 'X-API-Key': 'dev-key', Authorization: 'Bearer dev-key' }, 200, '1000'],
    ['both and different', { 'X-API-Key': 'dev-key', Authorization: 'Bearer other' }, 401, '100'],
    ['an unknown key', { 'X-API-Key': 'nobody' }, 401, '100'],
    ['an unknown token', { Authorization: 'Bearer nobody' }, 401, '100'],
    ['an empty key', { 'X-API-Key': '' }, 200, '100'],
    ['an empty key and a token', { 'X-API-Key': '', Authorization: 'Bearer dev-key' }, 200, '1000'],
    ['an empty token', { Authorization: 'Bearer ' }, 200, '100'],
    ['another scheme', { Authorization: 'Basic ZGV2LWtleTo=' }, 200, '100'],
    ['another scheme and a key', { Authorization: 'Basic x', 'X-API-Key': 'dev-key' }, 200, '1000'],
    ['a key of 300 characters', { 'X-API-Key': 'k'.repeat(300) }, 401, '100'],
    ['a property name of Object.prototype', { 'X-API-Key': '__proto__' }, 401, '100'],
  ]
  it.each(MATRIX)('applies the right tier or answers 401 for %s', async (_name, headers, status, limit) => {
    await start()
    const response = await compute(headers)
    expect(response.status).toBe(status)
    expect(response.headers.get('x-ratelimit-limit')).toBe(limit)
    if (status === 401) {
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.json()).toMatchObject({ title: 'Unauthorized', detail: 'Invalid API key' })
    }
  })

  it('counts each key separately', async () => {
    await start()
    await compute({ 'X-API-Key': 'dev-key' })
    await compute({ 'X-API-Key': 'dev-key' })
    expect(limits(await compute({ 'X-API-Key': 'other' }))).toEqual(expectedLimits(1000, 999, 0))
    expect(limits(await compute({ Authorization: 'Bearer dev-key' }))).toEqual(expectedLimits(1000, 997, 0))
    expect(limits(await compute())).toEqual(expectedLimits(100, 99, 0))
  })

  it('counts unknown keys against the client address, up to its limit', async () => {
    await start({ env: { RATE_LIMIT_PUBLIC: '3' } })
    for (const key of ['a', 'b', 'c']) expect((await compute({ 'X-API-Key': key })).status).toBe(401)
    expect((await compute({ 'X-API-Key': 'd' })).status).toBe(429)
    expect((await compute()).status).toBe(429)
    expect((await compute({ 'X-API-Key': 'dev-key' })).status).toBe(200)
  })

  it('requires a key when REQUIRE_API_KEY is set', async () => {
    await start({ env: { REQUIRE_API_KEY: '1' } })
    const rejected = await compute()
    expect(rejected.status).toBe(401)
    expect(await rejected.json()).toMatchObject({ detail: 'An API key is required' })
    expect((await compute({ 'X-API-Key': 'dev-key' })).status).toBe(200)
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  })

  it('ignores an unknown key on routes that do not count, and shows the tier of a known one', async () => {
    await start()
    const wrong = await fetch(`${server.url}/health`, { headers: { 'X-API-Key': 'nobody' } })
    expect([wrong.status, wrong.headers.get('ratelimit-limit')]).toEqual([200, '100'])
    const right = await fetch(`${server.url}/health`, { headers: { 'X-API-Key': 'int-key' } })
    expect(right.headers.get('ratelimit-limit')).toBe('10000')
  })

  // The socket's address is 127.0.0.1: X-Forwarded-For changes the counted address only when that is a trusted proxy.
  const SPOOFS: readonly [string, string, string, string, boolean][] = [
    ['no proxy trusted', '', '198.51.100.1', '198.51.100.2', true],
    ['another proxy trusted', '10.0.0.0/8', '198.51.100.1', '198.51.100.2', true],
    ['a trusted proxy', '127.0.0.0/8', '198.51.100.1', '198.51.100.2', false],
    ['a forged left part', '127.0.0.1', '1.1.1.1, 198.51.100.1', '2.2.2.2, 198.51.100.1', true],
    ['a chain of proxies', '127.0.0.1,10.0.0.0/8', '198.51.100.1, 10.1.2.3', '198.51.100.2, 10.1.2.3', false],
    ['addresses of one IPv6 /64', '127.0.0.1', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
    ['addresses of two IPv6 /64', '127.0.0.1', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['an IPv4-mapped IPv6 address', '127.0.0.1', '198.51.100.1', '::ffff:198.51.100.1', true],
    ['words that are not addresses', '127.0.0.1', 'unknown', 'nonsense', true],
  ]
  it.each(SPOOFS)('with %s (%s), counts %s and %s together: %s', async (_name, proxies, first, second, isSame) => {
    await start({ env: { TRUSTED_PROXIES: proxies } })
    await compute({ 'X-Forwarded-For': first })
    const response = await compute({ 'X-Forwarded-For': second })
    expect(response.headers.get('x-ratelimit-remaining')).toBe(isSame ? '98' : '99')
  })

  const PROXIED = { PUBLIC_URL: 'https://geo.example.org' }
  const PROXY_WARNINGS: readonly [string, Record<string, string>, Record<string, string>, number][] = [
    ['of X-Forwarded-For', PROXIED, { 'X-Forwarded-For': '198.51.100.1' }, 1],
    ['of Forwarded', PROXIED, { Forwarded: 'for=198.51.100.1' }, 1],
    ['of no header', PROXIED, {}, 0],
    ['without a public address', {}, { 'X-Forwarded-For': '198.51.100.1' }, 0],
    ['with a trusted proxy', { ...PROXIED, TRUSTED_PROXIES: '10.0.0.1' }, { 'X-Forwarded-For': '198.51.100.1' }, 0],
  ]
  it.each(PROXY_WARNINGS)('warns once of ignored headers of a proxy: %s', async (_name, env, headers, count) => {
    await start({ env })
    await compute(headers)
    await compute(headers)
    const warnings = server.lines.filter(({ event }) => event === 'headers of a proxy are ignored')
    expect(warnings).toHaveLength(count)
    for (const warning of warnings) expect(JSON.stringify(warning)).not.toContain('198.51.100.1')
  })

  it('answers a stream whose quota other nodes do not grant, and logs no error', async () => {
    const grants = { take: async (requests: number) => (nowMs === NOON ? requests : 0), giveBack() {} }
    const shares = {
      listen() {},
      share: () => new SharedCount({ report() {} }, 'costs', '', 0, 3),
      grants: () => grants,
    }
    await start({ shares })
    const follow = (key: string) =>
      fetch(`${server.url}/verify/v0/submissions/7/events`, { headers: { 'X-API-Key': key } })
    expect(await (await follow('dev-key')).text()).toBe('data: 7\n\n')
    expect((await follow('nobody')).status).toBe(401)
    nowMs++
    expect((await follow('dev-key')).status).toBe(429)
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('answers 429 before it reads the body', async () => {
    let bodies = 0
    await start({
      env: { RATE_LIMIT_PUBLIC: '1' },
      compute: async () => {
        bodies++
        return { json: '{}' }
      },
    })
    await compute()
    for (let index = 0; index < 3; index++) {
      expect((await compute({}, 'x'.repeat(500_000))).status).toBe(429)
    }
    expect(bodies).toBe(1)
    // The remaining bytes of a rejected body must not be parsed as the next request.
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  })

  it('refuses to start with a trusted proxy that is not an address', async () => {
    await start()
    await expect(startServer(adapter, { env: { TRUSTED_PROXIES: '10.0.0.0/33' } })).rejects.toThrow(/TRUSTED_PROXIES/)
  })
})
