/** The requests that have been read and not answered: their number, their time, and the pieces of their bodies. */
import { freeBuffer, isLarge } from '../../base/bytes.ts'
import type { Limits } from '../../config/config.ts'
import { BodyMemory, type BodyMemoryLimits } from './body-memory.ts'
import type { DiscardLimits } from './discard.ts'
import type { BodyReceiver } from './port.ts'

/** Time that a client gets to read a response that ended before its request. */
export const LINGER_MS = 1000

/** Connections whose rejected bodies are read at the same time. In a flood, discarded bytes must not fill the memory. */
const MAX_DISCARDING = 32

/**
 * Requests that are read without a response: of one connection on node:http, in one tick of the event loop on uWebSockets.js. More would
 * hold up the other connections.
 */
export const MAX_PIPELINED = 128

type TransportLimits = BodyMemoryLimits &
  Pick<
    Limits,
    | 'maxBodyBytes'
    | 'maxStreamBytes'
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
  /** True while the client can neither send nor read, because the service has paused it. */
  readonly isWaitingForUs: boolean
  expire(): void
  cut(): void
}

/**
 * All requests that have been read and not answered, ordered by arrival or last activity. Limits their time. One timer checks the whole
 * list, because a timer for each request costs more than all other bookkeeping.
 */
export class InFlight {
  readonly limits: TransportLimits
  readonly memory: BodyMemory
  count = 0
  /** True once `close` has begun; from then on every response closes its connection. */
  isDraining = false
  /** True once another process has taken over: responses close their connections, and streams continue. */
  isRetiring = false
  /** Until this `performance.now()`, connections stay open whose clients may still send a rejected body. */
  lingersUntilMs = 0
  #first: OpenExchange | undefined
  #last: OpenExchange | undefined
  readonly #pages = new BodyPages()
  #timer: NodeJS.Timeout | undefined
  /** Number of connections whose rejected body is read and discarded. */
  #discarding = 0

  constructor(limits: TransportLimits) {
    this.limits = limits
    this.memory = new BodyMemory(limits)
  }

  start(): void {
    const shortestMs = shortestLimitMs(this.limits)
    this.#timer = setInterval(() => this.expire(performance.now()), Math.max(5, Math.min(250, shortestMs / 8)))
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

  /** Makes a collector for a body that arrives in pieces. */
  collector(parts: Omit<BodyCollectorParts, 'pages'>): BodyCollector {
    return new BodyCollector({ ...parts, pages: this.#pages })
  }

  /** Ends all requests that have taken too long. @param nowMs value of `performance.now()` */
  expire(nowMs: number): void {
    const { requestDeadlineMs, receiveTimeoutMs, streamIdleMs } = this.limits
    const shortestMs = shortestLimitMs(this.limits)
    let exchange = this.#first
    while (exchange !== undefined && nowMs - exchange.lastActivityMs >= shortestMs) {
      const { next } = exchange
      const limitMs = exchange.isReceiving ? (exchange.isStreamed ? streamIdleMs : receiveTimeoutMs) : requestDeadlineMs
      const isOver = nowMs - exchange.lastActivityMs >= limitMs + exchange.extraMs
      // If the service has paused a client, the silence of that client does not count.
      if (isOver && !exchange.isWaitingForUs) exchange.expire()
      exchange = next
    }
  }
}

/** Returns the shortest time limit: no exchange expires before it is this old. */
function shortestLimitMs({ receiveTimeoutMs, streamIdleMs }: TransportLimits): number {
  // The time to receive a request is never longer than the time for its response.
  return Math.min(receiveTimeoutMs, streamIdleMs)
}

const CHECK_MS = 5
/**
 * After this number of quiet checks in a row (at least 50 ms), we assume that no more requests are on their way. Checks are counted
 * because time passes also while a busy machine keeps this process waiting; between two checks the event loop has read the sockets.
 */
const QUIET_CHECKS = 10

/**
 * Waits until nothing has been in flight for a short while. A request that a kept-alive client sent before it noticed the shutdown is
 * still answered.
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

/**
 * Lets the clients move to the process that has taken over: each response closes its connection. Closing it earlier could lose a
 * request that the client has just sent.
 *
 * @param connections returns the number of open connections
 * @param limitMs longest wait
 */
export async function retire(inFlight: InFlight, connections: () => number, limitMs: number): Promise<void> {
  inFlight.isRetiring = true
  const start = performance.now()
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (connections() > 0 && performance.now() - start < limitMs) return
      clearInterval(timer)
      resolve()
    }, CHECK_MS)
  })
}

/** From this size on, memory for a body comes from reusable pages. */
const MIN_PAGE_BYTES = 4096
const MAX_PAGE_BYTES = 65_536
/** Total size of the free pages; the memory of pages beyond it is freed. */
const MAX_FREE_BYTES = 4 * 1_048_576

