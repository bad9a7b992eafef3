/** Jobs for clients: upload, state, results, progress, proofs. `runner.ts` computes them. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ClientCounts } from '../../base/client-counts.ts'
import type { Metrics } from '../../base/metrics.ts'
import { type ProblemData, ProblemError, problemAt } from '../../base/problem.ts'
import { attestationMembers, submissionMember } from '../../compute/response-text.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import { type BatchOptions, checkJobOptions, readJobQuery } from '../../validation/batch.ts'
import type { Job } from '../../wire/job-messages.ts'
import { readJsonBatch } from '../batch/json-batch.ts'
import { attestMerkleRoot } from '../batch/sign.ts'
import { submissionJson } from '../chains/submission-state.ts'
import { nonceHeaders } from '../compute/signed-answer.ts'
import type { EventSink } from '../records/record-services.ts'
import { createStoreAccess } from '../records/store-access.ts'
import { LOCAL_CALLER, type RequestContext, type ServiceResponse, type TextSink } from '../request.ts'
import { ChunkMetrics } from './job-metrics.ts'
import type { JobCaller, JobService, OpenUpload } from './job-services.ts'
import { unpack } from './packing.ts'
import { RootSubmitter } from './roots.ts'
import { GIVEN_UP, JobRunner, type JobRunnerParts, leafOf, runTree } from './runner.ts'
import { rootRequest, submitsEach } from './submit.ts'
import { JobWriter, LineUpload, MANY_SUBMISSIONS, tooManySubmissions } from './upload.ts'

interface UploadParts {
  /** Index of the first operation. */
  readonly from: number
  /** True if another upload follows. */
  readonly more: boolean
  readonly caller: JobCaller
  readonly context: RequestContext
}

/** Jobs in one response of `list`. */
const MAX_LISTED = 100
/** Share of all streams that one account may have. */
const STREAM_SHARE = 1 / 10
const JOB_ID = /^[0-9a-f]{32}$/
/** One word of visible ASCII characters. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
const OWN_ROOT =
  'leave out submitOnchain, and submit the delegated attestation of the root (…/attestation) yourself when the job is done'
/** How the results of a job get to the chain if the service does not submit them. */
const OTHER_WAYS = { none: OWN_ROOT, each: `use attest=merkle, ${OWN_ROOT}`, merkle: OWN_ROOT }
const STOPPING: ProblemData = { type: 'overloaded', detail: 'the service is stopping', retryAfterSeconds: 1 }

/** @param store undefined if the service stores nothing */
export function createJobService(
  parts: Omit<JobRunnerParts, 'ask' | 'isShared' | 'isStoreOpen' | 'chunkMetrics'>,
  store: StoreClient | undefined,
  metrics: Metrics,
): JobService {
  const chunkMetrics = new ChunkMetrics(metrics)
  if (store === undefined) return NO_JOBS
  const { config, now } = parts
  const ask = createStoreAccess({ config, store, now, answerMs: config.limits.storeWriteMs })
  const isShared = config.databaseUrl !== undefined || config.processes > 1
  return new Jobs({ ...parts, ask, isShared, chunkMetrics, isStoreOpen: () => store.state.isOpen })
}

/** The service without a store: every request is rejected. */
export const NO_JOBS: JobService = {
  create: async () => rejectJobs(),
  openUpload: rejectJobs,
  continueUpload: rejectJobs,
  list: async () => rejectJobs(),
  state: async () => rejectJobs(),
  cancel: async () => rejectJobs(),
  results: async () => rejectJobs(),
  watch: async () => rejectJobs(),
  attestation: async () => rejectJobs(),
  proof: async () => rejectJobs(),
  close: async () => {},
}

function rejectJobs(): never {
  const detail =
    'jobs are kept in the store, and this deployment has none (RECORDS=0): start it without RECORDS=0, or send NDJSON to /compute/v0/batch'
  throw new ProblemError({ type: 'not-implemented', detail })
}

class Jobs implements JobService {
  readonly #parts: JobRunnerParts
  readonly #runner: JobRunner
  readonly #roots: RootSubmitter
  readonly #stop = new AbortController()
  #openStreams = 0
  readonly #streamsPerAccount = new ClientCounts()

