import { setFlagsFromString } from 'node:v8'
import type { ResourceLimits } from 'node:worker_threads'
import type { Config } from '../config.ts'

/**
 * Where the entry of a worker thread, or what main loads of theirs, is: in `dist/workers`, also when this file runs from its source under a test, for
 * Node.js 20 starts no thread from TypeScript.
 *
 * @param name file name without its ending
 */
export function workerUrl(name: 'compute' | 'inline' | 'plugin-trial' | 'signer' | 'store' | 'sync'): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(`${fromSource ? '../../dist' : '../..'}/workers/${name}.js`, import.meta.url)
}

/**
 * Bounds the young heaps of all threads that start from now on. What each is given alone does not: the flag that bounds main's,
 * which is read again for each thread, goes before it.
 */
export function boundYoungHeaps({ limits }: Config): void {
  setFlagsFromString(`--max-semi-space-size=${Math.max(1, Math.round(limits.workerYoungHeapMb / 3))}`)
}

/** What a thread may take of memory before it is ended. */
export function heapLimits({ limits }: Config): ResourceLimits {
  return { maxOldGenerationSizeMb: limits.workerHeapMb, maxYoungGenerationSizeMb: limits.workerYoungHeapMb }
}
