/** Computes the chunks of jobs in the background, on the same threads as batches. */
import { randomUUID } from 'node:crypto'
import { freeBuffer, isLarge, type PackedBytes } from '../../base/bytes.ts'
import { FailureLog, type Log } from '../../base/log.ts'
import { type ProblemData, ProblemError } from '../../base/problem.ts'
import { computesJobs } from '../../config/sync.ts'
import { bytesToHex } from '../../crypto/hex.ts'
import type { BatchOptions } from '../../validation/batch.ts'
import type { ComputedLines, JobChunk } from '../../wire/job-messages.ts'
import { type StoreArgument, StoreFault, type StoreFaultKind } from '../../wire/store-messages.ts'
import type { Hex } from '../../wire/values.ts'
import { BatchRun, type ComputedChunk } from '../batch/batch.ts'
import { answerLines, queueWidth, type SharedParts } from '../batch/batches.ts'
import { OrderedQueue } from '../batch/ordered-queue.ts'
import { leafLines, signEach } from '../batch/sign.ts'
import type { StoreAccess } from '../records/store-access.ts'
import type { BatchContext, RequestContext } from '../request.ts'
import type { ChunkMetrics } from './job-metrics.ts'
import { pack, unpack } from './packing.ts'
import { rejectForeign, SUBMISSION_PAUSES, SubmissionDelay, submitLines, submitsEach } from './submit.ts'
import { decodeLines, type Line } from './upload.ts'

export interface JobRunnerParts extends SharedParts {
  readonly ask: StoreAccess
  readonly isStoreOpen: () => boolean
  /** True if several processes may share the store. */
  readonly isShared: boolean
  readonly log: Log
  readonly chunkMetrics: ChunkMetrics
  /** Returns the JSON of a problem of a job. */
  readonly problemJson: (job: JobChunk['job'], problem: ProblemData) => string
}

/** All jobs together are one client of the compute threads, so that they take at most one of its turns from the requests. */
export const CLIENT = 'jobs'
/** Lines and bytes that go to a thread in one message, as for a stream of lines. */
const MAX_GROUP = { lines: 256, bytes: 32_768 }
/** Retries of a group of lines if a full thread or signer queue rejects some of them. The pause doubles each time. */
const MAX_RETRIES = 6
const FIRST_PAUSE_MS = 250
/** A chunk fails after this many attempts that did not finish. */
const MAX_ATTEMPTS = 3
/** Pause after an error of the store. */
const STORE_PAUSE_MS = 1000
/** Timeouts of the store for the results of one chunk, after which the chunk is released. */
const MAX_LATE = 3
/** Errors that the store would repeat for the same results. */
const LASTING: readonly (StoreFaultKind | undefined)[] = ['refused', 'large']
const PRUNE_INTERVAL_MS = 30_000
/** Share of the room for jobs above which finished jobs are deleted. The rest is reserved for uploads. */
const PRUNE_SHARE = 0.9

/** The results of some lines. */
interface Answered {
  readonly lines: Uint8Array
  /** 32 bytes for each line of a job with a Merkle root; otherwise empty. */
  readonly leaves: Uint8Array
  readonly counts: ReadonlyMap<string, number>
}

/**
 * Takes chunks from the store and stores their results. A chunk belongs to this process for a short time, which is extended while
 * it is computed. If the process dies, another one, or the next start, computes the chunk again. Results are stored only once.
 */
export class JobRunner {
  readonly #parts: JobRunnerParts
  readonly #owner = randomUUID()
  readonly #timers: NodeJS.Timeout[] = []
  readonly #reading: FailureLog
  readonly #deleting: FailureLog
  #running = 0
  #isClosed = false
  #isChecking = false
  /** True if chunks may have been added since the store was last asked for one. */
  #checksAgain = false
  /** True until the chunks of a former process are released. */
  #isFirstCheck = true

