/** Counts that were found out under one state of the records; all are forgotten when it changes. Bounded. */
export class CountMemory {
  readonly #maxEntries: number
  readonly #counts = new Map<string, number>()
  #version = -1

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(version: number, key: string): number | undefined {
    return version === this.#version ? this.#counts.get(key) : undefined
  }

  set(version: number, key: string, count: number): void {
    if (version !== this.#version) {
      this.#counts.clear()
      this.#version = version
    }
    if (this.#counts.size >= this.#maxEntries) this.#counts.delete(this.#counts.keys().next().value!)
    this.#counts.set(key, count)
  }
}
