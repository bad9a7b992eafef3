/** A request and its response as the service sees them, without HTTP terms. */

import type { CostMeter } from '../base/cost.ts'
import type { QueueClient } from '../base/fair-queue.ts'
import { type ProblemData, ProblemError, type ProblemType } from '../base/problem.ts'
import type { Tier } from '../wire/key-messages.ts'

/** One request as the service sees it: its deadline, and whether the client is still connected. */
export interface RequestContext {
  /** Who asks. Queues serve clients in turn. */
  readonly client: QueueClient
  /** Takes what the request costs; undefined if nobody is charged for it. */
  readonly costs?: CostMeter | undefined
  /** True once the client has disconnected. */
  readonly aborted: boolean
  /** Milliseconds since the epoch, after which the response is too late. */
  readonly deadlineMs: number
  /** Extra milliseconds that this response may take, on top of the limit for all responses. */
  extraMs?: number | undefined
}

/** Runs a function on this thread and charges its time until it returns: if it is asynchronous, until it first waits. */
export function chargeTime<T>({ costs }: Pick<RequestContext, 'costs'>, run: () => T): T {
  const beginMs = performance.now()
  try {
    return run()
  } finally {
    costs?.charge('cpu-ms', performance.now() - beginMs)
  }
}

/** @throws {ProblemError} if the client has disconnected or its deadline has passed */
export function rejectExpired({ aborted, deadlineMs }: RequestContext, nowMs: number): void {
  if (!aborted && nowMs < deadlineMs) return
  throw new ProblemError({ type: 'overloaded', detail: 'the request waited longer than its deadline' })
}

/**
 * Account and subject of requests without a key from this machine. In development they have the limit of the internal tier
 * (decision 133).
 */
export const LOCAL_CALLER = 'local'

/** The client for whom an attestation is submitted. */
export interface SubmissionCaller {
  /** Name of the API key's account; undefined without a key. */
  readonly account: string | undefined
  /** Subject of the network address, for an account of a wallet. */
  readonly walletAddress?: string | undefined
  readonly tier: Tier
  /** Header value as sent. */
  readonly idempotencyKey: string | undefined
}

/** Context of a batch. Each item counts as one request, and items fail independently. */
export interface BatchContext extends RequestContext {
  /** Whose stored geometries the items may name; undefined without a key. */
  readonly account?: string | undefined
  /** For whom results are submitted; undefined for batches that cannot ask for this. */
  readonly caller?: SubmissionCaller
  /** True if what is signed one by one are the results without a nonce (decision 104), not attestations. */
  readonly signsResults?: boolean
  /** Milliseconds that one message to a thread may take; those of a request by default. */
  readonly chunkMs?: number
  /**
   * Takes items from the caller's hourly quota.
   *
   * @param isWhole true to take none if the quota does not cover all of them
   * @returns the number of items that are allowed; a promise if other nodes have to be asked
   */
  takeQuota(items: number, isWhole?: boolean): number | Promise<number>
  /**
   * Returns the problem of items that must not be computed, because a budget of the caller is used up; undefined while there is
   * some of each. Counts these items in the metrics.
   */
  costProblem(items: number): ProblemData | undefined
  /** Counts items in the metrics by outcome: `ok`, or the type of their problem. */
  countItems(outcome: 'ok' | ProblemType, items: number): void
  /** The problem of items beyond the quota. */
  readonly quotaProblem: ProblemData
  /** Returns the JSON of a problem, the same object that a rejected single request gets. */
  problemJson(problem: ProblemData): string
  /** Logs an error that clients must not see. */
  report(error: unknown): void
}

/** Receives the response to a batch piece by piece. */
export interface TextSink {
  /** Resolves when the client can take more. The sink takes ownership of the bytes and of their whole buffer. */
  write(piece: string | Uint8Array): void | Promise<void>
}

/** A sink that also takes response headers, which are known only with the first results. */
export interface BatchSink extends TextSink {
  /** Adds headers to the response. Has no effect once the head of the response has been sent. */
  addHeaders(headers: Readonly<Record<string, string>>): void
}

/** Takes the lines of a stream as bytes, in pieces that may end in the middle of a line. */
export interface LineStream {
  take(bytes: Uint8Array): void
  /** True while it should get no more bytes: its queue is full. */
  readonly isFull: boolean
  /**
   * Resolves when every line has been answered.
   *
   * @param isCut true if the stream broke off; an incomplete last line is then dropped
   */
  end(isCut: boolean): Promise<void>
}

export interface ServiceResponse {
  /** The body. */
  readonly json: string
  readonly headers?: Readonly<Record<string, string>>
}
