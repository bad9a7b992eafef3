import { EventEmitter } from 'node:events'
import { Piscina } from 'piscina'
import { copyPacked, pack } from '../base/bytes.ts'
import type { CostMeter } from '../base/cost.ts'
import type { QueueClient } from '../base/fair-queue.ts'
import { type ProblemData, ProblemError } from '../base/problem.ts'
import type { Config } from '../config/config.ts'
import type {
  ChunkResult,
  ComputeChunk,
  LeavesResult,
  LeavesTask,
  MerkleResult,
  MerkleTask,
} from '../wire/batch-messages.ts'
import type {
  AnswerSample,
  ComputeBatch,
  ComputeResult,
  ComputeTask,
  ComputeWorkerData,
  Worked,
} from '../wire/compute-messages.ts'
import type { VerifyBatch, VerifyResult, VerifyTask } from '../wire/evidence-messages.ts'
import type {
  FeaturesResult,
  FeaturesTask,
  IndexResult,
  IndexTask,
  MatchResult,
  MatchTask,
} from '../wire/set-messages.ts'
import type { PrepareResult, PrepareTask } from '../wire/stored-messages.ts'
import { Batcher, QueueFullError } from './batcher.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import { warmUpTasks } from './warm-up.ts'

/** How long the caller of a task waits, and whether it still does. */
interface Job {
  /** Who waits. Clients are served in turn. */
  readonly client: QueueClient
  /** Receives the cost of the task; undefined if no client is charged. */
  readonly costs?: CostMeter | undefined
  /** When the caller stops waiting for the response, in milliseconds since the epoch. */
  readonly deadlineMs: number
  /** Returns true once the client has disconnected. */
  readonly isAborted: () => boolean
}

/** A compute request. */
interface ComputeJob extends Job {
  readonly task: ComputeTask
}

/** A request about evidence. */
export interface VerifyJob extends Job {
  readonly task: VerifyTask
}

/** A chunk of a batch, or the tree over its results. */
export interface ChunkJob<Work = ComputeChunk> extends Job {
  readonly chunk: Work
}

/** Any work for the large lane. */
interface LargeJob extends Job {
  /** Makes the message to the thread. Called again for a retry, because the bytes of a message are transferred. */
  readonly work: () => Work
  /** True if the work may be sent again when its thread died. */
  readonly isRetryable: boolean
  /** Set for a part of something larger, which would have to begin again if one part were refused. */
  readonly patienceMs: number | undefined
}

/** The compute threads, as services see them. */
export interface ComputePool {
  /**
   * Computes a body of at most `inlineBodyBytes` synchronously, on the calling thread. That takes less time than the messages
   * to a compute thread would.
   *
   * @param costs takes what the task costs
   * @returns undefined when the body is larger, invalid, or too much work; it then goes to one of the lanes
   */
  runOnMainThread(task: ComputeTask, costs?: CostMeter): ComputeResult | undefined
  /** Computes a small body: micro-batched, on the threads of normal priority. */
  runSmall(job: ComputeJob): Promise<ComputeResult>
  /** Computes a body beyond `smallBodyBytes`: one at a time on each thread, on the threads of low priority. */
  runLarge(job: ComputeJob): Promise<ComputeResult>
  /**
   * Computes a chunk of a batch on the threads of low priority.
   *
   * @throws {Error} other than `ProblemError` when its thread died
   */
  runChunk(job: ChunkJob): Promise<ChunkResult>
  /** Builds the Merkle tree over all results of a batch; otherwise as `runChunk`. */
  runTree(job: ChunkJob<MerkleTask>): Promise<MerkleResult>
  /** Builds the Merkle tree over leaves of a job. If its thread dies, it is built once more. */
  runLeaves(job: ChunkJob<LeavesTask>): Promise<LeavesResult>
  /** Reads a geometry that is to be stored, or one that is. */
  runPrepare(job: ChunkJob<PrepareTask>): Promise<PrepareResult>
  /** Reads and checks features of a set. */
  runFeatures(job: ChunkJob<FeaturesTask>): Promise<FeaturesResult>
  /** Builds the index of a set. */
  runIndex(job: ChunkJob<IndexTask>): Promise<IndexResult>
  /** Compares points with a set. */
  runMatch(job: ChunkJob<MatchTask>): Promise<MatchResult>
  /** Runs a request about evidence: micro-batched if it is small, otherwise on the threads of low priority. */
  runVerify(job: VerifyJob, isSmall: boolean): Promise<VerifyResult>
  /** False while `refusalFor` refuses no request. */
  readonly isCrowded: boolean
  /** Returns the problem of a new compute request that would wait too long, by its client and the size of its body. */
  refusalFor(client: QueueClient, bodyBytes: number): ProblemData | undefined
  readonly queueSize: number
  /** False while no thread of the small lane is alive. */
  readonly isReady: boolean
  /** Resolves when the threads for large work have warmed up, which they do only in production. */
  readonly warmedUp: Promise<void>
  /** Rejects every pending job with `overloaded`. */
  abandon(): void
  /** Ends the threads. Pending jobs never settle then, so call `abandon` or wait for them first. */
  close(): Promise<void>
}

