/**
 * Counts of clients that the nodes of one database share, so that an hourly limit holds for all nodes together. A node asks the database
 * for a block of requests and answers them without asking again, so few requests wait for the database. It also asks before it rejects a
 * request, and it returns a block that it has not used for a second. The cost of a request is known only afterwards, so it is reported,
 * as between the processes of a machine. While the database does not answer, all nodes together may exceed the limit by a small share.
 */
import type { ClientHours, CountKind, Counts, HourChange, HourState } from '../../wire/process-messages.ts'
import { type CountSharing, type RequestGrants, SharedCount } from './shared-counts.ts'

/** Size of a block as a share of what is left of the limit: blocks become smaller as the limit comes near. */
const BLOCK_SHARE = 0.05
/** An unused block is returned after this time. For as long, a client that reached its limit is rejected without asking the database. */
const IDLE_MS = 1000
/** Interval at which unused blocks are returned and the nodes are counted. The count also shows whether the database answers. */
const TICK_MS = 1000
/** Nothing is returned this shortly before the end of an hour: it could arrive in the next hour, which it does not belong to. */
const END_MS = 10_000
/** Largest number of changes in one statement. */
const MAX_CHANGES = 1000
/** Largest number of clients whose changes wait for a statement. */
const MAX_PENDING = 100_000
/** Number of nodes that is assumed until the database has counted them. */
const UNKNOWN_NODES = 10
/**
 * For this long the database has to report fewer nodes before that is believed. After its restart the nodes connect again one by one,
 * and the first would count only itself.
 */
const FEWER_NODES_MS = 60_000

interface SharedWindow {
  used: number
  endSeconds: number
}

interface NodeCountsParts {
  readonly hours: ClientHours & { close?(): Promise<void> }
  /** Milliseconds since the epoch, by the clock of this node. */
  readonly now: () => number
  /** Longest wait of a request for the database. */
  readonly waitMs: number
  /** Percentage by which all nodes together may exceed a limit while the database does not answer. */
  readonly excessPercent: number
  /** Called when the database stops or begins to answer. */
  readonly onChange?: (isAway: boolean, reason: string) => void
}

/** The counts of one node. */
export class NodeCounts implements CountSharing {
  readonly #parts: NodeCountsParts
  /** Counts that have something to report, request or return with a next statement, by kind and subject. */
  readonly #pending = new Map<string, Grants | SharedCount>()
  /** Clients with requests that were granted and are not used yet. */
  readonly #holding = new Set<Grants>()
  /** The costs that this node has charged and the database has counted. */
  readonly #reported = new WeakMap<SharedCount, readonly number[]>()
  readonly #timer: NodeJS.Timeout
  #onCounts: (counts: Counts) => void = () => {}
  #running: Promise<void> | undefined
  #counting: Promise<void> | undefined
  #isScheduled = false
  #isAway = false
  #isClosed = false
  /** True after a change failed, until one succeeds: a database that refuses writes still counts the nodes. */
  #areChangesFailing = false
  /** Undefined until the database has counted the nodes. */
  #nodes: number | undefined
  /** When the database began to report fewer nodes, in milliseconds since the epoch. */
  #fewerSinceMs: number | undefined
  #answeredAway = 0

  constructor(parts: NodeCountsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref()
  }

  get now(): number {
    return this.#parts.now()
  }

  /** True while the database does not answer. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Number of requests that were answered without a grant, because the database did not answer. */
  get answeredAway(): number {
    return this.#answeredAway
  }

  /** Calls a listener with the costs that the other nodes have charged. */
  listen(listener: (counts: Counts) => void): void {
    this.#onCounts = listener
  }

  /** Shares a window of costs. @param size number of its amounts */
  share(kind: CountKind, subject: number | string, endSeconds: number, size: number): SharedCount {
    return new SharedCount(this, kind, subject, endSeconds, size)
  }

  /** Shares a window of requests. */
  grants(subject: number | string, window: SharedWindow): RequestGrants {
    return new Grants(this, subject, window)
  }

