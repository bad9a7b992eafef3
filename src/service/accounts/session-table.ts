import { FailureLog, type Log } from '../../base/log.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'

export interface SessionTableParts {
  readonly store: Pick<StoreClient, 'ask' | 'state'>
  readonly log: Log
  readonly pollMs: number
  /** Longest time that one operation of the database may take. */
  readonly answerMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Interval at which sessions whose token has ended are forgotten. */
const SWEEP_INTERVAL_MS = 60_000

/**
 * The sessions with a valid token, as they are in the store. Each process asks for changes at short intervals, so that every process
 * rejects the token of an ended session within a second. While the database is unavailable, the known tokens stay valid until they end.
 */
export class SessionTable {
  readonly #parts: SessionTableParts
  readonly #byId = new Map<string, SessionState>()
  readonly #byToken = new Map<string, SessionState>()
  #number = 0
  #polling: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined
  readonly #reading: FailureLog
  readonly #timers: NodeJS.Timeout[] = []

  constructor(parts: SessionTableParts) {
    this.#parts = parts
    this.#reading = new FailureLog(parts.log, {
      begin: 'cannot read sessions of the database, keeping the known ones',
      end: 'sessions of the database are read again',
    })
  }

  /** Begins to follow the sessions. */
  follow(): void {
    this.#timers.push(setInterval(() => this.#poll(), this.#parts.pollMs))
    this.#timers.push(setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS))
    for (const timer of this.#timers) timer.unref()
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** @param tokenSha256 64 hex digits */
  find(tokenSha256: string, nowMs: number): SessionState | undefined {
    const session = this.#byToken.get(tokenSha256)
    return session !== undefined && nowMs < session.tokenEndMs ? session : undefined
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
    this.#polling ??= this.#readChanges().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #readChanges(): Promise<boolean> {
    const { store, now, answerMs } = this.#parts
    if (!store.state.isOpen) return false
    try {
      const argument = { after: this.#number, nowMs: now() }
      const { number, isWhole, put, ended } = await store.ask('changedSessions', argument, now() + answerMs)
      if (isWhole) for (const id of [...this.#byId.keys()]) this.#remove(id)
      for (const id of ended) this.#remove(id)
      for (const session of put) {
        this.#remove(session.id)
        this.#byId.set(session.id, session)
        this.#byToken.set(session.tokenSha256, session)
      }
      this.#number = number
      this.#reading.succeeded()
      return true
    } catch (error) {
      this.#reading.failed({
        reason: error instanceof StoreFault ? `${error.kind}: ${error.message}` : String(error),
      })
      return false
    }
  }

  #remove(id: string): void {
    const known = this.#byId.get(id)
    if (known === undefined) return
    this.#byId.delete(id)
    this.#byToken.delete(known.tokenSha256)
  }

  #sweep(): void {
    const nowMs = this.#parts.now()
    for (const { id, tokenEndMs } of [...this.#byId.values()]) if (nowMs >= tokenEndMs) this.#remove(id)
  }
}
