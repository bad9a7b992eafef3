import type { ProblemData } from '../problem.ts'
import type { InFlight } from './in-flight.ts'
import type { Exchange, HttpHandler, Reply } from './port.ts'
import type { RequestHead } from './request-head.ts'

/** Seconds a client should wait when the service is full. */
const RETRY_SECONDS = 1

/**
 * What both transports share of one request: who answers first wins, the body's limits, leaving the in-flight list.
 * A class with fields instead of closures: one of these is made for each request.
 */
export abstract class TransportExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head: RequestHead
  readonly startedMs: number
  abstract readonly peer: Uint8Array
  answered = false
  aborted = false
  deadlineMs = 0
  state: unknown = undefined
  /** Neighbours in the in-flight list. */
  previous: TransportExchange | undefined = undefined
  next: TransportExchange | undefined = undefined

  readonly #inFlight: InFlight
  readonly #handler: HttpHandler
  #receive: ((body: Uint8Array) => void) | undefined = undefined
  #owner: number | string = 0
  #received = 0
  #chunks: Uint8Array[] | undefined = undefined
  /** True when every byte of the body was seen, or there is none. */
  #bodyEnded: boolean

  constructor(
    inFlight: InFlight,
    handler: HttpHandler,
    request: { method: string; path: string; query: string; head: RequestHead },
  ) {
    this.method = request.method
    this.path = request.path
    this.query = request.query
    this.head = request.head
    this.startedMs = performance.now()
    this.#inFlight = inFlight
    this.#handler = handler
    this.#bodyEnded = request.head.bodyBytes === 0
    inFlight.add(this)
  }

  /** Puts the answer on the wire. */
  protected abstract send(reply: Reply, close: boolean): void
  /** Lets the body flow into `take`. */
  protected abstract startBody(): void

  /**
   * Runs the handler so that it cannot end without an answer.
   *
   * @param isTooMany true answers without looking: more connections than the service wants
   */
  run(isTooMany: boolean): void {
    try {
      if (isTooMany) this.#handler.decline(this, overloaded('too many connections'), true)
      else this.#handler.handle(this)
    } catch (error) {
      this.#handler.fail(this, error)
    }
  }

  get isReceiving(): boolean {
    return this.#receive !== undefined
  }

  readBody(owner: number | string, receive: (body: Uint8Array) => void): void {
    const { maxBodyBytes } = this.#inFlight.limits
    if (this.#bodyEnded) {
      receive(new Uint8Array(0))
    } else if ((this.head.bodyBytes ?? 0) > maxBodyBytes) {
      // Said before a byte is read; a chunked body announces nothing and is counted.
      this.#refuse(tooLarge(maxBodyBytes))
    } else if (!this.#inFlight.openBody(owner)) {
      this.#refuse(overloaded('too many unfinished bodies from one address'))
    } else {
      this.#owner = owner
      this.#receive = receive
      this.startBody()
    }
  }

  /** @param chunk bytes that stay valid; ignored once an answer was given */
  protected take(chunk: Uint8Array, isLast: boolean): void {
    const receive = this.#receive
    if (receive === undefined) return
    const refusal = this.#keep(chunk.byteLength)
    if (refusal !== undefined) {
      this.#refuse(refusal)
      return
    }
    if (!isLast) {
      this.#chunks ??= []
      if (chunk.byteLength > 0) this.#chunks.push(chunk)
      return
    }
    this.#bodyEnded = true
    this.#stopReceiving()
    let body = chunk
    if (this.#chunks !== undefined) {
      this.#chunks.push(chunk)
      const [first] = this.#chunks
      body = first?.byteLength === this.#received ? first : Buffer.concat(this.#chunks, this.#received)
      this.#chunks = undefined
    }
    try {
      receive(body)
    } catch (error) {
      this.#handler.fail(this, error)
    }
  }

  /** Counts bytes that arrived, or says why they are too many. */
  #keep(bytes: number): ProblemData | undefined {
    const { maxBodyBytes } = this.#inFlight.limits
    if (this.#received + bytes > maxBodyBytes) return tooLarge(maxBodyBytes)
    if (!this.#inFlight.reserve(bytes)) return overloaded('too many bytes of requests are waiting')
    this.#received += bytes
    return undefined
  }

  answer(reply: Reply): void {
    if (this.answered || this.aborted) return
    this.answered = true
    const close = reply.close === true || this.#inFlight.draining || !this.#canDiscardBody()
    this.#leave()
    this.send(reply, close)
  }

  /** The client is gone. */
  protected abandon(): void {
    if (this.answered || this.aborted) return
    this.aborted = true
    this.#leave()
    this.#handler.abandoned(this)
  }

  /** What followed the head was no body. */
  breakOff(): void {
    if (this.isReceiving) this.#refuse({ type: 'bad-request', detail: 'the body is not framed as its header says' })
  }

  /** Time is up. The service below sees `aborted`, so that nobody works for an answer that was given already. */
  expire(): void {
    if (this.isReceiving) {
      this.#refuse({ type: 'request-timeout', detail: 'the body did not arrive in time' })
    } else {
      this.#refuse(overloaded(`no answer within ${this.#inFlight.limits.requestDeadlineMs} ms`))
    }
    this.aborted = true
  }

  #refuse(problem: ProblemData): void {
    this.#handler.decline(this, problem, false)
  }

  /** A rest that is known to be small is read and thrown away: the connection stays, and the client gets to its answer. */
  #canDiscardBody(): boolean {
    if (this.#bodyEnded) return true
    const { bodyBytes } = this.head
    return this.#receive === undefined && bodyBytes !== undefined && bodyBytes <= this.#inFlight.limits.maxBodyBytes
  }

  #stopReceiving(): void {
    if (this.#receive === undefined) return
    this.#receive = undefined
    this.#inFlight.closeBody(this.#owner)
  }

  #leave(): void {
    this.#stopReceiving()
    this.#chunks = undefined
    this.#inFlight.bytes -= this.#received
    this.#received = 0
    this.#inFlight.remove(this)
  }
}

function tooLarge(maxBodyBytes: number): ProblemData {
  return { type: 'payload-too-large', detail: `the body is larger than ${maxBodyBytes} bytes` }
}

function overloaded(detail: string): ProblemData {
  return { type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS }
}
