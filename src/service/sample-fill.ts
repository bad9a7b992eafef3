import type { Config } from '../config.ts'
import type { Hex } from '../messages.ts'
import type { StoreClient } from '../threads/store-client.ts'
import { sampleRanges } from './sample-records.ts'

/** Enough for several pages, maps with something to see and a second of work. */
const SAMPLE_COUNT = 5000
const LOOK_MS = 100

export interface SampleFill {
  /** Records that were stored; none where there were records already. */
  readonly stored: number
  /** Why none were, for people. */
  readonly reason?: string
}

/**
 * Fills a store that has no records with sample ones, as soon as it is open; completes a fill that was interrupted.
 *
 * @param nowMs since the epoch: the newest sample is a minute older
 * @throws {StoreFault} when it cannot be written
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
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const nowSeconds = Math.floor(nowMs() / 1000)
  const { byChain } = await store.ask('stats', { nowSeconds }, nowMs() + limits.storeReadMs)
  const ranges = [...sampleRanges({ count: SAMPLE_COUNT, newestSeconds: nowSeconds - 60, chains })]
  if (byChain.some(({ records }) => records > 0)) {
    const isStored = async (uid: Hex) => (await store.ask('record', uid, nowMs() + limits.storeReadMs)) !== undefined
    // Ranges are stored in order, each whole or not at all, and the first only into an empty store.
    if (!(await isStored(ranges[0]!.records[0]!.uid))) return { stored: 0, reason: 'the store has records already' }
    if (await isStored(ranges.at(-1)!.records[0]!.uid)) {
      return { stored: 0, reason: 'the sample records are stored already' }
    }
  }
  let stored = 0
  // A record that is stored already stays as it is.
  for (const range of ranges) {
    stored += (await store.ask('apply', range, nowMs() + limits.storeWriteMs)).inserted
  }
  return { stored }
}
