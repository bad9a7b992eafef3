/**
 * The one reading of the environment. Every limit, wait and queue size of the service has its name here and nowhere else.
 *
 * `readConfig` is pure: it takes the environment as a value. The signing key is the one thing it does not read: see
 * `readSigningKey` in `config-key.ts`, called in the signer thread only (decision 96).
 */

export type Environment = Readonly<Record<string, string | undefined>>
export type Tier = 'public' | 'developer' | 'internal'
export type ChainProfile = 'legacy' | 'v1' | 'v2'

/** How the data of location attestations is laid out: Location Protocol 0.2, or the four strings of its predecessor. */
export type LocationLayout = 'nine-fields' | 'four-strings'

export interface LocationSchema {
  readonly uid: string
  /** undefined: as its UID says where it is known, else nine fields. */
  readonly layout: LocationLayout | undefined
}

export interface ApiKey {
  readonly key: string
  readonly tier: Tier
  readonly label: string
}

/** What the operator says about one chain; the built-in table in `attest/chain-table.ts` has the rest. */
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
  /** False when the default port is used: then a busy port moves to the next free one. */
  readonly portAsked: boolean
  readonly publicUrl: string | undefined
  readonly errorTypeBase: string | undefined
  readonly dataDir: string
  /** False: no records are kept, and their routes answer 503. */
  readonly records: boolean
  /** Chains that have an RPC are read into the records. */
  readonly sync: boolean
  /** Addresses and ranges beside this machine that may use `/api/sync`. */
  readonly syncAllow: readonly string[]
  /** Who sends it as a bearer token may use `/api/sync`. */
  readonly cronSecret: string | undefined
  /** A PostgreSQL server for the records; without one they are kept below `dataDir`. Holds a password. */
  readonly databaseUrl: string | undefined
  /** In production records are kept below `dataDir` only when somebody said so (decision 114). */
  readonly allowEmbeddedDatabase: boolean
  /** An empty store is filled with sample records. Never in production. */
  readonly sampleRecords: boolean
  /** `/api/v0/location-proofs` names formats as its older generation did (decision 51). */
  readonly legacyProofFormat: boolean
  /** `/graphql` is served, and describes itself. */
  readonly graphql: boolean
  readonly graphqlIntrospection: boolean
  readonly httpAdapter: 'uws' | 'node'
  readonly logFormat: 'pretty' | 'json'
  /** 1: every request is logged; 0.01: one in a hundred, and every error and slow request. */
  readonly logSampleRatio: number
  /** False: `GET /metrics` answers loopback peers alone. */
  readonly publicMetrics: boolean
  readonly allowDevelopmentKey: boolean
  /** The `mock` plugin, whose stamps are evidence of nothing, is known. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of latency witnesses that are believed: 0x and lower case; anybody's when undefined. */
  readonly witnesses: readonly string[] | undefined
  /** The older generation of the verify API is served beside the current one. */
  readonly olderVerify: boolean
  /** Modules with kinds of evidence that the operator adds. */
  readonly pluginFiles: readonly string[]
  /** What answers say of where and how proofs are evaluated: the operator's word, nothing here depends on it (decision 130). */
  readonly evaluation: { readonly mode: 'local' | 'tee' | 'zk'; readonly method: string }
  /** Which devices and apps count, as JSON. */
  readonly deviceTrustFile: string | undefined
  /** Folder of documents of signers by `did:web`. */
  readonly didWebDir: string | undefined
  readonly chains: ReadonlyMap<number, ChainOverride>
  readonly schemas: {
    readonly numeric: string | undefined
    readonly boolean: string | undefined
    readonly verify: string | undefined
    readonly 'merkle-root': string | undefined
    /** Lower case, in the order given; empty: the built-in one. */
    readonly location: readonly LocationSchema[]
  }
  readonly allowAnySchema: boolean
  /** Oldest read of a nonce that is signed with; 0: every signature uses a read that began after its request arrived. */
  readonly nonceMaxAgeMs: number
  readonly rpcTimeoutMs: number
  readonly attestationTtlSeconds: number
  readonly verifiedProofMaxAgeSeconds: number
  /** How long after a result was computed it can be signed again. */
  readonly resignMaxAgeSeconds: number
  /** Former attester addresses, lower case, whose verified proofs are still accepted as inputs. */
  readonly retiredAttesters: readonly string[]
  readonly apiKeys: readonly ApiKey[]
  /** Written by `trigpoint keys`; may not be there. */
  readonly apiKeysFile: string
  readonly requireApiKey: boolean
  readonly requestsPerHour: Readonly<Record<Tier, number>>
  readonly trustedProxies: readonly string[]
  /** undefined: attestations are not submitted to chains. */
  readonly submission: SubmissionConfig | undefined
  /** undefined: no chain is started beside the service. Never in production. */
  readonly localChain: LocalChainConfig | undefined
  readonly limits: Limits
}

