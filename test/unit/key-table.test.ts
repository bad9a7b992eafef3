import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { KeyTable, type KeyUses } from '../../src/service/keys/key-table.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('stores the uses of keys that it could not store before', async () => {
  const stored: KeyUses[] = []
  let state = { isOpen: true }
  let fails = false
  const store = {
    get state() {
      return state as never
    },
    async ask(operation: string, uses: unknown) {
      if (operation === 'changedKeys') return { number: 1, isWhole: false, put: [], revoked: [] }
      if (fails) throw new StoreFault('late', 'no answer')
      stored.push(uses as KeyUses)
      return undefined
    },
  }
  const log = createLog('json', () => {})
  const table = new KeyTable({ store: store as never, log, pollMs: 1000, maxKeys: 10, answerMs: 1000, now: Date.now })
  let used: KeyUses = []
  table.follow(
    () => {},
    () => {
      const uses = used
      used = []
      return uses
    },
  )
  const [a, b] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string]
  fails = true
  used = [{ sha256: a, atMs: 1 }]
  await vi.advanceTimersByTimeAsync(30_000)
  fails = false
  state = { isOpen: false }
  used = [{ sha256: b, atMs: 2 }]
  await vi.advanceTimersByTimeAsync(30_000)
  expect(stored).toEqual([])
  state = { isOpen: true }
  used = [{ sha256: a, atMs: 3 }]
  await vi.advanceTimersByTimeAsync(30_000)
  expect(stored).toEqual([
    [
      { sha256: a, atMs: 3 },
      { sha256: b, atMs: 2 },
    ],
  ])
  await vi.advanceTimersByTimeAsync(30_000)
  expect(stored).toHaveLength(1)
  table.close()
})
