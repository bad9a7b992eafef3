import { type StoreEngine, StoreFault } from '../store-messages.ts'

/** Why a store is not open: it is opening, cannot be reached or opened, or its files are damaged. */
export type StoreCondition = 'opening' | 'away' | 'damaged'

export type StoreState =
  | { readonly isOpen: true; readonly engine: StoreEngine; readonly version: string }
  | {
      readonly isOpen: false
      readonly engine: StoreEngine
      /** For the operator; it may name folders. */
      readonly reason: string
      readonly condition: StoreCondition
    }

export function faultOfState({ condition, reason }: Extract<StoreState, { isOpen: false }>): StoreFault {
  return new StoreFault(condition === 'away' ? 'unavailable' : condition, reason)
}

/** The state of the store, and the requests that wait while it opens. */
export class StoreStanding {
  #state: StoreState
  readonly #maxWaiting: number
  readonly #waiting = new Set<() => void>()

  /** @param maxWaiting requests that wait at one time */
  constructor(state: StoreState, maxWaiting: number) {
    this.#state = state
    this.#maxWaiting = maxWaiting
  }

  get state(): StoreState {
    return this.#state
  }

  /** Requests that wait go on unless the store is still opening: they ask it, and get an answer or the reason. */
  set(state: StoreState): void {
    this.#state = state
    if (!this.#isOpening) for (const end of [...this.#waiting]) end()
  }

  /**
   * Waits for a store that is opening; one that is open, away or damaged is not waited for.
   *
   * @param deadlineMs since the epoch
   * @returns undefined when there is nothing to wait for; else a promise that rejects with a {StoreFault} `opening` when the wait is over
   * @throws {StoreFault} `opening` when too many wait already
   */
  untilOpen(deadlineMs: number): Promise<void> | undefined {
    if (!this.#isOpening) return undefined
    if (this.#waiting.size >= this.#maxWaiting) throw this.#fault()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        if (this.#isOpening) reject(this.#fault())
        else resolve()
      }
      const timer = setTimeout(end, Math.max(0, deadlineMs - Date.now()))
      this.#waiting.add(end)
    })
  }

  get #isOpening(): boolean {
    return !this.#state.isOpen && this.#state.condition === 'opening'
  }

  #fault(): StoreFault {
    return new StoreFault('opening', this.#state.isOpen ? '' : this.#state.reason)
  }
}
