import type { ComputeResult, ComputeTask, ComputeWorkerData } from '../src/messages.ts'
import { RequestMemos, runComputeTask } from './compute-task.ts'
import { createEngine } from './engine.ts'

/**
 * Compute requests on the thread that has them, by the same code as in the compute threads.
 *
 * @returns undefined for whatever is refused or breaks within these limits: it goes the ordinary way, which has other ones
 */
export function createInlineCompute(
  limits: ComputeWorkerData['limits'],
): (task: ComputeTask) => ComputeResult | undefined {
  let engine = createEngine(limits)
  const memos = new RequestMemos()
  return (task) => {
    try {
      const result = runComputeTask(task, engine, limits, { memos })
      return result.ok === false ? undefined : result
    } catch {
      engine = createEngine(limits) // whatever broke, the next request finds a fresh kernel
      return undefined
    }
  }
}
