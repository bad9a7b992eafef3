/**
 * Bearer tokens of an identity provider: JSON Web Tokens (RFC 7519) that it signed for this service. The service is a resource
 * server (RFC 6750): it issues no tokens.
 *
 * Tokens are verified here and not by a library (decision 148). `jose` makes the tokens of the tests.
 */
import { hash, verify } from 'node:crypto'
import { LruCache } from '../../base/lru-cache.ts'
import { type Counter, Metrics, type Series } from '../../base/metrics.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { TokenSettings } from '../../config/http.ts'
import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope, type Tier } from '../../wire/key-messages.ts'
import type { KeyHolder } from './api-keys.ts'
import type { AddressKey } from './caller.ts'
import type { IssuerKey, IssuerKeys, TokenAlgorithm } from './issuer-keys.ts'

/** Where clients learn which issuer's tokens are accepted (RFC 9728). */
export const TOKEN_METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Longest token. Longer ones are rejected before they are decoded. */
const MAX_TOKEN_LENGTH = 4096
const MAX_CLAIM_LENGTH = 256
/** Verified tokens that are remembered, each until it expires. */
const MAX_REMEMBERED = 10_000
/** Addresses whose failures are counted. */
const MAX_ADDRESSES = 10_000
const MINUTE_MS = 60_000
const SCOPES = new Set<string>(KEY_SCOPES)
const TIERS: ReadonlySet<unknown> = new Set<Tier>(['public', 'developer', 'internal'])
/** `typ` of access tokens (RFC 9068, section 2.1), in lower case. */
const ACCESS_TOKEN_TYPES: readonly unknown[] = ['at+jwt', 'application/at+jwt']
/** Many issuers write the general type, or none (RFC 7519, section 5.1). */
const ALL_TYPES: readonly unknown[] = [undefined, 'jwt', ...ACCESS_TOKEN_TYPES]

/** Why a token is rejected, as the metrics count it. */
type Reason =
  | ('length' | 'algorithm' | 'critical' | 'type' | 'kid' | 'keys-not-read' | 'unknown-key' | 'signature' | 'claims')
  | ('issuer' | 'audience' | 'expired' | 'not-yet-valid' | 'subject' | 'bound' | 'too-many-failures')

/** Why a token is rejected. */
export interface TokenProblem {
  readonly problem: ProblemData
}

interface Rejection extends TokenProblem {
  readonly reason: Reason
}

/** The parts of a token as text, and the key that has to have signed it. */
interface TokenParts {
  readonly header: string
  readonly payload: string
  readonly signature: string
  readonly key: IssuerKey
}

/** Verifies the tokens of one issuer and remembers them. */
export class Tokens {
  readonly #settings: TokenSettings
  readonly #keys: IssuerKeys
  #remembered = new LruCache<KeyHolder>(MAX_REMEMBERED)
  /** Generation of the keys with which the remembered tokens were verified. */
  #generation: number
  readonly #failures = new LruCache<{ count: number; readonly sinceMs: number }>(MAX_ADDRESSES)
  readonly #types: readonly unknown[]
  readonly #outcomes: Counter
  readonly #verified: Series
  readonly #known: Series

