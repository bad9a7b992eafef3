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

/** What a thread may take of memory before it is ended. */
export function heapLimits({ limits }: Config): ResourceLimits {
  return { maxOldGenerationSizeMb: limits.workerHeapMb, maxYoungGenerationSizeMb: limits.workerYoungHeapMb }
}
