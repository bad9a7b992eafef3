import { ClientCounts } from '../base/client-counts.ts'
import { FairQueue, type QueueClient } from '../base/fair-queue.ts'

interface WaitingTask {
  readonly client: QueueClient
  readonly start: () => void
}

/**
 * Runs a bounded number of tasks at a time. The others wait: clients are served in turn, and the tasks of one client in order of
 * arrival. The caller bounds how many tasks wait.
 */
export class Gate {
  readonly #width: number
  readonly #share: number
  #running = 0
  readonly #perClient = new ClientCounts()
  readonly #waiting = new FairQueue<WaitingTask>(Number.POSITIVE_INFINITY)

  /** @param share the most tasks of one client that run at a time, so that a slot is left to the others */
  constructor(width: number, share = width) {
    this.#width = width
    this.#share = share
  }

  /** Returns how many tasks of a client wait. */
  waiting(client: QueueClient): number {
    return this.#waiting.count(client)
  }

  async run<T>(client: QueueClient, task: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.push(client, { client, start })
      this.#startNext()
    })
    try {
      return await task()
    } finally {
      this.#running--
      this.#perClient.remove(client)
      this.#startNext()
    }
  }

  #startNext(): void {
    while (this.#running < this.#width) {
      const next = this.#waiting.shift((client) => this.#perClient.of(client) < this.#share)
      if (next === undefined) return
      this.#running++
      this.#perClient.add(next.client)
      next.start()
    }
  }
}
