import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error: the package has no types
import Provider from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { startTestService, type TestService } from '../service.ts'
import { AUDIENCE, ISSUER, type IssuerKeyPair, KeySetServer, makeKeyPair, makeToken } from '../token-issuer.ts'

const DISTANCE = JSON.stringify({ chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL })
const AREA_LINE = '{"op":"area","geometry":{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,48]]]}}\n'

let pair: IssuerKeyPair
let server: KeySetServer
beforeAll(async () => {
  pair = await makeKeyPair('ES256', 'first')
  server = await KeySetServer.start([pair.jwk])
})
afterAll(() => server.close())

const settingsOf = (issuer: string, keySet: string) => ({
  JWT_ISSUER: issuer,
  JWT_AUDIENCE: AUDIENCE,
  JWT_JWKS: keySet,
  JWT_JWKS_ALLOW_PRIVATE: '1',
  JWT_TIER_CLAIM: 'tier',
})

async function ask(service: TestService, path: string, token: string | undefined, init: RequestInit = {}) {
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...init.headers }
  const response = await fetch(`${service.url}${path}`, { ...init, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}
async function readJson(response: Promise<Response>): Promise<Record<string, string>> {
  return (await (await response).json()) as Record<string, string>
}
const compute = (service: TestService, token: string | undefined, headers: Record<string, string> = {}) =>
  ask(service, '/compute/v0/distance', token, { method: 'POST', body: DISTANCE, headers })

describe.each(ADAPTERS)('tokens over %s', (adapter) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      HTTP_ADAPTER: adapter,
      RECORDS: '1',
      REQUIRE_API_KEY: '1',
      ...settingsOf(ISSUER, server.url),
    })
    // The service starts without waiting for the issuer.
    const token = await makeToken(pair, { claims: { sub: 'first' } })
    await eventually(async () => expect((await compute(service, token)).status).toBe(200))
    // Jobs need the store, which opens in the background.
    await eventually(async () =>
      expect(await readJson(fetch(`${service.url}/health`))).toMatchObject({ database: 'connected' }),
    )
  })
  afterAll(() => service.stop())

  it('open the routes of their scopes, with the limits of their tier', async () => {
    const token = await makeToken(pair, { claims: { sub: 'compute', scope: 'compute', tier: 'internal' } })
    const answer = await compute(service, token)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-limit')).toBe('10000')
    const batch = await ask(service, '/compute/v0/batch?chainId=84532&attest=none', token, {
      method: 'POST',
      body: AREA_LINE,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(batch.status).toBe(200)
    const refused = await ask(service, '/api/v0/location-records', token)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_scope", scope="records", resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource"$/,
    )
  })

  it('are sent by the client and by the command line', async () => {
    const token = await makeToken(pair, { claims: { sub: 'client' } })
    const [from, to] = [EIFFEL_TOWER, TOWN_HALL]
    let calls = 0
    const next = () => {
      calls++
      return token
    }
    for (const option of [token, next]) {
      const client = createClient({ baseUrl: service.url, chainId: 84532, token: option })
      expect((await client.compute.distance(from, to)).result).toBe(4238.77)
    }
    expect(calls).toBe(1)
    const { exitCode, out } = await runCli(
      ['compute', 'distance', '2.2945,48.8584', '2.3522,48.8566', '--url', service.url],
      {
        env: { TRIGPOINT_TOKEN: token },
      },
    )
    expect([exitCode, out]).toEqual([0, expect.stringContaining('4,238.77 m')])
  })

  it('count together for one subject', async () => {
    const tokens = await Promise.all(['1', '2'].map((jti) => makeToken(pair, { claims: { sub: 'counted', jti } })))
    const remaining: number[] = []
    for (const token of [...tokens, ...tokens])
      remaining.push(Number((await compute(service, token)).headers.get('x-ratelimit-remaining')))
    expect(remaining).toEqual([999, 998, 997, 996])
  })

  it('that are not valid get 401 everywhere, never the answer of a request without one', async () => {
    const forged = await makeToken(await makeKeyPair('ES256', 'first'))
    const expired = await makeToken(pair, { claims: { exp: 1 } })
    for (const [token, description] of [
      [forged, 'the signature of the token does not hold'],
      [expired, 'the token has expired'],
    ] as const) {
      for (const path of ['/api/v0/location-records', '/compute/v0/jobs']) {
        const answer = await ask(service, path, token)
        expect(answer.status, path).toBe(401)
        expect(answer.headers.get('www-authenticate'), path).toContain(`error_description="${description}"`)
      }
      const answer = await compute(service, token)
      expect(answer.status).toBe(401)
      expect(JSON.parse(answer.text).detail).toBe(description)
      // Counted by address.
      expect(answer.headers.get('x-ratelimit-limit')).toBe('1000000000')
    }
  })

  it('are no API keys, and API keys are no tokens', async () => {
    const token = await makeToken(pair)
    const asKey = await ask(service, '/compute/v0/distance', undefined, {
      method: 'POST',
      body: DISTANCE,
      headers: { 'x-api-key': token },
    })
    expect(asKey.status).toBe(401)
    expect((await compute(service, token, { 'x-api-key': service.internalKey })).status).toBe(401)
    const withKey = await compute(service, service.internalKey)
    expect(withKey.status).toBe(200)
    const wrongKey = await compute(service, 'tp_dev_wrong')
    expect(wrongKey.status).toBe(401)
    expect(JSON.parse(wrongKey.text).detail).toBe('Invalid API key')
    expect((await compute(service, undefined)).headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata=/)
  })

  it('manage API keys only with the scope admin', async () => {
    const admin = await makeToken(pair, { claims: { scope: 'admin' } })
    expect((await ask(service, '/admin/keys', admin)).status).toBe(200)
    expect((await ask(service, '/admin/keys', await makeToken(pair))).status).toBe(403)
    expect((await compute(service, admin)).status).toBe(403)
  })

  it('own jobs by their subject', async () => {
    const [alice, again, bob] = await Promise.all(
      ['alice', 'alice', 'bob'].map((sub, index) => makeToken(pair, { claims: { sub, jti: String(index) } })),
    )
    const created = await ask(service, '/compute/v0/jobs?chainId=84532&attest=none', alice, {
      method: 'POST',
      body: AREA_LINE,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(created.status).toBe(202)
    const { id } = JSON.parse(created.text)
    expect((await ask(service, `/compute/v0/jobs/${id}`, again)).status).toBe(200)
    expect((await ask(service, `/compute/v0/jobs/${id}`, bob)).status).toBe(404)
  })

  it('are described for clients', async () => {
    const { status, text } = await ask(service, '/.well-known/oauth-protected-resource', undefined)
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      resource: service.url,
      authorization_servers: [ISSUER],
      scopes_supported: ['compute', 'verify', 'records', 'jobs', 'admin'],
      bearer_methods_supported: ['header'],
    })
  })

  it('of a new key of the issuer are accepted after it was read', async () => {
    const next = await makeKeyPair('EdDSA', `next-${adapter}`)
    server.keys = [...server.keys, next.jwk]
    const token = await makeToken(next)
    await eventually(async () => expect((await compute(service, token)).status).toBe(200))
  })
})