/** The pool of a node that computes nothing: none of its routes and jobs uses it. */
export const NO_COMPUTE_POOL: ComputePool = {
  runOnMainThread: rejectWork,
  runSmall: rejectWork,
  runLarge: rejectWork,
  runChunk: rejectWork,
  runTree: rejectWork,
  runLeaves: rejectWork,
  runPrepare: rejectWork,
  runFeatures: rejectWork,
  runIndex: rejectWork,
  runMatch: rejectWork,
  runVerify: rejectWork,
  isCrowded: false,
  refusalFor: () => undefined,
  queueSize: 0,
  isReady: true,
  warmedUp: Promise.resolve(),
  abandon() {},
  async close() {},
}

function rejectWork(): never {
  throw new RangeError('this node computes nothing')
}

/**
 * Starts the compute threads and waits until each has loaded and tested the kernel.
 *
 * @param settings the supported chains, and the operator's settings for evidence
 * @throws {Error} when a thread fails its self-test: the service must not start with a broken kernel (decision 97)
 */
export async function startComputePool(config: Config, settings: ThreadSettings): Promise<ComputePool> {
  const { limits } = config
  const isInline = limits.computeThreads === 0
  const create = isInline ? createInlineLane : createLane
  const [small, large] = await Promise.all([create(config, settings, false), create(config, settings, true)])
  const maxBatchSize = isInline ? 1 : limits.maxBatchSize
  const smallRequests = requestBatcher(config, small, maxBatchSize)
  const smallEvidence = verifyBatcher(config, small, maxBatchSize)
  const largeWork = largeBatcher(config, large)
  const runLarge = <Result extends WorkResult>(job: Job, work: () => Work) =>
    submit(largeWork, { ...job, work, isRetryable: true, patienceMs: undefined }) as Promise<Result>
  const runPart = <Result extends WorkResult>(job: Job, work: () => Work, isRetryable: boolean) =>
    submit(largeWork, { ...job, work, isRetryable, patienceMs: limits.requestDeadlineMs / 2 }) as Promise<Result>
  const runInline = isInline || limits.inlineBodyBytes === 0 ? undefined : await loadInline(config, settings)
  const batchers = [smallRequests, smallEvidence, largeWork]
  return {
    runOnMainThread: (task, costs) =>
      task.body.byteLength <= limits.inlineBodyBytes ? runInline?.(task, costs) : undefined,
    runSmall: (job) => submit(smallRequests, job),
    async runLarge(job) {
      const [result] = await runLarge<ComputeResult[]>(job, () => toComputeBatch([job.task]))
      return result!
    },
    // A chunk is a batch already; its sender decides about retries.
    runChunk: (job) => runPart<ChunkResult>(job, () => job.chunk, false),
    runTree: (job) => runPart<MerkleResult>(job, () => job.chunk, false),
    runLeaves: (job) => runPart<LeavesResult>(job, () => job.chunk, true),
    runPrepare: (job) => runPart<PrepareResult>(job, () => job.chunk, true),
    runFeatures: (job) =>
      runPart<FeaturesResult>(job, () => ({ ...job.chunk, lines: copyPacked(job.chunk.lines) }), true),
    runIndex: (job) => runPart<IndexResult>(job, () => job.chunk, true),
    runMatch: (job) => runPart<MatchResult>(job, () => ({ ...job.chunk, lines: copyPacked(job.chunk.lines) }), true),
    async runVerify(job, isSmall) {
      if (isSmall) return submit(smallEvidence, job)
      const [result] = await runLarge<VerifyResult[]>(job, () => toVerifyBatch([job.task]))
      return result!
    },
    get isCrowded() {
      return smallRequests.isCrowded || largeWork.isCrowded
    },
    refusalFor(client, bodyBytes) {
      const requests = bodyBytes <= limits.smallBodyBytes ? smallRequests : largeWork
      return requests.refuses(client) ? NO_THREAD : undefined
    },
    get queueSize() {
      return batchers.reduce((sum, { queueSize }) => sum + queueSize, 0)
    },
    get isReady() {
      return small.isReady()
    },
    warmedUp: large.warmedUp,
    abandon() {
      for (const batcher of batchers) batcher.abandon(overloaded('the service is stopping'))
    },
    async close() {
      await Promise.all([small.close(), large.close()])
    },
  }
}

