/**
 * Reads the environment into a `Config`. Every limit, timeout and queue size of the service is named in this file only.
 *
 * `readConfig` is pure: it takes the environment as a value. It does not read the signing key; `readSigningKey` in
 * `config/signing-key.ts` does, in the signer thread only (decision 96).
 */

import type { LogFormat } from '../base/log.ts'
import { EVALUATION_MODES, type Evaluation, OWN_EVALUATION } from '../wire/compute-messages.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type Tier = 'public' | 'developer' | 'internal'
export type ChainProfile = 'legacy' | 'v1' | 'v2'

/** Data layout of a location attestation: the nine fields of Location Protocol 0.2, or the four strings of its predecessor. */
export type LocationLayout = 'nine-fields' | 'four-strings'

export interface LocationSchema {
  readonly uid: string
  /** undefined: the layout of the known schema with this UID; for an unknown UID, nine fields. */
  readonly layout: LocationLayout | undefined
}

export interface ApiKey {
  readonly key: string
  readonly tier: Tier
  readonly label: string
}

/** The operator's settings for one chain. Defaults come from the built-in table in `attest/chains.ts`. */
export interface ChainOverride {
  readonly rpcUrls: readonly string[]
  readonly easAddress?: string
  readonly schemaRegistryAddress?: string
  readonly profile?: ChainProfile
  readonly easVersion?: string
  readonly startBlock?: number
  readonly finalityDepth?: number
}

export interface Config {
  readonly production: boolean
  readonly host: string
  readonly port: number
  /** True when `PORT` is set. Without it, a busy default port is replaced by the next free one. */
  readonly portAsked: boolean
  readonly publicUrl: string | undefined
  readonly errorTypeBase: string | undefined
  readonly dataDir: string
  /** False: no records are stored, and their routes answer 503. */
  readonly records: boolean
  /** True: records are read from every chain that has an RPC. */
  readonly sync: boolean
  /** Addresses and CIDR ranges that may use `/api/sync`, in addition to this machine. */
  readonly syncAllow: readonly string[]
  /** Bearer token that gives access to `/api/sync` from any address. */
  readonly cronSecret: string | undefined
  /** URL of the PostgreSQL server for the records. Without it they are stored below `dataDir`. May contain a password. */
  readonly databaseUrl: string | undefined
  /** In production the embedded database below `dataDir` has to be enabled explicitly (decision 114). */
  readonly allowEmbeddedDatabase: boolean
  /** True: an empty store is filled with sample records. Never in production. */
  readonly sampleRecords: boolean
  /** True: `/api/v0/location-proofs` uses the format names of its older version (decision 51). */
  readonly legacyProofFormat: boolean
  /** True: `/graphql` is served. */
  readonly graphql: boolean
  /** True: `/graphql` answers introspection queries. */
  readonly graphqlIntrospection: boolean
  readonly httpAdapter: 'uws' | 'node'
  readonly logFormat: LogFormat
  /** Share of requests that are logged: 1 logs all, 0.01 one in a hundred. Errors and slow requests are always logged. */
  readonly logSampleRatio: number
  /** False: `GET /metrics` answers loopback peers only. */
  readonly publicMetrics: boolean
  readonly allowDevelopmentKey: boolean
  /** True: the `mock` plugin is enabled. Its stamps prove nothing. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of trusted latency witnesses, 0x and lower case. undefined: no witness is preferred. */
  readonly witnesses: readonly string[] | undefined
  /** True: the older version of the verify API is served as well. */
  readonly olderVerify: boolean
  /** Modules of the plugins that the operator adds. */
  readonly pluginFiles: readonly string[]
  /**
   * Where and how proofs are evaluated, as responses report it. This is the operator's claim; no code depends on it (decision
   * 130).
   */
  readonly evaluation: Evaluation
  /** JSON file that says which devices and apps are trusted. */
  readonly deviceTrustFile: string | undefined
  /** Folder with the DID documents of `did:web` signers. */
  readonly didWebDir: string | undefined
  readonly chains: ReadonlyMap<number, ChainOverride>
  readonly schemas: {
    readonly numeric: string | undefined
    readonly boolean: string | undefined
    readonly verify: string | undefined
    readonly 'merkle-root': string | undefined
    /** UIDs in lower case, in the order given. Empty: the built-in schema is used. */
    readonly location: readonly LocationSchema[]
  }
  readonly allowAnySchema: boolean
  /** Largest age of a nonce read that may be used for a signature. 0: the read must begin after the request arrived. */
  readonly nonceMaxAgeMs: number
  readonly rpcTimeoutMs: number
  readonly attestationTtlSeconds: number
  readonly verifiedProofMaxAgeSeconds: number
  /** How long after its computation a result can be signed again. */
  readonly resignMaxAgeSeconds: number
  /** Former attester addresses, lower case. Their verified proofs are still accepted as inputs. */
  readonly retiredAttesters: readonly string[]
  readonly apiKeys: readonly ApiKey[]
  /** The file that `trigpoint keys` writes; it may not exist. */
  readonly apiKeysFile: string
  readonly requireApiKey: boolean
  readonly requestsPerHour: Readonly<Record<Tier, number>>
  readonly trustedProxies: readonly string[]
  /** undefined: the service submits no attestations. */
  readonly submission: SubmissionConfig | undefined
  /** undefined: no local chain is started. Always undefined in production. */
  readonly localChain: LocalChainConfig | undefined
  readonly limits: Limits
}

