import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import type { StoredKey } from '../../src/wire/key-messages.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'

const keyOf = (digit: string): StoredKey => ({
  id: digit.repeat(12),
  sha256: digit.repeat(64),
  tier: 'developer',
  label: `key ${digit}`,
  createdAt: `2030-01-0${digit}T00:00:00.000Z`,
})
const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map(keyOf) as [StoredKey, StoredKey, StoredKey]
const LIMIT = { maxKeys: 100 }

describe.each(ENGINES)('API keys on %s', (engine) => {
  let store: RecordStore
  let database: Database
  openStoreForTests(engine, (opened, openedDatabase) => {
    store = opened
    database = openedDatabase
  })

  it('are reported once to each reader, and revoked ones too', async () => {
    expect(await store.changedKeys({ after: 0 })).toEqual({ number: 0, isWhole: false, put: [], revoked: [] })
    expect(await store.changeKeys({ expected: [], put: [FIRST, SECOND], revoked: [], ...LIMIT })).toBe('done')
    const all = await store.changedKeys({ after: 0 })
    expect(all).toEqual({ number: 1, isWhole: true, put: expect.arrayContaining([FIRST, SECOND]), revoked: [] })
    expect(await store.changedKeys({ after: 1 })).toEqual({ number: 1, isWhole: false, put: [], revoked: [] })

    const change = { expected: [FIRST.sha256], put: [THIRD], revoked: [FIRST.sha256], ...LIMIT }
    expect(await store.changeKeys(change)).toBe('done')
    expect(await store.changedKeys({ after: 1 })).toEqual({
      number: 2,
      isWhole: false,
      put: [THIRD],
      revoked: [FIRST.sha256],
    })
    // A reader that begins now gets no revoked keys.
    expect(await store.changedKeys({ after: 0 })).toEqual({
      number: 2,
      isWhole: true,
      put: expect.arrayContaining([SECOND, THIRD]),
      revoked: [],
    })
  })

  it('are read whole by a reader that is ahead of the database, as after a restore', async () => {
    const { number } = await store.changedKeys({ after: 0 })
    expect(await store.changedKeys({ after: number + 1000 })).toMatchObject({ number, isWhole: true })
  })

  it('do not change when an expected key is gone', async () => {
    const before = await store.listKeys(undefined)
    const change = { expected: [FIRST.sha256], put: [keyOf('4')], revoked: [SECOND.sha256], ...LIMIT }
    expect(await store.changeKeys(change)).toBe('missing')
    expect(await store.listKeys(undefined)).toEqual(before)
  })

  it('are never more than the limit; replacing one is possible at the limit', async () => {
    const { length } = await store.listKeys(undefined)
    const add = { expected: [], put: [keyOf('5')], revoked: [], maxKeys: length }
    expect(await store.changeKeys(add)).toBe('full')
    const renamed = { ...SECOND, label: 'renamed' }
    expect(await store.changeKeys({ ...add, expected: [SECOND.sha256], put: [renamed] })).toBe('done')
    expect(await store.listKeys(undefined)).toContainEqual(renamed)
  })

  it('can be rotated at the limit, one at a time', async () => {
    const { length } = await store.listKeys(undefined)
    const account = 'eip155:0:0x2'
    const owned = (digit: string) => ({ ...FIRST, id: digit.repeat(12), sha256: digit.repeat(64), owner: account })
    const limits = { maxKeys: length + 2, owner: { account, maxKeys: 1 } }
    const rotate = (old: string, next: string) => ({
      expected: [owned(old).sha256],
      put: [owned(next), { ...owned(old), replacedBy: owned(next).id }],
      revoked: [],
    })
    expect(await store.changeKeys({ expected: [], put: [owned('a')], revoked: [], ...limits })).toBe('done')
    expect(await store.changeKeys({ ...rotate('a', 'b'), ...limits })).toBe('done')
    expect(await store.changeKeys({ ...rotate('b', 'c'), ...limits })).toBe('owner-full')
    const full = { maxKeys: length + 1, owner: { account, maxKeys: 100 } }
    expect(await store.changeKeys({ ...rotate('b', 'c'), ...full })).toBe('full')
    expect(await store.changeKeys({ ...rotate('b', 'c'), ...full, maxKeys: length + 2 })).toBe('done')
    // Without an overlap, no room is needed.
    const now = { expected: [owned('c').sha256], put: [owned('d')], revoked: [owned('c').sha256], maxKeys: length }
    expect(await store.changeKeys(now)).toBe('done')
    const revoked = ['a', 'b', 'd'].map((digit) => owned(digit).sha256)
    expect(await store.changeKeys({ expected: revoked, put: [], revoked, maxKeys: length })).toBe('done')
  })

  it('have the time of their last use, which never goes back', async () => {
    const used = async (atMs: number) => {
      await store.noteKeyUse([{ sha256: THIRD.sha256, atMs }])
      return (await store.listKeys(undefined)).find(({ id }) => id === THIRD.id)?.lastUsedAt
    }
    expect(await used(Date.parse('2030-05-01T00:00:00Z'))).toBe('2030-05-01T00:00:00.000Z')
    expect(await used(Date.parse('2030-04-01T00:00:00Z'))).toBe('2030-05-01T00:00:00.000Z')
  })

  it.runIf(engine === 'postgres')(
    'note their uses on several nodes at once, in whatever order they were used',
    async () => {
      // So many keys that the database finds each by the index.
      await database.transaction((session) =>
        session.query(`insert into api_key (sha256, document, created_ms, change)
        select lpad(number::text, 64, 'f'), '{}', 0, 0 from generate_series(1, 20000) as number`),
      )
      await database.maintain('vacuum (analyze) api_key')
      const uses = Array.from({ length: 10 }, (_, index) => ({
        sha256: String(1 + 2000 * index).padStart(64, 'f'),
        atMs: 1_900_000_000_000,
      }))
      const orders = [uses, uses.toReversed()]
      for (let round = 0; round < 200; round++) await Promise.all(orders.map((order) => store.noteKeyUse(order)))
      await database.transaction((session) => session.query("delete from api_key where sha256 like 'f%'"))
    },
  )

  it('are numbered in the order in which their changes become visible', async () => {
    const { number } = await store.changedKeys({ after: 0 })
    const digits = ['6', '7', '8', '9']
    await Promise.all(
      digits.map((digit) => store.changeKeys({ expected: [], put: [keyOf(digit)], revoked: [], ...LIMIT })),
    )
    const changed = await store.changedKeys({ after: number })
    expect(changed.number).toBe(number + digits.length)
    expect(changed.put.map(({ id }) => id[0]).sort()).toEqual(digits)
  })

  it('are deleted with the usage of their time after they were revoked, and nodes that missed that read all keys', async () => {
    const gone = keyOf('0')
    const owned = { ...gone, owner: 'eip155:0:0x1', createdAt: '2030-01-01T00:00:00.000Z' }
    await store.changeKeys({ expected: [], put: [owned], revoked: [], ...LIMIT })
    const { number: before } = await store.changedKeys({ after: 0 })
    await store.changeKeys({ expected: [gone.sha256], put: [], revoked: [gone.sha256], ...LIMIT })
    const age = (days: number) =>
      database.transaction((session) =>
        session.query("update api_key set revoked_at = now() - $2 * interval '1 day' where sha256 = $1", [
          gone.sha256,
          days,
        ]),
      )
    const isKnown = async () => (await store.findKeyOwner({ id: gone.id })) !== undefined
    await store.pruneUsage({ keepDays: 400 })
    expect(await isKnown()).toBe(true)
    await age(399)
    await store.pruneUsage({ keepDays: 400 })
    expect(await isKnown()).toBe(true)
    expect(await store.changedKeys({ after: before })).toMatchObject({ isWhole: false, revoked: [gone.sha256] })
    await age(401)
    const valid = await store.listKeys(undefined)
    expect(await store.pruneUsage({ keepDays: 400 })).toBe(false)
    expect(await isKnown()).toBe(false)
    expect(await store.listKeys(undefined)).toEqual(valid)
    // This node still accepts the key. Only the whole list shows that it is gone.
    const late = await store.changedKeys({ after: before })
    expect(late).toMatchObject({ number: before + 1, isWhole: true })
    expect(late.put).toHaveLength(valid.length)
    expect(await store.changedKeys({ after: before + 1 })).toMatchObject({ isWhole: false, put: [] })
  })

  it('that a process of an older version revoked are kept as long, from when a newer one sees them', async () => {
    const key = { ...FIRST, id: 'e'.repeat(12), sha256: 'e'.repeat(64) }
    await store.changeKeys({ expected: [], put: [key], revoked: [], ...LIMIT })
    await database.transaction((session) =>
      session.query('update api_key set revoked = true where sha256 = $1', [key.sha256]),
    )
    await store.pruneUsage({ keepDays: 1 })
    const [row] = await database.reads.query(
      'select revoked_at is not null as is_dated from api_key where sha256 = $1',
      [key.sha256],
    )
    expect(row).toEqual({ is_dated: true })
  })

  it('that a process of an older version revoked are dated a bounded number at a time', async () => {
    await database.transaction((session) =>
      session.query(
        `insert into api_key (sha256, document, created_ms, change, revoked)
         select lpad(to_hex(n), 64, '0'), '{}', 0, 0, true from generate_series(1, 5001) as n`,
      ),
    )
    const countUndated = async () => {
      const [row] = await database.reads.query(
        'select count(*)::int as count from api_key where revoked and revoked_at is null',
      )
      return row!['count']
    }
    expect(await store.pruneUsage({ keepDays: 1 })).toBe(true)
    expect(await countUndated()).toBe(1)
    expect(await store.pruneUsage({ keepDays: 1 })).toBe(false)
    expect(await countUndated()).toBe(0)
  })
})
