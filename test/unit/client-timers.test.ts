/** The time limits of the client library, with a clock that jumps. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTransport, sleep } from '../../src/client/transport.ts'

describe('a time that is longer than a timer can wait', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([2 ** 31, Number.POSITIVE_INFINITY])('is no limit of 1 ms for a response: %d ms', async (timeoutMs) => {
    let answer: ((response: Response) => void) | undefined
    const transport = createTransport({
      baseUrl: 'http://127.0.0.1:9',
      fetch: (_, init) =>
        new Promise((resolve, reject) => {
          answer = resolve
          const { signal } = init!
          signal!.addEventListener('abort', () => reject(signal!.reason))
        }),
    })
    const call = transport.json({ method: 'GET', path: '/x' }, { timeoutMs, maxRetries: 0 })
    await vi.advanceTimersByTimeAsync(3_600_000)
    answer!(Response.json({ is: 'late' }))
    expect(await call).toMatchObject({ is: 'late' })
  })

  it('is not skipped before a retry', async () => {
    let isOver = false
    void sleep(2 ** 31, undefined).then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(2 ** 31)
    expect(isOver).toBe(true)
  })
})
