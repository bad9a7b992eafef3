import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sharedRead } from '../../src/store/shared-read.ts'

/** Reads that end when they are told to. */
function reader() {
  const open: { resolve(value: number): void; reject(error: Error): void }[] = []
  const read = () => new Promise<number>((resolve, reject) => open.push({ resolve, reject }))
  return { open, ask: sharedRead(read) }
}

const turns = () =>
  new Promise((resolve) => setImmediate(resolve)).then(() => new Promise((resolve) => setImmediate(resolve)))

// How long one read waits for another moves on by hand.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('a read that is shared', () => {
  it('is one for those who ask together, and another one for those who ask while it is under way', async () => {
    const { open, ask } = reader()
    const first = [ask(), ask()]
    await turns()
    const later = [ask(), ask(), ask()]
    await turns()
    expect(open).toHaveLength(1)
    open[0]!.resolve(1)
    expect(await Promise.all(first)).toEqual([1, 1])
    await turns()
    expect(open).toHaveLength(2)
    open[1]!.resolve(2)
    expect(await Promise.all(later)).toEqual([2, 2, 2])
  })

  it('does not wait for one that does not end', async () => {
    const { open, ask } = reader()
    const lost = ask()
    await turns()
    const next = ask()
    await turns()
    expect(open).toHaveLength(1)
    vi.advanceTimersByTime(60)
    await turns()
    open[1]!.resolve(2)
    expect(await next).toBe(2)
    open[0]!.resolve(1)
    expect(await lost).toBe(1)
  })

  it('tells a failure to those who share it alone', async () => {
    const { open, ask } = reader()
    const first = ask()
    await turns()
    const next = ask()
    open[0]!.reject(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await turns()
    open[1]!.resolve(2)
    expect(await next).toBe(2)
  })
})