  constructor(parts: JobRunnerParts) {
    this.#parts = parts
    const { limits } = parts.config
    this.#reading = new FailureLog(parts.log, { begin: 'jobs cannot be read', end: 'jobs are read again' })
    this.#deleting = new FailureLog(parts.log, { begin: 'jobs cannot be deleted', end: 'jobs are deleted again' })
    this.#timers.push(
      setInterval(() => this.checkForChunks(), limits.jobPollMs),
      setInterval(() => void this.#hold(), limits.jobLeaseMs / 4),
      setInterval(() => void this.#prune(), PRUNE_INTERVAL_MS),
    )
    for (const timer of this.#timers) timer.unref()
  }

  /** Asks the store for chunks to compute. Call it when some may have been added. */
  checkForChunks(): void {
    // While the store opens, its wait queue is reserved for clients.
    if (this.#isClosed || !this.#parts.isStoreOpen() || !computesJobs(this.#parts.config.role)) return
    if (this.#isChecking) this.#checksAgain = true
    else void this.#checkForChunks()
  }

  /** Takes no more chunks, and releases those that are not computed. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    if (this.#running > 0) await this.#ask('releaseChunks', { owner: this.#owner }).catch(() => {})
  }

  async #checkForChunks(): Promise<void> {
    this.#isChecking = true
    const { limits } = this.#parts.config
    try {
      // Only this process uses the store, so leases in it belong to a process that has ended.
      if (this.#isFirstCheck && !this.#parts.isShared) await this.#ask('releaseChunks', { owner: undefined })
      this.#isFirstCheck = false
      while (!this.#isClosed && this.#running < limits.jobChunks) {
        this.#checksAgain = false
        const claim = { owner: this.#owner, leaseMs: limits.jobLeaseMs, nowMs: this.#parts.now() }
        const chunk = await this.#ask('claimChunk', claim)
        if (chunk !== undefined) void this.#run(chunk)
        else if (!this.#checksAgain) break
      }
      this.#reading.succeeded()
    } catch (error) {
      // With a problem, the store is unavailable, busy or full, which it logs itself. The timer asks again.
      if (!(error instanceof ProblemError)) this.#reading.failed({ reason: String(error) })
    }
    this.#isChecking = false
  }

  async #run(chunk: JobChunk): Promise<void> {
    this.#running++
    const beginMs = performance.now()
    try {
      if (chunk.computed !== undefined) await this.#submit(chunk, chunk.computed, beginMs)
      else if (chunk.attempts > MAX_ATTEMPTS)
        await this.#giveUp(chunk, NEVER_ENDED, `it was taken ${MAX_ATTEMPTS} times`)
      else {
        const results = await this.#compute(chunk)
        if (!this.#isClosed)
          await (submitsEach(chunk.job.options)
            ? this.#keep(chunk, results, beginMs)
            : this.#store(chunk, results, beginMs))
      }
    } catch (error) {
      if (!this.#isClosed) await this.#putBack(chunk, error)
    }
    this.#running--
    if (!this.#isClosed) this.checkForChunks()
  }

  /** Releases a chunk that could not be computed or stored, so that it is tried again, up to `MAX_ATTEMPTS` times in all. */
  async #putBack({ job: { id, position }, first }: JobChunk, error: unknown): Promise<void> {
    this.#parts.log.error('a chunk of a job failed', { job: id, first, reason: String(error) })
    await new Promise((resolve) => setTimeout(resolve, STORE_PAUSE_MS))
    await this.#untilReleased(() => this.#ask('releaseChunk', { owner: this.#owner, position, first }))
  }

  /** Repeats a call that releases a chunk, because this process does not take a chunk again that it holds. */
  async #untilReleased(release: () => Promise<undefined>): Promise<void> {
    while (!this.#isClosed) {
      const isReleased = await release().then(
        () => true,
        () => false,
      )
      if (isReleased) return
      await new Promise((resolve) => setTimeout(resolve, STORE_PAUSE_MS))
    }
  }

  /** Stores results, then submits each of them. */
  async #keep(chunk: JobChunk, { lines, counts }: Answered, beginMs: number): Promise<void> {
    const { job, first } = chunk
    const computed = { stored: await pack(lines), errors: errorCounts(counts) }
    const kept = { owner: this.#owner, position: job.position, first, ...computed }
    if (await this.#untilStored(() => this.#ask('keepComputed', kept))) await this.#submit(chunk, computed, beginMs)
  }

  /** Submits the results of a chunk. If there is no room for one of them now, the whole chunk is taken again after a pause. */
  async #submit(chunk: JobChunk, { stored, errors }: ComputedLines, beginMs: number): Promise<void> {
    const { job, first } = chunk
    try {
      const { lines, counts } = await submitLines(chunk, { lines: await unpack(stored, true), errors }, this.#parts)
      if (!this.#isClosed) await this.#store(chunk, { lines, leaves: new Uint8Array(0), counts }, beginMs)
    } catch (error) {
      if (this.#isClosed) return
      const isDelay = error instanceof SubmissionDelay
      if (!isDelay)
        this.#parts.log.error('results of a job cannot be submitted', { job: job.id, first, reason: String(error) })
      const held = { owner: this.#owner, first }
      const hasProgress = isDelay && error.hasProgress
      const postponed = { position: job.position, chunk: held, hasProgress, ...SUBMISSION_PAUSES }
      await this.#untilReleased(() => this.#ask('postponeJob', postponed))
    }
  }

  async #compute(chunk: JobChunk): Promise<Answered> {
    const input = await unpack(chunk.stored, chunk.isCompressed)
    const lines = decodeLines(input, chunk.operations)
    const { config } = this.#parts
    // Under a root, only the root is submitted.
    const submitOnchain = submitsEach(chunk.job.options)
    const options = { ...chunk.job.options, sequence: 'same' as const, submitOnchain }
    const answered: Answered[] = []
    const groups = groupLines(lines)
    let next = 0
    const queue = new OrderedQueue<Answered>({
      width: queueWidth(options, config),
      write: (group) => void answered.push(group),
      onRoom: fill,
    })
    const answer = (group: readonly Line[]) => this.#answerInTime(chunk, options, group)
    function fill(): void {
      while (next < groups.length && !queue.isFull) {
        const group = groups[next++]!
        queue.add(() => answer(group))
      }
    }
    fill()
    await queue.finish()
    freeBuffer(input.buffer)
    return joinAnswered(answered)
  }

  /** Computes lines. If a full queue rejects some, all are computed again after a pause, because no client is waiting. */
  async #answerInTime(chunk: JobChunk, options: BatchOptions, lines: readonly Line[]): Promise<Answered> {
    let pauseMs = FIRST_PAUSE_MS
    for (let retry = 0; ; retry++) {
      if (this.#isClosed) throw new Error('the service is stopping')
      const isLast = retry === MAX_RETRIES
      try {
        const answered = await this.#answer(chunk, options, lines)
        if (isLast || !answered.counts.has('overloaded')) return answered
      } catch (error) {
        if (!(error instanceof ProblemError) || isLast) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      pauseMs *= 2
    }
  }

  async #answer(chunk: JobChunk, options: BatchOptions, lines: readonly Line[]): Promise<Answered> {
    const counts = new Map<string, number>()
    const run = new BatchRun(this.#parts, options, this.#context(chunk, counts))
    const { limits } = this.#parts.config
    if (options.attest !== 'merkle') {
      const { chains } = this.#parts
      const finish = (computed: ComputedChunk) =>
        signEach(run, options.submitOnchain ? rejectForeign(run, computed, chains) : computed, '\n', this.#parts)
      return { lines: await answerLines(run, lines, limits, finish), leaves: new Uint8Array(0), counts }
    }
    let accepted: Uint8Array = new Uint8Array(0)
    const finish = async (computed: ComputedChunk): Promise<PackedBytes> => {
      const { results, leaves } = await leafLines(run, computed, this.#parts.chains)
      accepted = leaves
      return results
    }
    const answers = await answerLines(run, lines, limits, finish)
    return { lines: answers, leaves: withoutTooLong(lines, accepted), counts }
  }

  #context({ job, account }: JobChunk, counts: Map<string, number>): BatchContext {
    const { config, problemJson, log } = this.#parts
    const isAborted = () => this.#isClosed
    return {
      account,
      client: CLIENT,
      get aborted() {
        return isAborted()
      },
      deadlineMs: Number.POSITIVE_INFINITY,
      chunkMs: config.limits.jobComputeMs,
      signsResults: true,
      // The operations were counted when they were uploaded.
      takeQuota: (items) => items,
      costProblem: () => undefined,
      quotaProblem: NO_PROBLEM,
      countItems: (outcome, items) => void counts.set(outcome, (counts.get(outcome) ?? 0) + items),
      problemJson: (problem) => problemJson(job, problem),
      report: (error) => log.error('an operation of a job failed', { job: job.id, error: String(error) }),
    }
  }

  /** Gives each operation of a chunk the same problem, so that the job goes on without the chunk. */
  async #giveUp({ job, first, operations }: JobChunk, problem: string, reason: string): Promise<void> {
    this.#parts.log.error('a chunk of a job is given up', { job: job.id, first, operations, reason })
    const ended = { owner: this.#owner, position: job.position, first, type: GIVEN_UP, problem }
    if (await this.#untilStored(() => this.#ask('giveUpChunk', { ...ended, nowMs: this.#parts.now() })))
      this.#parts.chunkMetrics.count(operations, { [GIVEN_UP]: operations })
  }

  async #store(chunk: JobChunk, { lines, leaves, counts }: Answered, beginMs: number): Promise<void> {
    const errors = errorCounts(counts)
    const results: StoreArgument<'finishChunk'> = {
      owner: this.#owner,
      position: chunk.job.position,
      first: chunk.first,
      stored: await pack(lines),
      leaves,
      root: await this.#root(leaves),
      failed: Object.values(errors).reduce((sum, count) => sum + count, 0),
      errors,
      nowMs: this.#parts.now(),
    }
    try {
      if (!(await this.#untilStored(() => this.#ask('finishChunk', results)))) return
      this.#parts.chunkMetrics.count(chunk.operations, errors)
      this.#parts.chunkMetrics.observe(performance.now() - beginMs)
    } catch (error) {
      if (this.#isClosed || !LASTING.includes(faultKind(error))) throw error
      await this.#giveUp(chunk, NOT_STORED, String(error))
    }
  }

  /**
   * Repeats a write while the store is unavailable or busy.
   *
   * @returns false if the results are stored already, or if this process no longer holds the chunk
   */
  async #untilStored(write: () => Promise<boolean>): Promise<boolean> {
    for (let late = 0; ; ) {
      try {
        return await write()
      } catch (error) {
        const kind = faultKind(error)
        if (kind === 'late') late++
        if (!(error instanceof ProblemError) || this.#isClosed || LASTING.includes(kind) || late >= MAX_LATE)
          throw error
        await new Promise((resolve) => setTimeout(resolve, STORE_PAUSE_MS))
      }
    }
  }

  /** Returns the root over the leaves of a chunk; undefined if it has none. */
  async #root(leaves: Uint8Array): Promise<Hex | undefined> {
    if (leaves.every((byte) => byte === 0)) return undefined
    return (await runTree(this.#parts, leaves, undefined)).root
  }

  async #hold(): Promise<void> {
    if (this.#running === 0) return
    const { jobLeaseMs } = this.#parts.config.limits
    await this.#ask('holdChunks', { owner: this.#owner, leaseMs: jobLeaseMs }).catch(() => {})
  }

  /** Deletes jobs that are kept too long or take too much room. */
  async #prune(): Promise<void> {
    if (!this.#parts.isStoreOpen()) return
    const { jobKeepHours, maxJobBytes, maxJobBytesPerKey } = this.#parts.config.limits
    const limits = {
      keepMs: jobKeepHours * 3_600_000,
      maxBytes: maxJobBytes * PRUNE_SHARE,
      maxAccountBytes: maxJobBytesPerKey * PRUNE_SHARE,
    }
    try {
      while (!this.#isClosed && (await this.#ask('pruneJobs', { ...limits, nowMs: this.#parts.now() })));
      this.#deleting.succeeded()
    } catch (error) {
      if (!(error instanceof ProblemError)) this.#deleting.failed({ reason: String(error) })
    }
  }

  get #ask() {
    const { ask } = this.#parts
    const context = { deadlineMs: Number.POSITIVE_INFINITY, client: CLIENT }
    return <O extends Parameters<StoreAccess>[0]>(operation: O, argument: StoreArgument<O>) =>
      ask(operation, argument, context)
  }
}

/**
 * Runs the Merkle tree over leaves, 32 bytes each; zeros stand for operations that failed.
 *
 * @param context the request that needs the tree: it waits in the queue of its client, which is charged; undefined while a job is computed
 */
export function runTree(
  { pool, config, now }: Pick<JobRunnerParts, 'pool' | 'config' | 'now'>,
  leaves: Uint8Array,
  proofOf: number | undefined,
  context?: RequestContext,
): Promise<{ readonly root: Hex; readonly proof: readonly Hex[] }> {
  return pool.runLeaves({
    chunk: { type: 'leaves', leaves, proofOf },
    client: context === undefined ? CLIENT : context.client,
    costs: context?.costs,
    deadlineMs: context?.deadlineMs ?? now() + config.limits.jobComputeMs,
    isAborted: () => context?.aborted === true,
  })
}

const NO_PROBLEM: ProblemData = { type: 'internal', detail: '' }
/** Type of the problem of operations that have failed with their chunk. */
export const GIVEN_UP = 'internal'
const NEVER_ENDED =
  'the operation has no result: this part of the job failed or ended the service each time that it was computed'
const NOT_STORED = 'the operation has no result: the store refused the results of this part of the job'

/** Returns why the store failed; undefined if it was something else. */
function faultKind(error: unknown): StoreFaultKind | undefined {
  const fault = error instanceof ProblemError ? error.cause : error
  return fault instanceof StoreFault ? fault.kind : undefined
}

function errorCounts(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].filter(([outcome]) => outcome !== 'ok'))
}

function groupLines(lines: readonly Line[]): Line[][] {
  const groups: Line[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const line of lines) {
    if (bytes >= MAX_GROUP.bytes || groups.at(-1)!.length >= MAX_GROUP.lines) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)!.push(line)
    bytes += typeof line === 'number' ? 0 : line.length
  }
  return groups
}

function joinAnswered(answered: readonly Answered[]): Answered {
  const counts = new Map<string, number>()
  for (const group of answered)
    for (const [outcome, count] of group.counts) counts.set(outcome, (counts.get(outcome) ?? 0) + count)
  const joined = Buffer.concat(answered.map(({ lines }) => lines))
  for (const { lines } of answered) if (isLarge(lines)) freeBuffer(lines.buffer)
  return {
    lines: joined,
    leaves: Buffer.concat(answered.map(({ leaves }) => leaves)),
    counts,
  }
}

/** Inserts zeros into the leaves where lines were too long. */
function withoutTooLong(lines: readonly Line[], accepted: Uint8Array): Uint8Array {
  if (accepted.length === 32 * lines.length) return accepted
  const leaves = new Uint8Array(32 * lines.length)
  let next = 0
  lines.forEach((line, index) => {
    if (typeof line === 'number') return
    leaves.set(accepted.subarray(32 * next, 32 * next + 32), 32 * index)
    next++
  })
  return leaves
}

/** Returns the leaf of an operation as hex; undefined if the operation failed. */
export function leafOf(leaves: Uint8Array, index: number): Hex | undefined {
  const leaf = leaves.subarray(32 * index, 32 * index + 32)
  return leaf.length < 32 || leaf.every((byte) => byte === 0) ? undefined : `0x${bytesToHex(leaf)}`
}
