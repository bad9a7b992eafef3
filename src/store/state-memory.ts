/**
 * What was found out under one state of the records; all of it is forgotten when the state changes, so nothing here is ever
 * out of date. Bounded.
 */
export class StateMemory<T> {
  readonly #maxWeight: number
  readonly #weightOf: (value: T) => number
  readonly #entries = new Map<string, T>()
  #version = -1
  #weight = 0

  /** @param weightOf in the unit of `maxWeight`; entries unless said otherwise */
  constructor(maxWeight: number, weightOf: (value: T) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  get(version: number, key: string): T | undefined {
    return version === this.#version ? this.#entries.get(key) : undefined
  }

  set(version: number, key: string, value: T): void {
    // A question that took long may come back with an older state than what others found out meanwhile.
    if (version < this.#version) return
    if (version > this.#version) {
      this.#entries.clear()
      this.#weight = 0
      this.#version = version
    }
    const weight = this.#weightOf(value)
    if (weight > this.#maxWeight || this.#entries.has(key)) return
    this.#entries.set(key, value)
    this.#weight += weight
    for (const [oldest, gone] of this.#entries) {
      if (this.#weight <= this.#maxWeight) break
      this.#entries.delete(oldest)
      this.#weight -= this.#weightOf(gone)
    }
  }
}
