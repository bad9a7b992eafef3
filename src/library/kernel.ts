/** The kernel of the library. */
import { simdBase64 } from '../wasm/generated/simd.ts'
import { compileModule, instantiateKernel } from '../wasm/loader.ts'

/**
 * One kernel for all functions. Only the build with SIMD, which halves the size of a bundle: Node.js and every browser since
 * 2023 run it.
 */
export const kernel = instantiateKernel(compileModule(simdBase64))
