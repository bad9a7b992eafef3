/** Who an item is for: an API key, or an address. Items for no client in particular share one turn. */
export type QueueClient = number | string | undefined

/**
 * A bounded queue that serves clients in turn, and the items of one client in order of arrival. When it is full, the client with
 * the most items loses its newest one, so a client that fills the queue cannot keep another one out.
 */
export class FairQueue<Item> {
  readonly #maxItems: number
  /** Clients with waiting items, the one whose turn is next first. */
  readonly #lines = new Map<QueueClient, Item[]>()
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
   * @returns the item that has no place: the given one, or the newest of the client with the most; undefined if all have one
   */
  push(client: QueueClient, item: Item): Item | undefined {
    const line = this.#lines.get(client)
    const dropped = this.isFull ? this.#dropFor(line?.length ?? 0, item) : undefined
    if (dropped === item) return item
    // Looked up again, because the dropped item may have been the last one of this client.
    const current = this.#lines.get(client)
    if (current === undefined) this.#lines.set(client, [item])
    else current.push(item)
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
    for (const [client, line] of this.#lines) {
      if (canServe !== undefined && !canServe(client)) continue
      const item = line.shift()
      if (line.length === 0 || this.#lines.size > 1) this.#lines.delete(client)
      if (line.length > 0) this.#lines.set(client, line)
      this.#size--
      return item
    }
    return undefined
  }

  /** Returns how many of the waiting items are served before a new one of this client. */
  countAhead(client: QueueClient): number {
    const own = this.#lines.get(client)?.length ?? 0
    let ahead = own
    for (const [other, line] of this.#lines) if (other !== client) ahead += Math.min(line.length, own + 1)
    return ahead
  }

  /** Takes an item out of its place. Does nothing if it is not waiting. */
  remove(client: QueueClient, item: Item): void {
    const line = this.#lines.get(client)
    const index = line?.indexOf(item) ?? -1
    if (line === undefined || index < 0) return
    line.splice(index, 1)
    if (line.length === 0) this.#lines.delete(client)
    this.#size--
  }

  /** Takes out the items for which a test holds. */
  removeAll(test: (item: Item) => boolean): Item[] {
    const removed: Item[] = []
    for (const [client, line] of [...this.#lines]) {
      const kept: Item[] = []
      for (const item of line) (test(item) ? removed : kept).push(item)
      if (kept.length === 0) this.#lines.delete(client)
      else this.#lines.set(client, kept)
    }
    this.#size -= removed.length
    return removed
  }

  /** Takes out all items. */
  clear(): Item[] {
    const items = [...this.#lines.values()].flat()
    this.#lines.clear()
    this.#size = 0
    return items
  }

  /** Returns the item that gives way to a new one, whose client has `ownItems` items: the new one, or one of the longest line. */
  #dropFor(ownItems: number, item: Item): Item {
    let longest: Item[] = []
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line
    if (longest.length <= ownItems + 1) return item
    this.#size--
    return longest.pop()!
  }
}
