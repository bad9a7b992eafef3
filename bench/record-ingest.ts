import type { LocationRecord, RecordStore } from '../src/wire/store-messages.ts'
import { recordWorld } from './record-world.ts'

export const BATCH = 2000
export const CHAINS_AT_ONCE = 2
/** Made up before their storing is timed. */
const BATCHES_AT_ONCE = 20

/** Stored by two chains at a time, as sync does; what makes up the world is not timed. @returns some of the records */
export async function ingest(store: RecordStore, world: Parameters<typeof recordWorld>[0]) {
  const sample: LocationRecord[] = []
  const waiting = new Map<number, LocationRecord[]>()
  const times = { milliseconds: 0, worstMs: 0 }
  let batches: LocationRecord[][] = []
  let index = 0
  for (const record of recordWorld(world)) {
    if (index++ % 997 === 0) sample.push(record)
    const ofChain = waiting.get(record.chainId) ?? []
    waiting.set(record.chainId, ofChain)
    if (ofChain.push(record) < BATCH) continue
    waiting.delete(record.chainId)
    batches.push(ofChain)
    if (batches.length < BATCHES_AT_ONCE) continue
    await storeTimed(store, batches, times)
    batches = []
  }
  await storeTimed(store, [...batches, ...waiting.values()], times)
  return { sample, recordsPerSecond: (world.count / times.milliseconds) * 1000, worstMs: times.worstMs }
}

/** Those of one chain one after the other. */
async function storeTimed(
  store: RecordStore,
  batches: readonly LocationRecord[][],
  times: { milliseconds: number; worstMs: number },
): Promise<void> {
  const left = [...batches]
  const busy = new Set<number>()
  const chainOf = (batch: readonly LocationRecord[]) => batch[0]!.chainId
  const work = async () => {
    for (;;) {
      const next = left.findIndex((batch) => !busy.has(chainOf(batch)))
      if (next < 0) return
      const [records] = left.splice(next, 1) as [LocationRecord[]]
      const chainId = chainOf(records)
      busy.add(chainId)
      const started = performance.now()
      await store.apply({ chainId, records, revocations: [] })
      times.worstMs = Math.max(times.worstMs, performance.now() - started)
      busy.delete(chainId)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: CHAINS_AT_ONCE }, work))
  // A chain that had the last batches alone.
  await work()
  times.milliseconds += performance.now() - started
}
