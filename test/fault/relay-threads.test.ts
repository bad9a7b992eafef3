import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { encodeMerkleRoot } from '../../src/attest/data.ts'
import { schemaUids } from '../../src/attest/schemas.ts'
import { createLog } from '../../src/base/log.ts'
import { readConfig } from '../../src/config/config.ts'
import { startChainAccess } from '../../src/threads/chain-client.ts'
import { startRelay } from '../../src/threads/relay-client.ts'
import { startSigner } from '../../src/threads/signer-client.ts'
import { StoreClient } from '../../src/threads/store-client.ts'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import { type LocalChain, skipReason, startLocalChain } from '../onchain/anvil.ts'

const spawned = vi.hoisted((): { name: string | undefined; terminate(): Promise<number> }[] => [])
vi.mock('node:worker_threads', async (load) => {
  const actual = await load<typeof import('node:worker_threads')>()
  class RecordedWorker extends actual.Worker {
    constructor(...args: ConstructorParameters<typeof actual.Worker>) {
      super(...args)
      spawned.push({ name: args[1]?.name, terminate: () => this.terminate() })
    }
  }
  return { ...actual, Worker: RecordedWorker }
})

describe.skipIf(skipReason() !== undefined)('the relay and its threads', () => {
  let local: LocalChain
  let parts: Awaited<ReturnType<typeof open>>
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-relay-'))
  beforeAll(async () => {
    local = await startLocalChain('1.3.0')
    parts = await open()
  })
  afterAll(async () => {
    await parts.close()
    await local.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function open() {
    const environment = { ...local.environment, DATA_DIR: dataDir, ENABLE_ONCHAIN_SUBMIT: '1', SUBMIT_POLL_MS: '20' }
    const config = readConfig({ ...environment, SYNC: '0', RPC_TIMEOUT_MS: '5000', COMPUTE_THREADS: '1' }, 1)
    const log = createLog('json', () => {})
    const signer = await startSigner(config, log)
    await local.client.setBalance({ address: signer.address as Hex, value: 10n ** 19n })
    const store = new StoreClient(config, log)
    const subscribers = new Set<object>()
    const connect: typeof store.connect = (onPort) => {
      const leave = store.connect(onPort)
      subscribers.add(leave)
      return () => {
        subscribers.delete(leave)
        leave()
      }
    }
    const chainClient = (await startChainAccess(config, log, signer, { connect }))!
    const relay = startRelay({ chainClient, signer, log })
    store.open()
    await eventually(() => expect(store.state.isOpen).toBe(true), { interval: 20 })
    return {
      config,
      signer,
      store,
      relay,
      subscribers,
      close: () => Promise.all([signer.close(), chainClient.close(), store.close()]),
    }
  }

  async function submitted(index: number) {
    const { store, signer, config } = parts
    const data = encodeMerkleRoot({
      merkleRoot: `0x${index.toString(16).padStart(64, '0')}`,
      leafCount: 1,
      timestampSeconds: 1,
    })
    const schema = schemaUids(config)['merkle-root']
    const payload = {
      kind: 'merkle-root',
      chainId: local.chain.id,
      schema,
      recipient: `0x${'0'.repeat(40)}`,
      data,
    } as const
    const sender = signer.address.toLowerCase() as Hex
    const submission = { id: `${index}`, account: 'a', idempotencyKey: `${index}`, sender, payload, gas: 1 }
    const limits = { maxQueued: 100, maxQueuedPerKey: 100, gasPerDay: 1e9, gasPerDayOfAll: 1e9, nowMs: Date.now() }
    await eventually(() => store.ask('submit', { submissions: [submission], ...limits }, Date.now() + 5000), {
      interval: 100,
    })
    return eventually(
      async () => {
        const [found] = await store.ask('submissions', [`${index}`], Date.now() + 5000)
        expect(found).toMatchObject({ status: 'mined' })
        return found!.uid!
      },
      { interval: 50 },
    )
  }

  it('continues after the chain thread, the store and the signer have died', async () => {
    const uids = [await submitted(0)]
    for (const [index, name] of ['sync', 'store', 'signer', 'sync'].entries()) {
      const threads = spawned.filter((thread) => thread.name === name)
      await threads.at(-1)!.terminate()
      uids.push(await submitted(index + 1))
      expect(spawned.filter((thread) => thread.name === name).length, name).toBeGreaterThan(threads.length)
    }
    for (const uid of uids) expect((await local.getAttestation(uid)).attester).toBe(parts.signer.address)
    expect(new Set(uids).size).toBe(5)
    expect(parts.relay.state(local.chain.id)).toEqual({ state: 'ready' })
    expect(parts.relay.state(1)).toBeUndefined()
    // Regression: each restart of the sync thread left a subscription to the store behind.
    expect(parts.subscribers.size).toBe(1)
  })
})
