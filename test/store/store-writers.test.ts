import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import type { LocationRecord, RecordStore } from '../../src/wire/store-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'
import { recordOf, uidOf } from '../store-records.ts'

const PER_RANGE = 400
const RANGES = 12
const CHAINS = [
  { chainId: 84532, chain: 'base-sepolia' },
  { chainId: 42220, chain: 'celo' },
] as const

/** Records of both chains alternate in time, so that each range of one chain shifts the ranks of the other. */
const makeRecords = (side: number, range: number): LocationRecord[] =>
  Array.from({ length: PER_RANGE }, (_, index) => {
    const timeIndex = (range * PER_RANGE + index) * 2 + side
    return recordOf(timeIndex, { ...CHAINS[side]!, blockNumber: range })
  })

describe.each(ENGINES)('two chains stored at the same time on %s', (engine) => {
  let database: Database
  let store: RecordStore

  openStoreForTests(engine, (opened, ofDatabase) => {
    store = opened
    database = ofDatabase
  })

  async function readUids(offsets: readonly number[], limit: number): Promise<string[]> {
    const uids: string[] = []
    for (const offset of offsets) {
      const { documents } = await store.page({ limit, offset })
      for (const { uid } of JSON.parse(`[${documents}]`)) uids.push(uid)
    }
    return uids
  }

  async function countWrongMarks(): Promise<number> {
    const [row] = await database.reads.query(
      `select count(*)::int as off from page_mark where rank <> (
         select count(*) from location_record as record where (page_mark.scope = 0 or record.chain_id = page_mark.scope)
           and (record.block_time, record.uid, record.chain_id) <= (page_mark.block_time, page_mark.uid, page_mark.chain_id))`,
    )
    return row!['off'] as number
  }

  it('are both stored, and every far page begins at the right record', async () => {
    const total = 2 * RANGES * PER_RANGE
    // Stored backwards, so that each range invalidates the marks above it.
    const applyAll = async (side: number) => {
      for (let range = RANGES - 1; range >= 0; range--) {
        const { chainId } = CHAINS[side]!
        const { inserted } = await store.apply({ chainId, records: makeRecords(side, range), revocations: [] })
        expect(inserted).toBe(PER_RANGE)
      }
    }
    let isOver = false
    const maintain = async () => {
      while (!isOver) await store.maintain(undefined)
    }
    const maintaining = maintain()
    await Promise.all([applyAll(0), applyAll(1)])
    isOver = true
    await maintaining
    expect(await countWrongMarks()).toBe(0)
    const offsets = Array.from({ length: total / 600 }, (_, page) => page * 600)
    const newestFirst = Array.from({ length: total }, (_, index) => uidOf(total - 1 - index))
    expect(await readUids(offsets, 600)).toEqual(newestFirst)
  })

  it('both roll back, and the remaining marks are correct', async () => {
    const rollBack = (side: number, rollBackTo: number) =>
      store.apply({ chainId: CHAINS[side]!.chainId, records: [], revocations: [], rollBackTo })
    const [one, other] = await Promise.all([rollBack(0, 8), rollBack(1, 5)])
    expect([one.rolledBack, other.rolledBack]).toEqual([3 * PER_RANGE, 6 * PER_RANGE])
    expect(await countWrongMarks()).toBe(0)
    await store.maintain(undefined)
    expect(await countWrongMarks()).toBe(0)
    const remaining = 15 * PER_RANGE
    const oldest = await store.page({ limit: 3, offset: remaining - 3 })
    expect(JSON.parse(`[${oldest.documents}]`).map(({ uid }: { uid: string }) => uid)).toEqual([2, 1, 0].map(uidOf))
    expect(oldest.count).toBe(remaining)
  })
})