/** The chain of this machine that `--chain` starts. */
export interface LocalChainConfig {
  /** undefined: 8545, or any free port when that is busy. */
  readonly port: number | undefined
  /** From its start until it listens; and from the request to end until it is ended by force. */
  readonly startMs: number
  readonly stopMs: number
  readonly rpcTimeoutMs: number
  /** From one writing of its state to the next; what is newer is lost when it is killed. */
  readonly stateSeconds: number
  /** From one block to the next when nobody sends a transaction. */
  readonly blockSeconds: number
  /** A chain that ended is started again so often before the service gives up; counted anew after so long a life. */
  readonly maxRestarts: number
  readonly restartPauseMs: number
  readonly stableMs: number
}

/** Attestations that this service submits itself: what it spends, and how long it waits. */
export interface SubmissionConfig {
  /** Submissions of one chain that are not in a block; beyond it the answer is 503. */
  readonly maxQueued: number
  /** Submissions of this process that wait to be stored; beyond it the answer is 503. */
  readonly maxUnstored: number
  /** Longest wait of a request for the block of its submission. */
  readonly waitMs: number
  /** From one look at submissions that somebody waits for to the next; and of the relay for new ones. */
  readonly pollMs: number
  /** Gas that the submissions of one API key may use in 24 hours. */
  readonly gasPerDay: number
  /** Of one transaction. */
  readonly maxGas: number
  /** Beyond it nothing is sent, and no fee is raised. */
  readonly maxFeeGwei: number
  /** Of the fee, what goes to whoever makes the block: nodes ask for it, and all of it is paid. */
  readonly maxPriorityFeeGwei: number
  /** Nothing is sent that would leave the account with less. */
  readonly minBalanceEther: number
  readonly rpcTimeoutMs: number
  /** Blocks without the transaction after which its fee is raised. */
  readonly bumpBlocks: number
  /** Transactions that a submission may be part of before it is given up. */
  readonly maxAttempts: number
  /** Nonces that are used up with empty transactions when the chain turns out to be behind ours; beyond it the operator has to look. */
  readonly maxNonceGap: number
  /** Submissions that are final or failed are forgotten, with their idempotency keys, after so long. */
  readonly keepMs: number
  /** From one count of submissions for the metrics to the next. */
  readonly countMs: number
}

/** Where the signing key comes from; read by `config-key.ts`. */
export type SigningKeySource =
  | { readonly kind: 'private-key'; readonly privateKey: string }
  | { readonly kind: 'mnemonic'; readonly mnemonic: string; readonly path: string }
  /** A version 3 keystore and the file that holds its password. */
  | { readonly kind: 'keystore'; readonly file: string; readonly passwordFile: string }
  /** Generated on the first start, kept in a file. */
  | { readonly kind: 'development'; readonly file: string }

/** What the signer thread is told; API keys and everything else stay with main. */
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

/** What the chain thread is told. */
export type ChainAccessConfig = Pick<
  Config,
  'chains' | 'schemas' | 'records' | 'sync' | 'rpcTimeoutMs' | 'submission' | 'limits'
