import type { RecordStore } from '../wire/store-messages.ts'

interface LeaseParts {
  readonly store: Pick<RecordStore, 'lease'>
  readonly owner: string
  readonly holdMs: number
  readonly onChange: (isHeld: boolean) => void
  /** Called when the worker is stopped by an operator: now, or before this process started. */
  readonly onStopped: () => void
}

/** Number of renewals within the time of the lease. */
const RENEWALS = 3

/**
 * The right to read the chains. One process per database holds it, so that two do not do the same work. It is not needed for
 * correctness: the compare and swap of the checkpoint makes concurrent readers harmless.
 */
export class Lease {
  readonly #parts: LeaseParts
  readonly #timer: NodeJS.Timeout
  #isHeld = false
  /** undefined until the store responds. */
  #isDesired: boolean | undefined
  #jobs = 0
  #renewing: Promise<void> | undefined

  constructor(parts: LeaseParts) {
    this.#parts = parts
    this.#timer = setInterval(() => void this.#renew(), parts.holdMs / RENEWALS)
    void this.#renew()
  }

  /** Whether this process should read the chains now. */
  get mayWork(): boolean {
    return this.#isHeld && this.#isDesired === true
  }

  /** Renews the lease now. Never rejects. */
  async renew(): Promise<void> {
    await this.#renewing
    await this.#renew()
  }

  /**
   * Holds the lease for a requested job, even while the worker is stopped.
   *
   * @returns a function that ends the job; undefined when another process holds the lease
   */
  async holdForJob(): Promise<(() => void) | undefined> {
    this.#jobs++
    await this.renew()
    if (this.#isHeld) {
      return () => {
        this.#jobs--
        void this.#renew()
      }
    }
    this.#jobs--
    return undefined
  }

  /** Releases the lease, so that another process need not wait until it expires. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    await this.#release().catch(() => {})
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#request().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #request(): Promise<void> {
    const { store, owner, holdMs, onChange, onStopped } = this.#parts
    const before = this.mayWork
    try {
      const lease = await store.lease({ owner, holdMs, always: this.#jobs > 0 })
      // The worker was stopped: release the lease, so that the status does not report a running worker.
      if (this.#isHeld && !lease.isHeld && !lease.isDesired) await this.#release()
      this.#isHeld = lease.isHeld
      if (!lease.isDesired && this.#isDesired !== false) onStopped()
      this.#isDesired = lease.isDesired
    } catch {
      this.#isHeld = false // the store is unavailable: the next renewal tries again, and until then nothing can be stored
    }
    if (before !== this.mayWork) onChange(this.mayWork)
  }

  #release() {
    const { store, owner } = this.#parts
    return store.lease({ owner, holdMs: 0, always: false })
  }
}
