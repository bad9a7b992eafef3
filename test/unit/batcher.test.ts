import { describe, expect, it } from 'vitest'
import { Batcher, type BatcherOptions, QueueFullError } from '../../src/threads/batcher.ts'
import { eventually } from '../eventually.ts'

interface Item {
  readonly value: number
  stale?: boolean
  readonly client?: string
}

function create(
  run: (items: readonly Item[]) => Promise<readonly number[]>,
  options: Partial<BatcherOptions<Item, number>> = {},
) {
  return new Batcher<Item, number>({
    concurrency: 2,
    maxBatchSize: 4,
    maxQueueSize: 100,
    maxWaitMs: 1000,
    nowMs: () => performance.now(),
    clientOf: ({ client }) => client,
    run,
    isStale: ({ stale }) => stale === true,
    staleError: () => new Error('stale'),
    isRetryable: (error) => (error as Error).message !== 'time is over',
    ...options,
  })
}

const double = async (items: readonly Item[]) => items.map(({ value }) => 2 * value)

describe('the batcher', () => {
  it('serves another client before the rest of a long line, and drops from the longest line when it is full', async () => {
    const order: number[] = []
    const start = async (items: readonly Item[]) => {
      order.push(...items.map(({ value }) => value))
      return double(items)
    }
    const batcher = create(start, { concurrency: 1, maxBatchSize: 1, maxQueueSize: 10 })
    const flood = Array.from({ length: 10 }, (_, value) => batcher.submit({ value, client: 'flood' }))
    const outcomes = Promise.allSettled(flood)
    expect(await batcher.submit({ value: 100, client: 'honest' })).toBe(200)
    expect(order.indexOf(100)).toBeLessThanOrEqual(2)
    const dropped = (await outcomes).filter(({ status }) => status === 'rejected')
    expect(dropped).toEqual([{ status: 'rejected', reason: expect.any(QueueFullError) }])
  })

  it.each([
    [undefined, 17],
    [128, 129],
  ])('refuses nothing while few items wait, with few = %s', async (few, firstRefused) => {
    let nowMs = 0
    const run = async (items: readonly Item[]) => {
      nowMs += 1000
      return double(items)
    }
    const options = { concurrency: 1, maxBatchSize: 1, maxQueueSize: 1000, nowMs: () => nowMs }
    const batcher = create(run, few === undefined ? options : { ...options, few })
    await batcher.submit({ value: 0 }) // the time of an item is known now
    const accepted: Promise<number>[] = []
    while (!batcher.refuses('a')) {
      accepted.push(batcher.submit({ value: accepted.length, client: 'a' }))
      nowMs += 10_000 // the first one waits long
    }
    expect(accepted.length + 1).toBe(firstRefused)
    expect(await Promise.all(accepted)).toHaveLength(firstRefused - 1)
  })

  it('leaves threads to others while the slow items of one client run', async () => {
    const order: number[] = []
    const ends: (() => void)[] = []
    const run = async (items: readonly Item[]) => {
      order.push(items[0]!.value)
      await new Promise<void>((resolve) => ends.push(resolve))
      return double(items)
    }
    const batcher = create(run, { concurrency: 3, maxBatchSize: 1, maxRunningPerClient: 2 })
    const slow = [1, 2, 3, 4].map((value) => batcher.submit({ value, client: 'slow' }))
    await eventually(() => expect(order).toEqual([1, 2]))
    const honest = batcher.submit({ value: 100, client: 'honest' })
    await eventually(() => expect(order).toEqual([1, 2, 100]))
    ends[2]!()
    expect(await honest).toBe(200)
    expect(order).toEqual([1, 2, 100])
    for (let index = 0; index < 4; index++) {
      await eventually(() => expect(ends.length).toBeGreaterThan(index))
      ends[index]!()
    }
    await eventually(() => expect(ends.length).toBe(5))
    ends[4]!()
    expect(await Promise.all(slow)).toEqual([2, 4, 6, 8])
  })

  it('sends items that arrive in one tick together, shared evenly over the threads', async () => {
    const sizes: number[] = []
    const batcher = create(async (items) => {
      sizes.push(items.length)
      return double(items)
    })
    const results = await Promise.all([1, 2, 3, 4, 5, 6].map((value) => batcher.submit({ value })))
    expect(results).toEqual([2, 4, 6, 8, 10, 12])
    expect(sizes).toEqual([3, 3])
  })

  it('never runs more batches than `concurrency`, and keeps the order', async () => {
    const order: number[] = []
    let running = 0
    const batcher = create(
      async (items) => {
        expect(++running).toBeLessThanOrEqual(2)
        order.push(...items.map(({ value }) => value))
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return double(items)
      },
      { maxBatchSize: 1 },
    )
    await Promise.all(Array.from({ length: 20 }, (_, value) => batcher.submit({ value })))
    expect(order).toEqual(Array.from({ length: 20 }, (_, value) => value))
  })

  it('repeats the items of a crashed batch one by one, so that only the bad item fails', async () => {
    const batcher = create(async (items) => {
      if (items.some(({ value }) => value === 13)) throw new Error('the thread died')
      return double(items)
    })
    const settled = await Promise.allSettled([1, 13, 2].map((value) => batcher.submit({ value })))
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('does not repeat a batch that timed out, nor a stale item', async () => {
    let runs = 0
    const late = create(async () => {
      runs++
      throw new Error('time is over')
    })
    const settled = await Promise.allSettled([1, 2, 3, 4].map((value) => late.submit({ value })))
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
    expect(runs).toBe(2)

    const items: Item[] = [{ value: 1 }, { value: 2 }, { value: 3 }]
    const sent: number[] = []
    const dying = create(
      async (batch) => {
        sent.push(...batch.map(({ value }) => value))
        items[1]!.stale = true
        throw new Error('the thread died')
      },
      { concurrency: 1 },
    )
    const errors = await Promise.all(items.map((item) => dying.submit(item).catch((error: Error) => error.message)))
    expect(errors).toEqual(['the thread died', 'stale', 'the thread died'])
    expect(sent).toEqual([1, 2, 3, 1, 3])
  })

  it('rejects queued and running items at once when it is abandoned', async () => {
    const batcher = create(() => new Promise(() => {}), { maxBatchSize: 1 })
    const messages = [1, 2, 3, 4].map((value) => batcher.submit({ value }).catch((error: Error) => error.message))
    await new Promise((resolve) => setImmediate(resolve))
    batcher.abandon(new Error('stopping'))
    expect(await Promise.all(messages)).toEqual(Array(4).fill('stopping'))
  })

  it('drops a stale item before it is sent', async () => {
    const sent: number[] = []
    const batcher = create(async (items) => {
      sent.push(...items.map(({ value }) => value))
      return double(items)
    })
    const item: Item = { value: 1 }
    const result = batcher.submit(item)
    item.stale = true
    await expect(result).rejects.toThrow('stale')
    expect(await batcher.submit({ value: 2 })).toBe(4)
    expect(sent).toEqual([2])
  })

  it('rejects at once when the queue is full', async () => {
    const batcher = create(double, { maxQueueSize: 2 })
    const first = [batcher.submit({ value: 1 }), batcher.submit({ value: 2 })]
    await expect(batcher.submit({ value: 3 })).rejects.toBeInstanceOf(QueueFullError)
    expect(await Promise.all(first)).toEqual([2, 4])
  })

  it('rejects an item whose estimated wait is too long, and says when to retry', async () => {
    let nowMs = 0
    let finish = () => {}
    const batcher = create(
      async (items) => {
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        nowMs += 500 * items.length
        return double(items)
      },
      { concurrency: 1, maxBatchSize: 1, maxWaitMs: 1000, nowMs: () => nowMs },
    )
    const tick = () => new Promise((resolve) => setImmediate(resolve))
    const finishOne = async () => {
      finish()
      await tick()
    }
    // No duration is known yet, so every item may queue. Each takes 500 ms, and the average approaches that.
    const first = Array.from({ length: 12 }, (_, value) => batcher.submit({ value }))
    await tick()
    for (let index = 0; index < 12; index++) await finishOne()
    expect(await Promise.all(first)).toHaveLength(12)
    // A burst may queue, however long earlier items took. An item that arrives while others have waited long may not.
    const second = Array.from({ length: 28 }, (_, value) => batcher.submit({ value }))
    await tick()
    for (let index = 0; index < 10; index++) await finishOne()
    // 17 wait now, the first of them for five seconds. 16 items take longer than a second, so that many may wait.
    const rejected = await Promise.allSettled([batcher.submit({ value: 6 })])
    expect(rejected[0]).toMatchObject({ status: 'rejected', reason: { retryAfterSeconds: 9 } })
    for (let index = 0; index < 18; index++) await finishOne()
    expect(await Promise.all(second)).toHaveLength(28)
    // An idle thread accepts any item, however long earlier items took.
    const onIdleLane = batcher.submit({ value: 21 })
    await tick()
    await finishOne()
    expect(await onIdleLane).toBe(42)
  })

  it('lets an item with patience of its own wait where others are rejected', async () => {
    let nowMs = 0
    const ends: (() => void)[] = []
    const run = async (items: readonly Item[]) => {
      await new Promise<void>((resolve) => ends.push(resolve))
      nowMs += 100
      return double(items)
    }
    const patienceMs = ({ client }: Item) => (client === 'chunks' ? 5000 : undefined)
    const options = { concurrency: 1, maxBatchSize: 1, maxWaitMs: 10, nowMs: () => nowMs, patienceMs }
    const batcher = create(run, options)
    const first = Array.from({ length: 30 }, (_, value) => batcher.submit({ value, client: 'chunks' }))
    for (let index = 0; index < 10; index++) {
      await eventually(() => expect(ends).toHaveLength(1))
      ends.shift()!()
      await first[index]
    }
    expect(batcher.refuses('chunks')).toBe(true)
    expect(batcher.refuses('other')).toBe(false)
    const patient = batcher.submit({ value: 100, client: 'chunks' })
    for (let index = 10; index < 31; index++) {
      await eventually(() => expect(ends).toHaveLength(1))
      ends.shift()!()
      await (first[index] ?? patient)
    }
    expect(await patient).toBe(200)
  })
})
