/** Submission of the results of jobs to their chain by the service itself (decision 170). */
import { type ProblemData, ProblemError } from '../../base/problem.ts'
import type { MerkleTree } from '../../compute/merkle-tree.ts'
import { submissionMember } from '../../compute/response-text.ts'
import type { Config } from '../../config/config.ts'
import { utf8 } from '../../crypto/hex.ts'
import { readBatchItemId } from '../../validation/batch.ts'
import type { Job, JobChunk, JobOptions } from '../../wire/job-messages.ts'
import type { AttestationPayload } from '../../wire/signing-messages.ts'
import type { Hex } from '../../wire/values.ts'
import { type BatchRun, type ComputedChunk, type HandledItem, problemFrom } from '../batch/batch.ts'
import { type MerkleRootRequest, otherChainProblem } from '../batch/sign.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { submissionJson } from '../chains/submission-state.ts'
import { mayBeAccepted, type SubmissionService } from '../chains/submissions.ts'

/** The first pause of a job whose submissions find no room, and the longest one. */
export const SUBMISSION_PAUSES = { firstPauseMs: 1000, maxPauseMs: 60_000 }

/** Submissions that wait to be stored at the same time: few, because the places for waiting are shared by all clients. */
const SUBMITTED_TOGETHER = 20

/** Results of a job cannot be submitted now, but may be later. */
export class SubmissionDelay extends Error {
  /** True if some of them were stored. */
  readonly hasProgress: boolean

  constructor(cause: ProblemError, hasProgress: boolean) {
    super(cause.message, { cause })
    this.hasProgress = hasProgress
  }
}

/** True for a job whose results are submitted one by one. */
export function submitsEach({ attest, submitOnchain }: Pick<JobOptions, 'attest' | 'submitOnchain'>): boolean {
  return attest === 'each' && submitOnchain === true
}

/** Replaces results that cannot be submitted with their problem: those for another chain or under another schema. */
export function rejectForeign(
  run: BatchRun,
  chunk: ComputedChunk,
  chains: Pick<ChainPolicy, 'requireOwnSchema'>,
): ComputedChunk {
  const chainId = run.options.chainId!
  const check = (item: HandledItem): HandledItem => {
    if (typeof item === 'string') return item
    const { computed, id, path } = item
    try {
      if (computed.chainId !== chainId) throw otherChainProblem(computed.chainId, chainId)
      chains.requireOwnSchema(computed.kind, computed.schema)
      return item
    } catch (error) {
      return run.tally.fail(id, problemFrom(error, path))
    }
  }
  return { ...chunk, handled: new Map([...chunk.handled].map(([index, item]) => [index, check(item)])) }
}

interface SubmitLinesParts {
  readonly config: Pick<Config, 'limits'>
  readonly submissions: Pick<SubmissionService, 'storeForJob'>
  /** Returns the JSON of a problem of a job. */
  readonly problemJson: (job: JobChunk['job'], problem: ProblemData) => string
}

/** Results of a chunk as lines. */
interface Lines {
  readonly lines: Uint8Array
  /** Number of operations by the type of their problem. */
  readonly counts: ReadonlyMap<string, number>
}

/**
 * Submits each signed result. If the job has ended, those that are not submitted yet stay as they are.
 *
 * @param computed results without their submissions
 * @returns the results with the submissions as they were stored, or with the problem of one that is not accepted
 * @throws {SubmissionDelay} if one may be accepted later. Those that are stored already are found again when all are repeated
 */
export async function submitLines(
  { job, account, first, operations }: Pick<JobChunk, 'job' | 'account' | 'first' | 'operations'>,
  computed: { readonly lines: Uint8Array; readonly errors: Readonly<Record<string, number>> },
  { config, submissions, problemJson }: SubmitLinesParts,
): Promise<Lines> {
  const { id, position, options } = job
  const counts = new Map(Object.entries(computed.errors))
  const delays: ProblemError[] = []
  let hasProgress = false
  const submit = async (text: string, index: number): Promise<string> => {
    const payload = readPayload(text, options.chainId!)
    if (payload === undefined) return text
    try {
      const stored = await submissions.storeForJob(payload, { account, position, id, operation: first + index })
      if (stored === undefined) return text
      hasProgress ||= stored.isNew
      return `${text.slice(0, -1)}${submissionMember(submissionJson(stored.submission))}}`
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const { type } = error.data
      // Used-up gas fails the operation: a job does not wait for hours.
      if (mayBeAccepted(error) && type !== 'rate-limited') delays.push(error)
      counts.set(type, (counts.get(type) ?? 0) + 1)
      return `{${readBatchItemId(utf8(text), config.limits.maxJsonDepth)}"error":${problemJson(job, error.data)}}`
    }
  }
  const texts = Buffer.from(computed.lines).toString().split('\n').slice(0, operations)
  const finished: string[] = []
  for (let begin = 0; begin < texts.length; begin += SUBMITTED_TOGETHER) {
    const group = texts.slice(begin, begin + SUBMITTED_TOGETHER)
    finished.push(...(await Promise.all(group.map((text, index) => submit(text, begin + index)))))
  }
  if (delays.length > 0) throw new SubmissionDelay(delays[0]!, hasProgress)
  return { lines: utf8(finished.map((text) => `${text}\n`).join('')), counts }
}

/** Reads what is attested from the line of a result; undefined if the line is an error. */
function readPayload(line: string, chainId: number): AttestationPayload | undefined {
  const { schema, recipient, data, units } = JSON.parse(line) as Readonly<Record<string, string | undefined>>
  if (data === undefined) return undefined
  return {
    // Only numbers have units.
    kind: units === undefined ? 'boolean' : 'numeric',
    chainId,
    schema: schema as Hex,
    recipient: recipient!.toLowerCase() as Hex,
    data: data as Hex,
  }
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Returns what is attested of the root of a job. @param timestampSeconds of a root that is submitted: when the job ended */
export function rootRequest(
  { options }: Pick<Job, 'options'>,
  tree: Pick<MerkleTree, 'root' | 'leafCount'>,
  timestampSeconds: number,
): MerkleRootRequest {
  const recipient = (options.recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS
  return { chainId: options.chainId!, recipient, timestampSeconds, tree }
}
