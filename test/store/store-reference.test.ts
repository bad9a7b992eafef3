// Records that other services of this interface lost or invented, as far as this depends on the store.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { addressOf, recordOf, storeRecords, uidOf } from '../store-records.ts'

const COUNT = 3000
const MEBIBYTE = 1_048_576
const EVERYTHING = { limit: 1000, offset: 0 }
const records = Array.from({ length: COUNT }, (_, index) => recordOf(index))

describe.each(ENGINES)('the store on %s', (engine) => {
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  const open = async () => {
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  }

  beforeAll(async () => {
    files = await makeStore(engine)
    await open()
    await storeRecords(store, records)
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })

  it('revokes a record however many newer ones exist (R4)', async () => {
    const revocations = [{ uid: uidOf(0), blockNumber: 9_000_000 }]
    expect((await store.apply({ chainId: 84532, records: [], revocations })).revoked).toBe(1)
    expect(JSON.parse((await store.record(uidOf(0)))!)).toMatchObject({ uid: uidOf(0), revoked: true })
  })

  it('keeps its checkpoint and counters after it is reopened (R3, R9)', async () => {
    const to = { blockNumber: 4_294_967_296, blockHash: uidOf(5) }
    await store.apply({ chainId: 84532, records: [], revocations: [], checkpoint: { from: null, to } })
    const before = await store.stats({ nowSeconds: 1_700_000_000 })
    await database.close()
    await open()
    const { checkpoint } = await store.syncState({ chainId: 84532 })
    expect(checkpoint).toEqual({ number: to.blockNumber, hash: to.blockHash })
    expect(await store.stats({ nowSeconds: 1_700_000_000 })).toEqual(before)
    expect(before.byChain).toEqual([{ chainId: 84532, records: COUNT, revoked: 1 }])
  })

  it('keeps times and blocks beyond 32 bits, to the end of the year 9999 (R12)', async () => {
    const late = recordOf(COUNT, {
      ...{ chainId: 11155111, chain: 'sepolia', timeSeconds: 253_402_300_799, eventTimeSeconds: 2_147_483_648 },
      blockNumber: 9_007_199_254_740_991,
    })
    await storeRecords(store, [late])
    const page = await store.page({ ...EVERYTHING, chainId: 11155111, fromSeconds: 2_147_483_648 })
    expect(JSON.parse(page.documents)).toMatchObject({
      timestamp: '9999-12-31T23:59:59.000Z',
      event_timestamp: '2038-01-19T03:14:08.000Z',
    })
    const rollBack = { chainId: 11155111, records: [], revocations: [], rollBackTo: 9_007_199_254_740_990 }
    expect((await store.apply(rollBack)).rolledBack).toBe(1)
  })

  it('returns pages of a thousand records, none twice or out of order (R6, R11)', async () => {
    const uids: string[] = []
    for (let offset = 0; offset < COUNT; offset += 1000) {
      const page = await store.page({ limit: 1000, offset, bbox: [-180, -90, 180, 90] })
      expect([page.length, page.count]).toEqual([1000, COUNT])
      for (const { uid } of JSON.parse(`[${page.documents}]`)) uids.push(uid)
    }
    expect(uids).toEqual(records.map(({ uid }) => uid).reverse())
  })

  it('finds records at zero degrees and at the corners of the world by bounding box (R7)', async () => {
    const corners = [
      [0, 0],
      [-180, -90],
      [180, 90],
      [-180, 90],
    ] as const
    const atCorners = corners.map(([longitude, latitude], index) =>
      recordOf(10_000 + index, {
        ...{ chainId: 42220, chain: 'celo', longitude, latitude },
        bounds: [longitude, latitude, longitude, latitude],
      }),
    )
    await storeRecords(store, atCorners)
    for (const [index, [longitude, latitude]] of corners.entries()) {
      const bbox = [longitude, latitude, longitude, latitude] as const
      const { documents } = await store.page({ ...EVERYTHING, chainId: 42220, bbox })
      expect(documents).toContain(uidOf(10_000 + index))
    }
    await store.apply({ chainId: 42220, records: [], revocations: [], rollBackTo: 0 })
  })

  it('rejects a page that is too long for any client, and returns the records one by one', async () => {
    const memo = 'x'.repeat(MEBIBYTE)
    const prover = addressOf(0xbeef)
    const long = Array.from({ length: 20 }, (_, index) =>
      recordOf(20_000 + index, { chainId: 42220, chain: 'celo', memo, prover }),
    )
    await storeRecords(store, long)
    const bbox = [-180, -90, 180, 90] as const
    // The three plans: by marks, by collecting and by walking.
    for (const filter of [{ chainId: 42220 }, { chainId: 42220, prover }, { chainId: 42220, bbox }]) {
      const page = store.page({ ...filter, limit: 20, offset: 0 })
      await expect(page).rejects.toMatchObject({
        kind: 'large',
        message: /^the page has 20 records of 2\d{7} bytes in total/,
      })
      const less = await store.page({ ...filter, limit: 15, offset: 0 })
      expect([less.length, less.count]).toEqual([15, 20])
      expect(less.documents.length).toBeGreaterThan(15 * MEBIBYTE)
    }
    const slice = await store.slice({
      query: { ...EVERYTHING, chainId: 42220 },
      size: { records: 10, bytes: MEBIBYTE },
    })
    expect([slice.length, slice.next === undefined]).toEqual([1, false])
    await store.apply({ chainId: 42220, records: [], revocations: [], rollBackTo: 0 })
  })

  it('rejects queries once it is closed, instead of returning an empty list (R5)', async () => {
    await database.close()
    const outcomes = await Promise.allSettled([
      store.page(EVERYTHING),
      store.record(uidOf(1)),
      store.stats({ nowSeconds: 0 }),
      store.slice({ query: EVERYTHING, size: { records: 10, bytes: 1000 } }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    await open()
  })
})
