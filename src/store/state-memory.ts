import { WeighedMap } from '../weighed-map.ts'
import type { RecordState } from './counters.ts'

/**
 * What was found out under one state of the records; all of it is forgotten when the state changes, so nothing here is ever
 * out of date. Bounded.
 */
export class StateMemory<T> {
  readonly #entries: WeighedMap<T>
  #state: RecordState = { version: -1, place: '' }

  /** @param weightOf in the unit of `maxWeight`; entries unless said otherwise */
  constructor(maxWeight: number, weightOf?: (value: T) => number) {
    this.#entries = new WeighedMap(maxWeight, weightOf)
  }

  get(state: RecordState, key: string): T | undefined {
    return this.#isSame(state) ? this.#entries.get(key) : undefined
  }

  set(state: RecordState, key: string, value: T): void {
    // A question that took long may come back with an older state than what others found out meanwhile.
    if (state.version < this.#state.version) return
    if (!this.#isSame(state)) {
      this.#entries.clear()
      this.#state = { version: state.version, place: state.place }
    }
    this.#entries.set(key, value)
  }

  #isSame({ version, place }: RecordState): boolean {
    return version === this.#state.version && place === this.#state.place
  }
}
