import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { ComputeBatch, ComputeResult, ComputeWorkerData } from '../src/messages.ts'
import { unpack } from '../src/packed-bytes.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { selfTestKernel } from '../src/wasm/self-test.ts'
import { runComputeTask } from './compute-task.ts'

/** Loads and tests the kernel once; the function it gives runs batches. Also used on the main thread with one core. */
export async function createBatchRunner({
  limits,
  lowPriority,
}: ComputeWorkerData): Promise<(batch: ComputeBatch) => ComputeResult[]> {
  if (lowPriority) setPriority(0, 15) // this thread alone: small requests keep the cores, large ones take the rest
  const kernel = loadKernel()
  selfTestKernel(kernel)
  const engine = { kernel, keccak: await createKeccak(), limits }
  return ({ bytes, heads }) =>
    heads.map((head, index) => runComputeTask({ ...head, body: unpack(bytes, index) }, engine, limits))
}

let runner: Promise<(batch: ComputeBatch) => ComputeResult[]> | undefined

/** A Piscina task: one batch. */
export default async function run(batch: ComputeBatch): Promise<ComputeResult[]> {
  runner ??= createBatchRunner(workerData as ComputeWorkerData)
  try {
    return (await runner)(batch)
  } catch (error) {
    runner = undefined // whatever broke, the next task starts from a fresh kernel
    throw error
  }
}
