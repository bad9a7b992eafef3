import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { generateKey, withChecksum } from '../../src/service/keys/key-text.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { ENGINES_AND_ADAPTERS } from '../record-service.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const CHAIN_ID = 84532
const DISTANCE = { chainId: CHAIN_ID, from: EIFFEL_TOWER, to: TOWN_HALL }
const ALICE = privateKeyToAccount(`0x${'a1'.repeat(32)}`)
const BOB = privateKeyToAccount(`0x${'b2'.repeat(32)}`)
const CAROL = privateKeyToAccount(`0x${'c3'.repeat(32)}`)

async function send(service: TestService, method: string, path: string, token?: string, body?: unknown) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    // biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
    body: (text === '' ? undefined : JSON.parse(text)) as any,
  }
}

type Fields = Partial<Parameters<typeof createSiweMessage>[0]>

const nonceOf = async (service: TestService) => (await send(service, 'POST', '/auth/nonce')).body.nonce as string

function messageOf(service: TestService, nonce: string, fields: Fields = {}): string {
  const { host } = new URL(service.url)
  return createSiweMessage({
    domain: host,
    address: ALICE.address,
    uri: service.url,
    version: '1',
    chainId: CHAIN_ID,
    nonce,
    issuedAt: new Date(),
    statement: 'Sign in to compute.',
    ...fields,
  } as Parameters<typeof createSiweMessage>[0])
}

async function signIn(service: TestService, signer = ALICE) {
  const message = messageOf(service, await nonceOf(service), { address: signer.address })
  return send(service, 'POST', '/auth/siwe', undefined, { message, signature: await signer.signMessage({ message }) })
}

const openSession = async (service: TestService, signer = ALICE) => {
  const answer = await signIn(service, signer)
  expect(answer).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^tps_/) } })
  return answer.body as { token: string; refreshToken: string; expiresAt: string }
}

