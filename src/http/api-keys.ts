import { hash } from 'node:crypto'
import type { ApiKey, Tier } from '../config.ts'
import type { StoredKey } from './key-file.ts'
import type { RequestHead } from './request-head.ts'

/** Who holds a key, without the key. */
export interface KeyHolder {
  readonly tier: Tier
  readonly label: string
  /** Subject of the rate limit. */
  readonly subject: string
}

/** Nobody's key is longer; hashing is not offered for free. */
const MAX_KEY_LENGTH = 256

/**
 * Looks keys up by their SHA-256: the time it takes depends on nothing an attacker could learn a key from, and the
 * table holds no secret.
 */
export class ApiKeys {
  readonly #holders = new Map<string, KeyHolder>()
  /** Those of the key file, which may change while we run. */
  #stored: ReadonlyMap<string, KeyHolder> = new Map()

  constructor(keys: readonly ApiKey[]) {
    for (const { key, tier, label } of keys) {
      const digest = hash('sha256', key)
      this.#holders.set(digest, { tier, label, subject: `key:${digest}` })
    }
  }

  /** In the place of those that were given before. */
  setStored(keys: readonly StoredKey[]): void {
    this.#stored = new Map(
      keys.map(({ sha256, tier, label }) => [sha256, { tier, label, subject: `key:${sha256}` }] as const),
    )
  }

  /**
   * @returns undefined without a key: no header, an empty one, or an `Authorization` of another scheme; `invalid` for an
   * unknown key, or two headers that differ
   */
  holderOf(head: RequestHead): KeyHolder | undefined | 'invalid' {
    const bearer = bearerToken(head.authorization)
    const key = head.apiKey === undefined || head.apiKey === '' ? bearer : head.apiKey
    if (key === undefined) return undefined
    if ((bearer !== undefined && bearer !== key) || key.length > MAX_KEY_LENGTH) return 'invalid'
    const digest = hash('sha256', key)
    return this.#holders.get(digest) ?? this.#stored.get(digest) ?? 'invalid'
  }
}

/** The token of `Bearer <token>`, the scheme in any case (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}
