import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import {
  type StoreArgument,
  type StoreEngine,
  StoreFault,
  type StoreOperation,
  type StoreReply,
  type StoreResult,
} from '../store-messages.ts'
import { faultOfState, type StoreCondition, StoreStanding, type StoreState } from './store-state.ts'
import { createStoreThread } from './store-thread.ts'

/** Main's side of the store's thread, where either engine runs. */
export interface StoreClient {
  /**
   * @param deadlineMs since the epoch; the answer is of no use after it
   * @throws {StoreFault}
   */
  ask<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number): Promise<StoreResult<O>>
  /** Starts the thread; until it is open every question is refused. */
  open(): void
  /** As `StoreStanding.untilOpen`: asked before a question that may wait for the store to open. */
  untilOpen(deadlineMs: number): Promise<void> | undefined
  /** Whether questions are answered now, and if not, why. */
  readonly state: StoreState
  /** Gives another thread its own line, now and whenever the store starts again. */
  connect(give: (port: MessagePort) => void): void
  close(): Promise<void>
}

interface Call {
  readonly operation: StoreOperation
  readonly argument: unknown
  readonly resolve: (value: never) => void
  readonly reject: (fault: StoreFault) => void
  /** Fires when the caller waits no longer. */
  timer?: NodeJS.Timeout
}

/**
 * The store's thread, which `open` starts without waiting: the store opens behind the listener (decision 115). A thread
 * that dies, or that does not come back from a statement, is started again, and a server that is gone is asked until it
 * answers; meanwhile every question is refused at once.
 */
export function createStoreClient(config: Config, log: Log): StoreClient {
  const { limits } = config
  const engine: StoreEngine = config.databaseUrl === undefined ? 'embedded' : 'postgres'
  // One question is under way in the embedded engine and one behind it, so that the thread never waits for the next.
  const maxUnderWay = engine === 'embedded' ? 2 : limits.storeReaders
  const queue: Call[] = []
  const underWay = new Map<number, Call>()
  const closed = (reason: string, condition: StoreCondition = 'away'): StoreState => ({
    isOpen: false,
    engine,
    reason,
    condition,
  })
  const standing = new StoreStanding(closed('it is being opened', 'opening'), limits.maxStoreQueue)
  /** What the state is when the database answers; undefined while no thread has opened it. */
  let openState: StoreState | undefined
  let watchdog: NodeJS.Timeout | undefined
  let isBusyForOthers = false
  let isPinging = false
  let isClosing = false
  let nextId = 0
  const thread = createStoreThread(config, { onReply, onEnd })
  const maintenance = setInterval(maintain, limits.storeMaintenanceMs).unref()
  // A server may go away while nobody asks; the embedded engine goes with its thread.
  const pulse = engine === 'postgres' ? setInterval(ping, limits.storePulseMs).unref() : undefined

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
      standing.set(closed(reason))
      refuseAll([...underWay.values(), ...queue], reason)
      await thread.close()
    },
  }

  function ask<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number) {
    return new Promise<StoreResult<O>>((resolve, reject) => {
      const { state } = standing
      if (!state.isOpen) return reject(faultOfState(state))
      if (queue.length >= limits.maxStoreQueue) {
        return reject(new StoreFault('busy', `${queue.length} questions are waiting for it`))
      }
      const call: Call = { operation, argument, resolve, reject }
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
    while (standing.state.isOpen && underWay.size < maxUnderWay && queue.length > 0) {
      post(queue.shift()!)
      if (underWay.size === 1) watch()
    }
  }

  function post(call: Call): void {
    const id = nextId++
    underWay.set(id, call)
    thread.post({ type: 'call', id, operation: call.operation, argument: call.argument })
  }

  /** The embedded engine has no time limit of its own: the oldest question under way is what it works on. */
  function watch(): void {
    clearTimeout(watchdog)
    if (engine !== 'embedded') return
    const [oldest] = underWay.values()
    if (oldest === undefined && !isBusyForOthers) return
    const limitMs = isBusyForOthers || oldest === undefined ? limits.storeWriteMs : limitOf(oldest.operation)
    watchdog = setTimeout(() => {
      log.error('the store does not come back from a statement: starting it again', { limitMs })
      thread.restart()
    }, limitMs)
  }

  function limitOf(operation: StoreOperation): number {
    if (operation === 'maintain') return limits.storeMaintenanceMs
    // A start costs seconds in which nobody is answered: on a starved machine the cure would be worse than the wait.
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
    standing.set(closed(reason, condition))
    refuseAll([...underWay.values(), ...queue.splice(0)], reason)
    underWay.clear()
    log.error('store not open', { engine, reason, retryMs })
  }

  function settle(reply: Extract<StoreReply, { type: 'answer' }>): void {
    const call = underWay.get(reply.id)
    if (call === undefined) return
    underWay.delete(reply.id)
    clearTimeout(call.timer)
    watch()
    if (reply.ok) {
      if (!standing.state.isOpen && openState !== undefined && !isClosing) {
        standing.set(openState)
        log.info('database answers again')
      }
      call.resolve(reply.value as never)
    } else {
      if (reply.kind === 'unavailable' && engine === 'postgres') interrupt(reply.reason)
      else if (reply.kind !== 'late' && reply.kind !== 'busy' && reply.kind !== 'large')
        log.error('store call failed', { operation: call.operation, reason: reply.reason })
      call.reject(new StoreFault(reply.kind, reply.reason))
    }
    send()
  }

  /** Nobody waits for a server that is gone: until it answers a ping, questions are refused at once. */
  function interrupt(reason: string): void {
    if (!standing.state.isOpen) return
    log.error('database does not answer', { reason })
    standing.set(closed(reason))
    refuseAll(queue.splice(0), reason)
    setTimeout(ping, limits.storeRetryMs).unref()
  }

  /** Goes past the queue, also while the server is believed to be gone. One at a time. */
  function ping(): void {
    if (openState === undefined || isClosing || isPinging) return
    isPinging = true
    const over = () => {
      isPinging = false
      if (!standing.state.isOpen) setTimeout(ping, limits.storeRetryMs).unref()
    }
    post({ operation: 'ping', argument: undefined, resolve: over, reject: over })
  }

  function refuseAll(calls: readonly Call[], reason: string): void {
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
