import type { CostMeter } from '../../base/cost.ts'
import type { QueueClient } from '../../base/fair-queue.ts'
import type { ProblemData } from '../../base/problem.ts'
import { type BodyMemory, type ClientShare, type HeldBody, overloaded, PROGRESS_BYTES } from './body-memory.ts'
import type { DiscardLimits } from './discard.ts'
import type { InFlight, OpenExchange } from './in-flight.ts'
import type {
  BodyFlow,
  BodyReceiver,
  Exchange,
  HttpHandler,
  ReceivedRequest,
  ResponseData,
  ResponseStream,
} from './port.ts'
import type { RequestHead } from './request-head.ts'

/**
 * One request from its head to the end of its response, as far as both transports share it: how its body is received, what ends
 * it, and whether its connection stays open. Each transport implements the abstract members on its sockets.
 *
 * This is a class because one is created for each request, and closures would cost more.
 */
export abstract class TransportExchange implements Exchange, BodyFlow, ResponseStream {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head: RequestHead
  readonly startedMs: number
  /** Time when the request began, or of the last activity of its streams. */
  lastActivityMs: number
  /** Milliseconds that this response may take in addition to the common limit. */
  extraMs = 0
  abstract readonly peer: Uint8Array
  answered = false
  aborted = false
  deadlineMs = 0
  client: QueueClient = undefined
  costs: CostMeter | undefined = undefined
  state: unknown = undefined
  /** Neighbours in the in-flight list. */
  previous: OpenExchange | undefined = undefined
  next: OpenExchange | undefined = undefined

  readonly #inFlight: InFlight
  readonly #handler: HttpHandler
  readonly #onEnd: (() => void) | undefined
  #receiver: BodyReceiver | undefined = undefined
  /** True between the head and the end of a streamed response. */
  #isStreaming = false
  #isPaused = false
  /** True while the stream waits for memory. */
  #isHeldBack = false
  /** False while the client does not read what was written to it. */
  #hasRoom = true
  #closesAtEnd = false
  #hasEnded = false
  #isLate = false
  readonly #budget: BodyBudget
  /** Chunks of a body without an announced size, and their bytes. */
  #chunks = 0
  #chunkBytes = 0
  /** True once the whole body has arrived, or if there is none. */
  #bodyEnded: boolean

  /** @param onEnd called at the end if the connection then has to close; undefined if it may stay open */
  constructor(inFlight: InFlight, handler: HttpHandler, received: ReceivedRequest, onEnd?: () => void) {
    const { head, startedMs } = received
    this.method = received.method
    this.path = received.path
    this.query = received.query
    this.head = head
    this.startedMs = startedMs
    this.lastActivityMs = startedMs
    this.#inFlight = inFlight
    this.#handler = handler
    this.#onEnd = onEnd
    this.#budget = new BodyBudget(inFlight, this)
    this.#bodyEnded = head.bodyBytes === 0
    inFlight.add(this)
  }

  /** Runs the handler so that it cannot end without a response. @param isTooMany true if there are too many connections */
  run(isTooMany: boolean): void {
    try {
      if (isTooMany) this.#handler.decline(this, overloaded('too many connections'), true)
      else this.#handler.handle(this)
    } catch (error) {
      this.#handler.fail(this, error)
    }
  }

  /** True if the body has no limit because it is processed piece by piece. */
  get isStreamed(): boolean {
    return this.#budget.maxBytes === Number.POSITIVE_INFINITY
  }

  get isReceiving(): boolean {
    return this.#receiver !== undefined
  }

  /** Ends the request, whose client has stopped to send its body, for want of memory. */
  giveUp(problem: ProblemData): void {
    this.#reject(problem)
  }

  readBody(
    owner: number | string,
    receive: (body: Uint8Array) => void,
    maxBodyBytes = this.#inFlight.limits.maxBodyBytes,
  ): void {
    this.#budget.maxBytes = maxBodyBytes
    if (this.#bodyEnded) receive(new Uint8Array(0))
    // Rejected before a byte is read. A chunked body does not announce its size, so its bytes are counted as they arrive.
    else if ((this.head.bodyBytes ?? 0) > maxBodyBytes) this.#reject(tooLarge(maxBodyBytes))
    else
      this.#open(
        owner,
        this.#inFlight.collector({ announcedBytes: this.head.bodyBytes, copyChunk: this.copyChunk, receive }),
      )
  }

