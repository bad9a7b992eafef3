import { beforeAll, describe, expect, it } from 'vitest'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { scaled } from '../scale.ts'
import { simulateDroppedLogs } from '../sync-simulation.ts'

const SEEDS = scaled(200)

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

describe('logs that one of two or three endpoints drops', () => {
  it('are stored within two polls, before their blocks are final', async () => {
    const counts = new Map<number, number>()
    let dropped = 0
    for (let seed = 1; seed <= SEEDS; seed++) {
      const result = await simulateDroppedLogs(seed, keccak)
      dropped += result.dropped
      for (const polls of result.pollsUntilStored) counts.set(polls, (counts.get(polls) ?? 0) + 1)
      expect([...result.found].sort(), `seed ${seed}`).toEqual([...result.wanted].sort())
      expect(Math.max(1, ...result.pollsUntilStored), `seed ${seed}`).toBeLessThanOrEqual(2)
    }
    console.log(`${dropped} logs dropped; logs by polls until they were stored:`, Object.fromEntries(counts))
    expect(dropped).toBeGreaterThan(SEEDS)
  })
})
