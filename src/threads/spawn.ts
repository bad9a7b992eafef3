import { setFlagsFromString } from 'node:v8'
import type { ResourceLimits } from 'node:worker_threads'
import type { Config } from '../config/config.ts'

/**
 * Returns the URL of the entry of a worker thread. It is in `dist/workers` even when this file runs from source under a
 * test, because Node.js 20 cannot start a thread from TypeScript.
 *
 * @param name file name without extension
 */
export function workerUrl(name: 'compute' | 'cross-check' | 'plugin-trial' | 'signer' | 'store' | 'sync'): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(`${fromSource ? '../../dist' : '../..'}/workers/${name}.js`, import.meta.url)
}

/** Returns the memory limits of the thread that is started next; beyond them Node.js ends it. */
export function heapLimits({ limits }: Config): ResourceLimits {
  boundYoungHeap(limits.workerYoungHeapMb)
  return { maxOldGenerationSizeMb: limits.workerHeapMb, maxYoungGenerationSizeMb: limits.workerYoungHeapMb }
}

/**
 * Bounds the young heap of the thread that is started next. The thread's own resource limits are not enough: V8 reads
 * the flag that bounds the main thread's young heap again for each thread, and the flag takes precedence.
 *
 * @param megabytes size of the young heap, which is three semi-spaces
 */
export function boundYoungHeap(megabytes: number): void {
  setFlagsFromString(`--max-semi-space-size=${Math.max(1, Math.round(megabytes / 3))}`)
}