/** So many small requests take a few milliseconds, except on a machine that is busy otherwise, and there they may wait. */
const FEW_SMALL = 128

function requestBatcher(config: Config, lane: Lane, maxBatchSize: number) {
  return new Batcher<ComputeJob, ComputeResult>({
    ...commonOptions(config, lane),
    few: FEW_SMALL,
    maxBatchSize,
    run: (jobs) => runCharged<ComputeResult[]>(lane, toComputeBatch(jobs.map(({ task }) => task)), jobs),
    isRetryable: (error) => !isTimeout(error),
  })
}

function verifyBatcher(config: Config, lane: Lane, maxBatchSize: number) {
  return new Batcher<VerifyJob, VerifyResult>({
    ...commonOptions(config, lane),
    maxBatchSize,
    run: (jobs) => runCharged<VerifyResult[]>(lane, toVerifyBatch(jobs.map(({ task }) => task)), jobs),
    isRetryable: (error) => !isTimeout(error),
  })
}

/** Creates the batcher of the large lane. All kinds of work wait in one queue, so that clients are served in turn whatever they send. */
function largeBatcher(config: Config, lane: Lane) {
  return new Batcher<LargeJob, WorkResult>({
    ...commonOptions(config, lane),
    maxBatchSize: 1,
    maxRunningPerClient: config.limits.largeThreadsPerClient,
    patienceMs: ({ patienceMs }) => patienceMs,
    run: async (jobs) => [await runCharged(lane, jobs[0]!.work(), jobs)],
    isRetryable: (error, [job]) => job!.isRetryable && !isTimeout(error),
  })
}

function commonOptions(config: Config, lane: Lane) {
  return {
    concurrency: lane.threads,
    maxQueueSize: config.limits.maxQueuedRequests,
    maxWaitMs: config.limits.maxQueueMs,
    nowMs: () => performance.now(),
    clientOf: ({ client }: Job) => client,
    isStale: ({ deadlineMs, isAborted }: Job) => isAborted() || Date.now() >= deadlineMs,
    staleError: () => overloaded('the request waited longer than its deadline'),
  }
}

/** Runs work for some jobs, and charges each of them what it cost. */
async function runCharged<Result extends WorkResult>(lane: Lane, work: Work, jobs: readonly Job[]): Promise<Result> {
  const startedMs = performance.now()
  try {
    const { result, costs, samples = [] } = await lane.run(work, remainingMs(jobs))
    for (const sample of samples) lane.takeSample(sample)
    for (let index = 0; index < jobs.length; index++) charge(jobs[index]!, costs[2 * index]!, costs[2 * index + 1]!)
    return result as Result
  } catch (error) {
    // A thread that has ended reports nothing, but it may have worked until then.
    const sharedMs = (performance.now() - startedMs) / jobs.length
    for (const job of jobs) charge(job, sharedMs, 0)
    throw error
  }
}

