import { FailureLog, type Log } from '../../base/log.ts'
import type { StoreCaller, StoreClient } from '../../threads/store-client.ts'
import type { KeyChange, KeyChangeOutcome, KeyUpdate, ListedKey } from '../../wire/key-messages.ts'
import { reasonOf } from '../../wire/store-messages.ts'
import { Changes } from '../changes.ts'
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
  readonly #changes: Changes
  readonly #storingUses: FailureLog
  #isKnown = false
  #useTimer: NodeJS.Timeout | undefined
  #onUpdate: (update: KeyUpdate) => void = () => {}
  /** When keys were used, by their hash, until that is stored. */
  readonly #uses = new Map<string, number>()

  constructor(parts: KeyTableParts) {
    this.#parts = parts
    const { store, log, pollMs } = parts
    this.#changes = new Changes({ store, log, pollMs, name: 'API keys', read: (after) => this.#readChanges(after) })
    this.#storingUses = new FailureLog(log, {
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
    this.#useTimer = setInterval(() => void this.#storeUses(takeUses()), USE_INTERVAL_MS)
    this.#useTimer.unref()
    this.#changes.follow()
  }

  close(): void {
    clearInterval(this.#useTimer)
    this.#changes.close()
  }

  list(owner?: string, caller?: StoreCaller): Promise<readonly ListedKey[]> {
    const of = owner === undefined ? undefined : { owner }
    return this.#parts.store.ask('listKeys', of, this.#deadlineMs(), caller)
  }

  findOwner(id: string, caller?: StoreCaller): Promise<string | undefined> {
    return this.#parts.store.ask('findKeyOwner', { id }, this.#deadlineMs(), caller)
  }

  async change(change: KeyChange, caller?: StoreCaller): Promise<KeyChangeOutcome> {
    const { store, maxKeys } = this.#parts
    const outcome = await store.ask('changeKeys', { ...change, maxKeys }, this.#deadlineMs(), caller)
    await this.#changes.refresh()
    return outcome
  }

  async #readChanges(after: number): Promise<number> {
    const { number, ...update } = await this.#parts.store.ask('changedKeys', { after }, this.#deadlineMs())
    const isWhole = update.isWhole || !this.#isKnown
    if (isWhole || update.put.length > 0 || update.revoked.length > 0) this.#onUpdate({ ...update, isWhole })
    this.#isKnown = true
    return number
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
