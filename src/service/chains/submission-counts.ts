import type { SubmissionConfig } from '../../config/submission.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { SubmissionCount } from '../../wire/relay-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'
import type { Hex } from '../../wire/values.ts'

export interface SubmissionCountsParts {
  readonly store: Pick<StoreClient, 'ask'>
  /** The service's own account, lower case. */
  readonly sender: Hex
  readonly chainIds: readonly number[]
  readonly settings: Pick<SubmissionConfig, 'countIntervalMs'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Counts submissions by chain and status. The metrics must not wait for the store, so they get the last known counts. */
export interface SubmissionCounts {
  /** Returns a count for every chain and every counted status; empty until the store has answered once. */
  counts(): readonly SubmissionCount[]
  /** Returns for each chain how long its oldest submission has waited for a block; 0 if none waits. */
  oldestSeconds(): readonly { readonly chainId: number; readonly seconds: number }[]
  close(): void
}

const COUNTED = ['queued', 'sent', 'mined', 'failed'] as const
const WAITING: readonly string[] = ['queued', 'sent']

export function createSubmissionCounts({
  store,
  sender,
  chainIds,
  settings,
  now,
}: SubmissionCountsParts): SubmissionCounts {
  let lastCounts: readonly SubmissionCount[] | undefined
  const timer = setInterval(() => void poll(), settings.countIntervalMs).unref()
  void poll()
  return {
    counts: () => {
      if (lastCounts === undefined) return []
      return chainIds.flatMap((chainId) =>
        COUNTED.map((status) => findCount(chainId, status) ?? { chainId, status, count: 0, oldestMs: now() }),
      )
    },
    oldestSeconds: () => {
      if (lastCounts === undefined) return []
      return chainIds.map((chainId) => {
        const waiting = lastCounts!.filter((entry) => entry.chainId === chainId && WAITING.includes(entry.status))
        const oldestMs = Math.min(now(), ...waiting.map((entry) => entry.oldestMs))
        return { chainId, seconds: (now() - oldestMs) / 1000 }
      })
    },
    close: () => clearInterval(timer),
  }

  function findCount(chainId: number, status: string): SubmissionCount | undefined {
    return lastCounts!.find((entry) => entry.chainId === chainId && entry.status === status)
  }

  async function poll(): Promise<void> {
    try {
      const argument = { sender, chainIds, statuses: COUNTED }
      lastCounts = await store.ask('submissionCounts', argument, now() + settings.countIntervalMs)
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error // keep the last counts until the store answers again
    }
  }
}
