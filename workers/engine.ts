import { kernelKeccak } from '../src/compute/kernel-keccak.ts'
import { PreparedGeometries } from '../src/compute/prepared-geometries.ts'
import type { Engine } from '../src/compute/run.ts'
import { selfTestScanner } from '../src/geometry/self-test.ts'
import type { ComputeWorkerData } from '../src/messages.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { selfTestKernel } from '../src/wasm/self-test.ts'

/**
 * The kernel and what it works with, loaded and tested.
 *
 * @throws {Error} when it does not compute what it should (decision 97)
 */
export function createEngine(limits: ComputeWorkerData['limits']) {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  selfTestScanner(kernel)
  const prepared = new PreparedGeometries(kernel, limits.maxPreparedBytes)
  return { kernel, keccak: kernelKeccak(kernel), limits, prepared } satisfies Engine
}
