/** `trigpoint/client`: the service's endpoints as functions, for browsers and Node.js. */
import type { Submission, VerifyProofResponse, VerifyStampResponse } from '../types/generated.ts'
import { type ClientAccount, createAccount } from './account.ts'
import type { Health, Issuer, Plugin, Readiness, ServiceInfo, SyncResponse, SyncStatus } from './answers.ts'
import { type Batch, createBatch } from './batch.ts'
import { type Compute, createCompute } from './compute.ts'
import type { ProofLike, StampLike } from './forms.ts'
import { createGeometries, type StoredGeometries } from './geometries.ts'
import { createJobs, type Jobs } from './jobs.ts'
import type { BatchingOptions } from './joined-calls.ts'
import { createRecords, type Records } from './records.ts'
import { type SignedIn, type SignInOptions, WalletSession } from './session.ts'
import { createSets, type Sets } from './sets.ts'
import { submissionStates } from './submission-states.ts'
import { type CallOptions, createTransport, type TransportOptions } from './transport.ts'

export type { GeometryLike } from '../geometry/geometry-like.ts'
export type { Issuer } from './answers.ts'
export type { BatchOperation } from './batch.ts'
export type { InputLike, ProofLike, StampLike } from './forms.ts'
export type { JobRoot } from './jobs.ts'
export type { CreateReceiptOptions, Receipt, ReceiptVerdict } from './receipt.ts'
// biome-ignore lint/performance/noBarrelFile: the package has one entry, which exports everything that callers need
export { createReceipt, ReceiptError, readReceipt, verifyReceipt } from './receipt.ts'
export type { SignedIn, SignInOptions } from './session.ts'
export { ApiError, ConnectionError } from './transport.ts'
export type { Check, JobProof, Recompute, Verdict, VerifyResultOptions } from './verify/verdict.ts'
export { verifyResult } from './verify/verify-result.ts'

export interface ClientOptions extends TransportOptions {
  /** The chain that results are signed for, unless a call names another one. */
  readonly chainId?: number | undefined
  /**
   * Joins calls of `compute` that are made at about the same time into one request. Each call gets what its own request would get.
   * Calls with `resultSignature`, and `resign`, stay requests of their own.
   */
  readonly batching?: BatchingOptions | undefined
}

export interface VerifyProofOptions extends CallOptions {
  /** The chain that the evaluation is signed for; without it, nothing is signed. */
  readonly chainId?: number | undefined
  /** Recipient of the attestation; by default none (the zero address). */
  readonly recipient?: string | undefined
  /** Asks the service to submit the attestation to the chain; its operator must have enabled this. */
  readonly submitOnchain?: boolean | undefined
}

/** The evaluation of evidence by the service. */
export interface Verify {
  /**
   * Evaluates one stamp; nothing is signed.
   *
   * @param options `media`: the file that a proofmode stamp names, as base64
   */
  stamp(stamp: StampLike, options?: CallOptions & { readonly media?: string | undefined }): Promise<VerifyStampResponse>
  /**
   * Evaluates a proof and, with a `chainId`, attests the evaluation. With `submitOnchain` the call is not retried after 503
   * or a broken connection.
   */
  proof(proof: ProofLike, options?: VerifyProofOptions): Promise<VerifyProofResponse>
  /** Lists the plugins of the service. */
  plugins(options?: CallOptions): Promise<{ readonly plugins: readonly Plugin[] }>
  /** Reads the state of a submission. @param id from the member `submission` of the response to `proof` */
  submission(id: string, options?: CallOptions): Promise<Submission>
  /** Yields the state of a submission now and at each change, until it is `finalized` or `failed`. It reconnects when a connection breaks. */
  submissionStates(id: string, options?: CallOptions): AsyncGenerator<Submission, void, undefined>
}

/** Endpoints for the operator of the service; all other clients get an {ApiError} with status 403. */
export interface Sync {
  /** Reads what has been synchronised, and recent errors. */
  status(options?: CallOptions): Promise<SyncStatus>
  /** Reads one chain, or all chains, up to the newest block now. @param chain name of the chain, e.g. `base` */
  run(chain?: string, options?: CallOptions): Promise<SyncResponse>
  /** Compares every valid record with its chain now, to find revocations. */
  revocations(options?: CallOptions): Promise<SyncResponse>
  /** Starts or stops the periodic reading of the chains; the state is kept over restarts. */
  worker(action: 'start' | 'stop', options?: CallOptions): Promise<SyncResponse>
}

