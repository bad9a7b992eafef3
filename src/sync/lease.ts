import type { RecordStore } from '../wire/store-messages.ts'
import type { SyncOperations } from '../wire/sync-messages.ts'

interface LeasesParts {
  readonly store: Pick<RecordStore, 'lease'>
  readonly owner: string
  readonly chainIds: readonly number[]
  readonly holdMs: number
  /** Called with the chains that this process may read from now on. */
  readonly onChange: (chainIds: readonly number[]) => void
  /** Called when an operator stops the worker, and at the start if it was stopped before. */
  readonly onStopped: () => void
  /** Resolves when no task of a chain is running. */
  readonly idle: (chainId: number) => Promise<unknown>
}

/** Number of renewals within the time of a lease. */
const RENEWALS = 3
/** Longest pause between renewals on a database with other processes: each renewal also takes over leases of ended processes. */
const WATCH_MS = 250
/** Matches no generation in the store. */
const NO_GENERATION = -1

/**
 * The right of this process to read chains. One process per database reads a chain, so that no work is done twice, and the chains
 * spread over the processes. The store rejects writes under a generation that is not the newest. Even without this, the compare
 * and swap of the checkpoint would make concurrent readers harmless.
 */
export class Leases {
  readonly #parts: LeasesParts
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #held = new Set<number>()
  /** The newest generation that this process got, by chain. It stays after a release, so that a write in progress is still stored. */
  readonly #generations = new Map<number, number>()
  /** Chains that this process gives up to another one. The value is true once no task reads the chain any more. */
  readonly #leaving = new Map<number, boolean>()
  /** Number of requested jobs by chain. */
  readonly #jobs = new Map<number, number>()
  /** False while an operator has stopped the worker; undefined until the store responds. */
  #isDesired: boolean | undefined
  #isShared = false
  #renewing: Promise<void> | undefined

  constructor(parts: LeasesParts) {
    this.#parts = parts
    void this.#renew()
  }

  /** Returns true if this process should read the chain now. */
  mayRead(chainId: number): boolean {
    return this.#held.has(chainId) && this.#isDesired === true && !this.#leaving.has(chainId)
  }

  /** Returns the generation that each write for a chain contains. The store rejects a write unless its generation is the newest. */
  generation(chainId: number): number {
    return this.#generations.get(chainId) ?? NO_GENERATION
  }

  /** Renews the leases now. Never rejects. */
  async renew(): Promise<void> {
    await this.#renewing
    await this.#renew()
  }

  /**
   * Holds leases for a requested job, even while the worker is stopped.
   *
   * @returns the chains whose leases this process has, and a function that ends the job
   */
  async holdForJob(chainIds: readonly number[]): Promise<{ readonly held: readonly number[]; end(): void }> {
    this.#countJobs(chainIds, 1)
    await this.renew()
    const held = chainIds.filter((chainId) => this.#held.has(chainId) && !this.#leaving.has(chainId))
    const others = chainIds.filter((chainId) => !held.includes(chainId))
    this.#countJobs(others, -1)
    return {
      held,
      end: () => {
        this.#countJobs(held, -1)
        void this.#renew()
      },
    }
  }

  /** Releases the leases, so that another process need not wait until they expire. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#renewing
    const { store, owner, chainIds } = this.#parts
    await store.lease({ owner, holdMs: 0, chainIds, jobs: [] }).catch(() => {})
  }

  #countJobs(chainIds: readonly number[], change: 1 | -1): void {
    for (const chainId of chainIds) this.#jobs.set(chainId, (this.#jobs.get(chainId) ?? 0) + change)
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#request().finally(() => {
      this.#renewing = undefined
      clearTimeout(this.#timer)
      if (this.#isClosed) return
      const renewalMs = this.#parts.holdMs / RENEWALS
      this.#timer = setTimeout(() => void this.#renew(), this.#isShared ? Math.min(renewalMs, WATCH_MS) : renewalMs)
    })
    return this.#renewing
  }

  async #request(): Promise<void> {
    const { store, owner, holdMs, onChange, onStopped } = this.#parts
    const before = this.#readable()
    const given = [...this.#leaving].filter(([, isIdle]) => isIdle).map(([chainId]) => chainId)
    const chainIds = this.#parts.chainIds.filter((chainId) => !given.includes(chainId))
    const jobs = chainIds.filter((chainId) => (this.#jobs.get(chainId) ?? 0) > 0)
    try {
      this.#take(await store.lease({ owner, holdMs, chainIds, jobs }), onStopped)
    } catch {
      this.#held.clear() // the store is unavailable: the next renewal tries again, and until then nothing can be stored
    }
    for (const chainId of given) this.#leaving.delete(chainId)
    const after = this.#readable()
    if (before.join() !== after.join()) onChange(after)
  }

  #take({ held, surplus, isDesired, isShared }: SyncOperations['lease']['result'], onStopped: () => void): void {
    this.#held = new Set(held.map(({ chainId }) => chainId))
    for (const { chainId, generation } of held) this.#generations.set(chainId, generation)
    for (const chainId of surplus) this.#leave(chainId)
    if (!isDesired && this.#isDesired !== false) onStopped()
    this.#isDesired = isDesired
    this.#isShared = isShared
  }

  /** Stops reading a chain. When its task has ended, the next renewal releases the lease. */
  #leave(chainId: number): void {
    if (this.#leaving.has(chainId) || (this.#jobs.get(chainId) ?? 0) > 0) return
    this.#leaving.set(chainId, false)
    void this.#parts.idle(chainId).then(() => this.#leaving.set(chainId, true))
  }

  #readable(): readonly number[] {
    return this.#parts.chainIds.filter((chainId) => this.mayRead(chainId))
  }
}
