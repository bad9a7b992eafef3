/** Records that tests store and query. */

import type { LocationRecord, RecordStore } from '../src/wire/store-messages.ts'
import type { Hex } from '../src/wire/values.ts'

export const uidOf = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`
export const addressOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`

/** Returns a record of a point on Base Sepolia, with the given changes. */
export function recordOf(index: number, changes: Partial<LocationRecord> = {}): LocationRecord {
  const [longitude, latitude] = [(index % 360) - 180, (index % 180) - 90]
  return {
    uid: uidOf(index),
    chainId: 84532,
    chain: 'base-sepolia',
    prover: addressOf(index % 3),
    subject: addressOf(100 + (index % 2)),
    timeSeconds: 1_700_000_000 + index,
    eventTimeSeconds: 1_700_000_000 + index - 60,
    srs: 'EPSG:4326',
    locationType: 'geojson-point',
    location: JSON.stringify({ type: 'Point', coordinates: [longitude, latitude] }),
    longitude,
    latitude,
    bounds: [longitude, latitude, longitude, latitude],
    recipeTypes: [],
    recipePayloads: [],
    mediaTypes: [],
    mediaData: [],
    memo: null,
    blockNumber: 1000 + index,
    ...changes,
  }
}

/** Stores records of any chains, grouped by chain. */
export async function storeRecords(store: RecordStore, records: readonly LocationRecord[]): Promise<number> {
  let inserted = 0
  for (const chainId of new Set(records.map((record) => record.chainId))) {
    const ofChain = records.filter((record) => record.chainId === chainId)
    inserted += (await store.apply({ chainId, records: ofChain, revocations: [] })).inserted
  }
  return inserted
}