/** On PostgreSQL there is a second node, which has to learn what the first did. */
describe.each(ENGINES_AND_ADAPTERS)('sign-in with a wallet: %s, %s', (engine, adapter) => {
  let cluster: PostgresCluster | undefined
  let service: TestService
  let second: TestService | undefined
  beforeAll(async () => {
    const environment = {
      RECORDS: '1',
      HTTP_ADAPTER: adapter,
      ...NO_LOCAL_CALLERS,
      MAX_SIGN_IN_NONCES_PER_CLIENT: '1000',
    }
    if (engine === 'postgres') cluster = await startCluster({ fsync: 'off' })
    const database = cluster === undefined ? {} : { DATABASE_URL: cluster.url }
    service = await startTestService({ ...environment, ...database })
    if (cluster !== undefined) second = await startTestService({ ...environment, ...database })
    for (const started of [service, second])
      if (started !== undefined)
        await eventually(async () => expect((await send(started, 'POST', '/auth/nonce')).status).toBe(200))
  })
  afterAll(async () => {
    await service?.stop()
    await second?.stop()
    await cluster?.remove()
  })

  it('opens a session whose requests count for the account', async () => {
    const { token, expiresAt } = await openSession(service)
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(800_000)
    const account = await send(service, 'GET', '/account', token)
    expect(account).toMatchObject({
      status: 200,
      body: {
        account: `eip155:0:${ALICE.address.toLowerCase()}`,
        address: ALICE.address,
        chainId: null,
        tier: 'developer',
        requestsPerHour: 1000,
        scopes: ['compute', 'verify', 'records', 'jobs'],
      },
    })
    const computed = await send(service, 'POST', '/compute/v0/distance', token, DISTANCE)
    expect(computed.status).toBe(200)
    expect(computed.headers.get('x-ratelimit-limit')).toBe('1000')
  })

  it('uses a nonce once, also when many use it at the same time on all nodes', async () => {
    const message = messageOf(service, await nonceOf(service))
    const body = { message, signature: await ALICE.signMessage({ message }) }
    const nodes = [service, second ?? service]
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => send(nodes[index % 2]!, 'POST', '/auth/siwe', undefined, body)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9)
    expect(await send(service, 'POST', '/auth/siwe', undefined, body)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('nonce') },
    })
  })

  const later = (ms: number) => new Date(Date.now() + ms)
  it.each<[string, Fields, RegExp]>([
    ['another domain', { domain: 'evil.example' }, /domain "evil.example"/],
    ['another URI', { uri: 'https://evil.example/' }, /URI "https:\/\/evil.example/],
    ['a URI with our host as a user', { uri: 'https://localhost@evil.example/' }, /URI/],
    ['another chain', { chainId: 999_999 }, /chain 999999/],
    ['an unknown nonce', { nonce: 'abcdefgh12345678' }, /nonce/],
    ['an expired message', { expirationTime: later(-1000) }, /expired/],
    ['a message of later', { notBefore: later(3_600_000) }, /not valid yet/],
    ['a message of the future', { issuedAt: later(3_600_000) }, /future/],
    ['an old message', { issuedAt: later(-3_600_000) }, /ago/],
    ['the zero address', { address: `0x${'0'.repeat(40)}` }, /nobody/],
    ['the address of another', { address: BOB.address }, /signature is not one of this message/],
  ])('rejects %s', async (_name, fields, detail) => {
    const message = messageOf(service, await nonceOf(service), fields)
    const body = { message, signature: await ALICE.signMessage({ message }) }
    expect(await send(service, 'POST', '/auth/siwe', undefined, body)).toMatchObject({
      status: 401,
      body: { type: expect.stringContaining('unauthorized'), detail: expect.stringMatching(detail) },
    })
  })

  it.each<[string, (message: string) => string]>([
    ['a line after the end', (message) => `${message}\nMalicious: yes`],
    ['an empty line after the end', (message) => `${message}\n`],
    ['CRLF', (message) => message.replaceAll('\n', '\r\n')],
    ['a domain in another script', (message) => message.replace(/^[^ ]+/, 'lоcalhost')],
    ['version 2', (message) => message.replace('Version: 1', 'Version: 2')],
    ['two statements', (message) => message.replace('compute.', 'compute.\nAnd pay.')],
    ['more than 4096 characters', (message) => message.replace('compute.', 'x'.repeat(4096))],
    ['no message', () => ''],
  ])('rejects a text with %s as it is, although it was signed', async (_name, change) => {
    const message = change(messageOf(service, await nonceOf(service)))
    const body = { message, signature: await ALICE.signMessage({ message }) }
    expect(await send(service, 'POST', '/auth/siwe', undefined, body)).toMatchObject({ status: 400 })
  })

  it('rejects a changed message and a signature that is not of 65 bytes with a low s', async () => {
    const message = messageOf(service, await nonceOf(service))
    const signature = await ALICE.signMessage({ message })
    const changed = message.replace('compute', 'do as I')
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const highS = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    const flipped = signature.endsWith('1b') ? '1c' : '1b'
    for (const body of [
      { message: changed, signature },
      { message, signature: `${signature.slice(0, 66)}${highS}${flipped}` },
      { message, signature: signature.slice(0, 130) },
    ])
      expect(await send(service, 'POST', '/auth/siwe', undefined, body)).toMatchObject({ status: 401 })
    const tooLong = { message, signature: `0x${'00'.repeat(8193)}` }
    expect(await send(service, 'POST', '/auth/siwe', undefined, tooLong)).toMatchObject({ status: 400 })
    expect(await send(service, 'POST', '/auth/siwe', undefined, '{"message":1}')).toMatchObject({ status: 400 })
    // None of them has used the nonce up.
    expect((await send(service, 'POST', '/auth/siwe', undefined, { message, signature })).status).toBe(200)
  })

  it('rejects wrong tokens as wrong, not as public', async () => {
    const forged = withChecksum(`tps_${'a'.repeat(43)}`)
    for (const token of [forged, `${forged.slice(0, -1)}!`, generateKey('developer')])
      for (const [method, path] of [
        ['GET', '/account'],
        ['POST', '/compute/v0/distance'],
      ] as const)
        expect((await send(service, method, path, token, method === 'POST' ? DISTANCE : undefined)).status).toBe(401)
    expect((await send(service, 'GET', '/account')).status).toBe(401)
    expect((await send(service, 'GET', '/account', service.internalKey)).status).toBe(401)
    // Streams begin before the store answers, so the first request with an unknown token is to be tried again.
    await eventually(async () =>
      expect((await send(service, 'POST', '/compute/v0/batch', forged, { items: [] })).status).toBe(401),
    )
    const { token } = await openSession(service)
    expect((await send(service, 'GET', '/admin/keys', token)).status).toBe(403)
  })

  it('replaces the tokens of a session, also again after a lost response, and ends it if an older refresh token is used', async () => {
    const counts = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      return Object.fromEntries(
        [...text.matchAll(/^(session_requests|refresh_tokens)(\S+) (\d+)$/gm)].map(([, a, b, count]) => [
          a! + b!,
          Number(count),
        ]),
      )
    }
    const before = await counts()
    const first = await openSession(service)
    const refresh = (refreshToken: string) => send(service, 'POST', '/auth/refresh', undefined, { refreshToken })
    const next = await refresh(first.refreshToken)
    expect(next.status).toBe(200)
    expect((await send(service, 'GET', '/account', next.body.token)).status).toBe(200)
    expect((await send(service, 'GET', '/account', first.token)).status).toBe(401)
    // A client that did not get the response repeats its request.
    const again = await refresh(first.refreshToken)
    expect(again.status).toBe(200)
    expect((await send(service, 'GET', '/account', next.body.token)).status).toBe(401)
    expect((await send(service, 'GET', '/account', again.body.token)).status).toBe(200)
    // Whoever has the response that was replaced is not the client that repeated the request.
    expect(await refresh(next.body.refreshToken)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('used or replaced before') },
    })
    expect((await send(service, 'GET', '/account', again.body.token)).status).toBe(401)
    expect((await refresh(again.body.refreshToken)).status).toBe(401)
    expect((await refresh('tpr_nonsense')).status).toBe(401)
    const after = await counts()
    const added = (name: string) => after[name]! - (before[name] ?? 0)
    expect(added('session_requests_total{action="sign-in",outcome="ok"}')).toBe(1)
    expect(added('session_requests_total{action="refresh",outcome="ok"}')).toBe(2)
    expect(added('session_requests_total{action="refresh",outcome="unauthorized"}')).toBe(3)
    expect(added('refresh_tokens_reused_total')).toBe(1)
  })

  it('ends a session with its sign-out', async () => {
    const { token, refreshToken } = await openSession(service)
    expect((await send(service, 'POST', '/auth/sign-out', token)).status).toBe(204)
    expect((await send(service, 'GET', '/account', token)).status).toBe(401)
    expect((await send(service, 'POST', '/auth/refresh', undefined, { refreshToken })).status).toBe(401)
  })

  it('gives an account keys of its own, which others neither see nor change', async () => {
    const alice = await openSession(service)
    const bob = await openSession(service, BOB)
    for (const body of [{ tier: 'internal' }, { scopes: ['admin'] }, { requestsPerHour: 5 }])
      expect((await send(service, 'POST', '/account/keys', alice.token, body)).status).toBe(400)
    const added = await send(service, 'POST', '/account/keys', alice.token, { label: 'mine', scopes: ['compute'] })
    expect(added).toMatchObject({ status: 201, body: { properties: { tier: 'developer', label: 'mine' } } })
    const { id } = added.body.properties
    expect((await send(service, 'GET', '/account/keys', alice.token)).body.keys).toMatchObject([{ id }])
    expect((await send(service, 'GET', '/account/keys', bob.token)).body.keys).toEqual([])
    expect((await send(service, 'DELETE', `/account/keys/${id}`, bob.token)).status).toBe(404)
    expect((await send(service, 'POST', `/account/keys/${id}/rotate`, bob.token)).status).toBe(404)

    const { key } = added.body
    await eventually(async () =>
      expect((await send(service, 'POST', '/compute/v0/distance', key, DISTANCE)).status).toBe(200),
    )
    expect((await send(service, 'GET', '/account', key)).status).toBe(401)
    // The key and the session are one client.
    const remaining = async (token: string) =>
      Number(
        (await send(service, 'POST', '/compute/v0/distance', token, DISTANCE)).headers.get('x-ratelimit-remaining'),
      )
    const before = await remaining(key)
    expect(await remaining(alice.token)).toBe(before - 1)

    const rotated = await send(service, 'POST', `/account/keys/${id}/rotate?overlapSeconds=0`, alice.token)
    expect(rotated).toMatchObject({ status: 201, body: { properties: { label: 'mine', scopes: ['compute'] } } })
    await eventually(async () =>
      expect((await send(service, 'POST', '/compute/v0/distance', key, DISTANCE)).status).toBe(401),
    )
    const statuses = []
    for (let index = 0; index < 10; index++)
      statuses.push((await send(service, 'POST', '/account/keys', alice.token, {})).status)
    expect(statuses).toEqual([...Array(9).fill(201), 409])
    const { keys } = (await send(service, 'GET', '/account/keys', alice.token)).body
    for (const key of keys)
      expect((await send(service, 'DELETE', `/account/keys/${key.id}`, alice.token)).status).toBe(200)
  })

  it('lets an account whose limit is used up read its usage and revoke the key that used it', async () => {
    const { token } = await openSession(service, CAROL)
    const { key, properties } = (await send(service, 'POST', '/account/keys', token, {})).body
    const items = Array.from({ length: 999 }, () => ({ op: 'distance', from: EIFFEL_TOWER, to: TOWN_HALL }))
    const batch = { chainId: CHAIN_ID, attest: 'none', items }
    await eventually(async () =>
      expect((await send(service, 'POST', '/compute/v0/batch', key, batch)).status).toBe(200),
    )
    expect((await send(service, 'POST', '/compute/v0/distance', token, DISTANCE)).status).toBe(429)
    expect((await send(service, 'POST', '/account/keys', token, {})).status).toBe(429)

    const read = await send(service, 'GET', '/account', token)
    expect([read.status, read.headers.get('x-ratelimit-remaining')]).toEqual([200, '0'])
    for (const path of ['/account/keys', '/account/usage'])
      expect((await send(service, 'GET', path, token)).status).toBe(200)
    const rotated = await send(service, 'POST', `/account/keys/${properties.id}/rotate?overlapSeconds=0`, token)
    expect(rotated.status).toBe(201)
    const { id } = rotated.body.properties
    expect((await send(service, 'DELETE', `/account/keys/${id}`, token)).status).toBe(200)
    expect((await send(service, 'POST', '/auth/sign-out', token)).status).toBe(204)
    expect((await send(service, 'GET', '/account', token)).status).toBe(401)
  })

  it.skipIf(engine !== 'postgres')(
    'shares sessions with other nodes at once, and their end within a second',
    async () => {
      const { token } = await openSession(service)
      expect((await send(second!, 'GET', '/account', token)).status).toBe(200)
      expect((await send(service, 'POST', '/auth/sign-out', token)).status).toBe(204)
      await eventually(async () => expect((await send(second!, 'GET', '/account', token)).status).toBe(401))
    },
  )
})
