/**
 * The interface between the HTTP transport and the request handler. Two adapters implement the transport, one on
 * uWebSockets.js and one on node:http; everything above sees requests only through these interfaces.
 */
import type { CostMeter } from '../../base/cost.ts'
import type { QueueClient } from '../../base/fair-queue.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { RequestContext } from '../../service/request.ts'
import type { RequestHead } from './request-head.ts'

/** Constant header lines, in the two forms that the transports take. Names and values hold no line breaks. */
export interface HeaderBlock {
  /** [name, value, name, value, …] */
  readonly pairs: readonly string[]
  /** Name of the first line. */
  readonly firstName: string
  /** Value of the first line and all lines after it, as they are sent. Bytes, because a text would be encoded for each response. */
  readonly remainder: Uint8Array
}

/** One response as data. */
export interface ResponseData<Body extends string | Uint8Array = string | Uint8Array> {
  readonly status: number
  readonly headers: HeaderBlock
  /** Additional header lines of this response, at least one: [name, value, name, value, …], without line breaks in them. */
  readonly fields: readonly string[]
  readonly body: Body
  /** True if the connection cannot be reused, e.g. because the end of the request is unknown. */
  readonly close?: boolean
}

/** What a transport has read when the head of a request is complete. */
export interface ReceivedRequest {
  /** Upper case. */
  readonly method: string
  /** As sent, undecoded, from the first slash to the question mark. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  readonly head: RequestHead
  /** Address of the socket's other end, 4 or 16 bytes in network order. Valid until `HttpHandler.handle` returns. */
  readonly peer: Uint8Array
  /** `performance.now()` when the head had arrived. */
  readonly startedMs: number
}

/** One request and the means to answer it. It is also the `RequestContext` that is passed down to the service. */
export interface Exchange extends RequestContext, ReceivedRequest {
  /** True once the handler has responded, or the transport has because a limit was exceeded. */
  readonly answered: boolean
  deadlineMs: number
  /** Set by the handler. */
  client: QueueClient
  /** Set by the handler. The transport charges the bytes of the body as they arrive. */
  costs: CostMeter | undefined
  /** For the handler's own use. */
  state: unknown

  /**
   * Reads the body; call it before `HttpHandler.handle` returns. A body that is too large, too slow, or exceeds the limit of
   * all bodies together is rejected through `HttpHandler.decline`, and `receive` is never called.
   *
   * @param owner key under which open bodies are counted
   * @param receive called once with the whole body, which then belongs to it
   * @param maxBodyBytes replaces the usual limit
   */
  readBody(owner: number | string, receive: (body: Uint8Array) => void, maxBodyBytes?: number): void
  /**
   * Reads the body piece by piece, without a limit on its size; call it before `HttpHandler.handle` returns. Bytes that were
   * taken and not released count towards the bytes of all requests. The time limit applies between two pieces.
   *
   * @returns the means to slow the client down
   */
  streamBody(owner: number | string, receiver: BodyReceiver): BodyFlow
  /** Sends the response. Does nothing if the client has disconnected or a response was sent already. */
  answer(reply: ResponseData): void
  /**
   * Begins a response whose length is not known yet.
   *
   * @param head the response without its body
   * @returns undefined if the client has disconnected or a response was sent already
   */
  beginResponse(head: Omit<ResponseData, 'body'>): ResponseStream | undefined
  /** Closes the connection in the middle of a response: the client sees an incomplete response, and so knows that it failed. */
  breakStream(): void
}

/** Receives a body piece by piece. */
export interface BodyReceiver {
  /** True if `take` copies what it needs; its chunk is then valid only during the call. Otherwise the receiver owns the chunk. */
  readonly takesCopies?: true
  take(chunk: Uint8Array): void
  /** Called when the body is complete. Not called if the client disconnected or the transport rejected the remaining body. */
  end(): void
  /** Called instead of `end` when the service stops: answer what has arrived. Without it, the service waits for the end. */
  cut?(): void
  /** Called when the exchange ended before the body did: what was taken is not needed any more. */
  drop?(): void
}

