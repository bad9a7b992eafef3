import { ClientCounts } from '../base/client-counts.ts'
import { FairQueue, type QueueClient } from '../base/fair-queue.ts'
import { WaitLimit } from '../base/wait-limit.ts'

/**
 * Options of adaptive micro-batching: requests that arrive in the same tick of the event loop are sent together.
 *
 * A message to a thread costs more than a small request itself; a batch pays for it once. With one connection a batch
 * is one request, and it does not wait for others. At most `concurrency` batches are in flight at a time, so the
 * receiver's own queue stays empty. Clients are served in turn, the items of each in order of arrival. With
 * `maxRunningPerClient`, a client with slow items leaves the remaining threads to the others.
 */
export interface BatcherOptions<Item, Result> {
  /** How many batches may be in flight at a time: the number of threads behind `run`. */
  readonly concurrency: number
  readonly maxBatchSize: number
  readonly maxQueueSize: number
  /** The longest usual wait of an item, as `WaitLimit` describes it. */
  readonly maxWaitMs: number
  /** As in `WaitLimit`. */
  readonly few?: number
  /** Returns the longest wait of an item that may wait for longer than others; undefined for the usual limit. */
  readonly patienceMs?: (item: Item) => number | undefined
  /** Returns results in the order of the items; may reject when the thread behind it died. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Returns the client that an item is for. */
  readonly clientOf: (item: Item) => QueueClient
  /** The most items of one client that may be in flight at a time; unlimited without it. */
  readonly maxRunningPerClient?: number
  /** Returns true for an item whose caller no longer waits; it is dropped instead of being sent. */
  readonly isStale: (item: Item) => boolean
  /** Creates the error for the caller of a stale item. */
  readonly staleError: (item: Item) => Error
  /** Returns true when the thread died, so that a retry may succeed; false when the time limit ended the batch. */
  readonly isRetryable: (error: unknown, items: readonly Item[]) => boolean
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number
}

interface Pending<Item, Result> {
  readonly item: Item
  readonly sinceMs: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

/**
 * The error of an item for which there is no place: `maxQueueSize` items are waiting, of which its client has the most, or a new
 * one would wait longer than `maxWaitMs`.
 */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
  /** Time after which the queue may be short enough again. */
  readonly retryAfterSeconds: number

  constructor(waitMs: number) {
    super('queue is full')
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

/** Work, in milliseconds, that one thread should have before another thread is woken to share it. */
const MIN_THREAD_MS = 0.5

/** Queues items and sends them in batches to idle threads. See `BatcherOptions`. */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  readonly #queue: FairQueue<Pending<Item, Result>>
  readonly #running = new ClientCounts()
  #batchesInFlight = 0
  readonly #inFlight = new Set<Pending<Item, Result>[]>()
  #isFlushPlanned = false
  readonly #limit: WaitLimit

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
    this.#queue = new FairQueue(options.maxQueueSize)
    this.#limit = new WaitLimit(options.maxWaitMs, options.concurrency, options.nowMs, options.few)
  }

  /** The number of waiting items, not counting those already sent. */
  get queueSize(): number {
    return this.#queue.size
  }

  /** How long all waiting items take. An item of a client with fewer items than the others waits less. */
  get estimatedWaitMs(): number {
    return this.#limit.estimateMs(this.#queue.size)
  }

  /** False if `refuses` is false for every client. */
  get isCrowded(): boolean {
    return this.#limit.isCrowded(this.#queue.size)
  }

  /** Returns true if a new item of this client, without patience, would wait too long. */
  refuses(client: QueueClient): boolean {
    return this.#limit.refuses(this.#queue, client)
  }

  submit(item: Item): Promise<Result> {
    const { clientOf, nowMs } = this.#options
    const sinceMs = nowMs()
    const client = clientOf(item)
    const patienceMs = this.#options.patienceMs?.(item)
    const isRefused =
      patienceMs === undefined ? this.refuses(client) : this.#limit.isBeyond(this.#queue, client, patienceMs)
    if (isRefused) return Promise.reject(new QueueFullError(this.estimatedWaitMs))
    return new Promise((resolve, reject) => {
      const dropped = this.#queue.push(client, { item, sinceMs, resolve, reject })
      dropped?.reject(new QueueFullError(this.estimatedWaitMs))
      this.#planFlush()
    })
  }

