/** Submission of the results of a batch to their chain by the service itself (decision 165). */
import { type ProblemData, ProblemError, problemAt, underPath } from '../../base/problem.ts'
import type { Submission } from '../../wire/relay-messages.ts'
import type { AttestationPayload } from '../../wire/signing-messages.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { submissionJson } from '../chains/submission-state.ts'
import { EarlierResultError, type SubmissionService } from '../chains/submissions.ts'
import type { ResponseSigner } from '../compute/signed-answer.ts'
import type { BatchRun, ComputedChunk, ComputedItem, HandledItem } from './batch.ts'
import { rejectDisallowed } from './sign.ts'

export interface SubmitParts {
  readonly chains: ChainPolicy
  readonly answers: ResponseSigner
  readonly submissions: Pick<
    SubmissionService,
    'require' | 'maxBatchItems' | 'submit' | 'store' | 'storeForJob' | 'wait'
  >
}

/**
 * Checks, before anything is computed, that the service submits the results of this batch.
 *
 * @param count number of items
 * @throws {ProblemError} if it submits nothing to this chain or for this client, or not so many results
 */
export function requireSubmitted(run: BatchRun, count: number, { chains, submissions }: SubmitParts): void {
  const { chainId, attest } = run.options
  submissions.require(chains.require(chainId!).id, run.caller)
  const { maxBatchItems } = submissions
  if (attest !== 'each' || count <= maxBatchItems) return
  throw problemAt(
    'invalid-input',
    ['items'],
    `has ${count} items; at most ${maxBatchItems} results are submitted one by one`,
    {
      code: 'too-many-submissions',
      hint: 'send fewer items, or attest merkle: one attestation of their root covers all of them',
    },
  )
}

/**
 * Signs each result and submits it, all at the same time. Items fail independently.
 *
 * @param compute computes one item of the batch in another run
 * @returns the JSON of the results in order
 */
export async function submitEach(
  run: BatchRun,
  chunks: readonly ComputedChunk[],
  compute: (run: BatchRun, index: number) => Promise<ComputedChunk>,
  parts: SubmitParts,
): Promise<readonly string[]> {
  const { answers, submissions, chains } = parts
  const checked = await Promise.all(chunks.map((chunk) => rejectDisallowed(run, chunk, run.options.chainId!, chains)))
  const items = checked.flatMap(({ handled }) => [...handled.values()])
  return Promise.all(items.map(finish))

  async function finish(item: HandledItem, index: number): Promise<string> {
    if (typeof item === 'string') return item
    try {
      return await sign(item, index)
    } catch (error) {
      if (!(error instanceof EarlierResultError)) return fail(item, error)
      return await finishAsOf(error.timestampSeconds, item, index)
    }
  }

  async function sign({ id, computed, proofInputs }: ComputedItem, index: number): Promise<string> {
    const submit = async (payload: AttestationPayload) =>
      submissionJson(await submissions.submit(payload, run.caller, run.submissionContext(), index))
    const { json, headers = {} } = await answers.sign(computed, proofInputs, id, { submit })
    run.tally.countSigned(1, headers)
    return json
  }

  /** Computes an item again, as of the time of the result that was submitted under the same `Idempotency-Key`. */
  async function finishAsOf(timestampSeconds: number, item: ComputedItem, index: number): Promise<string> {
    try {
      const again = run.asOf(timestampSeconds)
      const [handled] = (await compute(again, index)).handled.values()
      if (typeof handled !== 'string') return await sign(handled!, index)
      run.tally.failed += again.tally.failed
      return handled
    } catch (error) {
      return fail(item, error)
    }
  }

  /** The other items may be on their way to the chain, so an unexpected error fails one item and not their response. */
  function fail({ id, path }: ComputedItem, error: unknown): string {
    const problem = error instanceof ProblemError ? error.data : run.report(error)
    return run.tally.fail(id, submissionProblem(problem, path))
  }
}

/** Returns the problem of an item. `options` belongs to the batch, so its problems have no path of an item. */
function submissionProblem(problem: ProblemData, path: ComputedItem['path']): ProblemData {
  const isAboutBatch = problem.invalidParts?.[0]?.pointer.startsWith('#/options') === true
  return underPath(problem, isAboutBatch ? [] : path)
}

/**
 * Stores the submission of a Merkle root.
 *
 * @throws {EarlierResultError} if the `Idempotency-Key` stands for a root of an earlier time
 * @throws {ProblemError} if the submission is not accepted
 */
export function storeRoot(
  run: BatchRun,
  payload: AttestationPayload,
  { submissions }: SubmitParts,
): Promise<Submission> {
  return submissions.store(payload, run.caller, run.submissionContext())
}

/** Waits a limited time for the block of a root. Returns the submission as a member of the response, with a comma before it. */
export async function rootSubmissionMember(
  run: BatchRun,
  stored: Submission,
  { submissions }: SubmitParts,
): Promise<string> {
  const [submission] = await submissions.wait([stored], run.submissionContext())
  return `,"submission":${JSON.stringify(submissionJson(submission!))}`
}
