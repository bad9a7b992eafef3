/** The API keys that the service accepts: whose they are, and what they may be used for. */

import { hash } from 'node:crypto'
import type { AddressRange } from '../../base/ip-address.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { ApiKey } from '../../config/http.ts'
import type { KeyUses } from '../../service/keys/key-table.ts'
import { hasValidChecksum } from '../../service/keys/key-text.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import { DEFAULT_SCOPES, type KeyScope, type KeyUpdate, type StoredKey, type Tier } from '../../wire/key-messages.ts'
import { accountSubject } from '../../wire/usage-messages.ts'
import type { RequestHead } from '../transport/request-head.ts'
import { isInRanges, parseRanges } from './caller.ts'

/** The holder of an API key or of a token, without the key or token itself. */
export interface KeyHolder {
  readonly kind: 'key' | 'token'
  readonly tier: Tier
  readonly label: string
  /** Subject whose requests the rate limit counts. */
  readonly subject: string
  /** True for a key or a session of an account of a wallet. Its requests count for their network address too. */
  readonly isWallet: boolean
  readonly scopes: readonly KeyScope[]
  /** Milliseconds since the epoch from which on the key is invalid. */
  readonly endMs: number
  /** Replaces the hourly limit of the tier. */
  readonly requestsPerHour: number | undefined
  readonly origins: readonly string[] | undefined
  readonly addresses: readonly AddressRange[] | undefined
  /** Set if it is the token of a session. */
  readonly session?: SessionState
}

/** Longest key. Longer values are rejected without the cost of hashing them. */
const MAX_KEY_LENGTH = 256

const INVALID_KEY: ProblemData = { type: 'unauthorized', detail: 'Invalid API key' }
const KEYS_NOT_READ: ProblemData = {
  type: 'overloaded',
  detail: 'the API keys cannot be read now; try again',
  retryAfterSeconds: 1,
}

/**
 * Looks up API keys by their SHA-256. The time of a look-up reveals nothing about a key, and the table holds no secret.
 */
export class ApiKeys {
  /** Keys of the configuration. */
  readonly #configured = new Map<string, KeyHolder>()
  /** Keys of the key file, which may change while the service runs; undefined while it cannot be read. */
  #stored: ReadonlyMap<string, KeyHolder> | undefined = new Map()
  /** Keys of the database; undefined until they have been read. */
  #shared: Map<string, KeyHolder> | undefined
  /** When keys of the database were used since `takeUses` was called, by their SHA-256. */
  readonly #uses = new Map<string, number>()

  /** Tier of accounts; undefined if there are none. */
  readonly #accountTier: Tier | undefined

  /**
   * @param hasTable true if there are keys in a database, which will be reported to `update`
   * @param accountTier tier of the keys of accounts, which are not valid without it
   */
  constructor(keys: readonly ApiKey[], hasTable: boolean, accountTier?: Tier) {
    this.#accountTier = accountTier
    for (const { key, ...properties } of keys) {
      const sha256 = hash('sha256', key)
      this.#configured.set(sha256, createHolder({ sha256, ...properties }))
    }
    if (!hasTable) this.#shared = new Map()
  }