/** The local development chain that `--chain` starts. */
export interface LocalChainConfig {
  /** undefined: 8545, or any free port when 8545 is busy. */
  readonly port: number | undefined
  /** Longest time from its start until it listens. */
  readonly startMs: number
  /** Longest time from the request to stop until it is killed. */
  readonly stopMs: number
  readonly rpcTimeoutMs: number
  /** Interval between writes of its state to disk. Newer state is lost when the chain is killed. */
  readonly stateSeconds: number
  /** Block interval while no transactions arrive. */
  readonly blockSeconds: number
  /** Restarts of a chain that ended before the service gives up. The count resets after a life of `stableMs`. */
  readonly maxRestarts: number
  readonly restartPauseMs: number
  readonly stableMs: number
}

/** Limits on spending and waiting for attestations that this service submits itself. */
export interface SubmissionConfig {
  /** Submissions of one chain that are not yet in a block; beyond it the service answers 503. */
  readonly maxQueued: number
  /** Submissions of this process that wait to be stored; beyond it the service answers 503. */
  readonly maxUnstored: number
  /** Longest time that a request waits for its submission to be in a block. */
  readonly waitMs: number
  /** Polling interval: of requests for the status of their submissions, and of the relay for new submissions. */
  readonly pollMs: number
  /** Gas that the submissions of one API key may use within 24 hours. */
  readonly gasPerDay: number
  /** Largest gas limit of one transaction. */
  readonly maxGas: number
  /** Highest fee per unit of gas. Above it nothing is sent and no fee is raised. */
  readonly maxFeeGwei: number
  /** Highest priority fee, the part that goes to the block producer. Nodes suggest it, and all of it is paid. */
  readonly maxPriorityFeeGwei: number
  /** Balance that every transaction has to leave in the account. */
  readonly minBalanceEther: number
  readonly rpcTimeoutMs: number
  /** Blocks after which the fee of a transaction that is still pending is raised. */
  readonly bumpBlocks: number
  /** Transactions that may include one submission before it fails. */
  readonly maxAttempts: number
  /** Largest gap between the chain's nonce and ours that is filled with empty transactions. A larger one needs the operator. */
  readonly maxNonceGap: number
  /** How long final and failed submissions are kept, with their idempotency keys. */
  readonly retentionMs: number
  /** Interval between counts of submissions for the metrics. */
  readonly countMs: number
}

/** The source of the signing key; `config/signing-key.ts` reads it. */
export type SigningKeySource =
  | { readonly kind: 'private-key'; readonly privateKey: string }
  | { readonly kind: 'mnemonic'; readonly mnemonic: string; readonly path: string }
  /** A version 3 keystore file, and the file that holds its password. */
  | { readonly kind: 'keystore'; readonly file: string; readonly passwordFile: string }
  /** Generated on the first start and stored in a file. */
  | { readonly kind: 'development'; readonly file: string }

/** The settings that the signer thread receives. API keys and all other settings stay on the main thread. */
export type SignerConfig = Pick<
  Config,
  | 'production'
  | 'allowDevelopmentKey'
  | 'dataDir'
  | 'chains'
  | 'schemas'
  | 'nonceMaxAgeMs'
  | 'rpcTimeoutMs'
  | 'attestationTtlSeconds'
  | 'submission'
>

/** The settings that the sync thread receives. */
export type ChainAccessConfig = Pick<
  Config,
  'chains' | 'schemas' | 'records' | 'sync' | 'rpcTimeoutMs' | 'submission' | 'limits'
>

/** The settings that the store thread receives. */
export type StoreThreadConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'limits'>

