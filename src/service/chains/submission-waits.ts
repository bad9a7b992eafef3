import { ClientCounts } from '../../base/client-counts.ts'
import type { Submission } from '../../wire/relay-messages.ts'
import type { RequestContext } from '../request.ts'
import { isSettled, submissionJson } from './submission-state.ts'

interface SubmissionWaitParts {
  /** Reads submissions by id; unknown ids are left out. */
  readonly read: (ids: readonly string[]) => Promise<readonly Submission[]>
  readonly pollMs: number
  /** Number of requests that may wait for a block. A further one gets the current state at once. */
  readonly maxWaiting: number
  /** How many of these one client may have: it may repeat a request without storing more submissions. */
  readonly maxWaitingPerClient: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type WaitContext = Pick<RequestContext, 'aborted' | 'client'>

interface Waiting {
  last: Submission
  readonly isAwaited: (submission: Submission) => boolean
  readonly untilMs: number
  readonly context: WaitContext
  readonly resolve: (submission: Submission) => void
}

/** Lets requests wait for the blocks of their submissions, and streams for any change. One store query serves all of them. */
export class SubmissionWaits {
  readonly #parts: SubmissionWaitParts
  readonly #waiting = new Set<Waiting>()
  #requests = 0
  readonly #requestsPerClient = new ClientCounts()
  #isPolling = false
  #isClosed = false

  constructor(parts: SubmissionWaitParts) {
    this.#parts = parts
  }

  /**
   * Waits until the submission is in a block or has failed, the time is over, or the client has disconnected.
   *
   * @returns the last known state
   */
  async wait(submission: Submission, untilMs: number, context: WaitContext): Promise<Submission> {
    const { maxWaiting, maxWaitingPerClient } = this.#parts
    const { client } = context
    const isFull = this.#requests >= maxWaiting || this.#requestsPerClient.of(client) >= maxWaitingPerClient
    if (isSettled(submission) || isFull) return submission
    this.#requests++
    this.#requestsPerClient.add(client)
    try {
      return await this.#wait({ last: submission, isAwaited: isSettled, untilMs, context })
    } finally {
      this.#requests--
      this.#requestsPerClient.remove(client)
    }
  }

  /**
   * Waits until the state of the submission differs from the given one, the time is over, or the client has disconnected. The caller
   * limits the number of these waits.
   *
   * @returns the last known state
   */
  change(submission: Submission, untilMs: number, context: WaitContext): Promise<Submission> {
    const known = JSON.stringify(submissionJson(submission))
    const isAwaited = (next: Submission) => JSON.stringify(submissionJson(next)) !== known
    return this.#wait({ last: submission, isAwaited, untilMs, context })
  }

  async #wait(entry: Omit<Waiting, 'resolve'>): Promise<Submission> {
    if (this.#isClosed) return entry.last
    return new Promise((resolve) => {
      this.#waiting.add({ ...entry, resolve })
      if (!this.#isPolling) void this.#poll()
    })
  }

  /** True once the service stops. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Ends the waits of a client that has disconnected, even while the store does not answer. */
  leave(context: WaitContext): void {
    for (const entry of this.#waiting) if (entry.context === context) this.#settle(entry)
  }

  /** Ends every wait with the last known state. */
  close(): void {
    this.#isClosed = true
    for (const entry of this.#waiting) this.#settle(entry)
  }

  async #poll(): Promise<void> {
    const { read, pollMs, now } = this.#parts
    this.#isPolling = true
    while (this.#waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      const entries = [...this.#waiting]
      // A failed read is retried at the next poll. Each wait ends in time even if the store never answers.
      const submissions = await read([...new Set(entries.map(({ last }) => last.id))]).catch((): Submission[] => [])
      const byId = new Map(submissions.map((submission) => [submission.id, submission]))
      for (const entry of entries) {
        entry.last = byId.get(entry.last.id) ?? entry.last
        if (entry.isAwaited(entry.last) || entry.context.aborted || now() >= entry.untilMs) this.#settle(entry)
      }
    }
    this.#isPolling = false
  }

  #settle(entry: Waiting): void {
    this.#waiting.delete(entry)
    entry.resolve(entry.last)
  }
}

/**
 * Reads submissions one at a time for many clients with few queries: ids that arrive while a query runs are read together by the next one.
 * When a process stops, the clients of all its streams reconnect at the same time; a query for each would overfill the queue of the store.
 */
export class JoinedReads {
  readonly #read: (ids: readonly string[]) => Promise<readonly Submission[]>
  /** The query that has not begun. */
  #next: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, Submission>> } | undefined
  /** Resolves when no query runs. */
  #idle: Promise<unknown> = Promise.resolve()

  /** @param read unknown ids are left out */
  constructor(read: (ids: readonly string[]) => Promise<readonly Submission[]>) {
    this.#read = read
  }

  /** Returns undefined for an unknown id. Rejects as the query does. */
  async find(id: string): Promise<Submission | undefined> {
    this.#next ??= this.#begin()
    const { ids, found } = this.#next
    ids.add(id)
    return (await found).get(id)
  }

  #begin() {
    const ids = new Set<string>()
    const found = this.#idle.then(async () => {
      this.#next = undefined
      const submissions = await this.#read([...ids])
      return new Map(submissions.map((submission) => [submission.id, submission]))
    })
    this.#idle = found.catch(() => {})
    return { ids, found }
  }
}
