import { randomBytes } from 'node:crypto'
import { type Chain, chainTable } from './attest/chains.ts'
import { locationSchemas, schemaKinds, schemaUids } from './attest/schemas.ts'
import type { Log } from './base/log.ts'
import { Metrics } from './base/metrics.ts'
import type { ProblemData } from './base/problem.ts'
import type { BannerFacts } from './cli/banner.ts'
import { OPERATIONS } from './compute/operations.ts'
import { type Config, readConfig, readSome } from './config/config.ts'
import { ConfigError, checkAll, type Environment } from './config/setting.ts'
import { readSigningKey } from './config/signing-key.ts'
import { computes, servesClients } from './config/sync.ts'
import { createKeccak } from './crypto/keccak.ts'
import { loadSecp256k1 } from './crypto/secp256k1.ts'
import { ApiKeys } from './http/access/api-keys.ts'
import { developmentKeyEntries, loadDevelopmentKeys } from './http/access/dev-keys.ts'
import { hasLocalTier } from './http/access/internal-check.ts'
import { IssuerKeys } from './http/access/issuer-keys.ts'
import { NodeCounts } from './http/access/node-counts.ts'
import { SharedCounts } from './http/access/shared-counts.ts'
import { createApp } from './http/app.ts'
import type { AllMetrics } from './http/routes/operator-routes.ts'
import { problemJson } from './http/routes/respond.ts'
import { checkTiles } from './http/routes/tile-routes.ts'
import { type HttpServer, ListenError } from './http/transport/port.ts'
import { createHttpServer } from './http/transport/server.ts'
import { WarmUp } from './http/warm-up.ts'
import type { LocalChain } from './local-chain/local-chain.ts'
import { type AccountService, createAccountService, signInDomains } from './service/accounts/account-api.ts'
import { SessionTable } from './service/accounts/session-table.ts'
import { SignIn } from './service/accounts/sign-in.ts'
import { WalletTiers } from './service/accounts/wallet-tier.ts'
import { createBatchService, shareLimits } from './service/batch/batches.ts'
import { ChainPolicy } from './service/chains/chain-policy.ts'
import { SubmissionCounts } from './service/chains/submission-counts.ts'
import { createSubmissionService, type SubmissionService } from './service/chains/submissions.ts'
import { SyncApi } from './service/chains/sync.ts'
import { createComputeRefusal, createComputeService } from './service/compute/compute.ts'
import { createInputResolver } from './service/compute/inputs.ts'
import { createOffchainReader } from './service/compute/offchain.ts'
import { createResponseSigner } from './service/compute/signed-answer.ts'
import { JobCounts } from './service/jobs/job-metrics.ts'
import { createJobService } from './service/jobs/jobs.ts'
import { createKeyService } from './service/keys/key-api.ts'
import { watchKeyFile } from './service/keys/key-file.ts'
import { KeyTable } from './service/keys/key-table.ts'
import { KeyFile, type KeyRepository } from './service/keys/keys.ts'
import { Feeds } from './service/records/feeds.ts'
import type { GraphqlServiceParts } from './service/records/graphql.ts'
import { createOgcService } from './service/records/ogc.ts'
import type { GraphqlService } from './service/records/record-services.ts'
import { RecordApi } from './service/records/records.ts'
import { fillUntilStored } from './service/records/sample-records.ts'
import { createStoreAccess, STORE_BUSY } from './service/records/store-access.ts'
import type { Services } from './service/services.ts'
import { createIdentity, createReadiness } from './service/status.ts'
import { createStoredGeometries } from './service/stored/geometries.ts'
import { createSetService } from './service/stored/sets.ts'
import { createUsageService } from './service/usage/usage-api.ts'
import { UsageRecorder } from './service/usage/usage-recorder.ts'
import { createEvidenceRunner, readEvidenceSettings } from './service/verify/evidence.ts'
import { createResignService } from './service/verify/resign.ts'
import { createProofReader } from './service/verify/verified-proof.ts'
import { createVerifyService } from './service/verify/verify.ts'
import { type ChainClient, startChainAccess } from './threads/chain-client.ts'
import { type ComputePool, NO_COMPUTE_POOL, startComputePool } from './threads/compute-pool.ts'
import { type CrossChecks, createCrossChecks } from './threads/cross-checks.ts'
import type { DataLink } from './threads/data-link.ts'
import { type RelayClient, startRelay } from './threads/relay-client.ts'
import { type SignerClient, startSigner } from './threads/signer-client.ts'
import { StoreClient, type StoreState } from './threads/store-client.ts'
import type { JobChunk } from './wire/job-messages.ts'
import type { RelayState } from './wire/relay-messages.ts'
import type { Hex } from './wire/values.ts'

