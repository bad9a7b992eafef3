import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { usageKind } from '../../src/http/access/request-usage.ts'
import { UsageCounts } from '../../src/service/usage/usage-counts.ts'
import { UsageRecorder } from '../../src/service/usage/usage-recorder.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'
import type { UsageFlush } from '../../src/wire/usage-messages.ts'
import { eventually } from '../eventually.ts'

const DAY_MS = 86_400_000
const MIDNIGHT_MS = Date.parse('2030-01-02T00:00:00Z')

/** Counts one request. */
const count = (counts: UsageCounts, subject: string, atMs: number, kind = 0, status = 200) =>
  counts.add(subject, kind, atMs, 1, 10, 2, 0.5, status)

function listed(counts: UsageCounts): (string | number)[][] {
  const { rows, release } = counts.seal()
  const list = [...rows].map(({ subject, day, kind, amounts }) => [
    subject,
    day - MIDNIGHT_MS / DAY_MS,
    kind,
    ...amounts,
  ])
  release()
  return list
}

describe('counts of usage', () => {
  it('are kept apart by subject, kind and day of UTC, and are taken once', () => {
    const counts = new UsageCounts(100)
    count(counts, 'a', MIDNIGHT_MS - 1)
    count(counts, 'a', MIDNIGHT_MS)
    count(counts, 'a', MIDNIGHT_MS, 1, 404)
    count(counts, 'a', MIDNIGHT_MS + DAY_MS - 1, 0, 503)
    count(counts, 'b', MIDNIGHT_MS)
    expect(counts.rows).toBe(4)
    expect(listed(counts)).toEqual([
      ['a', -1, 0, 1, 1, 10, 2, 500, 0, 0],
      ['a', 0, 1, 1, 1, 10, 2, 500, 1, 0],
      ['a', 0, 0, 2, 2, 20, 4, 1000, 0, 1],
      ['b', 0, 0, 1, 1, 10, 2, 500, 0, 0],
    ])
    expect(counts.rows).toBe(0)
    expect(listed(counts)).toEqual([])
  })

  it('belong to the day that the clock says, when it jumps to and fro, and stay bounded', () => {
    const counts = new UsageCounts(1000)
    for (const days of [0, 3650, 0, -3650, 0]) count(counts, 'a', MIDNIGHT_MS + days * DAY_MS)
    expect(listed(counts).map(([, day, , requests]) => [day, requests])).toEqual([
      [0, 3],
      [3650, 1],
      [-3650, 1],
    ])
    for (let day = 0; day < 500; day++) count(counts, 'a', MIDNIGHT_MS + day * DAY_MS)
    const rows = listed(counts)
    expect(rows).toHaveLength(64)
    expect(rows.reduce((sum, row) => sum + (row[3] as number), 0)).toBe(500)
  })

  it('of subjects beyond the limit are those of others, also while sealed ones wait', () => {
    const counts = new UsageCounts(3)
    for (const subject of ['a', 'b']) count(counts, subject, MIDNIGHT_MS)
    const sealed = counts.seal()
    for (const subject of ['c', 'd', 'e', 'c']) count(counts, subject, MIDNIGHT_MS)
    expect(counts.otherRequests).toBe(2)
    expect(listed(counts).map(([subject, , , requests]) => [subject, requests])).toEqual([
      ['c', 2],
      ['others', 2],
    ])
    expect([...sealed.rows]).toHaveLength(2)
    sealed.release()
    expect(counts.rows).toBe(0)
  })

  it('that outgrow their row go on in another one', () => {
    const counts = new UsageCounts(10)
    for (let index = 0; index < 3; index++) counts.add('a', 0, MIDNIGHT_MS, 0, 3e9, 0, 0, 0)
    expect(listed(counts).reduce((sum, row) => sum + (row[5] as number), 0)).toBe(9e9)
  })

  it('of 100,000 subjects add up', () => {
    const counts = new UsageCounts(1_000_000)
    for (let round = 0; round < 2; round++)
      for (let index = 0; index < 100_000; index++) count(counts, `key:${index}`, MIDNIGHT_MS)
    const rows = listed(counts)
    expect(rows).toHaveLength(100_000)
    expect(rows.every((row) => row[3] === 2)).toBe(true)
  })
})

/** A recorder whose store does what `answer` says with each flush. */
function recordTo(answer: (flush: UsageFlush) => boolean, maxRows = 10_000) {
  const store = {
    state: { isOpen: true },
    untilOpen: () => undefined,
    ask: async (_operation: string, flush: UsageFlush) => {
      await null
      return answer(flush)
    },
  }
  const log = { warn: () => {}, info: () => {} }
  const metrics = new Metrics()
  const limits = { flushMs: 600_000, keepDays: 400, maxRows, answerMs: 1000 }
  return new UsageRecorder({ store: store as never, log, metrics, ...limits, now: () => MIDNIGHT_MS })
}

