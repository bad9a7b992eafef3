import type { MessagePort } from 'node:worker_threads'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import {
  type StoreArgument,
  type StoreEngine,
  StoreFault,
  type StoreOperation,
  type StoreReply,
  type StoreResult,
} from '../wire/store-messages.ts'
import {
  createStoreThread,
  type StoreCondition,
  type StoreState,
  StoreStateTracker,
  toStoreFault,
} from './store-thread.ts'

/** The main thread's side of the store thread, where either engine runs. */
export interface StoreClient {
  /**
   * Runs an operation in the store.
   *
   * @param deadlineMs since the epoch; afterwards the result is useless
   * @throws {StoreFault} when there is no result, with the kind of failure
   */
  ask<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number): Promise<StoreResult<O>>
  /** Starts the thread. Until the store is open, every call is rejected. */
  open(): void
  /** As `StoreStateTracker.untilOpen`. Call it before a call that may wait for the store to open. */
  untilOpen(deadlineMs: number): Promise<void> | undefined
  /** Whether the store accepts calls now, and if not, why. */
  readonly state: StoreState
  /** Passes a port connected to the store to `onPort`, now and after every restart of the store. */
  connect(onPort: (port: MessagePort) => void): void
  close(): Promise<void>
}

interface Call {
  readonly operation: StoreOperation
  readonly argument: unknown
  readonly resolve: (value: never) => void
  readonly reject: (fault: StoreFault) => void
  /** Fires when the caller stops waiting. */
  timer?: NodeJS.Timeout
}

/**
 * Creates the client of the store thread. `open` starts the thread without waiting, so that the service listens while
 * the store opens (decision 115). A thread that dies, or that hangs in a statement, is restarted. A database server
 * that is gone is pinged until it answers. Meanwhile every call is rejected at once.
 */
