import { recomputeWith } from '../../src/client/recompute-with.ts'
import type { Recompute } from '../../src/client/verify/verdict.ts'
import { instantiateKernel, type Kernel } from '../../src/wasm/loader.ts'
import { selfTestKernel } from '../../src/wasm/self-test.ts'

export interface Engine {
  readonly kernel: Kernel
  readonly recompute: Recompute
}

/**
 * Units of work after which a computation in the page gives up, because the page stands still meanwhile: less than a second on a desktop
 * computer. It is five times the default of `MAX_WORK`, the limit of the service. The address of a receipt may come from anyone.
 */
const MAX_WORK = 1_000_000

/**
 * Loads the WebAssembly kernel that the service runs: the SIMD build, or the scalar build where the browser has no SIMD.
 *
 * @throws {Error} when the file cannot be fetched, or the kernel fails its self-test in this browser
 */
export async function loadEngine(): Promise<Engine> {
  const kernel = instantiateKernel(await compileKernel())
  selfTestKernel(kernel)
  return { kernel, recompute: recomputeWith(kernel, MAX_WORK) }
}

async function compileKernel(): Promise<WebAssembly.Module> {
  try {
    return await fetchAndCompile(new URL('../generated/simd.wasm', import.meta.url))
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error
    return fetchAndCompile(new URL('../generated/scalar.wasm', import.meta.url))
  }
}

async function fetchAndCompile(address: URL): Promise<WebAssembly.Module> {
  const response = await fetch(address, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
  if (!response.ok) throw new Error(`the kernel could not be loaded (HTTP status ${response.status})`)
  return WebAssembly.compile(await response.arrayBuffer())
}

const FETCH_TIMEOUT_MS = 20_000