  /** True if too many clients wait for the database. */
  get isFull(): boolean {
    return this.#pending.size >= MAX_PENDING
  }

  /**
   * Reports a count to the database with a next statement, at the end of this tick or later.
   *
   * @returns false if too many wait, and nothing is reported
   */
  report(count: Grants | SharedCount): boolean {
    const key = keyOf(count.kind, String(count.subject))
    const waiting = this.#pending.get(key)
    if (this.isFull && waiting === undefined) return false
    this.#pending.set(key, count)
    if (waiting instanceof Grants && waiting !== count) {
      // The client began another window. The database has one count for it, so requests of the window before do not wait any longer.
      waiting.endWaits()
      this.hold(waiting)
    }
    this.#schedule()
    return true
  }

  /** Longest wait of a request. */
  get waitMs(): number {
    return this.#parts.waitMs
  }

  hold(grants: Grants): void {
    this.#holding.add(grants)
  }

  /** Returns how many requests of a limit this node may answer without grants: all if it is the only node, because it knows all counts. */
  shareAway(limit: number): number {
    const nodes = this.#nodes ?? UNKNOWN_NODES
    if (nodes <= 1) return limit
    if (this.#parts.excessPercent === 0) return 0
    return Math.max(1, Math.floor((limit * this.#parts.excessPercent) / 100 / nodes))
  }

  countAway(requests: number): void {
    this.#answeredAway += requests
  }

  /** Returns unused requests to the database. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#running
    this.#returnUnused(0)
    while (!this.#isAway && this.#pending.size > 0) {
      await this.#flush()
      this.#returnUnused(0)
    }
    await this.#parts.hours.close?.()
  }

  #tick(): void {
    this.#returnUnused(IDLE_MS)
    this.#schedule()
    this.#counting ??= this.#askWithin(
      () => {},
      () => this.#parts.hours.countNodes(),
    )
      .then(
        (nodes) => {
          this.#setNodes(Math.max(1, nodes))
          if (this.#areChangesFailing) this.#runFlush()
          else this.#find()
        },
        (error: Error) => this.#lose(error.message),
      )
      .finally(() => {
        this.#counting = undefined
      })
  }

  #setNodes(nodes: number): void {
    if (this.#nodes === undefined || nodes >= this.#nodes) this.#fewerSinceMs = undefined
    else {
      this.#fewerSinceMs ??= this.now
      if (this.now - this.#fewerSinceMs < FEWER_NODES_MS) return
    }
    this.#nodes = nodes
  }

  #returnUnused(idleMs: number): void {
    const nowMs = this.now
    for (const grants of this.#holding) {
      if (!grants.isIdle(nowMs - idleMs)) continue
      const key = keyOf('requests', grants.subject)
      const waiting = this.#pending.get(key)
      // Requests of a newer window of the client wait. They go first, and this window is returned later.
      if (waiting !== undefined && waiting !== grants) continue
      this.#holding.delete(grants)
      if (grants.window.endSeconds * 1000 - nowMs > END_MS) this.#pending.set(key, grants)
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined || this.#isAway || this.#isClosed) return
    if (this.#pending.size === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#runFlush()
    })
  }

  #runFlush(): void {
    if (this.#isClosed) return
    this.#running ??= this.#flush().finally(() => {
      this.#running = undefined
      this.#schedule()
    })
  }

  async #flush(): Promise<void> {
    const batch = new Map<string, Grants | SharedCount>()
    for (const [key, count] of this.#pending) {
      if (batch.size === MAX_CHANGES) break
      batch.set(key, count)
      this.#pending.delete(key)
    }
    const changes = [...batch.values()].map((count) =>
      count instanceof Grants ? count.change() : this.#costChange(count),
    )
    const giveUp = () => {
      this.#areChangesFailing = true
      for (const count of batch.values()) if (count instanceof Grants) count.giveUp()
    }
    try {
      const hours = await this.#askWithin(giveUp, () => this.#parts.hours.change(changes))
      const changed = new Map(changes.map((change) => [keyOf(change.kind, change.subject), change]))
      for (const hour of hours) {
        const key = keyOf(hour.kind, hour.subject)
        const count = batch.get(key)!
        if (count instanceof Grants) count.receive(hour, changed.get(key)!)
        else this.#receiveCosts(count, hour, changed.get(key)!)
      }
      this.#areChangesFailing = false
      this.#find()
    } catch (error) {
      this.#areChangesFailing = true
      this.#lose((error as Error).message)
      for (const change of changes) {
        const key = keyOf(change.kind, change.subject)
        const count = batch.get(key)!
        if (count instanceof Grants) count.fail(change)
        // The change may be stored nevertheless. A cost that counts twice is better than one that never counts.
        else if (!this.#pending.has(key)) this.#pending.set(key, count)
      }
    }
  }

  /** Asks the database. If it does not answer in time, it counts as unavailable until it does. */
  async #askWithin<T>(onLate: () => void, ask: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#lose(`no answer within ${this.#parts.waitMs} ms`)
      onLate()
    }, this.#parts.waitMs)
    try {
      return await ask()
    } finally {
      clearTimeout(timer)
    }
  }

  #lose(reason: string): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#fewerSinceMs = undefined
    this.#parts.onChange?.(true, reason)
    for (const count of this.#pending.values()) if (count instanceof Grants) count.giveUp()
  }

  #find(): void {
    if (!this.#isAway) return
    this.#isAway = false
    this.#parts.onChange?.(false, '')
    this.#schedule()
  }

  #costChange(count: SharedCount): HourChange {
    const reported = this.#reported.get(count) ?? []
    const amounts = count.own.map((amount, index) => amount - (reported[index] ?? 0))
    return { kind: 'costs', subject: String(count.subject), limit: 0, want: 0, amounts }
  }

  #receiveCosts(count: SharedCount, hour: HourState, change: HourChange): void {
    const reported = this.#reported.get(count) ?? []
    const own = change.amounts.map((amount, index) => amount + (reported[index] ?? 0))
    this.#reported.set(count, own)
    const amounts = own.map((amount, index) => Math.max(0, hour.amounts[index]! - amount))
    const endSeconds = Math.floor(this.now / 1000) + hour.secondsLeft
    this.#onCounts({ kind: 'costs', subject: count.subject, endSeconds, amounts })
  }
}