>

/** What the store's thread is told. */
export type StoreThreadConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'limits'>

/** Sizes and waits. Every queue has a size, every wait a limit. */
export interface Limits {
  readonly maxBodyBytes: number
  /** Bytes of one stream of lines that were read and not answered; beyond it the connection ends. */
  readonly maxStreamBytes: number
  /** Bytes and items of a batch in JSON; a stream of lines has no limit, each of its lines `maxBodyBytes`. */
  readonly maxBatchBytes: number
  readonly maxBatchItems: number
  /** Of a batch without its items, which alone is read on the main thread. */
  readonly maxBatchEnvelopeBytes: number
  readonly maxVertices: number
  readonly maxParts: number
  readonly maxCollectionDepth: number
  readonly maxJsonDepth: number
  /** Bodies up to this size are parsed on the main thread; larger ones travel unparsed to the large lane. */
  readonly smallBodyBytes: number
  /** Up to here a body is computed on the main thread when that takes no longer than a message to another one; 0: never. */
  readonly inlineBodyBytes: number
  readonly computeThreads: number
  readonly largeThreads: number
  readonly maxBatchSize: number
  /** Requests waiting for a worker; beyond it the answer is 503. */
  readonly maxQueuedRequests: number
  /** Longest wait for a worker that is worth queueing for; beyond it, as estimated, the answer is 503. */
  readonly maxQueueMs: number
  /** Bytes of bodies held at one time, over all connections; beyond it the answer is 503. */
  readonly maxInFlightBytes: number
  readonly maxOpenBodiesPerAddress: number
  /** Of a body that was refused before its end, what is read and thrown away so that its client gets to its answer. */
  readonly refusedBodyBytes: number
  readonly refusedBodyMs: number
  readonly requestDeadlineMs: number
  /** Longest silence of a client that sends a stream of lines, as long as the service writes nothing to it either. */
  readonly streamIdleMs: number
  /** From the first byte of a request to the last byte of its body (node:http adapter; uWebSockets.js has its own 10 s). */
  readonly receiveTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly drainTimeoutMs: number
  readonly maxConnections: number
  /** Exact geodesic solves one distance may cost; beyond it the answer is 400. */
  readonly maxDistanceSolves: number
  /** The same in the small lane; a request that needs more is computed in the large lane. */
  readonly maxSmallDistanceSolves: number
  /** Bytes of geometries met before that each compute thread keeps, with their lookups. */
  readonly maxPreparedBytes: number
  readonly workerHeapMb: number
  /** Longest an added kind of evidence may take to load; and, in `plugin-test`, to be tried. */
  readonly pluginLoadMs: number
  readonly pluginTrialMs: number
  /** Longest that evidence may go on after its deadline, or while the service stops, before its thread is ended. */
  readonly evidenceGraceMs: number
  /** Of a thread's new objects, three times a semi-space: what stays in the processor's cache is collected faster. */
  readonly workerYoungHeapMb: number
  /** The same of the store's thread, through which pages of records go. */
  readonly storeYoungHeapMb: number
  readonly maxRateLimitSubjects: number
  /** From one look at the key file to the next. */
  readonly keyFileLookMs: number
  readonly maxUnresolvedInputs: number
  /** Largest answer of an RPC that is read. */
  readonly maxRpcResponseBytes: number
  readonly maxCachedSchemas: number
  /** How long a schema that is not registered is believed to stay so. */
  readonly unregisteredSchemaMs: number
  /** How often a chain's contracts and clock are compared with the table; and one that could not be reached, tried again. */
  readonly chainCheckIntervalMs: number
  readonly chainRetryIntervalMs: number
  /** A chain whose head is further ahead of our clock is refused: our deadlines would be in its past. */
  readonly maxHeadAheadSeconds: number
  /** Questions to the store that wait; beyond it the answer is 503. */
  readonly maxStoreQueue: number
  /** Connections to a PostgreSQL server for questions, and for what changes records. */
  readonly storeReaders: number
  readonly storeWriters: number
  readonly storeConnectMs: number
  /** Longest statement of a question, and of a change. */
  readonly storeReadMs: number
  readonly storeWriteMs: number
  /** Records of which columns are kept in memory, about 100 bytes each. */
  readonly storeMemoryRecords: number
  /** The embedded engine's thread is started again when a question does not come back for so long: longer than anybody waits. */
  readonly storeStuckMs: number
  /** From the start of the store's thread until it answers: the first start makes a database. */
  readonly storeOpenMs: number
  /** Longest wait of a request for a store that is opening; beyond it the answer is 503. */
  readonly storeWaitMs: number
  /** From one attempt to open a damaged store to the next. */
  readonly storeDamagedRetryMs: number
  /** How often a server is asked whether it is there; and one that is not, again. */
  readonly storePulseMs: number
  readonly storeRetryMs: number
  /** From one vacuum of the embedded database to the next. */
  readonly storeMaintenanceMs: number
  /** Of a question in GraphQL: fields in each other, fields of the answer with those of every record, words, bytes. */
  readonly maxGraphqlDepth: number
  readonly maxGraphqlCost: number
  readonly maxGraphqlTokens: number
  readonly maxGraphqlBytes: number
  /** Exports under way, and streams of changes open, in all and for one client; beyond it the answer is 503. */
  readonly maxExports: number
  readonly maxStreams: number
  readonly maxStreamsPerClient: number
  /** What an export reads at once, and a stream, of which there are many. */
  readonly exportPiece: { readonly records: number; readonly bytes: number }
  readonly streamPiece: { readonly records: number; readonly bytes: number }
  /** Questions to the store at one time for streams that are behind. */
  readonly maxStreamReads: number
  /** From one look into the journal to the next while somebody listens. */
  readonly streamPollMs: number
  /** Longest silence of a stream; at most a third of a request's time. */
  readonly streamHeartbeatMs: number
  /** A stream that is older is ended; its client goes on where it was. */
  readonly streamLifeMs: number
  /** Longest wait for one answer of an RPC while chains are read, and its largest answer. */
  readonly syncRpcTimeoutMs: number
  readonly maxSyncResponseBytes: number
  /** Longest time an RPC that failed is left alone. */
  readonly maxRpcBenchMs: number
  /** From one look at a chain's head to the next; of the local chain, which has a block whenever somebody wants one. */
  readonly syncPollMs: number
  readonly syncLocalPollMs: number
  readonly syncRangeBlocks: number
  readonly syncBlocksAtOnce: number
  readonly syncLogsAtOnce: number
  /** Ranges stored in one pass over a chain. */
  readonly syncStepsPerPass: number
  readonly maxAttestationBytes: number
  /** Attestations of one block with equal fields that are told apart: as many as fit into the gas of a block. */
  readonly maxEqualAttestations: number
  /** How long the process that reads the chains may be silent before another one takes over. */
  readonly syncLeaseMs: number
  /** From one comparison of all valid records with the chain to the next. */
  readonly syncSweepMs: number
  /** From one range read from a second endpoint to the next. */
  readonly syncAuditMs: number
  /** Longest `POST /api/sync?chain=` waits for the end; the work goes on after it. */
  readonly syncWaitMs: number
}

