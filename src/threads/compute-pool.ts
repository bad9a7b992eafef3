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
  close(): Promise<void>
}

type Run = (batch: ComputeBatch) => Promise<ComputeResult[]>

/**
 * Starts the compute threads and waits until each has loaded and tested the kernel.
 *
 * @throws {Error} when a thread fails its self-test: the service must not start then (decision 97)
 */
export async function startComputePool(config: Config): Promise<ComputePool> {
  const { limits } = config
  if (limits.computeThreads === 0) return inlinePool(config)
  const small = createLane(config, limits.computeThreads, false)
  const large = createLane(config, limits.largeThreads, true)
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
    async close() {
      await Promise.all([small.close(), large.close()])
    },
  }
}

function createLane(config: Config, threads: number, large: boolean) {
  const { limits } = config
  const workerData: ComputeWorkerData = { limits: computeLimits(config), lowPriority: large }
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
  const batcher = createBatcher(config, threads, large ? 1 : limits.maxBatchSize, (batch) =>
    pool.run(batch, { transferList: [batch.bytes.buffer], signal: AbortSignal.timeout(limits.requestDeadlineMs) }),
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
    async close() {
      await batcher.drained()
      await pool.close()
    },
  }
}

/** One core: everything on the main thread, by the same code. */
async function inlinePool(config: Config): Promise<ComputePool> {
  const { createBatchRunner } = (await import(workerUrl('compute').href)) as {
    createBatchRunner(data: ComputeWorkerData): Promise<(batch: ComputeBatch) => ComputeResult[]>
  }
  const runBatch = await createBatchRunner({ limits: computeLimits(config), lowPriority: false })
  const run: Run = async (batch) => runBatch(batch)
  const batcher = createBatcher(config, 1, config.limits.maxBatchSize, run)
  const runJob = (job: ComputeJob) => submit(batcher, job)
  return {
    runSmall: runJob,
    runLarge: runJob,
    get queueSize() {
      return batcher.queueSize
    },
    isReady: true,
    close: () => batcher.drained(),
  }
}

function createBatcher(config: Config, lanes: number, maxBatchSize: number, run: Run) {
  return new Batcher<ComputeJob, ComputeResult>({
    lanes,
    maxBatchSize,
    maxQueueSize: config.limits.maxQueuedRequests,
    run: (jobs) => run(batchOf(jobs.map(({ task }) => task))),
    isStale: ({ deadlineMs, isAborted }) => isAborted() || Date.now() >= deadlineMs,
    staleError: () => overloaded('the request waited longer than its deadline'),
  })
}

function batchOf(tasks: readonly ComputeTask[]): ComputeBatch {
  return { bytes: pack(tasks.map(({ body }) => body)), heads: tasks.map(({ body: _, ...head }) => head) }
}

async function submit(batcher: Batcher<ComputeJob, ComputeResult>, job: ComputeJob): Promise<ComputeResult> {
  try {
    return await batcher.submit(job)
  } catch (error) {
    if (error instanceof ProblemError) throw error
    if (error instanceof QueueFullError) throw overloaded('too many requests are waiting')
    if (error instanceof Error && error.name === 'AbortError') {
      throw overloaded('the computation took longer than its deadline')
    }
    throw error
  }
}

function computeLimits({ limits }: Config): ComputeWorkerData['limits'] {
  const { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxDistanceSolves } = limits
  return { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxDistanceSolves }
}

function overloaded(detail: string): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 1 })
}
