import { hash } from 'node:crypto'
import type { ApiKey, Tier } from '../../config/config.ts'
import type { RequestHead } from '../transport/request-head.ts'
import type { StoredKey } from './key-file.ts'

/** The holder of an API key, without the key itself. */
export interface KeyHolder {
  readonly tier: Tier
  readonly label: string
  /** Subject whose requests the rate limit counts. */
  readonly subject: string
}

/** No key is longer. Longer values are rejected without the cost of hashing them. */
const MAX_KEY_LENGTH = 256

/**
 * Looks up API keys by their SHA-256. The time of a look-up reveals nothing about a key, and the table holds no secret.
 */
export class ApiKeys {
  readonly #holders = new Map<string, KeyHolder>()
  /** Keys of the key file, which may change while the service runs. */
  #stored: ReadonlyMap<string, KeyHolder> = new Map()

  constructor(keys: readonly ApiKey[]) {
    for (const { key, tier, label } of keys) {
      const digest = hash('sha256', key)
      this.#holders.set(digest, { tier, label, subject: `key:${digest}` })
    }
  }

  /** Replaces the keys of the key file. */
  setStored(keys: readonly StoredKey[]): void {
    this.#stored = new Map(
      keys.map(({ sha256, tier, label }) => [sha256, { tier, label, subject: `key:${sha256}` }] as const),
    )
  }

  /**
   * Returns the holder of the key that a request carries.
   *
   * @returns undefined without a key: no header, an empty one, or an `Authorization` of another scheme; `invalid` for an
   * unknown key, or for two headers with different keys
   */
  findHolder(head: RequestHead): KeyHolder | undefined | 'invalid' {
    const bearer = bearerToken(head.authorization)
    const key = head.apiKey === undefined || head.apiKey === '' ? bearer : head.apiKey
    if (key === undefined) return undefined
    if ((bearer !== undefined && bearer !== key) || key.length > MAX_KEY_LENGTH) return 'invalid'
    const digest = hash('sha256', key)
    return this.#holders.get(digest) ?? this.#stored.get(digest) ?? 'invalid'
  }
}

/** Returns the token of `Bearer <token>`; the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}