/** The service's endpoints. All methods throw {ApiError} on an error status and {ConnectionError} without a complete response. */
export interface Client {
  readonly compute: Compute
  readonly batch: Batch
  readonly geometries: StoredGeometries
  readonly sets: Sets
  readonly jobs: Jobs
  readonly verify: Verify
  readonly records: Records
  readonly sync: Sync
  /** The account of a wallet, its API keys and its usage. */
  readonly account: ClientAccount
  /**
   * Signs a wallet in. From then on all calls count for its account: they carry the token of the session in place of `apiKey` and
   * `token`, and one of them replaces it when it is about to end. The tokens are in memory only. When the session has ended, all calls
   * throw {ApiError} with status 401 until the next `signIn` or `signOut`. A second `signIn` also ends the session of the first, within
   * five seconds; it does not fail if the service cannot end it. A call that is under way keeps its session: with the end of that
   * session it throws {ApiError} with status 401.
   *
   * @returns the tier of the session, and why it is not that of holders, if there is one
   * @throws {ApiError} with status 404 if the service has the sign-in off, 401 if it rejects the message or the signature
   * @throws {RangeError} if the options make no message of EIP-4361
   * @throws {TypeError} without a chain id
   * @throws what `signMessage` throws, such as the error of a wallet whose user rejected it
   */
  signIn(options: SignInOptions): Promise<SignedIn>
  /** Ends the session and forgets its tokens, also if the service does not respond. Does nothing without a session. */
  signOut(options?: CallOptions): Promise<void>
  /** Checks that the service runs. */
  health(options?: CallOptions): Promise<Health>
  /** Checks that all parts of the service are ready. @throws {ApiError} with status 503 while one is not */
  ready(options?: CallOptions): Promise<Readiness>
  /** Reads the version, endpoints and attester of the service. */
  info(options?: CallOptions): Promise<ServiceInfo>
  /** Reads the attester's addresses, chains and schemas. `verifyResult` takes it as `issuer`; keep a trusted copy instead of reading it each time. */
  issuer(options?: CallOptions): Promise<Issuer>
}

/**
 * Creates a client. This opens no connection; each method is one request, unless `batching` joins some.
 *
 * @throws {RangeError} on options of `batching` outside their range
 * @throws {TypeError} when `baseUrl` is not an http(s) address
 */
export function createClient(options: ClientOptions): Client {
  // The service would reject the requests of a session together with a key that has expired.
  const sessionOptions = { ...options, apiKey: undefined, token: undefined }
  const session = new WalletSession(
    (tokens) => createTransport(sessionOptions, tokens),
    options.baseUrl,
    options.chainId,
    Date.now,
  )
  const transport = createTransport(options, session)
  const get = <T>(path: string, call?: CallOptions) => transport.json<T>({ method: 'GET', path }, call)
  const post = <T>(path: string, body: object | undefined, call?: CallOptions, mayRepeat = true) =>
    transport.json<T>(
      { method: 'POST', path, mayRepeat, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
      call,
    )
  const submissionPath = (id: string) => `/verify/v0/submissions/${encodeURIComponent(id)}`
  return {
    compute: createCompute(transport, options.chainId, options.batching),
    batch: createBatch(transport, options.chainId),
    geometries: createGeometries(transport),
    sets: createSets(transport, options.chainId),
    jobs: createJobs(transport, options.chainId),
    records: createRecords(transport),
    verify: {
      stamp: async (stamp, call = {}) => post('/verify/v0/stamp', { stamp, media: call.media }, call),
      proof: async (proof, call = {}) => {
        const { chainId, recipient, submitOnchain } = call
        const body = { proof, options: { chainId, recipient, submitOnchain } }
        return post('/verify/v0/proof', body, call, submitOnchain !== true)
      },
      plugins: async (call) => get('/verify/v0/plugins', call),
      submission: async (id, call) => get(submissionPath(id), call),
      submissionStates: (id, call = {}) => submissionStates(transport, `${submissionPath(id)}/events`, call),
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
    account: createAccount(transport),
    signIn: (call) => session.signIn(call),
    signOut: (call) => session.signOut(() => post('/auth/sign-out', undefined, call)),
    health: async (call) => get('/health', call),
    ready: async (call) => get('/ready', call),
    info: async (call) => get('/', call),
    issuer: async (call) => get('/.well-known/attester.json', call),
  }
}
