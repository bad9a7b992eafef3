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

/** What a thread that is started next may take of memory before it is ended. */
export function heapLimits({ limits }: Config): ResourceLimits {
  boundYoungHeap(limits.workerYoungHeapMb)
  return { maxOldGenerationSizeMb: limits.workerHeapMb, maxYoungGenerationSizeMb: limits.workerYoungHeapMb }
}

/**
 * Bounds the young heap of a thread that is started next. What it is given itself would not: V8 puts the flag that bounds main's
 * before it, and reads that again for each thread.
 *
 * @param megabytes three times a semi-space
 */
export function boundYoungHeap(megabytes: number): void {
  setFlagsFromString(`--max-semi-space-size=${Math.max(1, Math.round(megabytes / 3))}`)
}