/** A service that has started. */
export interface RunningService {
  readonly facts: Omit<BannerFacts, 'readySeconds'>
  /** Resolves with the reason when this process can no longer sign. */
  readonly lost: Promise<Error>
  readonly metrics: Metrics
  /**
   * Stops accepting requests, answers those in flight, ends the threads.
   *
   * @param isReplaced true if another process answers on the port
   */
  stop(isReplaced?: boolean): Promise<void>
}

/** What one of several HTTP processes gets from the supervisor. */
export interface ProcessPart {
  /** The file descriptor from which the signer reads the key. */
  readonly keyDescriptor: number
  /** The connections to the data process. */
  readonly data: DataLink
  readonly allMetrics: AllMetrics
  /** How many HTTP processes answer, of how many. */
  readonly processes: () => { readonly running: number; readonly expected: number }
}

export const MAX_PORTS_TRIED = 100
/** Share of the drain time after which open computations are abandoned, so that their clients still receive an error. */
const ABANDON_AFTER = 0.8

export interface Build {
  readonly version: string
  readonly commit: string
}

/**
 * Reads the settings of a service. One error names all that are invalid, that contradict each other, or that are missing (decision 114).
 *
 * @param env without the values of the signing key
 * @param hasSecretKey true if a setting holds the key itself; the signer thread then checks it
 * @throws {ConfigError} with every fault
 */
export function readServiceConfig(env: Environment, cores: number, hasSecretKey: boolean): Config {
  const some = <const M extends keyof Config>(...members: M[]) => readSome(env, cores, members)
  let config: Config | undefined
  checkAll([
    () => {
      config = readConfig(env, cores)
    },
    () => {
      if (!hasSecretKey) readSigningKey(env, some('dataDir', 'production', 'allowDevelopmentKey'))
    },
    () => requireDatabase(some('records', 'databaseUrl', 'allowEmbeddedDatabase')),
    () => requireSubmissionStore(some('submission', 'records')),
    () => signInDomains(some('signIn', 'signInDomains', 'requireApiKey', 'records', 'production', 'publicUrl')),
    () => chainTable(some('chains')),
    () => schemaKinds(some('schemas')),
  ])
  return config!
}

function requireDatabase(settings: Pick<Config, 'records' | 'databaseUrl' | 'allowEmbeddedDatabase'>): void {
  const { records, databaseUrl, allowEmbeddedDatabase } = settings
  if (!records || databaseUrl !== undefined || allowEmbeddedDatabase) return
  throw new ConfigError(
    'the embedded database is not enabled in production: set DATABASE_URL, or EMBEDDED_DB=1 (--embedded-db), or RECORDS=0',
  )
}

function requireSubmissionStore({ submission, records }: Pick<Config, 'submission' | 'records'>): void {
  if (submission === undefined || records) return
  throw new ConfigError('ENABLE_ONCHAIN_SUBMIT=1 stores submissions in the database: remove RECORDS=0')
}

/**
 * Starts all threads and the HTTP listener. The listener starts last.
 *
 * @param part set if this is one of several processes. Store, sync and relay then run in the data process.
 * @throws {ConfigError | ListenError} the message says how to fix it
 */
