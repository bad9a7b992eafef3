/** What the HTTP layer sees of jobs. */

import type { Tier } from '../../wire/key-messages.ts'
import type { EventSink } from '../records/record-services.ts'
import type { RequestContext, ServiceResponse, TextSink } from '../request.ts'

/** Who sends a request for a job. */
export interface JobCaller {
  /** The owner of the job; undefined if the caller has no key. */
  readonly account: string | undefined
  /** Subject of the network address, for an account of a wallet: its operations have a limit too. */
  readonly walletAddress?: string | undefined
  /** Header value as sent. */
  readonly idempotencyKey?: string | undefined
  /** Tier of the key. */
  readonly tier: Tier
  /** Prefix of problem type URIs. */
  readonly errorTypeBase: string
  /** Nothing is stored before it resolves. It rejects if the quota of the caller is used up. */
  readonly admitted?: Promise<void> | undefined
}

/** An upload of lines. */
export interface OpenUpload {
  take(bytes: Uint8Array): void
  /** True while it should get no more bytes. */
  readonly isFull: boolean
  /** Ends the stream. @param isCut true if the connection broke: an incomplete last line is dropped, and the job stays open */
  end(isCut: boolean): void
  /** The state of the job when all lines are stored. Rejects with a `ProblemError`. */
  readonly response: Promise<ServiceResponse>
}

/** Batches that the store keeps. All methods throw a `ProblemError`: `not-found` also for the jobs of other accounts. */
export interface JobService {
  /** Creates a job of a JSON batch. */
  create(body: Uint8Array, caller: JobCaller, context: RequestContext): Promise<ServiceResponse>
  /**
   * Creates a job of the lines that follow.
   *
   * @param query options as in `?chainId=84532&attest=none`
   * @param onRoom called with the number of bytes that are stored
   */
  openUpload(query: string, caller: JobCaller, context: RequestContext, onRoom: (bytes: number) => void): OpenUpload
  /** Continues the upload of a job. @param query `from`, the index of the first operation that follows */
  continueUpload(
    id: string,
    query: string,
    caller: JobCaller,
    context: RequestContext,
    onRoom: (bytes: number) => void,
  ): OpenUpload
  list(caller: JobCaller, context: RequestContext): Promise<ServiceResponse>
  state(id: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse>
  cancel(id: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse>
  /**
   * Writes the available results, in order.
   *
   * @param query `from`, the index of the first operation; `follow=true` waits for the results of a job that runs
   */
  results(id: string, query: string, caller: JobCaller, context: RequestContext, sink: TextSink): Promise<void>
  /** Writes the state after each change until it is final, as server-sent events. */
  watch(id: string, caller: JobCaller, context: RequestContext, sink: EventSink): Promise<void>
  /** The attestation of the Merkle root, signed now. */
  attestation(id: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse>
  /** The Merkle proof of an operation. */
  proof(id: string, operation: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse>
  /** Ends every wait, and releases the chunks that are not computed. */
  close(): Promise<void>
}
