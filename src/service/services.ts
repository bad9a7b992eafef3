/** What the HTTP layer asks of the service, without HTTP. */
import type { Tier } from '../config.ts'
import type { OperationName } from '../messages.ts'
import { type ProblemData, ProblemError, type ProblemType } from '../problem.ts'
import type { GraphqlService, OgcService, RecordFeeds, RecordService, SyncService } from './record-services.ts'

/** One request as the service sees it: how long it may take, and whether anybody still waits. */
export interface RequestContext {
  /** True once the client is gone. */
  readonly aborted: boolean
  /** Milliseconds since the epoch after which the answer comes too late. */
  readonly deadlineMs: number
  /** Milliseconds the answer may take beyond what every answer may. */
  moreMs?: number
}

/** @throws {ProblemError} for a client that left, or was told already */
export function requireWaiting({ aborted, deadlineMs }: RequestContext, nowMs: number): void {
  if (!aborted && nowMs < deadlineMs) return
  throw new ProblemError({ type: 'overloaded', detail: 'the request waited longer than its deadline' })
}

/** For whom an attestation is submitted. */
export interface SubmissionCaller {
  /** Of the API key, without the key; undefined without one. */
  readonly account: string | undefined
  readonly tier: Tier
  /** As sent. */
  readonly idempotencyKey: string | undefined
}

/** The same for a batch, each of whose items counts as a request and may fail by itself. */
export interface BatchContext extends RequestContext {
  /**
   * Counts items towards the caller's hourly limit.
   *
   * @returns how many of them are allowed
   */
  takeQuota(items: number): number
  /** Counts items by how they came out: `ok`, or the type of their problem. */
  countItems(outcome: 'ok' | ProblemType, items: number): void
  /** What the items beyond the limit are told. */
  readonly quotaProblem: ProblemData
  /** A problem as the object that a refused request would get. */
  problemJson(problem: ProblemData): string
}

/** Where the text of a batch goes, piece by piece. */
export interface TextSink {
  /** Resolves when the client has room for more. Bytes are given away with the buffer they lie in. */
  write(piece: string | Uint8Array): void | Promise<void>
}

/** The same with header lines, which are known when the first results are. */
export interface BatchSink extends TextSink {
  /** Joins the head of the answer; nothing happens once that is on its way. */
  addHeaders(headers: Readonly<Record<string, string>>): void
}

/** Takes the lines of a stream as bytes, in pieces that end anywhere. */
export interface LineStream {
  take(bytes: Uint8Array): void
  /** True when it has enough for now. */
  readonly isFull: boolean
  /**
   * Resolves when every line was answered.
   *
   * @param isCut true when there would be more: the beginning of a line at the end is none
   */
  end(isCut: boolean): Promise<void>
}

export interface ServiceAnswer {
  /** The body. */
  readonly json: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>
}

/** Who signs here, as `GET /.well-known/attester.json` says it. */
export interface Identity {
  /** Checksummed. */
  readonly attester: string
  readonly purpose: 'development' | 'staging' | 'production'
  readonly version: string
  readonly commit: string
  readonly chains: readonly {
    readonly chainId: number
    readonly name: string
    /** Which message the contract's signatures cover: see docs/attestations.md. */
    readonly profile: string
    /** In the EIP-712 domain. */
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
   * @param prefersResultSignature also signs the result without a nonce, and says so in `Preference-Applied`
   * @throws {ProblemError} whatever the client has to be told
   */
  compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    prefersResultSignature: boolean,
  ): Promise<ServiceAnswer>
  /**
   * Signs an answer of this service again.
   *
   * @throws {ProblemError} whatever the client has to be told
   */
  resign(body: Uint8Array): Promise<ServiceAnswer>
  /**
   * Runs a JSON batch; the answer goes to `sink` in pieces.
   *
   * @throws {ProblemError} before the first piece: the batch as a whole cannot be taken
   */
  batch(body: Uint8Array, context: BatchContext, sink: BatchSink): Promise<void>
  /**
   * Opens a batch whose items come as lines and go as lines.
   *
   * @param query options as in `?chainId=84532&attest=none`
   * @param onRoom called with the bytes of lines that were answered
   * @throws {ProblemError} for options that are wrong
   */
  openBatch(query: string, context: BatchContext, sink: BatchSink, onRoom: (bytes: number) => void): LineStream
  /**
   * Judges one stamp.
   *
   * @throws {ProblemError} whatever the client has to be told; an invalid stamp is an answer
   */
  verifyStamp(body: Uint8Array, context: RequestContext): Promise<ServiceAnswer>
  /**
   * Judges a proof, and signs the result when a chain is named.
   *
   * @throws {ProblemError} whatever the client has to be told
   */
  verifyProof(body: Uint8Array, context: RequestContext, caller: SubmissionCaller): Promise<ServiceAnswer>
  /**
   * What became of an attestation that was to be submitted.
   *
   * @throws {ProblemError} `not-found`
   */
  submission(id: string, context: RequestContext): Promise<ServiceAnswer>
  /** The body of `GET /verify/v0/plugins`. */
  readonly pluginsJson: string
  /** The same three in the shapes of the older generation. */
  readonly olderVerify: {
    stamp(body: Uint8Array, context: RequestContext): Promise<ServiceAnswer>
    proof(body: Uint8Array, context: RequestContext, caller: SubmissionCaller): Promise<ServiceAnswer>
    readonly pluginsJson: string
  }
  readonly records: RecordService
  readonly ogc: OgcService
  readonly feeds: RecordFeeds
  /** undefined when it is not offered. */
  readonly graphql: GraphqlService | undefined
  readiness(): Readiness
  readonly identity: Identity
}