export async function startService(
  config: Config,
  log: Log,
  build: Build,
  localChain?: Pick<LocalChain, 'facts' | 'fund'>,
  part?: ProcessPart,
): Promise<RunningService> {
  if (config.mapTiles !== undefined) checkTiles(config.mapTiles)
  const chains = chainTable(config)
  const locations = locationSchemas(config)
  const basics: Basics = { config, log, build, chains, locations, evidence: await readEvidenceSettings(config) }
  const metrics = new Metrics()
  const warmUp = createWarmUp(basics)
  const threads = await startThreads(basics, metrics, localChain, part)
  const { signer, store, chainClient, relay, pool, crossChecks } = threads
  const { services, submissions, keyTable, keyFile, sessions } = await createServices(
    basics,
    threads,
    metrics,
    part,
    warmUp,
  )
  crossChecks?.begin()
  const keys = config.production ? undefined : loadDevelopmentKeys(config.dataDir)
  const extraKeys = keys === undefined ? [] : developmentKeyEntries(keys)
  const { allMetrics, data } = part ?? {}
  const nodeCounts = await startNodeCounts(config, log)
  registerLimitMetrics(metrics, nodeCounts)
  const shares = nodeCounts ?? (data && new SharedCounts(() => data.port('limits')))
  const apiKeys = new ApiKeys([...config.apiKeys, ...extraKeys], keyTable !== undefined, sessions && config.walletTier)
  sessions?.follow()
  keyTable?.follow(
    (update) => apiKeys.update(update),
    () => apiKeys.takeUses(),
  )
  const issuerKeys = openIssuerKeys(config, log, metrics)
  const usage = openUsage(config, log, store, metrics)
  const parts = {
    config,
    log,
    metrics,
    allMetrics,
    shares,
    now: Date.now,
    services,
    keys: apiKeys,
    issuerKeys,
    sessions,
    usage,
  }
  const app = createApp(parts)
  keyFile?.follow((stored) => apiKeys.setStored(stored))
  const stopKeyWatch = watchKeyFile(
    config.apiKeysFile,
    config.limits.keyFilePollMs,
    (stored) => apiKeys.setStored(stored),
    (reason) => {
      apiKeys.setStored(undefined)
      log.warn('cannot read the file of API keys: none of its keys is valid until it can be read', { reason })
    },
  )
  const server = createHttpServer(config, app.handler, log)
  registerServerMetrics(metrics, pool, server)
  registerProcessMetrics(metrics, build)
  const isAlone = part === undefined
  const counts = isAlone ? startDataCounts(config, threads) : undefined
  if (counts !== undefined) registerDataMetrics(metrics, { store, relay, chainClient, counts })
  // If other processes count too, they have to know of this one before it counts. An embedded database of one process opens after the
  // listener, because creating it takes seconds.
  const opensFirst = !isAlone || config.databaseUrl !== undefined
  if (opensFirst) {
    store?.open()
    await usage?.register(REGISTER_MS)
  }
  const port = isAlone ? await listen(server, config) : await server.listen(config.host, config.port, true)
  if (!opensFirst) {
    store?.open()
    void usage?.register(config.limits.storeOpenMs)
  }
  void warmUp?.run(services, store?.untilOpen(Date.now() + config.limits.storeOpenMs), pool.warmedUp)
  if (isAlone && store !== undefined && config.sampleRecords) storeSampleRecords(store, basics)

  return {
    facts: { ...bannerFacts(basics, threads, server, port), localChain: localChain?.facts, apiKeys: keys },
    lost: signer.lost,
    metrics,
    async stop(isReplaced) {
      // Computations that cannot finish before the sockets close still get a response.
      const abandon = setTimeout(() => pool.abandon(), config.limits.drainTimeoutMs * ABANDON_AFTER)
      warmUp?.close()
      stopKeyWatch()
      keyTable?.close()
      sessions?.close()
      issuerKeys?.close()
      // Otherwise the server would wait for open streams.
      services.feeds.close()
      services.sync.close()
      submissions.close() // the relay continues with them after the next start
      counts?.close()
      await services.jobs.close()
      await server.close(isReplaced)
      clearTimeout(abandon)
      await usage?.close()
      await nodeCounts?.close()
      await pool.close()
      await crossChecks?.close()
      // The sync thread returns its lease to the store before the store closes.
      await Promise.all([signer.close(), chainClient?.close()])
      await store?.close()
    },
  }
}

/** Longest wait of the start for the database that is told of it. */
const REGISTER_MS = 2000

/** Returns the warm-up of this process; undefined outside production, where tools and tests start often, and where no client asks. */
function createWarmUp({ config, chains, log }: Basics): WarmUp | undefined {
  if (!config.production || !computes(config.role) || !servesClients(config.role)) return undefined
  const chainIds = [...chains.values()].filter(({ rpcUrls }) => rpcUrls.length === 0).map(({ id }) => id)
  return new WarmUp({ config, log, chainIds })
}

