import { expect, it } from 'vitest'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { scaled } from '../scale.ts'
import { simulate } from '../sync-simulation.ts'

/** The property tests run the lower seeds. */
const FIRST_SEED = Number(process.env['SIMULATOR_FIRST_SEED'] ?? 1001)
const SEEDS = scaled(9000)

it(`the synchronisation ends in the state of the chain (${SEEDS} more seeds)`, { timeout: 1_200_000 }, async () => {
  const keccak = await createKeccak()
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const store = createMemorySyncStore()
    const { found, wanted } = await simulate(seed, keccak, { store, dump: store.dump })
    if (found !== wanted) expect(`seed ${seed}\n${found}`).toBe(`seed ${seed}\n${wanted}`)
  }
})
