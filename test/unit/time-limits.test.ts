import type { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TimeLimits } from '../../src/threads/compute-pool.ts'

describe('time limits', () => {
  let nowMs = 0
  let limits: TimeLimits
  beforeEach(() => {
    vi.useFakeTimers()
    nowMs = 0
    limits = new TimeLimits(() => nowMs)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Starts a task that ends only when it is aborted; returns an object with the time when that was. */
  function begin(leftMs: number, graceMs?: number): { endedMs: number | undefined } {
    const task: { endedMs: number | undefined } = { endedMs: undefined }
    const start = (signal: EventEmitter) =>
      new Promise<void>((resolve) => {
        signal.once('abort', () => {
          task.endedMs = nowMs
          resolve()
        })
      })
    void limits.run(leftMs, start, graceMs)
    return task
  }

  async function advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      nowMs += 10
      await vi.advanceTimersByTimeAsync(10)
    }
  }

  it('end a task soon after its time is over, and no other', async () => {
    const [short, long] = [begin(100), begin(1000)]
    await advance(90)
    expect(short.endedMs).toBeUndefined()
    await advance(100)
    expect(short.endedMs).toBeLessThanOrEqual(160)
    expect(long.endedMs).toBeUndefined()
    await advance(1000)
    expect(long.endedMs).toBeLessThanOrEqual(1060)
  })

  it('count the grace period from when the timeout is noticed', async () => {
    const [strict, patient] = [begin(100, 0), begin(100, 500)]
    await advance(590)
    expect(strict.endedMs).toBeLessThanOrEqual(160)
    expect(patient.endedMs).toBeUndefined()
    await advance(120)
    expect(patient.endedMs).toBeGreaterThanOrEqual(600)
  })

  it('grant the grace period also after the whole machine was suspended', async () => {
    const task = begin(100, 500)
    await advance(50)
    nowMs += 60_000 // The machine slept.
    await advance(400)
    expect(task.endedMs).toBeUndefined()
    await advance(200)
    expect(task.endedMs).toBeGreaterThanOrEqual(60_550)
  })

  it('leave no timer behind', async () => {
    await limits.run(1000, async () => 'done')
    await advance(100)
    expect(vi.getTimerCount()).toBe(0)
  })
})
