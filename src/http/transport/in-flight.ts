import type { Limits } from '../../config/config.ts'
import { BodyCollector, type BodyCollectorParts, BodyPages } from './body-collector.ts'
import type { DiscardLimits } from './discard.ts'

/** Time that a client gets to read a response that ended before its request. */
export const LINGER_MS = 1000

/** Connections whose rejected bodies are read at the same time. In a flood, discarded bytes must not fill the memory. */
const MAX_DISCARDING = 32

type TransportLimits = Pick<
  Limits,
  | 'maxBodyBytes'
  | 'maxStreamBytes'
  | 'maxInFlightBytes'
  | 'maxOpenBodiesPerAddress'
  | 'requestDeadlineMs'
  | 'streamIdleMs'
  | 'refusedBodyBytes'
  | 'refusedBodyMs'
  | 'receiveTimeoutMs'
>

/** An exchange as an element of the list of open exchanges. `TransportExchange` implements it. */
export interface OpenExchange {
  /** Neighbours in the list. */
  previous: OpenExchange | undefined
  next: OpenExchange | undefined
  /** Time when the request began, or of the last activity of its streams: `performance.now()`. */
  lastActivityMs: number
  /** Milliseconds that the response may take in addition to the common limit. */
  readonly extraMs: number
  readonly isReceiving: boolean
  readonly isStreamed: boolean
  expire(): void
  cut(): void
}

/**
 * All requests that have been read and not answered, ordered by arrival or last activity. Limits their bytes, their number for
 * one address and their time. One timer checks the whole list, because a timer for each request costs more than all other
 * bookkeeping.
 */
export class InFlight {
  readonly limits: TransportLimits
  count = 0
  bytes = 0
  /** True once `close` has begun; from then on every response closes its connection. */
  isDraining = false
  /** Until this `performance.now()`, connections stay open whose clients may still send a rejected body. */
  lingersUntilMs = 0
  #first: OpenExchange | undefined
  #last: OpenExchange | undefined
  readonly #pages = new BodyPages()
  readonly #openBodies = new Map<number | string, number>()
  #timer: NodeJS.Timeout | undefined
  /** Number of connections whose rejected body is read and discarded. */
  #discarding = 0

  constructor(limits: TransportLimits) {
    this.limits = limits
  }

  start(): void {
    const shortest = shortestLimit(this.limits)
    this.#timer = setInterval(() => this.expire(performance.now()), Math.max(5, Math.min(250, shortest / 8)))
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** From now on, responses close their connections, and streams end with what has arrived. */
  beginDraining(): void {
    this.isDraining = true
    let exchange = this.#first
    while (exchange !== undefined) {
      const { next } = exchange
      exchange.cut()
      exchange = next
    }
  }

  /** Keeps connections open for a moment: closing one with unread bytes resets it, and the reset can overtake the response. */
  linger(): void {
    this.lingersUntilMs = performance.now() + LINGER_MS
  }

  /**
   * Returns how much of a rejected body is still read. A shutdown waits for this for a moment.
   *
   * @param isLate true if the body was rejected because it took too long
   */
  discardLimits(isLate: boolean): DiscardLimits {
    this.linger()
    const { refusedBodyBytes, refusedBodyMs } = this.limits
    const maxMs = isLate ? Math.min(LINGER_MS, refusedBodyMs) : refusedBodyMs
    if (this.#discarding >= MAX_DISCARDING) return { maxBytes: 0, maxMs: Math.min(LINGER_MS, maxMs) }
    this.#discarding++
    return { maxBytes: refusedBodyBytes, maxMs, onEnd: () => this.#discarding-- }
  }

  add(exchange: OpenExchange): void {
    this.count++
    exchange.previous = this.#last
    if (this.#last === undefined) this.#first = exchange
    else this.#last.next = exchange
    this.#last = exchange
  }

  /** Restarts the time limit of a stream that made progress. */
  touch(exchange: OpenExchange): void {
    exchange.lastActivityMs = performance.now()
    if (exchange === this.#last) return
    this.remove(exchange)
    this.add(exchange)
  }

  remove(exchange: OpenExchange): void {
    this.count--
    const { previous, next } = exchange
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    exchange.previous = undefined
    exchange.next = undefined
  }

  /** Counts bytes. @returns false if the budget of all bodies together is used up */
  reserve(bytes: number): boolean {
    if (this.bytes + bytes > this.limits.maxInFlightBytes) return false
    this.bytes += bytes
    return true
  }

  /** Makes a collector for a body that arrives in pieces. */
  collector(parts: Omit<BodyCollectorParts, 'pages'>): BodyCollector {
    return new BodyCollector({ ...parts, pages: this.#pages })
  }

  /** Counts an unfinished body. @returns false if this owner has too many */
  openBody(owner: number | string): boolean {
    const open = this.#openBodies.get(owner) ?? 0
    if (open >= this.limits.maxOpenBodiesPerAddress) return false
    this.#openBodies.set(owner, open + 1)
    return true
  }

  closeBody(owner: number | string): void {
    const open = this.#openBodies.get(owner) ?? 0
    if (open > 1) this.#openBodies.set(owner, open - 1)
    else this.#openBodies.delete(owner)
  }

  /** Ends all requests that have taken too long. @param now value of `performance.now()` */
  expire(now: number): void {
    const { requestDeadlineMs, receiveTimeoutMs, streamIdleMs } = this.limits
    const bodyMs = Math.min(requestDeadlineMs, receiveTimeoutMs)
    const shortest = shortestLimit(this.limits)
    let exchange = this.#first
    while (exchange !== undefined && now - exchange.lastActivityMs >= shortest) {
      const { next } = exchange
      const limit = exchange.isReceiving ? (exchange.isStreamed ? streamIdleMs : bodyMs) : requestDeadlineMs
      if (now - exchange.lastActivityMs >= limit + exchange.extraMs) exchange.expire()
      exchange = next
    }
  }
}

/** Returns the shortest limit: no exchange expires before it is this old. */
function shortestLimit({ requestDeadlineMs, receiveTimeoutMs, streamIdleMs }: TransportLimits): number {
  return Math.min(requestDeadlineMs, receiveTimeoutMs, streamIdleMs)
}

const CHECK_MS = 5
/**
 * After this number of quiet checks in a row, 50 ms at least, we assume that no more requests are on their way. Checks are counted
 * because time passes also while a busy machine keeps this process waiting; between two checks the event loop has read the sockets.
 */
const QUIET_CHECKS = 10

/**
 * Waits until nothing has been in flight for a short while. A request that a kept-alive client sent before it could know of
 * the shutdown is still answered.
 *
 * @param limitMs longest wait
 */
export async function drain(inFlight: InFlight, limitMs: number): Promise<void> {
  inFlight.beginDraining()
  const start = performance.now()
  let quietChecks = 0
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now()
      const isBusy = inFlight.count > 0 || now < inFlight.lingersUntilMs
      quietChecks = isBusy ? 0 : quietChecks + 1
      if (quietChecks >= QUIET_CHECKS || now - start >= limitMs) {
        clearInterval(timer)
        resolve()
      }
    }, CHECK_MS)
  })
}
