import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { ADAPTERS, type RunningServer, startServer } from '../running-http-server.ts'

const API_KEYS = JSON.stringify({ 'dev-key': { tier: 'developer', label: 'd' } })
const DEVELOPMENT = { RATE_LIMIT_PUBLIC: '2', RATE_LIMIT_INTERNAL: '5', RATE_LIMIT_DEVELOPER: '3', API_KEYS }

interface Received {
  readonly status: number | undefined
  readonly limit: string | undefined
  readonly remaining: string | undefined
  readonly body: string
}

describe.each(ADAPTERS)('the limit of callers on the same machine on %s', (adapter) => {
  let server: RunningServer
  afterEach(() => server.stop())

  const start = async (env: Record<string, string> = {}) => {
    server = await startServer(adapter, { env: { ...DEVELOPMENT, ...env } })
  }
  /** Sends any Host, which `fetch` does not allow. */
  const compute = (headers: Record<string, string> = {}, method = 'POST') =>
    new Promise<Received>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: server.port, method, path: '/compute/v0/area', headers }
      const call = request(options, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (piece) => {
          body += piece
        })
        response.on('end', () => {
          const header = (name: string) => response.headers[name] as string | undefined
          const [limit, remaining] = [header('x-ratelimit-limit'), header('x-ratelimit-remaining')]
          resolve({ status: response.statusCode, limit, remaining, body })
        })
      })
      call.on('error', reject)
      call.end(method === 'POST' ? '{}' : undefined)
    })

  it('is that of the internal tier in development, without a key', async () => {
    await start()
    for (const remaining of ['4', '3', '2', '1', '0']) {
      expect(await compute()).toMatchObject({ status: 200, limit: '5', remaining })
    }
    const rejected = await compute()
    expect([rejected.status, JSON.parse(rejected.body).errors[0].hint]).toEqual([
      429,
      expect.stringContaining('RATE_LIMIT_INTERNAL'),
    ])
  })

  it('is the same for a page of the service itself, and by any name of this machine', async () => {
    await start()
    const host = `localhost:${server.port}`
    expect(await compute({ host, origin: `http://${host}` })).toMatchObject({ status: 200, limit: '5' })
    expect(await compute({ host: `[::1]:${server.port}` })).toMatchObject({ status: 200, limit: '5' })
  })

  const OTHERS: readonly [string, Record<string, string>][] = [
    ['a page of another site', { origin: 'https://page.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin of its own', { origin: 'null' }],
    ['a host name that resolves to this machine', { host: 'rebound.example' }],
    ['X-Forwarded-For', { 'x-forwarded-for': '198.51.100.1' }],
    ['X-Forwarded-For of this machine', { 'x-forwarded-for': '127.0.0.1' }],
    ['Forwarded', { forwarded: 'for=127.0.0.1' }],
    ['X-Real-IP', { 'x-real-ip': '127.0.0.1' }],
  ]
  it.each(OTHERS)('does not apply to %s', async (_name, headers) => {
    await start()
    // What this machine used must not count against others, and the reverse.
    for (let count = 0; count < 3; count++) await compute()
    expect(await compute(headers)).toMatchObject({ status: 200, limit: '2', remaining: '1' })
    expect((await compute(headers)).status).toBe(200)
    const rejected = await compute(headers)
    expect([rejected.status, JSON.parse(rejected.body).errors[0].hint]).toEqual([
      429,
      expect.stringMatching(/trigpoint keys add .*RATE_LIMIT_PUBLIC/),
    ])
    expect(await compute()).toMatchObject({ status: 200, remaining: '1' })
  })

  it.each([{ NODE_ENV: 'production' }, { TRUSTED_PROXIES: '192.0.2.1' }, { PUBLIC_URL: 'https://api.example' }])(
    'does not apply with %j',
    async (env) => {
      await start(env)
      expect(await compute()).toMatchObject({ status: 200, limit: '2', remaining: '1' })
      expect((await compute()).status).toBe(200)
      expect((await compute()).status).toBe(429)
    },
  )

  it('does not replace the tier of a key, and a wrong key is 401', async () => {
    await start()
    expect(await compute({ 'x-api-key': 'dev-key' })).toMatchObject({ status: 200, limit: '3' })
    expect(await compute({ 'x-api-key': 'wrong' })).toMatchObject({ status: 401, limit: '2', remaining: '1' })
    expect(await compute({ authorization: 'Bearer wrong' })).toMatchObject({ status: 401, limit: '2', remaining: '0' })
    expect((await compute({ 'x-api-key': 'wrong' })).status).toBe(429)
  })

  it('does not replace a key where one is required', async () => {
    await start({ REQUIRE_API_KEY: '1' })
    expect((await compute()).status).toBe(401)
    expect((await compute({ 'x-api-key': 'dev-key' })).status).toBe(200)
  })

  it('is the public limit where that is higher', async () => {
    await start({ RATE_LIMIT_PUBLIC: '7' })
    expect(await compute()).toMatchObject({ status: 200, limit: '7', remaining: '6' })
  })
})
