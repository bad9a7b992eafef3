import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cities, randomFrom, recordWorld } from '../../bench/record-world.ts'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { DISTANT_SQL } from '../../src/store/records/conditions.ts'
import { choosePlans, listRecords } from '../../src/store/records/list.ts'
import { RecordMemory } from '../../src/store/records/memory.ts'
import { estimateWork } from '../../src/store/records/work.ts'
import {
  type Bounds,
  geometryFamily,
  type LocationRecord,
  type RecordQuery,
  type RecordStore,
} from '../../src/wire/store-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { scaled } from '../scale.ts'
import { recordOf, storeRecords } from '../store-records.ts'

const SEED = 20_261_121
const COUNT = 25_000
const QUERIES = scaled(400)
const NEWEST = 1_790_000_000

/** The events of some records are about a day after their block, where the plan `window` treats them differently. */
const records = [...recordWorld({ seed: SEED, count: COUNT, newestSeconds: NEWEST, spanDays: 60 })].map(
  (record, index) =>
    index % 20 === 0 ? { ...record, eventTimeSeconds: record.timeSeconds + 86_395 + ((index / 20) % 11) } : record,
)
const newestFirst = [...records].sort(
  (a, b) => b.timeSeconds - a.timeSeconds || (a.uid < b.uid ? 1 : -1) || b.chainId - a.chainId,
)

/** The same query on a plain array, without an index or a query plan. */
function naive(query: RecordQuery): { uids: string[]; count: number } {
  const matching = newestFirst.filter(
    (record) =>
      (query.chainId === undefined || record.chainId === query.chainId) &&
      (query.prover === undefined || record.prover === query.prover) &&
      (query.subject === undefined || record.subject === query.subject) &&
      (query.fromSeconds === undefined || record.eventTimeSeconds >= query.fromSeconds) &&
      (query.toSeconds === undefined || record.eventTimeSeconds <= query.toSeconds) &&
      (query.family === undefined || geometryFamily(record.location) === query.family) &&
      (query.bbox === undefined || meets(record.bounds, query.bbox)),
  )
  return {
    uids: matching.slice(query.offset, query.offset + query.limit).map(({ uid }) => uid),
    count: matching.length,
  }
}

/** Whether two boxes meet. In longitude, two arcs meet when one begins within the other. */
function meets([west, south, east, north]: Bounds, [boxWest, boxSouth, boxEast, boxNorth]: Bounds): boolean {
  if (south > boxNorth || north < boxSouth) return false
  const isWithin = (longitude: number, start: number, width: number) =>
    (((longitude - start) % 360) + 360) % 360 <= width
  const boxWidth = boxEast >= boxWest ? boxEast - boxWest : boxEast + 360 - boxWest
  return isWithin(west, boxWest, boxWidth) || isWithin(boxWest, west, east - west)
}

function randomQuery(random: () => number): RecordQuery {
  const pick = () => records[Math.floor(random() * records.length)]!
  const chance = (share: number) => random() < share
  const time = () => NEWEST - Math.floor(random() * 70 * 86_400)
  const [from, to] = [time(), time()].sort((a, b) => a - b)
  return {
    ...(chance(0.3) ? { chainId: pick().chainId } : {}),
    ...(chance(0.25) ? { prover: pick().prover } : {}),
    ...(chance(0.15) ? { subject: pick().subject } : {}),
    ...(chance(0.25) ? { fromSeconds: from! } : {}),
    ...(chance(0.25) ? { toSeconds: to! } : {}),
    ...(chance(0.5) ? { bbox: randomBox(random, pick) } : {}),
    ...(chance(0.3) ? { family: chance(0.5) ? 'points' : 'polygons' } : {}),
    limit: chance(0.5) ? 100 : 1 + Math.floor(random() * 1000),
    offset: chance(0.4) ? 0 : Math.floor(random() ** 3 * (COUNT + 500)),
  }
}