/** A name in the environment holds a value it must not: `trigpoint` exits with 78 and this message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * @param env the process's environment
 * @param cores processors available, the default of `COMPUTE_THREADS`
 * @throws {ConfigError} naming the variable, its value and what it may be
 */
export function readConfig(env: Environment, cores: number): Config {
  const read = reader(env)
  const production = env['NODE_ENV'] === 'production'
  const computeThreads = read.integer('COMPUTE_THREADS', cores, 0, 256)
  const requestDeadlineMs = read.integer('REQUEST_DEADLINE_MS', 10_000, 100, 600_000)
  const maxBodyBytes = read.integer('MAX_BODY_BYTES', 1_048_576, 1024, 64 * 1_048_576)
  // Half for whole lines, half for the beginning of the next one and what a transport reads at once (512 KiB).
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
      mode: read.choice('EVALUATION_MODE', ['local', 'tee', 'zk'] as const),
      method: read.shortText('EVALUATION_METHOD', 'multifactor-v0', 64),
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
      maxUnresolvedInputs: 256,
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

function readSampleRecords(isAsked: boolean, production: boolean, records: boolean): boolean {
  if (isAsked && production)
    throw new ConfigError('SAMPLE_RECORDS (--sample-records): production keeps no made-up records')
  if (isAsked && !records) throw new ConfigError('SAMPLE_RECORDS (--sample-records): RECORDS=0 keeps none')
  return isAsked
}

function readSubmission(read: ReturnType<typeof reader>): SubmissionConfig {
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
    keepMs: 30 * 86_400_000,
    countMs: 5000,
  }
}