function bannerFacts(
  { config, build }: Basics,
  { signer, chainClient }: Threads,
  { adapter }: HttpServer,
  port: number,
): Omit<BannerFacts, 'readySeconds' | 'localChain' | 'apiKeys'> {
  return {
    ...build,
    node: process.versions.node,
    threads: computes(config.role) ? config.limits.computeThreads : undefined,
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    adapter,
    busyPort: config.port !== 0 && port !== config.port ? config.port : undefined,
    chains: chainLine(config, chainClient !== undefined),
    attester: signer.address,
    developmentKey: signer.keyKind === 'development',
    secp256k1: signer.backend,
    publicPerHour: config.requestsPerHour.public,
    localPerHour: hasLocalTier(config) ? config.requestsPerHour.internal : undefined,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies.join(','),
    walletTier: signInDomains(config) === undefined ? undefined : config.walletTier,
  }
}

/** What is read from the settings before the first thread starts, so that a mistake in them ends the start at once. */
interface Basics {
  readonly config: Config
  readonly log: Log
  readonly build: Build
  readonly chains: ReadonlyMap<number, Chain>
  readonly locations: ReturnType<typeof locationSchemas>
  readonly evidence: Awaited<ReturnType<typeof readEvidenceSettings>>
}

interface Threads {
  readonly signer: SignerClient
  /** Undefined if the service stores no records. */
  readonly store: StoreClient | undefined
  /** Undefined if no chain has an RPC endpoint. */
  readonly chainClient: ChainClient | undefined
  /** Undefined if the service submits nothing. */
  readonly relay: RelayClient | undefined
  readonly pool: ComputePool
  /** Undefined if no answer is checked. */
  readonly crossChecks: CrossChecks | undefined
}

/**
 * Starts all threads. The order keeps the key in one thread: the signer starts first and removes the key from the environment,
 * then all other threads start with an empty environment.
 */
async function startThreads(
  { config, log, chains, evidence }: Basics,
  metrics: Metrics,
  localChain: Pick<LocalChain, 'fund'> | undefined,
  part: ProcessPart | undefined,
): Promise<Threads> {
  const data = part?.data
  const signer = await startSigner(config, log, part?.keyDescriptor)
  await localChain?.fund(signer.address) // before the relay checks its balance
  const store = config.records ? new StoreClient(config, log, data && (() => data.store())) : undefined
  // In the data process, the sync thread reaches the store itself.
  const chainClient =
    data === undefined
      ? await startChainAccess(config, log, signer, store)
      : await startChainAccess(config, log, signer, undefined, () => data.chains())
  const modules = { compute: () => import('../workers/compute.ts'), inline: () => import('../workers/inline.ts') }
  const crossChecks =
    computes(config.role) && config.limits.crossCheckShare > 0
      ? createCrossChecks({ limits: config.limits, log, metrics, operations: Object.keys(OPERATIONS) })
      : undefined
  const pool = computes(config.role)
    ? await startComputePool(config, {
        chainIds: [...chains.keys()],
        evidence: evidence.settings,
        modules,
        takeSample: crossChecks?.offer,
      })
    : NO_COMPUTE_POOL
  const canSubmit = config.submission && chainClient && store
  const startOwnRelay = () =>
    data?.relay([...chainClient!.states().keys()]) ?? startRelay({ chainClient: chainClient!, signer, log })
  const relay = canSubmit && (config.role === 'api' ? otherRelay(chainClient) : startOwnRelay())
  return { signer, store, chainClient, relay, pool, crossChecks }
}

/** The relay of other nodes, which send the submissions that this one stores. Their state is unknown here. */
function otherRelay(chainClient: ChainClient): RelayClient {
  const chainIds = [...chainClient.states().keys()]
  const state: RelayState = { state: 'unknown', reason: 'other nodes send' }
  return { state: (chainId) => (chainClient.serves(chainId) ? state : undefined), events: () => [], chainIds }
}

