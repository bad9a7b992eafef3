import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { ChunkResult, ComputeChunk, MerkleResult, MerkleTask } from '../src/batch-messages.ts'
import { ENDABLE_BACKENDS, loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import type { VerifyBatch, VerifyResult } from '../src/evidence-messages.ts'
import { canFree, freeBuffer, isLarge } from '../src/free-buffer.ts'
import type { ComputeBatch, ComputeResult, ComputeWorkerData } from '../src/messages.ts'
import { unpack } from '../src/packed-bytes.ts'
import { loadPlugin } from '../src/verify/added-plugin.ts'
import { runComputeChunk } from './compute-chunk.ts'
import { RequestMemos, runComputeTask } from './compute-task.ts'
import { createEngine } from './engine.ts'
import { runMerkleTask } from './merkle-task.ts'
import { createVerifyEngine } from './verify-engine.ts'
import { runVerifyTask } from './verify-task.ts'

/** What a compute thread does: whole requests, items of a batch, or the tree over its results. */
export interface ComputeRunner {
  runBatch(batch: ComputeBatch): ComputeResult[]
  runChunk(chunk: ComputeChunk): ChunkResult
  runTree(task: MerkleTask): MerkleResult
  runVerify(batch: VerifyBatch): Promise<VerifyResult[]>
}

/** Loads and tests the kernel once. Also used on the main thread with one core. */
export async function createComputeRunner({
  limits,
  allowMock,
  witnesses,
  deviceTrust,
  didKeys,
  evaluation,
  pluginUrls,
  lowPriority,
}: ComputeWorkerData): Promise<ComputeRunner> {
  if (lowPriority) setPriority(0, 15) // this thread alone: small requests keep the cores, large ones take the rest
  await canFree
  const engine = createEngine(limits)
  const memos = new RequestMemos()
  // An added kind of evidence may hang, and its thread is ended whatever it does.
  const secp256k1 = await loadSecp256k1(pluginUrls.length > 0 ? ENDABLE_BACKENDS : undefined)
  const config = {
    allowMock,
    evaluation,
    plugins: await Promise.all(pluginUrls.map(loadPlugin)),
    ...(witnesses && { witnesses }),
    ...(deviceTrust && { device: deviceTrust }),
    ...(didKeys && { didKeys }),
  }
  const verifyEngine = await createVerifyEngine(engine, config, secp256k1)
  return {
    runBatch: ({ bytes, heads }) =>
      heads.map((head, index) => runComputeTask({ ...head, body: unpack(bytes, index) }, engine, limits, { memos })),
    runChunk: (chunk) => runComputeChunk(chunk, engine, limits),
    runTree: (task) => runMerkleTask(task, engine.keccak),
    runVerify: ({ bytes, questions }) =>
      Promise.all(
        questions.map((question, index) =>
          runVerifyTask({ ...question, body: unpack(bytes, index) }, verifyEngine, limits),
        ),
      ),
  }
}

let runner: Promise<ComputeRunner> | undefined

/** A Piscina task. */
export default async function run(
  work: ComputeBatch | ComputeChunk | MerkleTask | VerifyBatch,
): Promise<ComputeResult[] | ChunkResult | MerkleResult | VerifyResult[]> {
  runner ??= createComputeRunner(workerData as ComputeWorkerData)
  try {
    const done = await runWork(await runner, work)
    if ('heads' in work && isLarge(new Uint8Array(work.bytes.buffer))) freeBuffer(work.bytes.buffer)
    return given(done)
  } catch (error) {
    runner = undefined // whatever broke, the next task starts from a fresh kernel
    throw error
  }
}

/** Texts go to main without a copy. */
function given<T extends ComputeResult[] | ChunkResult | MerkleResult | VerifyResult[]>(done: T): T {
  const buffers = buffersOf(done)
  return buffers.length === 0 ? done : (move({ [transferableSymbol]: buffers, [valueSymbol]: done }) as unknown as T)
}

function buffersOf(done: ComputeResult[] | ChunkResult | MerkleResult | VerifyResult[]) {
  if ('root' in done) return done.items.map(({ buffer }) => buffer)
  if ('unsigned' in done) return [done.unsigned.buffer, done.payloads.buffer]
  return 'texts' in done ? [done.texts.buffer] : []
}

/** Tells the kinds of work apart. */
export function runWork(runner: ComputeRunner, work: ComputeBatch | ComputeChunk | MerkleTask | VerifyBatch) {
  if ('questions' in work) return runner.runVerify(work)
  if ('heads' in work) return runner.runBatch(work)
  return 'pieces' in work ? runner.runTree(work) : runner.runChunk(work)
}