  constructor(parts: JobRunnerParts) {
    this.#parts = parts
    this.#runner = new JobRunner(parts)
    this.#roots = new RootSubmitter(parts)
  }

  async create(body: Uint8Array, caller: JobCaller, context: RequestContext): Promise<ServiceResponse> {
    const { limits } = this.#parts.config
    requireAccount(caller)
    await caller.admitted
    const jobLimits = { ...limits, maxBatchItems: limits.maxJobOperations }
    const { options, split, names } = await readJsonBatch(body, jobLimits, context)
    checkJobOptions(options)
    if (names.length > 0) throw noNames()
    if (submitsEach(options) && split.count > limits.maxJobSubmissions)
      throw problemAt(
        'invalid-input',
        ['items'],
        `has ${split.count} items; ${tooManySubmissions(limits)}`,
        MANY_SUBMISSIONS,
      )
    const writer = this.#writer(await this.#createJob(options, ['options'], caller, context), 0, caller, context)
    for (let index = 0; index < split.count; index++)
      if (writer.add(body.subarray(split.starts[index], split.ends[index]))) await writer.store()
    return this.#accepted(await writer.end())
  }

  openUpload(query: string, caller: JobCaller, context: RequestContext, onRoom: (bytes: number) => void): OpenUpload {
    requireAccount(caller)
    const { more, options } = splitOptions(query)
    const jobOptions = readJobQuery(options)
    const open = () => this.#createJob(jobOptions, [], caller, context)
    return this.#receive(open, { from: 0, more, caller, context }, onRoom)
  }

  continueUpload(
    id: string,
    query: string,
    caller: JobCaller,
    context: RequestContext,
    onRoom: (bytes: number) => void,
  ): OpenUpload {
    requireAccount(caller)
    const range = readJobParameters(query, ['from', 'more'])
    return this.#receive(() => this.#find(id, caller, context), { ...range, caller, context }, onRoom)
  }

