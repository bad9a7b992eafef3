import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Log } from '../../src/base/log.ts'
import { readConfig } from '../../src/config/config.ts'
import { StoreClient } from '../../src/threads/store-client.ts'

/** Stands for the store thread: it opens at once and never answers a call. `terminate` ends it, as in Node.js. */
class FakeThread extends EventEmitter {
  postMessage(): void {}
  async terminate(): Promise<void> {
    if (this.listenerCount('exit') > 0) this.emit('exit', 1)
  }
  open(): void {
    this.emit('message', { type: 'open', engine: 'embedded', version: '17' })
  }
}

const STUCK_MS = 10_000
const RESTART_MS = 250
const threads: FakeThread[] = []
let client: StoreClient
let reasons: string[]

beforeEach(() => {
  vi.useFakeTimers()
  threads.length = 0
  reasons = []
  const log: Log = {
    info() {},
    warn() {},
    error(event, fields) {
      if (event === 'store not open') reasons.push(String(fields?.['reason']))
    },
  }
  const startThread = () => {
    const thread = new FakeThread()
    threads.push(thread)
    return thread
  }
  client = new StoreClient(readConfig({ STORE_STUCK_MS: String(STUCK_MS) }, 1), log, startThread, true)
  client.open()
  threads[0]!.open()
})
afterEach(async () => {
  const closed = client.close()
  vi.advanceTimersByTime(10_000)
  await closed
  vi.useRealTimers()
})

const condition = () => (client.state.isOpen ? 'open' : client.state.condition)

// Regression: on a busy machine, an intact store counted as damaged after five slow statements.
it('a store that is only slow never counts as damaged: it opens again after each statement that takes too long', async () => {
  for (let restart = 0; restart < 12; restart++) {
    const call = client.ask('page', { limit: 1, offset: 0 }, Date.now() + 600_000)
    const outcome = expect(call).rejects.toMatchObject({ kind: 'unavailable' })
    vi.advanceTimersByTime(STUCK_MS)
    await outcome
    expect(condition()).toBe('slow')
    // Requests wait until it is open again, as for a store that is opening.
    const waiting = client.untilOpen(Date.now() + 600_000, {})
    vi.advanceTimersByTime(RESTART_MS)
    expect(threads).toHaveLength(restart + 2)
    threads.at(-1)!.open()
    await waiting
    expect(condition()).toBe('open')
  }
  expect(new Set(reasons)).toEqual(
    new Set([
      'too slow: a statement took longer than STORE_STUCK_MS (10000 ms); check the processor load, or raise it',
    ]),
  )
})

it('a store whose thread dies five times counts as damaged', async () => {
  const conditions: string[] = []
  for (let death = 0; death < 5; death++) {
    threads.at(-1)!.emit('exit', 1)
    conditions.push(condition())
    vi.advanceTimersByTime(RESTART_MS)
    if (death < 4) threads.at(-1)!.open()
  }
  expect(conditions).toEqual(['opening', 'opening', 'opening', 'opening', 'damaged'])
  expect(reasons.at(-1)).toContain('the files are probably damaged')
  expect(threads).toHaveLength(5) // the next one starts after a longer pause
})