/**
 * A pool of pages for bodies that arrive in many pieces. The pages of a rejected body are reusable at once. When they were left
 * to the garbage collector, the rejected bodies of a flood took up memory in addition to the accepted ones.
 */
export class BodyPages {
  /** Indexed by the binary logarithm of the page size. */
  readonly #free: Uint8Array[][] = []
  #freeBytes = 0

  /** @returns a page of 4 to 64 KiB, the largest that `bytes` fill; its content is undefined */
  take(bytes: number): Uint8Array {
    const size = pageBytes(bytes)
    const page = this.#free[Math.log2(size)]?.pop()
    if (page === undefined) return new Uint8Array(size)
    this.#freeBytes -= size
    return page
  }

  /** @param page from `take`; the caller must not use it any more */
  release(page: Uint8Array): void {
    const size = page.byteLength
    if (this.#freeBytes + size > MAX_FREE_BYTES) {
      freeChunk(page)
      return
    }
    this.#freeBytes += size
    const sizeClass = Math.log2(size)
    const pages = this.#free[sizeClass]
    if (pages === undefined) this.#free[sizeClass] = [page]
    else pages.push(page)
  }
}

function pageBytes(bytes: number): number {
  if (bytes >= MAX_PAGE_BYTES) return MAX_PAGE_BYTES
  return bytes <= MIN_PAGE_BYTES ? MIN_PAGE_BYTES : 1 << (31 - Math.clz32(bytes))
}

/** Frees the memory of a chunk that was handed over and is not needed any more. */
export function freeChunk(chunk: Uint8Array): void {
  if (isLarge(chunk)) freeBuffer(chunk.buffer)
}

interface BodyCollectorParts {
  readonly pages: BodyPages
  /** Size according to the head; undefined for a chunked body. */
  readonly announcedBytes: number | undefined
  /** Copies bytes that are valid only during a call; undefined if the transport hands them over. */
  readonly copyChunk: ((chunk: Uint8Array) => Uint8Array) | undefined
  /** Called once with the whole body, which then belongs to the receiver. */
  readonly receive: (body: Uint8Array) => void
}

/** Joins the pieces of a body. It never holds more than twice the size of the body, however small the pieces are. */
export class BodyCollector implements BodyReceiver {
  readonly takesCopies = true
  readonly #parts: BodyCollectorParts
  /** Views of the used parts of pages, or the whole body in one chunk. */
  #pieces: Uint8Array[] = []
  readonly #pages: Uint8Array[] = []
  #size = 0
  /** Bytes [from, to) of the last page are not among the pieces yet. */
  #from = 0
  #to = 0

  constructor(parts: BodyCollectorParts) {
    this.#parts = parts
  }

  /** @param chunk valid only during this call */
  take(chunk: Uint8Array): void {
    const { copyChunk, announcedBytes } = this.#parts
    const { byteLength } = chunk
    // Most bodies arrive in one piece. Others are copied to pages, because rejected pieces would wait for the garbage collector.
    if (byteLength === announcedBytes) {
      this.#pieces.push(copyChunk === undefined ? chunk : copyChunk(chunk))
      this.#size += byteLength
      return
    }
    this.#copy(chunk)
    if (copyChunk === undefined) freeChunk(chunk)
  }

  end(): void {
    this.#closePiece()
    const pieces = this.#pieces
    // A view of a page is copied, even if it is the whole body, because the page is reused for the next body.
    const isOwn = pieces.length === 1 && this.#pages.length === 0
    const body = isOwn ? pieces[0]! : Buffer.concat(pieces, this.#size)
    this.drop()
    this.#parts.receive(body)
  }

  drop(): void {
    this.#pieces = []
    for (const page of this.#pages.splice(0)) if (page.byteLength >= MIN_PAGE_BYTES) this.#parts.pages.release(page)
  }

  #copy(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.byteLength; ) {
      let page = this.#pages.at(-1)
      if (page === undefined || this.#to === page.byteLength) page = this.#addPage(chunk.byteLength - offset)
      const bytes = Math.min(page.byteLength - this.#to, chunk.byteLength - offset)
      page.set(chunk.subarray(offset, offset + bytes), this.#to)
      this.#to += bytes
      this.#size += bytes
      offset += bytes
    }
  }

  /** Adds a page as large as the body so far, or as the bytes that must fit in. */
  #addPage(bytes: number): Uint8Array {
    this.#closePiece()
    const size = Math.max(bytes, this.#size)
    const page = size < MIN_PAGE_BYTES ? new Uint8Array(size) : this.#parts.pages.take(size)
    this.#pages.push(page)
    this.#from = 0
    this.#to = 0
    return page
  }

  #closePiece(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#pages.at(-1)!.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}