  async list(caller: JobCaller, context: RequestContext): Promise<ServiceResponse> {
    const jobs = await this.#parts.ask('listJobs', { account: requireAccount(caller), limit: MAX_LISTED }, context)
    return { json: JSON.stringify({ jobs: jobs.map((job) => this.#describe(job)) }) }
  }

  async state(id: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse> {
    return { json: JSON.stringify(this.#describe(await this.#find(id, caller, context))) }
  }

  async cancel(id: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse> {
    const account = requireAccount(caller)
    requireId(id)
    const job = await this.#parts.ask('cancelJob', { id, account, nowMs: this.#parts.now() }, context)
    if (job === undefined) throw unknownJob()
    return { json: JSON.stringify(this.#describe(job)) }
  }

  async results(id: string, query: string, caller: JobCaller, context: RequestContext, sink: TextSink): Promise<void> {
    const { from, follow } = readJobParameters(query, ['from', 'follow'])
    let job = await this.#find(id, caller, context)
    if (from > job.received) {
      const detail = `the job has ${job.received} operations: from must be at most ${job.received}, which is the end`
      throw new ProblemError({ type: 'not-found', detail })
    }
    let next = from
    const idle = this.#idleTimer()
    await this.#inStream(caller, async () => {
      for (;;) {
        const end = await this.#writeResults(job, next, context, sink)
        if (end > next) idle.restart()
        next = end
        // The state was read before the results, so a job that was final has no further ones.
        if (!follow || isFinal(job) || context.aborted) return
        // A regular end would tell the client that it has all results.
        if (this.#stop.signal.aborted) throw new ProblemError(STOPPING)
        if (idle.isOver()) await sink.write('\n')
        await this.#pause()
        job = await this.#find(id, caller, patient(context))
      }
    })
  }

  /** Writes results in order up to the first missing one. @returns the index of the first operation without a result */
  async #writeResults(job: Job, from: number, context: RequestContext, sink: TextSink): Promise<number> {
    let next = from
    while (!context.aborted) {
      const chunk = await this.#parts.ask('jobResults', { position: job.position, from: next }, patient(context))
      if (chunk?.stored === undefined) break
      const { first, operations, problem } = chunk
      if (problem === undefined)
        await sink.write(withoutLines(await unpack(chunk.stored, chunk.isCompressed), next - first))
      else await sink.write(this.#problemLine(job, problem).repeat(first + operations - next))
      next = first + operations
    }
    return next
  }

  #problemLine(job: Job, detail: string): string {
    return `{"error":${this.#parts.problemJson(job, { type: GIVEN_UP, detail })}}\n`
  }

  async watch(id: string, caller: JobCaller, context: RequestContext, sink: EventSink): Promise<void> {
    let job = await this.#find(id, caller, context)
    let last = ''
    const idle = this.#idleTimer()
    await this.#inStream(caller, async () => {
      for (;;) {
        const json = JSON.stringify(this.#describe(job))
        if (json !== last) {
          await sink.write(`event: progress\ndata: ${json}\n\n`)
          idle.restart()
        } else if (idle.isOver()) await sink.write(':\n\n')
        last = json
        if (isFinal(job) || context.aborted) return
        await this.#pause()
        if (this.#stop.signal.aborted) throw new ProblemError(STOPPING)
        job = await this.#find(id, caller, patient(context))
      }
    })
  }

  async attestation(id: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse> {
    const { signer, chains, now } = this.#parts
    const job = await this.#findWithRoot(id, caller, context)
    const { chainId, submitOnchain } = job.options
    chains.require(chainId!)
    const { roots, leafCount } = await this.#parts.ask('jobRoots', { position: job.position }, context)
    if (leafCount === 0)
      throw new ProblemError({ type: 'conflict', detail: 'no operation of the job has a signed result' })
    const { root } = await runTree(this.#parts, roots, undefined, context)
    // What the service submits has the time at which the job ended.
    const timestampSeconds = Math.floor((submitOnchain === true ? job.updatedMs : now()) / 1000)
    const attested = await attestMerkleRoot(rootRequest(job, { root, leafCount }, timestampSeconds), { signer, chains })
    const submission = job.submission === undefined ? '' : submissionMember(submissionJson(job.submission))
    const json = `{"merkle":{"root":"${root}","leafCount":${leafCount},${attestationMembers(attested)}}${submission}}`
    return { json, headers: nonceHeaders(attested) }
  }

  async proof(id: string, operation: string, caller: JobCaller, context: RequestContext): Promise<ServiceResponse> {
    const job = await this.#findWithRoot(id, caller, context)
    const { position } = job
    const from = /^\d{1,15}$/.test(operation) ? Number(operation) : Number.NaN
    if (!(from < job.total!)) {
      throw new ProblemError({ type: 'not-found', detail: `the job has operations 0 to ${job.total! - 1}` })
    }
    const chunk = await this.#parts.ask('jobLeaves', { position, from }, context)
    const leaf = chunk === undefined ? undefined : leafOf(chunk.leaves, from - chunk.first)
    if (chunk === undefined || leaf === undefined)
      throw new ProblemError({
        type: 'not-found',
        detail: 'the operation has no signed result, so it is not in the tree',
      })
    // The leaves of a job's tree are the roots of its chunks' trees, so a proof reads the leaves of one chunk only.
    const { firsts, roots } = await this.#parts.ask('jobRoots', { position }, context)
    const lower = await runTree(this.#parts, chunk.leaves, from - chunk.first, context)
    const upper = await runTree(this.#parts, roots, firsts.indexOf(chunk.first), context)
    return {
      json: JSON.stringify({ operation: from, leaf, root: upper.root, proof: [...lower.proof, ...upper.proof] }),
    }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#roots.close()
    await this.#runner.close()
  }

  #receive(
    open: () => Promise<Job>,
    { from, more, caller, context }: UploadParts,
    onRoom: (bytes: number) => void,
  ): OpenUpload {
    const upload = new LineUpload(this.#parts.config.limits, onRoom)
    const receive = async () => {
      await caller.admitted
      const job = await open()
      const writer = this.#writer(job, from, caller, context)
      if (await upload.writeTo(writer))
        return this.#accepted(more ? await this.#find(job.id, caller, patient(context)) : await writer.end())
      const detail = `the upload of job ${job.id} broke off; continue it with PUT /compute/v0/jobs/${job.id}/input`
      throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 1 })
    }
    return {
      response: receive(),
      take: (bytes) => upload.take(bytes),
      get isFull() {
        return upload.isFull
      },
      end: (isCut) => upload.end(isCut),
    }
  }

  #writer(job: Job, from: number, { walletAddress }: JobCaller, context: RequestContext): JobWriter {
    const { ask, now, config } = this.#parts
    const onStored = () => this.#runner.checkForChunks()
    const parts = { ask, now, limits: config.limits, walletAddress, onStored, context: patient(context) }
    return new JobWriter(parts, job, from)
  }

  /** @param path where the request has the member `submitOnchain` */
  async #createJob(
    { chainId, recipient, attest, submitOnchain }: BatchOptions,
    path: readonly string[],
    caller: JobCaller,
    context: RequestContext,
  ): Promise<Job> {
    const { ask, config, chains, submissions, now } = this.#parts
    const { idempotencyKey, errorTypeBase, tier } = caller
    const account = requireAccount(caller)
    if (chainId !== undefined) chains.requireForBatch(chainId)
    if (submitOnchain) {
      // A development service lets requests of its own machine have jobs without a key, but not spend money.
      const payer = account === LOCAL_CALLER ? undefined : account
      const option = { pointer: [...path, 'submitOnchain'], otherWay: OTHER_WAYS[attest] }
      submissions.require(chains.require(chainId!).id, { account: payer, tier, idempotencyKey }, option)
    }
    if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
      const detail = 'Idempotency-Key: must be 1 to 255 visible ASCII characters without spaces'
      throw new ProblemError({ type: 'bad-request', detail })
    }
    const created = await ask(
      'createJob',
      {
        id: randomBytes(16).toString('hex'),
        account,
        idempotencyKey,
        options: { chainId, recipient, attest, submitOnchain, errorTypeBase },
        maxOpen: config.limits.maxOpenJobs,
        nowMs: now(),
      },
      context,
    )
    if (created.outcome === 'busy') {
      const detail = `${config.limits.maxOpenJobs} jobs of this API key are not done: wait for one, or cancel it`
      throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 10 })
    }
    if (created.outcome === 'conflict') {
      const detail = 'Idempotency-Key: already used for a job with other options; use a new key for this one'
      throw new ProblemError({ type: 'conflict', detail })
    }
    return created.job
  }

  async #find(id: string, caller: JobCaller, context: RequestContext): Promise<Job> {
    const account = requireAccount(caller)
    requireId(id)
    const job = await this.#parts.ask('readJob', { id, account }, context)
    if (job === undefined) throw unknownJob()
    return job
  }

  /** Finds a job whose tree is complete. */
  async #findWithRoot(id: string, caller: JobCaller, context: RequestContext): Promise<Job> {
    const job = await this.#find(id, caller, context)
    if (job.options.attest !== 'merkle')
      throw new ProblemError({ type: 'conflict', detail: 'the job has no Merkle root: create it with attest=merkle' })
    if (job.state !== 'done')
      throw new ProblemError({ type: 'conflict', detail: `the job is ${job.state}: its Merkle root needs all results` })
    return job
  }

  #accepted(job: Job): ServiceResponse {
    return { json: JSON.stringify(this.#describe(job)), headers: { Location: `/compute/v0/jobs/${job.id}` } }
  }

  #describe(job: Job): object {
    const { now, config } = this.#parts
    const { received, total, done, failed, errors, startedMs, updatedMs, createdMs, reason } = job
    const { submission, submissionError } = job
    const endMs = isFinal(job) ? updatedMs : now()
    const seconds = startedMs === undefined ? 0 : (endMs - startedMs) / 1000
    const rate = seconds > 0 ? done / seconds : undefined
    const isRunning = rate !== undefined && rate > 0 && total !== undefined && !isFinal(job)
    return {
      id: job.id,
      state: job.state,
      chainId: job.options.chainId ?? null,
      attest: job.options.attest,
      ...(job.options.submitOnchain === true ? { submitOnchain: true } : {}),
      received,
      total: total ?? null,
      done,
      failed,
      errors,
      ratePerSecond: rate === undefined ? null : Math.round(rate * 10) / 10,
      secondsLeft: isRunning ? Math.ceil((total - done) / rate) : isFinal(job) ? 0 : null,
      created: Math.floor(createdMs / 1000),
      deletedAfter: Math.floor(updatedMs / 1000) + config.limits.jobKeepHours * 3600,
      ...(reason === undefined ? {} : { reason }),
      ...(submission === undefined ? {} : { submission: submissionJson(submission) }),
      ...(submissionError === undefined ? {} : { submissionError }),
    }
  }

  /** Runs a stream that may wait for a job. Their number is limited, because each polls the store. */
  async #inStream(caller: JobCaller, run: () => Promise<void>): Promise<void> {
    const { maxJobStreams } = this.#parts.config.limits
    const account = requireAccount(caller)
    const isFull = this.#openStreams >= maxJobStreams
    if (isFull || this.#streamsPerAccount.of(account) >= maxJobStreams * STREAM_SHARE) {
      const detail = `${isFull ? 'too many' : 'too many of your'} streams of jobs are open: end one, or try again`
      throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 10 })
    }
    this.#openStreams++
    this.#streamsPerAccount.add(account)
    try {
      await run()
    } finally {
      this.#openStreams--
      this.#streamsPerAccount.remove(account)
    }
  }

