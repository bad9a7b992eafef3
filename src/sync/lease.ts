import type { RecordStore } from '../store-messages.ts'

export interface LeaseParts {
  readonly store: Pick<RecordStore, 'lease'>
  readonly owner: string
  readonly holdMs: number
  readonly onChange: (isHeld: boolean) => void
  /** The chains are not to be read, because an operator stopped the worker: now, or before this process started. */
  readonly onStopped: () => void
}

/**
 * The right to read the chains: one process of those on a database has it. It keeps two from doing the same work; that they do
 * no harm is what the compare and swap of the checkpoint is for.
 */
export interface Lease {
  /** Whether the chains are to be read by this process now. */
  readonly mayWork: boolean
  /** Asks again now. Never rejects. */
  renew(): Promise<void>
  /**
   * Holds it for a job that somebody asked for, also when the chains are not to be read by themselves.
   *
   * @returns gives it back; undefined when another process has it
   */
  holdForJob(): Promise<(() => void) | undefined>
  /** Gives it back, so that another process need not wait for its end. */
  close(): Promise<void>
}

/** Renewed so often within the time it is held. */
const RENEWALS = 3

export function createLease({ store, owner, holdMs, onChange, onStopped }: LeaseParts): Lease {
  let isHeld = false
  /** undefined until the store answers. */
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
    renewing ??= ask().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  async function ask(): Promise<void> {
    const before = isHeld && isDesired === true
    try {
      const answer = await store.lease({ owner, holdMs, always: jobs > 0 })
      // Nobody is to read the chains any more: the status shall not say that somebody does.
      if (isHeld && !answer.isHeld && !answer.isDesired) await store.lease({ owner, holdMs: 0, always: false })
      isHeld = answer.isHeld
      if (!answer.isDesired && isDesired !== false) onStopped()
      isDesired = answer.isDesired
    } catch {
      isHeld = false // the store is away: it will be asked again, and until then nothing can be stored
    }
    const after = isHeld && isDesired === true
    if (before !== after) onChange(after)
  }
}
