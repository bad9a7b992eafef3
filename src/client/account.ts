import type { Account, AccountKeyRequest, ApiKey, KeyList, KeyUsage, NewKey, RevokedKey } from '../types/generated.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface UsageOptions extends CallOptions {
  /** First day in UTC, such as `2030-12-01`; by default the 30th day up to `to`. */
  readonly from?: string | undefined
  /** Last day, which is included; by default today. */
  readonly to?: string | undefined
}

export interface RotateOptions extends CallOptions {
  /** How long the old key stays valid; by default a day, and 0 ends it at once. */
  readonly overlapSeconds?: number | undefined
}

/** The API keys of the account. They need a session, so an API key cannot manage keys. */
interface AccountKeys {
  /** Lists the keys, without their secrets. */
  list(options?: CallOptions): Promise<readonly ApiKey[]>
  /** Makes a key. No other response shows it. Not retried after 503 or a broken connection; nor are the next two. */
  add(properties?: AccountKeyRequest, options?: CallOptions): Promise<NewKey>
  /** Makes a new key with the properties of another one, which ends after the overlap. */
  rotate(id: string, options?: RotateOptions): Promise<NewKey>
  revoke(id: string, options?: CallOptions): Promise<RevokedKey>
}

/** The account of the wallet that signed in. */
export interface ClientAccount {
  /** Reads the address and the limits. Needs a session. */
  get(options?: CallOptions): Promise<Account>
  readonly keys: AccountKeys
  /** Reads what the account used, by day and kind. With an API key and no session: what that key, or its account, used. */
  usage(options?: UsageOptions): Promise<KeyUsage>
  /** Reads the same as CSV. */
  usageCsv(options?: UsageOptions): Promise<string>
}

export function createAccount(transport: Transport): ClientAccount {
  const get = <T>(path: string, options?: CallOptions) => transport.json<T>({ method: 'GET', path }, options)
  const keyPath = (id: string) => `/account/keys/${encodeURIComponent(id)}`
  return {
    get: (options) => get('/account', options),
    keys: {
      list: async (options) => (await get<KeyList>('/account/keys', options)).keys,
      add: (properties = {}, options = {}) => {
        const body = JSON.stringify(properties)
        return transport.json({ method: 'POST', path: '/account/keys', body, mayRepeat: false }, options)
      },
      rotate: (id, options = {}) => {
        const { overlapSeconds } = options
        const query = overlapSeconds === undefined ? '' : `?overlapSeconds=${overlapSeconds}`
        return transport.json({ method: 'POST', path: `${keyPath(id)}/rotate${query}`, mayRepeat: false }, options)
      },
      revoke: (id, options) => transport.json({ method: 'DELETE', path: keyPath(id), mayRepeat: false }, options),
    },
    usage: (options = {}) => get(usagePath(options, 'json'), options),
    usageCsv: (options = {}) => transport.text({ method: 'GET', path: usagePath(options, 'csv') }, options),
  }
}

function usagePath({ from, to }: UsageOptions, format: 'json' | 'csv'): string {
  const query = new URLSearchParams({ format })
  if (from !== undefined) query.set('from', from)
  if (to !== undefined) query.set('to', to)
  return `/account/usage?${query}`
}