/** Sizes and timeouts. Every queue has a maximum size, and every wait has a limit. */
export interface Limits {
  readonly maxBodyBytes: number
  /** Bytes of one NDJSON stream that were read but not answered; beyond it the connection is closed. */
  readonly maxStreamBytes: number
  /** Size of a batch in one JSON document. An NDJSON stream has no total limit; each line may have `maxBodyBytes`. */
  readonly maxBatchBytes: number
  /** Number of items in a batch in one JSON document. */
  readonly maxBatchItems: number
  /** Size of a batch without its items. The main thread parses only this envelope. */
  readonly maxBatchEnvelopeBytes: number
  readonly maxVertices: number
  readonly maxParts: number
  readonly maxCollectionDepth: number
  readonly maxJsonDepth: number
  /** Bodies up to this size go to the small lane; larger ones go to the large lane. */
  readonly smallBodyBytes: number
  /** Largest body that may be computed on the main thread, if that takes no longer than a message to another thread. 0: never. */
  readonly inlineBodyBytes: number
  readonly computeThreads: number
  readonly largeThreads: number
  readonly maxBatchSize: number
  /** Requests that wait for a worker; beyond it the service answers 503. */
  readonly maxQueuedRequests: number
  /** Longest estimated wait for a worker for which a request is queued; beyond it the service answers 503. */
  readonly maxQueueMs: number
  /** Bytes of request bodies in memory, over all connections; beyond it the service answers 503. */
  readonly maxInFlightBytes: number
  readonly maxOpenBodiesPerAddress: number
  /** Bytes that are read and discarded of a body that was rejected before its end, so that its client gets to the response. */
  readonly refusedBodyBytes: number
  /** Longest time that such a body is read. */
  readonly refusedBodyMs: number
  readonly requestDeadlineMs: number
  /** Longest time that an NDJSON stream may be idle in both directions. */
  readonly streamIdleMs: number
  /**
   * Longest time from the first byte of a request to the last byte of its body (node:http adapter; uWebSockets.js has its own 10
   * s).
   */
  readonly receiveTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly drainTimeoutMs: number
  readonly maxConnections: number
  /** Exact geodesic solves that one distance may cost; beyond it the service answers 400. */
  readonly maxDistanceSolves: number
  /** The same limit in the small lane. A request that needs more is computed in the large lane. */
  readonly maxSmallDistanceSolves: number
  /** Size of each compute thread's cache of prepared geometries. */
  readonly maxPreparedBytes: number
  readonly workerHeapMb: number
  /** Longest time that an added plugin may take to load. */
  readonly pluginLoadMs: number
  /** Longest time that a plugin may take to run in `plugin-test`. */
  readonly pluginTrialMs: number
  /**
   * How long the evaluation of evidence may continue after its deadline, or while the service stops, before its thread is
   * terminated.
   */
  readonly evidenceGraceMs: number
  /**
   * Size of a compute thread's young heap, three semi-spaces. A heap that fits into the processor's cache is collected faster.
   */
  readonly workerYoungHeapMb: number
  /** The same for the store thread, which handles pages of records. */
  readonly storeYoungHeapMb: number
  readonly maxRateLimitSubjects: number
  /** Polling interval of the key file. */
  readonly keyFileLookMs: number
  /** Largest RPC response that is read. */
  readonly maxRpcResponseBytes: number
  readonly maxCachedSchemas: number
  /** How long the service remembers that a schema is not registered. */
  readonly unregisteredSchemaMs: number
  /** Interval between comparisons of a chain's contracts and clock with the table. */
  readonly chainCheckIntervalMs: number
  /** Interval between attempts to reach a chain that could not be reached. */
  readonly chainRetryIntervalMs: number
  /** A chain whose head is further ahead of our clock is refused, because our deadlines would be in its past. */
  readonly maxHeadAheadSeconds: number
  /** Queries that wait for the store; beyond it the service answers 503. */
  readonly maxStoreQueue: number
  /** Connections to a PostgreSQL server for reads. */
  readonly storeReaders: number
  /** Connections to a PostgreSQL server for writes. */
  readonly storeWriters: number
  readonly storeConnectMs: number
  /** Statement timeout of a read. */
  readonly storeReadMs: number
  /** Statement timeout of a write. */
  readonly storeWriteMs: number
  /** Largest number of records whose filter columns are held in memory, about 100 bytes each. */
  readonly storeMemoryRecords: number
  /**
   * The embedded engine's thread is restarted when a query does not return for this long, which is longer than any client waits.
   */
  readonly storeStuckMs: number
  /** Longest time from the start of the store thread until it answers. The first start creates a database. */
  readonly storeOpenMs: number
  /** Longest time that a request waits for a store that is opening; beyond it the service answers 503. */
  readonly storeWaitMs: number
  /** Interval between attempts to open a damaged store. */
  readonly storeDamagedRetryMs: number
  /** Interval between health checks of a PostgreSQL server. */
  readonly storePulseMs: number
  /** Interval between attempts to reach a server that is down. */
  readonly storeRetryMs: number
  /** Interval between vacuums of the embedded database. */
  readonly storeMaintenanceMs: number
  /** Nesting depth of a GraphQL query. */
  readonly maxGraphqlDepth: number
  /** Fields in the response to a GraphQL query, counted for every record. */
  readonly maxGraphqlCost: number
  /** Tokens of a GraphQL query. */
  readonly maxGraphqlTokens: number
  /** Size of a GraphQL request. */
  readonly maxGraphqlBytes: number
  /** Concurrent exports; beyond it the service answers 503. */
  readonly maxExports: number
  /** Open streams of changes; beyond it the service answers 503. */
  readonly maxStreams: number
  /** Open streams of changes of one client; beyond it the service answers 503. */
  readonly maxStreamsPerClient: number
  /** How much an export reads at once. */
  readonly exportPiece: { readonly records: number; readonly bytes: number }
  /** How much a stream reads at once. It is smaller because many streams are open. */
  readonly streamPiece: { readonly records: number; readonly bytes: number }
  /** Concurrent store queries for streams that have to catch up. */
  readonly maxStreamReads: number
  /** Polling interval of the journal while at least one stream is open. */
  readonly streamPollMs: number
  /** Interval between heartbeats of an idle stream; at most a third of the request deadline. */
  readonly streamHeartbeatMs: number
  /** Longest life of a stream. Its client reconnects and continues where it was. */
  readonly streamLifeMs: number
  /** Timeout of one RPC call while chains are read. */
  readonly syncRpcTimeoutMs: number
  /** Largest RPC response that is read while chains are read. */
  readonly maxSyncResponseBytes: number
  /** Longest time that a failing RPC endpoint is suspended. */
  readonly maxRpcBenchMs: number
  /** Polling interval of a chain's head. */
  readonly syncPollMs: number
  /** The same for the local chain, which makes a block for each transaction. */
  readonly syncLocalPollMs: number
  readonly syncRangeBlocks: number
  readonly syncBlocksAtOnce: number
  readonly syncLogsAtOnce: number
  /** Ranges stored in one pass over a chain. */
  readonly syncStepsPerPass: number
  readonly maxAttestationBytes: number
  /** Attestations with equal fields in one block that are distinguished: as many as fit into the gas of a block. */
  readonly maxEqualAttestations: number
  /** How long the process that reads the chains may be silent before another process takes over. */
  readonly syncLeaseMs: number
  /** Interval between comparisons of all valid records with their chain. */
  readonly syncSweepMs: number
  /** Interval between audits, each of which reads one range of blocks from a second endpoint. */
  readonly syncAuditMs: number
  /** How long `POST /api/sync?chain=` waits for the end. The work continues after it. */
  readonly syncWaitMs: number
}