describe('a recorder of usage', () => {
  it('sends a flush again under its number until it is acknowledged, and then what was counted since', async () => {
    const flushes: UsageFlush[] = []
    let isAway = true
    const recorder = recordTo((flush) => {
      flushes.push(flush)
      if (isAway) throw new StoreFault('late', 'no answer')
      return true
    })
    const kind = recorder.kind('distance')
    count(recorder.counts, 'a', MIDNIGHT_MS, kind)
    await recorder.flush()
    count(recorder.counts, 'a', MIDNIGHT_MS, kind)
    await recorder.flush()
    isAway = false
    await recorder.close()
    expect(flushes.map(({ sequence, amounts, isLast }) => [sequence, amounts[0], isLast])).toEqual([
      [1, [1], false],
      [1, [1], false],
      [1, [1], false],
      [2, [1], true],
    ])
    expect(new Set(flushes.slice(0, 3).map((flush) => JSON.stringify(flush))).size).toBe(1)
    expect(flushes[0]).toMatchObject({ subjects: ['a'], days: ['2030-01-02'], kinds: ['distance'] })
    expect(recorder.counts.rows).toBe(0)
  })

  it('sends many rows in portions, and says only with the last one that they are complete', async () => {
    const flushes: UsageFlush[] = []
    const recorder = recordTo((flush) => flushes.push(flush) > 0)
    const kind = recorder.kind('distance')
    for (let index = 0; index < 2500; index++) count(recorder.counts, `key:${index}`, MIDNIGHT_MS, kind)
    await recorder.close()
    expect(flushes.map(({ subjects, completeMs }) => [subjects.length, completeMs])).toEqual([
      [1000, 0],
      [1000, 0],
      [500, MIDNIGHT_MS],
    ])
    expect(new Set(flushes.flatMap(({ subjects }) => subjects)).size).toBe(2500)
  })
})

describe('a recorder of usage that becomes full', () => {
  it('stores its counts at half of its rows, without waiting for its interval', async () => {
    const requests = new Map<string, number>()
    const recorder = recordTo(({ subjects, amounts }) => {
      for (const [index, subject] of subjects.entries())
        requests.set(subject, (requests.get(subject) ?? 0) + amounts[0]![index]!)
      return true
    }, 100)
    const kind = recorder.kind('distance')
    const subjects = Array.from({ length: 1000 }, (_, index) => `key:${index}`)
    for (const [index, subject] of subjects.entries()) {
      count(recorder.counts, subject, MIDNIGHT_MS, kind)
      // The store answers before the other half is used.
      if (index % 40 === 39) await eventually(() => expect(recorder.counts.rows).toBeLessThan(50))
    }
    await recorder.close()
    expect(recorder.counts.otherRequests).toBe(0)
    expect([...requests.keys()]).toEqual(subjects)
    expect([...requests.values()].every((sum) => sum === 1)).toBe(true)
  })

  it('goes on with what was counted while it stored, if that is half of its rows again', async () => {
    let flushes = 0
    const recorder = recordTo(() => {
      if (flushes++ === 0)
        for (let index = 0; index < 50; index++) count(recorder.counts, `more:${index}`, MIDNIGHT_MS, kind)
      return true
    }, 100)
    const kind = recorder.kind('distance')
    for (let index = 0; index < 50; index++) count(recorder.counts, `key:${index}`, MIDNIGHT_MS, kind)
    await recorder.flush()
    expect([flushes, recorder.counts.rows, recorder.counts.otherRequests]).toEqual([2, 0, 0])
    await recorder.close()
  })

  it('tells the store of itself before it counts, and once the store is open', async () => {
    const flushes: UsageFlush[] = []
    const recorder = recordTo((flush) => flushes.push(flush) > 0)
    await recorder.register(1000)
    expect(flushes).toEqual([expect.objectContaining({ subjects: [], completeMs: MIDNIGHT_MS, silentMs: DAY_MS })])
    await recorder.close()
  })
})

describe('the kind of a request', () => {
  it('is its compute operation, or the group of its route', () => {
    const kinds = [
      ['/compute/v0/distance', 'compute', 'distance'],
      ['/compute/v0/batch', 'compute', 'batch'],
      ['/compute/v0/jobs/:id/input', 'jobs', 'jobs'],
      ['/v1/verify/stamp', 'verify', 'verify'],
      ['/ogc/collections', 'records', 'records'],
      ['/graphql', 'records', 'graphql'],
      ['/admin/keys', 'admin', 'other'],
      ['/health', undefined, 'other'],
    ] as const
    for (const [path, scope, kind] of kinds)
      expect(usageKind(scope === undefined ? { path } : { path, scope })).toBe(kind)
  })
})
