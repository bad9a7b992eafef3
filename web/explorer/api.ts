import { type Client, createClient, type Issuer } from '../../src/client/client.ts'

export interface Quota {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** Access to the service that served this page. */
export interface Api {
  readonly client: Client
  readonly baseUrl: string
  /** From the headers of the last response; undefined before the first one. */
  readonly quota: Quota | undefined
  /** Source of the nonce in the last signed response: `chain`, `cache` or `default`. */
  readonly nonceSource: string | undefined
  /** Returns the attester and its chains; a successful response is cached. @throws {ApiError | ConnectionError} */
  issuer(): Promise<Issuer>
  readonly apiKey: string
  /** Sets the API key, which raises the hourly limit. It is stored until the tab is closed. */
  setApiKey(key: string): void
  onQuota(listener: (quota: Quota) => void): void
  onKeyChange(listener: () => void): void
}

const KEY_NAME = 'trigpoint-key'
const TIMEOUT_MS = 15_000

export function createApi(baseUrl: string): Api {
  const listeners: ((quota: Quota) => void)[] = []
  const keyListeners: (() => void)[] = []
  let apiKey = sessionStorage.getItem(KEY_NAME) ?? ''
  let quota: Quota | undefined
  let nonceSource: string | undefined
  let issuer: Promise<Issuer> | undefined
  let client = make()

  /** A `fetch` that records the quota and the nonce source, because the client does not expose headers. */
  const observed: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const number = (name: string) => Number(response.headers.get(name) ?? Number.NaN)
    const [limit, remaining] = [number('x-ratelimit-limit'), number('x-ratelimit-remaining')]
    if (Number.isFinite(limit) && Number.isFinite(remaining)) {
      quota = { limit, remaining, resetSeconds: number('x-ratelimit-reset') }
      for (const listener of listeners) listener(quota)
    }
    nonceSource = response.headers.get('x-attester-nonce-source') ?? nonceSource
    return response
  }

  function make(): Client {
    return createClient({
      baseUrl,
      // The arrow function defers the lookup: the first client is created before `observed` is initialised.
      fetch: (input, init) => observed(input, init),
      apiKey: apiKey === '' ? undefined : apiKey,
      maxRetries: 1,
      maxRetryWaitMs: 2000,
      timeoutMs: TIMEOUT_MS,
    })
  }

  return {
    baseUrl,
    get client() {
      return client
    },
    get quota() {
      return quota
    },
    get nonceSource() {
      return nonceSource
    },
    get apiKey() {
      return apiKey
    },
    issuer() {
      issuer ??= client.issuer()
      issuer.catch(() => {
        issuer = undefined // the next call tries again
      })
      return issuer
    },
    setApiKey(key) {
      apiKey = key.trim()
      if (apiKey === '') sessionStorage.removeItem(KEY_NAME)
      else sessionStorage.setItem(KEY_NAME, apiKey)
      client = make()
      for (const listener of keyListeners) listener()
    },
    onKeyChange(listener) {
      keyListeners.push(listener)
    },
    onQuota(listener) {
      listeners.push(listener)
      if (quota !== undefined) listener(quota)
    },
  }
}
