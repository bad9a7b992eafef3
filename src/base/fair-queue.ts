/** The client of an item: an API key or an address. Items without a client share one turn. */
export type QueueClient = number | string | undefined

/** Clients whose debts are kept. Those that were charged longest ago lose theirs. */
const MAX_DEBTORS = 1024

/**
 * A bounded queue that serves clients in turn, and the items of one client in order of arrival. When it is full, the client with
 * the most items loses its newest one, so a client that fills the queue cannot keep another one out.
 *
 * Where items differ in their cost, the caller charges it with `charge`. A client that owes more than another one then loses its turn
 * to that one, so that clients get the same share of the time and not of the turns (start-time fair queueing, Goyal et al. 1996).
 */
export class FairQueue<Item> {
  readonly #maxItems: number
  /** Waiting items by client, in the order of the clients' turns. */
  readonly #lines = new Map<QueueClient, Item[]>()
  /** The cost that a client waiting all the time would have been charged by now. */
  #paid = 0
  /** What each client has been charged, on the same scale: those above `#paid` owe the difference. In the order of the last charges. */
  readonly #charged = new Map<QueueClient, number>()
  #size = 0

  /** @param maxItems the most items of all clients together */
  constructor(maxItems: number) {
    this.#maxItems = maxItems
  }

  /** The number of waiting items. */
  get size(): number {
    return this.#size
  }

  get isFull(): boolean {
    return this.#size >= this.#maxItems
  }

  /** The item that is served next; undefined if the queue is empty. */
  get first(): Item | undefined {
    for (const line of this.#lines.values()) return line[0]
    return undefined
  }

  /**
   * Adds an item as the last of its client.
   *
   * @returns the item that was dropped: the given one, or the newest of the client with the most; undefined if none was
   */
  push(client: QueueClient, item: Item): Item | undefined {
    const dropped = this.isFull ? this.#dropFor(this.count(client), item) : undefined
    if (dropped === item) return item
    // Looked up only now, because the dropped item may have been the last one of this client.
    const line = this.#lines.get(client)
    if (line === undefined) this.#lines.set(client, [item])
    else line.push(item)
    this.#size++
    return dropped
  }

  /**
   * Takes the next item, and gives the next turn to the next client.
   *
   * @param canServe returns false for a client that has to wait although its turn has come; it keeps its turn
   * @returns undefined if there is no item, or if every client with one has to wait
   */
  shift(canServe?: (client: QueueClient) => boolean): Item | undefined {
    const next = this.#next(canServe)
    if (next === undefined) return undefined
    const { client, line } = next
    // Time passes for all others too: what they owe becomes less.
    this.#paid = Math.max(this.#paid, this.#charged.get(client) ?? 0)
    const item = line.shift()
    if (line.length === 0 || this.#lines.size > 1) this.#lines.delete(client)
    if (line.length > 0) this.#lines.set(client, line)
    this.#size--
    return item
  }

  /** Charges a client for an item that was served, in any unit that is the same for all. */
  charge(client: QueueClient, cost: number): void {
    const charged = Math.max(this.#paid, this.#charged.get(client) ?? 0) + cost
    this.#charged.delete(client)
    this.#charged.set(client, charged)
    const [oldest] = this.#charged.keys()
    if (this.#charged.size > MAX_DEBTORS) this.#charged.delete(oldest)
  }

  /** Returns how many items of a client are waiting. */
  count(client: QueueClient): number {
    return this.#lines.get(client)?.length ?? 0
  }

  /** Returns how many of the waiting items are served before a new one of this client, if no client owes anything. */
  countAhead(client: QueueClient): number {
    const own = this.count(client)
    let ahead = own
    for (const [other, line] of this.#lines) if (other !== client) ahead += Math.min(line.length, own + 1)
    return ahead
  }

  /** Returns how much more than its share a client has been charged: 0 or more. */
  owedBy(client: QueueClient): number {
    return Math.max(0, (this.#charged.get(client) ?? 0) - this.#paid)
  }

  /** Removes an item. Does nothing if it is not waiting. */
  remove(client: QueueClient, item: Item): void {
    const line = this.#lines.get(client)
    const index = line?.indexOf(item) ?? -1
    if (line === undefined || index < 0) return
    line.splice(index, 1)
    if (line.length === 0) this.#lines.delete(client)
    this.#size--
  }

  /** Removes the items that pass a test, and returns them. */
  removeAll(test: (item: Item) => boolean): Item[] {
    const removed: Item[] = []
    for (const [client, line] of [...this.#lines]) {
      const remaining: Item[] = []
      for (const item of line) (test(item) ? removed : remaining).push(item)
      if (remaining.length === 0) this.#lines.delete(client)
      else this.#lines.set(client, remaining)
    }
    this.#size -= removed.length
    return removed
  }

  /** Removes all items, and returns them. */
  clear(): Item[] {
    const items = [...this.#lines.values()].flat()
    this.#lines.clear()
    this.#size = 0
    return items
  }

  /** Returns the client that is served next: the one that owes least, and of those that owe the same, the one whose turn comes first. */
  #next(canServe?: (client: QueueClient) => boolean): { client: QueueClient; line: Item[] } | undefined {
    let next: { client: QueueClient; line: Item[] } | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [client, line] of this.#lines) {
      if (canServe !== undefined && !canServe(client)) continue
      const owed = this.owedBy(client)
      if (owed >= least) continue
      next = { client, line }
      least = owed
      if (owed === 0) break
    }
    return next
  }

  /** Returns the item to drop from a full queue: the new one, whose client has `ownItems` items, or the last of the longest line. */
  #dropFor(ownItems: number, item: Item): Item {
    let longest: Item[] = []
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line
    if (longest.length <= ownItems + 1) return item
    this.#size--
    return longest.pop()!
  }
}
