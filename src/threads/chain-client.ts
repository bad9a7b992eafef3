import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Log } from '../base/log.ts'
import type { ChainAccessConfig, Config } from '../config/config.ts'
import { Requester, type RequestFailure } from '../wire/request-port.ts'
import type {
  AccountSignature,
  ChainOperations,
  ChainReply,
  ChainRequest,
  SyncAction,
  SyncEvent,
  SyncOutcome,
} from '../wire/sync-messages.ts'
import type { ChainAttestation, ChainResult, ChainState, Hex } from '../wire/values.ts'
import type { SignerClient } from './signer-client.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import type { StoreClient } from './store-client.ts'
import { type HostedThread, type ThreadEnd, ThreadHost } from './thread-host.ts'

/** Reading this many blocks in ranges of ten thousand takes some minutes. */
const MANY_BLOCKS = 1_000_000

/** Logs an event of the sync thread. */
export function logSyncEvent(log: Log, event: SyncEvent): void {
  switch (event.type) {
    case 'progress': {
      const { chainId, block, head, inserted, revoked, rolledBack } = event
      log.info('records synced', { chainId, block, head, inserted, revoked, rolledBack })
      break
    }
    case 'problem':
      log.warn('sync problem', { chainId: event.chainId, reason: event.message })
      break
    case 'contradictions':
      break // a problem says which
    case 'began': {
      const { chainId, from, block, head } = event
      // Reading all blocks may take hours and use up an RPC quota, although the old ones may contain nothing.
      const isLong = from === 0 && head - block > MANY_BLOCKS
      const hint = `to skip older blocks, set START_BLOCK_${chainId} for a new database: docs/sync.md`
      log.info('a chain is read for the first time', { chainId, from, block, head, ...(isLong ? { hint } : {}) })
      break
    }
    case 'lead':
      log.info(event.chainIds.length > 0 ? 'this process reads the chains' : 'this process does not read the chains', {
        chainIds: event.chainIds.join(','),
      })
      break
    case 'stopped':
      log.warn('sync is stopped by request', { hint: 'POST /api/sync/worker?action=start starts it again' })
  }
}

type Connector = (post: (request: ChainRequest, port: MessagePort) => void) => void

const START_TIMEOUT_MS = 30_000
const CLOSE_MS = 3000
const RESTARTING = 'the sync thread is restarting'

/**
 * Starts the sync thread, waits until it has verified the contracts of every chain it can reach, and connects the
 * signer to it. A thread that dies is restarted; until it is back, look-ups give `unreachable`.
 *
 * @param connect connects to the sync thread of the data process, instead of starting a thread of this process
 * @returns undefined when no chain has an RPC endpoint
 */
export async function startChainAccess(
  config: Config,
  log: Log,
  signer: Pick<SignerClient, 'connectNonces'> | undefined,
  store?: Pick<StoreClient, 'connect'>,
  connect: () => HostedThread<ChainRequest, ChainReply> = () => startWorker(config),
): Promise<ChainClient | undefined> {
  if (![...config.chains.values()].some(({ rpcUrls }) => rpcUrls.length > 0)) return undefined
  const client = new ChainClient({ config, log, signer, store, connect })
  await client.start()
  return client
}

function startWorker(config: Config): Worker {
  return new Worker(workerUrl('sync'), {
    name: 'sync',
    env: {}, // only the signer thread sees the environment
    workerData: {
      chains: config.chains,
      schemas: config.schemas,
      records: config.records,
      sync: config.sync,
      rpcTimeoutMs: config.rpcTimeoutMs,
      submission: config.submission,
      limits: config.limits,
    } satisfies ChainAccessConfig,
    resourceLimits: heapLimits(config),
  })
}

interface ChainClientParts {
  readonly config: Config
  readonly log: Log
  /** Undefined if this process does not sign. */
  readonly signer: Pick<SignerClient, 'connectNonces'> | undefined
  readonly store: Pick<StoreClient, 'connect'> | undefined
  readonly connect: () => HostedThread<ChainRequest, ChainReply>
}

