/** `trigpoint/client/recompute`: the service's computation. Separate from the client, because it includes the kernel. */
import { loadKernel } from '../wasm/loader.ts'
import { selfTestKernel } from '../wasm/self-test.ts'
import { type ComputeGeometry, type ComputeMatrix, geometryWith, matrixWith, recomputeWith } from './recompute-with.ts'
import type { Recompute } from './verify/verdict.ts'

/**
 * Creates the computation for `verifyResult`. It runs the same WebAssembly and code as the service, so it gives the same bits: a
 * result that differs did not come from the service.
 *
 * @throws {Error} when the kernel fails its self-test on this machine
 */
export function createRecompute(): Recompute {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  return recomputeWith(kernel)
}

/** Creates the computation of matrices. @throws {Error} when the kernel fails its self-test on this machine */
export function createMatrix(): ComputeMatrix {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  return matrixWith(kernel)
}

/** Creates the computation of answers that are geometries. @throws {Error} when the kernel fails its self-test on this machine */
export function createGeometry(): ComputeGeometry {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  return geometryWith(kernel)
}
