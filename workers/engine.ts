import { kernelKeccak } from '../src/compute/kernel-keccak.ts'
import { PreparedGeometries } from '../src/compute/prepared-geometries.ts'
import type { ComputeContext } from '../src/compute/run.ts'
import { selfTestScanner } from '../src/geometry/self-test.ts'
import type { ComputeWorkerData } from '../src/messages.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { selfTestKernel } from '../src/wasm/self-test.ts'

/**
 * Loads the kernel and tests it.
 *
 * @throws {Error} when its self-test fails: a broken kernel must not compute signed results (decision 97)
 */
export function createEngine(limits: ComputeWorkerData['limits']) {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  selfTestScanner(kernel)
  const prepared = new PreparedGeometries(kernel, limits.maxPreparedBytes)
  return { kernel, keccak: kernelKeccak(kernel), limits, prepared } satisfies ComputeContext
}
