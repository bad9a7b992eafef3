/** A cache of entries up to a total weight. It evicts the least recently used entry first. */
export class LruCache<T> {
  readonly #maxWeight: number
  readonly #weightOf: (value: T, key: string) => number
  /** In the order of their last use, oldest first. */
  readonly #entries = new Map<string, T>()
  #weight = 0

  /**
   * @param weightOf returns the weight of an entry, in the unit of `maxWeight`; by default, `maxWeight` is a number of entries
   */
  constructor(maxWeight: number, weightOf: (value: T, key: string) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** Replaces the entry of this key. An entry that is heavier than the maximum weight is not stored. */
  set(key: string, value: T): void {
    this.delete(key)
    const weight = this.#weightOf(value, key)
    if (weight > this.#maxWeight) return
    this.#entries.set(key, value)
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const removed = this.#entries.get(key)
    if (removed === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weightOf(removed, key)
  }
}
