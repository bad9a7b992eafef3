import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Config, StoreThreadConfig } from '../config.ts'
import type { Log } from '../log.ts'
import {
  type StoreArgument,
  type StoreEngine,
  StoreFault,
  type StoreOperation,
  type StoreReply,
  type StoreRequest,
  type StoreResult,
} from '../store-messages.ts'
import { workerUrl } from './spawn.ts'

/** Main's side of the store's thread, where either engine runs. */
export interface StoreClient {
  /**
   * @param deadlineMs since the epoch; the answer is of no use after it
   * @throws {StoreFault}
   */
  ask<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number): Promise<StoreResult<O>>
  /** Starts the thread; until it is open every question is refused. */
  open(): void
  /** Whether questions are answered now, and if not, why. */
  readonly state: StoreState
  /** Gives another thread its own line, now and whenever the store starts again. */
  connect(give: (port: MessagePort) => void): void
  close(): Promise<void>
}

export type StoreState =
  | { readonly isOpen: true; readonly engine: StoreEngine; readonly version: string }
  | { readonly isOpen: false; readonly engine: StoreEngine; readonly reason: string }

interface Call {
  readonly operation: StoreOperation
  readonly argument: unknown
  readonly deadlineMs: number
  readonly resolve: (value: never) => void
  readonly reject: (fault: StoreFault) => void
  /** Fires when the caller waits no longer. */
  timer?: NodeJS.Timeout
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5000
const CLOSE_MS = 5000

/**
 * The store's thread, which `open` starts without waiting: the store opens behind the listener (decision 115). A thread that dies, or
 * that does not come back from a statement, is ended and started again; what was asked meanwhile is answered as unavailable.
 */
export function createStoreClient(config: Config, log: Log): StoreClient {
  const { limits } = config
  const engine: StoreEngine = config.databaseUrl === undefined ? 'embedded' : 'postgres'
  // One question is under way in the embedded engine and one behind it, so that the thread never waits for the next.
  const maxUnderWay = engine === 'embedded' ? 2 : limits.storeReaders + limits.storeWriters
  const queue: Call[] = []
  const underWay = new Map<number, Call>()
  const listeners: ((port: MessagePort) => void)[] = []
  let state: StoreState = { isOpen: false, engine, reason: 'it is being opened' }
  let worker: Worker | undefined
  let watchdog: NodeJS.Timeout | undefined
  let isBusyForOthers = false
  let isClosing = false
  let nextId = 0
  let pauseMs = FIRST_PAUSE_MS
  const maintenance = setInterval(maintain, limits.storeMaintenanceMs)
  maintenance.unref()

  return {
    ask,
    open,
    get state() {
      return state
    },
    connect(give) {
      listeners.push(give)
      if (state.isOpen) layLine(give)
    },
    async close() {
      isClosing = true
      const wasOpen = state.isOpen
      state = { isOpen: false, engine, reason: 'the service is stopping' }
      clearInterval(maintenance)
      fail('the service is stopping')
      const closing = worker
      if (closing === undefined) return
      // While it opens it hears nothing; what it has begun to make is made anew next time.
      if (!wasOpen) return void (await closing.terminate())
      const ended = new Promise<void>((resolve) => closing.once('exit', () => resolve()))
      closing.postMessage({ type: 'close' } satisfies StoreRequest)
      const timer = setTimeout(() => void closing.terminate(), CLOSE_MS)
      await ended
      clearTimeout(timer)
    },
  }

  function ask<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number) {
    return new Promise<StoreResult<O>>((resolve, reject) => {
      const call: Call = { operation, argument, deadlineMs, resolve, reject }
      if (!state.isOpen) return reject(new StoreFault('unavailable', state.reason))
      if (queue.length >= limits.maxStoreQueue) {
        return reject(new StoreFault('unavailable', `${queue.length} questions are waiting for it`))
      }
      call.timer = setTimeout(() => giveUp(call), Math.max(0, deadlineMs - Date.now()))
      queue.push(call)
      send()
    })
  }