/** Builds what the routes call, from the threads up. */
async function createServices(
  { config, log, build, chains, locations, evidence }: Basics,
  { signer, store, chainClient, relay, pool, crossChecks }: Threads,
  metrics: Metrics,
  part: ProcessPart | undefined,
  warmUp: WarmUp | undefined,
): Promise<{
  readonly services: Services
  readonly submissions: SubmissionService
  /** Undefined without a PostgreSQL server. */
  readonly keyTable: KeyTable | undefined
  /** Undefined with a key table. */
  readonly keyFile: KeyFile | undefined
  /** Undefined if wallets cannot sign in. */
  readonly sessions: SessionTable | undefined
}> {
  const now = Date.now
  const schemas = schemaUids(config)
  const { allowAnySchema } = config
  const policy = new ChainPolicy({ chains, schemas, builtInKinds: schemaKinds(config), allowAnySchema, chainClient })
  const runEvidence = createEvidenceRunner(config, pool, now)
  const readProof = await createProofReader({ config, chains, schemas, signer, chainClient, runEvidence, now })
  const geometries = createStoredGeometries({ config, pool, now }, store)
  const readOffchain = await createOffchainReader({ chains, chainClient, now })
  const resolver = createInputResolver({
    chainClient,
    locations,
    readOffchain,
    readProof,
    storedShapes: geometries,
    now,
  })
  const answers = createResponseSigner(signer, policy, () => `0x${randomBytes(32).toString('hex')}`)
  const keccak = await createKeccak()
  const submissions = createSubmissionService({ config, relay, store, signer, keccak, now })
  const parts = {
    config,
    pool,
    runEvidence,
    chains: policy,
    resolver,
    storedShapes: geometries,
    answers,
    signer,
    keccak,
    submissions,
    now,
  }
  const batchParts = shareLimits(parts)
  const askRecords = createStoreAccess({ config, store, now })
  const askPatiently = createStoreAccess({ config, store, now, answerMs: config.limits.requestDeadlineMs })
  const records = new RecordApi({ config, chains, ask: askRecords, askPatiently, now })
  const keyTable = openKeyTable(config, log, store)
  const { maxJsonDepth, maxApiKeys } = config.limits
  const keyFile = keyTable === undefined ? new KeyFile(config.apiKeysFile, maxApiKeys) : undefined
  const keys = keyTable ?? keyFile!
  const accounts = await openAccounts({ config, log, chains }, { store, chainClient }, keys, metrics)
  const services: Services = {
    compute: createComputeService(parts),
    isCrowded: () => signer.isCrowded || pool.isCrowded || store?.isCrowded === true,
    computeRefusal: createComputeRefusal(parts),
    recordRefusal: (client) => (store?.refuses(client) === true ? STORE_BUSY : undefined),
    ...createBatchService(batchParts),
    geometries,
    sets: createSetService(batchParts, store),
    jobs: createJobService({ ...batchParts, log, problemJson: jobProblemJson }, store, metrics),
    keys: createKeyService({ repository: keys, maxJsonDepth, now }),
    accounts: accounts?.service,
    usage: store && createUsageService({ store, keys, answerMs: config.limits.storeReadMs, now }),
    ...createVerifyService({ ...parts, addedPlugins: evidence.plugins }),
    submission: (id, context) => submissions.submission(id, context),
    watchSubmission: (id, context, sink) => submissions.watch(id, context, sink),
    records,
    graphql: config.graphql && config.records ? await startGraphql({ config, records, now }) : undefined,
    feeds: new Feeds({ config, chains: chainIdsByName(chains), ask: askRecords, now }),
    sync: new SyncApi({ config, chains, chainClient, ask: askRecords, now }),
    ogc: createOgcService({
      chains,
      ask: askRecords,
      version: build.version,
      now,
      pageBytes: config.limits.featurePageBytes,
    }),
    resign: await createResignService({ config, signer, chains: policy, now }),
    readiness: createReadiness({
      pool,
      signer,
      chainClient,
      store,
      log,
      processes: part?.processes,
      crossChecks,
      warmUp,
    }),
    identity: createIdentity({ config, chains, schemas, signer, ...build }),
  }
  return { services, submissions, keyTable, keyFile, sessions: accounts?.sessions }
}

/** Begins to read the keys of the token issuer; undefined if no tokens are accepted. */
function openIssuerKeys({ tokens }: Config, log: Log, metrics: Metrics): IssuerKeys | undefined {
  if (tokens === undefined) return undefined
  const { keySet: source, allowsPrivateAddresses } = tokens
  const keys = new IssuerKeys({ source, allowsPrivateAddresses, log, now: Date.now, metrics })
  keys.start()
  return keys
}

