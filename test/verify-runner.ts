/** The verify code of a compute thread, in this thread. */

import { readConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { createVerifyEngine } from '../src/verify/engine.ts'
import type { VerifyConfig } from '../src/verify/plugin.ts'
import { runVerifyTask } from '../src/verify/task.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import type { VerifyTask } from '../src/wire/evidence-messages.ts'
import { type Loose, NOW } from './evidence.ts'

const { limits } = readConfig({}, 1)
const workerLimits = { ...limits, chainIds: [84532] }

/** Creates functions that return the members of the response for a stamp or a proof, or the problem. */
export async function createVerifier(config: VerifyConfig = { allowMock: true }) {
  let cryptoCalls = 0
  const onCall = () => cryptoCalls++
  const engine = { kernel: loadKernel(), keccak: counted(await createKeccak(), onCall), limits: workerLimits }
  const runner = await createVerifyEngine(engine, config, counted(await loadSecp256k1(), onCall))
  const run = (kind: 'stamp' | 'proof', body: unknown, nowSeconds: number) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
    return runVerifyTask({ kind, body: bytes, nowSeconds }, runner, workerLimits)
  }
  const answer = async (kind: 'stamp' | 'proof', body: unknown, nowSeconds: number): Promise<Loose> => {
    const result = await run(kind, body, nowSeconds)
    return result.ok ? { ...JSON.parse(`{${result.members}}`), data: result.data } : { problem: result.problem }
  }
  return {
    run,
    /** Number of hashes, signatures and signer recoveries. */
    cryptoCalls: () => cryptoCalls,
    /** Runs a task as the service sends it to a compute thread. */
    ask: (task: VerifyTask) => runVerifyTask(task, runner, workerLimits),
    stamp: (stamp: unknown, nowSeconds = NOW + 60) => answer('stamp', { stamp }, nowSeconds),
    proof: (proof: unknown, options: Loose = {}, nowSeconds = NOW + 60) =>
      answer('proof', { proof, options }, nowSeconds),
  }
}

/** Returns the same functions; they report each call. */
function counted<T extends object>(functions: T, onCall: () => void): T {
  const get = (target: T, name: string | symbol) => {
    const member = Reflect.get(target, name)
    if (typeof member !== 'function') return member
    return (...given: unknown[]) => {
      onCall()
      return member.apply(target, given)
    }
  }
  return new Proxy(functions, { get })
}
