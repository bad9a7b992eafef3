import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, type Client, ConnectionError, createClient } from '../../src/client/client.ts'

const TOKEN_MS = 900_000
const ADDRESS = `0x${'ab'.repeat(20)}`

/** A service with one session. It accepts only the newest tokens, as the real one does. */
class FakeService {
  nowMs = Date.UTC(2030, 0, 1)
  number = 0
  endMs = 0
  hasEnded = true
  readonly calls: string[] = []
  /** Taken for the next request in place of its response. */
  fault: (() => Promise<Response>) | undefined
  /** Requests to replace the tokens wait for this. */
  gate: Promise<void> = Promise.resolve()

  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(String(url))
    const authorization = new Headers(init.headers).get('authorization') ?? 'no token'
    this.calls.push(`${pathname} ${authorization}`)
    const { fault } = this
    this.fault = undefined
    if (fault !== undefined) return fault()
    const problem = (status: number, detail: string) =>
      Response.json({ type: 'about:blank', title: 'Problem', status, detail }, { status })
    if (pathname === '/auth/nonce') return Response.json({ nonce: 'abcdefgh12345678' })
    if (pathname === '/auth/siwe') {
      this.hasEnded = false
      return this.#tokens()
    }
    if (pathname === '/auth/refresh') {
      await this.gate
      const { refreshToken } = JSON.parse(String(init.body))
      if (this.hasEnded || refreshToken !== `refresh-${this.number}`) {
        this.hasEnded = true
        return problem(401, 'sign in again')
      }
      return this.#tokens()
    }
    if (authorization === 'no token') return Response.json({ public: true })
    const isValid = authorization === `Bearer token-${this.number}` && this.nowMs < this.endMs && !this.hasEnded
    if (!isValid) return problem(401, 'wrong token')
    if (pathname !== '/auth/sign-out') return Response.json({ usage: [] })
    this.hasEnded = true
    return new Response(null, { status: 204 })
  }

  #tokens(): Response {
    this.number++
    this.endMs = this.nowMs + TOKEN_MS
    const { number } = this
    const expiresAt = new Date(this.endMs).toISOString()
    return Response.json({ token: `token-${number}`, refreshToken: `refresh-${number}`, expiresAt })
  }

  count(path: string): number {
    return this.calls.filter((call) => call.startsWith(`${path} `)).length
  }
}