  #planFlush(): void {
    if (this.#isFlushPlanned || this.#batchesInFlight >= this.#options.concurrency) return
    this.#isFlushPlanned = true
    // `setImmediate` runs after the poll phase, so every request whose bytes have already arrived joins the batch.
    setImmediate(() => {
      this.#isFlushPlanned = false
      this.#flush()
    })
  }

  #flush(): void {
    const { concurrency, maxBatchSize } = this.#options
    while (this.#queue.size > 0 && this.#batchesInFlight < concurrency) {
      // An even share for each idle thread lets a burst use every thread at once. But waking a thread costs more than a
      // few quick items, so a batch has at least `worthWaking` items.
      const evenShare = Math.ceil(this.#queue.size / (concurrency - this.#batchesInFlight))
      const { itemMs } = this.#limit
      const worthWaking = itemMs === 0 ? 1 : Math.ceil(MIN_THREAD_MS / itemMs)
      const waiting = this.#queue.size
      const batch = this.#takeFresh(Math.min(Math.max(evenShare, worthWaking), maxBatchSize))
      if (batch.length > 0) void this.#send(batch)
      else if (this.#queue.size === waiting) return // every client that waits has its share of the threads
    }
  }

  #takeFresh(count: number): Pending<Item, Result>[] {
    const { isStale, staleError, clientOf, maxRunningPerClient } = this.#options
    const canServe =
      maxRunningPerClient === undefined
        ? undefined
        : (client: QueueClient) => this.#running.of(client) < maxRunningPerClient
    const fresh: Pending<Item, Result>[] = []
    for (let taken = 0; taken < count; taken++) {
      const pending = this.#queue.shift(canServe)
      if (pending === undefined) break
      if (isStale(pending.item)) {
        pending.reject(staleError(pending.item))
        continue
      }
      fresh.push(pending)
      if (canServe !== undefined) this.#running.add(clientOf(pending.item))
    }
    return fresh
  }

  async #send(batch: Pending<Item, Result>[]): Promise<void> {
    const { clientOf, maxRunningPerClient } = this.#options
    const startMs = this.#options.nowMs()
    const items = batch.map(({ item }) => item)
    this.#batchesInFlight++
    this.#inFlight.add(batch)
    this.#limit.begin()
    try {
      const results = await this.#options.run(items)
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]!)
      })
    } catch (error) {
      if (this.#options.isRetryable(error, items)) await this.#sendOneByOne(batch)
      else for (const { reject } of batch) reject(error as Error)
    } finally {
      this.#limit.record((this.#options.nowMs() - startMs) / batch.length)
      this.#limit.end()
      this.#batchesInFlight--
      this.#inFlight.delete(batch)
      if (maxRunningPerClient !== undefined) for (const item of items) this.#running.remove(clientOf(item))
      this.#flush()
    }
  }

  /**
   * Sends the items of a failed batch again one by one: one of them may have killed the thread, and the others must
   * succeed.
   */
  async #sendOneByOne(batch: Pending<Item, Result>[]): Promise<void> {
    const { isStale, staleError } = this.#options
    for (const { item, resolve, reject } of batch) {
      // Check before each item: the previous one may have used up the time.
      if (isStale(item)) {
        reject(staleError(item))
        continue
      }
      try {
        const [result] = await this.#options.run([item])
        resolve(result!)
      } catch (error) {
        reject(error as Error)
      }
    }
  }

  /** Rejects every item that waits or is in flight. Results that arrive later are dropped. */
  abandon(error: Error): void {
    for (const { reject } of this.#queue.clear()) reject(error)
    for (const batch of this.#inFlight) for (const { reject } of batch) reject(error)
  }
}
