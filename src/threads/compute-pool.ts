import { Piscina } from 'piscina'
import type { ChunkResult, ComputeChunk, MerkleResult, MerkleTask } from '../batch-messages.ts'
import type { Config } from '../config.ts'
import type { VerifyBatch, VerifyResult } from '../evidence-messages.ts'
import type { ComputeBatch, ComputeResult, ComputeTask, ComputeWorkerData } from '../messages.ts'
import { pack } from '../packed-bytes.ts'
import { ProblemError } from '../problem.ts'
import { Batcher, QueueFullError } from './batcher.ts'
import type { ChunkJob, ComputeJob, Job, VerifyJob } from './jobs.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import { TimeLimits } from './time-limits.ts'

export interface ComputePool {
  /** Small bodies: micro-batched, high priority. */
  runSmall(job: ComputeJob): Promise<ComputeResult>
  /** Bodies beyond `smallBodyBytes`: one at a time and thread, on threads of lowered priority. */
  runLarge(job: ComputeJob): Promise<ComputeResult>
  /**
   * A chunk of a batch, on the threads of lowered priority.
   *
   * @throws {Error} that is no ProblemError when its thread died
   */
  runChunk(job: ChunkJob): Promise<ChunkResult>
  /** The same for the tree over all results of a batch. */
  runTree(job: ChunkJob<MerkleTask>): Promise<MerkleResult>
  /** A request about evidence: small ones micro-batched, others on the threads of lowered priority. */
  runVerify(job: VerifyJob, isSmall: boolean): Promise<VerifyResult>
  readonly queueSize: number
  /** False while no thread of the small lane is alive. */
  readonly isReady: boolean
  /** Answers `overloaded` to everybody who still waits. */
  abandon(): void
  /** Ends the threads; whoever still waits gets no answer, so `abandon` or wait first. */
  close(): Promise<void>
}

type Work = ComputeBatch | ComputeChunk | MerkleTask | VerifyBatch
type Done = ComputeResult[] | ChunkResult | MerkleResult | VerifyResult[]
/** @param leftMs until the first of its callers goes */
type Run = (work: Work, leftMs: number) => Promise<Done>

/**
 * Starts the compute threads and waits until each has loaded and tested the kernel.
 *
 * @param told the chains that are supported at all, and what the operator says about evidence
 * @throws {Error} when a thread fails its self-test: the service must not start then (decision 97)
 */
export async function startComputePool(config: Config, told: Told): Promise<ComputePool> {
  const { limits } = config
  const isInline = limits.computeThreads === 0
  const create = isInline ? createInlineLane : createLane
  const [small, large] = await Promise.all([create(config, told, false), create(config, told, true)])
  const requests = [
    requestBatcher(config, small, isInline ? 1 : limits.maxBatchSize),
    requestBatcher(config, large, 1),
  ] as const
  const evidence = [
    verifyBatcher(config, small, isInline ? 1 : limits.maxBatchSize),
    verifyBatcher(config, large, 1),
  ] as const
  const chunks = chunkBatcher(config, large)
  const batchers = [...requests, ...evidence, chunks]
  return {
    runSmall: (job) => submit(requests[0], job),
    runLarge: (job) => submit(requests[1], job),
    runChunk: (job) => submit(chunks, job) as Promise<ChunkResult>,
    runTree: (job) => submit(chunks, job) as Promise<MerkleResult>,
    runVerify: (job, isSmall) => submit(evidence[isSmall ? 0 : 1], job),
    get queueSize() {
      return batchers.reduce((sum, { queueSize }) => sum + queueSize, 0)
    },
    get isReady() {
      return small.isReady()
    },
    abandon() {
      for (const batcher of batchers) batcher.abandon(overloaded('the service is stopping'))
    },
    async close() {
      await Promise.all([small.close(), large.close()])
    },
  }
}

/** What the operator says about evidence. */
export type EvidenceSettings = Pick<
  ComputeWorkerData,
  'allowMock' | 'witnesses' | 'deviceTrust' | 'didKeys' | 'pluginUrls'
>

interface Told {
  readonly chainIds: readonly number[]
  readonly evidence: EvidenceSettings
}

/** Threads of one priority. */
interface Lane {
  readonly threads: number
  /** Longest wait that is worth queueing for. */
  readonly maxWaitMs: number
  readonly run: Run
  isReady(): boolean
  close(): Promise<void>
}

