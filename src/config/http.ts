/** Settings of the HTTP server: its address, API keys, quotas and log. */
import { type Amounts, RESOURCES, type Resource } from '../base/cost.ts'
import { KEY_SCOPES, type KeyScope, type Tier } from '../wire/key-messages.ts'
import { MAX_BODY_BYTES, MAX_VERTICES, PROCESSES } from './limits.ts'
import { DATA_DIR } from './records.ts'
import {
  ConfigError,
  choice,
  constant,
  derived,
  failure,
  flag,
  integer,
  isThisMachine,
  list,
  number,
  optionalText,
  parsed,
  readSettings,
  type Setting,
  type Source,
  splitList,
  text,
  url,
  type Values,
} from './setting.ts'
import { WALLET_TIER, WALLET_TIER_TOKEN } from './sign-in.ts'

export interface ApiKey {
  readonly key: string
  readonly tier: Tier
  readonly label: string
  /** `DEFAULT_SCOPES` without it. */
  readonly scopes?: readonly KeyScope[]
}

const RATE_LIMITS = {
  public: integer('RATE_LIMIT_PUBLIC', 100, 1, 1e9),
  developer: integer('RATE_LIMIT_DEVELOPER', 1000, 1, 1e9),
  internal: integer('RATE_LIMIT_INTERNAL', 10_000, 1, 1e9),
}

/** How many accounts of wallets may use all of their requests from one network address: as many as an office has, not as a script makes. */
const ACCOUNTS_PER_ADDRESS = 10

/** The tiers of accounts: that of WALLET_TIER, and the higher one of WALLET_TIER_TOKEN, if it is set. */
function accountTiers(source: Source): { readonly tier: Tier; readonly setBy: string; readonly requests: number }[] {
  const holders = WALLET_TIER_TOKEN.read(source)
  const tiers = [
    { tier: WALLET_TIER.read(source), setBy: 'WALLET_TIER' },
    ...(holders === undefined ? [] : [{ tier: holders.tier, setBy: 'WALLET_TIER_TOKEN' }]),
  ]
  return tiers.map((entry) => ({ ...entry, requests: RATE_LIMITS[entry.tier].read(source) }))
}

const WALLET_ADDRESS_LIMIT = integer(
  'RATE_LIMIT_WALLET_ADDRESS',
  (source) => {
    const [account, ...holders] = accountTiers(source).map(({ requests }) => requests)
    return Math.min(1e9, Math.max(ACCOUNTS_PER_ADDRESS * account!, ...holders))
  },
  1,
  1e9,
)

/** Requests per hour of all accounts of wallets that send from one network address. */
const WALLET_ADDRESS_REQUESTS: Setting<number> = {
  names: WALLET_ADDRESS_LIMIT.names,
  read(source) {
    const limit = WALLET_ADDRESS_LIMIT.read(source)
    const fail = failure('RATE_LIMIT_WALLET_ADDRESS', String(limit))
    // With less, no account could use what its own headers promise. The limit of a tier may be raised alone: then the default grows.
    for (const { tier, setBy, requests } of accountTiers(source)) {
      if (limit >= requests) continue
      const setting = `RATE_LIMIT_${tier.toUpperCase()}`
      fail(
        `at least ${requests}, the limit of one account (${setting}, the tier that ${setBy} gives): raise it, or lower ${setting} or ${setBy}`,
      )
    }
    return limit
  },
}

/** Tokens of an identity provider. They are accepted if the issuer is set. */
const TOKEN_PARTS = {
  audience: optionalText('JWT_AUDIENCE'),
  /** Path of a file or URL with the issuer's keys. */
  keySet: optionalText('JWT_JWKS'),
  allowsPrivateAddresses: flag('JWT_JWKS_ALLOW_PRIVATE', false),
  tier: choice('JWT_TIER', ['developer', 'public', 'internal']),
  /** Name of the claim with the tier; without it, every token has the same tier. */
  tierClaim: optionalText('JWT_TIER_CLAIM'),
  /** False: `typ` may also be `JWT` or absent. */
  requiresAccessToken: flag('JWT_REQUIRE_AT_JWT', false),
  skewSeconds: integer('JWT_CLOCK_SKEW_SECONDS', 60, 0, 600),
  failuresPerMinute: integer('JWT_FAILURES_PER_MINUTE', 60, 1, 1_000_000),
}

