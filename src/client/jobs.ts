import type { BatchResult, Job, MerkleAttestation, Submission } from '../types/generated.ts'
import { type BatchOperation, toItem } from './batch.ts'
import { readJsonLines } from './lines.ts'
import { type Call, type CallOptions, ConnectionError, sleep, type Transport } from './transport.ts'
import type { JobProof } from './verify/verdict.ts'

export interface JobOptions extends CallOptions {
  readonly chainId?: number | undefined
  readonly recipient?: string | undefined
  /** `each` (a signature without a nonce for each result), `merkle` (one signature for all results) or `none`. */
  readonly attest?: 'each' | 'merkle' | 'none' | undefined
  /**
   * Asks the service to submit each result to the chain or, with `merkle`, one root of all results when the job is done; its operator
   * must have enabled this. The state of the job has the submission of the root.
   */
  readonly submitOnchain?: boolean | undefined
  /**
   * A later call with the same key and the same operations continues the same job and sends only the missing operations. The
   * default is a new random key.
   */
  readonly idempotencyKey?: string | undefined
  /** Called after each request of the upload. */
  readonly onProgress?: ((job: Job) => void) | undefined
}

interface ResultOptions extends CallOptions {
  /** Index of the first operation; default 0. */
  readonly from?: number | undefined
}

/** The attestation of the root of a job, and its submission if the service submits it. `verifyResult` takes it as it is. */
export type JobRoot = MerkleAttestation & { readonly submission?: Submission }

/** Batches that the service keeps and computes in the background. They belong to the API key of the client. */
export interface Jobs {
  /** Uploads operations in requests of a few megabytes, so memory use does not grow with their number. */
  create(items: Iterable<BatchOperation> | AsyncIterable<BatchOperation>, options?: JobOptions): Promise<Job>
  /** Reads the jobs of the key, newest first. */
  list(options?: CallOptions): Promise<readonly Job[]>
  /** Reads state and progress. */
  state(id: string, options?: CallOptions): Promise<Job>
  /** Waits until the job is done, cancelled or failed. @param options `onProgress` is called with each state */
  wait(id: string, options?: Pick<JobOptions, 'onProgress' | keyof CallOptions>): Promise<Job>
  cancel(id: string, options?: CallOptions): Promise<Job>
  /**
   * Yields the results in the order of the operations and, while the job runs, waits for further ones. When a connection breaks,
   * it reconnects and continues with the next result.
   */
  results(id: string, options?: ResultOptions): AsyncGenerator<BatchResult, void, undefined>
  /** Reads the attestation of the Merkle root, which is signed for this call. If the service submits the root, it has the same data. */
  attestation(id: string, options?: CallOptions): Promise<JobRoot>
  /** Reads the Merkle proof of an operation. */
  proof(id: string, operation: number, options?: CallOptions): Promise<JobProof>
}

const PATH = '/compute/v0/jobs'
/** An upload request is sent as soon as its operations have this many characters. */
const MAX_PIECE_CHARACTERS = 4 * 1_048_576
/** Interval between two reads of the state. */
const POLL_MS = 500

export function createJobs(transport: Transport, defaultChainId: number | undefined): Jobs {
  const jobPath = (id: string, more = '') => `${PATH}/${encodeURIComponent(id)}${more}`
  const get = <T>(path: string, options?: CallOptions) => transport.json<T>({ method: 'GET', path }, options)
  const send = (method: Call['method'], path: string, body: string, options: CallOptions, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    return transport.json<Job>({ method, path, body, headers, contentType: 'application/x-ndjson' }, options)
  }
  const state = (id: string, options?: CallOptions) => get<Job>(jobPath(id), options)
  return {
    state,
    async create(items, options = {}) {
      const { idempotencyKey = randomKey(), onProgress } = options
      const query = `${buildQuery(options, defaultChainId)}&more=true`
      let job: Job | undefined
      let sent = 0
      for await (const lines of cutPieces(items)) {
        const first = sent
        sent += lines.length
        // Operations of an earlier upload with the same key are not sent again.
        if (job !== undefined && sent <= job.received) continue
        const body = `${lines.join('\n')}\n`
        job =
          job === undefined
            ? await send('POST', `${PATH}?${query}`, body, options, idempotencyKey)
            : await send('PUT', jobPath(job.id, `/input?from=${first}&more=true`), body, options)
        onProgress?.(job)
        if (job.state !== 'receiving') return job
      }
      job ??= await send('POST', `${PATH}?${query}`, '', options, idempotencyKey)
      job = await send('PUT', jobPath(job.id, `/input?from=${job.received}`), '', options)
      onProgress?.(job)
      return job
    },
    list: async (options) => (await get<{ readonly jobs: readonly Job[] }>(PATH, options)).jobs,
    async wait(id, options = {}) {
      for (;;) {
        const job = await state(id, options)
        options.onProgress?.(job)
        if (job.state === 'done' || job.state === 'cancelled' || job.state === 'failed') return job
        await sleep(POLL_MS, options.signal)
      }
    },
    cancel: (id, options) => transport.json<Job>({ method: 'DELETE', path: jobPath(id) }, options),
    async *results(id, options = {}) {
      const maxFailures = transport.maxRetries(options)
      let next = options.from ?? 0
      for (let failures = 0; ; ) {
        const before = next
        try {
          const path = jobPath(id, `/results?from=${next}&follow=true`)
          const response = await transport.open({ method: 'GET', path }, options)
          for await (const result of readJsonLines<BatchResult>(response.pieces())) {
            next++
            yield result
          }
          return
        } catch (error) {
          if (options.signal?.aborted === true) throw options.signal.reason
          if (!(error instanceof ConnectionError)) throw error
          failures = next > before ? 0 : failures + 1
          if (failures > maxFailures) throw error
          await transport.pause(failures, options)
        }
      }
    },
    async attestation(id, options) {
      const path = jobPath(id, '/attestation')
      const { merkle, ...submission } = await get<{
        readonly merkle: MerkleAttestation
        readonly submission?: Submission
      }>(path, options)
      return { ...merkle, ...submission }
    },
    proof: (id, operation, options) => get<JobProof>(jobPath(id, `/results/${operation}/proof`), options),
  }
}

function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function buildQuery(
  { chainId, recipient, attest, submitOnchain }: JobOptions,
  defaultChainId: number | undefined,
): string {
  const query = new URLSearchParams()
  const chain = chainId ?? defaultChainId
  if (chain !== undefined) query.set('chainId', String(chain))
  if (recipient !== undefined) query.set('recipient', recipient)
  if (attest !== undefined) query.set('attest', attest)
  if (submitOnchain === true) query.set('submitOnchain', 'true')
  return query.toString()
}

async function* cutPieces(
  items: Iterable<BatchOperation> | AsyncIterable<BatchOperation>,
): AsyncGenerator<string[], void, undefined> {
  let lines: string[] = []
  let characters = 0
  for await (const item of items) {
    const line = JSON.stringify(toItem(item))
    lines.push(line)
    characters += line.length
    if (characters < MAX_PIECE_CHARACTERS) continue
    yield lines
    lines = []
    characters = 0
  }
  if (lines.length > 0) yield lines
}