/** The main thread's side of the sync thread, which is the only one that talks to RPC endpoints. */
export class ChainClient {
  readonly #log: Log
  readonly #limits: Config['limits']
  readonly #signer: Pick<SignerClient, 'connectNonces'> | undefined
  readonly #store: Pick<StoreClient, 'connect'> | undefined
  readonly #states: Map<number, ChainState>
  readonly #contradictions = new Map<number, number>()
  #onState: ((chainId: number, state: ChainState) => void) | undefined
  readonly #connectors: Connector[] = []
  readonly #requests = new Requester<ChainOperations>({
    notConnected: RESTARTING,
    ended: RESTARTING,
    toError: (failure) => new Error(lookupReason(failure)),
  })
  readonly #thread: ThreadHost<ChainRequest, ChainReply>
  /** Ends the thread's subscription to the store. */
  #leaveStore: (() => void) | undefined
  #hasStarted = false

  constructor({ config, log, signer, store, connect }: ChainClientParts) {
    this.#log = log
    this.#limits = config.limits
    this.#signer = signer
    this.#store = store
    const served = [...config.chains].filter(([, { rpcUrls }]) => rpcUrls.length > 0)
    this.#states = new Map(served.map(([chainId]) => [chainId, { state: 'unverified', reason: 'not checked yet' }]))
    this.#thread = new ThreadHost<ChainRequest, ChainReply>({
      title: 'the sync thread',
      create: connect,
      startMs: START_TIMEOUT_MS,
      firstPauseMs: 100,
      closeRequest: { type: 'close' },
      closeMs: CLOSE_MS,
      closeStartingMs: 0, // it has no store yet, so it writes nothing
      readStart: ({ type }) => type === 'ready',
      onReady: () => this.#connectAll(),
      onMessage: (reply) => this.#onReply(reply),
      onError: (error) => log.error('sync thread failed', { reason: String(error) }),
      onEnd: (end) => this.#onEnd(end),
    })
  }

  start(): Promise<void> {
    return this.#thread.start()
  }

  /** Returns true for a chain that has an RPC endpoint. */
  serves(chainId: number): boolean {
    return this.#states.has(chainId)
  }

  /**
   * Looks up an attestation. Never rejects: an unreachable chain gives `ok: false`, an unknown UID `value: undefined`.
   */
  attestation(chainId: number, uid: Hex): Promise<ChainResult<ChainAttestation>> {
    return this.#requests.ask('attestation', { chainId, uid }, this.#lookupLimits()).catch(unreachable)
  }

  /** Looks up the string registered under a schema UID; otherwise as `attestation`. */
  schemaString(chainId: number, uid: Hex): Promise<ChainResult<string>> {
    return this.#requests.ask('schema', { chainId, uid }, this.#lookupLimits()).catch(unreachable)
  }

  /** Asks the contract of an account about a signature; otherwise as `attestation`. */
  accountSignature(chainId: number, signature: AccountSignature): Promise<ChainResult<boolean>> {
    return this.#requests.ask('accountSignature', { chainId, ...signature }, this.#lookupLimits()).catch(unreachable)
  }

  /** Reads when an address revoked an off-chain attestation, 0 if it has not; otherwise as `attestation`. */
  offchainRevocation(chainId: number, attester: Hex, uid: Hex): Promise<ChainResult<bigint>> {
    return this.#requests.ask('offchainRevocation', { chainId, attester, uid }, this.#lookupLimits()).catch(unreachable)
  }

  /** Reads how much of a token an address holds; otherwise as `attestation`. */
  tokenBalance(chainId: number, token: Hex, holder: Hex): Promise<ChainResult<bigint>> {
    return this.#requests.ask('tokenBalance', { chainId, token, holder }, this.#lookupLimits()).catch(unreachable)
  }

  /** Returns why nothing is signed for a chain; undefined when it may be signed for. */
  refusalReason(chainId: number): string | undefined {
    const state = this.#states.get(chainId)
    return state?.state === 'refused' ? state.reason : undefined
  }

  /** Returns the state of every chain that has an RPC endpoint. */
  states(): ReadonlyMap<number, ChainState> {
    return this.#states
  }

  /** Returns, for every chain that has an RPC endpoint, the number of logs that stop this process's audit of it. See `Audit`. */
  contradictions(): ReadonlyMap<number, number> {
    return new Map([...this.#states.keys()].map((chainId) => [chainId, this.#contradictions.get(chainId) ?? 0]))
  }

  /** Calls a listener with every new state of a chain. */
  onState(listener: (chainId: number, state: ChainState) => void): void {
    this.#onState = listener
  }

  /** Runs an action of record synchronisation in the thread. Never rejects. */
  sync(action: SyncAction): Promise<SyncOutcome> {
    return this.#requests
      .ask('sync', action)
      .catch((error: Error): SyncOutcome => ({ state: 'failed', reason: error.message }))
  }

  /** Returns a port over which a signer reads nonces. It closes when the thread ends. */
  noncePort(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    // Without a thread the signer sees its port close, and asks for no nonces.
    if (!this.#thread.post({ type: 'nonces', port: port2 }, [port2])) port2.close()
    return port1
  }

  /** Calls `connector` with a function that posts a port to the thread, now and after every restart. */
  connect(connector: Connector): void {
    this.#connectors.push(connector)
    if (this.#thread.isReady) this.#connect(connector)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #lookupLimits() {
    return { timeoutMs: this.#limits.requestDeadlineMs, maxPending: this.#limits.maxQueuedRequests }
  }

  #connect(connector: Connector): void {
    connector((request, port) => this.#thread.post(request, [port]))
  }

  #connectAll(): void {
    if (this.#hasStarted) this.#log.info('sync thread started again')
    this.#hasStarted = true
    this.#requests.attach((call) => this.#thread.post(call))
    this.#signer?.connectNonces(() => this.noncePort())
    this.#leaveStore = this.#store?.connect((port) => this.#thread.post({ type: 'store', port }, [port]))
    for (const connector of this.#connectors) this.#connect(connector)
  }

  #onReply(reply: ChainReply): void {
    if (reply.type === 'event') this.#onEvent(reply.event)
    else if (reply.type === 'state') this.#setState(reply.chainId, reply.state)
    else this.#requests.receive(reply)
  }

  #onEvent(event: SyncEvent): void {
    if (event.type === 'contradictions') this.#contradictions.set(event.chainId, event.logs)
    // Another process audits the other chains from now on.
    if (event.type === 'lead') {
      for (const chainId of this.#contradictions.keys()) {
        if (!event.chainIds.includes(chainId)) this.#contradictions.delete(chainId)
      }
    }
    logSyncEvent(this.#log, event)
  }

  #setState(chainId: number, state: ChainState): void {
    this.#states.set(chainId, state)
    this.#onState?.(chainId, state)
    if (state.state === 'ok') this.#log.info('chain verified', { chainId })
    else if (state.state === 'unverified') this.#log.warn('chain not verified', { chainId, reason: state.reason })
    else this.#log.error('chain refused', { chainId, reason: state.reason })
  }

  /** Returns the pause before the thread is started again, in milliseconds. */
  #onEnd({ wasReady, code, error, pauseMs }: ThreadEnd): number {
    this.#requests.detach()
    this.#contradictions.clear()
    this.#leaveStore?.()
    if (this.#thread.isClosing) return pauseMs
    if (wasReady) this.#log.error('sync thread ended', { code })
    else this.#log.error('sync thread cannot start', { reason: String(error) })
    return pauseMs
  }
}

function lookupReason(failure: RequestFailure): string {
  if (failure.type === 'late') return 'the look-up took longer than its deadline'
  return failure.type === 'full' ? 'too many look-ups are waiting' : failure.reason
}

function unreachable({ message }: Error): Extract<ChainResult<never>, { ok: false }> {
  return { ok: false, reason: message, cause: 'unreachable' }
}
