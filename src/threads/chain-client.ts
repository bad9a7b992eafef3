import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Log } from '../base/log.ts'
import type { ChainAccessConfig, Config } from '../config/config.ts'
import type { ChainReply, ChainRequest, SyncAction, SyncEvent, SyncOutcome } from '../wire/sync-messages.ts'
import type { ChainAttestation, ChainResult, ChainState, Hex } from '../wire/values.ts'
import type { SignerClient } from './signer-client.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import type { StoreClient } from './store-client.ts'

/** Reading this many blocks in ranges of ten thousand takes some minutes. */
const MANY_BLOCKS = 1_000_000

/** Logs an event of the sync thread. */
export function logSyncEvent(log: Log, event: SyncEvent): void {
  switch (event.kind) {
    case 'progress': {
      const { chainId, block, head, inserted, revoked, rolledBack } = event
      log.info('records synced', { chainId, block, head, inserted, revoked, rolledBack })
      break
    }
    case 'problem':
      log.warn('sync problem', { chainId: event.chainId, reason: event.message })
      break
    case 'began': {
      const { chainId, from, block, head } = event
      // Reading all blocks may take hours and use up an RPC quota, although the old ones may contain nothing.
      const isLong = from === 0 && head - block > MANY_BLOCKS
      const hint = `to skip older blocks, set START_BLOCK_${chainId} for a new database: docs/sync.md`
      log.info('a chain is read for the first time', { chainId, from, block, head, ...(isLong ? { hint } : {}) })
      break
    }
    case 'lead':
      log.info(event.isHeld ? 'this process reads the chains' : 'this process does not read the chains')
      break
    case 'stopped':
      log.warn('sync is stopped by request', { hint: 'POST /api/sync/worker?action=start starts it again' })
  }
}

/** The main thread's side of the sync thread, which is the only one that talks to RPC endpoints. */
export interface ChainClient {
  /** Returns true for a chain that has an RPC endpoint. */
  serves(chainId: number): boolean
  /**
   * Looks up an attestation. Never rejects: an unreachable chain gives `ok: false`, an unknown UID `value: undefined`.
   */
  attestation(chainId: number, uid: Hex): Promise<ChainResult<ChainAttestation>>
  /** Looks up the string registered under a schema UID; otherwise as `attestation`. */
  schemaString(chainId: number, uid: Hex): Promise<ChainResult<string>>
  /** Returns why nothing is signed for a chain; undefined when it may be signed for. */
  refusal(chainId: number): string | undefined
  /** Returns the state of every chain that has an RPC endpoint. */
  states(): ReadonlyMap<number, ChainState>
  /** Runs an action of record synchronisation in the thread. Never rejects. */
  sync(action: SyncAction): Promise<SyncOutcome>
  /** Calls `connector` with a function that posts a port to the thread, now and after every restart. */
  connect(connector: (post: (request: ChainRequest, port: MessagePort) => void) => void): void
  close(): Promise<void>
}

type LookupRequest = Omit<Extract<ChainRequest, { type: 'attestation' }>, 'id' | 'type'> & {
  readonly type: 'attestation' | 'schema'
}
type LookupResult = ChainResult<ChainAttestation | string>

interface PendingLookup {
  readonly resolve: (result: LookupResult) => void
  readonly timer: NodeJS.Timeout
}

const START_TIMEOUT_MS = 30_000
const CLOSE_MS = 3000
const SYNC_LOST: SyncOutcome = { state: 'failed', reason: 'the sync thread is restarting' }
const LONGEST_RESTART_PAUSE_MS = 5000

/**
 * Starts the sync thread, waits until it has verified the contracts of every chain it can reach, and connects the
 * signer to it. A thread that dies is restarted; until it is back, look-ups give `unreachable`.
 *
 * @returns undefined when no chain has an RPC endpoint
 */
