/**
 * The port between HTTP as a transport and what the service does with it. Two adapters stand behind it, one of
 * uWebSockets.js and one of node:http; everything above sees requests only through these interfaces.
 */
import type { ProblemData } from '../problem.ts'
import type { RequestContext } from '../service/services.ts'
import type { RequestHead } from './request-head.ts'

/** Header lines that never change, in the two forms the transports take. Names and values hold no line breaks. */
export interface HeaderBlock {
  /** [name, value, name, value, …] */
  readonly pairs: readonly string[]
  /** Name of the first line. */
  readonly firstName: string
  /** Value of the first line and all lines after it, as they go over the wire. */
  readonly rest: string
}

/** One answer as data. */
export interface Reply<Body extends string | Uint8Array = string | Uint8Array> {
  readonly status: number
  readonly headers: HeaderBlock
  /** Lines of this answer alone: [name, value, name, value, …], without line breaks in them. */
  readonly fields: readonly string[]
  readonly body: Body
  /** True when the connection cannot be used any more, e.g. because the end of the request is unknown. */
  readonly close?: boolean
}

/** One request and the way to answer it. It is also the `RequestContext` that travels down to the service. */
export interface Exchange extends RequestContext {
  /** Upper case. */
  readonly method: string
  /** As sent, undecoded, from the first slash to the question mark. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  readonly head: RequestHead
  /** The other end of the socket, 4 or 16 bytes in network order. Valid until `HttpHandler.handle` returns. */
  readonly peer: Uint8Array
  /** `performance.now()` when the head had arrived. */
  readonly startedMs: number
  /** True once an answer was given: by the handler, or by the transport because a limit was hit. */
  readonly answered: boolean
  deadlineMs: number
  /** Free for the handler. */
  state: unknown

  /**
   * Reads the body; to be called before `HttpHandler.handle` returns. A body that is too large, too slow or too much
   * beside the others is refused through `HttpHandler.decline`, and `receive` is never called.
   *
   * @param owner whose open bodies are counted together
   * @param receive gets the whole body once; the bytes belong to it
   * @param maxBodyBytes another limit than the usual one
   */
  readBody(owner: number | string, receive: (body: Uint8Array) => void, maxBodyBytes?: number): void
  /**
   * Reads the body piece by piece, without a limit of its size; to be called before `HttpHandler.handle` returns. What was
   * taken and not released counts towards the bytes of all requests. Time runs from one piece to the next.
   *
   * @returns the way to hold the client back
   */
  streamBody(owner: number | string, receiver: BodyReceiver): BodyFlow
  /** Sends the answer; nothing happens when the client is gone or an answer was given already. */
  answer(reply: Reply): void
  /**
   * Begins an answer whose length is not known yet; undefined when the client is gone or an answer was given already.
   *
   * @param head without a body
   */
  beginAnswer(head: Omit<Reply, 'body'>): AnswerStream | undefined
  /** Ends the connection in the middle of a begun answer: the client learns from the missing end that it failed. */
  breakStream(): void
}

/** Who takes a body piece by piece. */
export interface BodyReceiver {
  /** True when `take` copies what it needs: its chunk is valid for the call only. Otherwise it belongs to the receiver. */
  readonly takesCopies?: true
  take(chunk: Uint8Array): void
  /** The body is complete. Not called when the client left or the transport refused the rest. */
  end(): void
  /** In its place when the service stops: nothing more is taken, and what came is to be answered. Without it we wait. */
  cut?(): void
  /** The exchange ended before the body did: what was taken is not needed any more. */
  drop?(): void
}

/** Backpressure to the sender of a body. */
export interface BodyFlow {
  pause(): void
  resume(): void
  /** The receiver is done with so many bytes. */
  release(bytes: number): void
}

/** An answer that is written piece by piece. Nothing happens once the client is gone. */
export interface AnswerStream {
  /**
   * @param piece bytes are given away with the buffer they lie in
   * @returns false when the client reads slower than we write: wait for `onWritable`
   */
  write(piece: string | Uint8Array): boolean
  /** Called once, when there is room again. */
  onWritable(listener: () => void): void
  end(): void
}

/** What the service does with requests; `createApp` makes it. */
export interface HttpHandler {
  /** Called once a request, when its head has arrived. May throw: then `fail` is called with the error. */
  handle(exchange: Exchange): void
  /** Answers with a problem that the transport found. Never throws. */
  decline(exchange: Exchange, problem: ProblemData, close: boolean): void
  /** Answers with what was thrown: a `ProblemError`, or anything else as `internal`. Never throws. */
  fail(exchange: Exchange, error: unknown): void
  /** The client left before it was answered. */
  abandoned(exchange: Exchange): void
  /** Answer to bytes that never became a request. */
  unparsable(status: 400 | 408 | 431, peer: Uint8Array): Reply<string>
}

/** These answers have no body, and no length of one (RFC 9110, sections 8.6 and 15.4.5). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304
}

/** A running transport. */
export interface HttpServer {
  readonly adapter: 'uws' | 'node'
  /** Requests that have been read and not answered. */
  readonly inFlight: number
  /**
   * @param port 0 takes any free one
   * @returns the port taken
   * @throws {ListenError}
   */
  listen(host: string, port: number): Promise<number>
  /** Stops accepting, answers what is in flight with `Connection: close`; resolves when done or after `drainTimeoutMs`. */
  close(): Promise<void>
}

export type ListenFailure = 'in-use' | 'not-permitted' | 'no-such-address' | 'failed'

/** The port could not be taken. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly failure: ListenFailure

  constructor(host: string, port: number, code: string | undefined, options?: ErrorOptions) {
    const failure = LISTEN_FAILURES[code ?? ''] ?? 'failed'
    super(`cannot listen on ${host} port ${port}: ${failure}${code === undefined ? '' : ` (${code})`}`, options)
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
