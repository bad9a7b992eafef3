import { recomputeWith } from '../../src/client/recompute-with.ts'
import type { Recompute } from '../../src/client/verify-options.ts'
import { instantiateKernel, type Kernel } from '../../src/wasm/loader.ts'
import { selfTestKernel } from '../../src/wasm/self-test.ts'

export interface Engine {
  readonly kernel: Kernel
  readonly recompute: Recompute
}

/**
 * The WebAssembly that the service runs, fetched once; with SIMD where there is.
 *
 * @throws {Error} when the file does not come, or does not compute here what it should
 */
export async function loadEngine(): Promise<Engine> {
  const kernel = instantiateKernel(await compiled())
  selfTestKernel(kernel)
  return { kernel, recompute: recomputeWith(kernel) }
}

async function compiled(): Promise<WebAssembly.Module> {
  try {
    return await compile(new URL('../generated/simd.wasm', import.meta.url))
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error
    return compile(new URL('../generated/scalar.wasm', import.meta.url))
  }
}

async function compile(address: URL): Promise<WebAssembly.Module> {
  const response = await fetch(address, { signal: AbortSignal.timeout(LIMIT_MS) })
  if (!response.ok) throw new Error(`the kernel was not found (${response.status})`)
  return WebAssembly.compile(await response.arrayBuffer())
}

const LIMIT_MS = 20_000
