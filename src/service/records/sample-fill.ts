import type { Config } from '../../config/config.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { Hex } from '../../wire/messages.ts'
import { sampleRanges } from './sample-records.ts'

/** Enough records for several pages and for maps with something on them; stored in about a second. */
const SAMPLE_COUNT = 5000
const POLL_MS = 100

export interface SampleFill {
  /** Number of records stored; 0 if the store already had records. */
  readonly stored: number
  /** Text that says why none were stored. */
  readonly reason?: string
}

/**
 * Waits until the store is open, then fills it with sample records if it has none. Completes a fill that was interrupted.
 *
 * @param nowMs milliseconds since the epoch; the newest sample is a minute older
 * @throws {StoreFault} if the records cannot be written
 */
export async function fillWithSamples(
  store: StoreClient,
  chains: ReadonlyMap<string, number>,
  limits: Config['limits'],
  nowMs: () => number,
): Promise<SampleFill> {
  const latestMs = nowMs() + limits.storeOpenMs
  while (!store.state.isOpen) {
    if (nowMs() > latestMs) return { stored: 0, reason: `the store is not open: ${store.state.reason}` }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const nowSeconds = Math.floor(nowMs() / 1000)
  const { byChain } = await store.ask('stats', { nowSeconds }, nowMs() + limits.storeReadMs)
  const ranges = [...sampleRanges({ count: SAMPLE_COUNT, newestSeconds: nowSeconds - 60, chains })]
  if (byChain.some(({ records }) => records > 0)) {
    const isStored = async (uid: Hex) => (await store.ask('record', uid, nowMs() + limits.storeReadMs)) !== undefined
    // Ranges are stored in order, each completely or not at all, and the first only into an empty store.
    if (!(await isStored(ranges[0]!.records[0]!.uid))) return { stored: 0, reason: 'the store already has records' }
    if (await isStored(ranges.at(-1)!.records[0]!.uid)) {
      return { stored: 0, reason: 'the sample records are already stored' }
    }
  }
  let stored = 0
  // Records that are already stored stay unchanged.
  for (const range of ranges) {
    stored += (await store.ask('apply', range, nowMs() + limits.storeWriteMs)).inserted
  }
  return { stored }
}
