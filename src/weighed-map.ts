/** What is worth keeping, up to a weight: the entry used longest ago goes first. */
export class WeighedMap<T> {
  readonly #maxWeight: number
  readonly #weightOf: (value: T, key: string) => number
  /** In the order of their last use. */
  readonly #entries = new Map<string, T>()
  #weight = 0

  /** @param weightOf in the unit of `maxWeight`; entries unless said otherwise */
  constructor(maxWeight: number, weightOf: (value: T, key: string) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  get(key: string): T | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found
  }

  /** Nothing is kept that alone is beyond the weight. */
  set(key: string, value: T): void {
    this.#remove(key)
    const weight = this.#weightOf(value, key)
    if (weight > this.#maxWeight) return
    this.#entries.set(key, value)
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) break
      this.#remove(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  #remove(key: string): void {
    const gone = this.#entries.get(key)
    if (gone === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weightOf(gone, key)
  }
}
