/** Settings of the records: their store, and the lists, exports, streams and GraphQL queries that read it. */
import { REQUEST_DEADLINE_MS } from './limits.ts'
import { ConfigError, constant, derived, flag, integer, parsed, productionFlag, type Setting, text } from './setting.ts'

export const DATA_DIR = text('DATA_DIR', './.data')
const RECORDS = flag('RECORDS', true)

export const RECORD_SETTINGS = {
  dataDir: DATA_DIR,
  /** False: no records are stored, and their routes answer 503. */
  records: RECORDS,
  /** URL of the PostgreSQL server for the records. Without it they are stored below `dataDir`. May contain a password. */
  databaseUrl: parsed<string | undefined>('DATABASE_URL', undefined, checkDatabaseUrl),
  /** In production the embedded database below `dataDir` has to be enabled explicitly (decision 114). */
  allowEmbeddedDatabase: productionFlag('EMBEDDED_DB'),
  /** True: an empty store is filled with sample records. Never in production. */
  sampleRecords: sampleRecords(),
  /** True: `/api/v0/location-proofs` uses the format names of its older version (decision 51). */
  legacyProofFormat: flag('LEGACY_PROOF_FORMAT', false),
  /** True: `/graphql` is served. */
  graphql: flag('GRAPHQL', true),
  /** True: `/graphql` answers introspection queries. */
  graphqlIntrospection: flag('GRAPHQL_INTROSPECTION', true),
}

export const RECORD_LIMITS = {
  /** Size of V8's young generation in the store thread, large enough for pages of records. */
  storeYoungHeapMb: constant(12),
  /** Queries that wait for the store; beyond it the service answers 503. */
  maxStoreQueue: integer('MAX_STORE_QUEUE', 64, 1, 100_000),
  /** Connections to a PostgreSQL server for reads. */
  storeReaders: integer('DATABASE_READERS', 8, 1, 1000),
  /** Connections to a PostgreSQL server for writes. */
  storeWriters: constant(2),
  storeConnectMs: constant(2000),
  /** Statement timeout of a read. */
  storeReadMs: integer('STORE_READ_MS', 2000, 100, 600_000),
  /** Statement timeout of a write. */
  storeWriteMs: constant(60_000),
  /** Largest number of records whose filter columns are held in memory, about 100 bytes each. */
  storeMemoryRecords: integer('RECORDS_IN_MEMORY', 2_000_000, 0, 20_000_000),
  /**
   * The embedded engine's thread is restarted when a query does not return for this long, which is longer than any client waits.
   */
  storeStuckMs: integer('STORE_STUCK_MS', 10_000, 100, 600_000),
  /** Longest time from the start of the store thread until it answers. The first start creates a database. */
  storeOpenMs: constant(120_000),
  /** Longest time of a migration on a PostgreSQL server, which may build indexes of a hundred million records. */
  storeMigrationMs: constant(6 * 3_600_000),
  /** Longest time that a request waits for a store that is opening; beyond it the service answers 503. */
  storeWaitMs: integer('STORE_WAIT_MS', 5000, 0, 600_000),
  /** Interval between attempts to open a damaged store. */
  storeDamagedRetryMs: constant(60_000),
  /** Interval between health checks of a PostgreSQL server. */
  storeHealthCheckMs: constant(5000),
  /** Interval between attempts to reach a server that is down. */
  storeRetryMs: constant(500),
  /** Interval between vacuums of the embedded database. */
  storeMaintenanceMs: integer('STORE_MAINTENANCE_MS', 600_000, 1000, 86_400_000),
  /** Bytes after which a page of features ends, and the next one begins. */
  featurePageBytes: integer('FEATURE_PAGE_BYTES', 2 * 1_048_576, 65_536, 16 * 1_048_576),
  /** Nesting depth of a GraphQL query. */
  maxGraphqlDepth: integer('MAX_GRAPHQL_DEPTH', 6, 1, 100),
  /** Fields in the response to a GraphQL query, counted for every record. */
  maxGraphqlCost: integer('MAX_GRAPHQL_COST', 12_000, 1, 1_000_000),
  /** Tokens of a GraphQL query. */
  maxGraphqlTokens: constant(500),
  /** Size of a GraphQL request. */
  maxGraphqlBytes: constant(65_536),
  /** Concurrent exports; beyond it the service answers 503. */
  maxExports: integer('MAX_EXPORTS', 8, 1, 10_000),
  /** Concurrent exports of one client; beyond it the service answers 503. */
  maxExportsPerClient: integer('MAX_EXPORTS_PER_CLIENT', 2, 1, 10_000),
  /** Open streams of changes and, counted separately, of submissions; beyond it the service answers 503. */
  maxStreams: integer('MAX_STREAMS', 1000, 1, 100_000),
  /** How many of each one client may open; beyond it the service answers 503. */
  maxStreamsPerClient: integer('MAX_STREAMS_PER_CLIENT', 100, 1, 100_000),
  /** How much an export reads at once. */
  exportPiece: { records: constant(1000), bytes: constant(1_048_576) },
  /** How much a stream reads at once. It is smaller because many streams are open. */
  streamPiece: { records: constant(200), bytes: constant(65_536) },
  /** Concurrent store queries for streams that have to catch up. */
  maxStreamReads: constant(4),
  /** Polling interval of the journal while at least one stream is open. */
  streamPollMs: integer('STREAM_POLL_MS', 500, 10, 60_000),
  /** Interval between heartbeats of an idle stream; at most a third of the request deadline. */
  streamHeartbeatMs: derived((source) => Math.min(5000, Math.floor(REQUEST_DEADLINE_MS.read(source) / 3))),
  /** Longest life of a stream. Its client reconnects and continues where it was. */
  streamLifeMs: integer('STREAM_LIFE_MS', 3_600_000, 100, 86_400_000),
}

/** Checks what the driver of PostgreSQL would reject or misread later. The value may contain a password, so no message repeats it. */
function checkDatabaseUrl(value: string): string {
  if (!/^postgres(ql)?:\/\//.test(value))
    throw new ConfigError('DATABASE_URL: must begin with postgres:// or postgresql://')
  if (!isDatabaseUrl(value)) {
    throw new ConfigError(
      'DATABASE_URL: is not a valid URL; if the user or the password has one of the characters % / ? # or a space, percent-encode it: % as %25, / as %2F, ? as %3F, # as %23, a space as %20',
    )
  }
  return value
}

function isDatabaseUrl(value: string): boolean {
  // The host may be empty if `?host=` names the folder of a Unix socket.
  const text = value.replace('@/', '@localhost/')
  if (/ |%(?![0-9a-f]{2})/i.test(text) || !URL.canParse(text)) return false
  const { username, password, hostname, pathname, search, hash } = new URL(text)
  // An unencoded / ? or # ends the host, and the @ behind the password is then in a later part.
  if (hash !== '' || pathname.includes('@') || search.includes('@')) return false
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

function sampleRecords(): Setting<boolean> {
  const setting = flag('SAMPLE_RECORDS', false)
  return {
    ...setting,
    read(source) {
      const isRequested = setting.read(source)
      if (isRequested && source.production)
        throw new ConfigError('SAMPLE_RECORDS (--sample-records): sample records are not allowed in production')
      if (isRequested && !RECORDS.read(source))
        throw new ConfigError('SAMPLE_RECORDS (--sample-records): RECORDS=0 turns records off')
      return isRequested
    },
  }
}