/** Back-pressure on the sender of a body. */
export interface BodyFlow {
  pause(): void
  resume(): void
  /** Releases bytes that the receiver has processed. */
  release(bytes: number): void
}

/** A response that is written piece by piece. Calls do nothing once the client has disconnected. */
export interface ResponseStream {
  /**
   * Writes one piece.
   *
   * @param piece bytes are handed over together with their underlying buffer
   * @returns false if the client reads more slowly than we write: wait for `onWritable`
   */
  write(piece: string | Uint8Array): boolean
  /** Called once, when there is room again. */
  onWritable(listener: () => void): void
  end(): void
}

/** Handles requests for a transport; `createApp` creates it. */
export interface HttpHandler {
  /**
   * Returns the response to a request that is refused because too many others wait; undefined if the request may be handled. A
   * transport may call it before it creates an exchange, so that a refusal costs little. The request is then counted and logged.
   */
  refuse(request: ReceivedRequest): ResponseData<string> | undefined
  /** Called once for each request, when its head has arrived. If it throws, the transport calls `fail` with the error. */
  handle(exchange: Exchange): void
  /** Answers with a problem that the transport detected. Never throws. */
  decline(exchange: Exchange, problem: ProblemData, close: boolean): void
  /** Answers with an error: a `ProblemError` as it is, anything else as `internal`. Never throws. */
  fail(exchange: Exchange, error: unknown): void
  /** Called when the client disconnected before the response. */
  abandoned(exchange: Exchange): void
  /** Returns the response to bytes that are not a valid request. */
  unparsable(status: 400 | 408 | 431, peer: Uint8Array): ResponseData<string>
}

/** The settings of a transport. */
export type TransportConfig = Pick<Config, 'limits' | 'trustedProxies'>

/** A running transport. */
export interface HttpServer {
  readonly adapter: 'uws' | 'node'
  /** Requests that have been read and not answered. */
  readonly inFlight: number
  /**
   * Starts to accept connections.
   *
   * @param port 0 for any free port
   * @param isShared true if other processes of this machine listen on the same port
   * @returns the port in use
   * @throws {ListenError} if the port cannot be opened
   */
  listen(host: string, port: number, isShared?: boolean): Promise<number>
  /**
   * Stops accepting and answers open requests with `Connection: close`; resolves when done or after `drainTimeoutMs`.
   *
   * @param isReplaced true if another process answers on the port. Then connections first stay open, for the same time at most, until
   *   their clients have sent one more request and know that they close.
   */
  close(isReplaced?: boolean): Promise<void>
}

export type ListenFailure = 'in-use' | 'not-permitted' | 'no-such-address' | 'failed'

/** What an operator can do. A port that was not configured never gets here: the next free one is used instead. */
const LISTEN_REMEDIES: Readonly<Record<ListenFailure, string>> = {
  'in-use':
    ': `ss -ltnp`, as root, shows the process that uses it; choose another port with PORT or --port, or give none to use a free one',
  'not-permitted': ': choose a PORT from 1024 on, or allow this program to use a lower one',
  'no-such-address': ': set HOST to an address of this machine, or to 0.0.0.0 for all of them',
  failed: '',
}

/** The server cannot listen on its port. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly failure: ListenFailure

  constructor(host: string, port: number, code: string | undefined, options?: ErrorOptions) {
    const failure = LISTEN_FAILURES[code ?? ''] ?? 'failed'
    super(
      `cannot listen on ${host} port ${port}: ${failure}${code === undefined ? '' : ` (${code})`}${LISTEN_REMEDIES[failure]}`,
      options,
    )
    this.failure = failure
  }
}

const LISTEN_FAILURES: Readonly<Record<string, ListenFailure>> = {
  EADDRINUSE: 'in-use',
  EACCES: 'not-permitted',
  EPERM: 'not-permitted',
  EADDRNOTAVAIL: 'no-such-address',
  ENOTFOUND: 'no-such-address',
}