function charge({ costs }: Job, cpuMs: number, vertices: number): void {
  if (costs === undefined) return
  costs.charge('cpu-ms', cpuMs)
  costs.charge('vertices', vertices)
}

function remainingMs(jobs: readonly Job[]): number {
  return Math.max(1, Math.min(...jobs.map(({ deadlineMs }) => deadlineMs)) - Date.now())
}

async function submit<Item, Result>(batcher: Batcher<Item, Result>, job: Item): Promise<Result> {
  try {
    return await batcher.submit(job)
  } catch (error) {
    if (error instanceof ProblemError) throw error
    if (error instanceof QueueFullError) throw overloaded('too many requests are waiting', error.retryAfterSeconds)
    if (isTimeout(error)) {
      throw overloaded('the computation took longer than its deadline')
    }
    throw error
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** The problem of a request that would wait too long. One object, because an overload makes many refusals. */
const NO_THREAD = overloaded('too many requests are waiting').data

function overloaded(detail: string, retryAfterSeconds = 1): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds })
}

/**
 * Ends tasks that take too long, with one timer for all of them. An `AbortSignal.timeout` for each task would cost more
 * than a small request: a timer, a weak reference and a finalizer.
 */
export class TimeLimits {
  readonly #running = new Set<Limit>()
  readonly #nowMs: () => number
  #timer: NodeJS.Timeout | undefined

  /** @param nowMs returns milliseconds of a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /**
   * Runs a task with a time limit.
   *
   * @param start begins a task that ends when the signal emits `abort`, which happens at most `CHECK_INTERVAL_MS` late
   * @param graceMs extra time, counted from the check that finds the limit passed. It is not counted from the limit, because
   *   what delayed the check may have delayed the task too
   */
  async run<T>(remainingMs: number, start: (signal: EventEmitter) => Promise<T>, graceMs = 0): Promise<T> {
    const limit = { signal: new EventEmitter(), dueMs: this.#nowMs() + remainingMs, graceMs }
    this.#running.add(limit)
    this.#timer ??= setInterval(() => this.#checkLimits(), CHECK_INTERVAL_MS).unref()
    try {
      return await start(limit.signal)
    } finally {
      this.#running.delete(limit)
    }
  }

  #checkLimits(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const nowMs = this.#nowMs()
    for (const limit of this.#running) {
      if (limit.dueMs > nowMs) continue
      if (limit.graceMs > 0) {
        limit.dueMs = nowMs + limit.graceMs
        limit.graceMs = 0
        continue
      }
      this.#running.delete(limit)
      limit.signal.emit('abort')
    }
  }
}

interface Limit {
  readonly signal: EventEmitter
  dueMs: number
  graceMs: number
}

const CHECK_INTERVAL_MS = 50

type SetTask = FeaturesTask | IndexTask | MatchTask
type SetResult = FeaturesResult | IndexResult | MatchResult
type Work = ComputeBatch | ComputeChunk | LeavesTask | MerkleTask | PrepareTask | SetTask | VerifyBatch
type WorkResult =
  | ComputeResult[]
  | ChunkResult
  | LeavesResult
  | MerkleResult
  | PrepareResult
  | SetResult
  | VerifyResult[]
/** Limits of what the main thread computes itself. The worst request within them takes a fraction of a millisecond. */
const INLINE_LIMITS = { maxVertices: 16, maxParts: 4, maxWork: 128 }

/** @param remainingMs time until the first deadline among the callers of `work` */
type Run = (work: Work, remainingMs: number) => Promise<Worked<WorkResult>>

/** The operator's settings for evidence. */
export type EvidenceSettings = Pick<
  ComputeWorkerData,
  'allowMock' | 'witnesses' | 'deviceTrust' | 'didKeys' | 'evaluation' | 'pluginUrls'