/** Opens the accounts of wallets; undefined if wallets cannot sign in. @throws {ConfigError} if a setting for it is missing */
async function openAccounts(
  { config, log, chains }: Pick<Basics, 'config' | 'log' | 'chains'>,
  { store, chainClient }: Pick<Threads, 'store' | 'chainClient'>,
  repository: KeyRepository,
  metrics: Metrics,
): Promise<{ readonly service: AccountService; readonly sessions: SessionTable } | undefined> {
  const domains = signInDomains(config)
  if (domains === undefined || store === undefined || !servesClients(config.role)) return undefined
  const { limits, walletTier: tier, walletTierToken: holders } = config
  if (holders !== undefined && chainClient?.serves(holders.chainId) !== true)
    throw new ConfigError(
      `WALLET_TIER_TOKEN needs RPC_URL_${holders.chainId}: chain ${holders.chainId} has no RPC endpoint`,
    )
  const { storeWriteMs: answerMs, keyTablePollMs: pollMs, maxKeysPerAccount: maxKeys, maxJsonDepth } = limits
  const now = Date.now
  const sessions = new SessionTable({ store, log, pollMs, answerMs, now })
  const settings = {
    domains: domains === 'loopback' ? undefined : domains,
    tokenSeconds: limits.sessionTokenSeconds,
    sessionSeconds: limits.sessionSeconds,
    refreshReuseSeconds: limits.refreshReuseSeconds,
    nonceSeconds: limits.signInNonceSeconds,
    maxNonces: limits.maxSignInNonces,
    maxNoncesPerClient: limits.maxSignInNoncesPerClient,
    maxSessions: limits.maxSessions,
    maxSessionsPerAccount: limits.maxSessionsPerAccount,
    answerMs,
  }
  const [keccak, secp256k1] = [await createKeccak(), await loadSecp256k1()]
  const chainIds = new Set(chains.keys())
  const waitMs = limits.walletTierTokenMs
  const tiers = new WalletTiers({ walletTier: tier, holders, chainClient, waitMs, log, now, metrics })
  const signIn = new SignIn({
    settings,
    store,
    sessions,
    tiers,
    chainIds,
    chainClient,
    keccak,
    secp256k1,
    now,
    metrics,
  })
  metrics.gauge('sessions', 'Sessions of wallets that have a token', () => sessions.size)
  const limitsOfAccounts = {
    requestsPerHour: config.requestsPerHour,
    addressRequestsPerHour: config.walletAddress.requestsPerHour,
  }
  const service = createAccountService({
    signIn,
    repository,
    tiers,
    tier,
    ...limitsOfAccounts,
    maxKeys,
    maxJsonDepth,
    now,
    metrics,
  })
  return { service, sessions }
}

/** Returns the keys of the PostgreSQL database, where all nodes find them; undefined if the service uses none. */
function openKeyTable(config: Config, log: Log, store: StoreClient | undefined): KeyTable | undefined {
  if (store === undefined || config.databaseUrl === undefined) return undefined
  const { keyTablePollMs: pollMs, maxApiKeys: maxKeys, storeWriteMs: answerMs } = config.limits
  return new KeyTable({ store, log, pollMs, maxKeys, answerMs, now: Date.now })
}

/** Begins to count what each key uses; returns undefined if the process has no store, or no clients. */
function openUsage(
  { role, limits }: Config,
  log: Log,
  store: StoreClient | undefined,
  metrics: Metrics,
): UsageRecorder | undefined {
  if (store === undefined || !servesClients(role)) return undefined
  const { usageFlushMs: flushMs, usageKeepDays: keepDays, maxUsageRows: maxRows, storeWriteMs: answerMs } = limits
  return new UsageRecorder({ store, log, metrics, flushMs, keepDays, maxRows, answerMs, now: Date.now })
}

/** Returns the JSON of a problem of a job, as a single request would get it. */
function jobProblemJson({ id, options }: JobChunk['job'], problem: ProblemData): string {
  const { errorTypeBase } = options
  return problemJson({ errorTypeBase, path: `/compute/v0/jobs/${id}`, requestId: id }, problem)
}

