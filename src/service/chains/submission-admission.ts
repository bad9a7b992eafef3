import { ProblemError } from '../../base/problem.ts'
import type { NewSubmission, SubmitOutcome } from '../../wire/relay-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'
import type { RequestContext } from '../request.ts'

interface SubmissionAdmissionParts {
  /** Stores submissions in one database transaction and returns their outcomes in order. */
  readonly store: (submissions: readonly NewSubmission[]) => Promise<readonly SubmitOutcome[]>
  /** Number of submissions that may wait to be stored; a further one gets 503. */
  readonly maxWaiting: number
  /** Largest number of submissions in one database transaction. */
  readonly maxTogether: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface Waiting {
  readonly submission: NewSubmission
  readonly context: Pick<RequestContext, 'deadlineMs' | 'aborted'>
  readonly resolve: (outcome: SubmitOutcome) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

const RETRY_SECONDS = 2
const LATE = 'the submission was not stored in time; send the same request again'

/**
 * Queues submissions until they are stored. This process runs one database transaction at a time, which stores all waiting
 * submissions up to `maxTogether`. All processes of a deployment share one lock for this; a burst would otherwise take the lock
 * once for each submission.
 */
export class SubmissionAdmission {
  readonly #parts: SubmissionAdmissionParts
  /** One queue per account, served round robin. */
  readonly #queues = new Map<string, Waiting[]>()
  #size = 0
  #isStoring = false

  constructor(parts: SubmissionAdmissionParts) {
    this.#parts = parts
  }

  /**
   * Stores a submission.
   *
   * @throws {ProblemError} `overloaded` if too many submissions wait, or the request's deadline has passed
   * @throws {StoreFault} if the store fails
   */
  async admit(
    submission: NewSubmission,
    context: Pick<RequestContext, 'deadlineMs' | 'aborted'>,
  ): Promise<SubmitOutcome> {
    const { maxWaiting, now } = this.#parts
    if (this.#size >= maxWaiting) throw overloaded('too many submissions wait to be stored')
    return new Promise((resolve, reject) => {
      // The submission may still be stored later. A client may repeat the request: the idempotency key prevents a second one.
      const late = () => reject(overloaded(LATE))
      const timer = setTimeout(late, Math.max(0, context.deadlineMs - now()))
      const queue = this.#queues.get(submission.account) ?? []
      queue.push({ submission, context, resolve, reject, timer })
      this.#queues.set(submission.account, queue)
      this.#size++
      if (!this.#isStoring) void this.#storeAll()
    })
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true
    await Promise.resolve() // so that requests of the same tick are stored together
    while (this.#size > 0) await this.#storeTogether(this.#takeNext())
    this.#isStoring = false
  }

  /** Takes one submission of each account in turn, up to `maxTogether`. */
  #takeNext(): Waiting[] {
    const { maxTogether, now } = this.#parts
    const taken: Waiting[] = []
    while (this.#size > 0 && taken.length < maxTogether) {
      const [account, queue] = this.#queues.entries().next().value!
      const entry = queue.shift()!
      this.#size--
      // Move the account to the end of the round.
      this.#queues.delete(account)
      if (queue.length > 0) this.#queues.set(account, queue)
      if (!entry.context.aborted && now() < entry.context.deadlineMs) {
        taken.push(entry)
        continue
      }
      clearTimeout(entry.timer)
      entry.reject(overloaded(LATE))
    }
    return taken
  }

  async #storeTogether(entries: readonly Waiting[]): Promise<void> {
    if (entries.length === 0) return
    try {
      const outcomes = await this.#parts.store(entries.map(({ submission }) => submission))
      for (const [index, entry] of entries.entries()) {
        clearTimeout(entry.timer)
        entry.resolve(outcomes[index]!)
      }
    } catch (error) {
      if (entries.length > 1 && error instanceof StoreFault && error.kind === 'refused') {
        // One submission caused this. Store them one by one, so that the others do not fail with it.
        for (const entry of entries) await this.#storeTogether([entry])
        return
      }
      for (const entry of entries) {
        clearTimeout(entry.timer)
        entry.reject(error)
      }
    }
  }
}

function overloaded(detail: string): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS })
}
