import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROBLEMS, ProblemError, type ProblemType } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { sendRaw } from '../raw-socket.ts'
import { ADAPTERS, IDENTITY, type RunningServer, startServer } from '../running-http-server.ts'

const NO_RECORDS = { isConnected: false, detail: 'this deployment keeps no records (RECORDS=0)' }

describe.each(ADAPTERS)('routes on %s', (adapter) => {
  let server: RunningServer
  let isReady = true

  beforeAll(async () => {
    server = await startServer(adapter, {
      env: { API_KEYS: JSON.stringify({ k: { tier: 'developer' } }) },
      readiness: () => ({
        ready: isReady,
        checks: { signer: { ok: isReady, detail: 'no key' } },
        database: NO_RECORDS,
      }),
      compute: async (operation, body) => {
        const text = Buffer.from(body).toString()
        if (text in PROBLEMS) throw new ProblemError({ type: text as ProblemType, detail: `asked for ${text}` })
        if (text === 'break') throw new TypeError('secret inside')
        if (text === 'bad header') return { json: '{}', headers: { 'X-Bad': 'a\r\nSet-Cookie: b' } }
        return { json: JSON.stringify({ operation, text }), headers: { 'X-Attester-Nonce-Source': 'default' } }
      },
    })
  })
  afterAll(() => server.stop())

  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(server.url + path, { method: 'POST', body, headers })

  it.each(Object.keys(OPERATIONS))(
    'passes the body of %s to the service and returns its response',
    async (operation) => {
      const response = await post(`/compute/v0/${operation}`, '{"ü":1}')
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('x-attester-nonce-source')).toBe('default')
      expect(await response.json()).toEqual({ operation, text: '{"ü":1}' })
    },
  )

  it('uses the host of an absolute target instead of the Host header, or rejects the form', async () => {
    const { answers } = await sendRaw(server.port, ['GET http://target.example:81/ HTTP/1.1\r\nHost: other\r\n\r\n'], {
      wanted: 1,
    })
    // The parser of uWebSockets.js for Node.js 20 does not support absolute targets.
    if (adapter === 'uws' && answers[0]?.status === 505) return
    expect(answers[0]!.status).toBe(200)
    expect(JSON.parse(answers[0]!.body).links[0].href).toMatch(/^http:\/\/target\.example:81\//)
  })

  it('tolerates a trailing slash and a query', async () => {
    expect(await (await post('/compute/v0/area/?a=%zz', '1')).json()).toEqual({ operation: 'area', text: '1' })
    expect((await fetch(`${server.url}/health/?x`)).status).toBe(200)
  })

  it('lists its resources at /, for clients of the record API and of the compute API', async () => {
    const page = (await (await fetch(server.url)).json()) as Record<string, unknown>
    const links = page['links'] as { rel: string; href: string; type: string }[]
    const isRouted = new Set(server.app.routes.map(({ path }) => `${server.url}${path}`))
    const relations = [
      'self',
      'api',
      'config',
      'sync',
      'location-proofs',
      'location-records',
      'compute',
      'verify',
      'openapi',
      'docs',
      'explorer',
      'llms',
    ]
    const expected = relations.filter((rel) => rel !== 'sync' || isRouted.has(`${server.url}/api/sync`))
    expect(links.map(({ rel }) => rel)).toEqual(expected)
    const types: Record<string, string> = { docs: 'text/html', explorer: 'text/html', llms: 'text/plain' }
    for (const { rel, href, type } of links) {
      expect(isRouted).toContain(href)
      expect((await fetch(href)).status, href).not.toBe(404)
      expect(type, rel).toBe(types[rel] ?? 'application/json')
    }
    expect(page).toMatchObject({ version: 'v0', attester: IDENTITY.attester, commit: IDENTITY.commit })
    for (const name of ['title', 'description', 'name']) expect(typeof page[name]).toBe('string')
    expect(Object.keys(page['endpoints'] as object)).toContain('/compute/v0/within')
  })

  it.each(['/api/v0', '/compute/v0', '/verify/v0'])('lists the resources below %s', async (folder) => {
    const response = await fetch(server.url + folder)
    expect(response.status).toBe(200)
    const page = (await response.json()) as { endpoints: Record<string, string>; links: { href: string }[] }
    expect(page.links[0]!.href).toBe(server.url + folder)
    const paths = server.app.routes.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`))
    expect(Object.keys(page.endpoints)).toEqual([...new Set(paths)])
  })

  it('returns an HTML page only to clients that accept text/html explicitly', async () => {
    const html = await fetch(server.url, { headers: { Accept: 'text/html,application/xhtml+xml' } })
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html.headers.get('content-security-policy')).toContain("script-src 'self' 'wasm-unsafe-eval'")
    expect(html.headers.get('vary')).toBe('Accept, Accept-Encoding')
    expect(await html.text()).toContain('/explore/assets/')
    const any = await fetch(server.url, { headers: { Accept: '*/*' } })
    expect(any.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(any.headers.get('vary')).toBe('Accept')
  })

  it.each(['text/html;q=0', 'text/html; Q=0.000, */*', 'application/json, text/html;q=0.0'])(
    'returns no HTML page for Accept: %s',
    async (accept) => {
      for (const path of ['/', '/errors', '/errors/not-found']) {
        const { headers } = await fetch(server.url + path, { headers: { Accept: accept } })
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      }
    },
  )

  it('reports that it is alive, even when a part fails', async () => {
    isReady = false
    const response = await fetch(`${server.url}/health`)
    isReady = true
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      status: 'ok',
      message: 'Location service is running',
      database: 'disconnected',
      detail: NO_RECORDS.detail,
      commit: IDENTITY.commit,
    })
  })

  it('reports whether it is ready, and what is missing', async () => {
    expect((await fetch(`${server.url}/ready`)).status).toBe(200)
    isReady = false
    const response = await fetch(`${server.url}/ready`)
    isReady = true
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ checks: { signer: { ok: false, detail: 'no key' } } })
  })

  it('serves request metrics to this machine only', async () => {
    await fetch(`${server.url}/health`)
    await fetch(`${server.url}/nothing/${Math.random()}`)
    const response = await fetch(`${server.url}/metrics`)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const text = await response.text()
    expect(text).toMatch(/^http_requests_total\{route="\/health",method="GET",status="200"\} [1-9]/m)
    expect(text).toMatch(/^http_requests_total\{route="none",method="GET",status="404"\} [1-9]/m)
    expect(text).toMatch(/^http_request_duration_seconds_count [1-9]/m)
    const forwarded = await fetch(`${server.url}/metrics`, { headers: { 'X-Forwarded-For': '203.0.113.9' } })
    expect(forwarded.status).toBe(404)
  })

  it.each([
    ['by a foreign name that resolves to this machine', { Host: 'rebound.example' }, 404],
    ['without a name', { Host: '' }, 404],
    ['from a page of another origin', { Host: 'localhost', Origin: 'https://page.example' }, 404],
    ['through a proxy', { Host: 'localhost', Via: '1.1 proxy' }, 404],
    ['by the name of this machine', { Host: 'localhost:3000' }, 200],
    ['by its address', { Host: '[::1]:3000' }, 200],
  ])('answers /metrics like /api/sync when requested %s', async (_name, headers, status) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const { answers } = await sendRaw(server.port, [`GET /metrics HTTP/1.1\r\n${lines.join('')}\r\n`], { wanted: 1 })
    expect(answers[0]!.status).toBe(status)
    const { answers: others } = await sendRaw(server.port, [`GET /api/sync/status HTTP/1.1\r\n${lines.join('')}\r\n`], {
      wanted: 1,
    })
    expect(others[0]!.status).toBe(status === 200 ? 200 : 403)
  })

  it('names the signer', async () => {
    const page = (await (await fetch(`${server.url}/.well-known/attester.json`)).json()) as { statement: string }
    expect(page).toMatchObject({ address: IDENTITY.attester, purpose: 'development', chains: [], retired: [] })
    expect(page.statement).toContain('A matching attester proves only')
  })

  it.each(Object.keys(PROBLEMS))('explains the problem type %s', async (type) => {
    const page = (await (await fetch(`${server.url}/errors/${type}`)).json()) as Record<string, string>
    expect(page['type']).toBe(`${server.url}/errors/${type}`)
    expect(page['cause']!.length).toBeGreaterThan(20)
    expect(page['remedy']!.length).toBeGreaterThan(20)
  })

  it.each(Object.entries(PROBLEMS))(
    'sends a problem of type %s as problem details',
    async (type, { status, title }) => {
      const response = await post('/compute/v0/within', type, { 'X-Request-Id': 'my-id-1' })
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
      expect(response.headers.get('x-request-id')).toBe('my-id-1')
      expect(await response.json()).toEqual({
        type: `${server.url}/errors/${type}`,
        title,
        status,
        detail: `asked for ${type}`,
        instance: '/compute/v0/within',
        requestId: 'my-id-1',
      })
    },
  )

  it('hides the details of an internal error and logs all of it', async () => {
    const response = await post('/compute/v0/within', 'break')
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(text).not.toContain('secret')
    const { requestId } = JSON.parse(text)
    const line = server.lines.find(({ event, fields }) => event === 'request failed' && fields['id'] === requestId)
    expect(line?.fields['error']).toContain('TypeError: secret inside')
  })

  it('never sends a header value with a line break', async () => {
    const response = await post('/compute/v0/within', 'bad header')
    expect(response.status).toBe(500)
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it.each([
    ['GET', '/nowhere'],
    ['GET', '/compute/v0/distance/more'],
    ['POST', '/compute/v0/union'],
    ['GET', '/errors/no-such-type'],
    ['GET', '/errors/a/b'],
    ['GET', '/%zz%ff'],
    ['GET', '//health'],
    ['OPTIONS', '/nowhere'],
  ])('answers 404 for %s %s', async (method, path) => {
    const response = await fetch(server.url + path, { method })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ title: 'Not Found', status: 404, instance: path })
  })

  it.each([
    ['GET', '/compute/v0/area', 'POST, OPTIONS'],
    ['HEAD', '/compute/v0/area', 'POST, OPTIONS'],
    ['DELETE', '/compute/v0/area', 'POST, OPTIONS'],
    ['POST', '/health', 'GET, HEAD, OPTIONS'],
    ['PUT', '/', 'GET, HEAD, OPTIONS'],
  ])('answers 405 for %s %s', async (method, path, allow) => {
    const response = await fetch(server.url + path, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
  })

  it.each(['/api', '/api/v0/nothing', '/api/sync/nothing'])(
    'answers %s with an error of the record API',
    async (path) => {
      const response = await fetch(server.url + path)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await response.json()).toEqual({ status: 'error', message: 'Not found', detail: expect.any(String) })
    },
  )

  it('answers HEAD like GET, Content-Length included, and keeps the connection', async () => {
    const get = await fetch(`${server.url}/errors/internal`)
    const head = await fetch(`${server.url}/errors/internal`, { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    expect(await head.text()).toBe('')
    expect((await fetch(`${server.url}/errors/internal`, { method: 'HEAD' })).status).toBe(200)
  })

  it('answers a preflight with 204 and a lifetime of one day', async () => {
    const response = await fetch(`${server.url}/compute/v0/area`, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    expect(response.headers.get('content-length')).toBeNull()
    expect(response.headers.get('allow')).toBe('POST, OPTIONS')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    expect(response.headers.get('access-control-allow-headers')).toContain('X-API-Key')
    expect(response.headers.get('access-control-max-age')).toBe('86400')
  })

  it.each(['/health', '/nowhere', '/compute/v0/area'])('sends the same set of headers for %s', async (path) => {
    const names = [...(await fetch(server.url + path)).headers.keys()]
    for (const name of [
      'access-control-allow-origin',
      'access-control-expose-headers',
      'cache-control',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'referrer-policy',
      'x-content-type-options',
      'x-frame-options',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'x-request-id',
    ]) {
      expect(names).toContain(name)
    }
    for (const name of ['server', 'x-powered-by', 'uwebsockets']) expect(names).not.toContain(name)
  })

  it.each(['/api/sync', '/api/sync/status', '/metrics'])('lets no page of another origin read %s', async (path) => {
    const response = await fetch(server.url + path)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it.each([
    ['abc-123', true],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['a b', false],
    ['a"b', false],
    ['ä', false],
    ['', false],
  ])('keeps the request id %j: %s', async (id, isKept) => {
    const received = await rawHeader(server.port, 'X-Request-Id', id)
    if (isKept) expect(received).toBe(id)
    else expect(received).toMatch(/^[A-Za-z0-9-]{1,64}$/)
  })

  it('generates distinct request ids', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(`${server.url}/health`)).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(50)
  })

  it('puts PUBLIC_URL and ERROR_TYPE_BASE into its links when they are set', async () => {
    const other = await startServer(adapter, {
      env: { PUBLIC_URL: 'https://geo.example', ERROR_TYPE_BASE: 'https://errors.example/t' },
    })
    const page = (await (await fetch(other.url)).json()) as { links: { href: string }[] }
    expect(page.links[0]!.href).toBe('https://geo.example/')
    expect(await (await fetch(`${other.url}/nowhere`)).json()).toMatchObject({
      type: 'https://errors.example/t/not-found',
    })
    await other.stop()
  })

  it('does not echo an invalid Host', async () => {
    const body = await rawBody(server.port, 'Host', 'a"><script>')
    expect(body).not.toContain('<script')
  })
})

/** `fetch` rejects some values that other clients send. */
function rawHeader(port: number, name: string, value: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/health', headers: { [name]: value } }, (response) => {
      response.resume()
      resolve(response.headers['x-request-id'] as string | undefined)
    })
      .on('error', reject)
      .end()
  })
}

function rawBody(port: number, name: string, value: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/', headers: { [name]: value } }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve(text)
    })
      .on('error', reject)
      .end()
  })
}
