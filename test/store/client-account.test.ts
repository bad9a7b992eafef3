import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ApiError, type Client, createClient } from '../../src/client/client.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'
import { WATCHED_ORIGINS } from '../watched-origins.ts'

/** Short, so that tokens end during the test. */
const TOKEN_SECONDS = 10
const ALICE = privateKeyToAccount(`0x${'a1'.repeat(32)}`)
const BOB = privateKeyToAccount(`0x${'b2'.repeat(32)}`)

describe.each(['uws', 'node'])('the client and the account of a wallet over %s', (adapter) => {
  let service: TestService
  /** Paths of the requests with the end of their token. */
  let sent: string[]
  beforeAll(async () => {
    service = await startTestService({
      HTTP_ADAPTER: adapter,
      RECORDS: '1',
      USAGE_FLUSH_MS: '50',
      SESSION_TOKEN_SECONDS: String(TOKEN_SECONDS),
      MAX_SIGN_IN_NONCES_PER_CLIENT: '1000',
      ...NO_LOCAL_CALLERS,
    })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  const create = (options: { readonly apiKey?: string } = {}): Client => {
    sent = []
    const watched: typeof fetch = (input, init) => {
      const authorization = new Headers(init?.headers).get('authorization') ?? ''
      sent.push(`${new URL(String(input)).pathname} ${authorization.slice(-6)}`)
      return fetch(input, init)
    }
    return createClient({ baseUrl: service.url, chainId: 84532, fetch: watched, ...options })
  }
  const signIn = async (client: Client, account = ALICE) =>
    client.signIn({
      address: account.address.toLowerCase(),
      statement: 'Sign in.',
      signMessage: (message) => account.signMessage({ message }),
    })
  const catchError = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('was not rejected'),
      (error: unknown) => error as ApiError,
    )
  const count = (path: string) => sent.filter((entry) => entry.startsWith(`${path} `)).length

  it('signs in, and computes for the account', async () => {
    const client = create()
    await signIn(client)
    expect(await client.account.get()).toMatchObject({
      address: ALICE.address,
      account: `eip155:0:${ALICE.address.toLowerCase()}`,
      tier: 'developer',
      maxKeys: 10,
    })
    expect((await client.compute.distance(EIFFEL_TOWER, TOWN_HALL)).result).toBe(4238.77)
    const results = []
    for await (const { result } of client.batch.stream([{ op: 'distance', from: EIFFEL_TOWER, to: TOWN_HALL }]))
      results.push(result)
    expect(results).toEqual([4238.77])
    await client.signOut()
  })

  it('makes, lists, rotates and revokes keys, and reads what they used', async () => {
    const client = create()
    await signIn(client)
    const before = (await client.account.keys.list()).length
    const made = await client.account.keys.add({ label: 'shop', scopes: ['compute'] })
    expect(made).toMatchObject({ key: expect.stringMatching(/^tp_dev_/), properties: { label: 'shop' } })
    const program = createClient({ baseUrl: service.url, chainId: 84532, apiKey: made.key })
    await eventually(async () => expect((await program.compute.distance(EIFFEL_TOWER, TOWN_HALL)).result).toBe(4238.77))
    expect((await catchError(program.account.keys.list())).status).toBe(401)
    await eventually(async () => {
      const { usage } = await client.account.usage()
      expect(usage.find(({ kind }) => kind === 'distance')?.operations).toBeGreaterThan(0)
      // The key reads the usage of its account too.
      expect(await program.account.usage()).toMatchObject({ usage: expect.arrayContaining([usage[0]]) })
    })
    const [day] = new Date().toISOString().split('T')
    const csv = await client.account.usageCsv({ from: day, to: day })
    expect(csv).toMatch(/^day,kind,requests,/)
    expect((await catchError(client.account.usage({ from: 'yesterday' }))).problem.detail).toBe('from: is not a day')

    const rotated = await client.account.keys.rotate(made.properties.id, { overlapSeconds: 3600 })
    expect(await client.account.keys.list()).toHaveLength(before + 2)
    for (const { properties } of [made, rotated])
      expect(await client.account.keys.revoke(properties.id)).toEqual({ revoked: properties.id })
    expect(await client.account.keys.list()).toHaveLength(before)
    expect((await catchError(client.account.keys.revoke(made.properties.id))).status).toBe(404)
    await client.signOut()
  })

  it('replaces the tokens of a session once for many calls, for as long as the session lasts', async () => {
    const client = create()
    await signIn(client)
    const startMs = Date.now()
    // Half of the time of a token; the calls in between are faster on an idle machine.
    await eventually(
      async () => {
        await Promise.all(Array.from({ length: 8 }, () => client.account.get()))
        expect(Date.now() - startMs).toBeGreaterThan(1.2 * TOKEN_SECONDS * 1000)
      },
      { interval: 500 },
    )
    const refreshes = count('/auth/refresh')
    expect(refreshes).toBeGreaterThanOrEqual(1)
    const tokens = new Set(sent.filter((entry) => entry.startsWith('/account ')))
    expect(tokens.size).toBe(refreshes + 1)
    await client.signOut()
  })

  it('finds that the session was ended elsewhere, and can sign in again', async () => {
    const client = create()
    await signIn(client)
    let token: string | undefined
    const thief = createClient({
      baseUrl: service.url,
      fetch: (input, init) => {
        token = new Headers(init?.headers).get('authorization') ?? token
        return fetch(input, init)
      },
    })
    await thief.signIn({ address: BOB.address, chainId: 84532, signMessage: (message) => BOB.signMessage({ message }) })
    await thief.account.get()
    const response = await fetch(`${service.url}/auth/sign-out`, { method: 'POST', headers: { authorization: token! } })
    expect(response.status).toBe(204)
    const error = await catchError(thief.account.get())
    expect(error).toBeInstanceOf(ApiError)
    expect(error.problem.detail).toBe('the session of this refresh token has ended: sign in again')
    await thief.signIn({ address: BOB.address, chainId: 84532, signMessage: (message) => BOB.signMessage({ message }) })
    expect((await thief.account.get()).address).toBe(BOB.address)
    await thief.signOut()
    expect((await client.account.get()).address).toBe(ALICE.address)
    await client.signOut()
    expect((await catchError(client.account.get())).status).toBe(401)
  })

  it('ends its session when it signs in again', async () => {
    const client = create()
    await signIn(client)
    await client.account.get()
    const ended = sent.at(-1)!.split(' ')[1]!
    await signIn(client)
    expect(count('/auth/sign-out')).toBe(1)
    expect(sent.find((entry) => entry.startsWith('/auth/sign-out '))).toBe(`/auth/sign-out ${ended}`)
    expect((await client.account.get()).address).toBe(ALICE.address)
    await client.signOut()
  })

  it('signs in with a clock that is ten minutes ahead', async () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 600_000)
    try {
      const client = create()
      await signIn(client)
      expect((await client.account.get()).address).toBe(ALICE.address)
      await client.signOut()
    } finally {
      now.mockRestore()
    }
  })

  it('reports what the service rejects, and stays signed out', async () => {
    const client = create()
    const wrong = { address: ALICE.address, signMessage: (message: string) => BOB.signMessage({ message }) }
    expect((await catchError(client.signIn(wrong))).problem.detail).toContain(
      'the signature is not one of this message',
    )
    const elsewhere = { address: ALICE.address, domain: 'evil.example', uri: 'https://evil.example' }
    const signMessage = (message: string) => ALICE.signMessage({ message })
    expect((await catchError(client.signIn({ ...elsewhere, signMessage }))).problem.detail).toContain('"evil.example"')
    expect((await catchError(client.account.get())).status).toBe(401)
    expect(sent.every((entry) => entry.endsWith(' '))).toBe(true)
  })

  it('finds that the sign-in is off', async () => {
    const off = await startTestService({ HTTP_ADAPTER: adapter, SIGN_IN: '0', RECORDS: '1' })
    WATCHED_ORIGINS.delete(new URL(off.url).origin) // the check expects the routes of a service with the sign-in on
    const client = createClient({ baseUrl: off.url, chainId: 84532 })
    expect((await catchError(signIn(client))).status).toBe(404)
    expect(Object.keys((await client.info()).endpoints)).not.toContain('/auth/siwe')
    const paths = async (url: string) =>
      Object.keys(((await (await fetch(`${url}/openapi.json`)).json()) as { readonly paths: object }).paths)
    const isSignIn = (path: string) => /^\/(?:auth|account)(?:\/(?!usage)|$)/.test(path)
    const all = await paths(service.url)
    expect(all.filter(isSignIn).length).toBeGreaterThan(5)
    expect(await paths(off.url)).toEqual(all.filter((path) => !isSignIn(path)))
    await off.stop()
  })
})
