/** Settings of the HTTP server: its address, API keys, quotas and log. */
import { DATA_DIR } from './records.ts'
import {
  ConfigError,
  choice,
  constant,
  derived,
  flag,
  integer,
  list,
  number,
  optionalText,
  parsed,
  text,
  url,
} from './setting.ts'

export type Tier = 'public' | 'developer' | 'internal'

export interface ApiKey {
  readonly key: string
  readonly tier: Tier
  readonly label: string
}

export const HTTP_SETTINGS = {
  host: text('HOST', '127.0.0.1'),
  port: integer('PORT', 3000, 0, 65_535),
  /** True when `PORT` is set. Without it, a busy default port is replaced by the next free one. */
  isPortSet: derived(({ env }) => Boolean(env['PORT'])),
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
  requestsPerHour: {
    public: integer('RATE_LIMIT_PUBLIC', 100, 1, 1e9),
    developer: integer('RATE_LIMIT_DEVELOPER', 1000, 1, 1e9),
    internal: integer('RATE_LIMIT_INTERNAL', 10_000, 1, 1e9),
  },
  trustedProxies: list('TRUSTED_PROXIES'),
}

export const HTTP_LIMITS = {
  /** Addresses and API keys whose quotas are held in memory. */
  maxRateLimitSubjects: constant(1_000_000),
  /** Polling interval of the key file. */
  keyFilePollMs: constant(1000),
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
  return Object.entries(json as Record<string, { tier?: unknown; label?: unknown } | null>).map(
    ([key, entry], index) => {
      const tier = entry?.tier
      if (tier !== 'public' && tier !== 'developer' && tier !== 'internal')
        return fail(`entry ${index + 1} has no known tier`)
      return { key, tier, label: typeof entry?.label === 'string' ? entry.label : `key ${index + 1}` }
    },
  )
}