/** An invalid setting. `trigpoint` exits with code 78 and this message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Reads all settings except for the signing key.
 *
 * @param env the environment of the process
 * @param cores number of available processors, the default of `COMPUTE_THREADS`
 * @throws {ConfigError} on an invalid value; the message names the variable, its value and what is allowed
 */
export function readConfig(env: Environment, cores: number): Config {
  const read = createReader(env)
  const production = env['NODE_ENV'] === 'production'
  const computeThreads = read.integer('COMPUTE_THREADS', cores, 0, 256)
  const requestDeadlineMs = read.integer('REQUEST_DEADLINE_MS', 10_000, 100, 600_000)
  const maxBodyBytes = read.integer('MAX_BODY_BYTES', 1_048_576, 1024, 64 * 1_048_576)
  // Half of it holds whole lines; the other half holds the beginning of the next line and one read of the transport (512 KiB).
  const minStreamBytes = 2 * (maxBodyBytes + 1_048_576)
  return Object.freeze({
    production,
    host: env['HOST'] || '127.0.0.1',
    port: read.integer('PORT', 3000, 0, 65_535),
    portAsked: Boolean(env['PORT']),
    publicUrl: read.url('PUBLIC_URL'),
    errorTypeBase: read.url('ERROR_TYPE_BASE'),
    dataDir: env['DATA_DIR'] || './.data',
    records: read.flag('RECORDS', true),
    sync: read.flag('SYNC', true),
    syncAllow: read.list('SYNC_ALLOW'),
    cronSecret: readCronSecret(env['CRON_SECRET']),
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    allowEmbeddedDatabase: !production || read.flag('EMBEDDED_DB', false),
    sampleRecords: readSampleRecords(read.flag('SAMPLE_RECORDS', false), production, read.flag('RECORDS', true)),
    legacyProofFormat: read.flag('LEGACY_PROOF_FORMAT', false),
    graphql: read.flag('GRAPHQL', true),
    graphqlIntrospection: read.flag('GRAPHQL_INTROSPECTION', true),
    httpAdapter: read.choice('HTTP_ADAPTER', ['uws', 'node'] as const),
    logFormat: read.choice('LOG_FORMAT', ['pretty', 'json'] as const),
    logSampleRatio: read.number('LOG_SAMPLE_RATIO', 0.01, 0, 1),
    publicMetrics: read.flag('METRICS_PUBLIC', false),
    allowDevelopmentKey: !production || read.flag('ALLOW_DEV_KEY', false),
    allowMock: !production || read.flag('ENABLE_MOCK', false),
    witnesses: env['WITNESSES'] ? read.keys('WITNESSES') : undefined,
    olderVerify: read.flag('LEGACY_V1', true),
    pluginFiles: read.list('PLUGINS'),
    evaluation: {
      mode: read.choice('EVALUATION_MODE', EVALUATION_MODES),
      method: read.shortText('EVALUATION_METHOD', OWN_EVALUATION.method, 64),
    },
    deviceTrustFile: env['DEVICE_TRUST_FILE'] || undefined,
    didWebDir: env['DID_WEB_DIR'] || undefined,
    chains: readChains(env),
    schemas: {
      numeric: read.bytes32('NUMERIC_SCHEMA_UID'),
      boolean: read.bytes32('BOOLEAN_SCHEMA_UID'),
      verify: read.bytes32('VERIFY_SCHEMA_UID'),
      'merkle-root': read.bytes32('MERKLE_ROOT_SCHEMA_UID'),
      location: readLocationSchemas(env['LOCATION_SCHEMA_UID']),
    },
    allowAnySchema: read.flag('ALLOW_ANY_SCHEMA', true),
    nonceMaxAgeMs: read.integer('NONCE_MAX_AGE_MS', 0, 0, 3_600_000),
    rpcTimeoutMs: read.integer('RPC_TIMEOUT_MS', 500, 10, 60_000),
    attestationTtlSeconds: read.integer('ATTESTATION_TTL_SECONDS', 3600, 60, 86_400),
    verifiedProofMaxAgeSeconds: read.integer('VERIFIED_PROOF_MAX_AGE_SECONDS', 86_400, 0, 31_536_000),
    resignMaxAgeSeconds: read.integer('RESIGN_MAX_AGE_SECONDS', 86_400, 0, 31_536_000),
    retiredAttesters: read.list('RETIRED_ATTESTERS').map((address) => address.toLowerCase()),
    apiKeys: readApiKeys(env['API_KEYS']),
    apiKeysFile: env['API_KEYS_FILE'] || `${env['DATA_DIR'] || './.data'}/api-keys.json`,
    requireApiKey: read.flag('REQUIRE_API_KEY', false),
    requestsPerHour: {
      public: read.integer('RATE_LIMIT_PUBLIC', 100, 1, 1e9),
      developer: read.integer('RATE_LIMIT_DEVELOPER', 1000, 1, 1e9),
      internal: read.integer('RATE_LIMIT_INTERNAL', 10_000, 1, 1e9),
    },
    trustedProxies: read.list('TRUSTED_PROXIES'),
    submission: read.flag('ENABLE_ONCHAIN_SUBMIT', false) ? readSubmission(read) : undefined,
    localChain: readLocalChain(read, production),
    limits: {
      maxBodyBytes,
      maxStreamBytes: read.integer('MAX_STREAM_BYTES', Math.max(8 * 1_048_576, minStreamBytes), minStreamBytes, 8e9),
      maxBatchBytes: read.integer('MAX_BATCH_BYTES', 8 * 1_048_576, 1024, 256 * 1_048_576),
      maxBatchItems: 10_000,
      maxBatchEnvelopeBytes: 16_384,
      maxVertices: read.integer('MAX_VERTICES', 50_000, 4, 5_000_000),
      maxParts: read.integer('MAX_PARTS', 10_000, 1, 1_000_000),
      maxCollectionDepth: 8,
      maxJsonDepth: 32,
      smallBodyBytes: 16_384,
      inlineBodyBytes: read.integer('INLINE_BODY_BYTES', 512, 0, 16_384),
      computeThreads,
      largeThreads: Math.max(1, computeThreads),
      maxBatchSize: 32,
      maxQueuedRequests: read.integer('MAX_QUEUED_REQUESTS', 4096, 1, 1_000_000),
      maxQueueMs: read.integer('MAX_QUEUE_MS', 1000, 10, 600_000),
      maxInFlightBytes: read.integer('MAX_IN_FLIGHT_BYTES', 64 * 1_048_576, 1_048_576, 8e9),
      maxOpenBodiesPerAddress: read.integer('MAX_OPEN_BODIES_PER_ADDRESS', 1024, 1, 1_000_000),
      refusedBodyBytes: read.integer('REFUSED_BODY_BYTES', 16 * 1_048_576, 0, 8e9),
      refusedBodyMs: read.integer('REFUSED_BODY_MS', 5000, 0, 600_000),
      requestDeadlineMs,
      streamIdleMs: read.integer('STREAM_IDLE_MS', 30_000, 100, 600_000),
      receiveTimeoutMs: 10_000,
      keepAliveTimeoutMs: 10_000,
      drainTimeoutMs: read.integer('DRAIN_TIMEOUT_MS', 10_000, 0, 600_000),
      maxConnections: read.integer('MAX_CONNECTIONS', 16_384, 1, 1_000_000),
      maxDistanceSolves: read.integer('MAX_DISTANCE_SOLVES', 2_000_000, 1000, 1e9),
      maxPreparedBytes: read.integer('MAX_PREPARED_BYTES', 16 * 1_048_576, 65_536, 5e8),
      maxSmallDistanceSolves: 20_000,
      workerHeapMb: 512,
      pluginLoadMs: 10_000,
      pluginTrialMs: 120_000,
      evidenceGraceMs: 2000,
      workerYoungHeapMb: 6,
      storeYoungHeapMb: 12,
      maxRateLimitSubjects: 1_000_000,
      keyFileLookMs: 1000,
      maxRpcResponseBytes: 4 * 1_048_576,
      maxCachedSchemas: 10_000,
      unregisteredSchemaMs: 5000,
      chainCheckIntervalMs: 60_000,
      chainRetryIntervalMs: 5000,
      maxHeadAheadSeconds: 300,
      maxStoreQueue: read.integer('MAX_STORE_QUEUE', 64, 1, 100_000),
      storeReaders: read.integer('DATABASE_READERS', 8, 1, 1000),
      storeWriters: 2,
      storeConnectMs: 2000,
      storeReadMs: read.integer('STORE_READ_MS', 2000, 100, 600_000),
      storeMemoryRecords: read.integer('RECORDS_IN_MEMORY', 2_000_000, 0, 20_000_000),
      storeWriteMs: 60_000,
      storeStuckMs: read.integer('STORE_STUCK_MS', 10_000, 100, 600_000),
      storeOpenMs: 120_000,
      storeWaitMs: read.integer('STORE_WAIT_MS', 5000, 0, 600_000),
      storeDamagedRetryMs: 60_000,
      storePulseMs: 5000,
      storeRetryMs: 500,
      storeMaintenanceMs: read.integer('STORE_MAINTENANCE_MS', 600_000, 1000, 86_400_000),
      maxGraphqlDepth: read.integer('MAX_GRAPHQL_DEPTH', 6, 1, 100),
      maxGraphqlCost: read.integer('MAX_GRAPHQL_COST', 12_000, 1, 1_000_000),
      maxGraphqlTokens: 500,
      maxGraphqlBytes: 65_536,
      maxExports: read.integer('MAX_EXPORTS', 8, 1, 10_000),
      maxStreams: read.integer('MAX_STREAMS', 1000, 1, 100_000),
      maxStreamsPerClient: read.integer('MAX_STREAMS_PER_CLIENT', 100, 1, 100_000),
      exportPiece: { records: 1000, bytes: 1_048_576 },
      streamPiece: { records: 200, bytes: 65_536 },
      maxStreamReads: 4,
      streamPollMs: read.integer('STREAM_POLL_MS', 500, 10, 60_000),
      streamHeartbeatMs: Math.min(5000, Math.floor(requestDeadlineMs / 3)),
      streamLifeMs: read.integer('STREAM_LIFE_MS', 3_600_000, 100, 86_400_000),
      syncRpcTimeoutMs: read.integer('SYNC_RPC_TIMEOUT_MS', 10_000, 100, 600_000),
      maxSyncResponseBytes: 32 * 1_048_576,
      maxRpcBenchMs: 60_000,
      syncPollMs: read.integer('SYNC_POLL_MS', 2000, 50, 3_600_000),
      syncLocalPollMs: read.integer('SYNC_POLL_MS', 250, 50, 3_600_000),
      syncRangeBlocks: read.integer('SYNC_RANGE_BLOCKS', 10_000, 1, 10_000_000),
      syncBlocksAtOnce: 64,
      syncLogsAtOnce: 2000,
      syncStepsPerPass: 20,
      maxAttestationBytes: read.integer('MAX_ATTESTATION_BYTES', 1_048_576, 1024, 64 * 1_048_576),
      maxEqualAttestations: 1024,
      syncLeaseMs: read.integer('SYNC_LEASE_MS', 3000, 300, 600_000),
      syncSweepMs: read.integer('SYNC_SWEEP_MS', 3_600_000, 1000, 86_400_000),
      syncAuditMs: read.integer('SYNC_AUDIT_MS', 10_000, 10, 86_400_000),
      syncWaitMs: Math.floor(requestDeadlineMs / 2),
    },
  })
}

