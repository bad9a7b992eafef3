import { LruCache } from '../../base/weighed-map.ts'
import type { RecordState } from './counters.ts'

/**
 * A bounded cache of values that belong to one state of the records. It is cleared when the state changes, so it never returns
 * outdated values.
 */
export class StateMemory<T> {
  readonly #entries: LruCache<T>
  #state: RecordState = { version: -1, journalPosition: '' }

  /** @param weightOf weight of a value in the unit of `maxWeight`; by default each entry weighs 1 */
  constructor(maxWeight: number, weightOf?: (value: T) => number) {
    this.#entries = new LruCache(maxWeight, weightOf)
  }

  get(state: RecordState, key: string): T | undefined {
    return this.#isSame(state) ? this.#entries.get(key) : undefined
  }

  set(state: RecordState, key: string, value: T): void {
    // A slow query may end with an older state than the one cached meanwhile.
    if (state.version < this.#state.version) return
    if (!this.#isSame(state)) {
      this.#entries.clear()
      this.#state = { version: state.version, journalPosition: state.journalPosition }
    }
    this.#entries.set(key, value)
  }

  #isSame({ version, journalPosition }: RecordState): boolean {
    return version === this.#state.version && journalPosition === this.#state.journalPosition
  }
}