function readLocalChain(read: ReturnType<typeof reader>, production: boolean): LocalChainConfig | undefined {
  const isAsked = read.flag('LOCAL_CHAIN', false)
  const port = read.integer('LOCAL_CHAIN_PORT', -1, 0, 65_535)
  if (!isAsked) return undefined
  if (production) {
    throw new ConfigError(
      'LOCAL_CHAIN (--chain): production has no chain of its own, for its keys are known to all: set RPC_URL_<chainId>',
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

/** Typed look-ups that name the variable when its value is out of bounds. An empty value counts as absent. */
function reader(env: Environment) {
  const refuse = (name: string, wanted: string): never => {
    throw new ConfigError(`${name}=${JSON.stringify(env[name])}: must be ${wanted}`)
  }
  const number = (name: string, fallback: number, low: number, high: number): number => {
    const text = env[name]?.trim()
    if (text === undefined || text === '') return fallback
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= low && value <= high)) {
      refuse(name, `a number from ${decimal(low)} to ${decimal(high)} in decimal digits, such as 1 or 0.5`)
    }
    return value
  }
  return {
    number,
    integer(name: string, fallback: number, low: number, high: number): number {
      const text = env[name]?.trim()
      if (text === undefined || text === '') return fallback
      return wholeNumber(text, low, high) ?? refuse(name, wholeNumberForm(low, high))
    },
    flag(name: string, fallback: boolean): boolean {
      const text = env[name]
      if (text === undefined || text === '') return fallback
      if (text === '1' || text === 'true') return true
      if (text === '0' || text === 'false') return false
      return refuse(name, '1 or 0')
    },
    /** The first choice is the default. */
    choice<const T extends readonly string[]>(name: string, choices: T): T[number] {
      const text = env[name] || choices[0]!
      return choices.includes(text) ? text : refuse(name, `one of ${choices.join(', ')}`)
    },
    shortText(name: string, fallback: string, mostCharacters: number): string {
      const text = env[name] || fallback
      const isShown = text.trim() !== '' && !/\p{C}/u.test(text)
      return isShown && text.length <= mostCharacters ? text : refuse(name, `text of 1 to ${mostCharacters} characters`)
    },
    url(name: string): string | undefined {
      const text = env[name]
      if (!text) return undefined
      if (!/^https?:\/\/\S+$/.test(text) || !URL.canParse(text)) refuse(name, 'an absolute http or https address')
      return text.replace(/\/+$/, '')
    },
    postgresUrl(name: string): string | undefined {
      const text = env[name]
      if (!text) return undefined
      // The value may hold a password: the message must not repeat it.
      if (!/^postgres(ql)?:\/\//.test(text))
        throw new ConfigError(`${name}: must begin with postgres:// or postgresql://`)
      return text
    },
    bytes32(name: string): string | undefined {
      const text = env[name]
      if (!text) return undefined
      return /^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : refuse(name, '0x and 64 hex digits')
    },
    list: (name: string): string[] => splitList(env[name]),
    /** Addresses and Ed25519 keys, lower case. A mistyped one would leave everybody unknown without a word. */
    keys(name: string): string[] {
      const entries = splitList(env[name])
      const isKey = (text: string) => /^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(text)
      if (!entries.every(isKey)) refuse(name, 'addresses or public keys (0x and 40 or 64 hex digits), with commas')
      return entries.map((entry) => entry.toLowerCase())
    },
  }
}

/** Decimal digits alone, so that every setting is read the same way: no exponent, no sign, no separators, no spaces. */
function wholeNumber(text: string, low: number, high: number): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= low && value <= high ? value : undefined
}

function wholeNumberForm(low: number, high: number): string {
  const example = Math.min(Math.max(low, 1000), high)
  return `a whole number from ${low} to ${high} in decimal digits, such as ${example}`
}

/** Without an exponent. */
function decimal(value: number): string {
  return value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 })
}