function readSampleRecords(isRequested: boolean, production: boolean, records: boolean): boolean {
  if (isRequested && production)
    throw new ConfigError('SAMPLE_RECORDS (--sample-records): sample records are not allowed in production')
  if (isRequested && !records) throw new ConfigError('SAMPLE_RECORDS (--sample-records): RECORDS=0 turns records off')
  return isRequested
}

function readSubmission(read: ReturnType<typeof createReader>): SubmissionConfig {
  return {
    maxQueued: read.integer('MAX_QUEUED_SUBMISSIONS', 1000, 1, 1_000_000),
    maxUnstored: read.integer('MAX_UNSTORED_SUBMISSIONS', 1000, 1, 1_000_000),
    waitMs: read.integer('SUBMIT_WAIT_MS', 15_000, 0, 120_000),
    pollMs: read.integer('SUBMIT_POLL_MS', 500, 20, 60_000),
    gasPerDay: read.integer('SUBMIT_GAS_PER_DAY', 20_000_000, 1, 1e12),
    maxGas: read.integer('SUBMIT_MAX_GAS', 16_000_000, 100_000, 1e9),
    maxFeeGwei: read.number('SUBMIT_MAX_FEE_GWEI', 100, 0.000_001, 1_000_000),
    maxPriorityFeeGwei: read.number('SUBMIT_MAX_PRIORITY_FEE_GWEI', 4, 0.000_001, 1_000_000),
    minBalanceEther: read.number('SUBMIT_MIN_BALANCE', 0.005, 0, 1e6),
    rpcTimeoutMs: read.integer('SUBMIT_RPC_TIMEOUT_MS', 5000, 10, 60_000),
    bumpBlocks: 3,
    maxAttempts: 5,
    maxNonceGap: 16,
    retentionMs: 30 * 86_400_000,
    countMs: 5000,
  }
}

