/**
 * Counts of clients that several processes share, so that a limit holds for all processes of a machine together. Each process counts
 * what it answers, and reports each hundredth of the limit immediately. The data process adds up the reports and sends the processes the
 * total of the others. No request waits for this, so a client can exceed its limit by at most one hundredth for each further process,
 * plus the requests that are answered while a report is on its way.
 */
import type { CountKind, CountReport, Counts } from '../../wire/process-messages.ts'

/** The requests that a node may answer. */
export interface RequestGrants {
  /** Takes requests from the quota of an hour. @returns how many were granted; a promise if the other nodes have to be asked */
  take(requests: number, limit: number): number | Promise<number>
  /** Returns requests that were granted and are not answered. */
  giveBack(requests: number): void
}

/** How the limiters share what they count. */
export interface CountSharing {
  /** Calls a listener with the counts of the other processes or nodes. */
  listen(listener: (counts: Counts) => void): void
  /** Shares a window that has just begun. @param size number of its amounts */
  share(kind: CountKind, subject: number | string, endSeconds: number, size: number): SharedCount
  /** Shares a window of requests. Present only if other nodes have to be asked before a request is answered. */
  grants?(subject: number | string, window: { used: number; endSeconds: number }): RequestGrants
}

const REPORT_SHARE = 0.01
const RETRY_MS = 250

/** Reports counts to the other processes or nodes. */
interface CountReporter {
  report(count: SharedCount): void
}

/** What this process has counted for one client in one hour, and what it has reported of it. */
export class SharedCount {
  readonly #counts: CountReporter
  readonly kind: CountKind
  readonly subject: number | string
  /** When the hour ends, in Unix seconds. It may become that of an hour that began earlier in another process. */
  endSeconds: number
  readonly own: number[]
  readonly #reported: number[]
  readonly #others: number[]
  #isNew = true

  constructor(counts: CountReporter, kind: CountKind, subject: number | string, endSeconds: number, size: number) {
    this.#counts = counts
    this.kind = kind
    this.subject = subject
    this.endSeconds = endSeconds
    this.own = new Array<number>(size).fill(0)
    this.#reported = new Array<number>(size).fill(0)
    this.#others = new Array<number>(size).fill(0)
  }

  /** @param limit of the hour */
  add(index: number, amount: number, limit: number): void {
    this.own[index]! += amount
    if (!this.#isNew && this.own[index]! - this.#reported[index]! < limit * REPORT_SHARE) return
    this.#isNew = false
    for (const [place, own] of this.own.entries()) this.#reported[place] = own
    this.#counts.report(this)
  }

  /** Receives the counts of the others. @returns by how much each amount has grown */
  grow(amounts: readonly number[]): number[] {
    // A restarted data process counts from zero again. What is known here never decreases.
    return amounts.map((amount, index) => {
      const growth = Math.max(0, amount - this.#others[index]!)
      this.#others[index]! += growth
      return growth
    })
  }
}

/** A connection to the data process. */
interface CountPort {
  on(event: 'message', listener: (report: CountReport) => void): void
  on(event: 'close', listener: () => void): void
  postMessage(report: CountReport): void
}

/** The connection over which one process shares its counts. */
export class SharedCounts implements CountSharing {
  readonly #connect: () => CountPort
  #port: CountPort
  #pending = new Set<SharedCount>()
  #onCounts: (counts: Counts) => void = () => {}

  /** @param connect opens a connection to the data process; called again when it has closed */
  constructor(connect: () => CountPort) {
    this.#connect = connect
    this.#port = this.#open()
  }

  /** Calls a listener with the counts of the other processes. */
  listen(listener: (counts: Counts) => void): void {
    this.#onCounts = listener
  }

  /** Shares a window that has just begun. @param size number of its amounts */
  share(kind: CountKind, subject: number | string, endSeconds: number, size: number): SharedCount {
    return new SharedCount(this, kind, subject, endSeconds, size)
  }

  /** Reports a count at the end of this tick, in one message with others. */
  report(count: SharedCount): void {
    if (this.#pending.size === 0) setImmediate(() => this.#flush())
    this.#pending.add(count)
  }

  #flush(): void {
    const counts = [...this.#pending].map(({ kind, subject, endSeconds, own }) => {
      return { kind, subject, endSeconds, amounts: own }
    })
    this.#pending.clear()
    this.#port.postMessage({ type: 'counts', counts })
  }

  #open(): CountPort {
    const port = this.#connect()
    port.on('message', ({ counts }) => {
      for (const entry of counts) this.#onCounts(entry)
    })
    port.on('close', () => {
      setTimeout(() => {
        this.#port = this.#open()
      }, RETRY_MS).unref()
    })
    return port
  }
}
