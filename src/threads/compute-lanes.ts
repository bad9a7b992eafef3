import type { EventEmitter } from 'node:events'
import { Piscina } from 'piscina'
import type { ChunkResult, ComputeChunk, MerkleResult, MerkleTask } from '../batch-messages.ts'
import type { Config } from '../config.ts'
import type { VerifyBatch, VerifyResult } from '../evidence-messages.ts'
import type { ComputeBatch, ComputeResult, ComputeTask, ComputeWorkerData } from '../messages.ts'
import { pack } from '../packed-bytes.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import { TimeLimits } from './time-limits.ts'

export type Work = ComputeBatch | ComputeChunk | MerkleTask | VerifyBatch
export type Done = ComputeResult[] | ChunkResult | MerkleResult | VerifyResult[]
/** What main computes itself: the worst request within these takes a fraction of a millisecond. */
const INLINE_LIMITS = { maxVertices: 16, maxParts: 4, maxDistanceSolves: 64, maxPreparedBytes: 1_048_576 }

/** @param leftMs until the first of its callers goes */
type Run = (work: Work, leftMs: number) => Promise<Done>

/** What the operator says about evidence. */
export type EvidenceSettings = Pick<
  ComputeWorkerData,
  'allowMock' | 'witnesses' | 'deviceTrust' | 'didKeys' | 'evaluation' | 'pluginUrls'
>

/** What a compute thread is told beside its limits. */
export interface Told {
  readonly chainIds: readonly number[]
  readonly evidence: EvidenceSettings
}

/** Threads of one priority. */
export interface Lane {
  readonly threads: number
  /** Longest wait that is worth queueing for. */
  readonly maxWaitMs: number
  readonly run: Run
  isReady(): boolean
  close(): Promise<void>
}

/** The compute threads of one priority, each with the kernel loaded and tested. */
export async function createLane(config: Config, told: Told, large: boolean): Promise<Lane> {
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
  const { evidenceGraceMs } = config.limits
  // An added kind may never come to an end; with one, threads use nothing that cannot be ended.
  const graceMs = told.evidence.pluginUrls.length > 0 ? 0 : evidenceGraceMs
  const evidence = new Set<Promise<Done>>()
  return {
    threads,
    maxWaitMs: maxWaitMs(config, large),
    run(work, leftMs) {
      const start = (signal: EventEmitter) => pool.run(work, { transferList: buffersOf(work), signal })
      if (!('questions' in work)) return limits.run(leftMs, start)
      // Ended in the middle of the addon, a thread takes the process with it: its signatures are over long before this.
      const done = limits.run(leftMs, start, graceMs)
      evidence.add(done)
      return done.finally(() => evidence.delete(done))
    },
    isReady: () => pool.threads.length > 0,
    async close() {
      await settled(evidence, evidenceGraceMs)
      await pool.destroy()
    },
  }
}

/** Waits for work of clients that left, not for ever. */
async function settled(work: ReadonlySet<Promise<Done>>, mostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, mostMs)
  })
  await Promise.race([Promise.allSettled(work), late])
  clearTimeout(timer)
}

/** One core: everything on the main thread, by the same code. */
export async function createInlineLane(config: Config, told: Told, large: boolean): Promise<Lane> {
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

/** What computes the least of requests on the thread that has them. */
export async function loadInline({ limits }: Config, { chainIds }: Told) {
  const { createInlineCompute } = (await import(workerUrl('inline').href)) as {
    createInlineCompute(limits: ComputeWorkerData['limits']): (task: ComputeTask) => ComputeResult | undefined
  }
  const { maxCollectionDepth, maxJsonDepth } = limits
  return createInlineCompute({ ...INLINE_LIMITS, maxCollectionDepth, maxJsonDepth, chainIds })
}

/** Large work takes its time: whoever sends it waits for half the deadline. */
function maxWaitMs({ limits }: Config, large: boolean): number {
  return large ? limits.requestDeadlineMs / 2 : limits.maxQueueMs
}

/** In the small lane little work is allowed, so that nobody there waits long; what needs more goes to the large lane. */
function computeLimits({ limits }: Config, chainIds: readonly number[], large: boolean): ComputeWorkerData['limits'] {
  const { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxPreparedBytes } = limits
  const maxDistanceSolves = large ? limits.maxDistanceSolves : limits.maxSmallDistanceSolves
  return { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxDistanceSolves, maxPreparedBytes, chainIds }
}

/** Bodies in one buffer, which is given away. */
export function batchOf(tasks: readonly ComputeTask[]): ComputeBatch {
  return { bytes: pack(tasks.map(({ body }) => body)), heads: tasks.map(({ body: _, ...head }) => head) }
}

/** What is given away with it. */
function buffersOf(work: Work): ArrayBuffer[] {
  if ('pieces' in work) return work.pieces.map(({ texts }) => texts.buffer)
  return ['items' in work ? work.items.buffer : work.bytes.buffer]
}
