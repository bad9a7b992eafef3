import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { openStoreForTests } from '../store-for-tests.ts'

const DAY_MS = 86_400_000
const LIMITS = { maxBytes: 1e9, maxAccountBytes: 1e6 }
const refOf = (digit: string): Hex => `0x${digit.repeat(64)}`

describe.each(ENGINES)('stored geometries on %s', (engine) => {
  let database: Database
  let store: RecordStore
  // The present, because maintenance deletes what expired before it.
  const now = Date.now()

  openStoreForTests(engine, (opened, ofDatabase) => {
    store = opened
    database = ofDatabase
  })

  const put = (
    account: string,
    ref: Hex,
    text = `text of ${ref}`,
    { expiresMs = now + DAY_MS, nowMs = now, limits = LIMITS } = {},
  ) => store.putGeometry({ account, ref, text, bytes: text.length, expiresMs, limits, nowMs })
  const use = (account: string, refs: readonly Hex[], nowMs = now, renewBeforeMs = 0) =>
    store.useGeometries({ account, refs, expiresMs: nowMs + DAY_MS, renewBeforeMs, nowMs })

  it('keeps the text of a geometry for each account', async () => {
    const [one, two] = [refOf('1'), refOf('2')]
    expect(await put('a', one)).toMatchObject({ outcome: 'stored', geometry: { ref: one, createdMs: now } })
    await put('a', two)
    await put('b', one)
    expect(await store.readGeometry({ account: 'a', ref: two, nowMs: now })).toEqual({
      ref: two,
      text: `text of ${two}`,
      bytes: `text of ${two}`.length,
      createdMs: now,
      expiresMs: now + DAY_MS,
    })
    expect(await store.readGeometry({ account: 'b', ref: two, nowMs: now })).toBeUndefined()
    expect((await use('a', [one, two, refOf('3')])).toSorted()).toEqual([one, two])
    expect(await use('b', [one, two])).toEqual([one])
    expect(await store.deleteGeometry({ account: 'b', ref: one, nowMs: now })).toBe(true)
    expect(await store.deleteGeometry({ account: 'b', ref: one, nowMs: now })).toBe(false)
    expect(await use('a', [one])).toEqual([one])
    const listed = await store.listGeometries({ account: 'a', limit: 1, nowMs: now })
    expect(listed).toMatchObject({ count: 2, usedBytes: 2 * `text of ${one}`.length })
    expect(listed.geometries).toHaveLength(1)
  })

  it('counts a geometry once, and refuses what exceeds a limit with what is used', async () => {
    const limits = { maxBytes: 1e9, maxAccountBytes: 250 }
    const text = 'x'.repeat(100)
    for (const digit of ['1', '2', '1'])
      expect((await put('quota', refOf(digit), text, { limits })).outcome).toBe('stored')
    expect(await put('quota', refOf('3'), text, { limits })).toEqual({ outcome: 'share', usedBytes: 200 })
    expect((await put('other', refOf('3'), text, { limits })).outcome).toBe('stored')
    const { usedBytes } = (await put('quota', refOf('3'), text, {
      limits: { ...limits, maxBytes: 10, maxAccountBytes: 1e9 },
    })) as {
      usedBytes: number
    }
    expect(usedBytes).toBeGreaterThanOrEqual(300)
    await store.deleteGeometry({ account: 'quota', ref: refOf('1'), nowMs: now })
    expect((await put('quota', refOf('3'), text, { limits })).outcome).toBe('stored')
  })

  it('stores no more than the quota allows at the same time', async () => {
    const limits = { maxBytes: 1e9, maxAccountBytes: 350 }
    const outcomes = await Promise.all(
      [...'123456789'].map(async (digit) => (await put('race', refOf(digit), 'x'.repeat(100), { limits })).outcome),
    )
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(3)
  })

  it('counts a geometry once that is stored several times at the same time', async () => {
    const limits = { maxBytes: 1e9, maxAccountBytes: 150 }
    const same = Array.from({ length: 9 }, () => put('same', refOf('1'), 'x'.repeat(100), { limits }))
    expect((await Promise.all(same)).map(({ outcome }) => outcome)).toEqual(Array(9).fill('stored'))
  })

  it('forgets a geometry that is not used, and keeps one that is', async () => {
    const [used, unused] = [refOf('a'), refOf('b')]
    for (const ref of [used, unused]) await put('time', ref, 'x', { expiresMs: now + 1000 })
    expect(await use('time', [used], now, now + 2000)).toEqual([used])
    const later = now + 2000
    expect(await use('time', [used, unused], later)).toEqual([used])
    expect(await store.readGeometry({ account: 'time', ref: unused, nowMs: later })).toBeUndefined()
    expect(await store.deleteGeometry({ account: 'time', ref: unused, nowMs: later })).toBe(false)
    // Stored again, it is a new geometry.
    await put('time', unused, 'x', { expiresMs: later + DAY_MS, nowMs: later })
    expect((await store.readGeometry({ account: 'time', ref: unused, nowMs: later }))?.createdMs).toBe(later)
  })

  it('deletes expired geometries in its maintenance', async () => {
    for (let index = 0; index < 120; index++) {
      const ref: Hex = `0x${index.toString(16).padStart(64, '0')}`
      await put('expired', ref, 'x', { expiresMs: now - 1, nowMs: now - DAY_MS })
    }
    await put('expired', refOf('c'))
    await createRecordStore(database, () => new Date().toISOString()).maintain(undefined)
    const rows = await database.reads.query("select ref from stored_geometry where account = 'expired'")
    expect(rows).toEqual([{ ref: refOf('c') }])
  })
})
