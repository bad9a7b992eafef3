import { FairQueue } from '../../base/fair-queue.ts'
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
const FULL = 'too many submissions wait to be stored, and this API key has the most of them; send fewer at a time'
const LATE = 'the submission was not stored in time; send the same request again'

/**
 * Queues submissions until they are stored. This process runs one database transaction at a time, which stores all waiting
 * submissions up to `maxTogether`. All processes of a deployment share one lock for this; a burst would otherwise take the lock
 * once for each submission.
 */
export class SubmissionAdmission {
  readonly #parts: SubmissionAdmissionParts
  /** When it is full, the account with the most waiting submissions loses its newest one. */
  readonly #queue: FairQueue<Waiting>
  #isStoring = false

  constructor(parts: SubmissionAdmissionParts) {
    this.#parts = parts
    this.#queue = new FairQueue(parts.maxWaiting)
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
    const { now } = this.#parts
    const { account } = submission
    return new Promise((resolve, reject) => {
      // The submission may still be stored later. A client may repeat the request: the idempotency key prevents a second one.
      const late = () => reject(overloaded(LATE))
      const timer = setTimeout(late, Math.max(0, context.deadlineMs - now()))
      const dropped = this.#queue.push(account, { submission, context, resolve, reject, timer })
      if (dropped !== undefined) refuse(dropped, FULL)
      if (!this.#isStoring) void this.#storeAll()
    })
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true
    await Promise.resolve() // so that requests of the same tick are stored together
    while (this.#queue.size > 0) await this.#storeTogether(this.#takeNext())
    this.#isStoring = false
  }

  /** Takes one submission of each account in turn, up to `maxTogether`. */
  #takeNext(): Waiting[] {
    const { maxTogether, now } = this.#parts
    const taken: Waiting[] = []
    while (this.#queue.size > 0 && taken.length < maxTogether) {
      const entry = this.#queue.shift()!
      if (!entry.context.aborted && now() < entry.context.deadlineMs) taken.push(entry)
      else refuse(entry, LATE)
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

function refuse({ timer, reject }: Waiting, detail: string): void {
  clearTimeout(timer)
  reject(overloaded(detail))
}

function overloaded(detail: string): ProblemError {
  return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS })
}
