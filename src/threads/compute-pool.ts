import { Piscina } from 'piscina'
import type { Config } from '../config.ts'
import type { ComputeBatch, ComputeResult, ComputeTask, ComputeWorkerData } from '../messages.ts'
import { pack } from '../packed-bytes.ts'
import { ProblemError } from '../problem.ts'
import { Batcher, QueueFullError } from './batcher.ts'
import { workerUrl } from './spawn.ts'

/** A task with what the main thread knows about its caller. */
export interface ComputeJob {
  readonly task: ComputeTask
  /** Milliseconds since the epoch after which nobody waits for the answer. */
  readonly deadlineMs: number
  /** True once the client is gone. */
  readonly isAborted: () => boolean
}

export interface ComputePool {
  /** Small bodies: micro-batched, high priority. */
  runSmall(job: ComputeJob): Promise<ComputeResult>
  /** Bodies beyond `smallBodyBytes`: one at a time and thread, on threads of lowered priority. */
  runLarge(job: ComputeJob): Promise<ComputeResult>
  readonly queueSize: number
  /** False while no thread of the small lane is alive. */
  readonly isReady: boolean
  /** Answers `overloaded` to everybody who still waits. */
  abandon(): void
  /** Ends the threads; whoever still waits gets no answer, so `abandon` or wait first. */
  close(): Promise<void>
}

type ComputeBatcher = Batcher<ComputeJob, ComputeResult>
/** @param leftMs until the first of the batch's callers goes */
type Run = (batch: ComputeBatch, leftMs: number) => Promise<ComputeResult[]>

/**
 * Starts the compute threads and waits until each has loaded and tested the kernel.
 *
 * @param chainIds chains that are supported at all: large bodies for another one are not computed
 * @throws {Error} when a thread fails its self-test: the service must not start then (decision 97)
 */
export async function startComputePool(config: Config, chainIds: readonly number[]): Promise<ComputePool> {
  const { limits } = config
  if (limits.computeThreads === 0) return inlinePool(config, chainIds)
  const small = createLane(config, chainIds, limits.computeThreads, false)
  const large = createLane(config, chainIds, limits.largeThreads, true)
  await Promise.all([small.warmUp(), large.warmUp()])
  return {
    runSmall: (job) => small.submit(job),
    runLarge: (job) => large.submit(job),
    get queueSize() {
      return small.queueSize + large.queueSize
    },
    get isReady() {
      return small.isReady
    },
    abandon() {
      small.abandon()
      large.abandon()
    },
    async close() {
      await Promise.all([small.close(), large.close()])
    },
  }
}

function createLane(config: Config, chainIds: readonly number[], threads: number, large: boolean) {
  const { limits } = config
  const workerData: ComputeWorkerData = { limits: computeLimits(config, chainIds, large), lowPriority: large }
  const pool = new Piscina<ComputeBatch, ComputeResult[]>({
    filename: workerUrl('compute').href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    // Two tasks a worker are packed on one thread while another idles; our own queue stands before this one.
    concurrentTasksPerWorker: 1,
    maxQueue: threads * 2,
    resourceLimits: { maxOldGenerationSizeMb: limits.workerHeapMb },
    env: {}, // no thread but the signer sees the environment
    workerData,
    recordTiming: false,
  })
  // A thread that dies is reported by the task that it failed; without a listener the event would end the process.
  pool.on('error', () => {})
  const batcher = createBatcher(config, threads, large ? 1 : limits.maxBatchSize, (batch, leftMs) =>
    pool.run(batch, { transferList: [batch.bytes.buffer], signal: AbortSignal.timeout(leftMs) }),
  )
  return {
    submit: (job: ComputeJob) => submit(batcher, job),
    get queueSize() {
      return batcher.queueSize
    },
    get isReady() {
      return pool.threads.length > 0
    },
    async warmUp() {
      await Promise.all(Array.from({ length: threads }, () => pool.run(batchOf([]))))
    },
    abandon: () => batcher.abandon(overloaded('the service is stopping')),
    async close() {
      await pool.destroy()
    },
  }
}

/** One core: everything on the main thread, by the same code. */
async function inlinePool(config: Config, chainIds: readonly number[]): Promise<ComputePool> {
  const { createBatchRunner } = (await import(workerUrl('compute').href)) as {
    createBatchRunner(data: ComputeWorkerData): Promise<(batch: ComputeBatch) => ComputeResult[]>
  }
  const lanes = [false, true].map(async (large) => {
    const runBatch = await createBatchRunner({ limits: computeLimits(config, chainIds, large), lowPriority: false })
    // One at a time, and a turn of the event loop between: this thread also answers /health and ends deadlines.
    return createBatcher(config, 1, 1, async (batch) => {
      await new Promise((resolve) => setImmediate(resolve))
      return runBatch(batch)
    })
  })
  const [small, large] = (await Promise.all(lanes)) as [ComputeBatcher, ComputeBatcher]
  return {
    runSmall: (job) => submit(small, job),
    runLarge: (job) => submit(large, job),
    get queueSize() {
      return small.queueSize + large.queueSize
    },
    isReady: true,
    abandon() {
      for (const batcher of [small, large]) batcher.abandon(overloaded('the service is stopping'))
    },
    async close() {},
  }
}

function createBatcher(config: Config, lanes: number, maxBatchSize: number, run: Run) {
  return new Batcher<ComputeJob, ComputeResult>({
    lanes,
    maxBatchSize,
    maxQueueSize: config.limits.maxQueuedRequests,
    run: (jobs) => {
      const firstDeadlineMs = Math.min(...jobs.map(({ deadlineMs }) => deadlineMs))
      return run(batchOf(jobs.map(({ task }) => task)), Math.max(1, firstDeadlineMs - Date.now()))
    },
    isRetryable: (error) => !isTimeout(error),
    isStale: ({ deadlineMs, isAborted }) => isAborted() || Date.now() >= deadlineMs,
    staleError: () => overloaded('the request waited longer than its deadline'),
  })
}

function batchOf(tasks: readonly ComputeTask[]): ComputeBatch {
  return { bytes: pack(tasks.map(({ body }) => body)), heads: tasks.map(({ body: _, ...head }) => head) }
}

async function submit(batcher: ComputeBatcher, job: ComputeJob): Promise<ComputeResult> {
  try {
    return await batcher.submit(job)
  } catch (error) {
    if (error instanceof ProblemError) throw error
    if (error instanceof QueueFullError) throw overloaded('too many requests are waiting')
    if (isTimeout(error)) {
      throw overloaded('the computation took longer than its deadline')
    }
    throw error
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** In the small lane little work is allowed, so that nobody there waits long; what needs more goes to the large lane. */
function computeLimits({ limits }: Config, chainIds: readonly number[], large: boolean): ComputeWorkerData['limits'] {
  const { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth } = limits
  const maxDistanceSolves = large ? limits.maxDistanceSolves : limits.maxSmallDistanceSolves
  return { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxDistanceSolves, chainIds }
}

function overloaded(detail: string): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 1 })
}