export async function startChainAccess(
  config: Config,
  log: Log,
  signer: Pick<SignerClient, 'connectNonces'>,
  store?: Pick<StoreClient, 'connect'>,
): Promise<ChainClient | undefined> {
  const served = [...config.chains].filter(([, { rpcUrls }]) => rpcUrls.length > 0).map(([chainId]) => chainId)
  if (served.length === 0) return undefined
  const { maxQueuedRequests, requestDeadlineMs } = config.limits
  const states = new Map<number, ChainState>(
    served.map((chainId) => [chainId, { state: 'unverified', reason: 'not checked yet' }]),
  )
  const pending = new Map<number, PendingLookup>()
  const pendingActions = new Map<number, (outcome: SyncOutcome) => void>()
  const connectors: ((post: (request: ChainRequest, port: MessagePort) => void) => void)[] = []
  let worker: Worker | undefined
  let nextId = 0
  let isClosing = false
  await open()

  return {
    serves: (chainId) => states.has(chainId),
    attestation: (chainId, uid) =>
      lookUp({ type: 'attestation', chainId, uid }) as Promise<ChainResult<ChainAttestation>>,
    schemaString: (chainId, uid) => lookUp({ type: 'schema', chainId, uid }) as Promise<ChainResult<string>>,
    refusal(chainId) {
      const state = states.get(chainId)
      return state?.state === 'refused' ? state.reason : undefined
    },
    states: () => states,
    sync(action) {
      if (worker === undefined) return Promise.resolve(SYNC_LOST)
      const id = nextId++
      worker.postMessage({ type: 'sync', id, action } satisfies ChainRequest)
      return new Promise((resolve) => pendingActions.set(id, resolve))
    },
    connect(connector) {
      connectors.push(connector)
      if (worker !== undefined) connector(postTo(worker))
    },
    async close() {
      isClosing = true
      const closing = worker
      if (closing === undefined) return
      const ended = new Promise((resolve) => closing.once('exit', resolve))
      closing.postMessage({ type: 'close' } satisfies ChainRequest)
      const timer = setTimeout(() => void closing.terminate(), CLOSE_MS)
      await ended
      clearTimeout(timer)
    },
  }

  function lookUp(request: LookupRequest): Promise<LookupResult> {
    if (worker === undefined) return Promise.resolve(unreachable('the sync thread is restarting'))
    if (pending.size >= maxQueuedRequests) return Promise.resolve(unreachable('too many look-ups are waiting'))
    const id = nextId++
    worker.postMessage({ ...request, id } satisfies ChainRequest)
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => settle(id, unreachable('the look-up took longer than its deadline')),
        requestDeadlineMs,
      )
      pending.set(id, { resolve, timer })
    })
  }

  function settle(id: number, result: LookupResult): void {
    const entry = pending.get(id)
    if (entry === undefined) return
    pending.delete(id)
    clearTimeout(entry.timer)
    entry.resolve(result)
  }

  async function open(): Promise<void> {
    const started = new Worker(workerUrl('sync'), {
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
    started.on('message', onReply)
    started.on('error', (error) => log.error('sync thread failed', { reason: String(error) }))
    await untilReady(started)
    if (isClosing) {
      await started.terminate()
      return
    }
    worker = started
    started.once('exit', (code) => {
      worker = undefined
      for (const id of [...pending.keys()]) settle(id, unreachable('the sync thread is restarting'))
      for (const resolve of pendingActions.values()) resolve(SYNC_LOST)
      pendingActions.clear()
      if (isClosing) return
      log.error('sync thread ended', { code })
      void reopen(100)
    })
    signer.connectNonces(() => {
      const { port1, port2 } = new MessageChannel()
      started.postMessage({ type: 'nonces', port: port2 } satisfies ChainRequest, [port2])
      return port1
    })
    store?.connect((port) => {
      if (worker === started) started.postMessage({ type: 'store', port } satisfies ChainRequest, [port])
      else port.close() // it belongs to a thread that has ended; the next one connects with its own port
    })
    for (const connector of connectors) connector(postTo(started))
  }

  async function reopen(pauseMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    if (isClosing) return
    try {
      await open()
      log.info('sync thread started again')
    } catch (error) {
      log.error('sync thread cannot start', { reason: String(error) })
      await reopen(Math.min(pauseMs * 2, LONGEST_RESTART_PAUSE_MS))
    }
  }

  function onReply(reply: ChainReply): void {
    if (reply.type === 'found') settle(reply.id, reply.result)
    else if (reply.type === 'event') logSyncEvent(log, reply.event)
    else if (reply.type === 'synced') {
      pendingActions.get(reply.id)?.(reply.outcome)
      pendingActions.delete(reply.id)
    }
    if (reply.type !== 'state') return
    const { chainId, state } = reply
    states.set(chainId, state)
    if (state.state === 'ok') log.info('chain verified', { chainId })
    else if (state.state === 'unverified') log.warn('chain not verified', { chainId, reason: state.reason })
    else log.error('chain refused', { chainId, reason: state.reason })
  }
}

function postTo(worker: Worker): (request: ChainRequest, port: MessagePort) => void {
  return (request, port) => worker.postMessage(request, [port])
}

function untilReady(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => end(new Error(`the sync thread did not start in ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    )
    const onMessage = ({ type }: ChainReply) => type === 'ready' && end()
    const onExit = (code: number) => end(new Error(`the sync thread ended while starting (${code})`))
    function end(error?: Error): void {
      clearTimeout(timer)
      worker.off('message', onMessage)
      worker.off('exit', onExit)
      if (error === undefined) resolve()
      else {
        void worker.terminate()
        reject(error)
      }
    }
    worker.on('message', onMessage)
    worker.on('exit', onExit)
  })
}

function unreachable(reason: string): LookupResult {
  return { ok: false, reason, cause: 'unreachable' }
}
