import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { RequestMemos } from '../../src/compute/skeleton-memo.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { scanText } from '../../src/geometry/scan.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { LIMITS as limits, mutate, SEEDS } from '../mutated-bodies.ts'
import { scaled } from '../scale.ts'

const count = scaled(40_000)

describe('a body that the scanner reads', () => {
  it(`gives exactly the result of the parser, with ${count} mutated bodies`, async () => {
    const engine = { kernel: loadKernel(), keccak: await createKeccak(), limits }
    const memos = new RequestMemos()
    const seen = { answered: 0, refused: 0, unresolved: 0, scanned: 0 }
    for (let index = 0; index < count; index++) {
      const [operation, seed] = SEEDS[index % SEEDS.length]!
      const body = index < SEEDS.length ? Buffer.from(seed) : mutate(seed)
      const task = { operation, body, resolved: [], timestampSeconds: 1_700_000_000 }
      const scanned = runComputeTask(task, engine, limits, { memos })
      const parsed = runComputeTask(task, engine, limits, { canScan: false })
      if (!isDeepStrictEqual(scanned, parsed)) {
        throw new Error(`${body}: ${JSON.stringify(scanned)}, the parser: ${JSON.stringify(parsed)}`)
      }
      seen[parsed.type === 'computed' ? 'answered' : parsed.type === 'problem' ? 'refused' : 'unresolved']++
      engine.kernel.release()
      if (parsed.type === 'computed' && scanText(engine.kernel, body, limits) !== undefined) seen.scanned++
    }
    console.log(seen)
    // Both ways were used, for results and for problems.
    expect(seen.answered).toBeGreaterThan(count / 20)
    expect(seen.refused).toBeGreaterThan(count / 20)
    expect(seen.scanned).toBeGreaterThan(seen.answered / 2)
  })
})
