/** Limits of the network address of wallets' accounts, on both adapters, and on three nodes of one PostgreSQL server. */
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { randomBase62, withChecksum } from '../../src/service/keys/key-text.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

const CHAIN_ID = 84532
const DISTANCE = { chainId: CHAIN_ID, from: EIFFEL_TOWER, to: TOWN_HALL }
const ITEM = { op: 'distance', from: EIFFEL_TOWER, to: TOWN_HALL }
/** Requests per hour of an account and of its network address. */
const ACCOUNT = 6
const ADDRESS = 10
const SHARED = 'of all wallet accounts at one network address is reached'

const ENVIRONMENT = {
  RECORDS: '1',
  SYNC: '0',
  // The test says from which address each request comes.
  TRUSTED_PROXIES: '127.0.0.1',
  RATE_LIMIT_DEVELOPER: String(ACCOUNT),
  COST_LIMIT_DEVELOPER: 'bytes=1000000000,vertices=1000000000,cpu-ms=0',
  RATE_LIMIT_WALLET_ADDRESS: String(ADDRESS),
  COST_LIMIT_WALLET_ADDRESS: 'bytes=1000000000,vertices=1000000000,cpu-ms=0',
  MAX_SIGN_IN_NONCES_PER_CLIENT: '1000',
}

let wallets = 0
const newWallet = () => privateKeyToAccount(`0x${(++wallets).toString(16).padStart(64, '0')}`)

/** Opens an account from an address that is of no matter. @returns the token of its session */
async function openAccount(service: TestService): Promise<string> {
  return (await openSession(service)).token
}

async function openSession(
  service: TestService,
  from: Record<string, string> = { 'x-forwarded-for': '203.0.113.9' },
): Promise<{ readonly token: string; readonly refreshToken: string }> {
  const wallet = newWallet()
  const { nonce } = (await service.post('/auth/nonce', {}, from)).body
  const { host } = new URL(service.url)
  const fields = { domain: host, uri: service.url, version: '1', nonce, issuedAt: new Date() } as const
  const message = createSiweMessage({ ...fields, address: wallet.address, chainId: CHAIN_ID })
  const answer = await service.post('/auth/siwe', { message, signature: await wallet.signMessage({ message }) }, from)
  expect(answer.status).toBe(200)
  return answer.body
}

const headersOf = (token: string, address: string) => ({
  authorization: `Bearer ${token}`,
  'x-forwarded-for': address,
  connection: 'close',
})
const single = (service: TestService, token: string, address: string) =>
  service.post('/compute/v0/distance', DISTANCE, headersOf(token, address))
const limitsOf = ({ headers }: { headers: Headers }) => [
  Number(headers.get('x-ratelimit-limit')),
  Number(headers.get('x-ratelimit-remaining')),
]

