import { describe, expect, it } from 'vitest'
import { createLease } from '../../src/sync/lease.ts'

/** A store that gives the lease to whoever asks, as long as the chains are to be read. */
async function follow(desired: readonly boolean[]) {
  const events: string[] = []
  const answers = [...desired]
  const lease = createLease({
    store: {
      lease: async () => {
        const isDesired = answers.length > 1 ? answers.shift()! : answers[0]!
        return { isHeld: isDesired, isDesired }
      },
    },
    owner: 'a',
    holdMs: 600_000,
    onChange: (isHeld) => events.push(isHeld ? 'reads' : 'rests'),
    onStopped: () => events.push('stopped'),
  })
  for (let index = 1; index < desired.length; index++) await lease.renew()
  await lease.close()
  return events
}

describe('a worker that was stopped by request', () => {
  it('is named once when the process starts, and not as a change', async () => {
    expect(await follow([false, false, false])).toEqual(['stopped'])
  })

  it('is named when it stops, and again after it was started and stopped', async () => {
    expect(await follow([true, true, false, false, true, false])).toEqual([
      'reads',
      'stopped',
      'rests',
      'reads',
      'stopped',
      'rests',
    ])
  })

  it('is not named while it reads', async () => {
    expect(await follow([true, true])).toEqual(['reads'])
  })
})
