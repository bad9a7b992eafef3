import type { ProblemData } from '../problem.ts'
import { BodyBudget } from './body-budget.ts'
import type { InFlight } from './in-flight.ts'
import type { AnswerStream, BodyFlow, BodyReceiver, Exchange, HttpHandler, Reply } from './port.ts'
import { overloaded, tooLarge } from './transport-problems.ts'
import { Wire, type WireRequest } from './wire.ts'

/** What both transports share of one request. A class with fields instead of closures: one is made for each request. */
export abstract class TransportExchange extends Wire implements Exchange, BodyFlow, AnswerStream {
  readonly startedMs: number
  /** When the request began, or something last moved in one of its streams. */
  movedMs: number
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
  #receiver: BodyReceiver | undefined = undefined
  /** True between the head and the end of an answer that is written piece by piece. */
  #isStreaming = false
  #closesAtEnd = false
  #hasLeft = false
  #isLate = false
  #owner: number | string = 0
  readonly #budget: BodyBudget
  /** True when every byte of the body was seen, or there is none. */
  #bodyEnded: boolean

  constructor(inFlight: InFlight, handler: HttpHandler, request: WireRequest) {
    super(request)
    this.startedMs = performance.now()
    this.movedMs = this.startedMs
    this.#inFlight = inFlight
    this.#handler = handler
    this.#budget = new BodyBudget(inFlight)
    this.#bodyEnded = request.head.bodyBytes === 0
    inFlight.add(this)
  }

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

  /** True when the body has no limit, because it is taken piece by piece. */
  get isStreamed(): boolean {
    return this.#budget.mostBytes === Number.POSITIVE_INFINITY
  }

  get isReceiving(): boolean {
    return this.#receiver !== undefined
  }