export type TokenSettings = Values<typeof TOKEN_PARTS> & {
  readonly issuer: string
  readonly audience: string
  readonly keySet: string
}

const TOKENS: Setting<TokenSettings | undefined> = {
  names: ['JWT_ISSUER'],
  parts: TOKEN_PARTS,
  read(source) {
    const issuer = source.env['JWT_ISSUER']
    if (!issuer) return undefined
    const fail = failure('JWT_ISSUER', issuer)
    if (!URL.canParse(issuer)) fail('the URL that the tokens have as iss')
    const settings = readSettings(TOKEN_PARTS, source)
    const { audience, keySet } = settings
    if (audience === undefined || keySet === undefined) {
      const missing = [
        ...(audience === undefined ? ['JWT_AUDIENCE, the aud of tokens for this service'] : []),
        ...(keySet === undefined ? ['JWT_JWKS, a file or URL with the keys of the issuer'] : []),
      ]
      return fail(`set together with ${missing.join(', and ')}`)
    }
    if (keySet.startsWith('http:') && (source.production || !isThisMachine(keySet)))
      failure('JWT_JWKS', keySet)('a file or an https URL; outside production also an http URL of this machine')
    return { ...settings, issuer, audience, keySet }
  },
}

export const HTTP_SETTINGS = {
  host: text('HOST', '127.0.0.1'),
  port: integer('PORT', 3000, 0, 65_535),
  /** True when `PORT` is set. Without it, a busy default port is replaced by the next free one. */
  isPortSet: derived(({ env }) => Boolean(env['PORT'])),
  processes: PROCESSES,
  publicUrl: url('PUBLIC_URL'),
  errorTypeBase: url('ERROR_TYPE_BASE'),
  httpAdapter: choice('HTTP_ADAPTER', ['uws', 'node']),
  logFormat: choice('LOG_FORMAT', ['pretty', 'json']),
  /** Share of requests that are logged: 1 logs all, 0.01 one in a hundred. Errors and slow requests are always logged. */
  logSampleRatio: number('LOG_SAMPLE_RATIO', 0.01, 0, 1),
  /** False: `GET /metrics` answers loopback peers only. */
  publicMetrics: flag('METRICS_PUBLIC', false),
  /** A PMTiles file with streets for the explorer. */
  mapTiles: optionalText('MAP_TILES'),
  apiKeys: parsed<readonly ApiKey[]>('API_KEYS', [], readApiKeys),
  /** The file that `trigpoint keys` writes; it may not exist. */
  apiKeysFile: text('API_KEYS_FILE', (source) => `${DATA_DIR.read(source)}/api-keys.json`),
  requireApiKey: flag('REQUIRE_API_KEY', false),
  tokens: TOKENS,
  requestsPerHour: RATE_LIMITS,
  /** What a client may use in an hour besides its requests; 0: no limit. */
  costPerHour: {
    public: costLimit('COST_LIMIT_PUBLIC', RATE_LIMITS.public, 1 / 4),
    developer: costLimit('COST_LIMIT_DEVELOPER', RATE_LIMITS.developer, 1 / 2),
    internal: costLimit('COST_LIMIT_INTERNAL', RATE_LIMITS.internal, 0),
  },
  /** What all accounts of wallets that send from one network address may use in an hour, besides the limits of each (decision 151). */
  walletAddress: {
    requestsPerHour: WALLET_ADDRESS_REQUESTS,
    costPerHour: costLimit('COST_LIMIT_WALLET_ADDRESS', WALLET_ADDRESS_REQUESTS, 3 / 4),
  },
  trustedProxies: list('TRUSTED_PROXIES'),
}

