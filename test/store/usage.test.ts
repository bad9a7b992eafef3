import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { UsageRecorder } from '../../src/service/usage/usage-recorder.ts'
import type { Database } from '../../src/store/database.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import type { UsageFlush, UsageOperations } from '../../src/wire/usage-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'

/** A flush in which each subject has one row with these amounts. */
function flushOf(process: string, sequence: number, subjects: readonly string[], more: Partial<UsageFlush> = {}) {
  return {
    process,
    sequence,
    completeMs: 1000 * sequence,
    silentMs: 60_000,
    isLast: false,
    subjects,
    days: subjects.map(() => '2030-01-02'),
    kinds: subjects.map(() => 'distance'),
    amounts: [1, 2, 3, 4, 5, 6, 7].map((amount) => subjects.map(() => amount)),
    ...more,
  } satisfies UsageFlush
}

const ONCE = { requests: 1, operations: 2, bytes: 3, vertices: 4, cpuMicros: 5, errors4xx: 6, errors5xx: 7 }
const YEAR = { from: '2030-01-01', to: '2030-12-31' }

describe.each(ENGINES)('usage on %s', (engine) => {
  let store: RecordStore
  let database: Database
  openStoreForTests(engine, (opened, openedDatabase) => {
    store = opened
    database = openedDatabase
  })
  const requestsOf = async (prefix: string) =>
    (await store.readUsage({ prefix, ...YEAR })).rows.reduce((sum, { requests }) => sum + requests, 0)

  it('is added to what is stored, and a flush that is sent again adds nothing', async () => {
    expect(await store.addUsage(flushOf('p1', 1, ['key:a']))).toBe(true)
    expect(await store.addUsage(flushOf('p1', 1, ['key:a']))).toBe(false)
    expect((await store.readUsage({ prefix: 'key:a', ...YEAR })).rows).toEqual([
      { day: '2030-01-02', kind: 'distance', ...ONCE },
    ])
    expect(await store.addUsage(flushOf('p1', 2, ['key:a', 'key:a']))).toBe(true)
    // An old copy that arrives late.
    expect(await store.addUsage(flushOf('p1', 1, ['key:a']))).toBe(false)
    expect(await requestsOf('key:a')).toBe(3)
    expect(await requestsOf('key:')).toBe(3)
    expect(await requestsOf('key:b')).toBe(0)
  })

  it('is stored as a whole or not at all', async () => {
    const broken = flushOf('p2', 1, ['key:b', 'key:c'], { days: ['2030-01-02', '2030-02-31'] })
    await expect(store.addUsage(broken)).rejects.toMatchObject({ kind: 'refused' })
    expect(await requestsOf('key:b')).toBe(0)
    expect(await store.addUsage(flushOf('p2', 1, ['key:b', 'key:c']))).toBe(true)
    expect(await requestsOf('key:b')).toBe(1)
  })

  it('of three processes that flush at the same time adds up, each flush sent twice', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `three:${index}`)
    const work = ['x', 'y', 'z'].map(async (process, index) => {
      for (let sequence = 1; sequence <= 10; sequence++) {
        const order = index === 1 ? names.toReversed() : names
        await Promise.all([1, 2].map(() => store.addUsage(flushOf(process, sequence, order))))
      }
    })
    await Promise.all(work)
    expect(await requestsOf('three:')).toBe(3 * 10 * names.length)
    expect(await requestsOf('three:7')).toBe(30)
  })

  it('is complete up to the oldest flush of the processes that run', async () => {
    await database.transaction((session) => session.query('delete from usage_process'))
    expect((await store.readUsage({ prefix: 'key:', ...YEAR })).completeMs).toBeUndefined()
    await store.addUsage(flushOf('slow', 5, []))
    await store.addUsage(flushOf('quick', 9, []))
    expect((await store.readUsage({ prefix: 'key:', ...YEAR })).completeMs).toBe(5000)
    await store.addUsage(flushOf('slow', 6, [], { isLast: true }))
    expect((await store.readUsage({ prefix: 'key:', ...YEAR })).completeMs).toBe(9000)
    // Its last flush may be sent again.
    expect(await store.addUsage(flushOf('slow', 6, [], { isLast: true }))).toBe(false)
  })

  it('is complete only up to the start of a process that counts and has not stored anything yet', async () => {
    await database.transaction((session) => session.query('delete from usage_process'))
    const beginMs = Date.parse('2030-01-03T00:00:00Z')
    let nowMs = beginMs + 1000
    const recorder = () =>
      new UsageRecorder({
        store: {
          state: { isOpen: true, engine: 'embedded', version: '' },
          untilOpen: () => undefined,
          ask: ((operation: keyof UsageOperations, argument: never) => store[operation](argument)) as never,
        },
        log: { warn: () => {}, info: () => {} },
        metrics: new Metrics(),
        flushMs: 600_000,
        keepDays: 400,
        maxRows: 100,
        answerMs: 1000,
        now: () => nowMs,
      })
    const completeMs = async () => (await store.readUsage({ prefix: 'key:', ...YEAR })).completeMs
    const [known, fresh] = [recorder(), recorder()]
    await known.register(60_000)
    nowMs = beginMs + 2000
    await fresh.register(60_000)
    nowMs = beginMs + 3000
    fresh.counts.add('key:fresh', fresh.kind('distance'), nowMs, 1, 0, 0, 0, 200)
    nowMs = beginMs + 4000
    await known.flush()
    expect(await completeMs()).toBe(beginMs + 2000)
    await fresh.flush()
    expect(await completeMs()).toBe(beginMs + 4000)
    // A process that is silent for hours may have counts that it cannot store.
    await database.transaction((session) =>
      session.query("update usage_process set awaited_until = awaited_until - interval '23 hours'"),
    )
    nowMs = beginMs + 5000
    await known.flush()
    expect(await completeMs()).toBe(beginMs + 4000)
    await fresh.close()
    expect(await completeMs()).toBe(beginMs + 5000)
    await known.close()
  })

  it('that is too old is deleted in portions, by the clock of the database', async () => {
    const names = Array.from({ length: 7000 }, (_, index) => `old:${index}`)
    await store.addUsage(flushOf('p3', 1, names, { days: names.map(() => '2001-01-01') }))
    await store.addUsage(flushOf('p3', 2, ['old:1']))
    const past = { prefix: 'old:', from: '2000-01-01', to: '2002-01-01' }
    expect(await store.pruneUsage({ keepDays: 400 })).toBe(true)
    expect((await store.readUsage(past)).rows[0]).toMatchObject({ requests: 2000 })
    expect(await store.pruneUsage({ keepDays: 400 })).toBe(false)
    expect((await store.readUsage(past)).rows).toEqual([])
    expect(await requestsOf('old:1')).toBe(1)
  })
})
