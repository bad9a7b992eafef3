/** Submits the Merkle roots of jobs that are done. */
import { FailureLog } from '../../base/log.ts'
import { ProblemError } from '../../base/problem.ts'
import { computesJobs } from '../../config/sync.ts'
import type { UnsubmittedJob } from '../../wire/job-messages.ts'
import type { StoreArgument } from '../../wire/store-messages.ts'
import { merkleRootPayload } from '../batch/sign.ts'
import { mayBeAccepted } from '../chains/submissions.ts'
import { CLIENT, type JobRunnerParts, runTree } from './runner.ts'
import { rootRequest, SUBMISSION_PAUSES } from './submit.ts'

const NO_RESULTS = 'no operation of the job has a signed result'

/**
 * Finds in the store the jobs whose root is to be submitted, so that any process and the next start continue. The payload of a job is
 * always the same, and so is its idempotency key: a root that is submitted again is the same submission.
 */
export class RootSubmitter {
  readonly #parts: JobRunnerParts
  readonly #timer: NodeJS.Timeout
  readonly #reading: FailureLog
  #isRunning = false
  #isClosed = false

  constructor(parts: JobRunnerParts) {
    this.#parts = parts
    this.#reading = new FailureLog(parts.log, {
      begin: 'roots of jobs cannot be submitted',
      end: 'roots of jobs are submitted again',
    })
    this.#timer = setInterval(() => void this.#submitAll(), parts.config.limits.jobPollMs).unref()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  async #submitAll(): Promise<void> {
    const { config, isStoreOpen } = this.#parts
    if (this.#isRunning || !isStoreOpen() || !computesJobs(config.role)) return
    this.#isRunning = true
    try {
      while (!this.#isClosed) {
        const job = await this.#ask('claimRoot', { leaseMs: config.limits.jobLeaseMs })
        if (job === undefined) break
        await this.#settle(job)
      }
      this.#reading.succeeded()
    } catch (error) {
      // With a problem, the store is unavailable, busy or full, which it logs itself. After its lease, the job is taken again.
      if (!(error instanceof ProblemError)) this.#reading.failed({ reason: String(error) })
    }
    this.#isRunning = false
  }

  /** Submits a root and notes its submission, or why there is none. If it may be accepted later, the job waits. */
  async #settle(job: UnsubmittedJob): Promise<void> {
    const { log } = this.#parts
    const { position, id } = job
    try {
      const submissionId = await this.#submit(job)
      await this.#ask('settleRoot', { position, submissionId })
      log.info('root of a job submitted', { job: id, submission: submissionId })
    } catch (error) {
      if (error instanceof ProblemError && !mayBeAccepted(error)) {
        const { detail } = error.data
        await this.#ask('settleRoot', { position, error: detail })
        log.warn('root of a job is not submitted', { job: id, reason: detail })
        return
      }
      if (!(error instanceof ProblemError)) log.error('root of a job failed', { job: id, reason: String(error) })
      await this.#ask('postponeJob', { position, hasProgress: false, ...SUBMISSION_PAUSES })
    }
  }

  /** @returns the id of the submission. @throws {ProblemError} if it is not accepted */
  async #submit(job: UnsubmittedJob): Promise<string> {
    const { chains, submissions } = this.#parts
    const { position, id, account } = job
    const { roots, leafCount } = await this.#ask('jobRoots', { position })
    if (leafCount === 0) throw new ProblemError({ type: 'conflict', detail: NO_RESULTS })
    const { root } = await runTree(this.#parts, roots, undefined)
    const request = rootRequest(job, { root, leafCount }, Math.floor(job.updatedMs / 1000))
    const owner = { account, position, id, operation: undefined }
    const stored = await submissions.storeForJob(merkleRootPayload(request, chains), owner)
    if (stored === undefined) throw new ProblemError({ type: 'conflict', detail: 'the job was deleted' })
    return stored.submission.id
  }

  get #ask() {
    const context = { deadlineMs: Number.POSITIVE_INFINITY, client: CLIENT }
    return <O extends 'claimRoot' | 'jobRoots' | 'settleRoot' | 'postponeJob'>(
      operation: O,
      argument: StoreArgument<O>,
    ) => this.#parts.ask(operation, argument, context)
  }
}