describe('tokens of an OpenID provider', () => {
  it('are accepted as the provider makes them', async () => {
    const http = createServer()
    await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
    const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: 'backend',
          client_secret: 'secret',
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({ scope: 'compute records', accessTokenFormat: 'jwt', audience: AUDIENCE }),
        },
      },
    })
    http.on('request', provider.callback())
    const metadata = await readJson(fetch(`${issuer}/.well-known/openid-configuration`))
    const service = await startTestService({
      REQUIRE_API_KEY: '1',
      ...settingsOf(metadata['issuer']!, metadata['jwks_uri']!),
    })
    try {
      const request = {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('backend:secret').toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope: 'compute' }),
      }
      const token = (await readJson(fetch(metadata['token_endpoint']!, request)))['access_token']
      expect(token).toEqual(expect.any(String))
      await eventually(async () => expect((await compute(service, token)).status).toBe(200))
      expect((await ask(service, '/api/v0/location-records', token)).status).toBe(403)
    } finally {
      await service.stop()
      http.closeAllConnections()
      http.close()
    }
  })
})

describe('a service without an issuer', () => {
  it('accepts no tokens', async () => {
    const service = await startTestService({})
    try {
      const answer = await compute(service, await makeToken(pair))
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect((await ask(service, '/.well-known/oauth-protected-resource', undefined)).status).toBe(404)
    } finally {
      await service.stop()
    }
  })

  it.each([
    [{ JWT_ISSUER: ISSUER }, /JWT_AUDIENCE/],
    [{ JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE }, /JWT_JWKS/],
    [{ JWT_ISSUER: 'id', JWT_AUDIENCE: AUDIENCE, JWT_JWKS: 'x' }, /JWT_ISSUER=.*must be the URL/],
    [{ JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS: '/absent' }, /JWT_JWKS=.*ENOENT/],
  ])('does not start with %j', async (settings, reason) => {
    await expect(startTestService(settings)).rejects.toThrow(reason)
  })
})
