/** The public keys with which an issuer signs tokens: a JSON Web Key Set (RFC 7517), from a file or from a URL. */

import { createPublicKey, type KeyObject } from 'node:crypto'
import { lookup } from 'node:dns'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { parseAddress } from '../../base/ip-address.ts'
import { FailureLog, type Log } from '../../base/log.ts'
import { Metrics, type Series } from '../../base/metrics.ts'
import { ConfigError } from '../../config/setting.ts'
import { isInRanges, parseRanges } from './caller.ts'

/** Algorithms of signatures that are accepted (RFC 7518, RFC 8037). A key belongs to exactly one of them. */
export type TokenAlgorithm = 'EdDSA' | 'ES256' | 'RS256'

export interface IssuerKey {
  readonly id: string | undefined
  readonly algorithm: TokenAlgorithm
  readonly key: KeyObject
}

const MAX_SET_BYTES = 65_536
const MAX_KEYS = 32
const MIN_RSA_BITS = 2048
/** Verification with a larger key would take longer than the rest of a request. */
const MAX_RSA_BITS = 4096
const FETCH_TIMEOUT_MS = 5000
/** A set that could be read is read again after this time, for keys that were withdrawn. */
const REFRESH_MS = 300_000
/** Shortest time between two attempts, so that tokens with made-up keys cause no flood of requests to the issuer. */
const MIN_PAUSE_MS = 10_000

/** Networks that the internet does not route (RFC 6890), where a service reaches its operator's other machines. */
const PRIVATE_NETWORKS = parseRanges(
  [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
    ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
    // Addresses that contain an IPv4 address, which may be private.
    ...['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'],
  ],
  'PRIVATE_NETWORKS',
)

export interface IssuerKeysOptions {
  /** Path of a file, or an http or https URL. */
  readonly source: string
  readonly allowsPrivateAddresses: boolean
  readonly log: Log
  readonly now: () => number
  readonly metrics?: Metrics
}

/** Keeps the keys of an issuer up to date. When they cannot be read again, the last ones stay valid. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  #keys: readonly IssuerKey[] | undefined
  /** The key set as it was read last. */
  #text = ''
  #generation = 0
  #attemptedMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #reads: { readonly ok: Series; readonly failed: Series }
  readonly #readings: FailureLog
  /** When the keys were read last, or else when the service began to try. */
  #readMs: number

  /** @throws {ConfigError} if a file cannot be read, or has no key set */
  constructor(options: IssuerKeysOptions) {
    this.#options = options
    const { log, now, metrics = new Metrics() } = options
    this.#readings = new FailureLog(log, {
      begin: 'cannot read the keys of the token issuer, keeping the previous ones',
      end: 'the keys of the token issuer are read again',
    })
    const reads = metrics.counter('issuer_key_reads_total', 'Attempts to read the keys of the token issuer')
    this.#reads = { ok: reads.series({ outcome: 'ok' }), failed: reads.series({ outcome: 'failed' }) }
    this.#readMs = now()
    metrics.gauge('issuer_keys_age_seconds', 'Time since the keys of the token issuer were read', () =>
      Math.max(0, (now() - this.#readMs) / 1000),
    )
    if (isUrl(options.source)) return
    this.#attemptedMs = options.now()
    try {
      this.#accept(readFileSync(options.source, 'utf8'))
    } catch (error) {
      throw new ConfigError(`JWT_JWKS=${JSON.stringify(options.source)}: ${(error as Error).message}`)
    }
  }

  /** Begins to read the keys. Call `close` at the end. */
  start(): void {
    if (this.#keys === undefined) void this.refresh()
    this.#timer = setInterval(() => {
      // Until they could be read once, they are tried more often.
      const pause = this.#keys === undefined ? MIN_PAUSE_MS : REFRESH_MS
      if (this.#options.now() - this.#attemptedMs >= pause) void this.refresh()
    }, MIN_PAUSE_MS)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Changes with the keys: what was verified with earlier keys has to be verified again. */
  get generation(): number {
    return this.#generation
  }

  /** False until the keys could be read once. */
  get areKnown(): boolean {
    return this.#keys !== undefined
  }

  /**
   * Returns the key of a token.
   *
   * @param id the token's `kid`; without it, the issuer must have exactly one key for the algorithm
   */
  find(id: string | undefined, algorithm: TokenAlgorithm): IssuerKey | undefined {
    const candidates = this.#keys?.filter((key) => key.algorithm === algorithm && (id === undefined || key.id === id))
    return candidates?.length === 1 ? candidates[0] : undefined
  }

  /** Reads the keys again because a token names one that is not there. @returns true if they are being read */
  refreshForUnknownKey(): boolean {
    if (this.#reading === undefined && this.#options.now() - this.#attemptedMs >= MIN_PAUSE_MS) void this.refresh()
    return this.#reading !== undefined
  }

  /** Reads the keys. A failure is logged, and the keys stay as they are. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const { source, now } = this.#options
    this.#attemptedMs = now()
    try {
      this.#accept(
        isUrl(source) ? await fetchText(source, this.#options.allowsPrivateAddresses) : await readFile(source, 'utf8'),
      )
      this.#readMs = now()
      this.#reads.ok.count++
      this.#readings.succeeded({ source })
    } catch (error) {
      this.#reads.failed.count++
      this.#readings.failed({ source, reason: (error as Error).message })
    }
  }

  #accept(text: string): void {
    if (text === this.#text) return
    this.#keys = parseKeySet(text)
    this.#text = text
    this.#generation++
  }
}

function isUrl(source: string): boolean {
  return /^https?:\/\//.test(source)
}

/**
 * Reads a key set. Keys for other purposes and algorithms are ignored, as RFC 7517, section 5, asks.
 *
 * @throws {Error} if it is not a key set, has no usable key, or has a secret one
 */
export function parseKeySet(text: string): IssuerKey[] {
  if (text.length > MAX_SET_BYTES) throw new Error(`the key set has more than ${MAX_SET_BYTES} bytes`)
  const { keys } = (JSON.parse(text) ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys)) throw new Error('not a JSON Web Key Set: it has no list "keys"')
  if (keys.length > MAX_KEYS) throw new Error(`the key set has ${keys.length} keys, more than ${MAX_KEYS}`)
  const usable = keys.flatMap((jwk) => readKey(jwk) ?? [])
  if (usable.length === 0) throw new Error('the key set has no key for EdDSA, ES256 or RS256 signatures')
  return usable
}

function readKey(value: unknown): IssuerKey | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kty, crv, use, key_ops: operations, alg, kid, d, n, e, x, y } = value as Record<string, unknown>
  if (d !== undefined) throw new Error('the key set has a private key; publish only public ones')
  const algorithm = algorithmOf(kty, crv)
  const isForSignatures =
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify'))) &&
    (alg === undefined || alg === algorithm)
  if (algorithm === undefined || !isForSignatures) return undefined
  try {
    const members = Object.entries({ kty, crv, n, e, x, y }).filter(([, member]) => member !== undefined)
    const key = createPublicKey({ key: Object.fromEntries(members), format: 'jwk' })
    const { modulusLength: bits } = key.asymmetricKeyDetails ?? {}
    if (bits !== undefined && (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)) return undefined
    return { id: typeof kid === 'string' ? kid : undefined, algorithm, key }
  } catch {
    return undefined
  }
}