  /** Replaces the keys of the key file. @param keys undefined if it cannot be read; one of its keys may have been revoked */
  setStored(keys: readonly StoredKey[] | undefined): void {
    const valid = keys?.filter((key) => this.#accepts(key))
    this.#stored = valid && new Map(valid.map((key) => [key.sha256, this.#hold(key)] as const))
  }

  /** Applies changes of the keys in the database. */
  update({ isWhole, put, revoked }: KeyUpdate): void {
    if (isWhole || this.#shared === undefined) this.#shared = new Map()
    for (const sha256 of revoked) this.#shared.delete(sha256)
    for (const key of put) if (this.#accepts(key)) this.#shared.set(key.sha256, this.#hold(key))
  }

  #accepts({ owner }: StoredKey): boolean {
    return owner === undefined || this.#accountTier !== undefined
  }

  /** The tier of an account may have changed since it made the key. */
  #hold(key: StoredKey): KeyHolder {
    return createHolder(key.owner === undefined ? key : { ...key, tier: this.#accountTier! })
  }

  /** Returns when keys of the database were used since the last call. */
  takeUses(): KeyUses {
    const uses = [...this.#uses].map(([sha256, atMs]) => ({ sha256, atMs }))
    this.#uses.clear()
    return uses
  }

  /**
   * Returns the holder of the key that a request carries.
   *
   * @param nowMs milliseconds since the epoch
   * @returns undefined without a key: no header, an empty one, or an `Authorization` of another scheme; `invalid` for an
   * unknown or expired key, or for two headers with different keys
   */
  findHolder(head: RequestHead, nowMs: number): KeyHolder | undefined | 'invalid' {
    const key = readKey(head)
    if (key === undefined || key === 'invalid') return key
    const sha256 = hash('sha256', key)
    const own = this.#configured.get(sha256) ?? this.#stored?.get(sha256)
    const holder = own ?? this.#shared?.get(sha256)
    if (holder === undefined || nowMs >= holder.endMs) return 'invalid'
    if (own === undefined) this.#uses.set(sha256, nowMs)
    return holder
  }

  /** Says why the key of a request is not valid. */
  explainInvalid(head: RequestHead): ProblemData {
    const key = readKey(head)
    if (key === undefined || key === 'invalid') return INVALID_KEY
    const sha256 = hash('sha256', key)
    const holder = this.#configured.get(sha256) ?? this.#stored?.get(sha256) ?? this.#shared?.get(sha256)
    // A key without an end was read just after the request arrived: the next request with it is accepted.
    if (holder !== undefined && Number.isFinite(holder.endMs))
      return { type: 'unauthorized', detail: `the API key expired at ${new Date(holder.endMs).toISOString()}` }
    const isRead = this.#shared !== undefined && this.#stored !== undefined
    return !isRead && hasValidChecksum(key) ? KEYS_NOT_READ : INVALID_KEY
  }
}

function createHolder({ sha256, tier, label, owner, ...rules }: Omit<StoredKey, 'id' | 'createdAt'>): KeyHolder {
  const { scopes = DEFAULT_SCOPES, expiresAt, requestsPerHour, origins, addresses } = rules
  return {
    kind: 'key',
    tier,
    label,
    subject: owner === undefined ? `key:${sha256}` : accountSubject(owner),
    isWallet: owner !== undefined,
    scopes,
    endMs: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) || 0,
    requestsPerHour,
    origins,
    addresses: addresses && readRanges(addresses),
  }
}

/** Reads ranges. Ones that cannot be read allow no address, so that one wrong key does not keep the others from changing. */
function readRanges(addresses: readonly string[]): readonly AddressRange[] {
  try {
    return parseRanges(addresses, 'addresses of an API key')
  } catch {
    return []
  }
}

/**
 * Returns why a key must not be used for a request; undefined if it may.
 *
 * @param scope undefined if any scope will do
 * @param clientAddress returns the address of the client, 4 or 16 bytes
 */
export function keyProblem(
  { kind, scopes, origins, addresses }: KeyHolder,
  scope: KeyScope | undefined,
  head: RequestHead,
  clientAddress: () => Uint8Array,
): ProblemData | undefined {
  if (scope !== undefined && !scopes.includes(scope)) {
    const name = kind === 'token' ? 'token' : 'API key'
    const detail = `the ${name} is not for this route: it needs the scope ${scope} and has ${scopes.join(', ') || 'none'}`
    const challenge = kind === 'token' ? { challenge: `error="insufficient_scope", scope="${scope}"` } : {}
    return { type: 'forbidden', message: 'Forbidden', detail, ...challenge }
  }
  if (origins !== undefined && !isFromOrigin(head, origins)) {
    const sent = head.origin === undefined ? 'the request names no Origin' : 'this Origin is not one of them'
    return { type: 'forbidden', message: 'Forbidden', detail: `the API key is for pages of certain origins: ${sent}` }
  }
  if (addresses !== undefined && !isInRanges(clientAddress(), addresses))
    return { type: 'forbidden', message: 'Forbidden', detail: 'the API key is not for use from this address' }
  return undefined
}

/**
 * Returns true if a browser sent a request from a page of one of these origins. Browsers do not send `Origin` when a page reads from its
 * own origin; they then say that the site is the same, and the origin is that of the request. Other programs can send any header, so
 * this does not keep them out, as it does not with `Origin`.
 */
function isFromOrigin({ origin, fetchSite, host }: RequestHead, origins: readonly string[]): boolean {
  if (origin !== undefined || fetchSite !== 'same-origin') return origins.includes(origin ?? '')
  // A proxy may have ended TLS, so the scheme is not known here. Browsers send `Sec-Fetch-Site` only over HTTPS and on the same machine.
  return origins.includes(`https://${host}`) || origins.includes(`http://${host}`)
}

/** Returns the bearer token of a request; undefined if it has none, or an API key that differs from it. */
export function bearerTokenOf(head: RequestHead): string | undefined {
  const token = bearerToken(head.authorization)
  return head.apiKey === undefined || head.apiKey === '' || head.apiKey === token ? token : undefined
}

function readKey(head: RequestHead): string | undefined | 'invalid' {
  const bearer = bearerToken(head.authorization)
  const key = head.apiKey === undefined || head.apiKey === '' ? bearer : head.apiKey
  if (key === undefined) return undefined
  return (bearer !== undefined && bearer !== key) || key.length > MAX_KEY_LENGTH ? 'invalid' : key
}

/** Returns the token of `Bearer <token>`; the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}