>

/**
 * Loads the code of the compute threads into the calling thread. That code is in a layer above this one, so the caller that
 * starts the threads passes it in.
 */
interface ComputeModules {
  compute(): Promise<{
    createComputeRunner(data: ComputeWorkerData): Promise<unknown>
    runWork(runner: unknown, work: Work): Worked<WorkResult> | Promise<Worked<WorkResult>>
  }>
  inline(): Promise<{
    createInlineCompute(
      limits: ComputeWorkerData['limits'],
      crossCheckShare: number,
      takeSample: (sample: AnswerSample) => void,
    ): (task: ComputeTask, costs?: CostMeter) => ComputeResult | undefined
  }>
}

/** The settings of a compute thread besides its limits. */
interface ThreadSettings {
  readonly modules: ComputeModules
  readonly chainIds: readonly number[]
  readonly evidence: EvidenceSettings
  /** Takes a sampled answer; without it, none is sampled. */
  readonly takeSample?: ((sample: AnswerSample) => void) | undefined
}

/** The compute threads of one priority. */
interface Lane {
  readonly threads: number
  readonly run: Run
  /** Takes an answer to check. */
  readonly takeSample: (sample: AnswerSample) => void
  isReady(): boolean
  readonly warmedUp: Promise<void>
  close(): Promise<void>
}

/** Starts the compute threads of one priority. Resolves when each has loaded and tested the kernel. */
async function createLane(config: Config, settings: ThreadSettings, isLarge: boolean): Promise<Lane> {
  const threads = isLarge ? config.limits.largeThreads : config.limits.computeThreads
  const limits = new TimeLimits(() => performance.now())
  const workerData: ComputeWorkerData = {
    limits: computeLimits(config, settings.chainIds, isLarge),
    ...settings.evidence,
    lowPriority: isLarge,
    crossCheckShare: crossCheckShare(config, settings),
  }
  const pool = new Piscina<Work, Worked<WorkResult>>({
    filename: workerUrl('compute').href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    // With two tasks per worker, Piscina would fill one thread while another idles. Tasks wait in the queues of `Batcher`
    // instead of Piscina's.
    concurrentTasksPerWorker: 1,
    maxQueue: threads * 2,
    resourceLimits: heapLimits(config),
    env: {}, // only the signer thread sees the environment
    workerData,
    recordTiming: false,
  })
  // The task of a thread that dies reports the error. Without a listener this event would end the process.
  pool.on('error', () => {})
  await Promise.all(Array.from({ length: threads }, () => pool.run(toComputeBatch([]))))
  // The start does not wait for it, but `/ready` does. In development it would only slow down the start.
  const warmedUp = isLarge && config.production ? warmUp(pool, threads, settings.chainIds) : Promise.resolve()
  const { evidenceGraceMs } = config.limits
  // The rules of an added plugin may run forever. Threads then use only backends that survive termination, so no grace
  // is needed.
  const graceMs = settings.evidence.pluginUrls.length > 0 ? 0 : evidenceGraceMs
  const verifications = new Set<Promise<unknown>>()
  return {
    threads,
    run(work, remainingMs) {
      const start = (signal: EventEmitter) => pool.run(work, { transferList: transferables(work), signal })
      if (work.type !== 'verify') return limits.run(remainingMs, start)
      // Terminating a thread inside the native addon would crash the process. The addon finishes long before the grace
      // ends.
      const done = limits.run(remainingMs, start, graceMs)
      verifications.add(done)
      return done.finally(() => verifications.delete(done))
    },
    takeSample: settings.takeSample ?? (() => {}),
    isReady: () => pool.threads.length > 0,
    warmedUp,
    async close() {
      await settled(verifications, evidenceGraceMs)
      await pool.destroy()
    },
  }
}

