/** `trigpoint/client`: the service's endpoints as functions, for browsers and Node.js. */
import type {
  EvidenceProof,
  LocationStamp,
  Submission,
  VerifyProofResponse,
  VerifyStampResponse,
} from '../types/generated.ts'
import type { Health, Issuer, Plugin, Readiness, ServiceInfo, SyncAnswer, SyncStatus } from './answers.ts'
import { type Batch, createBatch } from './batch.ts'
import { type Compute, createCompute } from './compute.ts'
import { createRecords, type Records } from './records.ts'
import { type CallOptions, createTransport, type TransportOptions } from './transport.ts'

export type { Issuer } from './answers.ts'
// biome-ignore lint/performance/noBarrelFile: the package has one entry, through which comes what people catch and call
export { ApiError, ConnectionError } from './api-error.ts'
export type { BatchOperation } from './batch.ts'
export type { InputLike } from './inputs.ts'
export type { Check, Verdict } from './verdict.ts'
export type { Recompute, VerifyResultOptions } from './verify-options.ts'
export { verifyResult } from './verify-result.ts'

export interface ClientOptions extends TransportOptions {
  /** The chain answers are signed for, unless a call names another. */
  readonly chainId?: number | undefined
}

export interface VerifyProofOptions extends CallOptions {
  /** Signs the outcome for this chain; without it nothing is signed. */
  readonly chainId?: number | undefined
  readonly recipient?: string | undefined
  /** The service puts the attestation on the chain itself, where its operator allows it. */
  readonly submitOnchain?: boolean | undefined
}

export interface Verify {
  /** @param media the file that a proofmode stamp names, base64 */
  stamp(
    stamp: LocationStamp,
    options?: CallOptions & { readonly media?: string | undefined },
  ): Promise<VerifyStampResponse>
  proof(proof: EvidenceProof, options?: VerifyProofOptions): Promise<VerifyProofResponse>
  plugins(options?: CallOptions): Promise<{ readonly plugins: readonly Plugin[] }>
  submission(id: string, options?: CallOptions): Promise<Submission>
}

/** For the deployment itself: the service refuses everybody else (403). */
export interface Sync {
  status(options?: CallOptions): Promise<SyncStatus>
  /** Reads all chains, or one to its end, now. */
  run(chain?: string, options?: CallOptions): Promise<SyncAnswer>
  revocations(options?: CallOptions): Promise<SyncAnswer>
  worker(action: 'start' | 'stop', options?: CallOptions): Promise<SyncAnswer>
}

export interface Client {
  readonly compute: Compute
  readonly batch: Batch
  readonly verify: Verify
  readonly records: Records
  readonly sync: Sync
  health(options?: CallOptions): Promise<Health>
  /** @throws {ApiError} 503 while something is missing */
  ready(options?: CallOptions): Promise<Readiness>
  info(options?: CallOptions): Promise<ServiceInfo>
  /** Who signs here: what `verifyResult` takes as `issuer`, best from a copy that you keep. */
  issuer(options?: CallOptions): Promise<Issuer>
}

/** Connects nothing: each method is one request. @throws {TypeError} on an address that is none */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  const get = <T>(path: string, call?: CallOptions) => transport.json<T>({ method: 'GET', path }, call)
  const post = <T>(path: string, body: object | undefined, call?: CallOptions, mayRepeat = true) =>
    transport.json<T>(
      { method: 'POST', path, mayRepeat, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
      call,
    )
  return {
    compute: createCompute(transport, options.chainId),
    batch: createBatch(transport, options.chainId),
    records: createRecords(transport),
    verify: {
      stamp: async (stamp, call = {}) => post('/verify/v0/stamp', { stamp, media: call.media }, call),
      proof: async (proof, call = {}) => {
        const { chainId, recipient, submitOnchain } = call
        const body = { proof, options: { chainId, recipient, submitOnchain } }
        return post('/verify/v0/proof', body, call, submitOnchain !== true)
      },
      plugins: async (call) => get('/verify/v0/plugins', call),
      submission: async (id, call) => get(`/verify/v0/submissions/${encodeURIComponent(id)}`, call),
    },
    sync: {
      status: async (call) => get('/api/sync/status', call),
      run: async (chain, call) => {
        const query = chain === undefined ? '' : `?chain=${encodeURIComponent(chain)}`
        return post(`/api/sync${query}`, undefined, call, false)
      },
      revocations: async (call) => post('/api/sync/revocations', undefined, call, false),
      worker: async (action, call) => post(`/api/sync/worker?action=${action}`, undefined, call),
    },
    health: async (call) => get('/health', call),
    ready: async (call) => get('/ready', call),
    info: async (call) => get('/', call),
    issuer: async (call) => get('/.well-known/attester.json', call),
  }
}
