import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'

const DAY_MS = 86_400_000
const UPLOAD = { maxReceiving: 4, abandonedBeforeMs: 0 }
const LIMITS = { maxBytes: 1e9, maxAccountBytes: 1000 }

describe.each(ENGINES)('stored sets on %s', (engine) => {
  let database: Database
  let store: RecordStore
  let nextId = 0
  // The present, because maintenance deletes what expired before it.
  const now = Date.now()

  openStoreForTests(engine, (opened, ofDatabase) => {
    store = opened
    database = ofDatabase
  })

  const begin = async (account: string, name: string, expiresMs = now + DAY_MS) => {
    const id = `${nextId++}`
    expect(await store.createSet({ ...UPLOAD, id, account, name, expiresMs, nowMs: now })).toBe(true)
    return id
  }
  const append = (id: string, first: number, count: number, bytes = 100, limits = LIMITS) => {
    const stored = new Uint8Array(Buffer.from(`${id}:${first}`))
    return store.appendSet({ id, first, count, vertices: 4 * count, stored, bytes, limits, nowMs: now })
  }
  const publish = (id: string) => store.publishSet({ id, expiresMs: now + DAY_MS, nowMs: now })
  const use = (account: string, name: string, nowMs = now, renewBeforeMs = 0) =>
    store.useSet({ account, name, expiresMs: nowMs + DAY_MS, renewBeforeMs, nowMs })

  it('is not seen before it is whole, and then replaces the old one', async () => {
    const first = await begin('a', 'zones')
    await append(first, 0, 3)
    expect(await use('a', 'zones')).toBeUndefined()
    expect(await publish(first)).toMatchObject({ id: first, name: 'zones', count: 3, vertices: 12, bytes: 100 })
    const second = await begin('a', 'zones')
    for (const [from, count] of [
      [0, 2],
      [2, 5],
    ] as const)
      expect(await append(second, from, count)).toEqual({ outcome: 'stored' })
    expect((await use('a', 'zones'))?.id).toBe(first)
    expect((await store.listSets({ account: 'a', nowMs: now })).map(({ id }) => id)).toEqual([first])
    expect(await publish(second)).toMatchObject({ id: second, count: 7 })
    expect((await use('a', 'zones'))?.id).toBe(second)
    expect(await store.readSetChunk({ id: first, first: 0 })).toBeUndefined()
    const chunk = await store.readSetChunk({ id: second, first: 2 })
    expect([chunk?.count, Buffer.from(chunk!.stored).toString()]).toEqual([5, `${second}:2`])
    expect(await use('b', 'zones')).toBeUndefined()
    expect(await store.deleteSet({ account: 'b', name: 'zones', nowMs: now })).toBe(false)
    expect(await store.deleteSet({ account: 'a', name: 'zones', nowMs: now })).toBe(true)
    expect(await store.readSetChunk({ id: second, first: 2 })).toBeUndefined()
  })

  it('takes features only in order, and none after its end', async () => {
    const id = await begin('order', 'x')
    expect(await append(id, 1, 1)).toEqual({ outcome: 'gone' })
    await append(id, 0, 1)
    expect(await append(id, 0, 1)).toEqual({ outcome: 'gone' })
    await publish(id)
    expect(await append(id, 1, 1)).toEqual({ outcome: 'gone' })
    expect(await publish(id)).toBeUndefined()
    await store.dropSet({ id })
    expect((await use('order', 'x'))?.id).toBe(id)
    const dropped = await begin('order', 'y')
    await append(dropped, 0, 1)
    await store.dropSet({ id: dropped })
    expect(await publish(dropped)).toBeUndefined()
    expect(await store.readSetChunk({ id: dropped, first: 0 })).toBeUndefined()
  })

  it('counts towards the quota with geometries, but not what it replaces', async () => {
    const ref = `0x${'1'.repeat(64)}` as const
    await store.putGeometry({
      account: 'q',
      ref,
      text: '',
      bytes: 300,
      expiresMs: now + DAY_MS,
      limits: LIMITS,
      nowMs: now,
    })
    const first = await begin('q', 'zones')
    expect(await append(first, 0, 1, 600)).toEqual({ outcome: 'stored' })
    await publish(first)
    const second = await begin('q', 'zones')
    expect(await append(second, 0, 1, 650)).toEqual({ outcome: 'stored' })
    expect(await append(second, 1, 1, 60)).toEqual({ outcome: 'share', usedBytes: 950 })
    await store.dropSet({ id: second })
    const other = await begin('q', 'others')
    expect(await append(other, 0, 1, 150)).toEqual({ outcome: 'share', usedBytes: 900 })
    expect((await store.listGeometries({ account: 'q', limit: 9, nowMs: now })).usedBytes).toBe(900)
    expect(await append(other, 0, 1, 50, { maxBytes: 10, maxAccountBytes: 1e9 })).toMatchObject({ outcome: 'full' })
  })

  it('limits the sets of an account that are being received', async () => {
    for (let count = 0; count < 4; count++) await begin('many', `${count}`)
    const fifth = { ...UPLOAD, id: 'fifth', account: 'many', name: 'x', expiresMs: now + 1000, nowMs: now }
    expect(await store.createSet(fifth)).toBe(false)
  })

  it('are received only while their process holds them', async () => {
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => begin('held', name, now + 1000)))
    await append(ids[0]!, 0, 1, 600)
    const hold = (id: string, nowMs: number) => store.holdSet({ id, expiresMs: now + DAY_MS, nowMs })
    await hold(ids[0]!, now + 999)
    await hold(ids[1]!, now + 1000) // too late
    const laterMs = now + 1000
    const start = (id: string) =>
      store.createSet({ ...UPLOAD, id, account: 'held', name: id, expiresMs: now + DAY_MS, nowMs: laterMs })
    for (const id of ['held-5', 'held-6', 'held-7']) expect(await start(id)).toBe(true)
    expect(await start('held-8')).toBe(false)
    expect((await store.listGeometries({ account: 'held', limit: 9, nowMs: laterMs })).usedBytes).toBe(600)
  })

  it('that a former process was receiving are deleted when the next upload of the account begins', async () => {
    const published = await begin('former', 'kept')
    await append(published, 0, 1, 50)
    await publish(published)
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => begin('former', name)))
    const other = await begin('former other', 'a')
    await append(ids[0]!, 0, 1, 600)
    const next = { ...UPLOAD, id: 'next', account: 'former', name: 'a', expiresMs: now + DAY_MS, nowMs: now + 1 }
    expect(await store.createSet(next)).toBe(false)
    expect(await store.createSet({ ...next, abandonedBeforeMs: now + 1 })).toBe(true)
    expect(await append(ids[0]!, 1, 1)).toEqual({ outcome: 'gone' })
    expect((await store.listGeometries({ account: 'former', limit: 9, nowMs: now })).usedBytes).toBe(50)
    expect(await append(other, 0, 1)).toEqual({ outcome: 'stored' })
  })

  it('of different accounts do not pass the limit of the store together', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => begin(`full ${index}`, 'zones')))
    const usedBytes = async () => {
      const [row] = await database.reads.query('select coalesce(sum(bytes), 0)::int as bytes from stored_set')
      const [geometries] = await database.reads.query(
        'select coalesce(sum(bytes), 0)::int as bytes from stored_geometry',
      )
      return (row!['bytes'] as number) + (geometries!['bytes'] as number)
    }
    // Room for three of the twelve.
    const maxBytes = (await usedBytes()) + 350
    const outcomes = await Promise.all(ids.map((id) => append(id, 0, 1, 100, { maxBytes, maxAccountBytes: 1000 })))
    expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(3)
    expect(await usedBytes()).toBe(maxBytes - 50)
  })

  it('limits the sets that begin to be received at the same time', async () => {
    const begun = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        store.createSet({
          ...UPLOAD,
          id: `same-${index}`,
          account: 'same',
          name: `${index}`,
          expiresMs: now + DAY_MS,
          nowMs: now,
        }),
      ),
    )
    expect(begun.filter(Boolean)).toHaveLength(4)
  })

  it('takes nothing more after the time for its upload, when its bytes no longer count', async () => {
    const late = await begin('late', 'zones', now + 1000)
    await append(late, 0, 1, 600)
    const other = await begin('late', 'other')
    const laterMs = now + 1000
    const stored = new Uint8Array(1)
    const chunk = { count: 1, vertices: 4, stored, bytes: 600, limits: LIMITS, nowMs: laterMs }
    expect(await store.appendSet({ ...chunk, id: other, first: 0 })).toEqual({ outcome: 'stored' })
    expect(await store.appendSet({ ...chunk, id: late, first: 1, bytes: 1 })).toEqual({ outcome: 'gone' })
    expect(await store.publishSet({ id: late, expiresMs: laterMs + DAY_MS, nowMs: laterMs })).toBeUndefined()
    expect(await use('late', 'zones', laterMs)).toBeUndefined()
  })

  it('expires if it is not used, and an upload that never ended does too', async () => {
    const used = await begin('time', 'used')
    const unused = await begin('time', 'unused')
    const broken = await begin('time', 'broken', now - 1)
    for (const id of [used, unused]) await append(id, 0, 1)
    await store.publishSet({ id: used, expiresMs: now + 1000, nowMs: now })
    await store.publishSet({ id: unused, expiresMs: now - 1, nowMs: now })
    expect(await use('time', 'unused')).toBeUndefined()
    expect(await use('time', 'used', now, now + 2000)).toMatchObject({ expiresMs: now + DAY_MS })
    expect((await use('time', 'used', now + 5000))?.id).toBe(used)
    await createRecordStore(database, () => new Date().toISOString()).maintain(undefined)
    const rows = await database.reads.query("select id from stored_set where account = 'time'")
    expect(rows).toEqual([{ id: used }])
    expect(await append(broken, 0, 1)).toEqual({ outcome: 'gone' })
  })
})
