import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'
import { PreparedGeometries } from '../src/compute/prepared-geometries.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { VerifyBatch, VerifyResult } from '../src/evidence-messages.ts'
import { selfTestScanner } from '../src/geometry/self-test.ts'
import type { ChunkItem, ComputeBatch, ComputeChunk, ComputeResult, ComputeWorkerData } from '../src/messages.ts'
import { unpack } from '../src/packed-bytes.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { selfTestKernel } from '../src/wasm/self-test.ts'
import { runComputeChunk } from './compute-chunk.ts'
import { runComputeTask } from './compute-task.ts'
import { createVerifyEngine, runVerifyTask } from './verify-task.ts'

/** What a compute thread does: whole requests, or items of a batch. */
export interface ComputeRunner {
  runBatch(batch: ComputeBatch): ComputeResult[]
  runChunk(chunk: ComputeChunk): ChunkItem[]
  runVerify(batch: VerifyBatch): Promise<VerifyResult[]>
}

/** Loads and tests the kernel once. Also used on the main thread with one core. */
export async function createComputeRunner({
  limits,
  allowMock,
  lowPriority,
}: ComputeWorkerData): Promise<ComputeRunner> {
  if (lowPriority) setPriority(0, 15) // this thread alone: small requests keep the cores, large ones take the rest
  const kernel = loadKernel()
  selfTestKernel(kernel)
  selfTestScanner(kernel)
  const prepared = new PreparedGeometries(kernel, limits.maxPreparedBytes)
  const engine = { kernel, keccak: await createKeccak(), limits, prepared }
  const verifyEngine = await createVerifyEngine(engine, { allowMock })
  return {
    runBatch: ({ bytes, heads }) =>
      heads.map((head, index) => runComputeTask({ ...head, body: unpack(bytes, index) }, engine, limits)),
    runChunk: (chunk) => runComputeChunk(chunk, engine, limits),
    runVerify: ({ bytes, questions }) =>
      Promise.all(
        questions.map((question, index) =>
          runVerifyTask({ ...question, body: unpack(bytes, index) }, verifyEngine, limits),
        ),
      ),
  }
}

let runner: Promise<ComputeRunner> | undefined

/** A Piscina task: a micro-batch of requests of one kind, or a chunk of a caller's batch. */
export default async function run(
  work: ComputeBatch | ComputeChunk | VerifyBatch,
): Promise<ComputeResult[] | ChunkItem[] | VerifyResult[]> {
  runner ??= createComputeRunner(workerData as ComputeWorkerData)
  try {
    const { runBatch, runChunk, runVerify } = await runner
    if ('questions' in work) return await runVerify(work)
    return 'heads' in work ? runBatch(work) : runChunk(work)
  } catch (error) {
    runner = undefined // whatever broke, the next task starts from a fresh kernel
    throw error
  }
}
