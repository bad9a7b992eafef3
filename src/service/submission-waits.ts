import type { Submission } from '../relay-messages.ts'
import type { RequestContext } from './services.ts'

export interface SubmissionWaitParts {
  /** Those of the ids that exist. */
  readonly read: (ids: readonly string[]) => Promise<readonly Submission[]>
  readonly pollMs: number
  /** Requests that wait; beyond it the answer is what is known now. */
  readonly maxWaiting: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Requests that wait for the blocks of their submissions: all of them ask the store with one question. */
export interface SubmissionWaits {
  /** @returns the submission in a block or failed, or as it was last seen when the time is over or nobody waits any more */
  wait(submission: Submission, untilMs: number, context: Pick<RequestContext, 'aborted'>): Promise<Submission>
  /** Everybody is told what is known now; nobody waits any more. */
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
  let isLooking = false
  let isClosed = false
  return {
    wait(submission, untilMs, context) {
      if (isOver(submission) || isClosed || waiting.size >= maxWaiting) return Promise.resolve(submission)
      return new Promise((resolve) => {
        waiting.add({ last: submission, untilMs, context, resolve })
        if (!isLooking) void look()
      })
    },
    close() {
      isClosed = true
      for (const entry of waiting) settle(entry)
    },
  }

  async function look(): Promise<void> {
    isLooking = true
    while (waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      const entries = [...waiting]
      // What the store does not answer now it may answer next time; the wait has its end anyway.
      const found = await read([...new Set(entries.map(({ last }) => last.id))]).catch((): Submission[] => [])
      const byId = new Map(found.map((submission) => [submission.id, submission]))
      for (const entry of entries) {
        entry.last = byId.get(entry.last.id) ?? entry.last
        if (isOver(entry.last) || entry.context.aborted || now() >= entry.untilMs) settle(entry)
      }
    }
    isLooking = false
  }

  function settle(entry: Waiting): void {
    waiting.delete(entry)
    entry.resolve(entry.last)
  }
}

function isOver({ status }: Submission): boolean {
  return status === 'mined' || status === 'finalized' || status === 'failed'
}
