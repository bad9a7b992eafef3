import { type StoreEngine, StoreFault } from '../wire/store-messages.ts'

/** Why a store is not open: it is opening, it cannot be reached or opened (`away`), or its files are damaged. */
export type StoreCondition = 'opening' | 'away' | 'damaged'

/** The state of the store as its last message described it. */
export type StoreState =
  | { readonly isOpen: true; readonly engine: StoreEngine; readonly version: string }
  | {
      readonly isOpen: false
      readonly engine: StoreEngine
      /** For operators only, because it may name folders. */
      readonly reason: string
      readonly condition: StoreCondition
    }

/** Returns the error for a call while the store is not open. */
export function toStoreFault({ condition, reason }: Extract<StoreState, { isOpen: false }>): StoreFault {
  return new StoreFault(condition === 'away' ? 'unavailable' : condition, reason)
}

/** The state of the store, and the requests that wait for it to open. */
export class StoreStateTracker {
  #state: StoreState
  readonly #maxWaiting: number
  readonly #waiters = new Set<() => void>()

  /** @param maxWaiting the most requests that may wait at a time */
  constructor(state: StoreState, maxWaiting: number) {
    this.#state = state
    this.#maxWaiting = maxWaiting
  }

  get state(): StoreState {
    return this.#state
  }

  /**
   * Sets the state. Unless the store is still opening, waiting requests continue; each then gets a reply or the reason
   * for none.
   */
  set(state: StoreState): void {
    this.#state = state
    if (!this.#isOpening) for (const end of [...this.#waiters]) end()
  }

  /**
   * Waits for a store that is opening. Does not wait for a store that is open, away or damaged.
   *
   * @param deadlineMs since the epoch
   * @returns undefined when there is nothing to wait for; otherwise a promise, which rejects with a {StoreFault}
   *   `opening` when the deadline passes
   * @throws {StoreFault} `opening` when too many requests are already waiting
   */
  untilOpen(deadlineMs: number): Promise<void> | undefined {
    if (!this.#isOpening) return undefined
    if (this.#waiters.size >= this.#maxWaiting) throw this.#fault()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiters.delete(end)
        if (this.#isOpening) reject(this.#fault())
        else resolve()
      }
      const timer = setTimeout(end, Math.max(0, deadlineMs - Date.now()))
      this.#waiters.add(end)
    })
  }

  get #isOpening(): boolean {
    return !this.#state.isOpen && this.#state.condition === 'opening'
  }

  #fault(): StoreFault {
    return new StoreFault('opening', this.#state.isOpen ? '' : this.#state.reason)
  }
}
