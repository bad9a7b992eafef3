import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordWorld } from '../../bench/record-world.ts'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type {
  JournalPosition,
  LocationRecord,
  RecordChange,
  RecordQuery,
  RecordStore,
} from '../../src/wire/store-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'
import { addressOf, recordOf, storeRecords, uidOf } from '../store-records.ts'

const LARGE = { records: 1000, bytes: 1_000_000 }

describe.each(ENGINES)('the journal of changes on %s', (engine) => {
  let database: Database
  let store: RecordStore

  openStoreForTests(engine, (opened, ofDatabase) => {
    store = opened
    database = ofDatabase
  })

  const end = async () => (await store.changes({ after: undefined, size: LARGE })).next
  const text = ({ kind, document }: RecordChange) => `${kind} ${Number.parseInt(JSON.parse(document).uid, 16)}`

  async function all(after: JournalPosition, size = LARGE): Promise<RecordChange[]> {
    const collected: RecordChange[] = []
    for (;;) {
      const { changes, next, isEnd, isLost } = await store.changes({ after, size })
      expect(isLost).toBe(false)
      collected.push(...changes)
      if (isEnd) return collected
      expect([next.number, next.position]).not.toEqual([after.number, after.position])
      after = next
    }
  }

  it('returns what was stored, revoked, rolled back and restored, in that order', async () => {
    const start = await end()
    await store.apply({ chainId: 84532, records: [recordOf(1), recordOf(2), recordOf(3)], revocations: [] })
    await store.apply({ chainId: 84532, records: [], revocations: [{ uid: uidOf(1), blockNumber: 2000 }] })
    await store.apply({
      chainId: 84532,
      rollBackTo: 1002,
      records: [recordOf(4)],
      revocations: [{ uid: uidOf(2), blockNumber: 1006 }],
    })
    const changes = await all(start)
    expect(changes.map(text)).toEqual([
      'new 1',
      'new 2',
      'revoked 1',
      'rolled-back 3',
      'restored 1',
      'new 4',
      'revoked 2',
    ])
    const rolledBack = changes.find(({ kind }) => kind === 'rolled-back')!
    expect(JSON.parse(rolledBack.document)).toEqual({
      uid: uidOf(3),
      chain: 'base-sepolia',
      prover: addressOf(0),
      subject: addressOf(101),
    })
    // A record that still exists is returned in its present state.
    for (const { kind, document } of changes.filter((change) => change.kind !== 'rolled-back')) {
      const { uid } = JSON.parse(document)
      expect([kind, document]).toEqual([kind, await store.record(uid)])
    }
  })

  it('has no entry for a range that changed nothing, nor for records that were stored again', async () => {
    const start = await end()
    await store.apply({ chainId: 84532, records: [recordOf(1)], revocations: [{ uid: uidOf(99), blockNumber: 1 }] })
    expect(await end()).toEqual(start)
  })

  it('continues after any change, in slices of any size', async () => {
    const start = await end()
    for (let block = 0; block < 12; block++) {
      const records = Array.from({ length: 1 + ((block * 7) % 30) }, (_, index) =>
        recordOf(10_000 + block * 100 + index, { chainId: 42220, chain: 'celo', memo: 'x'.repeat(index * 10) }),
      )
      await store.apply({
        chainId: 42220,
        records,
        revocations: [{ uid: records[0]!.uid, blockNumber: 20_000 + block }],
      })
    }
    const whole = (await all(start)).map(text)
    expect(whole.length).toBeGreaterThan(150)
    expect(new Set(whole).size).toBe(whole.length)
    for (const size of [
      { records: 1, bytes: 1_000_000 },
      { records: 7, bytes: 1_000_000 },
      { records: 1000, bytes: 1 },
      { records: 50, bytes: 3000 },
    ]) {
      expect((await all(start, size)).map(text)).toEqual(whole)
    }
  })

  it('does not mix up the records of two chains stored at the same time', async () => {
    const start = await end()
    const rounds = Array.from({ length: 10 }, (_, round) => round)
    const write = async (chainId: number, chain: string, from: number) => {
      for (const round of rounds) {
        const records = Array.from({ length: 20 }, (_, index) =>
          recordOf(from + round * 20 + index, { chainId, chain }),
        )
        await store.apply({ chainId, records, revocations: [] })
      }
    }
    // A reader that runs at the same time sees every change exactly once.
    const seen: string[] = []
    let isWriting = true
    const read = async () => {
      let after = start
      for (;;) {
        const wasWriting = isWriting
        const { changes, next, isEnd } = await store.changes({ after, size: { records: 33, bytes: 1_000_000 } })
        seen.push(...changes.map(text))
        after = next
        if (isEnd && !wasWriting) return
      }
    }
    const reading = read()
    await Promise.all([write(84532, 'base-sepolia', 30_000), write(42161, 'arbitrum', 40_000)])
    isWriting = false
    await reading
    expect(seen.length).toBe(400)
    expect(new Set(seen).size).toBe(400)
  })

  it('reports that a position is not in this journal', async () => {
    const { epoch, number } = await end()
    for (const after of [
      { epoch: 'another', number: 1, position: 0 },
      { epoch, number: number + 1, position: 0 },
    ]) {
      const { changes, next, isLost } = await store.changes({ after, size: LARGE })
      expect([changes, isLost]).toEqual([[], true])
      expect(next).toEqual(await end())
    }
  })

  it('deletes the oldest rows, and reports a position among them as lost', async () => {
    const { epoch, number } = await end()
    // Simulates a hundred thousand more stored ranges.
    await database.transaction((session) =>
      session.query(
        `insert into record_change (number, kind, size, removed)
         select n, 'rolled-back', 1, '{"uid":"0x01","chain":"celo","prover":"0x","subject":"0x"}'
         from generate_series($1::bigint, $2::bigint) as n`,
        [number + 1, number + 100_000],
      ),
    )
    expect((await store.changes({ after: { epoch, number: 1, position: 0 }, size: LARGE })).isLost).toBe(false)
    await store.maintain(undefined)
    expect((await store.changes({ after: { epoch, number: 1, position: 0 }, size: LARGE })).isLost).toBe(true)
    const remaining = await store.changes({ after: { epoch, number: number + 1, position: 0 }, size: LARGE })
    expect([remaining.isLost, remaining.changes.length, remaining.isEnd]).toEqual([false, 200, false])
    await store.apply({ chainId: 84532, records: [recordOf(50_000)], revocations: [] })
    expect((await end()).number).toBe(number + 100_001)
  })
})