export function createStoreClient(config: Config, log: Log): StoreClient {
  const { limits } = config
  const engine: StoreEngine = config.databaseUrl === undefined ? 'embedded' : 'postgres'
  // The embedded engine runs one call while the next already waits in its thread, so that the thread never idles.
  const maxRunning = engine === 'embedded' ? 2 : limits.storeReaders
  const queue: Call[] = []
  const running = new Map<number, Call>()
  const closedState = (reason: string, condition: StoreCondition = 'away'): StoreState => ({
    isOpen: false,
    engine,
    reason,
    condition,
  })
  const standing = new StoreStateTracker(closedState('it is opening', 'opening'), limits.maxStoreQueue)
  /** The state to report while the database answers; undefined while no thread has opened it. */
  let openState: StoreState | undefined
  let watchdog: NodeJS.Timeout | undefined
  let isBusyForOthers = false
  let isPinging = false
  let isClosing = false
  let nextId = 0
  const thread = createStoreThread(config, { onReply, onEnd })
  const maintenance = setInterval(maintain, limits.storeMaintenanceMs).unref()
  // A server may go away while there are no calls, so it is pinged. The embedded engine can only end with its thread.
  const pulse = engine === 'postgres' ? setInterval(ping, limits.storeHealthCheckMs).unref() : undefined

  return {
    ask,
    open: thread.open,
    untilOpen: (deadlineMs) => standing.untilOpen(deadlineMs),
    get state() {
      return standing.state
    },
    connect: thread.connect,
    async close() {
      isClosing = true
      clearInterval(maintenance)
      clearInterval(pulse)
      clearTimeout(watchdog)
      const reason = 'the service is stopping'
      standing.set(closedState(reason))
      rejectAll([...running.values(), ...queue], reason)
      await thread.close()
    },
  }

  function ask<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number) {
    return new Promise<StoreResult<O>>((resolve, reject) => {
      const { state } = standing
      if (!state.isOpen) return reject(toStoreFault(state))
      if (queue.length >= limits.maxStoreQueue) {
        return reject(new StoreFault('busy', `${queue.length} calls are waiting for it`))
      }
      const call: Call = { operation, argument, resolve, reject }
      call.timer = setTimeout(() => expire(call), Math.max(0, deadlineMs - Date.now()))
      queue.push(call)
      send()
    })
  }

  /** Rejects a call whose deadline passed. If it is already running, it continues, and its reply is dropped. */
  function expire(call: Call): void {
    const position = queue.indexOf(call)
    if (position >= 0) queue.splice(position, 1)
    call.reject(new StoreFault('late', 'it did not answer in time'))
  }

  function send(): void {
    while (standing.state.isOpen && running.size < maxRunning && queue.length > 0) {
      post(queue.shift()!)
      if (running.size === 1) watch()
    }
  }

  function post(call: Call): void {
    const id = nextId++
    running.set(id, call)
    thread.post({ type: 'call', id, operation: call.operation, argument: call.argument })
  }

  /** Watches the running call, which is the oldest one sent, because the embedded engine has no time limit itself. */
  function watch(): void {
    clearTimeout(watchdog)
    if (engine !== 'embedded') return
    const [oldest] = running.values()
    if (oldest === undefined && !isBusyForOthers) return
    const limitMs = isBusyForOthers || oldest === undefined ? limits.storeWriteMs : limitOf(oldest.operation)
    watchdog = setTimeout(() => {
      log.error('the store hangs in a statement and is restarted', { limitMs })
      thread.restart()
    }, limitMs)
  }

  function limitOf(operation: StoreOperation): number {
    if (operation === 'maintain') return limits.storeMaintenanceMs
    // A restart costs seconds without any reply. On an overloaded machine that would be worse than waiting.
    return operation === 'apply' ? limits.storeWriteMs : limits.storeStuckMs
  }

  function onReply(reply: StoreReply): void {
    if (reply.type === 'answer') settle(reply)
    else if (reply.type === 'open') {
      openState = { isOpen: true, engine: reply.engine, version: reply.version }
      standing.set(openState)
      log.info('store open', { engine: reply.engine, version: reply.version })
      send()
    } else if (reply.type === 'busy') {
      isBusyForOthers = reply.isBusy
      watch()
    } else if (reply.type === 'lost') {
      log.warn('database connection lost', { reason: reply.reason })
      ping()
    }
  }

  function onEnd(reason: string, condition: StoreCondition, retryMs: number): void {
    clearTimeout(watchdog)
    isBusyForOthers = false
    openState = undefined
    standing.set(closedState(reason, condition))
    rejectAll([...running.values(), ...queue.splice(0)], reason)
    running.clear()
    log.error('store not open', { engine, reason, retryMs })
  }

  function settle(reply: Extract<StoreReply, { type: 'answer' }>): void {
    const call = running.get(reply.id)
    if (call === undefined) return
    running.delete(reply.id)
    clearTimeout(call.timer)
    watch()
    if (reply.ok) {
      if (!standing.state.isOpen && openState !== undefined && !isClosing) {
        standing.set(openState)
        log.info('database answers again')
      }
      call.resolve(reply.value as never)
    } else {
      if (reply.kind === 'unavailable' && engine === 'postgres') markUnreachable(reply.reason)
      else if (reply.kind !== 'late' && reply.kind !== 'busy' && reply.kind !== 'large')
        log.error('store call failed', { operation: call.operation, reason: reply.reason })
      call.reject(new StoreFault(reply.kind, reply.reason))
    }
    send()
  }

  /** Marks the server as gone. Until it answers a ping, calls are rejected at once instead of waiting. */
  function markUnreachable(reason: string): void {
    if (!standing.state.isOpen) return
    log.error('database does not answer', { reason })
    standing.set(closedState(reason))
    rejectAll(queue.splice(0), reason)
    setTimeout(ping, limits.storeRetryMs).unref()
  }

  /** Pings the database, bypassing the queue, even while the server counts as gone. One ping at a time. */
  function ping(): void {
    if (openState === undefined || isClosing || isPinging) return
    isPinging = true
    const endPing = () => {
      isPinging = false
      if (!standing.state.isOpen) setTimeout(ping, limits.storeRetryMs).unref()
    }
    post({ operation: 'ping', argument: undefined, resolve: endPing, reject: endPing })
  }

  function rejectAll(calls: readonly Call[], reason: string): void {
    for (const call of calls) {
      clearTimeout(call.timer)
      call.reject(new StoreFault('unavailable', reason))
    }
  }

  function maintain(): void {
    if (!standing.state.isOpen) return
    ask('maintain', undefined, Date.now() + limits.storeMaintenanceMs).catch((error: StoreFault) =>
      log.warn('store maintenance failed', { reason: error.message }),
    )
  }
}
