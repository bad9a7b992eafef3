import type { LocationRecord, RecordStore } from '../src/wire/store-messages.ts'
import { recordWorld } from './record-world.ts'

export const BATCH = 2000
export const CHAINS_AT_ONCE = 2
/** Number of batches that are generated before storing them is timed. */
const BATCHES_PER_TIMING = 20

/**
 * Generates records and stores them, two chains at a time as sync does. The time to generate them does not count.
 *
 * @returns a sample of the records, the rate, and the duration of the slowest batch
 */
export async function ingest(store: RecordStore, world: Parameters<typeof recordWorld>[0]) {
  const sample: LocationRecord[] = []
  const pendingByChain = new Map<number, LocationRecord[]>()
  const times = { milliseconds: 0, worstMs: 0 }
  let batches: LocationRecord[][] = []
  let index = 0
  for (const record of recordWorld(world)) {
    if (index++ % 997 === 0) sample.push(record)
    const chainRecords = pendingByChain.get(record.chainId) ?? []
    pendingByChain.set(record.chainId, chainRecords)
    if (chainRecords.push(record) < BATCH) continue
    pendingByChain.delete(record.chainId)
    batches.push(chainRecords)
    if (batches.length < BATCHES_PER_TIMING) continue
    await storeTimed(store, batches, times)
    batches = []
  }
  await storeTimed(store, [...batches, ...pendingByChain.values()], times)
  return { sample, recordsPerSecond: (world.count / times.milliseconds) * 1000, worstMs: times.worstMs }
}

/** Stores batches and adds the elapsed time to `times`. Batches of one chain are stored one after the other. */
async function storeTimed(
  store: RecordStore,
  batches: readonly LocationRecord[][],
  times: { milliseconds: number; worstMs: number },
): Promise<void> {
  const remaining = [...batches]
  const busy = new Set<number>()
  const getChainId = (batch: readonly LocationRecord[]) => batch[0]!.chainId
  const storeBatches = async () => {
    for (;;) {
      const next = remaining.findIndex((batch) => !busy.has(getChainId(batch)))
      if (next < 0) return
      const [records] = remaining.splice(next, 1) as [LocationRecord[]]
      const chainId = getChainId(records)
      busy.add(chainId)
      const started = performance.now()
      await store.apply({ chainId, records, revocations: [] })
      times.worstMs = Math.max(times.worstMs, performance.now() - started)
      busy.delete(chainId)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: CHAINS_AT_ONCE }, storeBatches))
  // The remaining batches, if they belong to a chain that was busy when the other worker ended.
  await storeBatches()
  times.milliseconds += performance.now() - started
}
