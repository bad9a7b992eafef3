import type { Submission } from '../../wire/relay-messages.ts'

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