describe.each(ENGINES)('slices of a list on %s', (engine) => {
  const WORLD = [...recordWorld({ seed: 5, count: 23_000, newestSeconds: 1_790_000_000, spanDays: 365 })]
  const big: LocationRecord = { ...WORLD[100]!, uid: uidOf(1), memo: 'x'.repeat(300_000) }
  let files: StoreFiles
  let database: Database
  let store: RecordStore

  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
    await storeRecords(store, [...WORLD, big])
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })

  const query = (filter: Partial<RecordQuery>): RecordQuery => ({ limit: 1000, offset: 0, ...filter })

  it.each<[string, Partial<RecordQuery>]>([
    ['everything', {}],
    ['a chain', { chainId: 42220 }],
    ['a busy prover', { prover: WORLD[0]!.prover }],
    ['a box with many records', { bbox: [-180, -90, 180, 90] }],
    ['a box with few records', { bbox: [10, 10, 12, 12] }],
    ['a time', { fromSeconds: 1_780_000_000 }],
    ['a chain and most of the world', { chainId: 8453, bbox: [-180, -90, 179, 90] }],
    ['most of the world and a time with nothing in it', { bbox: [-180, -90, 180, 90], toSeconds: 1000 }],
    ['a filter that no record matches', { prover: addressOf(12345), bbox: [-180, -90, 180, 90] }],
  ])("return %s once, in the order of the list's pages", async (_name, filter) => {
    const expected: string[] = []
    let page = await store.page(query(filter))
    for (let offset = 0; expected.length < page.count; offset += 1000) {
      page = await store.page(query({ ...filter, offset }))
      expected.push(...uids(page.documents))
    }
    for (const size of [
      { records: 1000, bytes: 200_000 },
      { records: 977, bytes: 100_000_000 },
    ]) {
      const collected: string[] = []
      let after: RecordQuery['after']
      do {
        const slice = await store.slice({ query: query({ ...filter, ...(after && { after }) }), size })
        expect(slice.length).toBeLessThanOrEqual(size.records)
        const sliceUids = uids(slice.documents)
        expect(sliceUids.length).toBe(slice.length)
        // A slice may exceed its size by one record, so that a large record can be returned.
        if (slice.length > 1) {
          const withoutLast = slice.documents.slice(0, slice.documents.lastIndexOf(',{"uid":"'))
          expect(Buffer.byteLength(withoutLast)).toBeLessThan(size.bytes + slice.length)
        }
        collected.push(...sliceUids)
        after = slice.next
      } while (after !== undefined)
      expect(collected).toEqual(expected)
    }
  })
})

function uids(documents: string): string[] {
  return JSON.parse(`[${documents}]`).map(({ uid }: { uid: string }) => uid)
}
