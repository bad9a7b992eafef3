/** The interface between the HTTP layer and the service, without HTTP terms. */

import type { QueueClient } from '../base/fair-queue.ts'
import type { ProblemData } from '../base/problem.ts'
import type { OperationName } from '../wire/values.ts'
import type { AccountService } from './accounts/account-api.ts'
import type { ComputeCall } from './compute/compute.ts'
import type { JobService } from './jobs/job-services.ts'
import type { KeyService } from './keys/key-api.ts'
import type {
  EventSink,
  GraphqlService,
  OgcService,
  RecordFeeds,
  RecordService,
  SyncService,
} from './records/record-services.ts'
import type {
  BatchContext,
  BatchSink,
  LineStream,
  RequestContext,
  ServiceResponse,
  SubmissionCaller,
} from './request.ts'
import type { GeometryService } from './stored/geometries.ts'
import type { SetService } from './stored/sets.ts'
import type { UsageService } from './usage/usage-api.ts'

export interface Readiness {
  readonly ready: boolean
  /** Whether records can be read, and in words for anyone why not, or why they cannot be written. */
  readonly database: { readonly isConnected: boolean; readonly detail?: string | undefined }
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
    /** Whether the service has an RPC endpoint of the chain. */
    readonly rpc: boolean
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
   * @throws {ProblemError} for every error that the client should see
   */
  compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    call: ComputeCall,
  ): Promise<ServiceResponse>
  /** False while `computeRefusal` and `recordRefusal` refuse no request. */
  isCrowded(): boolean
  /** Returns the problem of a compute request that would wait too long; undefined if its body may be read. */
  computeRefusal(client: QueueClient, bodyBytes: number | undefined): ProblemData | undefined
  /** Returns the problem of a request for records that would wait too long. */
  recordRefusal(client: QueueClient): ProblemData | undefined
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
  /** Geometries that the store keeps. */
  readonly geometries: GeometryService
  /** Sets of features that the store keeps. */
  readonly sets: SetService
  /** Batches that the store keeps. */
  readonly jobs: JobService
  /** API keys in the database or, without a PostgreSQL server, in the key file. */
  readonly keys: KeyService
  /** Undefined if wallets cannot sign in. */
  readonly accounts: AccountService | undefined
  /** Undefined if the service has no database. */
  readonly usage: UsageService | undefined
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
  /**
   * Writes the state of a submission as a server-sent event now and at each change, until it is final.
   *
   * @throws {ProblemError} `not-found`, or `overloaded` beyond the limits on open streams
   */
  watchSubmission(id: string, context: RequestContext, sink: EventSink): Promise<void>
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
  /** @param askedBy the route that asks, for the log */
  readiness(askedBy: '/health' | '/ready'): Readiness
  readonly identity: Identity
}