function splitList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** `0x…,0x…:four-strings` */
function readLocationSchemas(text: string | undefined): LocationSchema[] {
  const schemas = splitList(text).map((entry): LocationSchema => {
    const [, uid, layout] = /^(0x[0-9a-fA-F]{64})(?::(nine-fields|four-strings))?$/.exec(entry) ?? []
    if (uid !== undefined) return { uid: uid.toLowerCase(), layout: layout as LocationLayout | undefined }
    const wanted = 'UIDs (0x and 64 hex digits) with commas, each alone or followed by :nine-fields or :four-strings'
    throw new ConfigError(`LOCATION_SCHEMA_UID=${JSON.stringify(entry)}: must be ${wanted}`)
  })
  const twice = schemas.find(({ uid }, index) => schemas.findIndex((other) => other.uid === uid) !== index)
  if (twice !== undefined) throw new ConfigError(`LOCATION_SCHEMA_UID: ${twice.uid} is there twice`)
  return schemas
}

/** Beginnings of the settings that end with a chain's number. */
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
    const refuse = (wanted: string): never => {
      throw new ConfigError(`${name}=${JSON.stringify(value)}: must be ${wanted}`)
    }
    const blocks = () => wholeNumber(value, 0, MAX_BLOCKS) ?? refuse(wholeNumberForm(0, MAX_BLOCKS))
    const address = () => (/^0x[0-9a-fA-F]{40}$/.test(value) ? value : refuse('an address: 0x and 40 hex digits'))
    switch (match[1]) {
      case 'RPC_URL':
        chain.rpcUrls = splitList(value)
        for (const [place, url] of chain.rpcUrls.entries()) {
          if (/^https?:\/\//.test(url) && URL.canParse(url)) continue
          // An address often holds a key: the message must not repeat it.
          throw new ConfigError(`${name}: address ${place + 1} must be http or https; several are separated by commas`)
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
          (['legacy', 'v1', 'v2'] as const).find((profile) => profile === value) ?? refuse('legacy, v1 or v2')
    }
  }
  return chains
}

function readCronSecret(text: string | undefined): string | undefined {
  if (!text) return undefined
  // The message must not repeat it.
  if (text.length < 32) throw new ConfigError('CRON_SECRET: must have at least 32 characters')
  return text
}

function readApiKeys(text: string | undefined): ApiKey[] {
  if (!text) return []
  const refuse = (why: string): never => {
    // The value holds secrets: the message must not repeat it.
    throw new ConfigError(`API_KEYS: ${why}; expected {"<key>": {"tier": "developer" | "internal", "label": "…"}}`)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    refuse('not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) refuse('not an object')
  return Object.entries(parsed as Record<string, { tier?: unknown; label?: unknown } | null>).map(
    ([key, entry], index) => {
      const tier = entry?.tier
      if (tier !== 'public' && tier !== 'developer' && tier !== 'internal')
        return refuse(`entry ${index + 1} has no known tier`)
      return { key, tier, label: typeof entry?.label === 'string' ? entry.label : `key ${index + 1}` }
    },
  )
}