function algorithmOf(kty: unknown, crv: unknown): TokenAlgorithm | undefined {
  if (kty === 'RSA') return 'RS256'
  if (kty === 'EC') return crv === 'P-256' ? 'ES256' : undefined
  return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : undefined
}

/** Fetches a short text. Follows no redirect, and connects to no private address unless that is allowed. */
function fetchText(url: string, allowsPrivateAddresses: boolean): Promise<string> {
  const { hostname } = new URL(url)
  const literal = parseAddress(hostname.replace(/^\[|\]$/g, ''))
  if (literal !== undefined && !allowsPrivateAddresses && isInRanges(literal, PRIVATE_NETWORKS))
    return Promise.reject(new Error(refusedAddress(hostname)))
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? requestHttps : requestHttp)(
      url,
      {
        headers: { accept: 'application/jwk-set+json, application/json' },
        signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
        ...(allowsPrivateAddresses ? {} : { lookup: lookUpPublic }),
      },
      (response) => {
        if (response.statusCode !== 200) {
          response.destroy()
          reject(new Error(`the response has status ${response.statusCode}`))
          return
        }
        const pieces: Buffer[] = []
        let bytes = 0
        response.on('data', (piece: Buffer) => {
          bytes += piece.length
          if (bytes > MAX_SET_BYTES) response.destroy(new Error(`the response has more than ${MAX_SET_BYTES} bytes`))
          else pieces.push(piece)
        })
        response.on('error', reject)
        response.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')))
      },
    )
    request.on('error', reject)
    request.end()
  })
}

/** Resolves a name, and fails if any of its addresses is private. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, [])
      return
    }
    const refused = addresses.find(({ address }) => {
      const bytes = parseAddress(address)
      return bytes === undefined || isInRanges(bytes, PRIVATE_NETWORKS)
    })
    if (refused !== undefined) callback(new Error(refusedAddress(refused.address)), [])
    else if (options.all === true) callback(null, addresses)
    else callback(null, addresses[0]!.address, addresses[0]!.family)
  })
}

function refusedAddress(address: string): string {
  return `${address} is a private address; JWT_JWKS_ALLOW_PRIVATE=1 allows it`
}