  /** Decides when a stream has to write a heartbeat: a silent connection would be closed. */
  #idleTimer() {
    const { streamHeartbeatMs } = this.#parts.config.limits
    let sinceMs = performance.now()
    const restart = () => {
      sinceMs = performance.now()
    }
    const isOver = () => {
      const result = performance.now() - sinceMs >= streamHeartbeatMs
      if (result) restart()
      return result
    }
    return { restart, isOver }
  }

  async #pause(): Promise<void> {
    await pause(this.#parts.config.limits.jobPollMs, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}

function noNames(): ProblemError {
  return problemAt('invalid-input', ['geometries'], 'a job has no named geometries', {
    code: 'not-for-jobs',
    hint: 'store each with PUT /compute/v0/geometries and send {"ref": "0x…"} in the operations',
  })
}

function isFinal({ state }: Job): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed'
}

/** A stream may last longer than a request. */
function patient({ client, costs }: RequestContext): RequestContext {
  return { client, costs, aborted: false, deadlineMs: Number.POSITIVE_INFINITY }
}

function requireAccount({ account }: JobCaller): string {
  if (account !== undefined) return account
  throw new ProblemError({
    type: 'unauthorized',
    detail: 'jobs are kept for their owner, so they need an API key in the header X-API-Key',
  })
}

