import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'
import { freeBuffer, freeBufferReady, isLarge, unpack } from '../src/base/bytes.ts'
import { AnswerSampler } from '../src/compute/answer-sampler.ts'
import { runComputeChunk } from '../src/compute/chunk.ts'
import { createEngine } from '../src/compute/engine.ts'
import { runLeavesTask, runMerkleTask } from '../src/compute/merkle-tree.ts'
import { RequestMemos } from '../src/compute/skeleton-memo.ts'
import { runPrepareTask } from '../src/compute/stored-shape.ts'
import { runComputeTask } from '../src/compute/task.ts'
import { loadSecp256k1, TERMINABLE_BACKENDS } from '../src/crypto/secp256k1.ts'
import type {
  ChunkResult,
  ComputeChunk,
  LeavesResult,
  LeavesTask,
  MerkleResult,
  MerkleTask,
} from '../src/wire/batch-messages.ts'
import type {
  AnswerSample,
  ComputeBatch,
  ComputeResult,
  ComputeWorkerData,
  Worked,
} from '../src/wire/compute-messages.ts'
import type { VerifyBatch, VerifyResult } from '../src/wire/evidence-messages.ts'
import type {
  FeaturesResult,
  FeaturesTask,
  IndexResult,
  IndexTask,
  MatchResult,
  MatchTask,
} from '../src/wire/set-messages.ts'
import type { PrepareResult, PrepareTask } from '../src/wire/stored-messages.ts'

/** The work of a compute thread: whole requests, items of a batch, the Merkle tree over a batch, and evidence. */
export interface ComputeRunner {
  runBatch(batch: ComputeBatch): Worked<ComputeResult[]>
  runChunk(chunk: ComputeChunk): Worked<ChunkResult>
  runTree(task: MerkleTask): Worked<MerkleResult>
  runLeaves(task: LeavesTask): Worked<LeavesResult>
  runPrepare(task: PrepareTask): Worked<PrepareResult>
  runSet(task: SetTask): Promise<Worked<SetResult>>
  runVerify(batch: VerifyBatch): Promise<Worked<VerifyResult[]>>
}

/**
 * Records the cost of each piece of work in turn. The time includes interruptions by the operating system, because Node.js 20
 * has no clock for a thread's processor time.
 */
class CostLog {
  readonly costs: number[] = []
  readonly #counts: { readonly vertices: number }
  #sinceMs = performance.now()
  #vertices: number

  constructor(counts: { readonly vertices: number }) {
    this.#counts = counts
    this.#vertices = counts.vertices
  }

