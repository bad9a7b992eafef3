import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { scaled } from '../scale.ts'
import { simulateLiars } from '../sync-simulation.ts'

const SEEDS = scaled(400)

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

/** Runs many seeds. An error names the seed. */
async function forEachSeed(run: (seed: number) => Promise<void>): Promise<void> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    await run(seed).catch((error: Error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error })
    })
  }
}

describe('endpoints that lie all the time', () => {
  it('change no record while they are fewer than the honest ones', async () => {
    await forEachSeed(async (seed) => {
      const liars = 1 + Math.floor(randomFrom(seed)() * 2)
      const { found, wanted, auditedTo, final } = await simulateLiars(seed, keccak, { liars, honest: liars + 1 })
      expect([...found].sort()).toEqual([...wanted].sort())
      expect(auditedTo).toBe(final)
    })
  })

  it('add and remove nothing through the audit when there is one liar and one honest endpoint', async () => {
    let undecided = 0
    await forEachSeed(async (seed) => {
      const { added, removed, wanted, auditedTo, final } = await simulateLiars(seed, keccak, { liars: 1, honest: 1 })
      expect([...added].filter((fact) => !wanted.has(fact))).toEqual([])
      expect([...removed].filter((fact) => wanted.has(fact))).toEqual([])
      if (auditedTo < final) undecided++
    })
    expect(undecided).toBeGreaterThan(0)
    expect(undecided).toBeLessThan(SEEDS)
  })
})
