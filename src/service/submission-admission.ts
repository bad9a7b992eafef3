import { ProblemError } from '../problem.ts'
import type { NewSubmission, SubmitOutcome } from '../relay-messages.ts'
import { StoreFault } from '../store-messages.ts'
import type { RequestContext } from './services.ts'

export interface SubmissionAdmissionParts {
  /** Stores submissions in one transaction. Outcomes in the order of the submissions. */
  readonly store: (submissions: readonly NewSubmission[]) => Promise<readonly SubmitOutcome[]>
  /** Submissions that wait to be stored; beyond it the answer is 503. */
  readonly maxWaiting: number
  /** Submissions of one transaction. */
  readonly maxTogether: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Submissions that wait to be stored. One transaction of this process is under way at a time and takes all that wait, up to
 * `maxTogether`: all processes of a deployment store under one lock, which a burst would otherwise take once for each submission.
 */
export interface SubmissionAdmission {
  /**
   * @throws {ProblemError} `overloaded` when too many wait, or when the request's time is over
   * @throws {StoreFault}
   */
  admit(submission: NewSubmission, context: Pick<RequestContext, 'deadlineMs' | 'aborted'>): Promise<SubmitOutcome>
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

export function createSubmissionAdmission(parts: SubmissionAdmissionParts): SubmissionAdmission {
  const { store, maxWaiting, maxTogether, now } = parts
  /** By account, so that each of them has its turn. */
  const queues = new Map<string, Waiting[]>()
  let size = 0
  let isStoring = false

  return {
    admit(submission, context) {
      if (size >= maxWaiting) return Promise.reject(overloaded('too many submissions wait to be stored'))
      return new Promise((resolve, reject) => {
        // A submission that is being stored may be stored all the same: sent again, it is the same one.
        const late = () => reject(overloaded(LATE))
        const timer = setTimeout(late, Math.max(0, context.deadlineMs - now()))
        const queue = queues.get(submission.account)
        const entry: Waiting = { submission, context, resolve, reject, timer }
        if (queue === undefined) queues.set(submission.account, [entry])
        else queue.push(entry)
        size++
        if (!isStoring) void storeAll()
      })
    },
  }

  async function storeAll(): Promise<void> {
    isStoring = true
    await Promise.resolve() // requests of the same tick go together
    while (size > 0) await storeTogether(takeNext())
    isStoring = false
  }

  /** One of each account in turn, until there are enough. */
  function takeNext(): Waiting[] {
    const taken: Waiting[] = []
    while (size > 0 && taken.length < maxTogether) {
      const [account, queue] = queues.entries().next().value!
      const entry = queue.shift()!
      size--
      // To the end of the round.
      queues.delete(account)
      if (queue.length > 0) queues.set(account, queue)
      if (!entry.context.aborted && now() < entry.context.deadlineMs) {
        taken.push(entry)
        continue
      }
      clearTimeout(entry.timer)
      entry.reject(overloaded(LATE))
    }
    return taken
  }

  async function storeTogether(entries: readonly Waiting[]): Promise<void> {
    if (entries.length === 0) return
    try {
      const outcomes = await store(entries.map(({ submission }) => submission))
      for (const [index, entry] of entries.entries()) {
        clearTimeout(entry.timer)
        entry.resolve(outcomes[index]!)
      }
    } catch (error) {
      if (entries.length > 1 && error instanceof StoreFault && error.kind === 'refused') {
        // One of them is to blame; the others must not fail with it.
        for (const entry of entries) await storeTogether([entry])
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