function randomBox(random: () => number, pick: () => LocationRecord): Bounds {
  const kind = Math.floor(random() * 6)
  // A record's own bounds: everything on their border matches.
  if (kind === 0) {
    const [west, south, east, north] = pick().bounds
    return [west, south, east > 180 ? east - 360 : east, north]
  }
  if (kind === 1) return [170 + random() * 10, -90, -180 + random() * 10, 90] // across the antimeridian
  if (kind === 2) return [-180, -90 + random() * 170, 180, 90]
  const [longitude, latitude] = cities(SEED)[Math.floor(random() * 50)]!
  const size = kind === 3 ? 0.05 : kind === 4 ? 2 : 40
  const clamp = (value: number, limit: number) => Math.max(-limit, Math.min(limit, value))
  return [
    clamp(longitude - size * random(), 180),
    clamp(latitude - size * random(), 90),
    clamp(longitude + size * random(), 180),
    clamp(latitude + size * random(), 90),
  ]
}

describe.each(ENGINES)('lists of the store on %s', (engine) => {
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  let storeWithMemory: RecordStore
  let memory: RecordMemory

  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
    // The older half is stored last, so marks have to be removed and set again.
    const half = records.length / 2
    for (let start = half; start < records.length; start += 2500)
      await storeRecords(store, records.slice(start, start + 2500))
    for (let start = 0; start < half; start += 2500) await storeRecords(store, records.slice(start, start + 2500))
    memory = new RecordMemory(database, COUNT)
    await memory.loaded()
    storeWithMemory = createRecordStore(database, () => '2026-01-01T00:00:00.000Z', memory)
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })

  const readUids = (documents: string | Uint8Array): string[] =>
    JSON.parse(`[${Buffer.from(documents)}]`).map(({ uid }: { uid: string }) => uid)

  /** All counts are exact, however long counting takes. */
  const COUNTED = { maxCounted: 1e9, countMs: 60_000 }

  /** @param memories from which the columns are read; undefined for a list that the database selects */
  async function compare(query: RecordQuery, memories = [undefined, memory]): Promise<void> {
    const expected = naive(query)
    const queryText = JSON.stringify(query)
    for (const testedMemory of memories) {
      const page = await listRecords(database, testedMemory, query, COUNTED)
      expect([queryText, page.count, page.length]).toEqual([queryText, expected.count, expected.uids.length])
      expect(readUids(page.documents)).toEqual(expected.uids)
    }
  }

  it('come from memory once it is loaded', async () => {
    const select = vi.spyOn(memory, 'select')
    await compare({ prover: records[0]!.prover, limit: 1000, offset: 0 }, [memory])
    expect((await select.mock.results[0]!.value).count).toBeGreaterThan(0)
  })

  it(`equal those of an array for ${QUERIES} random queries, with a new or a cached count`, async () => {
    const random = randomFrom(SEED + 1)
    for (let round = 0; round < QUERIES; round++) {
      const query = randomQuery(random)
      await compare(query)
      // The count is cached now, and may lead to another query plan.
      if (round % 3 === 0) await compare({ ...query, offset: Math.floor(query.offset / 2) })
    }
  })

  it('equal those of an array at any offset, by marks', async () => {
    for (const scope of [{}, { chainId: 42161 }, { chainId: 8453 }]) {
      for (const share of [0, 0.1, 0.33, 0.5, 0.9, 0.999]) {
        const { count } = naive({ ...scope, limit: 1, offset: 0 })
        for (const nudge of [-1, 0, 1]) {
          await compare({ ...scope, limit: 100, offset: Math.max(0, Math.floor(count * share) + nudge) })
        }
      }
      await compare({ ...scope, limit: 100, offset: 999_999 })
    }
  })

  it('end once they reach a number of bytes, and continue after their last record', async () => {
    const random = randomFrom(SEED + 5)
    const endBytes = 5000
    for (let round = 0; round < 30; round++) {
      const query = { ...randomQuery(random), limit: 100, offset: 0, endBytes }
      const { uids } = naive({ ...query, limit: COUNT })
      for (const testedStore of [store, storeWithMemory]) {
        const seen: string[] = []
        let page = await testedStore.page(query)
        while (seen.length < 60 && page.next !== undefined) {
          expect(page.length).toBeLessThan(query.limit)
          // The record before the last did not reach the number yet.
          expect(page.documents.lastIndexOf('{"uid"')).toBeLessThan(endBytes + 20 * page.length)
          seen.push(...readUids(page.documents))
          page = await testedStore.page({ ...query, after: page.next })
        }
        seen.push(...readUids(page.documents))
        expect(seen).toEqual(uids.slice(0, seen.length))
        if (seen.length < 60) expect(seen).toHaveLength(uids.length)
      }
    }
  })

  it('are not read when they are larger than the caller accepts', async () => {
    const query = { limit: 100, offset: 0, maxBytes: 5000 }
    for (const filter of [{}, { bbox: [-180, -90, 180, 90] as const }])
      for (const testedStore of [store, storeWithMemory])
        await expect(testedStore.page({ ...query, ...filter })).rejects.toMatchObject({ kind: 'large' })
  })

  it('continue after any record', async () => {
    const random = randomFrom(SEED + 2)
    for (let round = 0; round < 60; round++) {
      const query = { ...randomQuery(random), offset: 0 }
      const { uids, count } = naive({ ...query, limit: COUNT })
      if (count === 0) continue
      const position = Math.floor(random() * count)
      const { timeSeconds, uid, chainId } = records.find((record) => record.uid === uids[position])!
      for (const testedMemory of [undefined, memory]) {
        const page = await listRecords(
          database,
          testedMemory,
          { ...query, after: { timeSeconds, uid, chainId } },
          COUNTED,
        )
        expect(readUids(page.documents)).toEqual(uids.slice(position + 1, position + 1 + query.limit))
        expect(page.count).toBe(count)
      }
    }
  })

  const NO_PLANS = { collect: -1, walk: -1, window: -1 }

  it.each(['collect', 'walk', 'window'] as const)('equal those of an array by the plan %s', async (plan) => {
    const limits = { ...COUNTED, maxExamined: { ...NO_PLANS, [plan]: 1e9 }, planMs: 60_000 }
    const random = randomFrom(SEED + 3)
    let compared = 0
    while (compared < 60) {
      const query = { ...randomQuery(random), limit: 20, offset: Math.floor(random() * 100) }
      const hasEvent = query.fromSeconds !== undefined || query.toSeconds !== undefined
      if (plan === 'window' && !hasEvent) continue
      compared++
      const expected = naive(query)
      const first = await listRecords(database, undefined, query, limits)
      expect([first.count, readUids(first.documents)]).toEqual([expected.count, expected.uids])
      const [uid] = expected.uids
      if (uid === undefined) continue
      const { timeSeconds, chainId } = records.find((record) => record.uid === uid)!
      const page = await listRecords(
        database,
        undefined,
        { ...query, after: { timeSeconds, uid: uid as Hex, chainId } },
        limits,
      )
      const following = naive({ ...query, offset: query.offset + 1 })
      expect([page.count, readUids(page.documents)]).toEqual([following.count, following.uids])
    }
  })

  it('are read by the plan that examines the fewest records', async () => {
    const workOf = (query: RecordQuery) =>
      database
        .readTransaction((session) => estimateWork(session, query, COUNT))
        .then((work) => ({ ...work, plans: choosePlans(work) }))
    const page = { limit: 100, offset: 0 }
    const everywhere = await workOf({ ...page, bbox: [-180, -90, 180, 90] })
    // Every record matches, so a walk examines a hundred.
    expect(everywhere).toMatchObject({ plans: ['walk', 'collect'], matches: COUNT, first: 'bbox' })
    expect(everywhere.walk).toBeCloseTo(100, 0)
    // One record matches. A walk would examine all of them.
    const [west, south, east, north] = records[777]!.bounds
    const one = await workOf({ ...page, bbox: [west, south, east, north], toSeconds: NEWEST })
    expect(one).toMatchObject({ first: 'bbox', walk: COUNT })
    expect(one.plans[0]).toBe('collect')
    // The first match is far from the newest record, but not from the window.
    const old = await workOf({ ...page, fromSeconds: NEWEST - 58 * 86_400, toSeconds: NEWEST - 28 * 86_400 })
    expect(old.plans[0]).toBe('window')
  })

  it('have an index of the records whose event was on another day than their block', async () => {
    // A plan uses an index of a part of the table only if the statement has the same condition.
    const [row] = await database.reads.query(
      "select pg_get_expr(indpred, indrelid) as condition from pg_index where indexrelid = 'location_record_distant'::regclass",
    )
    const withoutBrackets = (text: string) => text.replaceAll(/[() ]/g, '')
    expect(withoutBrackets(row!['condition'] as string)).toBe(withoutBrackets(DISTANT_SQL))
  })

  it('come in shorter pages, with an estimate, when the matches are too rare to be found in time', async () => {
    const slow: Database = {
      ...database,
      readTransaction: (run) =>
        database.readTransaction((session) => run({ ...session, queryWithin: async () => undefined })),
    }
    const slowly = { scanMs: 0, maxScanned: 500, sampleRecords: COUNT }
    const random = randomFrom(SEED + 4)
    let shorter = 0
    for (let round = 0; round < 15; round++) {
      const { offset, ...filters } = { ...randomQuery(random), limit: 200 }
      const query = { ...filters, offset: 0 }
      const isFiltered = Object.keys(filters).some((name) => name !== 'chainId' && name !== 'limit')
      if (!isFiltered) continue
      const expected = naive({ ...query, limit: COUNT })
      const uids: string[] = []
      let page = await listRecords(slow, undefined, query, slowly)
      for (;;) {
        uids.push(...readUids(page.documents))
        // A list that ends on its first page is counted with it.
        if (page.next !== undefined) expect(page.isEstimate).toBe(true)
        if (page.next === undefined) break
        if (page.length < query.limit) shorter++
        page = await listRecords(slow, undefined, { ...query, after: page.next }, slowly)
      }
      expect(uids).toEqual(expected.uids)
      // The sample is the whole table.
      expect(page.count).toBe(expected.count)
      const deep = listRecords(slow, undefined, { ...query, offset: offset + 1 }, slowly)
      await expect(deep).rejects.toMatchObject({ name: 'StoreFault', kind: 'deep' })
    }
    expect(shorter).toBeGreaterThan(0)
  })

  it('say that an exact count took too long, but only if it was asked for', async () => {
    const uncounted: Database = {
      ...database,
      readTransaction: (run) =>
        database.readTransaction((session) =>
          run({
            ...session,
            queryWithin: async (maxMs, statement, parameters) =>
              statement.startsWith('select count(*)') ? undefined : session.queryWithin(maxMs, statement, parameters),
          }),
        ),
    }
    const query: RecordQuery = { bbox: [-180, -90, 180, 90], limit: 3, offset: 5 }
    const limits = { maxExamined: { ...NO_PLANS, walk: 1e9 }, planMs: 60_000, sampleRecords: COUNT }
    const page = await listRecords(uncounted, undefined, query, limits)
    expect([page.count, page.isEstimate, readUids(page.documents)]).toEqual([COUNT, true, naive(query).uids])
    const exact = { ...query, exactCountMs: 60_000 }
    await expect(listRecords(uncounted, undefined, exact, limits)).rejects.toMatchObject({ kind: 'late' })
    const counted = await listRecords(database, undefined, exact, limits)
    expect([counted.count, counted.isEstimate]).toEqual([COUNT, undefined])
  })

  it.skipIf(engine === 'embedded')(
    'stop a statement that takes too long, and go on with the same snapshot',
    async () => {
      const seen = await database.readTransaction(async (session) => [
        await session.queryWithin(50, 'select pg_sleep(600)'),
        (await session.queryWithin(60_000, 'select 1 as one'))?.[0],
        (await session.query('select 2 as two'))[0],
      ])
      expect(seen).toEqual([undefined, { one: 1 }, { two: 2 }])
    },
  )

  it('count recent records as an array does', async () => {
    for (const nowSeconds of [NEWEST, NEWEST + 5 * 86_400, NEWEST - 20 * 86_400, NEWEST + 300 * 86_400]) {
      const { recent } = await store.stats({ nowSeconds })
      const since = (days: number) =>
        records.filter(({ timeSeconds }) => timeSeconds >= nowSeconds - days * 86_400).length
      expect(recent).toEqual([since(1), since(7), since(30)])
    }
  })

  // Last, because it removes every record of a chain.
  it('have the same families after the migration of a store that had none', async () => {
    const types = [
      'Point',
      'MultiPoint',
      'LineString',
      'MultiLineString',
      'Polygon',
      'MultiPolygon',
      'GeometryCollection',
    ]
    const locations = [
      ...types.map((type) => JSON.stringify({ crs: { type: 'Point' }, type, coordinates: [] })),
      '{"type":"Point","type":"Polygon"}',
      '{"a":"\\u0000 \\ud800 \\\\u0000 \\\\","type":"Polygon"}',
      'somewhere',
      'null',
      '[]',
    ]
    const odd = locations.map((location, index) =>
      recordOf(index, {
        location,
        memo: '\u0000 \ud800 ,"longitude":null,',
        ...(index === 0 ? {} : { longitude: null }),
      }),
    )
    await storeRecords(store, odd)
    const families = async () =>
      database.reads.query("select encode(uid, 'hex') as uid, family::int from location_record order by uid")
    const before = await families()
    const numbers = before.filter(({ uid }) => String(uid).startsWith('0000000000')).map(({ family }) => family)
    expect(numbers).toEqual([1, 1, 2, 2, 3, 3, 0, 3, 3, 0, 0, 0])
    await database.transaction(async (session) => {
      await session.query('alter table location_record drop column family')
      await session.query('alter table job_chunk drop column room, drop column added_ms, drop column problem')
      await session.query(
        'alter table job_chunk drop column is_compressed, drop column computed, drop column computed_errors',
      )
      await session.query('alter table job drop column root_due, drop column submission, drop column submission_error')
      await session.query('alter table job drop column waits, drop column waits_until')
      await session.query('alter table job_chunk rename column packed_input to input')
      await session.query('alter table job_chunk rename column stored_result to result')
      await session.query('drop table api_key, api_key_change, sync_process, chain_lease, client_hour')
      await session.query('drop table sign_in_nonce, account_session, account_session_change')
      await session.query('drop index location_record_distant')
      await session.query('drop index submission_updated, submission_waiting')
      await session.query('create index submission_spent on submission (account, created_ms)')
      await session.query('drop table usage_daily, usage_process, stored_geometry, stored_set, stored_set_chunk')
      await session.query(
        "delete from schema_migration where position >= (select position from schema_migration where name = 'families of geometries')",
      )
    })
    expect(await migrate(database)).toEqual([
      'families of geometries',
      'room of jobs',
      'API keys',
      'leases of chains',
      'hours of clients',
      'accounts',
      'usage',
      'tiers of sessions',
      'compressed jobs',
      'repeated refreshes',
      'revoked API keys',
      'stored geometries',
      'submissions of jobs',
      'indexes of lists',
      'gas of waiting submissions',
    ])
    expect(await families()).toEqual(before)
    await store.apply({ chainId: 84532, records: [], revocations: [], rollBackTo: 0 })
  })
})
