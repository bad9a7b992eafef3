import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { RecordMemory } from '../../src/store/records/memory.ts'
import type { GeometryFamily, LocationRecord, RecordQuery } from '../../src/wire/store-messages.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import { addressOf, recordOf, uidOf } from '../store-records.ts'

const now = () => '2026-01-01T00:00:00.000Z'
const CHAINS = [
  { chainId: 84532, chain: 'base-sepolia' },
  { chainId: 42220, chain: 'celo' },
] as const

/** A line; one of ten crosses the antimeridian. */
function line(random: () => number): Partial<LocationRecord> {
  const west = random() < 0.1 ? 179 : Math.floor(random() * 300) - 180
  const [south, end] = [Math.floor(random() * 100) - 80, west === 179 ? -179 : west + 2]
  const location = {
    type: 'LineString',
    coordinates: [
      [west, south],
      [end, south + 1],
    ],
  }
  return { location: JSON.stringify(location), longitude: null, bounds: [west, south, west + 2, south + 1] }
}

describe.each(ENGINES)('columns in memory for %s', (engine) => {
  let files: StoreFiles
  let database: Database

  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })

  /** Compares a random list read with the columns and one read only from the database; returns whether the columns were used. */
  async function compare(memory: RecordMemory, random: () => number): Promise<boolean> {
    const box = Math.floor(random() * 300) - 180
    const query: RecordQuery = {
      ...(random() < 0.5 ? { prover: addressOf(Math.floor(random() * 3)) } : { bbox: [box, -80, box + 60, 80] }),
      ...(random() < 0.5 ? { chainId: CHAINS[Math.floor(random() * 2)]!.chainId } : {}),
      ...(random() < 0.5 ? { family: random() < 0.5 ? 'points' : 'lines' } : {}),
      limit: 30,
      offset: Math.floor(random() * 20),
    }
    const expected = await createRecordStore(database, now).page(query)
    const selected = await database.readTransaction((session) => memory.select(session, query))
    if (selected === undefined) return false
    const uids = JSON.parse(`[${expected.documents}]`).map(({ uid }: { uid: string }) => uid)
    expect([selected.count, selected.keys.map(({ uid }) => uid)]).toEqual([expected.count, uids])
    expect(await createRecordStore(database, now, memory).page(query)).toEqual(expected)
    for (const [family, numbers] of [
      [undefined, '{0,1,2,3}'],
      ['points', '{1}'],
      ['lines', '{2}'],
      ['polygons', '{3}'],
    ] as const)
      await compareExtent(memory, family, numbers)
    return true
  }

  /** Compares an extent in memory with that of the database. */
  async function compareExtent(memory: RecordMemory, family: GeometryFamily | undefined, numbers: string) {
    const [row] = await database.reads.query(
      `select min((bounds[1])[0]) as west, min((bounds[1])[1]) as south, max((bounds[0])[0]) as east, max((bounds[0])[1]) as north,
         min(event_time)::int as first, max(event_time)::int as last, count(*)::int as count
       from location_record where family = any ($1::smallint[])`,
      [numbers],
    )
    const { west, south, east, north, first, last, count } = row!
    const isCrossing = Number(east) > 180
    expect(await createRecordStore(database, now, memory).extent({ family })).toEqual(
      count === 0
        ? undefined
        : {
            bounds: [isCrossing ? -180 : west, south, isCrossing ? 180 : east, north],
            firstEventSeconds: first,
            lastEventSeconds: last,
          },
    )
  }

  it('follow records that are stored, rolled back and stored again on two chains', async () => {
    const random = seededNumbers(11)
    const store = createRecordStore(database, now)
    const memory = new RecordMemory(database, 10_000)
    const heads = [1000, 1000]
    let stored = 0
    let byMemory = 0
    for (let step = 0; step < 150; step++) {
      const which = random() < 0.6 ? 0 : 1
      const { chainId, chain } = CHAINS[which]!
      const rollBackTo = random() < 0.3 ? heads[which]! - Math.floor(random() * 8) : undefined
      const first = rollBackTo ?? heads[which]!
      // Some rolled-back records return in another block, and some UIDs are on both chains.
      const records = Array.from({ length: Math.floor(random() * 12) }, (_, i) =>
        recordOf(Math.floor(random() * 400), {
          ...(random() < 0.3 ? line(random) : {}),
          chainId,
          chain,
          blockNumber: first + 1 + i,
          timeSeconds: 1_700_000_000 + Math.floor(random() * 50),
        }),
      )
      heads[which] = first + records.length
      const applied = await store.apply({
        chainId,
        records,
        revocations: [],
        ...(rollBackTo === undefined ? {} : { rollBackTo }),
      })
      stored += applied.inserted
      if (step === 40) await memory.loaded()
      if (random() < 0.7 && (await compare(memory, random))) byMemory++
    }
    expect(stored).toBeGreaterThan(300)
    expect(byMemory).toBeGreaterThan(50)
  })

  it('load while records are stored', async () => {
    const store = createRecordStore(database, now)
    const memory = new RecordMemory(database, 100_000)
    const writing = (async () => {
      for (let batch = 0; batch < 12; batch++) {
        const records = Array.from({ length: 500 }, (_, i) => recordOf(1000 + 500 * batch + i))
        await store.apply({ chainId: 84532, records, revocations: [] })
      }
    })()
    await memory.loaded()
    await writing
    await memory.loaded()
    expect(await compare(memory, seededNumbers(3))).toBe(true)
    const all: RecordQuery = { bbox: [-180, -90, 180, 90], limit: 1000, offset: 0 }
    const selected = await database.readTransaction((session) => memory.select(session, all))
    expect(selected!.count).toBe((await createRecordStore(database, now).page(all)).count)
  })

  it('leave the query to the database when there are too many records', async () => {
    const memory = new RecordMemory(database, 100)
    await memory.loaded()
    expect(await compare(memory, seededNumbers(4))).toBe(false)
  })

  it('reload when the journal was replaced', async () => {
    const memory = new RecordMemory(database, 100_000)
    await memory.loaded()
    await database.transaction((session) => session.query("update record_journal set epoch = 'another'"))
    expect(await compare(memory, seededNumbers(5))).toBe(false)
    await memory.loaded()
    expect(await compare(memory, seededNumbers(5))).toBe(true)
  })

  it.each([0, 1])(
    'reload when the database lost changes, as after a failover, with %i changes since',
    async (later) => {
      const store = createRecordStore(database, now)
      const memory = new RecordMemory(database, 100_000)
      const all: RecordQuery = { bbox: [-180, -90, 180, 90], limit: 10, offset: 0 }
      const lost = 50_000 + 100 * later
      await store.apply({ chainId: 84532, records: [recordOf(lost), recordOf(lost + 1)], revocations: [] })
      await memory.loaded()
      expect((await database.readTransaction((session) => memory.select(session, all)))!.keys[0]!.uid).toBe(
        uidOf(lost + 1),
      )
      await database.transaction(async (session) => {
        await session.query('delete from record_change where number = (select max(number) from record_change)')
        const uids = [uidOf(lost).slice(2), uidOf(lost + 1).slice(2)]
        await session.query(
          `with gone as (
           delete from location_record where uid in (select decode(text, 'hex') from unnest($1::text[]) as text) returning id
         ) delete from record_document where id in (select id from gone)`,
          [uids],
        )
        await session.query(
          'update record_counter set records = records - 2, version = version + 1 where chain_id = 84532',
        )
      })
      if (later === 1)
        await store.apply({ chainId: 84532, records: [recordOf(lost + 2), recordOf(lost + 3)], revocations: [] })
      await database.readTransaction((session) => memory.select(session, all))
      await memory.loaded()
      const selected = await database.readTransaction((session) => memory.select(session, all))
      const expected = await createRecordStore(database, now).page(all)
      const uids = JSON.parse(`[${expected.documents}]`).map(({ uid }: { uid: string }) => uid)
      expect([selected!.count, selected!.keys.map(({ uid }) => uid)]).toEqual([expected.count, uids])
    },
  )
})
