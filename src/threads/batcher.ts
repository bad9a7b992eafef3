/**
 * Adaptive micro-batching: what arrives in one turn of the event loop travels together.
 *
 * A message to a thread costs more than a small request itself; a batch pays it once. At one connection a batch is one
 * request and nothing waits for company. At most `lanes` batches are out at a time, so the receiver's own queue stays
 * empty and the order is first in, first out.
 */
export interface BatcherOptions<Item, Result> {
  /** Batches that may be out at one time: one per thread behind `run`. */
  readonly lanes: number
  readonly maxBatchSize: number
  readonly maxQueueSize: number
  /** Longest wait that is worth queueing for, as estimated from how long items took lately. */
  readonly maxWaitMs: number
  /** Results in the order of the items; may reject when the thread behind it died. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** True for an item nobody waits for any more: it is dropped before it is sent. */
  readonly isStale: (item: Item) => boolean
  /** What the caller of a stale item gets. */
  readonly staleError: (item: Item) => Error
  /** True when the thread died, so that another may do better; false when the time was over. */
  readonly isRetryable: (error: unknown) => boolean
  /** Milliseconds on a clock that only goes forward. */
  readonly nowMs: () => number
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly sinceMs: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

/** Thrown at once when `maxQueueSize` items wait already, or a new one would wait longer than `maxWaitMs`. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
  /** When the queue may be short enough again. */
  readonly retryAfterSeconds: number

  constructor(waitMs: number) {
    super('queue is full')
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

/** Share of the newest batch in the running average of the time an item takes. */
const NEWEST_SHARE = 0.2
/** A lane's work that is worth waking another one for half of it. */
const LANE_MS = 0.5

export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  #queue: Waiting<Item, Result>[] = []
  #batchesOut = 0
  readonly #out = new Set<Waiting<Item, Result>[]>()
  #flushPlanned = false
  /** Of a lane's time, one item. */
  #itemMs = 0

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
  }

  /** Items waiting, those already sent not counted. */
  get queueSize(): number {
    return this.#queue.length
  }

  /** How long an item that came now would wait. */
  get estimatedWaitMs(): number {
    return (this.#queue.length * this.#itemMs) / this.#options.lanes
  }

  submit(item: Item): Promise<Result> {
    const { maxQueueSize, nowMs } = this.#options
    const sinceMs = nowMs()
    if (this.#queue.length >= maxQueueSize || this.#isTooSlow(sinceMs)) {
      return Promise.reject(new QueueFullError(this.estimatedWaitMs))
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, sinceMs, resolve, reject })
      this.#planFlush()
    })
  }

  /** The estimate alone would turn a burst away that comes after slow work, as at the start: somebody must be waiting long. */
  #isTooSlow(atMs: number): boolean {
    const { maxWaitMs } = this.#options
    const first = this.#queue[0]
    return first !== undefined && this.estimatedWaitMs > maxWaitMs && atMs - first.sinceMs >= maxWaitMs / 2
  }

  #planFlush(): void {
    if (this.#flushPlanned || this.#batchesOut >= this.#options.lanes) return
    this.#flushPlanned = true
    // After the poll phase: every request whose bytes are already here joins the batch.
    setImmediate(() => {
      this.#flushPlanned = false
      this.#flush()
    })
  }

  #flush(): void {
    const { lanes, maxBatchSize } = this.#options
    while (this.#queue.length > 0 && this.#batchesOut < lanes) {
      // An even share for each idle lane, so that a burst uses every thread at once; but waking one costs more than a few
      // quick items.
      const evenShare = Math.ceil(this.#queue.length / (lanes - this.#batchesOut))
      const worthWaking = this.#itemMs === 0 ? 1 : Math.ceil(LANE_MS / this.#itemMs)
      const batch = this.#takeFresh(Math.min(Math.max(evenShare, worthWaking), maxBatchSize))
      if (batch.length > 0) void this.#send(batch)
    }
  }

  #takeFresh(count: number): Waiting<Item, Result>[] {
    const { isStale, staleError } = this.#options
    return this.#queue.splice(0, count).filter(({ item, reject }) => {
      if (!isStale(item)) return true
      reject(staleError(item))
      return false
    })
  }

  async #send(batch: Waiting<Item, Result>[]): Promise<void> {
    const startMs = this.#options.nowMs()
    this.#batchesOut++
    this.#out.add(batch)
    try {
      const results = await this.#options.run(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => {
        resolve(results[index]!)
      })
    } catch (error) {
      if (this.#options.isRetryable(error)) await this.#sendAlone(batch)
      else for (const { reject } of batch) reject(error as Error)
    } finally {
      const itemMs = (this.#options.nowMs() - startMs) / batch.length
      this.#itemMs += NEWEST_SHARE * (itemMs - this.#itemMs)
      this.#batchesOut--
      this.#out.delete(batch)
      this.#flush()
    }
  }

  /** One item may have killed the thread: each goes again alone, so that the others get their answer. */
  async #sendAlone(batch: Waiting<Item, Result>[]): Promise<void> {
    const { isStale, staleError } = this.#options
    for (const { item, resolve, reject } of batch) {
      // Asked anew each time: the one before may have taken all the time there was.
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

  /** Refuses everything that waits or is out; what comes back later is dropped. */
  abandon(error: Error): void {
    for (const { reject } of this.#queue.splice(0)) reject(error)
    for (const batch of this.#out) for (const { reject } of batch) reject(error)
  }
}
