/** The interface between the HTTP layer and the service, without HTTP terms. */

import { type ProblemData, ProblemError, type ProblemType } from '../base/problem.ts'
import type { Tier } from '../config/config.ts'
import type { OperationName } from '../wire/messages.ts'
import type { GraphqlService, OgcService, RecordFeeds, RecordService, SyncService } from './records/record-services.ts'

/** One request as the service sees it: its deadline, and whether the client is still connected. */
export interface RequestContext {
  /** True once the client has disconnected. */
  readonly aborted: boolean
  /** Milliseconds since the epoch, after which the response is too late. */
  readonly deadlineMs: number
  /** Extra milliseconds that this response may take, on top of the limit for all responses. */
  extraMs?: number
}

/** @throws {ProblemError} if the client has disconnected or its deadline has passed */
export function rejectExpired({ aborted, deadlineMs }: RequestContext, nowMs: number): void {
  if (!aborted && nowMs < deadlineMs) return
  throw new ProblemError({ type: 'overloaded', detail: 'the request waited longer than its deadline' })
}

/** The client for whom an attestation is submitted. */
export interface SubmissionCaller {
  /** Name of the API key's account; undefined without a key. */
  readonly account: string | undefined
  readonly tier: Tier
  /** Header value as sent. */
  readonly idempotencyKey: string | undefined
}

/** Context of a batch. Each item counts as one request, and items fail independently. */
export interface BatchContext extends RequestContext {
  /**
   * Takes items from the caller's hourly quota.
   *
   * @returns the number of items that are allowed
   */
  takeQuota(items: number): number
  /** Counts items in the metrics by outcome: `ok`, or the type of their problem. */
  countItems(outcome: 'ok' | ProblemType, items: number): void
  /** The problem of items beyond the quota. */
  readonly quotaProblem: ProblemData
  /** Returns the JSON of a problem, the same object that a rejected single request gets. */
  problemJson(problem: ProblemData): string
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

export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>
}

/** The service's identity, as served by `GET /.well-known/attester.json`. */
export interface Identity {
  /** Checksummed. */
  readonly attester: string
  readonly purpose: 'development' | 'staging' | 'production'
  readonly version: string
  readonly commit: string
  readonly chains: readonly {
    readonly chainId: number
    readonly name: string
    /** Which message the contract's signatures cover; see docs/attestations.md. */
    readonly profile: string
    /** Version in the EIP-712 domain. */
    readonly easVersion: string
    readonly registry: string
    readonly schemaRegistry: string
    readonly schemas: Readonly<Record<'numeric' | 'boolean' | 'verify' | 'merkleRoot', string>>
  }[]
  readonly retired: readonly string[]
}

export interface Services {
  readonly sync: SyncService
  /**
   * Runs one compute operation.
   *
   * @param prefersResultSignature also signs the result without a nonce, and confirms it in `Preference-Applied`
   * @throws {ProblemError} for every error that the client should see
   */
  compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    prefersResultSignature: boolean,
  ): Promise<ServiceResponse>
  /**
   * Signs an earlier response of this service again.
   *
   * @throws {ProblemError} for every error that the client should see
   */
  resign(body: Uint8Array): Promise<ServiceResponse>
  /**
   * Runs a JSON batch and writes the response to `sink` in pieces.
   *
   * @throws {ProblemError} before the first piece, if the batch as a whole is rejected
   */
  batch(body: Uint8Array, context: BatchContext, sink: BatchSink): Promise<void>
  /**
   * Opens a batch whose items and results are lines.
   *
   * @param query options as in `?chainId=84532&attest=none`
   * @param onRoom called with the number of stream bytes whose lines have been answered
   * @throws {ProblemError} for invalid options
   */
  openBatch(query: string, context: BatchContext, sink: BatchSink, onRoom: (bytes: number) => void): LineStream
  /**
   * Verifies one stamp.
   *
   * @throws {ProblemError} for every error that the client should see; an invalid stamp is a result, not an error
   */
  verifyStamp(body: Uint8Array, context: RequestContext): Promise<ServiceResponse>
  /**
   * Verifies a proof, and signs the result if the request names a chain.
   *
   * @throws {ProblemError} for every error that the client should see
   */
  verifyProof(body: Uint8Array, context: RequestContext, caller: SubmissionCaller): Promise<ServiceResponse>
  /**
   * Reports the state of a submission.
   *
   * @throws {ProblemError} `not-found`
   */
  submission(id: string, context: RequestContext): Promise<ServiceResponse>
  /** The body of `GET /verify/v0/plugins`. */
  readonly pluginsJson: string
  /** The same three endpoints with the request and response shapes of the previous API generation. */
  readonly olderVerify: {
    stamp(body: Uint8Array, context: RequestContext): Promise<ServiceResponse>
    proof(body: Uint8Array, context: RequestContext, caller: SubmissionCaller): Promise<ServiceResponse>
    readonly pluginsJson: string
  }
  readonly records: RecordService
  readonly ogc: OgcService
  readonly feeds: RecordFeeds
  /** Undefined if GraphQL is not enabled. */
  readonly graphql: GraphqlService | undefined
  readiness(): Readiness
  readonly identity: Identity
}
