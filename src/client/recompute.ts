/** `trigpoint/client/recompute`: the service's own computation, apart from the client because it brings the kernel with it. */
import { loadKernel } from '../wasm/loader.ts'
import { selfTestKernel } from '../wasm/self-test.ts'
import { recomputeWith } from './recompute-with.ts'
import type { Recompute } from './verify-options.ts'

/**
 * The same WebAssembly and the same code as the service, so the same bits: a result that differs is not its.
 *
 * @throws {Error} when the kernel does not compute here what it should
 */
export function createRecompute(): Recompute {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  return recomputeWith(kernel)
}
