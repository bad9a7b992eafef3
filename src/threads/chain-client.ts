import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { ChainAccessConfig, Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { ChainAttestation, ChainResult, ChainState, Hex } from '../messages.ts'
import type { ChainReply, ChainRequest, SyncAction, SyncOutcome } from '../sync-messages.ts'
import type { SignerClient } from './signer-client.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import type { StoreClient } from './store-client.ts'
import { logSyncEvent } from './sync-log.ts'

/** Main's side of the chain thread, which alone talks to RPCs. */
export interface ChainClient {
  /** True for a chain that has an RPC. */
  serves(chainId: number): boolean
  /** Never rejects: an unreachable chain is `ok: false`, an unknown UID `value: undefined`. */
  attestation(chainId: number, uid: Hex): Promise<ChainResult<ChainAttestation>>
  /** The string registered under a schema UID; as `attestation`. */
  schemaString(chainId: number, uid: Hex): Promise<ChainResult<string>>
  /** Why nothing is signed for a chain, or undefined. */
  refusal(chainId: number): string | undefined
  /** Every chain that has an RPC. */
  states(): ReadonlyMap<number, ChainState>
  /** Tells the thread what to do with the records of the chains. Never rejects. */
  sync(action: SyncAction): Promise<SyncOutcome>
  /** Gives the thread another line of main's, now and whenever it starts again. */
  connect(give: (post: (request: ChainRequest, port: MessagePort) => void) => void): void
  close(): Promise<void>
}

type Question = Omit<Extract<ChainRequest, { type: 'attestation' }>, 'id' | 'type'> & {
  readonly type: 'attestation' | 'schema'
}
type Answer = ChainResult<ChainAttestation | string>

interface Waiting {
  readonly resolve: (answer: Answer) => void
  readonly timer: NodeJS.Timeout
}

const START_TIMEOUT_MS = 30_000
const CLOSE_MS = 3000
const SYNC_LOST: SyncOutcome = { state: 'failed', reason: 'the sync thread is starting again' }
const LONGEST_RESTART_PAUSE_MS = 5000

/**
 * Starts the chain thread, waits until it has compared every chain it can reach with the table, and gives the signer its
 * line to it. A thread that dies is started again; what it was asked meanwhile is answered as unreachable.
 *
 * @returns undefined when no chain has an RPC
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
    served.map((chainId) => [chainId, { state: 'unverified', reason: 'not asked yet' }]),
  )
  const waiting = new Map<number, Waiting>()
  const acting = new Map<number, (outcome: SyncOutcome) => void>()
  const givers: ((post: (request: ChainRequest, port: MessagePort) => void) => void)[] = []
  let worker: Worker | undefined
  let nextId = 0
  let isClosing = false
  await open()

  return {
    serves: (chainId) => states.has(chainId),
    attestation: (chainId, uid) => ask({ type: 'attestation', chainId, uid }) as Promise<ChainResult<ChainAttestation>>,
    schemaString: (chainId, uid) => ask({ type: 'schema', chainId, uid }) as Promise<ChainResult<string>>,
    refusal(chainId) {
      const state = states.get(chainId)
      return state?.state === 'refused' ? state.reason : undefined
    },
    states: () => states,
    sync(action) {
      if (worker === undefined) return Promise.resolve(SYNC_LOST)
      const id = nextId++
      worker.postMessage({ type: 'sync', id, action } satisfies ChainRequest)
      return new Promise((resolve) => acting.set(id, resolve))
    },
    connect(give) {
      givers.push(give)
      if (worker !== undefined) give(postTo(worker))
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

  function ask(question: Question): Promise<Answer> {
    if (worker === undefined) return Promise.resolve(unreachable('the chain thread is starting again'))
    if (waiting.size >= maxQueuedRequests) return Promise.resolve(unreachable('too many look-ups are waiting'))
    const id = nextId++
    worker.postMessage({ ...question, id } satisfies ChainRequest)
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => settle(id, unreachable('the look-up took longer than its deadline')),
        requestDeadlineMs,
      )
      waiting.set(id, { resolve, timer })
    })
  }

  function settle(id: number, answer: Answer): void {
    const entry = waiting.get(id)
    if (entry === undefined) return
    waiting.delete(id)
    clearTimeout(entry.timer)
    entry.resolve(answer)
  }

  async function open(): Promise<void> {
    const started = new Worker(workerUrl('sync'), {
      name: 'sync',
      env: {}, // no thread but the signer sees the environment
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
    started.on('error', (error) => log.error('chain thread failed', { reason: String(error) }))
    await untilReady(started)
    if (isClosing) {
      await started.terminate()
      return
    }
    worker = started
    started.once('exit', (code) => {
      worker = undefined
      for (const id of [...waiting.keys()]) settle(id, unreachable('the chain thread is starting again'))
      for (const resolve of acting.values()) resolve(SYNC_LOST)
      acting.clear()
      if (isClosing) return
      log.error('chain thread ended', { code })
      void reopen(100)
    })
    signer.connectNonces(() => {
      const { port1, port2 } = new MessageChannel()
      started.postMessage({ type: 'nonces', port: port2 } satisfies ChainRequest, [port2])
      return port1
    })
    store?.connect((port) => {
      if (worker === started) started.postMessage({ type: 'store', port } satisfies ChainRequest, [port])
      else port.close() // of a thread that is gone; the next one has asked for its own
    })
    for (const give of givers) give(postTo(started))
  }

  async function reopen(pauseMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    if (isClosing) return
    try {
      await open()
      log.info('chain thread started again')
    } catch (error) {
      log.error('chain thread cannot start', { reason: String(error) })
      await reopen(Math.min(pauseMs * 2, LONGEST_RESTART_PAUSE_MS))
    }
  }

  function onReply(reply: ChainReply): void {
    if (reply.type === 'found') settle(reply.id, reply.result)
    else if (reply.type === 'event') logSyncEvent(log, reply.event)
    else if (reply.type === 'synced') {
      acting.get(reply.id)?.(reply.outcome)
      acting.delete(reply.id)
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
      () => end(new Error(`the chain thread did not start in ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    )
    const onMessage = ({ type }: ChainReply) => type === 'ready' && end()
    const onExit = (code: number) => end(new Error(`the chain thread ended at its start (${code})`))
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

function unreachable(reason: string): Answer {
  return { ok: false, reason, cause: 'unreachable' }
}
