import type { AnySigningResult, SigningItem, SigningPayload, SigningRefusal } from '../messages.ts'

export interface SigningQueueOptions {
  readonly maxQueueSize: number
  readonly maxBatchSize: number
  /** Longest wait for one signature. */
  readonly timeoutMs: number
  /** @param bulk of batches */
  readonly send: (items: readonly SigningItem[], bulk: readonly SigningItem[]) => void
}

/** One message on its way, one being signed: the thread never idles, and what piles up meanwhile travels together. */
const MESSAGES_OUT = 2
/** Payloads of batches in a message that has no others (1 ms of signing), and in one that has. */
const BULK_ALONE = 24
const BULK_BESIDE = 4

interface Waiting {
  readonly resolve: (result: AnySigningResult) => void
  readonly sinceMs: number
}

/**
 * Micro-batches payloads for the signer thread: one message a payload costs main 11 µs, 32 in a message 1 µs each.
 *
 * Results come back by id and in any order, for a payload may have to wait for a nonce while those after it need not.
 */
export class SigningQueue {
  readonly #options: SigningQueueOptions
  /** Every payload that has no result yet, oldest first, queued or sent. */
  readonly #waiting = new Map<number, Waiting>()
  #queue: SigningItem[] = []
  /** Payloads of batches: whoever asks for one answer does not stand behind a thousand. */
  #bulk: SigningItem[] = []
  #nextId = 0
  #messagesOut = 0
  #flushPlanned = false
  #sweep: NodeJS.Timeout | undefined

  constructor(options: SigningQueueOptions) {
    this.#options = options
  }

  /** @param isBulk for a batch: it lets single requests pass */
  submit(payload: SigningPayload, isBulk = false): Promise<AnySigningResult> {
    const { maxQueueSize, timeoutMs } = this.#options
    if (this.#waiting.size >= maxQueueSize) return Promise.resolve(overloaded('too many answers wait for a signature'))
    return new Promise((resolve) => {
      const id = this.#nextId++
      this.#waiting.set(id, { resolve, sinceMs: performance.now() })
      const queue = isBulk ? this.#bulk : this.#queue
      queue.push([id, payload])
      this.#planFlush()
      this.#sweep ??= setTimeout(() => this.#endOverdue(), timeoutMs).unref()
    })
  }

  /** What came back; results nobody waits for any more are dropped. */
  take(results: readonly (readonly [number, AnySigningResult])[], isBatchEnd: boolean): void {
    for (const [id, result] of results) this.#settle(id, result)
    if (!isBatchEnd) return
    this.#messagesOut--
    if (this.#queue.length + this.#bulk.length > 0) this.#planFlush()
  }

  /** The thread died: everybody who waits may try again. */
  fail(detail: string): void {
    this.#queue = []
    this.#bulk = []
    this.#messagesOut = 0
    for (const id of [...this.#waiting.keys()]) this.#settle(id, overloaded(detail))
  }

  #planFlush(): void {
    if (this.#flushPlanned || this.#messagesOut >= MESSAGES_OUT) return
    this.#flushPlanned = true
    setImmediate(() => {
      this.#flushPlanned = false
      this.#flush()
    })
  }

  #flush(): void {
    const { maxBatchSize, send } = this.#options
    while (this.#queue.length + this.#bulk.length > 0 && this.#messagesOut < MESSAGES_OUT) {
      this.#messagesOut++
      const items = this.#queue.splice(0, maxBatchSize)
      // Few beside others, so that those are soon back; never none, so that a batch ends under any load.
      const bulk = this.#bulk.splice(0, items.length === 0 ? BULK_ALONE : BULK_BESIDE)
      const isWaiting = ([id]: SigningItem) => this.#waiting.has(id)
      send(items.filter(isWaiting), bulk.filter(isWaiting))
    }
  }

  /** One timer for all: ends those who waited too long, and looks again when the oldest of the others is due. */
  #endOverdue(): void {
    const { timeoutMs } = this.#options
    this.#sweep = undefined
    const nowMs = performance.now()
    for (const [id, { sinceMs }] of this.#waiting) {
      const leftMs = sinceMs + timeoutMs - nowMs
      if (leftMs > 0) {
        this.#sweep = setTimeout(() => this.#endOverdue(), leftMs).unref()
        return
      }
      this.#settle(id, overloaded('the signature took longer than its deadline'))
    }
    // Every waiting one is over: a thread that hangs must not find them all when it comes back.
    this.#queue = []
    this.#bulk = []
  }

  #settle(id: number, result: AnySigningResult): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.resolve(result)
  }
}

/** A refusal after which the same request may succeed. */
export function overloaded(detail: string): SigningRefusal {
  return { ok: false, problem: { type: 'overloaded', detail, retryAfterSeconds: 1 } }
}