function keyOf(kind: CountKind, subject: number | string): string {
  return `${kind} ${subject}`
}

interface Waiter {
  readonly requests: number
  readonly limit: number
  readonly resolve: (granted: number) => void
}

/** The requests of one client in one hour that this node may answer. */
class Grants implements RequestGrants {
  readonly kind = 'requests'
  readonly #counts: NodeCounts
  readonly subject: string
  readonly window: SharedWindow
  /** Requests that were granted and are not used yet. */
  #unused = 0
  /** Requests that were answered without a grant and are not reported yet. */
  #debt = 0
  /** Requests that were answered without a grant in this hour. */
  #away = 0
  #limit = 0
  #lastUseMs = 0
  /** Until this time a limit counts as reached, and the database is not asked. */
  #emptyUntilMs = 0
  #emptyLimit = 0
  #waiters: Waiter[] = []
  /** Ends the waits when the first of them has lasted as long as allowed: behind many other clients, it takes several statements. */
  #waitTimer: NodeJS.Timeout | undefined

  constructor(counts: NodeCounts, subject: number | string, window: SharedWindow) {
    this.#counts = counts
    this.subject = String(subject)
    this.window = window
  }

  isIdle(beforeMs: number): boolean {
    return this.#lastUseMs <= beforeMs
  }