export const HTTP_LIMITS = {
  /** Addresses and API keys whose quotas are held in memory. */
  maxRateLimitSubjects: constant(1_000_000),
  /** Longest wait of a request for the database that counts requests for all nodes. */
  sharedLimitWaitMs: integer('SHARED_LIMIT_WAIT_MS', 250, 10, 10_000),
  /** By how many percent of an hourly limit all nodes together may exceed it while the database does not answer. */
  sharedLimitExcessPercent: integer('SHARED_LIMIT_EXCESS_PERCENT', 10, 0, 10_000),
  /** Polling interval of the key file. */
  keyFilePollMs: constant(1000),
  /** Polling interval of the API keys in the database. */
  keyTablePollMs: constant(500),
  /** API keys in the key file or in the database. Each process has all of them in memory. */
  maxApiKeys: integer('MAX_API_KEYS', 100_000, 1, 1_000_000),
  /** Interval at which each process stores what it counted for each key. */
  usageFlushMs: integer('USAGE_FLUSH_MS', 10_000, 50, 600_000),
  /** Days for which usage is kept. */
  usageKeepDays: integer('USAGE_KEEP_DAYS', 400, 1, 3650),
  /** Counts of a key, a day and a kind of request that a process holds until they are stored. */
  maxUsageRows: integer('USAGE_MAX_ROWS', 250_000, 1, 10_000_000),
}

const HOUR_MS = 3_600_000
/** Largest integer of a structured header field (RFC 9651, section 3.3.1), where clients read their limits. */
const MAX_AMOUNT = 999_999_999_999_999
/** For each request of the hour: bodies of ten times the largest size, and a fifth of the vertices that it may have. */
const BODIES_PER_REQUEST = 10
const VERTEX_SHARE = 1 / 5

/**
 * A budget for each resource, as `bytes=…,vertices=…,cpu-ms=…`. A resource that is not named has its default.
 *
 * @param requests setting of the requests per hour, with which the default of bytes and vertices grows
 * @param cpuShare share of this machine's processors by default; 0: no limit
 */
function costLimit(name: string, requests: Setting<number>, cpuShare: number): Setting<Amounts> {
  return {
    names: [name],
    read(source) {
      const perHour = requests.read(source)
      const amounts: Record<Resource, number> = {
        bytes: Math.min(MAX_AMOUNT, perHour * BODIES_PER_REQUEST * MAX_BODY_BYTES.read(source)),
        vertices: Math.min(MAX_AMOUNT, Math.ceil(perHour * VERTEX_SHARE * MAX_VERTICES.read(source))),
        'cpu-ms': Math.ceil(cpuShare * source.cores * HOUR_MS),
      }
      const value = source.env[name] ?? ''
      for (const entry of splitList(value)) {
        const [resource, digits = '', more] = entry.split('=').map((part) => part.trim())
        const known = RESOURCES.find((candidate) => candidate === resource)
        const amount = /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
        if (known === undefined || amount === undefined || more !== undefined)
          return failure(
            name,
            value,
          )(`a list such as bytes=1000000,vertices=10000,cpu-ms=60000, of up to 15 digits each`)
        amounts[known] = amount
      }
      return amounts
    },
  }
}

function readApiKeys(value: string): ApiKey[] {
  const fail = (why: string): never => {
    // The value contains secrets, so the message must not repeat it.
    throw new ConfigError(
      `API_KEYS: ${why}; expected {"<key>": {"tier": "public" | "developer" | "internal", "label": "…"}}`,
    )
  }
  let json: unknown
  try {
    json = JSON.parse(value)
  } catch {
    fail('not JSON')
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) fail('not an object')
  return Object.entries(json as Record<string, { tier?: unknown; label?: unknown; scopes?: unknown } | null>).map(
    ([key, entry], index) => {
      const { tier, label, scopes, ...others } = entry ?? {}
      const ignored = ['expiresAt', 'requestsPerHour', 'origins', 'addresses'].find((name) => name in others)
      if (ignored !== undefined)
        return fail(`entry ${index + 1} has ${ignored}, which only keys of the file or the database can have`)
      if (tier !== 'public' && tier !== 'developer' && tier !== 'internal')
        return fail(`entry ${index + 1} has no known tier`)
      if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every((scope) => KEY_SCOPES.includes(scope))))
        return fail(`the scopes of entry ${index + 1} are not a list of ${KEY_SCOPES.join(', ')}`)
      return {
        key,
        tier,
        label: typeof label === 'string' ? label : `key ${index + 1}`,
        ...(scopes === undefined ? {} : { scopes: scopes as KeyScope[] }),
      }
    },
  )
}
