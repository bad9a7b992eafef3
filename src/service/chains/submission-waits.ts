import type { Submission } from '../../wire/relay-messages.ts'
import type { RequestContext } from '../request.ts'

export interface SubmissionWaitParts {
  /** Reads submissions by id; unknown ids are left out. */
  readonly read: (ids: readonly string[]) => Promise<readonly Submission[]>
  readonly pollMs: number
  /** Number of requests that may wait. A further one gets the current state at once. */
  readonly maxWaiting: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Lets requests wait for the blocks of their submissions. One store query serves all waiting requests. */
export interface SubmissionWaits {
  /**
   * Waits until the submission is in a block or has failed, the time is over, or the client has disconnected.
   *
   * @returns the last known state
   */
  wait(submission: Submission, untilMs: number, context: Pick<RequestContext, 'aborted'>): Promise<Submission>
  /** Ends every wait with the last known state. */
  close(): void
}

interface Waiting {
  last: Submission
  readonly untilMs: number
  readonly context: Pick<RequestContext, 'aborted'>
  readonly resolve: (submission: Submission) => void
}

export function createSubmissionWaits({ read, pollMs, maxWaiting, now }: SubmissionWaitParts): SubmissionWaits {
  const waiting = new Set<Waiting>()
  let isPolling = false
  let isClosed = false
  return {
    wait(submission, untilMs, context) {
      if (isSettled(submission) || isClosed || waiting.size >= maxWaiting) return Promise.resolve(submission)
      return new Promise((resolve) => {
        waiting.add({ last: submission, untilMs, context, resolve })
        if (!isPolling) void poll()
      })
    },
    close() {
      isClosed = true
      for (const entry of waiting) settle(entry)
    },
  }

  async function poll(): Promise<void> {
    isPolling = true
    while (waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      const entries = [...waiting]
      // A failed read is retried at the next poll. Each wait ends in time even if the store never answers.
      const submissions = await read([...new Set(entries.map(({ last }) => last.id))]).catch((): Submission[] => [])
      const byId = new Map(submissions.map((submission) => [submission.id, submission]))
      for (const entry of entries) {
        entry.last = byId.get(entry.last.id) ?? entry.last
        if (isSettled(entry.last) || entry.context.aborted || now() >= entry.untilMs) settle(entry)
      }
    }
    isPolling = false
  }

  function settle(entry: Waiting): void {
    waiting.delete(entry)
    entry.resolve(entry.last)
  }
}

function isSettled({ status }: Submission): boolean {
  return status === 'mined' || status === 'finalized' || status === 'failed'
}
