import { selfTestScanner } from '../geometry/scanned-geometry.ts'
import { loadKernel } from '../wasm/loader.ts'
import { selfTestKernel } from '../wasm/self-test.ts'
import type { ComputeWorkerData } from '../wire/compute-messages.ts'
import { kernelKeccak } from './kernel-keccak.ts'
import { PreparedGeometries } from './prepared-geometries.ts'
import type { ComputeContext } from './run.ts'

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
