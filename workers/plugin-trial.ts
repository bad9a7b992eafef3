import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1, TERMINABLE_BACKENDS } from '../src/crypto/secp256k1.ts'
import { loadPlugin } from '../src/verify/added-plugin.ts'
import { type ConformanceKit, tryPlugin } from '../src/verify/conformance.ts'
import { createVerifyEngine } from '../src/verify/engine.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import type { PluginTrialData, PluginTrialResult } from '../src/wire/evidence-messages.ts'

/**
 * Replaces functions that a rule must not call: while a rule runs, each call is recorded and throws. This finds mistakes.
 * It is not a sandbox: operators must not load hostile modules at all.
 */
function setTraps(): ConformanceKit['watch'] {
  let reached: Set<string> | undefined
  const trap = (owner: object, name: string, title: string) => {
    const members = owner as Record<string, unknown>
    const original = members[name] as (...args: unknown[]) => unknown
    members[name] = function (this: unknown, ...args: unknown[]) {
      if (reached === undefined) return original.apply(this, args)
      reached.add(title)
      throw new Error(`a rule must not use ${title}`)
    }
  }
  trap(globalThis, 'fetch', 'the network (fetch)')
  trap(net.Socket.prototype, 'connect', 'the network (net)')
  trap(dgram.Socket.prototype, 'send', 'the network (dgram)')
  trap(dns, 'lookup', 'the network (dns)')
  for (const name of ['readFileSync', 'readFile', 'openSync', 'open', 'writeFileSync', 'writeFile']) {
    trap(fs, name, `files (fs.${name})`)
  }
  for (const name of ['readFile', 'writeFile', 'open']) trap(fs.promises, name, `files (fs.promises.${name})`)
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'fork']) trap(childProcess, name, `processes (${name})`)
  trap(Math, 'random', 'randomness (Math.random)')
  trap(Date, 'now', 'the clock (Date.now)')
  trap(performance, 'now', 'the clock (performance.now)')
  const RealDate = Date
  globalThis.Date = new Proxy(RealDate, {
    construct(target, args: unknown[], newTarget) {
      if (args.length === 0 && reached !== undefined) {
        reached.add('the clock (new Date)')
        throw new Error('a rule must not use the clock (new Date)')
      }
      return Reflect.construct(target, args, newTarget) as Date
    },
  })
  syncBuiltinESMExports()
  return async (call) => {
    const current = new Set<string>()
    reached = current
    try {
      return { value: await call(), reached: [...current] }
    } finally {
      reached = undefined
    }
  }
}

async function run({ url, task, limits }: PluginTrialData): Promise<PluginTrialResult> {
  const watched = setTraps()
  const loaded = await loadPlugin(url)
  const { name, version, environments, description } = loaded
  const plugin = { name, version, environments, description }
  if (task === 'describe') return { ok: true, plugin, findings: [] }
  const { examples } = (await import(url)) as { examples?: unknown }
  const base = { kernel: loadKernel(), keccak: await createKeccak(), limits }
  const secp256k1 = await loadSecp256k1(TERMINABLE_BACKENDS)
  const engine = await createVerifyEngine(base, { allowMock: false, plugins: [loaded] }, secp256k1)
  const readGeometry: ConformanceKit['readGeometry'] = (stamp) => engine.readLocation(stamp, ['location'])
  return { ok: true, plugin, findings: await tryPlugin(loaded, examples, { engine, readGeometry, watch: watched }) }
}

// A module that throws while it loads, or that exports no plugin, is an ordinary result.
run(workerData as PluginTrialData)
  .catch(
    (error: unknown): PluginTrialResult => ({
      ok: false,
      reason: error instanceof Error ? error.message : String(error),
    }),
  )
  .then((result) => parentPort?.postMessage(result))
