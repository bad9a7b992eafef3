/** How long a request may wait in a queue, and when a service counts as overloaded. */
import type { FairQueue, QueueClient } from './fair-queue.ts'

/** The overload is over when no request was refused for this long. */
const OVERLOAD_MS = 1000
/**
 * Then it is over in any case. Otherwise it might never end: a client with 200 connections that sends refused requests again is
 * refused in an overload, although all of its requests find room otherwise.
 */
const MAX_OVERLOAD_MS = 10_000

/** The time from the first refusal until a while after the last one, in which queues are short. */
export class Overload {
  readonly #nowMs: () => number
  #sinceMs = Number.NEGATIVE_INFINITY
  #untilMs = Number.NEGATIVE_INFINITY

  /** @param nowMs returns milliseconds of a clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get isOn(): boolean {
    return this.#nowMs() < this.#untilMs
  }

  /** Call it for each request that is refused. */
  countRefusal(): void {
    const nowMs = this.#nowMs()
    if (nowMs >= this.#untilMs) this.#sinceMs = nowMs
    this.#untilMs = Math.min(nowMs + OVERLOAD_MS, this.#sinceMs + MAX_OVERLOAD_MS)
  }
}

/** Weight of the newest time in the moving average of the time per item. */
const NEWEST_SHARE = 0.2
/**
 * A request with fewer items before it may wait, however long they take: a few connections are no overload, whatever they request. The time per
 * item says little on a machine that just stood still.
 */
const FEW = 16
/** The part of the longest wait that a client is allowed in its overload, or the time of one item if that is longer. */
const OVERLOAD_PART = 1 / 8
/**
 * If nothing was served for this long, there is room for more, and all overloads are over. Clients that all wait for the time of
 * `Retry-After` leave such gaps.
 */
const IDLE_MS = 100
/** Maximum number of clients whose overloads are kept. Beyond it the client that was refused first loses its overload. */
const MAX_OVERLOADS = 1024

/**
 * Decides whether a request may join a queue, by the time that it would probably wait there. A burst may wait for longer. But a client that was
 * refused sends more than can be served, and a long queue would only delay what is. So until its overload ends, it has a short queue. The
 * overload of a client does not affect the others, because one client must not cause refusals for the others.
 */
export class WaitLimit {
  readonly #maxMs: number
  readonly #concurrency: number
  readonly #nowMs: () => number
  readonly #overloads = new Map<QueueClient, Overload>()
  readonly #few: number
  /** Moving average of the time that an item takes. */
  #itemMs = 0
  #running = 0
  #idleSinceMs = Number.NEGATIVE_INFINITY

  /**
   * @param maxMs the longest usual wait, unless few items wait
   * @param concurrency how many items are served at a time
   * @param nowMs returns milliseconds of a clock
   * @param few while fewer items wait, none is refused outside an overload
   */
  constructor(maxMs: number, concurrency: number, nowMs: () => number, few = FEW) {
    this.#few = few
    this.#maxMs = maxMs
    this.#concurrency = concurrency
    this.#nowMs = nowMs
  }

  /** Moving average of the time that an item takes. */
  get itemMs(): number {
    return this.#itemMs
  }

  /** Call it when an item, or several together, begin to be served. */
  begin(): void {
    if (this.#running++ === 0 && this.#nowMs() - this.#idleSinceMs >= IDLE_MS) this.#overloads.clear()
  }

  /** Call it when they were served. */
  end(): void {
    if (--this.#running === 0) this.#idleSinceMs = this.#nowMs()
  }

  /** Call it with the time that each item took once it was served. */
  record(itemMs: number): void {
    this.#itemMs += NEWEST_SHARE * (itemMs - this.#itemMs)
  }

  /** Returns how long this many items take. */
  estimateMs(items: number): number {
    return (items * this.#itemMs) / this.#concurrency
  }

  /** False if a queue of this length refuses no client. Costs almost nothing. */
  isCrowded(items: number): boolean {
    return this.estimateMs(items) > this.#overloadMs
  }

  /**
   * Returns true if a new request of this client would wait too long. It must then be refused.
   *
   * The estimate alone would refuse a burst that follows slow work, for example at startup, so the next item must really wait long.
   */
  refuses(queue: FairQueue<{ readonly sinceMs: number }>, client: QueueClient): boolean {
    if (!this.isBeyond(queue, client, this.#longestMs(client))) return false
    return !this.#isFew(queue.countAhead(client), client) && this.#countRefusal(client)
  }

  /** As `refuses`, with a limit of its own for a request that is patient. */
  isBeyond(queue: FairQueue<{ readonly sinceMs: number }>, client: QueueClient, maxMs: number): boolean {
    const { first } = queue
    if (first === undefined || this.estimateMs(queue.size) <= maxMs) return false
    return this.#nowMs() - first.sinceMs >= maxMs / 2 && this.estimateMs(queue.countAhead(client)) > maxMs
  }

  /**
   * Returns true if a request whose turn has come has waited too long after all.
   *
   * @param waiting how many others wait
   */
  refusesLate(client: QueueClient, sinceMs: number, waiting: number): boolean {
    if (this.#nowMs() - sinceMs <= this.#longestMs(client)) return false
    return !this.#isFew(waiting, client) && this.#countRefusal(client)
  }

  get #overloadMs(): number {
    return Math.max(OVERLOAD_PART * this.#maxMs, this.estimateMs(1))
  }

  #longestMs(client: QueueClient): number {
    return this.#isOverloaded(client) ? this.#overloadMs : this.#maxMs
  }

  #isFew(items: number, client: QueueClient): boolean {
    return items < this.#few && !this.#isOverloaded(client)
  }

  #isOverloaded(client: QueueClient): boolean {
    return this.#overloads.get(client)?.isOn === true
  }

  #countRefusal(client: QueueClient): true {
    const overload = this.#overloads.get(client) ?? new Overload(this.#nowMs)
    overload.countRefusal()
    this.#overloads.set(client, overload)
    const [first] = this.#overloads.keys()
    if (this.#overloads.size > MAX_OVERLOADS) this.#overloads.delete(first)
    return true
  }
}
