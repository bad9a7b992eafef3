/** Streaming routes: the request that they get, the sink that they write to, and the batch route. */
import { ProblemError } from '../../base/problem.ts'
import type { EventSink } from '../../service/records/record-services.ts'
import type { BatchSink } from '../../service/request.ts'
import type { Services } from '../../service/services.ts'
import { rejectMisplacedQuery } from '../../validation/misplaced-members.ts'
import type { ClientLimits } from '../access/client-limits.ts'
import type { ItemMetrics } from '../access/finished-request.ts'
import { rateLimitProblem } from '../access/rate-limit.ts'
import { ownerOf, type RequestState } from '../access/request-state.ts'
import type { ResponseStream } from '../transport/port.ts'
import { type ContentKind, contentResponse, problemJson } from './respond.ts'
import type { Route, RouteResult, StreamRequest } from './route.ts'

/** Begins the response with the first piece, and makes the writer wait while the client does not read. */
export class StreamSink implements EventSink, BatchSink {
  readonly #request: StreamRequest
  readonly #kind: ContentKind
  #extra: readonly string[]
  #stream: ResponseStream | undefined
  /** Resumes the writer; set while the client has not read what was written. */
  #resume: (() => void) | undefined
  readonly #goneListeners: (() => void)[] = []

  /** @param extra additional header lines: [name, value, …] */
  constructor(request: StreamRequest, kind: ContentKind, extra: readonly string[] = []) {
    this.#request = request
    this.#kind = kind
    this.#extra = extra
    request.onDisconnect(() => {
      // A writer must not wait for a client that has disconnected.
      this.#resume?.()
      for (const listener of this.#goneListeners) listener()
    })
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    if (this.#stream !== undefined) return
    const names = Object.keys(headers).filter((name) => !this.#extra.includes(name))
    this.#extra = [...this.#extra, ...names.flatMap((name) => [name, headers[name]!])]
  }

  write(piece: string | Uint8Array): void | Promise<void> {
    // An empty chunk would end a chunked body.
    if (piece.length === 0) return
    this.#request.chargeSent(Buffer.byteLength(piece))
    return this.#send(piece)
  }

  #send(piece: string | Uint8Array): void | Promise<void> {
    this.#stream ??= this.#request.begin(this.#kind, this.#extra)
    const stream = this.#stream
    if (stream === undefined || stream.write(piece)) return
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = undefined
        resolve()
      }
      stream.onWritable(() => this.#resume?.())
    })
  }

