import { FailureLog, type Log } from '../../base/log.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { KeyChange, KeyChangeOutcome, KeyUpdate, ListedKey } from '../../wire/key-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'
import type { KeyRepository } from './keys.ts'

/** The hashes of keys that were used, and when they were used. */
export type KeyUses = readonly { readonly sha256: string; readonly atMs: number }[]

export interface KeyTableParts {
  readonly store: Pick<StoreClient, 'ask' | 'state'>
  readonly log: Log
  readonly pollMs: number
  readonly maxKeys: number
  /** Longest time that one operation of the database may take. */
  readonly answerMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Interval at which the last use of keys is stored. */
const USE_INTERVAL_MS = 30_000

/**
 * API keys in the PostgreSQL database that several nodes share. Each node asks for changes at short intervals, so that every
 * node rejects a revoked key within a second. While the database is unavailable, the known keys stay valid.
 */
export class KeyTable implements KeyRepository {
  readonly #parts: KeyTableParts
  #number = 0
  #polling: Promise<void> | undefined
  readonly #reading: FailureLog
  readonly #storingUses: FailureLog
  readonly #timers: NodeJS.Timeout[] = []
  #onUpdate: (update: KeyUpdate) => void = () => {}
  /** When keys were used, by their hash, until that is stored. */
  readonly #uses = new Map<string, number>()

  constructor(parts: KeyTableParts) {
    this.#parts = parts
    this.#reading = new FailureLog(parts.log, {
      begin: 'cannot read API keys of the database, keeping the known ones',
      end: 'API keys of the database are read again',
    })
    this.#storingUses = new FailureLog(parts.log, {
      begin: 'cannot store when API keys were used; trying again later',
      end: 'when API keys were used is stored again',
    })
  }

  /**
   * Begins to follow the keys.
   *
   * @param onUpdate called with all keys first, then with each change
   * @param takeUses returns the keys that were used since its last call
   */
  follow(onUpdate: (update: KeyUpdate) => void, takeUses: () => KeyUses): void {
    this.#onUpdate = onUpdate
    this.#timers.push(setInterval(() => void this.#poll(), this.#parts.pollMs))
    this.#timers.push(setInterval(() => void this.#storeUses(takeUses()), USE_INTERVAL_MS))
    for (const timer of this.#timers) timer.unref()
    void this.#poll()
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  list(owner?: string): Promise<readonly ListedKey[]> {
    const of = owner === undefined ? undefined : { owner }
    return this.#parts.store.ask('listKeys', of, this.#deadlineMs())
  }

  async change(change: KeyChange): Promise<KeyChangeOutcome> {
    const { store, maxKeys } = this.#parts
    const outcome = await store.ask('changeKeys', { ...change, maxKeys }, this.#deadlineMs())
    // A poll that is under way may have read before the change.
    await this.#polling
    await this.#poll()
    return outcome
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#readChanges().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #readChanges(): Promise<void> {
    const { store } = this.#parts
    if (!store.state.isOpen) return
    try {
      const { number, ...update } = await store.ask('changedKeys', { after: this.#number }, this.#deadlineMs())
      const isFirst = this.#number === 0
      if (update.isWhole || isFirst || update.put.length > 0 || update.revoked.length > 0)
        this.#onUpdate({ ...update, isWhole: update.isWhole || isFirst })
      this.#number = number
      this.#reading.succeeded()
    } catch (error) {
      this.#reading.failed(reasonOf(error))
    }
  }

  /** Stores when keys were used. What cannot be stored is stored with the next call. */
  async #storeUses(uses: KeyUses): Promise<void> {
    const { store } = this.#parts
    for (const { sha256, atMs } of uses) this.#uses.set(sha256, atMs)
    if (this.#uses.size === 0 || !store.state.isOpen) return
    const pending = [...this.#uses].map(([sha256, atMs]) => ({ sha256, atMs }))
    try {
      await store.ask('noteKeyUse', pending, this.#deadlineMs())
      for (const { sha256, atMs } of pending) if (this.#uses.get(sha256) === atMs) this.#uses.delete(sha256)
      this.#storingUses.succeeded()
    } catch (error) {
      this.#storingUses.failed(reasonOf(error))
    }
  }

  #deadlineMs(): number {
    return this.#parts.now() + this.#parts.answerMs
  }
}

function reasonOf(error: unknown): { readonly reason: string } {
  return { reason: error instanceof StoreFault ? `${error.kind}: ${error.message}` : String(error) }
}
