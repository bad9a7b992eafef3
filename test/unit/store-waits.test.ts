import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { StoreClient } from '../../src/threads/store-client.ts'
import type { StoreRequest } from '../../src/wire/store-messages.ts'

/** Stands for the store thread, and answers the oldest call when it is told to. */
class FakeThread extends EventEmitter {
  readonly calls: number[] = []
  postMessage(message: StoreRequest): void {
    if (message.type === 'call') this.calls.push(message.id)
  }
  async terminate(): Promise<void> {
    this.emit('exit', 1)
  }
  async answer(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms)
    this.emit('message', { type: 'result', id: this.calls.shift()!, value: undefined, ms })
    await vi.advanceTimersByTimeAsync(0)
  }
}

const NO_LOG = { info() {}, warn() {}, error() {} }
let thread: FakeThread
let client: StoreClient

beforeEach(() => {
  vi.useFakeTimers()
  thread = new FakeThread()
  client = new StoreClient(readConfig({ MAX_QUEUE_MS: '200' }, 1), NO_LOG, () => thread)
  client.open()
  thread.emit('message', { type: 'open', engine: 'embedded', version: '17' })
})
afterEach(async () => {
  const closed = client.close()
  vi.advanceTimersByTime(10_000)
  await closed
  vi.useRealTimers()
})

const ask = (name: string, operation: 'record' | 'slice' = 'record') =>
  client.ask(operation, '0x' as never, Date.now() + 60_000, { client: name }).then(
    () => 'answered',
    ({ kind }) => kind,
  )

/** Lets the store learn that a call takes 20 ms. */
async function warmUp(): Promise<void> {
  for (let count = 0; count < 50; count++) {
    const asked = ask('first')
    await thread.answer(20)
    await asked
  }
}

it('a client whose request would wait too long for the store is refused, another one is not', async () => {
  await warmUp()
  const asked = Array.from({ length: 30 }, () => ask('busy'))
  expect(client.refuses('busy')).toBe(false)
  for (let count = 0; count < 9; count++) await thread.answer(20)
  // 20 calls of 20 ms wait, the oldest for 180 ms. 16 may wait.
  expect(client.isCrowded).toBe(true)
  expect(client.refuses('busy')).toBe(true)
  expect(client.refuses('other')).toBe(false)
  while (thread.calls.length > 0) await thread.answer(20)
  expect(await Promise.all(asked)).toContain('answered')
  expect([client.isCrowded, client.refuses('busy')]).toEqual([false, false])
})

it('a call whose turn comes too late is refused, unless its request has begun', async () => {
  await warmUp()
  const asked = [...Array.from({ length: 31 }, () => ask('busy')), ask('busy', 'slice')]
  while (thread.calls.length > 0) await thread.answer(20)
  // The 12th call has waited for 220 ms, and 20 others wait. From then on 20 ms are too long.
  expect(await Promise.all(asked)).toEqual([...Array(11).fill('answered'), ...Array(20).fill('busy'), 'answered'])
})

it('a call is not refused at its turn while few others wait, however long they took', async () => {
  const asked = Array.from({ length: 16 }, () => ask('busy'))
  while (thread.calls.length > 0) await thread.answer(1000)
  expect(await Promise.all(asked)).toEqual(Array(16).fill('answered'))
})
