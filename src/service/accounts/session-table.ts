import type { Log } from '../../base/log.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import { Changes } from '../changes.ts'

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
  readonly #changes: Changes
  #sweepTimer: NodeJS.Timeout | undefined

  constructor(parts: SessionTableParts) {
    this.#parts = parts
    const { store, log, pollMs } = parts
    this.#changes = new Changes({ store, log, pollMs, name: 'sessions', read: (after) => this.#readChanges(after) })
  }

  /** Begins to follow the sessions. */
  follow(): void {
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS)
    this.#sweepTimer.unref()
    this.#changes.follow()
  }

  close(): void {
    clearInterval(this.#sweepTimer)
    this.#changes.close()
  }

  /** Number of sessions that have a token, which ended at most a minute ago. */
  get size(): number {
    return this.#byId.size
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
    return this.#changes.refresh()
  }

  async #readChanges(after: number): Promise<number> {
    const { store, now, answerMs } = this.#parts
    const { number, isWhole, put, ended } = await store.ask(
      'changedSessions',
      { after, nowMs: now() },
      now() + answerMs,
    )
    if (isWhole) for (const id of [...this.#byId.keys()]) this.#remove(id)
    for (const id of ended) this.#remove(id)
    for (const session of put) {
      this.#remove(session.id)
      this.#byId.set(session.id, session)
      this.#byToken.set(session.tokenSha256, session)
    }
    return number
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