function readLocalChain(read: ReturnType<typeof createReader>, production: boolean): LocalChainConfig | undefined {
  const isRequested = read.flag('LOCAL_CHAIN', false)
  const port = read.integer('LOCAL_CHAIN_PORT', -1, 0, 65_535)
  if (!isRequested) return undefined
  if (production) {
    throw new ConfigError(
      'LOCAL_CHAIN (--chain): production has no chain of its own, because its keys are public: set RPC_URL_<chainId>',
    )
  }
  return {
    port: port === -1 ? undefined : port,
    startMs: 20_000,
    stopMs: 5000,
    rpcTimeoutMs: 5000,
    stateSeconds: 5,
    blockSeconds: 30,
    maxRestarts: 5,
    restartPauseMs: 500,
    stableMs: 60_000,
  }
}

/**
 * Returns typed lookups. Each throws a `ConfigError` that names the variable when its value is invalid. An empty value counts as
 * absent.
 */
function createReader(env: Environment) {
  const fail = (name: string, expected: string): never => {
    throw new ConfigError(`${name}=${JSON.stringify(env[name])}: must be ${expected}`)
  }
  const number = (name: string, fallback: number, low: number, high: number): number => {
    const text = env[name]?.trim()
    if (text === undefined || text === '') return fallback
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= low && value <= high)) {
      fail(name, `a number from ${decimal(low)} to ${decimal(high)} in decimal digits, such as 1 or 0.5`)
    }
    return value
  }
  return {
    number,
    integer(name: string, fallback: number, low: number, high: number): number {
      const text = env[name]?.trim()
      if (text === undefined || text === '') return fallback
      return wholeNumber(text, low, high) ?? fail(name, wholeNumberForm(low, high))
    },
    flag(name: string, fallback: boolean): boolean {
      const text = env[name]
      if (text === undefined || text === '') return fallback
      if (text === '1' || text === 'true') return true
      if (text === '0' || text === 'false') return false
      return fail(name, '1 or 0')
    },
    /** The first choice is the default. */
    choice<const T extends readonly string[]>(name: string, choices: T): T[number] {
      const text = env[name] || choices[0]!
      return choices.includes(text) ? text : fail(name, `one of ${choices.join(', ')}`)
    },
    shortText(name: string, fallback: string, maxCharacters: number): string {
      const text = env[name] || fallback
      const isShown = text.trim() !== '' && !/\p{C}/u.test(text)
      return isShown && text.length <= maxCharacters ? text : fail(name, `text of 1 to ${maxCharacters} characters`)
    },
    url(name: string): string | undefined {
      const text = env[name]
      if (!text) return undefined
      if (!/^https?:\/\/\S+$/.test(text) || !URL.canParse(text)) fail(name, 'an absolute http or https URL')
      return text.replace(/\/+$/, '')
    },
    postgresUrl(name: string): string | undefined {
      const text = env[name]
      if (!text) return undefined
      // The value may contain a password, so the message must not repeat it.
      if (!/^postgres(ql)?:\/\//.test(text))
        throw new ConfigError(`${name}: must begin with postgres:// or postgresql://`)
      return text
    },
    bytes32(name: string): string | undefined {
      const text = env[name]
      if (!text) return undefined
      return /^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : fail(name, '0x and 64 hex digits')
    },
    list: (name: string): string[] => splitList(env[name]),
    /** Addresses and Ed25519 keys, in lower case. They are checked because a mistyped one would silently match no witness. */
    keys(name: string): string[] {
      const entries = splitList(env[name])
      const isKey = (text: string) => /^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(text)
      if (!entries.every(isKey))
        fail(name, 'addresses or public keys (0x and 40 or 64 hex digits), separated by commas')
      return entries.map((entry) => entry.toLowerCase())
    },
  }
}

