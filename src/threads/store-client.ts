import { resolve } from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { CostMeter } from '../base/cost.ts'
import { FairQueue, type QueueClient } from '../base/fair-queue.ts'
import { FailureLog, type Log } from '../base/log.ts'
import { PROGRAM } from '../base/version.ts'
import { WaitLimit } from '../base/wait-limit.ts'
import type { Config, StoreThreadConfig } from '../config/config.ts'
import { Requester } from '../wire/request-port.ts'
import {
  type StoreArgument,
  type StoreEngine,
  StoreFault,
  type StoreFaultKind,
  type StoreOperation,
  type StoreOperations,
  type StoreReply,
  type StoreRequest,
  type StoreResult,
  storeFault,
} from '../wire/store-messages.ts'
import { boundYoungHeap, workerUrl } from './spawn.ts'
import { type HostedThread, type ThreadEnd, ThreadHost } from './thread-host.ts'

/**
 * Why a store is not open: it is opening, a statement took too long so that it opens again (`slow`), it cannot be reached or opened
 * (`away`), its files are damaged, or its disk is full.
 */
export type StoreCondition = 'opening' | 'slow' | 'away' | 'damaged' | 'full'

export type StoreState =
  | {
      readonly isOpen: true
      readonly engine: StoreEngine
      readonly version: string
      /** Set while the disk is full: records can be read, but nothing is stored. For operators only. */
      readonly fullReason?: string
      /** True while the columns in memory load, so that lists take longer. */
      readonly isWarming?: boolean
    }
  | {
      readonly isOpen: false
      readonly engine: StoreEngine
      /** For operators only, because it may name folders. */
      readonly reason: string
      readonly condition: StoreCondition
    }

/** Returns the error for a call while the store is not open. */
function toStoreFault({ condition, reason }: Extract<StoreState, { isOpen: false }>): StoreFault {
  if (condition === 'slow') return new StoreFault('opening', reason)
  return new StoreFault(condition === 'away' ? 'unavailable' : condition, reason)
}

/** The request for which an operation runs. */
export interface StoreCaller {
  /** Clients get the same share of the time of the store thread. */
  readonly client?: QueueClient
  /** Is charged for the time of the store thread. */
  readonly costs?: CostMeter | undefined
  /** True once its client has disconnected. Then others may take its place in a queue. */
  readonly aborted?: boolean
}

/** A request that waits for the store to open. */
interface Waiter {
  readonly caller: StoreCaller
  /** Ends the wait: the store is open, or the request gets the reason why it is not. */
  readonly end: () => void
}

/** The state of the store, and the requests that wait for it to open. */
export class StoreStateTracker {
  #state: StoreState
  /** When it is full, the client with the most waiting requests loses its newest place. */
  readonly #waiters: FairQueue<Waiter>
  /** Waits of the service itself. They are few, and take no place from a request. */
  readonly #ownWaiters = new Set<Waiter>()
  onState: ((state: StoreState) => void) | undefined

  /** @param maxWaiting the most requests that may wait at a time */
  constructor(state: StoreState, maxWaiting: number) {
    this.#state = state
    this.#waiters = new FairQueue(maxWaiting)
  }

  get state(): StoreState {
    return this.#state
  }