  readBody(
    owner: number | string,
    receive: (body: Uint8Array) => void,
    maxBodyBytes = this.#inFlight.limits.maxBodyBytes,
  ): void {
    this.#budget.mostBytes = maxBodyBytes
    if (this.#bodyEnded) receive(new Uint8Array(0))
    // Said before a byte is read; a chunked body announces nothing and is counted.
    else if ((this.head.bodyBytes ?? 0) > maxBodyBytes) this.#refuse(tooLarge(maxBodyBytes))
    else this.#open(owner, this.#inFlight.collector({ announcedBytes: this.head.bodyBytes, own: this.own, receive }))
  }

  streamBody(owner: number | string, receiver: BodyReceiver): BodyFlow {
    this.#budget.mostBytes = Number.POSITIVE_INFINITY
    // Not in this call: the caller has not got the flow yet.
    if (this.#bodyEnded) setImmediate(() => this.#give(receiver, new Uint8Array(0), true))
    else if (this.#inFlight.draining) this.#refuse(overloaded('the service is stopping'))
    else this.#open(owner, receiver)
    return this
  }

  pause(): void {
    if (this.isReceiving) this.holdBody()
  }

  release(bytes: number): void {
    // With the end of the exchange everything was released.
    if (!this.#hasLeft) this.#budget.release(bytes)
  }

  #open(owner: number | string, receiver: BodyReceiver): void {
    if (!this.#inFlight.openBody(owner)) {
      this.#refuse(overloaded('too many unfinished bodies from one address'))
      return
    }
    this.#owner = owner
    this.#receiver = receiver
    this.startBody()
  }

  /** @param chunk valid for this call; ignored once nobody wants it */
  protected take(chunk: Uint8Array, isLast: boolean): void {
    const receiver = this.#receiver
    if (receiver === undefined) return
    const refusal = this.#budget.keep(chunk.byteLength)
    if (refusal !== undefined) {
      this.#refuse(refusal)
      return
    }
    // A body that has a limit has to be here in time as a whole.
    if (this.isStreamed) this.#inFlight.touch(this)
    if (this.isPaused) this.pauseBody()
    if (isLast) {
      this.#bodyEnded = true
      this.#stopReceiving()
    }
    this.#give(receiver, chunk, isLast)
  }

  /** Runs the receiver so that what it throws ends this exchange and nothing else: nobody above would catch it. */
  #give(receiver: BodyReceiver, chunk: Uint8Array, isLast: boolean): void {
    if (this.#hasLeft) return
    try {
      if (chunk.byteLength > 0) receiver.take(receiver.takesCopies || this.own === undefined ? chunk : this.own(chunk))
      if (isLast) receiver.end()
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    if (this.#isStreaming) this.breakStream()
    else this.#handler.fail(this, error)
  }

  answer(reply: Reply): void {
    if (this.answered || this.aborted) return
    this.answered = true
    const mustClose = this.#inFlight.draining || !this.#canKeepConnection()
    this.#leave()
    // A request whose end is unknown has no body that could be read.
    if (reply.close === true || !mustClose || this.#bodyEnded) this.send(reply, reply.close === true || mustClose)
    else this.sendAndDiscard(reply, this.#inFlight.discardLimits(this.#isLate))
  }

  beginAnswer(head: Omit<Reply, 'body'>): AnswerStream | undefined {
    if (this.answered || this.aborted) return undefined
    this.answered = true
    this.#isStreaming = true
    this.#closesAtEnd = head.close === true || this.#inFlight.draining
    this.sendHead(head, this.#closesAtEnd)
    return this
  }

  write(piece: string | Uint8Array): boolean {
    if (!this.#isStreaming) return true
    this.#inFlight.touch(this)
    return this.sendChunk(piece)
  }

  onWritable(listener: () => void): void {
    if (this.#isStreaming) this.onDrain(listener)
  }

  end(): void {
    if (!this.#isStreaming) return
    this.#isStreaming = false
    this.#leave()
    if (!this.#bodyEnded) this.#inFlight.linger()
    this.sendEnd(this.#closesAtEnd || !this.#bodyEnded, !this.#bodyEnded)
  }

  breakStream(): void {
    if (this.aborted || !this.#isStreaming) return
    this.abandon()
    this.hangUp()
  }

  /** The client is gone. */
  protected abandon(): void {
    if (this.aborted || (this.answered && !this.#isStreaming)) return
    this.#isStreaming = false
    this.aborted = true
    this.#leave()
    this.#handler.abandoned(this)
  }

  /** The service stops: a stream, which may have no end, ends here. */
  cut(): void {
    const receiver = this.#receiver
    if (receiver?.cut === undefined) return
    this.#stopReceiving()
    try {
      receiver.cut()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** What followed the head was no body. */
  breakOff(): void {
    if (this.isReceiving) this.#refuse({ type: 'bad-request', detail: 'the body is not framed as its header says' })
  }

  /** Time is up. The service below sees `aborted`, so that nobody works for an answer that was given already. */
  expire(): void {
    this.#isLate = true
    if (this.isReceiving) this.#refuse({ type: 'request-timeout', detail: 'the body did not arrive in time' })
    else this.#refuse(overloaded(`no answer within ${this.#inFlight.limits.requestDeadlineMs} ms`))
    this.aborted = true
  }

  #refuse(problem: ProblemData): void {
    if (this.#isStreaming) this.breakStream()
    else this.#handler.decline(this, problem, false)
  }

  /** True when the rest is known to be small: it is read and thrown away, and the connection stays. */
  #canKeepConnection(): boolean {
    if (this.#bodyEnded) return true
    const { bodyBytes = Number.POSITIVE_INFINITY } = this.head
    return !this.isReceiving && !this.isStreamed && bodyBytes <= this.#budget.mostBytes
  }

  #stopReceiving(): void {
    if (!this.isReceiving) return
    this.#receiver = undefined
    this.#inFlight.closeBody(this.#owner)
    // The connection may have requests to come; one that stays paused never hears of them.
    this.resume()
  }

  #leave(): void {
    this.#hasLeft = true
    this.#receiver?.drop?.()
    this.#stopReceiving()
    this.#budget.releaseAll()
    this.#inFlight.remove(this)
  }
}