  constructor(settings: TokenSettings, keys: IssuerKeys, metrics: Metrics = new Metrics()) {
    this.#settings = settings
    this.#keys = keys
    this.#generation = keys.generation
    this.#types = settings.requiresAccessToken ? ACCESS_TOKEN_TYPES : ALL_TYPES
    this.#outcomes = metrics.counter(
      'tokens_total',
      'Bearer tokens of the issuer, by verified, known or the reason of their rejection',
    )
    this.#verified = this.#outcomes.series({ outcome: 'verified' })
    this.#known = this.#outcomes.series({ outcome: 'known' })
  }

  /** True if a bearer value has the form of a token: three parts between dots. */
  static hasForm(text: string): boolean {
    const first = text.indexOf('.')
    const second = text.indexOf('.', first + 1)
    return first > 0 && second > first + 1 && text.indexOf('.', second + 1) === -1
  }

  /**
   * Returns the holder of a token.
   *
   * @param address returns the key of the client's address, whose wrong signatures and claims are limited: verifying costs more than refusing
   */
  find(token: string, nowMs: number, address: () => AddressKey): KeyHolder | TokenProblem {
    const found = this.#find(token, nowMs, address)
    if ('problem' in found) this.#outcomes.series({ outcome: found.reason }).count++
    return found
  }

  #find(token: string, nowMs: number, address: () => AddressKey): KeyHolder | Rejection {
    if (token.length > MAX_TOKEN_LENGTH)
      return rejected('length', `the token has more than ${MAX_TOKEN_LENGTH} characters`)
    if (this.#generation !== this.#keys.generation) {
      this.#remembered = new LruCache(MAX_REMEMBERED)
      this.#generation = this.#keys.generation
    }
    const digest = hash('sha256', token)
    const known = this.#remembered.get(digest)
    if (known !== undefined && nowMs < known.endMs) {
      this.#known.count++
      return known
    }
    const parts = this.#readHeader(token)
    if ('problem' in parts) return parts
    const client = String(address())
    const failures = this.#failures.get(client)
    const isRecent = failures !== undefined && nowMs < failures.sinceMs + MINUTE_MS
    if (isRecent && failures.count >= this.#settings.failuresPerMinute) {
      const retryAfterSeconds = Math.ceil((failures.sinceMs + MINUTE_MS - nowMs) / 1000)
      const detail = 'this address has sent too many invalid tokens; try again later'
      return { problem: { type: 'rate-limited', detail, retryAfterSeconds }, reason: 'too-many-failures' }
    }
    const holder = this.#verify(parts, nowMs)
    if (!('problem' in holder)) {
      this.#verified.count++
      this.#remembered.set(digest, holder)
    } else if (isRecent) failures.count++
    else this.#failures.set(client, { count: 1, sinceMs: nowMs })
    return holder
  }

  /** Finds the key that a token names. */
  #readHeader(token: string): TokenParts | Rejection {
    const [header, payload, signature] = token.split('.') as [string, string, string]
    const { alg, kid, typ, crit } = readJson(header) ?? {}
    if (alg !== 'EdDSA' && alg !== 'ES256' && alg !== 'RS256')
      return rejected('algorithm', 'the token is not signed with EdDSA, ES256 or RS256')
    if (crit !== undefined)
      return rejected('critical', 'the token has critical header parameters, which are not supported')
    if (!this.#types.includes(typeof typ === 'string' ? typ.toLowerCase() : typ))
      return rejected(
        'type',
        `the token is not of the type ${this.#settings.requiresAccessToken ? '' : 'JWT or '}at+jwt`,
      )
    if (kid !== undefined && typeof kid !== 'string') return rejected('kid', 'the kid of the token is not text')
    const key = this.#keys.find(kid, alg)
    if (key === undefined) return this.#explainUnknownKey(kid, alg)
    return { header, payload, signature, key }
  }

  #verify({ header, payload, signature, key }: TokenParts, nowMs: number): KeyHolder | Rejection {
    const bytes = decode(signature)
    if (bytes === undefined || !isSignature(key, `${header}.${payload}`, bytes))
      return rejected('signature', 'the signature of the token does not hold')
    const claims = readJson(payload)
    return claims === undefined
      ? rejected('claims', 'the claims of the token are not a JSON object')
      : this.#judge(claims, nowMs)
  }

  #explainUnknownKey(kid: string | undefined, alg: TokenAlgorithm): Rejection {
    const isReading = this.#keys.refreshForUnknownKey()
    if (!this.#keys.areKnown || isReading) {
      const detail = 'the keys of the token issuer are being read; try again'
      return { problem: { type: 'overloaded', detail, retryAfterSeconds: 1 }, reason: 'keys-not-read' }
    }
    return rejected(
      'unknown-key',
      kid === undefined
        ? `the token names no kid, and the issuer does not have exactly one key for ${alg}`
        : `the issuer has no key for ${alg} with the kid of the token`,
    )
  }

  /** Checks the claims of a token whose signature holds. */
  #judge(claims: Readonly<Record<string, unknown>>, nowMs: number): KeyHolder | Rejection {
    const { issuer, audience, skewSeconds, tier, tierClaim } = this.#settings
    const { iss, aud, sub, exp, nbf, iat, cnf } = claims
    const skewMs = 1000 * skewSeconds
    if (iss !== issuer) return rejected('issuer', 'the token is of another issuer')
    if (aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
      return rejected('audience', 'the token is for another audience')
    if (!isTime(exp)) return rejected('claims', 'the token does not say when it expires')
    const endMs = 1000 * exp + skewMs
    if (nowMs >= endMs) return rejected('expired', 'the token has expired')
    for (const time of [nbf, iat]) {
      if (time === undefined) continue
      if (!isTime(time)) return rejected('claims', 'nbf or iat of the token is not a time')
      if (1000 * time - skewMs > nowMs) return rejected('not-yet-valid', 'the token is not valid yet')
    }
    if (typeof sub !== 'string' || sub === '' || sub.length > MAX_CLAIM_LENGTH)
      return rejected('subject', `the token has no sub of 1 to ${MAX_CLAIM_LENGTH} characters`)
    // Its sender would have to prove that it has another key (RFC 7800), which is not checked here.
    if (cnf !== undefined) return rejected('bound', 'tokens that are bound to a key of their sender are not supported')
    const claimed = tierClaim === undefined ? undefined : claims[tierClaim]
    return {
      kind: 'token',
      tier: TIERS.has(claimed) ? (claimed as Tier) : tier,
      label: 'bearer token',
      subject: `token:${hash('sha256', JSON.stringify([iss, sub]))}`,
      isWallet: false,
      scopes: scopesOf(claims),
      endMs,
      requestsPerHour: undefined,
      origins: undefined,
      addresses: undefined,
    }
  }
}

/** Scopes of a token (RFC 8693, section 4.2, and `scp` of some issuers). One that names none has those of a key that names none. */
function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): readonly KeyScope[] {
  const named = scope === undefined ? scp : scope
  if (named === undefined) return DEFAULT_SCOPES
  const words: readonly unknown[] = typeof named === 'string' ? named.split(' ') : Array.isArray(named) ? named : []
  return words.filter((word): word is KeyScope => typeof word === 'string' && SCOPES.has(word))
}

function isSignature({ algorithm, key }: IssuerKey, signed: string, signature: Buffer): boolean {
  const data = Buffer.from(signed, 'latin1')
  try {
    if (algorithm === 'EdDSA') return verify(null, data, key, signature)
    // JWS writes r and s with 32 bytes each; ECDSA in Node.js expects DER by default.
    return verify('sha256', data, algorithm === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' } : key, signature)
  } catch {
    return false
  }
}

/** Decodes base64url without padding, in its only correct form. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

/** Making a decoder takes longer than decoding a token with it. */
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes a part that is a JSON object. */
function readJson(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = decode(part)
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(STRICT_UTF8.decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** A time in seconds since the epoch. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e11
}

/** @param reason as the metrics count it @param detail without quotes and backslashes, because it is a part of the header `WWW-Authenticate` too */
function rejected(reason: Reason, detail: string): Rejection {
  const challenge = `error="invalid_token", error_description="${detail}"`
  return { problem: { type: 'unauthorized', detail, challenge }, reason }
}