function chainIdsByName(chains: ReadonlyMap<number, Chain>): ReadonlyMap<string, number> {
  return new Map([...chains.values()].map(({ id, name }) => [name, id]))
}

/** Loads the `graphql` package at the start, because that takes a tenth of a second, and only if `/graphql` is served. */
async function startGraphql(parts: GraphqlServiceParts): Promise<GraphqlService> {
  const { createGraphqlService } = await import('./service/records/graphql.ts')
  return createGraphqlService(parts)
}

/** What is counted in the store for the metrics, once on a machine. */
interface DataCounts {
  /** Undefined if the service submits nothing. */
  readonly submissions: SubmissionCounts | undefined
  /** Undefined if it stores nothing. */
  readonly jobs: JobCounts | undefined
  close(): void
}

export function startDataCounts(
  config: Config,
  threads: { readonly [Name in 'signer' | 'store' | 'relay']: Threads[Name] | undefined },
): DataCounts {
  const submissions = startSubmissionCounts(config, threads)
  const jobs = threads.store && new JobCounts(threads.store, config.limits)
  const close = () => {
    submissions?.close()
    jobs?.close()
  }
  return { submissions, jobs, close }
}

function startSubmissionCounts(
  config: Config,
  { signer, store, relay }: { readonly [Name in 'signer' | 'store' | 'relay']: Threads[Name] | undefined },
): SubmissionCounts | undefined {
  if (config.submission === undefined || signer === undefined || relay === undefined || store === undefined)
    return undefined
  return new SubmissionCounts({
    store,
    sender: signer.address.toLowerCase() as Hex,
    chainIds: relay.chainIds,
    settings: config.submission,
    now: Date.now,
  })
}

/** Stores generated records in the background, while the service already runs. The log reports when they are stored. */
export function storeSampleRecords(
  store: StoreClient,
  { config, log, chains }: Pick<Basics, 'config' | 'log' | 'chains'>,
): void {
  const onRetry = (reason: string) =>
    log.warn('no sample records stored yet: the service tries again every few seconds', { reason })
  fillUntilStored(onRetry, store, chainIdsByName(chains), config.limits, Date.now).then(
    ({ stored, reason }) =>
      reason === undefined
        ? log.info('sample records stored', { records: stored, page: '/explore/records' })
        : log.warn('no sample records stored', { reason }),
    (error: Error) => log.warn('no sample records stored', { reason: error.message }),
  )
}

/** Starts to share the hourly counts with the other nodes of a PostgreSQL database. */
async function startNodeCounts(config: Config, log: Log): Promise<NodeCounts | undefined> {
  const { databaseUrl, limits } = config
  // Only nodes that answer clients share the limits.
  if (databaseUrl === undefined || !config.records || !servesClients(config.role)) return undefined
  const { openClientHours } = await import('./store/client-hours.ts')
  const waitMs = limits.sharedLimitWaitMs
  return new NodeCounts({
    hours: openClientHours({
      url: databaseUrl,
      connectTimeoutMs: limits.storeConnectMs,
      // What comes later is of no use to a request.
      writeTimeoutMs: Math.max(waitMs, 1000),
      onLost: () => {},
    }),
    now: Date.now,
    waitMs,
    excessPercent: limits.sharedLimitExcessPercent,
    onChange: (isAway, reason) =>
      isAway
        ? log.warn('the database does not answer: this node counts requests alone', { reason })
        : log.info('nodes count requests together again'),
  })
}

/** Registers how the limits are shared. Without a database for it the metrics have a name but no values. */
function registerLimitMetrics(metrics: Metrics, counts: NodeCounts | undefined): void {
  metrics.gauge('limit_database_away', '1 while the database that counts for all nodes does not answer', () =>
    counts?.isAway === true ? 1 : 0,
  )
  metrics.samples(
    'limit_answered_alone_total',
    'Requests and items that were counted by this node alone, because the database did not answer',
    'counter',
    () => [[{}, counts?.answeredAway ?? 0]],
  )
}

/** Registers what waits in an HTTP process; the values are read when the metrics are rendered. */
function registerServerMetrics(metrics: Metrics, pool: ComputePool, server: HttpServer): void {
  metrics.gauge('http_in_flight', 'Requests read and not answered', () => server.inFlight)
  metrics.gauge('worker_queue_depth', 'Requests and chunks that wait for a compute thread', () => pool.queueSize)
}