  take(requests: number, limit: number): number | Promise<number> {
    this.#limit = limit
    const nowMs = this.#counts.now
    this.#lastUseMs = nowMs
    const isEmpty = nowMs < this.#emptyUntilMs && limit <= this.#emptyLimit
    if (this.#waiters.length === 0 && (this.#unused >= requests || isEmpty)) return this.#use(requests, limit)
    if (this.#counts.isAway || this.#counts.isFull) return this.#takeAway(requests, limit)
    return new Promise((resolve) => {
      this.#waiters.push({ requests, limit, resolve })
      this.#waitTimer ??= setTimeout(() => this.giveUp(), this.#counts.waitMs)
      this.#counts.report(this)
    })
  }

  giveBack(requests: number): void {
    if (requests === 0) return
    this.#unused += requests
    this.window.used -= requests
    // Others that wait may use them.
    this.#counts.hold(this)
  }

  /** Returns the next change: requests to report, and requests that are wanted or returned. */
  change(): HourChange {
    const debt = this.#debt
    this.#debt = 0
    let want = -this.#unused
    if (this.#waiters.length > 0) {
      const waiting = this.#waiters.reduce((sum, { requests }) => sum + requests, 0)
      // The keys and sessions of one account may have different limits.
      this.#limit = this.#waiters.reduce((most, { limit }) => Math.max(most, limit), 0)
      want = Math.max(waiting - this.#unused, Math.ceil((this.#limit - this.window.used) * BLOCK_SHARE), 1)
    } else this.#unused = 0
    return { kind: 'requests', subject: this.subject, limit: this.#limit, want, amounts: [debt] }
  }

  receive({ granted, amounts, secondsLeft }: HourState, { want }: HourChange): void {
    const nowMs = this.#counts.now
    this.window.endSeconds = Math.floor(nowMs / 1000) + secondsLeft
    if (want > 0) this.#unused += granted
    this.window.used = amounts[0]! - this.#unused + this.#debt
    const isReached = amounts[0]! >= this.#limit
    const waiters = this.#waiters
    this.#waiters = []
    for (const waiter of waiters) {
      // A request that came while the database was asked may need another block.
      const fitting = Math.min(waiter.requests, waiter.limit - this.window.used)
      if (!isReached && this.#unused < fitting) this.#waiters.push(waiter)
      else waiter.resolve(this.#use(waiter.requests, waiter.limit))
    }
    if (this.#waiters.length > 0) {
      if (!this.#counts.report(this)) this.giveUp()
    } else {
      this.#stopTimer()
      if (isReached && this.#unused === 0) {
        this.#emptyUntilMs = nowMs + IDLE_MS
        this.#emptyLimit = this.#limit
      }
    }
    if (this.#unused > 0) this.#counts.hold(this)
  }

  /** Ends all waits with what was granted before. */
  endWaits(): void {
    for (const { requests, limit, resolve } of this.#takeWaiters()) resolve(this.#use(requests, limit))
  }

  /** Ends all waits, because the database does not answer in time. Requests within the share of this node are answered. */
  giveUp(): void {
    for (const { requests, limit, resolve } of this.#takeWaiters()) resolve(this.#takeAway(requests, limit))
  }

  #takeWaiters(): readonly Waiter[] {
    const waiters = this.#waiters
    this.#waiters = []
    this.#stopTimer()
    return waiters
  }

  #stopTimer(): void {
    clearTimeout(this.#waitTimer)
    this.#waitTimer = undefined
  }

  /** A block may have been granted, and then stays counted. Requests that were answered without a grant are reported again. */
  fail({ amounts }: HourChange): void {
    this.#debt += amounts[0]!
    if (this.#debt > 0) this.#counts.report(this)
    this.giveUp()
  }

  #use(requests: number, limit: number): number {
    const used = Math.max(0, Math.min(requests, this.#unused, limit - this.window.used))
    this.#unused -= used
    this.window.used += used
    return used
  }

  #takeAway(requests: number, limit: number): number {
    const used = this.#use(requests, limit)
    const left = Math.min(this.#counts.shareAway(limit) - this.#away, limit - this.window.used)
    const more = Math.max(0, Math.min(requests - used, left))
    this.#away += more
    this.#debt += more
    this.window.used += more
    this.#counts.countAway(more)
    if (more > 0) this.#counts.report(this)
    return used + more
  }
}
