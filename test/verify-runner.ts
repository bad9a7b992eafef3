/** The verify line of a compute thread, in this thread. */

import { readConfig } from '../src/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import type { VerifyTask } from '../src/evidence-messages.ts'
import type { VerifyConfig } from '../src/verify/plugin.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { createVerifyEngine } from '../workers/verify-engine.ts'
import { runVerifyTask } from '../workers/verify-task.ts'
import { type Loose, NOW } from './evidence.ts'

const { limits } = readConfig({}, 1)
const workerLimits = { ...limits, chainIds: [84532] }

/** @returns what answers a stamp or a proof: its members, or the problem */
export async function createVerifier(config: VerifyConfig = { allowMock: true }) {
  const engine = { kernel: loadKernel(), keccak: await createKeccak(), limits: workerLimits }
  const runner = await createVerifyEngine(engine, config, await loadSecp256k1())
  const run = (question: 'stamp' | 'proof', body: unknown, nowSeconds: number) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
    return runVerifyTask({ question, body: bytes, nowSeconds }, runner, workerLimits)
  }
  const answer = async (question: 'stamp' | 'proof', body: unknown, nowSeconds: number): Promise<Loose> => {
    const result = await run(question, body, nowSeconds)
    return result.ok ? { ...JSON.parse(`{${result.members}}`), data: result.data } : { problem: result.problem }
  }
  return {
    run,
    /** As the service asks a compute thread. */
    ask: (task: VerifyTask) => runVerifyTask(task, runner, workerLimits),
    stamp: (stamp: unknown, nowSeconds = NOW + 60) => answer('stamp', { stamp }, nowSeconds),
    proof: (proof: unknown, options: Loose = {}, nowSeconds = NOW + 60) =>
      answer('proof', { proof, options }, nowSeconds),
  }
}
