import type { Limits } from '../config.ts'
import { BodyCollector, type BodyCollectorParts } from './body-collector.ts'
import { BodyPages } from './body-pages.ts'
import type { DiscardLimits } from './discard.ts'
import type { TransportExchange } from './transport-exchange.ts'

/** A client whose answer ended before its request gets this long to read it. */
export const LINGER_MS = 1000

/** Connections whose refused bodies are read at one time: in a flood, what is thrown away must not fill the memory. */
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

/**
 * Every request that is read and not answered, in the order of arrival or last movement: bounds their bytes, their number for one
 * address and their time. Time is looked at by one timer over the whole list, for a timer a request costs more than
 * the rest of the bookkeeping.
 */
export class InFlight {
  readonly limits: TransportLimits
  count = 0
  bytes = 0
  /** True from the beginning of `close`: every answer then closes its connection. */
  draining = false
  /** `performance.now()` until which connections stay open whose clients may still send what nobody takes. */
  lingersUntilMs = 0
  #first: TransportExchange | undefined
  #last: TransportExchange | undefined
  readonly #pages = new BodyPages()
  readonly #openBodies = new Map<number | string, number>()
  #timer: NodeJS.Timeout | undefined
  /** Connections whose refused body is read and thrown away. */
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

  /** From now on answers close their connections, and streams end with what has come. */
  beginDraining(): void {
    this.draining = true
    let exchange = this.#first
    while (exchange !== undefined) {
      const { next } = exchange
      exchange.cut()
      exchange = next
    }
  }

  /** A connection that is closed with unread bytes is reset, and a reset can overtake the answer. */
  linger(): void {
    this.lingersUntilMs = performance.now() + LINGER_MS
  }

  /**
   * What is still read of a body that was refused; a stop of the service waits for it a moment.
   *
   * @param isLate true when the body was refused because it took too long
   */
  discardLimits(isLate: boolean): DiscardLimits {
    this.linger()
    const { refusedBodyBytes, refusedBodyMs } = this.limits
    const maxMs = isLate ? Math.min(LINGER_MS, refusedBodyMs) : refusedBodyMs
    if (this.#discarding >= MAX_DISCARDING) return { maxBytes: 0, maxMs: Math.min(LINGER_MS, maxMs) }
    this.#discarding++
    return { maxBytes: refusedBodyBytes, maxMs, onEnd: () => this.#discarding-- }
  }

  add(exchange: TransportExchange): void {
    this.count++
    exchange.previous = this.#last
    if (this.#last === undefined) this.#first = exchange
    else this.#last.next = exchange
    this.#last = exchange
  }

  /** Something moved in a stream: its time begins anew. */
  touch(exchange: TransportExchange): void {
    exchange.movedMs = performance.now()
    if (exchange === this.#last) return
    this.remove(exchange)
    this.add(exchange)
  }

  remove(exchange: TransportExchange): void {
    this.count--
    const { previous, next } = exchange
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    exchange.previous = undefined
    exchange.next = undefined
  }

  /** @returns false when the budget of all bodies together is spent */
  reserve(bytes: number): boolean {
    if (this.bytes + bytes > this.limits.maxInFlightBytes) return false
    this.bytes += bytes
    return true
  }

  /** What puts a body together that comes in pieces. */
  collector(parts: Omit<BodyCollectorParts, 'pages'>): BodyCollector {
    return new BodyCollector({ ...parts, pages: this.#pages })
  }

  /** @returns false when this address has too many unfinished bodies */
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

  /** Refuses what has taken too long. @param now as of `performance.now()` */
  expire(now: number): void {
    const { requestDeadlineMs, receiveTimeoutMs, streamIdleMs } = this.limits
    const bodyMs = Math.min(requestDeadlineMs, receiveTimeoutMs)
    const shortest = shortestLimit(this.limits)
    let exchange = this.#first
    while (exchange !== undefined && now - exchange.movedMs >= shortest) {
      const { next } = exchange
      const limit = exchange.isReceiving ? (exchange.isStreamed ? streamIdleMs : bodyMs) : requestDeadlineMs
      if (now - exchange.movedMs >= limit + exchange.moreMs) exchange.expire()
      exchange = next
    }
  }
}

/** No exchange is refused before it is this old. */
function shortestLimit({ requestDeadlineMs, receiveTimeoutMs, streamIdleMs }: TransportLimits): number {
  return Math.min(requestDeadlineMs, receiveTimeoutMs, streamIdleMs)
}
