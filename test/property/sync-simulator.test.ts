import { beforeAll, describe, expect, it } from 'vitest'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { scaled } from '../scale.ts'
import { simulate } from '../sync-simulation.ts'

const SEEDS = scaled(1000)
/**
 * Seeds that once failed. 8155: an endpoint that denied a revocation caused its attestation to be removed too. 703: an endpoint that
 * lagged confirmed the wrong one of two blocks of the same second.
 */
const REGRESSIONS = [8155, 703]

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

describe('the synchronisation', () => {
  it('ends with the state of the chain after any sequence of faults', async () => {
    for (const seed of [...REGRESSIONS, ...Array.from({ length: SEEDS }, (_, index) => index + 1)]) {
      const store = createMemorySyncStore()
      const { found, wanted: expected } = await simulate(seed, keccak, { store, dump: store.dump }).catch(
        (error: Error) => {
          throw new Error(`seed ${seed}: ${error.message}`, { cause: error })
        },
      )
      if (found !== expected) expect(`seed ${seed}\n${found}`).toBe(`seed ${seed}\n${expected}`)
    }
  })
})
