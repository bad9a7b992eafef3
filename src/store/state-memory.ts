import { WeighedMap } from '../weighed-map.ts'

/**
 * What was found out under one state of the records; all of it is forgotten when the state changes, so nothing here is ever
 * out of date. Bounded.
 */
export class StateMemory<T> {
  readonly #entries: WeighedMap<T>
  #version = -1

  /** @param weightOf in the unit of `maxWeight`; entries unless said otherwise */
  constructor(maxWeight: number, weightOf?: (value: T) => number) {
    this.#entries = new WeighedMap(maxWeight, weightOf)
  }

  get(version: number, key: string): T | undefined {
    return version === this.#version ? this.#entries.get(key) : undefined
  }

  set(version: number, key: string, value: T): void {
    // A question that took long may come back with an older state than what others found out meanwhile.
    if (version < this.#version) return
    if (version > this.#version) {
      this.#entries.clear()
      this.#version = version
    }
    this.#entries.set(key, value)
  }
}