  streamBody(owner: number | string, receiver: BodyReceiver): BodyFlow {
    this.#budget.maxBytes = Number.POSITIVE_INFINITY
    // Deferred, because the caller does not have the flow yet.
    if (this.#bodyEnded) setImmediate(() => this.#deliver(receiver, new Uint8Array(0), true))
    else if (this.#inFlight.isDraining) this.#reject(overloaded('the service is stopping'))
    else this.#open(owner, receiver)
    return this
  }

  /** True while the body is paused. A transport that resumes reading by itself must pause again. */
  get isPaused(): boolean {
    return this.#isPaused || this.#isHeldBack
  }

  /** True while the client can do nothing: its body is paused, and it has read what was written. */
  get isWaitingForUs(): boolean {
    return this.isPaused && this.#hasRoom
  }

  pause(): void {
    if (!this.isReceiving) return
    this.#isPaused = true
    this.pauseBody()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#continue()
  }

  /** Continues a stream for which there is memory again. */
  continueReading(): void {
    this.#isHeldBack = false
    this.#continue()
  }

  /** The client may send again, so its time begins again. */
  #continue(): void {
    if (this.isPaused) return
    this.#budget.restartClock()
    if (this.isStreamed) this.#inFlight.touch(this)
    this.resumeBody()
  }

  release(bytes: number): void {
    // The end of the exchange has released everything.
    if (!this.#hasEnded) this.#budget.release(bytes)
  }

  #open(owner: number | string, receiver: BodyReceiver): void {
    const problem = this.#budget.open(owner)
    if (problem !== undefined) {
      this.#reject(problem)
      return
    }
    this.#receiver = receiver
    this.startBody()
  }

  /**
   * @param chunk valid only during this call, unless the transport hands it over
   * @returns false if the chunk is not needed, because receiving has stopped or stops now
   */
  protected take(chunk: Uint8Array, isLast: boolean): boolean {
    const receiver = this.#receiver
    if (receiver === undefined) return false
    this.costs?.charge('bytes', chunk.byteLength)
    if (this.head.bodyBytes === undefined && this.#isFragmented(chunk.byteLength)) {
      // The rest is not read, because reading it would cost as much.
      if (this.#isStreaming) this.breakStream()
      else this.#handler.decline(this, FRAGMENTED, true)
      return false
    }
    const problem = this.#budget.reserve(chunk.byteLength)
    if (problem !== undefined) {
      this.#reject(problem)
      return false
    }
    // Only streams restart the clock: a body with a size limit must arrive as a whole in time.
    if (this.isStreamed) this.#inFlight.touch(this)
    if (this.isStreamed && !isLast && !this.#isHeldBack) this.#isHeldBack = this.#budget.holdBack()
    if (this.isPaused) this.pauseBody()
    if (isLast) {
      this.#bodyEnded = true
      this.#stopReceiving()
    }
    this.#deliver(receiver, chunk, isLast)
    return true
  }

  /**
   * Counts a chunk. Each costs the main thread the same, however small it is, and one read of a connection may have 87,000 of one byte.
   *
   * @returns true if the body has too many small chunks
   */
  #isFragmented(bytes: number): boolean {
    this.#chunks++
    this.#chunkBytes += bytes
    return this.#chunks > FREE_CHUNKS + this.#chunkBytes / MIN_CHUNK_BYTES
  }

  /** Runs the receiver. An error ends only this exchange; no caller above would catch it. */
  #deliver(receiver: BodyReceiver, chunk: Uint8Array, isLast: boolean): void {
    if (this.#hasEnded) return
    try {
      if (chunk.byteLength > 0)
        receiver.take(receiver.takesCopies || this.copyChunk === undefined ? chunk : this.copyChunk(chunk))
      if (isLast) receiver.end()
    } catch (error) {
      this.#handleError(error)
    }
  }

  #handleError(error: unknown): void {
    if (this.#isStreaming) this.breakStream()
    else this.#handler.fail(this, error)
  }

  answer(reply: ResponseData): void {
    if (this.answered || this.aborted) return
    this.answered = true
    const mustClose = this.#closesConnections || !this.#canKeepConnection()
    this.#finish()
    // If the end of the request is unknown, there is no body that could be discarded.
    if (reply.close === true || !mustClose || this.#bodyEnded) this.send(reply, reply.close === true || mustClose)
    else this.sendAndDiscard(reply, this.#inFlight.discardLimits(this.#isLate))
  }

  beginResponse(head: Omit<ResponseData, 'body'>): ResponseStream | undefined {
    if (this.answered || this.aborted) return undefined
    this.answered = true
    this.#isStreaming = true
    this.#closesAtEnd = head.close === true || this.#closesConnections
    this.sendHead(head, this.#closesAtEnd)
    return this
  }

  write(piece: string | Uint8Array): boolean {
    if (!this.#isStreaming) return true
    this.#inFlight.touch(this)
    this.#hasRoom = this.sendChunk(piece)
    return this.#hasRoom
  }

  onWritable(listener: () => void): void {
    if (!this.#isStreaming) return
    this.onDrain(() => {
      this.#hasRoom = true
      listener()
    })
  }

  end(): void {
    if (!this.#isStreaming) return
    this.#isStreaming = false
    this.#finish()
    if (!this.#bodyEnded) this.#inFlight.linger()
    this.sendEnd(this.#closesAtEnd || !this.#bodyEnded, !this.#bodyEnded)
  }

  breakStream(): void {
    if (this.aborted || !this.#isStreaming) return
    this.abandon()
    this.hangUp()
  }

  /** Ends the exchange: the client has disconnected. */
  protected abandon(): void {
    if (this.aborted || (this.answered && !this.#isStreaming)) return
    this.#isStreaming = false
    this.aborted = true
    this.#finish()
    this.#handler.abandoned(this)
  }

  /** Ends the body stream, which may be endless, because the service stops. */
  cut(): void {
    const receiver = this.#receiver
    if (receiver?.cut === undefined) return
    this.#stopReceiving()
    try {
      receiver.cut()
    } catch (error) {
      this.#handleError(error)
    }
  }

  /** Rejects the request: the bytes after the head are not a valid body. */
  breakOff(): void {
    if (this.isReceiving) this.#reject({ type: 'bad-request', detail: 'the body framing does not match the header' })
  }

  /** Ends the request because its time is up. The service sees `aborted` and stops working on it. */
  expire(): void {
    this.#isLate = true
    if (this.isReceiving) this.#reject({ type: 'request-timeout', detail: 'the body did not arrive in time' })
    else this.#reject(overloaded(`no result within ${this.#inFlight.limits.requestDeadlineMs} ms`))
    this.aborted = true
  }

  #reject(problem: ProblemData): void {
    if (this.#isStreaming) this.breakStream()
    else this.#handler.decline(this, problem, false)
  }

  get #closesConnections(): boolean {
    return this.#inFlight.isDraining || this.#inFlight.isRetiring || this.#onEnd !== undefined
  }

  /** Returns true if the remaining body is known to be small: it is then discarded, and the connection stays open. */
  #canKeepConnection(): boolean {
    if (this.#bodyEnded) return true
    const { bodyBytes = Number.POSITIVE_INFINITY } = this.head
    return !this.isReceiving && !this.isStreamed && bodyBytes <= this.#budget.maxBytes
  }

  #stopReceiving(): void {
    if (!this.isReceiving) return
    this.#receiver = undefined
    this.#budget.finish()
    if (!this.isPaused) return
    // More requests may arrive on the connection, and a paused one would never see them.
    this.#isPaused = false
    this.#isHeldBack = false
    this.#continue()
  }

  #finish(): void {
    this.#hasEnded = true
    this.#receiver?.drop?.()
    this.#stopReceiving()
    this.#budget.close()
    this.#onEnd?.()
    this.#inFlight.remove(this)
  }

  /** Sends the whole response. */
  protected abstract send(reply: ResponseData, close: boolean): void
  /** Sends the response before the end of the body, discards the remaining body, then closes the connection. */
  protected abstract sendAndDiscard(reply: ResponseData, limits: DiscardLimits): void
  /** Starts to pass the body to `take`. */
  protected abstract startBody(): void
  /** Copies bytes that are valid only during a call; undefined if the transport hands them over. */
  protected abstract readonly copyChunk: ((chunk: Uint8Array) => Uint8Array) | undefined
  protected abstract pauseBody(): void
  protected abstract resumeBody(): void
  /** Sends the head of a streamed response; chunks follow. */
  protected abstract sendHead(reply: Omit<ResponseData, 'body'>, close: boolean): void
  protected abstract sendChunk(piece: string | Uint8Array): boolean
  protected abstract onDrain(listener: () => void): void
  /** @param isCut true if the client may still send its body, which is not read any more */
  protected abstract sendEnd(close: boolean, isCut: boolean): void
  /** Closes the connection in the middle of a response, which is the only way left to report a failure. */
  protected abstract hangUp(): void
}

/** Counts the bytes of one body that are held, against the limit of the body and in the memory of all bodies. */
class BodyBudget implements HeldBody {
  /** Infinite for a stream, which is processed piece by piece. */
  maxBytes: number
  heldBytes = 0
  progressMs = 0
  readonly #memory: BodyMemory
  readonly #maxStreamBytes: number
  readonly #exchange: TransportExchange
  #share: ClientShare | undefined = undefined
  /** Bytes that arrived since `progressMs`. */
  #newBytes = 0

  constructor({ limits, memory }: InFlight, exchange: TransportExchange) {
    this.#memory = memory
    this.#maxStreamBytes = limits.maxStreamBytes
    this.#exchange = exchange
    this.maxBytes = limits.maxBodyBytes
  }

  get isAwaited(): boolean {
    return this.#exchange.isReceiving && !this.#exchange.isPaused
  }

  get isStreamed(): boolean {
    return this.#exchange.isStreamed
  }

  giveUp(problem: ProblemData): void {
    this.#exchange.giveUp(problem)
  }

  continueReading(): void {
    this.#exchange.continueReading()
  }

  /** @returns a problem if the client has too many open bodies */
  open(owner: number | string): ProblemData | undefined {
    this.progressMs = this.#exchange.startedMs
    const opened = this.#memory.open(owner, this)
    if (!('owner' in opened)) return opened
    this.#share = opened
    return undefined
  }

  /** @returns true if the stream has to wait for `continueReading` */
  holdBack(): boolean {
    return this.#share !== undefined && this.#memory.holdBack(this.#share, this)
  }

  /** The client may send again. The time in which it could not send does not count against it. */
  restartClock(): void {
    this.#newBytes = 0
    this.progressMs = performance.now()
  }

  /** The whole body has arrived, or no more of it is read. */
  finish(): void {
    if (this.#share !== undefined) this.#memory.finish(this.#share, this)
  }

  /** Counts bytes that arrived; returns a problem if they exceed a limit. */
  reserve(bytes: number): ProblemData | undefined {
    const maxStreamBytes = this.#maxStreamBytes
    if (this.heldBytes + bytes > this.maxBytes) return tooLarge(this.maxBytes)
    if (this.isStreamed && this.heldBytes + bytes > maxStreamBytes) {
      return overloaded(`more than ${maxStreamBytes} bytes of one stream are waiting for results`)
    }
    this.#newBytes += bytes
    if (this.#newBytes >= PROGRESS_BYTES) this.restartClock()
    return this.#memory.reserve(this.#share!, this, bytes)
  }

  release(bytes: number): void {
    if (this.#share !== undefined) this.#memory.release(this.#share, this, bytes)
  }

  close(): void {
    if (this.#share !== undefined) this.#memory.close(this.#share, this)
  }
}

/** A body may have this many chunks, and one more for every `MIN_CHUNK_BYTES` of its bytes. */
const FREE_CHUNKS = 1024
const MIN_CHUNK_BYTES = 16
const FRAGMENTED: ProblemData = {
  type: 'bad-request',
  detail: `the body has more than ${FREE_CHUNKS} chunks of less than ${MIN_CHUNK_BYTES} bytes each; send larger chunks`,
}

const SEND_LESS =
  'send fewer vertices or fewer items; POST /compute/v0/batch takes any number of operations as NDJSON (application/x-ndjson)'

function tooLarge(maxBodyBytes: number): ProblemData {
  const detail = `the body is larger than ${maxBodyBytes} bytes`
  const error = { pointer: '#', detail, code: 'body-too-large', hint: SEND_LESS }
  return { type: 'payload-too-large', detail, invalidParts: [error] }
}

/** Returns true for statuses without a body and without Content-Length (RFC 9110, sections 8.6 and 15.4.5). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304
}
