/** Stores what a process counted, at intervals and at its end. Each flush is sent until the store has acknowledged it. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { FailureLog, type Log } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import { reasonOf } from '../../wire/store-messages.ts'
import { USAGE_AMOUNTS, type UsageFlush } from '../../wire/usage-messages.ts'
import { MAX_KINDS, type SealedCounts, type UsageCount, UsageCounts } from './usage-counts.ts'

export interface UsageRecorderParts {
  readonly store: Pick<StoreClient, 'ask' | 'state' | 'untilOpen'>
  readonly log: Pick<Log, 'warn' | 'info'>
  readonly metrics: Metrics
  readonly flushMs: number
  readonly keepDays: number
  readonly maxRows: number
  /** Longest time that one operation of the database may take. */
  readonly answerMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Rows of one flush: few enough that the embedded engine is not busy with them for long. */
const ROWS_PER_FLUSH = 1000
const PRUNE_MS = 3_600_000
const DAY_MS = 86_400_000
/**
 * How long readers wait for the counts of a process that stores none. Nobody can tell a process that was killed from one that cannot reach
 * the database (decision 158).
 */
const MAX_SILENT_MS = DAY_MS

export class UsageRecorder {
  readonly #parts: UsageRecorderParts
  readonly counts: UsageCounts
  readonly #process = randomBytes(8).toString('hex')
  readonly #kinds: string[] = []
  #sequence = 0
  #completeMs = 0
  /** What is being stored; undefined if all of it is. */
  #sealed: { readonly counts: SealedCounts; readonly rows: Iterator<UsageCount>; readonly atMs: number } | undefined
  /** A flush that the store has not acknowledged, and whether all sealed counts are stored with it. */
  #sent: { readonly flush: UsageFlush; readonly isEnd: boolean } | undefined
  #running: Promise<void> | undefined
  readonly #storing: FailureLog
  readonly #pruning: FailureLog
  #prunedMs = Number.NEGATIVE_INFINITY
  readonly #timer: NodeJS.Timeout

  constructor(parts: UsageRecorderParts) {
    this.#parts = parts
    this.counts = new UsageCounts(parts.maxRows, () => void this.flush())
    const { log } = parts
    this.#storing = new FailureLog(log, {
      begin: 'cannot store usage; counting goes on in memory',
      end: 'usage is stored again',
    })
    this.#pruning = new FailureLog(log, {
      begin: 'cannot delete old usage; trying again later',
      end: 'old usage is deleted again',
    })
    this.#timer = setInterval(() => void this.#flushAndPrune(), parts.flushMs).unref()
    const { metrics, now } = parts
    metrics.gauge('usage_waiting_rows', 'Counts of usage that wait to be stored', () => this.counts.rows)
    const beginMs = now()
    metrics.gauge('usage_flush_age_seconds', 'Time since all usage of this process was stored', () =>
      Math.max(0, (now() - (this.#completeMs || beginMs)) / 1000),
    )
    metrics.samples(
      'usage_others_total',
      'Requests that were counted without their API key, because too many counts were waiting',
      'counter',
      () => [[{}, this.counts.otherRequests]],
    )
  }

  /** Returns the number of a kind of request for `counts`. */
  kind(name: string): number {
    const known = this.#kinds.indexOf(name)
    if (known >= 0) return known
    if (this.#kinds.length === MAX_KINDS) throw new Error(`there are more than ${MAX_KINDS} kinds of requests`)
    return this.#kinds.push(name) - 1
  }

  /**
   * Tells the store that this process counts, so that readers wait for its counts. Call it before the first request.
   *
   * @param waitMs longest wait. Then a later flush tells it
   */
  async register(waitMs: number): Promise<void> {
    const { store, now } = this.#parts
    const open = Promise.resolve(store.untilOpen(now() + waitMs))
    const registered = open.then(
      () => this.flush(),
      () => {}, // it is still opening
    )
    await Promise.race([registered, pause(waitMs, undefined, { ref: false })])
  }

  /** Stores what was counted before the call. What cannot be stored now is stored by a later call. */
  flush(isLast = false): Promise<void> {
    this.#running ??= this.#flush(isLast).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Stores everything that was counted. Call it when no request is open. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
    await this.flush(true)
  }

  async #flushAndPrune(): Promise<void> {
    await this.flush()
    const { store, keepDays, answerMs, now } = this.#parts
    // The monotonic clock, because the other one may jump.
    if (!store.state.isOpen || performance.now() - this.#prunedMs < PRUNE_MS) return
    this.#prunedMs = performance.now()
    try {
      while (await store.ask('pruneUsage', { keepDays }, now() + answerMs));
      this.#pruning.succeeded()
    } catch (error) {
      this.#pruning.failed(reasonOf(error))
    }
  }

  async #flush(isLast: boolean): Promise<void> {
    const { store, answerMs, now } = this.#parts
    if (!store.state.isOpen) return
    try {
      // What an interrupted flush has left is stored first, and then what was counted since.
      for (let rest = this.#sealed === undefined ? 1 : 2; rest > 0; ) {
        this.#sent ??= this.#nextFlush(isLast && rest === 1)
        // The answer says whether it was stored before; either way it is stored now.
        await store.ask('addUsage', this.#sent.flush, now() + answerMs)
        const { flush, isEnd } = this.#sent
        this.#sent = undefined
        if (!isEnd) continue
        this.#completeMs = flush.completeMs
        this.#sealed?.counts.release()
        this.#sealed = undefined
        rest--
        // So much was counted meanwhile that it cannot wait for the next interval.
        if (rest === 0 && !isLast && this.counts.isHalfFull) rest = 1
      }
      this.#storing.succeeded()
    } catch (error) {
      this.#storing.failed(reasonOf(error))
    }
  }

  #nextFlush(isLast: boolean): { readonly flush: UsageFlush; readonly isEnd: boolean } {
    if (this.#sealed === undefined) {
      const counts = this.counts.seal()
      this.#sealed = { counts, rows: counts.rows[Symbol.iterator](), atMs: this.#parts.now() }
    }
    const { rows, atMs } = this.#sealed
    const subjects: string[] = []
    const days: string[] = []
    const kinds: string[] = []
    const amounts: number[][] = USAGE_AMOUNTS.map(() => [])
    let isEnd = false
    while (!isEnd && subjects.length < ROWS_PER_FLUSH) {
      const next = rows.next()
      if (next.done === true) {
        isEnd = true
        break
      }
      const { subject, day, kind, amounts: counted } = next.value
      subjects.push(subject)
      days.push(new Date(day * DAY_MS).toISOString().slice(0, 10))
      kinds.push(this.#kinds[kind]!)
      for (const [index, column] of amounts.entries()) column.push(counted[index]!)
    }
    const flush = {
      process: this.#process,
      sequence: ++this.#sequence,
      completeMs: isEnd ? atMs : this.#completeMs,
      silentMs: MAX_SILENT_MS,
      isLast: isLast && isEnd,
      subjects,
      days,
      kinds,
      amounts,
    }
    return { flush, isEnd }
  }
}