async function lines(service: TestService, token: string, address: string, count: number) {
  const body = Array.from({ length: count }, (_, index) => `${JSON.stringify({ id: String(index), ...ITEM })}\n`).join(
    '',
  )
  const response = await fetch(`${service.url}/compute/v0/batch?chainId=${CHAIN_ID}&attest=none`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', ...headersOf(token, address) },
    body,
  })
  expect(response.status).toBe(200)
  return (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe.each(['uws', 'node'])('accounts of wallets at one network address: %s', (HTTP_ADAPTER) => {
  const services: TestService[] = []
  async function start(more: Record<string, string> = {}, status = 200): Promise<TestService> {
    const service = await startTestService({ ...ENVIRONMENT, HTTP_ADAPTER, ...more })
    services.push(service)
    // From another address each time, because each request counts for its own.
    let tries = 0
    const nonce = () =>
      service.post('/auth/nonce', {}, { 'x-forwarded-for': `2001:db8:9:${(++tries).toString(16)}::1` })
    await eventually(async () => expect((await nonce()).status).toBe(status))
    return service
  }
  let service: TestService
  beforeAll(async () => {
    service = await start()
  })
  afterAll(async () => {
    for (const started of services) await started.stop()
  })

  it('are opened within the limit that their network address has without a key, whatever key or token a request carries', async () => {
    const few = await start({ RATE_LIMIT_PUBLIC: '4' })
    const { token } = await openSession(few, { 'x-forwarded-for': '203.0.113.10' })
    const home = '203.0.113.11'
    const carried: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { 'x-api-key': few.developerKey },
      { authorization: `Bearer ${withChecksum(`tps_${'a'.repeat(43)}`)}` },
      { 'x-api-key': 'wrong' },
    ]
    for (const [index, headers] of carried.entries()) {
      const answer = await few.post('/auth/nonce', {}, { ...headers, 'x-forwarded-for': home })
      expect(answer.status).toBe(200)
      expect(limitsOf(answer)).toEqual([4, 3 - index])
    }
    for (const headers of carried)
      for (const path of ['/auth/nonce', '/auth/siwe'])
        expect((await few.post(path, {}, { ...headers, 'x-forwarded-for': home })).status).toBe(429)
    // Two requests opened the account.
    const other = { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.10' }
    expect(limitsOf(await few.post('/auth/nonce', {}, other))).toEqual([4, 1])
  })

  it('need a key to be opened where every caller needs one, and a session is none', async () => {
    const closed = await start({ REQUIRE_API_KEY: '1', SIGN_IN: '1', SIGN_IN_DOMAINS: 'example.org' }, 401)
    const nonce = async (headers: Record<string, string>) => (await closed.post('/auth/nonce', {}, headers)).status
    await eventually(async () => expect(await nonce({ 'x-api-key': closed.developerKey })).toBe(200))
    expect(await nonce({ 'x-api-key': 'wrong' })).toBe(401)
    expect(await nonce({ authorization: `Bearer ${withChecksum(`tps_${'a'.repeat(43)}`)}` })).toBe(401)
  })

  it('are not needed to charge an address for bodies with made-up tokens, and to stop reading them', async () => {
    const small = await start({ COST_LIMIT_PUBLIC: 'bytes=300000,vertices=0,cpu-ms=0', RATE_LIMIT_PUBLIC: '5' })
    const madeUp = () => withChecksum(`tps_${randomBase62(43)}`)
    const send = async (address: string, bytes: number, token = madeUp()) => {
      const body = ' '.repeat(bytes)
      const headers = headersOf(token, address)
      const response = await fetch(`${small.url}/compute/v0/distance`, { method: 'POST', body, headers })
      await response.body?.cancel()
      return response.status
    }
    for (let index = 0; index < 3; index++) expect(await send('198.51.100.20', 100_000)).toBe(401)
    expect(await send('198.51.100.20', 100_000)).toBe(503)
    for (let index = 0; index < 5; index++) expect(await send('198.51.100.21', 10)).toBe(401)
    const last = madeUp()
    expect(await send('198.51.100.21', 10, last)).toBe(503)
    // The store has been asked meanwhile, so the token is known to be wrong.
    await eventually(async () => expect(await send('198.51.100.21', 10, last)).toBe(429))
    expect(await send('198.51.100.22', 10)).toBe(401)
  })

  it('share a limit of requests, and what one limit rejects does not count in the other', async () => {
    const [alice, bob] = [await openAccount(service), await openAccount(service)]
    const home = '198.51.100.1'
    for (let left = ACCOUNT - 1; left >= 0; left--) {
      const answer = await single(service, alice, home)
      expect(answer.status).toBe(200)
      // Less is left of the account than of the address.
      expect(limitsOf(answer)).toEqual([ACCOUNT, left])
    }
    const spent = await single(service, alice, home)
    expect(spent).toMatchObject({ status: 429, body: { detail: expect.not.stringContaining(SHARED) } })
    expect(limitsOf(spent)).toEqual([ACCOUNT, 0])

    for (let left = ADDRESS - ACCOUNT - 1; left >= 0; left--) {
      const answer = await single(service, bob, home)
      expect(answer.status).toBe(200)
      expect(limitsOf(answer)).toEqual([ADDRESS, left])
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"address-requests";r=${left};t=\\d+`))
      expect(answer.headers.get('ratelimit-policy')).toContain(
        `"requests";q=${ACCOUNT};w=3600, "bytes";q=1000000000;qu="content-bytes";w=3600`,
      )
      expect(answer.headers.get('ratelimit-policy')).toContain(`"address-requests";q=${ADDRESS};w=3600`)
    }
    const shared = await single(service, bob, home)
    expect(shared).toMatchObject({
      status: 429,
      body: {
        detail: expect.stringContaining(`the limit of ${ADDRESS} requests per hour ${SHARED}`),
        errors: [{ code: 'limit', hint: expect.stringContaining('RATE_LIMIT_WALLET_ADDRESS') }],
      },
    })
    expect(limitsOf(shared)).toEqual([ADDRESS, 0])
    const wait = Number(shared.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(Number(shared.headers.get('x-ratelimit-reset')) - Math.floor(Date.now() / 1000))
    expect(wait).toBeLessThanOrEqual(3600)
    // From elsewhere, the account has what it did not use.
    const elsewhere = await single(service, bob, '198.51.100.2')
    expect(elsewhere.status).toBe(200)
    expect(limitsOf(elsewhere)).toEqual([ACCOUNT, 2 * ACCOUNT - ADDRESS - 1])
    // Keys of the operator and callers without a key are not accounts.
    expect((await single(service, service.developerKey, home)).status).toBe(200)
    expect((await service.post('/compute/v0/distance', DISTANCE, { 'x-forwarded-for': home })).status).toBe(200)
  })

  it('share it with their own keys, and over the 64 bits of a network of IPv6', async () => {
    const tokens = [await openAccount(service), await openAccount(service)]
    const elsewhere = headersOf(tokens[0]!, '203.0.113.77')
    const { key } = (await service.post('/account/keys', {}, elsewhere)).body
    await eventually(async () => expect((await single(service, key, '203.0.113.78')).status).toBe(200))
    // Making the key, and trying it until every process knew it, used some of the account.
    const used = ACCOUNT - limitsOf(await service.post('/account/keys', {}, elsewhere))[1]!
    const first = ACCOUNT - used
    for (let index = 0; index < first; index++) expect((await single(service, key, '2001:db8:0:1::1')).status).toBe(200)
    for (let index = 0; index < Math.min(ACCOUNT, ADDRESS - first); index++)
      expect((await single(service, tokens[1]!, `2001:db8:0:1:${index + 1}::2`)).status).toBe(200)
    expect((await single(service, tokens[1]!, '2001:db8:0:1:ffff::2')).status).toBe(429)
  })

  it('share it for the items of batches, as JSON and as lines', async () => {
    const [alice, bob] = [await openAccount(service), await openAccount(service)]
    const office = '198.51.100.3'
    const items = Array.from({ length: 4 }, (_, index) => ({ id: String(index), ...ITEM }))
    const batch = (token: string) =>
      service.post('/compute/v0/batch', { chainId: CHAIN_ID, attest: 'none', items }, headersOf(token, office))
    const whole = await batch(alice)
    expect(whole.body.results.every((result: object) => 'result' in result)).toBe(true)
    expect(limitsOf(whole)).toEqual([ACCOUNT, 2])
    expect((await lines(service, bob, office, 5)).filter((line) => 'result' in line)).toHaveLength(5)
    // One request of the address is left, two of alice and one of bob.
    const cut = await batch(alice)
    expect(cut.body.results.map((result: object) => 'result' in result)).toEqual([true, false, false, false])
    expect(cut.body.results[1].error.detail).toContain(`the limit of ${ADDRESS} requests per hour ${SHARED}`)
    expect(limitsOf(cut)).toEqual([ADDRESS, 0])
    expect((await single(service, bob, office)).body.detail).toContain(SHARED)
    // What the address rejected is left to the account.
    const left = await single(service, alice, '198.51.100.4')
    expect(limitsOf(left)).toEqual([ACCOUNT, 0])
    expect(left.status).toBe(200)
  })

  it('share a budget of each resource, for single requests, for items of a stream, and for jobs', async () => {
    const small = await start({
      RATE_LIMIT_WALLET_ADDRESS: '1000',
      COST_LIMIT_WALLET_ADDRESS: 'vertices=10,bytes=0,cpu-ms=0',
      JOB_OPERATIONS_WALLET_ADDRESS: '5',
    })
    const [alice, bob] = [await openAccount(small), await openAccount(small)]
    const home = '198.51.100.5'
    for (let count = 0; count < 2; count++) expect((await single(small, alice, home)).status).toBe(200)
    const charged = await single(small, bob, home)
    expect(charged.headers.get('ratelimit')).toMatch(/"address-vertices";r=\d+;t=\d+$/)
    // Each distance has two vertices, and 10 are allowed.
    const streamed = await lines(small, bob, home, 5)
    expect(streamed.some((line) => 'result' in line)).toBe(true)
    const rejected = await single(small, alice, home)
    expect(rejected).toMatchObject({
      status: 429,
      body: {
        detail: expect.stringContaining(`the limit of 10 vertices per hour ${SHARED}; the hour ends at`),
        errors: [{ code: 'cost-limit', hint: expect.stringContaining('COST_LIMIT_WALLET_ADDRESS') }],
      },
    })
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await single(small, alice, '198.51.100.6')).status).toBe(200)

    const upload = (token: string, address: string, count: number) => {
      const items = Array.from({ length: count }, (_, index) => ({ id: String(index), ...ITEM }))
      return small.post('/compute/v0/jobs', { chainId: CHAIN_ID, attest: 'none', items }, headersOf(token, address))
    }
    const [carol, dave] = [await openAccount(small), await openAccount(small)]
    expect((await upload(carol, '198.51.100.7', 3)).status).toBe(202)
    expect(await upload(dave, '198.51.100.7', 3)).toMatchObject({
      status: 429,
      body: {
        detail: expect.stringMatching(
          /limit of 5 operations of jobs per day of all wallet accounts at one network address/,
        ),
      },
    })
    expect((await upload(dave, '198.51.100.7', 2)).status).toBe(202)
    expect((await upload(dave, '198.51.100.8', 3)).status).toBe(202)
  })
})

async function metric(service: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

describe.skipIf(POSTGRES === undefined)('accounts of wallets on three nodes', () => {
  let cluster: PostgresCluster
  let nodes: TestService[] = []
  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    const limits = { RATE_LIMIT_WALLET_ADDRESS: '50', RATE_LIMIT_DEVELOPER: '20', METRICS_PUBLIC: '1' }
    nodes = await Promise.all(
      ['uws', 'node', 'uws'].map((HTTP_ADAPTER) =>
        startTestService({
          ...ENVIRONMENT,
          ...limits,
          DATABASE_URL: cluster.url,
          // A busy machine must not count as a database that is away.
          SHARED_LIMIT_WAIT_MS: '10000',
          HTTP_ADAPTER,
        }),
      ),
    )
    for (const node of nodes) {
      await eventually(async () => expect((await node.post('/auth/nonce', {})).status).toBe(200))
      await eventually(async () => expect(await metric(node, 'limit_database_away')).toBe(0))
    }
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await cluster?.remove()
  })

  it('get exactly the limit of their network address together, and each no more than its own', async () => {
    const tokens = await Promise.all([1, 2, 3, 4].map(() => openAccount(nodes[0]!)))
    const answeredAlone = () => Promise.all(nodes.map((node) => metric(node, 'limit_answered_alone_total')))
    const before = await answeredAlone()
    const home = '198.51.100.1'
    const answered = new Map(tokens.map((token) => [token, 0]))
    const attempt = async (node: TestService, token: string, address: string) => {
      const { status } = await single(node, token, address)
      expect([200, 429]).toContain(status)
      if (status === 200) answered.set(token, answered.get(token)! + 1)
    }
    const total = () => [...answered.values()].reduce((sum, count) => sum + count, 0)
    for (let round = 0; round < 8; round++)
      await Promise.all(
        tokens.flatMap((token) => nodes.flatMap((node) => [attempt(node, token, home), attempt(node, token, home)])),
      )
    // Blocks that a node does not use are returned after a second.
    await eventually(async () => {
      await Promise.all(tokens.flatMap((token) => nodes.map((node) => attempt(node, token, home))))
      expect(total()).toBeGreaterThanOrEqual(50)
    })
    await Promise.all(tokens.flatMap((token) => nodes.map((node) => attempt(node, token, home))))
    expect(total()).toBe(50)
    // What the address rejected was given back: each account gets the rest of its own limit elsewhere.
    await eventually(async () => {
      await Promise.all(
        tokens.flatMap((token) => nodes.map((node) => attempt(node, token, `203.0.113.${nodes.indexOf(node)}`))),
      )
      expect(total()).toBeGreaterThanOrEqual(80)
    })
    await Promise.all(tokens.flatMap((token) => nodes.map((node) => attempt(node, token, '203.0.113.3'))))
    expect([...answered.values()]).toEqual([20, 20, 20, 20])
    // None of them was answered without the database.
    expect(await answeredAlone()).toEqual(before)
  })

  const statusOf = async (node: TestService, token: string) => {
    const response = await fetch(`${node.url}/account`, { headers: headersOf(token, '198.51.100.8') })
    await response.body?.cancel()
    return response.status
  }
  /** Waits until all nodes reject a request, and prints how long the last of them took. */
  async function untilRejected(what: string, request: (node: TestService) => Promise<number>): Promise<void> {
    const startMs = performance.now()
    await Promise.all(
      nodes.map((node) => eventually(async () => expect(await request(node)).toBe(401), { timeout: 60_000 })),
    )
    console.log(`three nodes reject ${what} after ${Math.round(performance.now() - startMs)} ms`)
  }

  it('lose a key on all nodes when one revokes it', async () => {
    const token = await openAccount(nodes[0]!)
    const { key, properties } = (await nodes[1]!.post('/account/keys', {}, headersOf(token, '198.51.100.8'))).body
    const compute = async (node: TestService) => (await single(node, key, '198.51.100.8')).status
    await Promise.all(nodes.map((node) => eventually(async () => expect(await compute(node)).toBe(200))))
    const response = await fetch(`${nodes[2]!.url}/account/keys/${properties.id}`, {
      method: 'DELETE',
      headers: headersOf(token, '198.51.100.8'),
    })
    expect(response.status).toBe(200)
    await untilRejected('a revoked key', compute)
  })

  it('lose a session on all nodes when one ends it', async () => {
    const token = await openAccount(nodes[0]!)
    for (const node of nodes) expect(await statusOf(node, token)).toBe(200)
    const headers = headersOf(token, '198.51.100.8')
    expect((await fetch(`${nodes[1]!.url}/auth/sign-out`, { method: 'POST', headers })).status).toBe(204)
    await untilRejected('the token of an ended session', (node) => statusOf(node, token))
  })

  it('lose a session on all nodes when its refresh token is used on two of them', async () => {
    const { refreshToken } = await openSession(nodes[0]!)
    const refresh = (node: TestService, used: string) => node.post('/auth/refresh', { refreshToken: used })
    const owner = await refresh(nodes[1]!, refreshToken)
    expect(owner.status).toBe(200)
    for (const node of nodes) expect(await statusOf(node, owner.body.token)).toBe(200)
    // Within seconds, the client may have lost the response. Only one of both has tokens then, on all nodes.
    const thief = await refresh(nodes[2]!, refreshToken)
    expect(thief.status).toBe(200)
    await untilRejected('a token that was replaced', (node) => statusOf(node, owner.body.token))
    expect(await statusOf(nodes[1]!, thief.body.token)).toBe(200)
    const next = await refresh(nodes[0]!, owner.body.refreshToken)
    expect(next).toMatchObject({ status: 401, body: { detail: expect.stringContaining('used or replaced before') } })
    await untilRejected('the token of a stolen session', (node) => statusOf(node, thief.body.token))
    for (const node of nodes) expect((await refresh(node, thief.body.refreshToken)).status).toBe(401)
  })
})