/** Accepts decimal digits only, so that every setting is read the same way: no exponent, sign, separators or spaces. */
function wholeNumber(text: string, low: number, high: number): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= low && value <= high ? value : undefined
}

function wholeNumberForm(low: number, high: number): string {
  const example = Math.min(Math.max(low, 1000), high)
  return `a whole number from ${low} to ${high} in decimal digits, such as ${example}`
}

/** Formats a number without an exponent. */
function decimal(value: number): string {
  return value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 })
}

function splitList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Reads a list such as `0x…,0x…:four-strings`. */
function readLocationSchemas(text: string | undefined): LocationSchema[] {
  const schemas = splitList(text).map((entry): LocationSchema => {
    const [, uid, layout] = /^(0x[0-9a-fA-F]{64})(?::(nine-fields|four-strings))?$/.exec(entry) ?? []
    if (uid !== undefined) return { uid: uid.toLowerCase(), layout: layout as LocationLayout | undefined }
    const expected =
      'UIDs (0x and 64 hex digits) separated by commas, each optionally followed by :nine-fields or :four-strings'
    throw new ConfigError(`LOCATION_SCHEMA_UID=${JSON.stringify(entry)}: must be ${expected}`)
  })
  const duplicate = schemas.find(({ uid }, index) => schemas.findIndex((other) => other.uid === uid) !== index)
  if (duplicate !== undefined) throw new ConfigError(`LOCATION_SCHEMA_UID: ${duplicate.uid} is listed twice`)
  return schemas
}

