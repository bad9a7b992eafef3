import type { SubmissionConfig } from '../../config/config.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { SubmissionCount } from '../../wire/relay-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'
import type { Hex } from '../../wire/values.ts'

interface SubmissionCountsParts {
  readonly store: Pick<StoreClient, 'ask'>
  /** The service's own account, lower case. */
  readonly sender: Hex
  readonly chainIds: readonly number[]
  readonly settings: Pick<SubmissionConfig, 'countIntervalMs'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const COUNTED = ['queued', 'sent', 'mined', 'failed'] as const
const WAITING: readonly string[] = ['queued', 'sent']

/** Counts submissions by chain and status. The metrics must not wait for the store, so they get the last known counts. */
export class SubmissionCounts {
  readonly #parts: SubmissionCountsParts
  readonly #timer: NodeJS.Timeout
  /** Undefined until the store has answered once. */
  #last: readonly SubmissionCount[] | undefined

  constructor(parts: SubmissionCountsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => void this.#poll(), parts.settings.countIntervalMs).unref()
    void this.#poll()
  }

  /** Returns a count for every chain and every counted status; empty until the store has answered once. */
  counts(): readonly SubmissionCount[] {
    const { chainIds, now } = this.#parts
    const last = this.#last
    if (last === undefined) return []
    return chainIds.flatMap((chainId) =>
      COUNTED.map(
        (status) =>
          last.find((entry) => entry.chainId === chainId && entry.status === status) ??
          ({ chainId, status, count: 0, oldestMs: now() } as const),
      ),
    )
  }

  /** Returns for each chain how long its oldest submission has waited for a block; 0 if none waits. */
  oldestSeconds(): readonly { readonly chainId: number; readonly seconds: number }[] {
    const { chainIds, now } = this.#parts
    const last = this.#last
    if (last === undefined) return []
    return chainIds.map((chainId) => {
      const waiting = last.filter((entry) => entry.chainId === chainId && WAITING.includes(entry.status))
      const oldestMs = Math.min(now(), ...waiting.map((entry) => entry.oldestMs))
      return { chainId, seconds: (now() - oldestMs) / 1000 }
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #poll(): Promise<void> {
    const { store, sender, chainIds, settings, now } = this.#parts
    try {
      const argument = { sender, chainIds, statuses: COUNTED }
      this.#last = await store.ask('submissionCounts', argument, now() + settings.countIntervalMs)
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error // keep the last counts until the store answers again
    }
  }
}