  /**
   * Sets the state. Unless the store is still opening, waiting requests continue; each then gets a reply or an error with the
   * reason.
   */
  set(state: StoreState): void {
    this.#state = state
    if (!this.#isOpening) for (const { end } of [...this.#ownWaiters, ...this.#waiters.clear()]) end()
    this.onState?.(state)
  }

  /**
   * Waits for a store that is opening. Does not wait for a store that is open, away or damaged.
   *
   * @param deadlineMs since the epoch
   * @param caller the request that waits; undefined if the service itself does
   * @returns undefined when there is nothing to wait for; otherwise a promise, which rejects with a {StoreFault}
   *   `opening` when the deadline passes, or when another request gets the place: that of a client that has disconnected, or the
   *   newest one of the client with the most
   */
  untilOpen(deadlineMs: number, caller?: StoreCaller): Promise<void> | undefined {
    if (!this.#isOpening) return undefined
    if (this.#waiters.isFull)
      for (const { end } of this.#waiters.removeAll(({ caller }) => caller.aborted === true)) end()
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        caller: caller ?? {},
        end: () => {
          clearTimeout(timer)
          this.#ownWaiters.delete(waiter)
          if (this.#isOpening) reject(this.#fault())
          else resolve()
        },
      }
      const late = () => {
        this.#waiters.remove(waiter.caller.client, waiter)
        waiter.end()
      }
      const timer = setTimeout(late, Math.max(0, deadlineMs - Date.now()))
      if (caller === undefined) this.#ownWaiters.add(waiter)
      else this.#waiters.push(caller.client, waiter)?.end()
    })
  }

  get #isOpening(): boolean {
    return !this.#state.isOpen && (this.#state.condition === 'opening' || this.#state.condition === 'slow')
  }

  #fault(): StoreFault {
    return new StoreFault('opening', this.#state.isOpen ? '' : this.#state.reason)
  }
}

/** The calls of requests that make no other call before. If one is refused, no work is lost. */
const WHOLE_ANSWERS: ReadonlySet<StoreOperation> = new Set(['newPage', 'record', 'stats', 'extent'])

/** A client that owes more does not have a call waiting in the thread of the embedded engine. */
const MAX_OWED_MS = 5

interface QueuedCall {
  readonly operation: StoreOperation
  readonly argument: unknown
  readonly caller: StoreCaller
  /** When it was queued, as `performance.now()`. */
  readonly sinceMs: number
  readonly resolve: (value: never) => void
  readonly reject: (fault: StoreFault) => void
  /** Fires when the caller stops waiting. */
  timer?: NodeJS.Timeout
}

function startWorker({ databaseUrl, dataDir, limits }: Config): Worker {
  boundYoungHeap(limits.storeYoungHeapMb)
  return new Worker(workerUrl('store'), {
    name: 'store',
    env: {}, // only the signer thread sees the environment
    workerData: { databaseUrl, dataDir, limits } satisfies StoreThreadConfig,
  })
}

/**
 * The main thread's side of the store thread, where either engine runs. `open` starts the thread without waiting, so that the
 * service listens while the store opens (decision 115). A thread that dies, or that hangs in a statement, is restarted. A database
 * server that is gone is pinged until it answers. Meanwhile every call is rejected at once.
 */
export class StoreClient {
  readonly #log: Log
  readonly #limits: Config['limits']
  readonly #engine: StoreEngine
  readonly #dataDir: string
  readonly #maxRunning: number
  /** One slot is reserved for other clients, so a call of theirs waits for at most one long call of this client. */
  readonly #maxRunningPerClient: number
  readonly #queue: FairQueue<QueuedCall>
  readonly #waitLimit: WaitLimit
  /** Calls in the thread, oldest first. A call whose caller stopped waiting stays until it is answered. */
  readonly #running = new Set<QueuedCall>()
  readonly #requests = new Requester<StoreOperations>({
    notConnected: 'it is not open',
    ended: 'its thread ended',
    toError: storeFault,
  })
  readonly #tracker: StoreStateTracker
  readonly #thread: ThreadHost<StoreRequest, StoreReply>
  readonly #subscribers = new Set<(port: MessagePort) => void>()
  /** False if the thread belongs to another process, which watches and maintains it. */
  readonly #isOwner: boolean
  readonly #timers: NodeJS.Timeout[]
  /** The state to report while the database answers; undefined while no thread has opened it. */
  #openState: StoreState | undefined
  #watchdog: NodeJS.Timeout | undefined
  /** By operation: calls for which the disk has no room. Background work repeats some each second. */
  readonly #fullDisk = new Map<StoreOperation, FailureLog>()
  #isBusyForOthers = false
  #isPinging = false
  /** Why the thread that is starting cannot open the store. */
  #refusal: StoreCondition | undefined
  /** Set when the watchdog terminates the thread: why. */
  #slowReason: string | undefined
  /** Times of the thread's last unexpected ends, in milliseconds. */
  #ends: number[] = []

  /**
   * @param connect connects to the store of the data process, instead of starting a thread of this process
   * @param isOwner false if another process watches and maintains the store
   */
  constructor(
    config: Config,
    log: Log,
    connect?: () => HostedThread<StoreRequest, StoreReply>,
    isOwner = connect === undefined,
  ) {
    const { limits } = config
    this.#log = log
    this.#dataDir = resolve(config.dataDir)
    this.#limits = limits
    this.#isOwner = isOwner
    this.#engine = config.databaseUrl === undefined ? 'embedded' : 'postgres'
    // The embedded engine runs one call while the next already waits in its thread, if it is another client's.
    this.#maxRunning = this.#engine === 'embedded' ? 2 : limits.storeReaders
    this.#maxRunningPerClient = Math.max(1, this.#maxRunning - 1)
    this.#queue = new FairQueue(limits.maxStoreQueue)
    const concurrency = this.#engine === 'embedded' ? 1 : limits.storeReaders
    this.#waitLimit = new WaitLimit(limits.maxQueueMs, concurrency, () => performance.now())
    this.#tracker = new StoreStateTracker(this.#closedState('it is opening', 'opening'), limits.maxStoreQueue)
    this.#thread = new ThreadHost<StoreRequest, StoreReply>({
      title: 'the store',
      create: connect ?? (() => startWorker(config)),
      // Only a migration may take longer. Connections to a server have limits of their own.
      startMs: this.#engine === 'embedded' ? limits.storeOpenMs : limits.storeMigrationMs + limits.storeOpenMs,
      firstPauseMs: 250,
      closeRequest: { type: 'close' },
      closeMs: 5000,
      // While it opens, it reads no messages. Whatever it had begun is redone at the next start.
      closeStartingMs: 0,
      readStart: (reply) => this.#readStart(reply),
      onReady: () => this.#connectAll(),
      onMessage: (reply) => this.#onReply(reply),
      onEnd: (end) => this.#onEnd(end),
    })
    this.#timers = this.#isOwner ? [setInterval(() => this.#maintain(), limits.storeMaintenanceMs).unref()] : []
    // A server may go away while there are no calls, so it is pinged. The embedded engine can only end with its thread.
    if (this.#engine === 'postgres')
      this.#timers.push(setInterval(() => this.#ping(), limits.storeHealthCheckMs).unref())
  }

  /** Whether the store accepts calls now, and if not, why. */
  get state(): StoreState {
    return this.#tracker.state
  }

  /** Calls a listener with every new state. */
  onState(listener: (state: StoreState) => void): void {
    this.#tracker.onState = listener
  }

  /** Starts the thread. Until the store is open, every call is rejected. */
  open(): void {
    this.#thread.open()
  }

  /** As `StoreStateTracker.untilOpen`. Call it before a call that may wait for the store to open. */
  untilOpen(deadlineMs: number, caller?: StoreCaller): Promise<void> | undefined {
    return this.#tracker.untilOpen(deadlineMs, caller)
  }

  /**
   * Passes a port connected to the store to `onPort`, now and after every restart of the store.
   *
   * @returns a function that ends this
   */
  connect(onPort: (port: MessagePort) => void): () => void {
    this.#subscribers.add(onPort)
    if (this.#thread.isReady) this.#connectPort(onPort)
    return () => this.#subscribers.delete(onPort)
  }

  /** False if `refuses` is false for every client. */
  get isCrowded(): boolean {
    return this.#waitLimit.isCrowded(this.#queue.size)
  }

  /**
   * Returns true if the first call of a new request would wait too long. A request that has begun is not refused in this way: the work
   * for it so far would be lost.
   */
  refuses(client: QueueClient): boolean {
    return this.#waitLimit.refuses(this.#queue, client)
  }

  /**
   * Runs an operation in the store.
   *
   * @param deadlineMs since the epoch; afterwards the result is useless
   * @param caller if its client disconnects while the operation waits, it is not run
   * @throws {StoreFault} when there is no result, with the kind of failure
   */
  ask<O extends StoreOperation>(
    operation: O,
    argument: StoreArgument<O>,
    deadlineMs: number,
    caller: StoreCaller = {},
  ): Promise<StoreResult<O>> {
    return new Promise<StoreResult<O>>((resolve, reject) => {
      const { state } = this
      if (!state.isOpen) return reject(toStoreFault(state))
      const call: QueuedCall = { operation, argument, caller, sinceMs: performance.now(), resolve, reject }
      call.timer = setTimeout(() => this.#expire(call), Math.max(0, deadlineMs - Date.now()))
      if (this.#queue.isFull) this.#dropAborted()
      const dropped = this.#queue.push(caller.client, call)
      if (dropped !== undefined) {
        clearTimeout(dropped.timer)
        dropped.reject(new StoreFault('busy', `${this.#queue.size} calls are waiting for it`))
      }
      this.#send()
    })
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#watchdog)
    const reason = 'the service is stopping'
    this.#tracker.set(this.#closedState(reason))
    rejectAll([...this.#running, ...this.#queue.clear()], reason)
    await this.#thread.close()
  }

  #closedState(reason: string, condition: StoreCondition = 'away'): StoreState {
    return { isOpen: false, engine: this.#engine, reason, condition }
  }

  /** Rejects a call whose deadline passed. If it is already running, it continues, and its result is dropped. */
  #expire(call: QueuedCall): void {
    this.#queue.remove(call.caller.client, call)
    call.reject(new StoreFault('late', 'it did not answer in time'))
  }

  #dropAborted(): void {
    rejectAll(
      this.#queue.removeAll(({ caller }) => caller.aborted === true),
      DISCONNECTED,
    )
  }

  #send(): void {
    while (this.state.isOpen && this.#running.size < this.#maxRunning) {
      const call = this.#queue.shift((client) => this.#canRun(client))
      if (call === undefined) return
      if (call.caller.aborted === true) {
        rejectAll([call], DISCONNECTED)
        continue
      }
      // Clients that have used more than their share wait longer than the estimate said.
      const { client } = call.caller
      if (WHOLE_ANSWERS.has(call.operation) && this.#waitLimit.refusesLate(client, call.sinceMs, this.#queue.size)) {
        clearTimeout(call.timer)
        call.reject(new StoreFault('busy', 'the call has waited too long'))
        continue
      }
      void this.#run(call)
      if (this.#running.size === 1) this.#watch()
    }
  }

  #canRun(client: QueueClient): boolean {
    if (this.#countRunning(client) >= this.#maxRunningPerClient) return false
    // The embedded engine runs one call at a time. A long call that already waits in its thread would delay short ones of others that
    // arrive meanwhile, so a client whose calls take long waits here until the thread is idle.
    const isWaitingInThread = this.#engine === 'embedded' && this.#running.size > 0
    return !isWaitingInThread || this.#queue.owedBy(client) <= MAX_OWED_MS
  }

  #countRunning(client: QueueClient): number {
    let count = 0
    for (const { caller } of this.#running) if (caller.client === client) count++
    return count
  }

  async #run(call: QueuedCall): Promise<void> {
    this.#running.add(call)
    this.#waitLimit.begin()
    try {
      const onTime = (ms: number) => {
        call.caller.costs?.charge('cpu-ms', ms)
        this.#queue.charge(call.caller.client, ms)
        this.#waitLimit.record(ms)
      }
      const value = await this.#requests.ask(call.operation, call.argument as never, { onTime })
      this.#leave(call)
      this.#markReachable()
      this.#fullDisk.get(call.operation)?.succeeded({ operation: call.operation })
      call.resolve(value as never)
    } catch (error) {
      if (!this.#running.has(call)) return // `#onEnd` has rejected it
      this.#leave(call)
      const fault = error instanceof StoreFault ? error : new StoreFault('failed', String(error))
      const { kind, message: reason } = fault
      if (kind === 'unavailable' && this.#engine === 'postgres') this.#markUnreachable(reason)
      else if (kind === 'full') this.#logFullDisk(call.operation, reason)
      else if (!EXPECTED_FAULTS.has(kind)) this.#log.error('store call failed', { operation: call.operation, reason })
      call.reject(fault)
    } finally {
      this.#waitLimit.end()
    }
    this.#send()
  }

  #leave(call: QueuedCall): void {
    this.#running.delete(call)
    clearTimeout(call.timer)
    this.#watch()
  }

  /** Watches the running call, which is the oldest one sent, because the embedded engine has no time limit itself. */
  #watch(): void {
    clearTimeout(this.#watchdog)
    if (this.#engine !== 'embedded' || !this.#isOwner) return
    const [oldest] = this.#running
    if (oldest === undefined && !this.#isBusyForOthers) return
    const limitMs =
      this.#isBusyForOthers || oldest === undefined ? this.#limits.storeWriteMs : this.#limitMs(oldest.operation)
    this.#watchdog = setTimeout(() => {
      this.#log.error('the store hangs in a statement and is restarted', { limitMs })
      this.#slowReason = slowReason(limitMs, this.#limits.storeStuckMs)
      // The thread will not report how long it worked.
      if (!this.#isBusyForOthers) oldest?.caller.costs?.charge('cpu-ms', limitMs)
      this.#thread.terminate()
    }, limitMs)
  }

  #limitMs(operation: StoreOperation): number {
    if (operation === 'maintain') return this.#limits.storeMaintenanceMs
    // A restart costs seconds without any reply. On an overloaded machine that would be worse than waiting.
    return operation === 'apply' ? this.#limits.storeWriteMs : this.#limits.storeStuckMs
  }

  #readStart(reply: StoreReply): boolean | Error {
    if (reply.type !== 'refused') return reply.type === 'open'
    this.#refusal = reply.condition
    return new Error(reply.reason)
  }

  #connectAll(): void {
    this.#requests.attach((call) => this.#thread.post(call))
    for (const onPort of this.#subscribers) this.#connectPort(onPort)
  }

  #connectPort(onPort: (port: MessagePort) => void): void {
    const { port1, port2 } = new MessageChannel()
    this.#thread.post({ type: 'connect', port: port2 }, [port2])
    onPort(port1)
  }

  #onReply(reply: StoreReply): void {
    if (reply.type === 'open') {
      this.#openState = { isOpen: true, engine: reply.engine, version: reply.version }
      this.#tracker.set(this.#openState)
      this.#log.info('store open', { engine: reply.engine, version: reply.version })
      this.#send()
    } else if (reply.type === 'room') {
      this.#setRoom(reply.fullReason)
    } else if (reply.type === 'columns') {
      if (this.#openState?.isOpen !== true) return
      this.#openState = { ...this.#openState, isWarming: reply.isWarming }
      this.#tracker.set(this.#openState)
    } else if (reply.type === 'busy') {
      this.#isBusyForOthers = reply.isBusy
      this.#watch()
    } else if (reply.type === 'lost') {
      this.#log.warn('database connection lost', { reason: reply.reason })
      this.#ping()
    } else {
      this.#requests.receive(reply)
    }
  }

  #logFullDisk(operation: StoreOperation, reason: string): void {
    let failures = this.#fullDisk.get(operation)
    if (failures === undefined) {
      const events = {
        begin: 'the disk has no room for a store call',
        end: 'the disk has room for the store call again',
      }
      failures = new FailureLog(this.#log, events)
      this.#fullDisk.set(operation, failures)
    }
    failures.failed({ operation, reason })
  }

  /** Updates the state and writes a log line when the disk becomes full or has room again. */
  #setRoom(fullReason: string | undefined): void {
    if (this.#openState?.isOpen !== true) return
    const { fullReason: _, ...state } = this.#openState
    this.#openState = { ...state, ...(fullReason === undefined ? {} : { fullReason }) }
    this.#tracker.set(this.#openState)
    if (fullReason === undefined) this.#log.info('the disk has room again: records are stored and chains are read')
    else this.#log.error('the disk is full: records are not stored and chains are not read', { reason: fullReason })
  }

  /** Returns the pause before the thread is started again, in milliseconds. */
  #onEnd({ wasReady, error, pauseMs }: ThreadEnd): number | undefined {
    if (this.#thread.isClosing) return undefined
    const refusal = this.#refusal
    this.#refusal = undefined
    const slow = this.#slowReason
    this.#slowReason = undefined
    // A busy machine ends the thread through the watchdog. That says nothing about the files.
    const endsOften = refusal === undefined && slow === undefined && this.#endsOften()
    const reason = `${slow ?? error?.message ?? 'its thread ended'}${endsOften ? `${OFTEN} \`${PROGRAM} store check --data ${this.#dataDir}\`` : ''}`
    const isDamaged = refusal === 'damaged' || endsOften
    const retryMs = isDamaged ? this.#limits.storeDamagedRetryMs : pauseMs
    clearTimeout(this.#watchdog)
    this.#isBusyForOthers = false
    this.#openState = undefined
    // A thread that had opened the store will most likely open it again; one that had not may never succeed.
    const condition = isDamaged ? 'damaged' : slow !== undefined ? 'slow' : wasReady ? 'opening' : (refusal ?? 'away')
    this.#tracker.set(this.#closedState(reason, condition))
    rejectAll([...this.#running, ...this.#queue.clear()], reason)
    this.#running.clear()
    this.#requests.detach(reason)
    this.#log.error('store not open', { engine: this.#engine, reason, retryMs })
    return retryMs
  }

  /**
   * Records an unexpected end of the thread. Returns true if there were too many recently: damaged files may break the engine in ways
   * that it does not report.
   */
  #endsOften(): boolean {
    if (this.#engine !== 'embedded' || !this.#isOwner) return false
    const nowMs = performance.now()
    this.#ends = [...this.#ends.filter((endMs) => nowMs - endMs < ENDS_WITHIN_MS), nowMs]
    return this.#ends.length >= MAX_ENDS
  }

  #markReachable(): void {
    if (this.state.isOpen || this.#openState === undefined || this.#thread.isClosing) return
    this.#tracker.set(this.#openState)
    this.#log.info('database answers again')
  }

  /** Marks the server as gone. Until it answers a ping, calls are rejected at once instead of waiting. */
  #markUnreachable(reason: string): void {
    if (!this.state.isOpen) return
    this.#log.error('database does not answer', { reason })
    this.#tracker.set(this.#closedState(reason))
    rejectAll(this.#queue.clear(), reason)
    setTimeout(() => this.#ping(), this.#limits.storeRetryMs).unref()
  }

  /** Pings the database, bypassing the queue, even while the server counts as gone. One ping at a time. */
  #ping(): void {
    if (this.#openState === undefined || this.#thread.isClosing || this.#isPinging) return
    this.#isPinging = true
    const endPing = () => {
      this.#isPinging = false
      if (!this.state.isOpen) setTimeout(() => this.#ping(), this.#limits.storeRetryMs).unref()
    }
    void this.#run({
      operation: 'ping',
      argument: undefined,
      caller: {},
      sinceMs: performance.now(),
      resolve: endPing,
      reject: endPing,
    })
  }

  #maintain(): void {
    if (!this.state.isOpen) return
    this.ask('maintain', undefined, Date.now() + this.#limits.storeMaintenanceMs).catch((error: StoreFault) =>
      this.#log.warn('store maintenance failed', { reason: error.message }),
    )
  }
}

/** Faults that the request itself or a high load explains. They are not logged. */
const EXPECTED_FAULTS: ReadonlySet<StoreFaultKind> = new Set(['late', 'busy', 'large', 'deep'])
const DISCONNECTED = 'the client has disconnected'

/** A store whose thread ends this often within this time counts as damaged, and is opened again after a longer pause. */
const MAX_ENDS = 5
const ENDS_WITHIN_MS = 900_000
const OFTEN = '; this happened often, so the files are probably damaged: stop the service and run'

/** Says why the watchdog ended the thread, and what an operator can do. @param stuckMs the limit that can be set */
function slowReason(limitMs: number, stuckMs: number): string {
  return limitMs === stuckMs
    ? `too slow: a statement took longer than STORE_STUCK_MS (${limitMs} ms); check the processor load, or raise it`
    : `too slow: a statement took longer than ${limitMs} ms; check the processor load`
}

function rejectAll(calls: readonly QueuedCall[], reason: string): void {
  for (const call of calls) {
    clearTimeout(call.timer)
    call.reject(new StoreFault('unavailable', reason))
  }
}