/** Lets each thread compute costly requests once. One after another, so that other work need not wait for all of them. */
async function warmUp(
  pool: Piscina<Work, Worked<WorkResult>>,
  threads: number,
  [chainId]: readonly number[],
): Promise<void> {
  if (chainId === undefined) return
  for (const task of warmUpTasks(chainId)) {
    const runs = Array.from({ length: threads }, () => {
      const batch = toComputeBatch([task])
      return pool.run(batch, { transferList: transferables(batch) })
    })
    // A run fails when the service stops meanwhile.
    await Promise.allSettled(runs)
  }
}

/** Waits until the work has settled, at most `maxMs`. */
async function settled(work: ReadonlySet<Promise<unknown>>, maxMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, maxMs)
  })
  await Promise.race([Promise.allSettled(work), timeout])
  clearTimeout(timer)
}

/** Creates the lane for `COMPUTE_THREADS=0`: the same code, run on the main thread. */
async function createInlineLane(config: Config, settings: ThreadSettings, isLarge: boolean): Promise<Lane> {
  const { createComputeRunner, runWork } = await settings.modules.compute()
  const limits = computeLimits(config, settings.chainIds, isLarge)
  const createRunner = () =>
    createComputeRunner({
      limits,
      ...settings.evidence,
      lowPriority: false,
      crossCheckShare: crossCheckShare(config, settings),
    })
  let runner: unknown = await createRunner()
  return {
    threads: 1,
    async run(work) {
      // Yield one tick of the event loop: this thread also answers /health and enforces deadlines.
      await new Promise((resolve) => setImmediate(resolve))
      runner ??= await createRunner()
      try {
        return await runWork(runner, work)
      } catch (error) {
        runner = undefined // the kernel may be broken: the next work gets a new one
        throw error
      }
    },
    takeSample: settings.takeSample ?? (() => {}),
    isReady: () => true,
    warmedUp: Promise.resolve(),
    close: async () => {},
  }
}

/** Loads the function that computes tiny requests on the main thread. */
async function loadInline(config: Config, settings: ThreadSettings) {
  const { limits } = config
  const { chainIds, modules, takeSample = () => {} } = settings
  const { createInlineCompute } = await modules.inline()
  const { maxCollectionDepth, maxJsonDepth, maxPreparedBytes } = limits
  const share = crossCheckShare(config, settings)
  const inlineLimits = { ...INLINE_LIMITS, maxCollectionDepth, maxJsonDepth, maxPreparedBytes, chainIds }
  return createInlineCompute(inlineLimits, share, takeSample)
}

function crossCheckShare({ limits }: Config, { takeSample }: ThreadSettings): number {
  return takeSample === undefined ? 0 : limits.crossCheckShare
}

/**
 * The small lane allows little work, so that no request there waits long. Requests that need more go to the large lane.
 */
function computeLimits({ limits }: Config, chainIds: readonly number[], isLarge: boolean): ComputeWorkerData['limits'] {
  const { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxPreparedBytes } = limits
  const maxWork = isLarge ? limits.maxWork : limits.maxSmallWork
  return { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxWork, maxPreparedBytes, chainIds }
}

/** Packs tasks into one message; the bodies share a buffer that is transferred. */
function toComputeBatch(tasks: readonly ComputeTask[]): ComputeBatch {
  return {
    type: 'compute',
    bytes: pack(tasks.map(({ body }) => body)),
    heads: tasks.map(({ body: _, ...head }) => head),
  }
}

/** Packs requests about evidence into one message, as `toComputeBatch`. */
function toVerifyBatch(tasks: readonly VerifyTask[]): VerifyBatch {
  return {
    type: 'verify',
    bytes: pack(tasks.map(({ body }) => body)),
    heads: tasks.map(({ body: _, ...head }) => head),
  }
}

/** Returns the buffers to transfer with a message. */
function transferables(work: Work): ArrayBuffer[] {
  if (work.type === 'leaves' || work.type === 'prepare' || work.type === 'index') return []
  if (work.type === 'features' || work.type === 'match') return [work.lines.buffer]
  if (work.type === 'merkle') return work.pieces.map(({ texts }) => texts.buffer)
  return [work.type === 'chunk' ? work.items.buffer : work.bytes.buffer]
}
