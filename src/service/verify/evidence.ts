import { TOO_MUCH_WORK } from '../../compute/operations.ts'
import type { Config } from '../../config/config.ts'
import type { ComputePool } from '../../threads/compute-pool.ts'
import type { VerifyResult, VerifyTask } from '../../wire/evidence-messages.ts'
import { type RequestContext, rejectExpired } from '../services.ts'

/** Runs a task about evidence in the compute threads. Problems come back as data. */
export type EvidenceRunner = (task: VerifyTask, context: RequestContext) => Promise<VerifyResult>

/**
 * Makes the function that runs such tasks in the lane for their size. The size does not show how much work the locations need: if
 * they need too much, the small lane gives up and the large lane takes the task.
 *
 * @param now milliseconds since the epoch
 */
export function createEvidenceRunner(
  { limits }: Pick<Config, 'limits'>,
  pool: Pick<ComputePool, 'runVerify'>,
  now: () => number,
): EvidenceRunner {
  return async (task, context) => {
    const job = { task, deadlineMs: context.deadlineMs, isAborted: () => context.aborted }
    const isSmall = task.body.byteLength <= limits.smallBodyBytes
    const first = await pool.runVerify(job, isSmall)
    const result = isSmall && needsMoreWork(first) ? await pool.runVerify(job, false) : first
    // The task may finish after the deadline. A client that already got an error must not get an attestation.
    rejectExpired(context, now())
    return result
  }
}

function needsMoreWork(result: VerifyResult): boolean {
  return !result.ok && result.problem.places?.[0]?.code === TOO_MUCH_WORK
}
