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
})