/** Registers what any process uses. */
export function registerProcessMetrics(metrics: Metrics, build: Build): void {
  metrics.gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss())
  metrics.samples('process_cpu_seconds_total', 'User and system time of all threads', 'counter', () => {
    const { user, system } = process.cpuUsage()
    return [[{}, (user + system) / 1e6]]
  })
  metrics.samples('event_loop_active_seconds_total', 'Time in which the event loop was busy', 'counter', () => [
    [{}, performance.eventLoopUtilization().active / 1000],
  ])
  metrics.gauge('process_uptime_seconds', 'Since the process began', () => process.uptime())
  metrics.gauge('build_info', 'Always 1', () => 1, { ...build, node: process.versions.node })
}

/** Registers the metrics of what runs once on a machine. */
export function registerDataMetrics(
  metrics: Metrics,
  parts: Pick<Threads, 'store' | 'relay' | 'chainClient'> & { readonly counts: DataCounts },
): void {
  registerStoreMetrics(metrics, parts.store)
  metrics.samples('sync_contradictions', 'Logs that stop the audit of a chain', 'gauge', () =>
    [...(parts.chainClient?.contradictions() ?? [])].map(([id, logs]) => [{ chain_id: String(id) }, logs]),
  )
  registerSubmissionMetrics(metrics, parts.relay, parts.counts.submissions)
  parts.counts.jobs?.register(metrics)
}

/** Registers the state of the store. Without a store the metric has a name but no values. */
function registerStoreMetrics(metrics: Metrics, store: StoreClient | undefined): void {
  metrics.samples('store_state', '1 for the state in which the store is, 0 for the others', 'gauge', () =>
    store === undefined ? [] : STORE_STATES.map((state) => [{ state }, stateName(store.state) === state ? 1 : 0]),
  )
}

const STORE_STATES = ['open', 'full', 'opening', 'slow', 'away', 'damaged'] as const

function stateName(state: StoreState): (typeof STORE_STATES)[number] {
  if (!state.isOpen) return state.condition
  return state.fullReason === undefined ? 'open' : 'full'
}

/** Registers the metrics of the relay. Without a relay they have names but no values. */
function registerSubmissionMetrics(metrics: Metrics, relay?: RelayClient, counts?: SubmissionCounts): void {
  const chainLabels = (id: number) => ({ chain_id: String(id) })
  metrics.samples('submissions', 'Submissions by status', 'gauge', () =>
    (counts?.counts() ?? []).map(({ chainId, status, count }) => [{ ...chainLabels(chainId), status }, count]),
  )
  metrics.samples(
    'submission_oldest_seconds',
    'Seconds since the oldest submission without a block was stored',
    'gauge',
    () => (counts?.oldestSeconds() ?? []).map(({ chainId, seconds }) => [chainLabels(chainId), seconds]),
  )
  metrics.samples('submission_events_total', 'Submissions that were sent, mined or reverted', 'counter', () =>
    (relay?.events() ?? []).map(({ chainId, event, count }) => [{ ...chainLabels(chainId), event }, count]),
  )
  metrics.samples('relay_ready', '1 if the relay of a chain is ready to send', 'gauge', () =>
    (relay?.chainIds ?? []).map((id) => [chainLabels(id), relay?.state(id)?.state === 'ready' ? 1 : 0]),
  )
}

/** Listens on the configured port or, if none is configured, on the first free port from the default on. */
async function listen(server: HttpServer, config: Config): Promise<number> {
  for (let port = config.port; ; port++) {
    try {
      return await server.listen(config.host, port)
    } catch (error) {
      const isBusy = error instanceof ListenError && error.failure === 'in-use'
      if (!isBusy || config.isPortSet || port >= config.port + MAX_PORTS_TRIED) throw error
    }
  }
}

function chainLine(config: Config, hasAccess: boolean): string {
  const connected = [...config.chains].filter(([, { rpcUrls }]) => rpcUrls.length > 0).map(([id]) => id)
  return hasAccess ? `RPC for ${connected.join(', ')}` : 'no RPC (set RPC_URL_<chainId>): nonces start at 0'
}
