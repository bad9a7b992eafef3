import type { QueueClient } from './fair-queue.ts'

/** How much of something each client holds now. Clients that hold nothing take no memory. */
export class ClientCounts {
  readonly #counts = new Map<QueueClient, number>()

  of(client: QueueClient): number {
    return this.#counts.get(client) ?? 0
  }

  add(client: QueueClient): void {
    this.#counts.set(client, this.of(client) + 1)
  }

  /** Does nothing for a client that holds nothing. */
  remove(client: QueueClient): void {
    const count = this.of(client) - 1
    if (count > 0) this.#counts.set(client, count)
    else this.#counts.delete(client)
  }
}
