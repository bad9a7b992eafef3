import { pack } from '../base/bytes.ts'
import { ProblemError } from '../base/problem.ts'
import type { Config } from '../config/config.ts'
import type { ChunkResult, ComputeChunk, MerkleResult, MerkleTask } from '../wire/batch-messages.ts'
import type { ComputeResult, ComputeTask } from '../wire/compute-messages.ts'
import type { VerifyResult, VerifyTask } from '../wire/evidence-messages.ts'
import { Batcher, QueueFullError } from './batcher.ts'
import {
  batchOf,
  createInlineLane,
  createLane,
  type Lane,
  loadInline,
  type ThreadSettings,
  type WorkResult,
} from './compute-lanes.ts'

/** The caller of a task, as the main thread knows it. */
interface Job {
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

/** The compute threads, as services see them. */
export interface ComputePool {
  /**
   * Computes a body of at most `inlineBodyBytes` at once, on this thread. That takes less time than the messages would.
   *
   * @returns undefined when the body is larger, invalid, or too much work; it then goes to one of the lanes
   */
  runAtOnce(task: ComputeTask): ComputeResult | undefined
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
  /** Runs a request about evidence: micro-batched if it is small, otherwise on the threads of low priority. */
  runVerify(job: VerifyJob, isSmall: boolean): Promise<VerifyResult>
  readonly queueSize: number
  /** False while no thread of the small lane is alive. */
  readonly isReady: boolean
  /** Rejects every pending job with `overloaded`. */
  abandon(): void
  /** Ends the threads. Pending jobs never settle then, so call `abandon` or wait for them first. */
  close(): Promise<void>
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
  const requests = [
    requestBatcher(config, small, isInline ? 1 : limits.maxBatchSize),
    requestBatcher(config, large, 1),
  ] as const
  const evidence = [
    verifyBatcher(config, small, isInline ? 1 : limits.maxBatchSize),
    verifyBatcher(config, large, 1),
  ] as const
  const chunks = chunkBatcher(config, large)
  const runInline = isInline || limits.inlineBodyBytes === 0 ? undefined : await loadInline(config, settings)
  const batchers = [...requests, ...evidence, chunks]
  return {
    runAtOnce: (task) => (task.body.byteLength <= limits.inlineBodyBytes ? runInline?.(task) : undefined),
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
      const work = {
        type: 'verify' as const,
        bytes: pack(tasks.map(({ body }) => body)),
        heads: tasks.map(({ body: _, ...head }) => head),
      }
      return (await lane.run(work, leftMs(jobs))) as VerifyResult[]
    },
    isRetryable: (error) => !isTimeout(error),
  })
}

/**
 * Creates the batcher for chunks. A chunk is a batch already, so they are not grouped; their sender decides about
 * retries.
 */
function chunkBatcher(config: Config, lane: Lane) {
  return new Batcher<ChunkJob<ComputeChunk | MerkleTask>, WorkResult>({
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

function overloaded(detail: string, retryAfterSeconds = 1): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds })
}