async function createLane(config: Config, told: Told, large: boolean): Promise<Lane> {
  const threads = large ? config.limits.largeThreads : config.limits.computeThreads
  const limits = new TimeLimits(() => performance.now())
  const workerData: ComputeWorkerData = {
    limits: computeLimits(config, told.chainIds, large),
    ...told.evidence,
    lowPriority: large,
  }
  const pool = new Piscina<Work, Done>({
    filename: workerUrl('compute').href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    // Two tasks a worker are packed on one thread while another idles; our own queues stand before this one.
    concurrentTasksPerWorker: 1,
    maxQueue: threads * 2,
    resourceLimits: heapLimits(config),
    env: {}, // no thread but the signer sees the environment
    workerData,
    recordTiming: false,
  })
  // A thread that dies is reported by the task that it failed; without a listener the event would end the process.
  pool.on('error', () => {})
  await Promise.all(Array.from({ length: threads }, () => pool.run(batchOf([]))))
  return {
    threads,
    maxWaitMs: maxWaitMs(config, large),
    run: (work, leftMs) => limits.run(leftMs, (signal) => pool.run(work, { transferList: [bufferOf(work)], signal })),
    isReady: () => pool.threads.length > 0,
    close: () => pool.destroy(),
  }
}

/** One core: everything on the main thread, by the same code. */
async function createInlineLane(config: Config, told: Told, large: boolean): Promise<Lane> {
  const { createComputeRunner, runWork } = (await import(workerUrl('compute').href)) as {
    createComputeRunner(data: ComputeWorkerData): Promise<unknown>
    runWork(runner: unknown, work: Work): Done | Promise<Done>
  }
  const runner = await createComputeRunner({
    limits: computeLimits(config, told.chainIds, large),
    ...told.evidence,
    lowPriority: false,
  })
  return {
    threads: 1,
    maxWaitMs: maxWaitMs(config, large),
    async run(work) {
      // A turn of the event loop between: this thread also answers /health and ends deadlines.
      await new Promise((resolve) => setImmediate(resolve))
      return runWork(runner, work)
    },
    isReady: () => true,
    close: async () => {},
  }
}

/** Large work takes its time: whoever sends it waits for half the deadline. */
function maxWaitMs({ limits }: Config, large: boolean): number {
  return large ? limits.requestDeadlineMs / 2 : limits.maxQueueMs
}

function requestBatcher(config: Config, lane: Lane, maxBatchSize: number) {
  return new Batcher<ComputeJob, ComputeResult>({
    ...commonOptions(config, lane),
    maxBatchSize,
    run: async (jobs) => (await lane.run(batchOf(jobs.map(({ task }) => task)), leftMs(jobs))) as ComputeResult[],
    isRetryable: (error) => !isTimeout(error),
  })
}

function verifyBatcher(config: Config, lane: Lane, maxBatchSize: number) {
  return new Batcher<VerifyJob, VerifyResult>({
    ...commonOptions(config, lane),
    maxBatchSize,
    run: async (jobs) => {
      const tasks = jobs.map(({ task }) => task)
      const work = { bytes: pack(tasks.map(({ body }) => body)), questions: tasks.map(({ body: _, ...rest }) => rest) }
      return (await lane.run(work, leftMs(jobs))) as VerifyResult[]
    },
    isRetryable: (error) => !isTimeout(error),
  })
}

/** A chunk is a batch already. Whoever sent it knows better how to try again. */
function chunkBatcher(config: Config, lane: Lane) {
  return new Batcher<ChunkJob<ComputeChunk | MerkleTask>, Done>({
    ...commonOptions(config, lane),
    maxBatchSize: 1,
    run: async (jobs) => [await lane.run(jobs[0]!.chunk, leftMs(jobs))],
    isRetryable: () => false,
  })
}

function commonOptions(config: Config, lane: Lane) {
  return {
    lanes: lane.threads,
    maxQueueSize: config.limits.maxQueuedRequests,
    maxWaitMs: lane.maxWaitMs,
    nowMs: () => performance.now(),
    isStale: ({ deadlineMs, isAborted }: Job) => isAborted() || Date.now() >= deadlineMs,
    staleError: () => overloaded('the request waited longer than its deadline'),
  }
}

function leftMs(jobs: readonly Job[]): number {
  return Math.max(1, Math.min(...jobs.map(({ deadlineMs }) => deadlineMs)) - Date.now())
}

function batchOf(tasks: readonly ComputeTask[]): ComputeBatch {
  return { bytes: pack(tasks.map(({ body }) => body)), heads: tasks.map(({ body: _, ...head }) => head) }
}

function bufferOf(work: Work): ArrayBuffer {
  if ('leaves' in work) return work.leaves.buffer as ArrayBuffer
  return 'items' in work ? work.items.buffer : work.bytes.buffer
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

/** In the small lane little work is allowed, so that nobody there waits long; what needs more goes to the large lane. */
function computeLimits({ limits }: Config, chainIds: readonly number[], large: boolean): ComputeWorkerData['limits'] {
  const { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxPreparedBytes } = limits
  const maxDistanceSolves = large ? limits.maxDistanceSolves : limits.maxSmallDistanceSolves
  return { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxDistanceSolves, maxPreparedBytes, chainIds }
}

function overloaded(detail: string, retryAfterSeconds = 1): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds })
}
