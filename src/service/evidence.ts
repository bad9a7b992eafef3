import { TOO_MUCH_WORK } from '../compute/operations.ts'
import type { Config } from '../config.ts'
import type { VerifyResult, VerifyTask } from '../evidence-messages.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import { type RequestContext, requireWaiting } from './services.ts'

/** Asks the compute threads about evidence. Problems come back as data. */
export type EvidenceQuestions = (task: VerifyTask, context: RequestContext) => Promise<VerifyResult>

/**
 * How much work locations need is not seen from their size: the small lane gives up, and the large one takes it.
 *
 * @param now milliseconds since the epoch
 */
export function createEvidenceQuestions(
  { limits }: Pick<Config, 'limits'>,
  pool: Pick<ComputePool, 'runVerify'>,
  now: () => number,
): EvidenceQuestions {
  return async (task, context) => {
    const job = { task, deadlineMs: context.deadlineMs, isAborted: () => context.aborted }
    const isSmall = task.body.byteLength <= limits.smallBodyBytes
    const first = await pool.runVerify(job, isSmall)
    const result = isSmall && needsMoreWork(first) ? await pool.runVerify(job, false) : first
    // Evidence may come to its end after its deadline: whoever was refused must not be attested.
    requireWaiting(context, now())
    return result
  }
}

function needsMoreWork(result: VerifyResult): boolean {
  return !result.ok && result.problem.places?.[0]?.code === TOO_MUCH_WORK
}
