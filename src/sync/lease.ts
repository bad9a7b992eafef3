import type { RecordStore } from '../wire/store-messages.ts'

export interface LeaseParts {
  readonly store: Pick<RecordStore, 'lease'>
  readonly owner: string
  readonly holdMs: number
  readonly onChange: (isHeld: boolean) => void
  /** Called when the worker is stopped by an operator: now, or before this process started. */
  readonly onStopped: () => void
}

/**
 * The right to read the chains. One process per database holds it, so that two do not do the same work. It is not needed for
 * correctness: the compare and swap of the checkpoint makes concurrent readers harmless.
 */
export interface Lease {
  /** Whether this process should read the chains now. */
  readonly mayWork: boolean
  /** Renews the lease now. Never rejects. */
  renew(): Promise<void>
  /**
   * Holds the lease for a requested job, even while the worker is stopped.
   *
   * @returns a function that ends the job; undefined when another process holds the lease
   */
  holdForJob(): Promise<(() => void) | undefined>
  /** Releases the lease, so that another process need not wait until it expires. */
  close(): Promise<void>
}

/** Number of renewals within the time of the lease. */
const RENEWALS = 3

export function createLease({ store, owner, holdMs, onChange, onStopped }: LeaseParts): Lease {
  let isHeld = false
  /** undefined until the store responds. */
  let isDesired: boolean | undefined
  let jobs = 0
  let renewing: Promise<void> | undefined
  const timer = setInterval(() => void renew(), holdMs / RENEWALS)
  void renew()

  return {
    get mayWork() {
      return isHeld && isDesired === true
    },
    async renew() {
      await renewing
      await renew()
    },
    async holdForJob() {
      jobs++
      await renewing
      await renew()
      if (isHeld) {
        return () => {
          jobs--
          void renew()
        }
      }
      jobs--
      return undefined
    },
    async close() {
      clearInterval(timer)
      await renewing
      await store.lease({ owner, holdMs: 0, always: false }).catch(() => {})
    },
  }

  function renew(): Promise<void> {
    renewing ??= requestLease().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  async function requestLease(): Promise<void> {
    const before = isHeld && isDesired === true
    try {
      const lease = await store.lease({ owner, holdMs, always: jobs > 0 })
      // The worker was stopped: release the lease, so that the status does not report a running worker.
      if (isHeld && !lease.isHeld && !lease.isDesired) await store.lease({ owner, holdMs: 0, always: false })
      isHeld = lease.isHeld
      if (!lease.isDesired && isDesired !== false) onStopped()
      isDesired = lease.isDesired
    } catch {
      isHeld = false // the store is unavailable: the next renewal tries again, and until then nothing can be stored
    }
    const after = isHeld && isDesired === true
    if (before !== after) onChange(after)
  }
}