  /** The caller is told; a question that is under way goes on, and its answer is dropped. */
  function giveUp(call: Call): void {
    const position = queue.indexOf(call)
    if (position >= 0) queue.splice(position, 1)
    call.reject(new StoreFault('late', 'it did not answer in time'))
  }

  function send(): void {
    while (worker !== undefined && state.isOpen && underWay.size < maxUnderWay && queue.length > 0) {
      const call = queue.shift()!
      const id = nextId++
      underWay.set(id, call)
      worker.postMessage({
        type: 'call',
        id,
        operation: call.operation,
        argument: call.argument,
      } satisfies StoreRequest)
      if (underWay.size === 1) watch()
    }
  }

  /** The embedded engine has no time limit of its own: the oldest question under way is what it works on. */
  function watch(): void {
    clearTimeout(watchdog)
    watchdog = undefined
    if (engine !== 'embedded') return
    const [oldest] = underWay.values()
    const limitMs = isBusyForOthers ? limits.storeWriteMs : oldest === undefined ? undefined : limitOf(oldest.operation)
    if (limitMs === undefined) return
    watchdog = setTimeout(() => {
      log.error('the store does not come back from a statement: starting it again', { limitMs })
      void worker?.terminate()
    }, limitMs)
  }

  function limitOf(operation: StoreOperation): number {
    if (operation === 'maintain') return limits.storeMaintenanceMs
    return operation === 'apply' ? limits.storeWriteMs : limits.storeReadMs
  }

  function open(): void {
    const { databaseUrl, dataDir } = config
    const started = new Worker(workerUrl('store'), {
      name: 'store',
      env: {}, // no thread but the signer sees the environment
      workerData: { databaseUrl, dataDir, limits } satisfies StoreThreadConfig,
    })
    worker = started
    let reason = 'its thread ended'
    const opening = setTimeout(() => void started.terminate(), limits.storeOpenMs)
    started.on('message', (reply: StoreReply) => {
      if (reply.type === 'open') {
        clearTimeout(opening)
        pauseMs = FIRST_PAUSE_MS
        state = { isOpen: true, engine: reply.engine, version: reply.version }
        log.info('store open', { engine: reply.engine, version: reply.version })
        for (const give of listeners) layLine(give)
        send()
      } else if (reply.type === 'answer') settle(reply)
      else if (reply.type === 'busy') {
        isBusyForOthers = reply.isBusy
        watch()
      } else if (reply.type === 'lost') log.warn('database connection lost', { reason: reply.reason })
      else reason = reply.reason
    })
    started.on('error', (error) => {
      reason = error.message
    })
    started.once('exit', () => {
      clearTimeout(opening)
      clearTimeout(watchdog)
      worker = undefined
      isBusyForOthers = false
      if (isClosing) return
      state = { isOpen: false, engine, reason }
      fail(reason)
      log.error('store not open', { engine, reason, retryMs: pauseMs })
      setTimeout(() => isClosing || open(), pauseMs).unref()
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    })
  }

  function settle(reply: Extract<StoreReply, { type: 'answer' }>): void {
    const call = underWay.get(reply.id)
    if (call === undefined) return
    underWay.delete(reply.id)
    clearTimeout(call.timer)
    watch()
    if (reply.ok) call.resolve(reply.value as never)
    else {
      if (reply.kind === 'failed' || reply.kind === 'refused') {
        log.error('store call failed', { operation: call.operation, reason: reply.reason })
      }
      call.reject(new StoreFault(reply.kind, reply.reason))
    }
    send()
  }

  function fail(reason: string): void {
    for (const call of [...underWay.values(), ...queue]) {
      clearTimeout(call.timer)
      call.reject(new StoreFault('unavailable', reason))
    }
    underWay.clear()
    queue.length = 0
  }

  function layLine(give: (port: MessagePort) => void): void {
    const { port1, port2 } = new MessageChannel()
    worker!.postMessage({ type: 'connect', port: port2 } satisfies StoreRequest, [port2])
    give(port1)
  }

  function maintain(): void {
    if (!state.isOpen) return
    ask('maintain', undefined, Date.now() + limits.storeMaintenanceMs).catch((error: StoreFault) =>
      log.warn('store maintenance failed', { reason: error.message }),
    )
  }
}
