import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shareRead } from '../../src/store/operations.ts'

/** Reads that the test ends. */
function reader() {
  const pending: { resolve(value: number): void; reject(error: Error): void }[] = []
  const read = () => new Promise<number>((resolve, reject) => pending.push({ resolve, reject }))
  return { open: pending, ask: shareRead(read) }
}

const ticks = () =>
  new Promise((resolve) => setImmediate(resolve)).then(() => new Promise((resolve) => setImmediate(resolve)))

// The test advances the time that one read waits for another.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('a shared read', () => {
  it('serves all callers that arrive before it starts; callers that arrive while it runs share the next one', async () => {
    const { open: pending, ask } = reader()
    const first = [ask(), ask()]
    await ticks()
    const later = [ask(), ask(), ask()]
    await ticks()
    expect(pending).toHaveLength(1)
    pending[0]!.resolve(1)
    expect(await Promise.all(first)).toEqual([1, 1])
    await ticks()
    expect(pending).toHaveLength(2)
    pending[1]!.resolve(2)
    expect(await Promise.all(later)).toEqual([2, 2, 2])
  })

  it('does not wait for an earlier read that never ends', async () => {
    const { open: pending, ask } = reader()
    const hanging = ask()
    await ticks()
    const next = ask()
    await ticks()
    expect(pending).toHaveLength(1)
    vi.advanceTimersByTime(60)
    await ticks()
    pending[1]!.resolve(2)
    expect(await next).toBe(2)
    pending[0]!.resolve(1)
    expect(await hanging).toBe(1)
  })

  it('reports a failure only to the callers that share it', async () => {
    const { open: pending, ask } = reader()
    const first = ask()
    await ticks()
    const next = ask()
    pending[0]!.reject(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await ticks()
    pending[1]!.resolve(2)
    expect(await next).toBe(2)
  })
})