  /** Ends a piece of work. @returns its result */
  note<T>(result: T): T {
    const nowMs = performance.now()
    const { vertices } = this.#counts
    this.costs.push(nowMs - this.#sinceMs, vertices - this.#vertices)
    this.#sinceMs = nowMs
    this.#vertices = vertices
    return result
  }
}

/** Loads and tests the kernel. With one core, the main thread uses this too. */
export async function createComputeRunner({
  limits,
  allowMock,
  witnesses,
  deviceTrust,
  didKeys,
  evaluation,
  pluginUrls,
  lowPriority,
  crossCheckShare,
}: ComputeWorkerData): Promise<ComputeRunner> {
  await freeBufferReady
  /** Answers to check that no message has taken along yet. */
  const samples: AnswerSample[] = []
  const sampler = crossCheckShare > 0 ? new AnswerSampler(crossCheckShare, (sample) => samples.push(sample)) : undefined
  const engine = { ...createEngine(limits), ...(sampler && { sampler }) }
  const memos = new RequestMemos()
  const hasPlugins = pluginUrls.length > 0
  const config = {
    allowMock,
    evaluation,
    plugins: hasPlugins ? await loadPlugins(pluginUrls) : [],
    ...(witnesses && { witnesses }),
    ...(deviceTrust && { device: deviceTrust }),
    ...(didKeys && { didKeys }),
  }
  // An added plugin may hang. Its thread is then terminated, so it must use a backend that survives that.
  const createVerifier = async () => {
    const { createVerifyEngine } = await import('../src/verify/engine.ts')
    const { runVerifyTask } = await import('../src/verify/task.ts')
    const secp256k1 = await loadSecp256k1(hasPlugins ? TERMINABLE_BACKENDS : undefined)
    return { engine: await createVerifyEngine(engine, config, secp256k1), runVerifyTask }
  }
  // Native libraries end the process if their thread is terminated while they load. Without added plugins, only the
  // first verification loads them, because a thread that verifies is never terminated. It also loads the code for evidence,
  // which would be a fifth of the start of every thread.
  let verifier = hasPlugins ? await createVerifier() : undefined
  // Only this thread, so that small requests keep the cores. Not before it is ready: on a busy machine the start would wait for it.
  if (lowPriority) setPriority(0, 15)
  return {
    runBatch({ bytes, heads }) {
      const log = new CostLog(engine.counts)
      const result = heads.map((head, index) =>
        log.note(runComputeTask({ ...head, body: unpack(bytes, index) }, engine, limits, { memos })),
      )
      return worked(result, log)
    },
    runChunk: (chunk) => runWhole(() => runComputeChunk(chunk, engine, limits)),
    runTree: (task) => runWhole(() => runMerkleTask(task, engine.keccak)),
    runLeaves: (task) => runWhole(() => runLeavesTask(task, engine.keccak)),
    runPrepare: (task) => runWhole(() => runPrepareTask(task, engine, limits)),
    async runSet(task) {
      // Few services have sets, so their code is loaded with the first one.
      const { runSetTask } = await import('../src/compute/sets.ts')
      return runWhole(() => runSetTask(task, engine, limits))
    },
    async runVerify({ bytes, heads }) {
      verifier ??= await createVerifier()
      const log = new CostLog(engine.counts)
      const result: VerifyResult[] = []
      // One after another, so that each is charged its own time.
      for (const [index, head] of heads.entries())
        result.push(
          log.note(await verifier.runVerifyTask({ ...head, body: unpack(bytes, index) }, verifier.engine, limits)),
        )
      return { result, costs: log.costs }
    },
  }

  function runWhole<T>(run: () => T): Worked<T> {
    const log = new CostLog(engine.counts)
    return worked(log.note(run()), log)
  }

  function worked<T>(result: T, { costs }: CostLog): Worked<T> {
    return samples.length === 0 ? { result, costs } : { result, costs, samples: samples.splice(0) }
  }
}

async function loadPlugins(urls: readonly string[]) {
  const { loadPlugin } = await import('../src/verify/added-plugin.ts')
  return Promise.all(urls.map(loadPlugin))
}

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

let runner: Promise<ComputeRunner> | undefined

/** Runs one Piscina task. */
export default async function run(work: Work): Promise<Worked<WorkResult>> {
  runner ??= createComputeRunner(workerData as ComputeWorkerData)
  try {
    const worked = await runWork(await runner, work)
    if (work.type === 'compute' && isLarge(new Uint8Array(work.bytes.buffer))) freeBuffer(work.bytes.buffer)
    return await withTransfer(worked)
  } catch (error) {
    runner = undefined // the kernel may be broken: the next task loads a new one
    throw error
  }
}

/** Marks the buffers of a result for transfer, so that its texts reach the main thread without a copy. */
async function withTransfer(worked: Worked<WorkResult>): Promise<Worked<WorkResult>> {
  const buffers = transferables(worked.result)
  if (buffers.length === 0) return worked
  // Loaded with the first part of a batch: the whole pool comes with it, which would be a fifth of the start of every thread.
  const piscina = await import('piscina')
  return piscina.move({
    [piscina.transferableSymbol]: buffers,
    [piscina.valueSymbol]: worked,
  }) as unknown as Worked<WorkResult>
}

function transferables(result: WorkResult) {
  if (Array.isArray(result)) return []
  switch (result.type) {
    case 'leaves':
    case 'prepared':
    case 'reference':
    case 'problem':
    case 'indexed':
      return []
    case 'matched':
      return [result.texts.buffer]
    case 'features': {
      const { vertices, sequenceStarts, partStarts, featureStarts, types, texts } = result.features
      const arrays = [vertices, sequenceStarts, partStarts, featureStarts, types, texts, result.text]
      return arrays.flatMap((array) => (array === undefined ? [] : [array.buffer as ArrayBuffer]))
    }
    case 'merkle':
      return result.items.map(({ buffer }) => buffer)
    case 'chunk':
      return [result.texts.buffer, result.payloads.buffer]
  }
}

/** Runs a piece of work according to its kind. */
export function runWork(runner: ComputeRunner, work: Work): Worked<WorkResult> | Promise<Worked<WorkResult>> {
  switch (work.type) {
    case 'verify':
      return runner.runVerify(work)
    case 'compute':
      return runner.runBatch(work)
    case 'merkle':
      return runner.runTree(work)
    case 'leaves':
      return runner.runLeaves(work)
    case 'prepare':
      return runner.runPrepare(work)
    case 'features':
    case 'index':
    case 'match':
      return runner.runSet(work)
    case 'chunk':
      return runner.runChunk(work)
  }
}