/** Prefixes of the settings whose names end with a chain ID. */
export const CHAIN_SETTINGS: readonly string[] = [
  'RPC_URL',
  'EAS_ADDRESS',
  'EAS_PROFILE',
  'EAS_VERSION',
  'SCHEMA_REGISTRY',
  'START_BLOCK',
  'FINALITY_DEPTH',
]
const MAX_BLOCKS = 999_999_999_999
const CHAIN_VARIABLE = new RegExp(`^(${CHAIN_SETTINGS.join('|')})_(\\d+)$`)

function readChains(env: Environment): Map<number, ChainOverride> {
  const chains = new Map<number, { -readonly [K in keyof ChainOverride]: ChainOverride[K] }>()
  for (const [name, value] of Object.entries(env)) {
    const match = CHAIN_VARIABLE.exec(name)
    if (match === null || !value) continue
    const chainId = Number(match[2])
    const chain = chains.get(chainId) ?? { rpcUrls: [] }
    chains.set(chainId, chain)
    const fail = (expected: string): never => {
      throw new ConfigError(`${name}=${JSON.stringify(value)}: must be ${expected}`)
    }
    const blocks = () => wholeNumber(value, 0, MAX_BLOCKS) ?? fail(wholeNumberForm(0, MAX_BLOCKS))
    const address = () => (/^0x[0-9a-fA-F]{40}$/.test(value) ? value : fail('an address: 0x and 40 hex digits'))
    switch (match[1]) {
      case 'RPC_URL':
        chain.rpcUrls = splitList(value)
        for (const [index, url] of chain.rpcUrls.entries()) {
          if (/^https?:\/\//.test(url) && URL.canParse(url)) continue
          // A URL often contains an API key, so the message must not repeat it.
          throw new ConfigError(
            `${name}: URL ${index + 1} must begin with http:// or https://; separate several URLs with commas`,
          )
        }
        break
      case 'EAS_ADDRESS':
        chain.easAddress = address()
        break
      case 'SCHEMA_REGISTRY':
        chain.schemaRegistryAddress = address()
        break
      case 'EAS_VERSION':
        chain.easVersion = value
        break
      case 'START_BLOCK':
        chain.startBlock = blocks()
        break
      case 'FINALITY_DEPTH':
        chain.finalityDepth = blocks()
        break
      default:
        chain.profile =
          (['legacy', 'v1', 'v2'] as const).find((profile) => profile === value) ?? fail('legacy, v1 or v2')
    }
  }
  return chains
}

function readCronSecret(text: string | undefined): string | undefined {
  if (!text) return undefined
  // The message must not repeat the secret.
  if (text.length < 32) throw new ConfigError('CRON_SECRET: must have at least 32 characters')
  return text
}

function readApiKeys(text: string | undefined): ApiKey[] {
  if (!text) return []
  const fail = (why: string): never => {
    // The value contains secrets, so the message must not repeat it.
    throw new ConfigError(`API_KEYS: ${why}; expected {"<key>": {"tier": "developer" | "internal", "label": "…"}}`)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    fail('not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) fail('not an object')
  return Object.entries(parsed as Record<string, { tier?: unknown; label?: unknown } | null>).map(
    ([key, entry], index) => {
      const tier = entry?.tier
      if (tier !== 'public' && tier !== 'developer' && tier !== 'internal')
        return fail(`entry ${index + 1} has no known tier`)
      return { key, tier, label: typeof entry?.label === 'string' ? entry.label : `key ${index + 1}` }
    },
  )
}
