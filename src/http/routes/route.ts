/** A route: its path, and how it answers a request. */

import type { QueueClient } from '../../base/fair-queue.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { BatchContext, SubmissionCaller } from '../../service/request.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import type { KeyScope } from '../../wire/key-messages.ts'
import type { Exchange, ResponseStream } from '../transport/port.ts'
import type { ContentKind } from './respond.ts'

/** A request as a route sees it. */
export interface RouteRequest {
  readonly exchange: Exchange
  /** Absolute URL under which the client reaches this service, without a trailing slash. */
  readonly baseUrl: string
  readonly errorTypeBase: string
  /** Value of `:name` or `*` in the route's path; several are joined with slashes. */
  readonly parameter: string
  readonly caller: SubmissionCaller
  /** Set in routes that need one. */
  readonly session?: SessionState | undefined
}

export interface RouteResult {
  /** The body of any `kind`, not only of JSON. */
  readonly json: string | Uint8Array
  /** Additional header lines of this response. */
  readonly headers?: Readonly<Record<string, string>>
  /** 200 by default. */
  readonly status?: number
  /** `json` by default. */
  readonly kind?: ContentKind
}

export const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export interface Route {
  /** `GET` routes also serve `HEAD`; `OPTIONS` needs no route. */
  readonly method: Method
  /** Exact path, or a path with segments `:name`, or one that ends with `*` for any number of segments. */
  readonly path: string
  /** What the route does, for `GET /`. */
  readonly summary: string
  /** True if each request counts towards the hourly limit and an invalid API key is rejected (decision 46). */
  readonly counts: boolean
  /** True if a client is charged for the cost of its requests, including the bytes sent to it, although they do not count. */
  readonly isMetered?: boolean
  /** Scope that a key needs, if the request has one. `admin` always needs a key. */
  readonly scope?: KeyScope
  /** True if only an account that has signed in may use the route, by the token of a session. */
  readonly needsSession?: boolean
  /** True if each request counts for its network address, as without a key, whatever key or token it carries. */
  readonly countsForAddress?: boolean
  /**
   * `cost`: a request with a valid key, or with the session that the route needs, counts only towards the limits by cost. Whoever has used
   * up the hourly limit, or whose key a thief uses, still has to see it and end it.
   */
  readonly holderCounts?: 'cost'
  /** True if it needs a key, whatever its scopes. */
  readonly needsKey?: boolean
  /** Called before the body is read and the request is counted. Returns a problem if the client may not use this route. */
  readonly authorize?: (exchange: Exchange) => ProblemData | undefined
  /** Called before the body is read and the request is counted. Returns a problem if too many requests are waiting already. */
  readonly refusal?: ((client: QueueClient, bodyBytes: number | undefined) => ProblemData | undefined) | undefined
  /** @param body empty for `GET` and `DELETE` */
  run(request: RouteRequest, body: Uint8Array): RouteResult | Promise<RouteResult>
  /** Used instead of `run` by routes that read and write piece by piece. */
  readonly stream?: (request: StreamRequest) => void
}

/** A request whose route reads the body and writes the response itself. */
export interface StreamRequest extends RouteRequest, BatchContext {
  readonly caller: SubmissionCaller
  /**
   * Charges bytes that are sent by a route whose requests do not count.
   *
   * @throws {ProblemError} `rate-limited` if a budget of the client is used up
   */
  chargeSent(bytes: number): void
  /** Key under which open bodies are counted. */
  readonly owner: number | string
  /** Rejects with a `ProblemError` if the quota turns out to be used up. Undefined if the request is within it. */
  readonly admitted: Promise<void> | undefined
  /**
   * Begins the response with status 200.
   *
   * @param extra additional header lines: [name, value, …]
   * @returns undefined if the client has disconnected or a response was sent already
   */
  begin(kind: ContentKind, extra?: readonly string[]): ResponseStream | undefined
  /** Registers a listener that is called once if the client disconnects before the end. */
  onDisconnect(listener: () => void): void
  /** Ends the stream that `begin` returned. */
  finish(stream: ResponseStream): void
  /** Sends a response as a whole, instead of `begin`. */
  succeed(result: RouteResult): void
  fail(error: unknown): void
}

/** Header of responses whose format depends on `Accept`. */
export const VARY_ACCEPT = { Vary: 'Accept' }

/** Makes a POST route that counts towards the hourly limit. */
export function countedPost(path: string, summary: string, run: Route['run']): Route {
  return { method: 'POST', path, summary, counts: true, run }
}

/** Limits a route by what its requests cost, and not by their number. */
export function metered(route: Route): Route {
  return { ...route, isMetered: true }
}

/** Makes a GET route that does not count towards the hourly limit. */
export function getRoute(path: string, summary: string, run: Route['run']): Route {
  return { method: 'GET', path, summary, counts: false, run }
}
