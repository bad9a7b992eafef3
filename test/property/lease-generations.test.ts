import { describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { ChainPosition, CheckpointMoved } from '../../src/sync/chain-position.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { MODEL_CHAIN } from '../model-chain.ts'
import { scaled } from '../scale.ts'

const SEEDS = scaled(2000)
const STEPS = 40

/** Creates a store that rejects a step unless its generation is the newest, as the real one does, and two processes with their positions. */
function createProcesses() {
  const store = createMemorySyncStore()
  const leases = { newest: 0 }
  const guarded: typeof store = {
    ...store,
    apply: async (range) =>
      range.leaseGeneration === leases.newest
        ? store.apply(range)
        : { ok: false, inserted: 0, revoked: 0, rolledBack: 0 },
  }
  const processes = [0, 1].map(() => {
    const lease = { generation: -1 }
    const position = new ChainPosition(guarded, MODEL_CHAIN.id, () => lease.generation)
    return { lease, position, hasLoaded: false }
  })
  return { store, leases, processes }
}

describe('two processes that pass the lease of a chain to each other', () => {
  it('never store a step that is based on a state before the last step of the other', async () => {
    let [stored, rejected] = [0, 0]
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomFrom(seed)
      const { store, leases, processes } = createProcesses()
      for (let step = 0; step < STEPS; step++) {
        const process = processes[random() < 0.5 ? 0 : 1]!
        const dice = random()
        if (dice < 0.3) process.lease.generation = ++leases.newest
        else if (dice < 0.6) process.hasLoaded = (await process.position.load()) !== undefined
        else if (process.hasLoaded) {
          const seen = process.position.state
          const current = await store.syncState({ chainId: MODEL_CHAIN.id })
          try {
            // The checkpoint stays, as on a chain without new blocks, so that it does not show that another process has written.
            await process.position.commit({ progress: { auditedTo: current.auditedTo + 1 } })
            expect(seen, `seed ${seed}`).toEqual(current)
            stored++
          } catch (error) {
            if (!(error instanceof CheckpointMoved)) throw error
            process.hasLoaded = false
            rejected++
          }
        }
      }
    }
    expect(Math.min(stored, rejected)).toBeGreaterThan(SEEDS)
  })

  it('store their next step when they read the state again after they got the lease back', async () => {
    const { leases, processes } = createProcesses()
    const [first, second] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (const [index, process] of [first, second, first, second].entries()) {
      process.lease.generation = ++leases.newest
      expect(await process.position.load()).toMatchObject({ auditedTo: index - 1 })
      await process.position.commit({ progress: { auditedTo: index } })
    }
  })
})