  tryWrite(text: string): void {
    if (this.#resume === undefined && text !== '') void this.#send(text)
  }

  onGone(listener: () => void): void {
    this.#goneListeners.push(listener)
  }

  /** Ends the response when all of it is written, or reports why it cannot be completed. */
  endAfter(written: Promise<void>): void {
    written.then(
      () => {
        this.#stream ??= this.#request.begin(this.#kind, this.#extra)
        if (this.#stream !== undefined) this.#request.finish(this.#stream)
      },
      (error) => this.#request.fail(error),
    )
  }
}

export interface StreamRequestParts {
  readonly limits: ClientLimits
  /** Where a caller without a key can make one; undefined if wallets cannot sign in. */
  readonly signInPage: string | undefined
  readonly items: ItemMetrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly succeed: (state: RequestState, result: RouteResult) => void
  readonly fail: (state: RequestState, error: unknown) => void
  readonly report: (state: RequestState, error: unknown) => void
  readonly finish: (state: RequestState, status: number) => void
}

/** Creates the request object of a streaming route. Its first item was already counted as the request. */
export function streamRequest(state: RequestState, parts: StreamRequestParts): StreamRequest {
  const { limits, signInPage, items: metrics, now, succeed, fail, report, finish } = parts
  const { exchange, subject } = state
  let prepaidItems = 1
  return {
    exchange,
    owner: subject,
    get admitted() {
      const admitted = state.admission?.then((problem) => {
        if (problem !== undefined) throw new ProblemError(problem)
      })
      // The client gets the problem even if the route fails for another reason and never waits for this.
      admitted?.catch(() => {})
      return admitted
    },
    baseUrl: state.baseUrl,
    errorTypeBase: state.errorTypeBase,
    parameter: state.parameter,
    caller: state.caller,
    account: ownerOf(state),
    get aborted() {
      return exchange.aborted
    },
    deadlineMs: exchange.deadlineMs,
    get extraMs() {
      return exchange.extraMs
    },
    set extraMs(ms) {
      exchange.extraMs = ms ?? 0
    },
    client: subject,
    costs: exchange.costs,
    chargeSent(bytes) {
      if (state.route?.isMetered !== true) return
      const problem = limits.costProblem(state, now(), 0)
      if (problem !== undefined) throw new ProblemError(problem)
      const meter = exchange.costs ?? limits.meter(state, now())
      meter.charge('bytes', bytes)
    },
    costProblem: (items) => limits.costProblem(state, now(), items),
    takeQuota(items, isWhole = false) {
      const prepaid = Math.min(items, prepaidItems)
      prepaidItems -= prepaid
      const count = (granted: number) => {
        if (granted < items) {
          state.knownRate = limits.rate(state, now())
          metrics.countRejected(state.limitName, items - granted)
        }
        return granted
      }
      // With several nodes this may be too high, and a part that the quota covers is taken nevertheless.
      const isCovered = !isWhole || items - prepaid <= limits.rate(state, now()).remaining
      const taken = isCovered ? limits.take(state, items - prepaid, now()) : 0
      const { admission } = state
      if (typeof taken === 'number' && admission === undefined) return count(prepaid + taken)
      return Promise.all([taken, admission]).then(([more, problem]) =>
        count(problem === undefined ? prepaid + more : 0),
      )
    },
    countItems(outcome, items) {
      if (outcome === 'ok') state.usage?.addOperations(items)
      metrics.countItems(outcome, items)
    },
    get quotaProblem() {
      const { rate, limitName } = state
      return rateLimitProblem(rate.limit, limitName, 'item', state.hintedClient(signInPage))
    },
    problemJson: (problem) => problemJson(state, problem),
    report: (error) => report(state, error),
    onDisconnect(listener) {
      state.onDisconnect = listener
    },
    begin(kind, extra) {
      const nowMs = now()
      state.knownRate = limits.rate(state, nowMs)
      state.knownCosts = limits.costs(state, nowMs)
      return exchange.beginResponse(contentResponse(state, 200, kind, '', extra))
    },
    finish(stream) {
      if (exchange.aborted) return
      stream.end()
      finish(state, 200)
    },
    succeed: (result) => succeed(state, result),
    fail: (error) => fail(state, error),
  }
}

/** Media types of newline-delimited JSON. */
const LINES = /^application\/(x-ndjson|ndjson|jsonl|jsonlines|x-jsonlines)\s*(;|$)/i

/** Tells whether the content type of a request is newline-delimited JSON. */
export function hasLines({ exchange }: StreamRequest): boolean {
  return LINES.test(exchange.head.contentType ?? '')
}

interface LineReceiver {
  take(bytes: Uint8Array): void
  /** True while it should get no more bytes. */
  readonly isFull: boolean
}

/**
 * Reads the body of a request as lines, and makes the client wait while their receiver is full.
 *
 * @param open returns the receiver, which calls `onRoom` with the number of bytes that it no longer holds. `open` is called
 *   before the body is read, so that invalid options are rejected without reading it.
 * @param end called at the end of the body, with `isCut` true if the service stops
 * @param drop called when the exchange ended before the body did
 */
export function receiveLines<Receiver extends LineReceiver>(
  request: StreamRequest,
  open: (onRoom: (bytes: number) => void) => Receiver,
  end: (receiver: Receiver, isCut: boolean) => void,
  drop: (receiver: Receiver) => void = () => {},
): Receiver {
  const receiver = open((bytes) => {
    flow.release(bytes)
    if (!receiver.isFull) flow.resume()
  })
  const flow = request.exchange.streamBody(request.owner, {
    take(bytes) {
      receiver.take(bytes)
      if (receiver.isFull) flow.pause()
    },
    end: () => end(receiver, false),
    cut: () => end(receiver, true),
    drop: () => drop(receiver),
  })
  return receiver
}

/** Returns the route `POST /compute/v0/batch`. It takes and returns one JSON document, or NDJSON if the content type says so. */
export function batchRoute(services: Services, maxBatchBytes: number): Route {
  return {
    method: 'POST',
    path: '/compute/v0/batch',
    summary: 'runs many operations in one request, as JSON or as NDJSON (application/x-ndjson)',
    counts: true,
    run: () => {
      throw new RangeError('a batch is streamed')
    },
    stream(request) {
      if (hasLines(request)) streamLines(services, request)
      else answerJson(services, request, maxBatchBytes)
    },
  }
}

function answerJson(services: Services, request: StreamRequest, maxBatchBytes: number): void {
  rejectMisplacedQuery(request.exchange.query)
  const sink = new StreamSink(request, 'json')
  request.exchange.readBody(request.owner, (body) => sink.endAfter(services.batch(body, request, sink)), maxBatchBytes)
}

function streamLines(services: Services, request: StreamRequest): void {
  const sink = new StreamSink(request, 'ndjson')
  receiveLines(
    request,
    (onRoom) => services.openBatch(request.exchange.query, request, sink, onRoom),
    (lines, isCut) => sink.endAfter(lines.end(isCut)),
  )
}