describe('the session of a client', () => {
  let service: FakeService
  let client: Client
  /** How far the clock of the client is ahead. */
  let aheadMs: number
  beforeEach(() => {
    service = new FakeService()
    aheadMs = 0
    vi.spyOn(Date, 'now').mockImplementation(() => service.nowMs + aheadMs)
    client = createClient({ baseUrl: 'http://geo.example:3000/', chainId: 1, maxRetries: 0, fetch: service.fetch })
    return () => vi.restoreAllMocks()
  })
  const signIn = () => client.signIn({ address: ADDRESS, signMessage: async () => '0x00' })
  const catchError = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('was not rejected'),
      (error: unknown) => error,
    )

  it('gives the wallet a message for the host of the service, with the checksum of the address', async () => {
    const signMessage = vi.fn(async () => '0x00')
    await client.signIn({ address: ADDRESS, statement: 'Sign in.', signMessage })
    expect(signMessage).toHaveBeenCalledWith(
      [
        'geo.example:3000 wants you to sign in with your Ethereum account:',
        '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB',
        '',
        'Sign in.',
        '',
        'URI: http://geo.example:3000',
        'Version: 1',
        'Chain ID: 1',
        'Nonce: abcdefgh12345678',
        'Issued At: 2030-01-01T00:00:00.000Z',
      ].join('\n'),
    )
  })

  it('stays as it was if the wallet rejects the message', async () => {
    const rejection = Object.assign(new Error('rejected'), { code: 4001 })
    const signMessage = () => Promise.reject(rejection)
    expect(await catchError(client.signIn({ address: ADDRESS, signMessage }))).toBe(rejection)
    expect(await client.account.usage()).toEqual({ public: true })
    expect(service.count('/auth/siwe')).toBe(0)
  })

  it('gives its token to all calls, until the sign-out', async () => {
    await signIn()
    await client.account.usage()
    await client.health()
    expect(service.calls.slice(2)).toEqual(['/account/usage Bearer token-1', '/health Bearer token-1'])
    await client.signOut()
    await client.signOut()
    expect(await client.account.usage()).toEqual({ public: true })
    expect(service.count('/auth/sign-out')).toBe(1)
  })

  it('replaces the token before it ends, once for calls at the same time', async () => {
    await signIn()
    service.nowMs += TOKEN_MS - 59_000
    let open = () => {}
    service.gate = new Promise((resolve) => {
      open = resolve
    })
    const calls = Promise.all(Array.from({ length: 20 }, () => client.account.usage()))
    const controller = new AbortController()
    const aborted = catchError(client.account.usage({ signal: controller.signal }))
    controller.abort(new Error('enough'))
    // An aborted call does not abort the request for which the others wait.
    expect(await aborted).toMatchObject({ message: 'enough' })
    open()
    await calls
    expect(service.count('/auth/refresh')).toBe(1)
    expect(service.calls.filter((call) => call === '/account/usage Bearer token-2')).toHaveLength(20)
    expect(service.calls).not.toContain('/account/usage Bearer token-1')
    await client.account.usage()
    expect(service.count('/auth/refresh')).toBe(1)
  })

  it('replaces a token that the service rejects, once', async () => {
    await signIn()
    // The clock of the client is an hour behind, so it does not see that the token has ended.
    service.nowMs += TOKEN_MS + 1
    aheadMs = -3_600_000
    await Promise.all(Array.from({ length: 5 }, () => client.account.usage()))
    expect(service.count('/auth/refresh')).toBe(1)
  })

  it('does not replace the token at each call if the clock of the client is ahead', async () => {
    aheadMs = 3_600_000
    await signIn()
    for (let call = 0; call < 3; call++) await client.account.usage()
    expect(service.count('/auth/refresh')).toBe(0)
  })

  it('uses a valid token while it cannot be replaced', async () => {
    await signIn()
    service.nowMs += TOKEN_MS - 1000
    service.fault = async () => Response.json({ title: 'Overloaded', detail: 'try again' }, { status: 503 })
    expect(await client.account.usage()).toEqual({ usage: [] })
    expect(await client.account.usage()).toEqual({ usage: [] })
    expect(service.number).toBe(2)
    service.nowMs += TOKEN_MS + 1
    service.fault = () => Promise.reject(new TypeError('fetch failed'))
    expect(await catchError(client.account.usage())).toBeInstanceOf(ConnectionError)
    expect(await client.account.usage()).toEqual({ usage: [] })
  })

  it('does not count for somebody else when it has ended', async () => {
    await signIn()
    service.hasEnded = true
    for (let call = 0; call < 2; call++) {
      const error = await catchError(client.health())
      expect(error).toBeInstanceOf(ApiError)
      expect(error).toMatchObject({ status: 401, problem: { detail: 'sign in again' } })
    }
    // The second call sends nothing.
    expect(service.calls.slice(2)).toEqual(['/health Bearer token-1', '/auth/refresh no token'])
    await signIn()
    expect(await client.account.usage()).toEqual({ usage: [] })
    service.hasEnded = true
    await client.signOut()
    expect(await client.account.usage()).toEqual({ public: true })
  })

  it('is forgotten by a sign-out that fails', async () => {
    await signIn()
    service.fault = () => Promise.reject(new TypeError('fetch failed'))
    expect(await catchError(client.signOut())).toBeInstanceOf(ConnectionError)
    expect(await client.account.usage()).toEqual({ public: true })
  })

  it('takes the place of an API key', async () => {
    const keys: (string | null)[] = []
    const fetch = (url: string | URL | Request, init?: RequestInit) => {
      keys.push(new Headers(init?.headers).get('x-api-key'))
      return service.fetch(url, init)
    }
    client = createClient({ baseUrl: 'http://geo.example:3000', chainId: 1, apiKey: 'tp_dev_x', fetch })
    await signIn()
    await client.health()
    await client.signOut()
    await client.health()
    expect(keys.slice(2)).toEqual([null, null, 'tp_dev_x'])
  })
})
