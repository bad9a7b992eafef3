import { describe, expect, it } from 'vitest'
import { Leases } from '../../src/sync/lease.ts'

/** Renews a lease once per value of `desired`, with a store that grants it while the value is true, and returns the events. */
async function collectEvents(desired: readonly boolean[]) {
  const events: string[] = []
  const pending = [...desired]
  const lease = new Leases({
    store: {
      lease: async () => {
        const isDesired = pending.length > 1 ? pending.shift()! : pending[0]!
        const held = isDesired ? [{ chainId: 1, generation: 1 }] : []
        return { held, surplus: [], isDesired, isShared: false }
      },
    },
    owner: 'a',
    chainIds: [1],
    holdMs: 600_000,
    idle: async () => {},
    onChange: (chainIds) => events.push(chainIds.length > 0 ? 'reads' : 'rests'),
    onStopped: () => events.push('stopped'),
  })
  for (let index = 1; index < desired.length; index++) await lease.renew()
  await lease.close()
  return events
}

describe('a worker that an operator stopped', () => {
  it('is reported once when the process starts, and not as a change', async () => {
    expect(await collectEvents([false, false, false])).toEqual(['stopped'])
  })

  it('is reported when it stops, and again after it was started and stopped', async () => {
    expect(await collectEvents([true, true, false, false, true, false])).toEqual([
      'reads',
      'stopped',
      'rests',
      'reads',
      'stopped',
      'rests',
    ])
  })

  it('is not reported while it reads', async () => {
    expect(await collectEvents([true, true])).toEqual(['reads'])
  })
})
