import type { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TimeLimits } from '../../src/threads/time-limits.ts'

describe('limits of time', () => {
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

  /** A task that ends only when it is told to; when it was. */
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

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      nowMs += 10
      await vi.advanceTimersByTimeAsync(10)
    }
  }

  it('end a task soon after its time is over, and no other', async () => {
    const [short, long] = [begin(100), begin(1000)]
    await pass(90)
    expect(short.endedMs).toBeUndefined()
    await pass(100)
    expect(short.endedMs).toBeLessThanOrEqual(160)
    expect(long.endedMs).toBeUndefined()
    await pass(1000)
    expect(long.endedMs).toBeLessThanOrEqual(1060)
  })

  it('give grace from when it is seen that the time is over', async () => {
    const [strict, patient] = [begin(100, 0), begin(100, 500)]
    await pass(590)
    expect(strict.endedMs).toBeLessThanOrEqual(160)
    expect(patient.endedMs).toBeUndefined()
    await pass(120)
    expect(patient.endedMs).toBeGreaterThanOrEqual(600)
  })

  it('give it also when the clock stood still for everybody', async () => {
    const task = begin(100, 500)
    await pass(50)
    nowMs += 60_000 // the machine slept
    await pass(400)
    expect(task.endedMs).toBeUndefined()
    await pass(200)
    expect(task.endedMs).toBeGreaterThanOrEqual(60_550)
  })

  it('leave no timer behind', async () => {
    await limits.run(1000, async () => 'done')
    await pass(100)
    expect(vi.getTimerCount()).toBe(0)
  })
})
