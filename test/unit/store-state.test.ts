import { beforeEach, describe, expect, it } from 'vitest'
import { StoreStateTracker } from '../../src/threads/store-client.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'

const OPENING = { isOpen: false, engine: 'embedded', reason: 'it is opening', condition: 'opening' } as const
const OPEN = { isOpen: true, engine: 'embedded', version: '17' } as const

describe('requests that wait for a store to open', () => {
  let tracker: StoreStateTracker
  beforeEach(() => {
    tracker = new StoreStateTracker(OPENING, 2)
  })
  const soon = () => Date.now() + 60_000

  it('continue when it is open, and there are at most so many', async () => {
    const waiting = [tracker.untilOpen(soon(), {}), tracker.untilOpen(soon(), {})]
    await expect(tracker.untilOpen(soon(), {})).rejects.toThrow(StoreFault)
    tracker.set(OPEN)
    expect(await Promise.all(waiting)).toEqual([undefined, undefined])
    expect(tracker.untilOpen(soon())).toBeUndefined()
  })

  // Regression: the wait of the usage recorder at the start took the place of a request.
  it('lose no place to the service itself, which waits too', async () => {
    const own = tracker.untilOpen(soon())
    const waiting = [tracker.untilOpen(soon(), {}), tracker.untilOpen(soon(), {})]
    tracker.set(OPEN)
    expect(await Promise.all([own, ...waiting])).toEqual([undefined, undefined, undefined])
    const late = new StoreStateTracker(OPENING, 2).untilOpen(Date.now())
    await expect(late).rejects.toMatchObject({ kind: 'opening' })
  })

  it('are those of all clients, although one sends more requests than there are places', async () => {
    const flood = Array.from({ length: 10 }, () => tracker.untilOpen(soon(), { client: 'flood' })!)
    const outcomes = Promise.allSettled(flood)
    const honest = tracker.untilOpen(soon(), { client: 'honest' })
    tracker.set(OPEN)
    expect(await honest).toBeUndefined()
    expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  // Regression: the places of clients that had gone were taken until the deadline, and others got 503.
  it('get the places of those whose clients disconnected', async () => {
    const clients = [{ aborted: false }, { aborted: false }]
    const waiting = clients.map((client) => tracker.untilOpen(soon(), client)!)
    await expect(tracker.untilOpen(soon(), { aborted: false })).rejects.toThrow(StoreFault)
    clients[0]!.aborted = true
    const next = tracker.untilOpen(soon(), { aborted: false })
    await expect(waiting[0]).rejects.toMatchObject({ kind: 'opening' })
    await expect(tracker.untilOpen(soon(), { aborted: false })).rejects.toThrow(StoreFault)
    tracker.set(OPEN)
    expect(await Promise.all([waiting[1], next])).toEqual([undefined, undefined])
  })
})
