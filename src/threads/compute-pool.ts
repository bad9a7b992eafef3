import type { ChunkResult, ComputeChunk, MerkleResult, MerkleTask } from '../batch-messages.ts'
import type { Config } from '../config.ts'
import type { VerifyResult } from '../evidence-messages.ts'
import type { ComputeResult, ComputeTask } from '../messages.ts'
import { pack } from '../packed-bytes.ts'
import { ProblemError } from '../problem.ts'
import { Batcher, QueueFullError } from './batcher.ts'
import { batchOf, createInlineLane, createLane, type Done, type Lane, loadInline, type Told } from './compute-lanes.ts'
import type { ChunkJob, ComputeJob, Job, VerifyJob } from './jobs.ts'

export interface ComputePool {
  /**
   * A body of at most `inlineBodyBytes`, computed at once and here: it takes less time than the messages would.
   *
   * @returns undefined for what is larger, or not plainly right and quick: it belongs to one of the lanes
   */
  runAtOnce(task: ComputeTask): ComputeResult | undefined
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
  const runInline = isInline || limits.inlineBodyBytes === 0 ? undefined : await loadInline(config, told)
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
