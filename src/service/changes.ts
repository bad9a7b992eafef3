import { FailureLog, type Log } from '../base/log.ts'
import type { StoreClient } from '../threads/store-client.ts'
import { reasonOf } from '../wire/store-messages.ts'

export interface ChangesParts {
  readonly store: Pick<StoreClient, 'state'>
  readonly log: Log
  readonly pollMs: number
  /** What changes, for the log: `API keys`. */
  readonly name: string
  /**
   * Reads and applies the changes after a number.
   *
   * @param after 0 for all
   * @returns the number of the newest change
   */
  readonly read: (after: number) => Promise<number>
}

/** Asks the database at short intervals for changes that other processes and nodes have made. What is known stays valid if it fails. */
export class Changes {
  readonly #parts: ChangesParts
  #number = 0
  #polling: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  readonly #reading: FailureLog
  #timer: NodeJS.Timeout | undefined

  constructor(parts: ChangesParts) {
    this.#parts = parts
    this.#reading = new FailureLog(parts.log, {
      begin: `cannot read ${parts.name} of the database, keeping the known ones`,
      end: `${parts.name} of the database are read again`,
    })
  }

  /** Begins to ask. Call `close` at the end. */
  follow(): void {
    this.#timer = setInterval(() => void this.#poll(), this.#parts.pollMs)
    this.#timer.unref()
    void this.#poll()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /**
   * Reads the changes that are in the store when it is called. Callers share a read.
   *
   * @returns false if the store cannot be read
   */
  refresh(): Promise<boolean> {
    // A read that is under way may have begun before a change.
    this.#next ??= (this.#polling ?? Promise.resolve(true)).then(() => {
      this.#next = undefined
      return this.#poll()
    })
    return this.#next
  }

  #poll(): Promise<boolean> {
    this.#polling ??= this.#read().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #read(): Promise<boolean> {
    const { store, read } = this.#parts
    if (!store.state.isOpen) return false
    try {
      this.#number = await read(this.#number)
      this.#reading.succeeded()
      return true
    } catch (error) {
      this.#reading.failed(reasonOf(error))
      return false
    }
  }
}
