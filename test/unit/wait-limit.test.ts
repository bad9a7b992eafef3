import { expect, it } from 'vitest'
import { FairQueue } from '../../src/base/fair-queue.ts'
import { WaitLimit } from '../../src/base/wait-limit.ts'

const MAX_MS = 200

/** A queue in which an item takes `itemMs`, and whose first item has waited for a second. */
function fill(items: number, itemMs: number, concurrency = 1) {
  let nowMs = 1_000_000
  const limit = new WaitLimit(MAX_MS, concurrency, () => nowMs)
  for (let count = 0; count < 100; count++) limit.record(itemMs)
  const queue = new FairQueue<{ readonly sinceMs: number }>(1000)
  for (let count = 0; count < items; count++) queue.push('busy', { sinceMs: nowMs - 1000 })
  return {
    limit,
    queue,
    refuses: (client = 'busy') => limit.refuses(queue, client),
    passTime: (ms: number) => {
      nowMs += ms
    },
    serve: (count: number) => {
      for (let served = 0; served < count; served++) queue.shift()
    },
  }
}

it('refuses a request that would wait for longer than the limit', () => {
  // 19 items of 10 ms take 190 ms, 21 take 210 ms.
  expect(fill(19, 10).refuses()).toBe(false)
  expect(fill(21, 10).refuses()).toBe(true)
  expect(fill(21, 10, 2).refuses()).toBe(false)
})

it('refuses nothing while no item really waits: the estimate may be that of slow work before a burst', () => {
  const { limit } = fill(0, 100)
  const burst = new FairQueue<{ readonly sinceMs: number }>(1000)
  for (let count = 0; count < 50; count++) burst.push('busy', { sinceMs: 1_000_000 })
  expect(limit.refuses(burst, 'busy')).toBe(false)
})

it('lets a request wait for a few items, however long they take', () => {
  expect(fill(15, 1000).refuses()).toBe(false)
  expect(fill(16, 1000).refuses()).toBe(true)
})

it('does not refuse a client whose turn comes before most of the queue', () => {
  const { refuses } = fill(30, 10)
  expect(refuses('other')).toBe(false)
  expect(refuses('busy')).toBe(true)
})

it('allows an eighth of the wait after a refusal, until a second has passed without another', () => {
  const { refuses, passTime, serve } = fill(21, 10)
  expect(refuses()).toBe(true)
  serve(18) // 3 are left: 30 ms
  passTime(999)
  expect(refuses()).toBe(true)
  passTime(1001)
  expect(refuses()).toBe(false)
})

it('allows the whole wait again ten seconds after the first refusal, even if refusals go on', () => {
  const { refuses, passTime, serve } = fill(21, 10)
  expect(refuses()).toBe(true)
  serve(11) // 100 ms: beyond the eighth, within the whole
  for (let seconds = 0.5; seconds < 10; seconds += 0.5) {
    passTime(500)
    expect(refuses(), `${seconds} s`).toBe(true)
  }
  passTime(500)
  expect(refuses()).toBe(false)
})

it('allows the whole wait again when nothing was served for a tenth of a second', () => {
  const { limit, refuses, passTime, serve } = fill(21, 10)
  limit.begin()
  limit.begin()
  expect(refuses()).toBe(true)
  serve(11)
  passTime(500) // one of the two takes long
  limit.end()
  limit.begin()
  limit.end()
  limit.end()
  passTime(99)
  limit.begin()
  expect(refuses()).toBe(true)
  limit.end()
  passTime(100)
  limit.begin()
  expect(refuses()).toBe(false)
})

it('does not let the overload of one client shorten the wait of another one', () => {
  const { limit, queue, refuses, serve } = fill(21, 10)
  expect(refuses()).toBe(true)
  serve(16) // 50 ms are left
  for (let count = 0; count < 5; count++) queue.push('other', { sinceMs: 999_000 })
  // 100 ms for each of them
  expect([limit.refuses(queue, 'busy'), limit.refuses(queue, 'other')]).toEqual([true, false])
})

it('refuses a request at its turn if it has waited too long after all, in an overload after an eighth', () => {
  const { limit, passTime } = fill(0, 10)
  passTime(MAX_MS + 1)
  expect(limit.refusesLate('busy', 1_000_001, 50)).toBe(false)
  expect(limit.refusesLate('busy', 1_000_000, 15)).toBe(false)
  expect(limit.refusesLate('busy', 1_000_000, 16)).toBe(true)
  // 26 ms ago
  expect(limit.refusesLate('busy', 1_000_000 + MAX_MS + 1 - 26, 0)).toBe(true)
  expect(limit.refusesLate('busy', 1_000_000 + MAX_MS + 1 - 25, 0)).toBe(false)
  expect(limit.refusesLate('other', 1_000_000 + MAX_MS + 1 - 26, 50)).toBe(false)
})

it('is crowded from the length on at which a client may be refused in an overload', () => {
  expect(fill(2, 10).limit.isCrowded(2)).toBe(false)
  expect(fill(3, 10).limit.isCrowded(3)).toBe(true)
})
