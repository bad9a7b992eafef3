import { beforeAll, describe, expect, it } from 'vitest'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { scaled } from '../scale.ts'
import { simulate } from '../sync-simulation.ts'

const SEEDS = scaled(1000)
/** Each found a mistake once: a denied revocation took the attestation with it. */
const REGRESSIONS = [8155]

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

describe('the synchronisation', () => {
  it('ends with what the chain says, whatever happened on the way', async () => {
    for (const seed of [...REGRESSIONS, ...Array.from({ length: SEEDS }, (_, index) => index + 1)]) {
      const store = createMemorySyncStore()
      const { found, wanted } = await simulate(seed, keccak, { store, dump: store.dump }).catch((error: Error) => {
        throw new Error(`seed ${seed}: ${error.message}`, { cause: error })
      })
      if (found !== wanted) expect(`seed ${seed}\n${found}`).toBe(`seed ${seed}\n${wanted}`)
    }
  })
})