function requireId(id: string): void {
  if (!JOB_ID.test(id)) throw unknownJob()
}

function unknownJob(): ProblemError {
  return new ProblemError({
    type: 'not-found',
    detail: 'no such job; GET /compute/v0/jobs lists the jobs of this API key',
  })
}

const PARAMETERS = { from: /^\d{1,15}$/, follow: /^(true|false)$/, more: /^(true|false)$/ }

/** Reads the query of an upload or of results. @throws {ProblemError} `invalid-input` */
function readJobParameters(
  query: string,
  names: readonly (keyof typeof PARAMETERS)[],
): { readonly from: number; readonly follow: boolean; readonly more: boolean } {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    const known = names.find((candidate) => candidate === name)
    const rule = { hint: `the parameters are ${names.join(' and ')}` }
    if (known === undefined)
      throw problemAt('invalid-input', [name.slice(0, 40)], 'is not a parameter of this query', {
        code: 'unknown-parameter',
        ...rule,
      })
    if (values.has(name) || !PARAMETERS[known].test(value)) {
      const detail = known === 'from' ? 'must be the index of an operation, once' : 'must be true or false, once'
      throw problemAt('invalid-input', [name], detail, { code: 'wrong-type', ...rule })
    }
    values.set(name, value)
  }
  return {
    from: Number(values.get('from') ?? 0),
    follow: values.get('follow') === 'true',
    more: values.get('more') === 'true',
  }
}

/** Removes `more` from the query of a new job; the other parameters are the options of its operations. */
function splitOptions(query: string): { readonly more: boolean; readonly options: string } {
  const parameters = new URLSearchParams(query)
  const given = parameters.getAll('more').map((value) => `more=${value}`)
  parameters.delete('more')
  return { more: readJobParameters(given.join('&'), ['more']).more, options: parameters.toString() }
}

const NEWLINE = 0x0a

/** Drops the first lines. */
function withoutLines(lines: Uint8Array, count: number): Uint8Array {
  let offset = 0
  for (let index = 0; index < count; index++) offset = lines.indexOf(NEWLINE, offset) + 1
  return lines.subarray(offset)
}
