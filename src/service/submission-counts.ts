import type { SubmissionConfig } from '../config.ts'
import type { Hex } from '../messages.ts'
import type { SubmissionCount } from '../relay-messages.ts'
import { StoreFault } from '../store-messages.ts'
import type { StoreClient } from '../threads/store-client.ts'

export interface SubmissionCountsParts {
  readonly store: Pick<StoreClient, 'ask'>
  /** Our account, lower case. */
  readonly sender: Hex
  readonly chainIds: readonly number[]
  readonly settings: Pick<SubmissionConfig, 'countMs'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** How many submissions wait, by chain and status, as the store last said: for the metrics, which wait for nobody. */
export interface SubmissionCounts {
  /** Every chain with every status that is counted; nothing before the store has answered once. */
  counts(): readonly SubmissionCount[]
  /** Seconds that the oldest submission of each chain has waited for a block; 0 where none waits. */
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
  let known: readonly SubmissionCount[] | undefined
  const timer = setInterval(() => void look(), settings.countMs).unref()
  void look()
  return {
    counts: () => {
      if (known === undefined) return []
      return chainIds.flatMap((chainId) =>
        COUNTED.map((status) => foundOf(chainId, status) ?? { chainId, status, count: 0, oldestMs: now() }),
      )
    },
    oldestSeconds: () => {
      if (known === undefined) return []
      return chainIds.map((chainId) => {
        const waiting = known!.filter((found) => found.chainId === chainId && WAITING.includes(found.status))
        const oldestMs = Math.min(now(), ...waiting.map((found) => found.oldestMs))
        return { chainId, seconds: (now() - oldestMs) / 1000 }
      })
    },
    close: () => clearInterval(timer),
  }

  function foundOf(chainId: number, status: string): SubmissionCount | undefined {
    return known!.find((found) => found.chainId === chainId && found.status === status)
  }

  async function look(): Promise<void> {
    try {
      const argument = { sender, chainIds, statuses: COUNTED }
      known = await store.ask('submissionCounts', argument, now() + settings.countMs)
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error // what it said last stays true enough until it answers again
    }
  }
}
