import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeBoolean } from '../../src/attest/data.ts'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { createLog } from '../../src/base/log.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/setting.ts'
import { type ChainClient, startChainAccess } from '../../src/threads/chain-client.ts'
import { type SignerClient, startSigner } from '../../src/threads/signer-client.ts'
import type { StoreClient } from '../../src/threads/store-client.ts'
import type { AttestationPayload, SigningResult } from '../../src/wire/signing-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { startFaultyRpc } from './faulty-rpc.ts'

const spawned = vi.hoisted((): { terminate(): Promise<number> }[] => [])
vi.mock('node:worker_threads', async (load) => {
  const actual = await load<typeof import('node:worker_threads')>()
  class RecordedWorker extends actual.Worker {
    constructor(...args: ConstructorParameters<typeof actual.Worker>) {
      super(...args)
      spawned.push(this)
    }
  }
  return { ...actual, Worker: RecordedWorker }
})

const uids = schemaUids(readConfig({}, 1))
const UNKNOWN: Hex = `0x${'ab'.repeat(32)}`
const payload: AttestationPayload = {
  kind: 'boolean',
  chainId: 84532,
  schema: uids.boolean,
  recipient: `0x${'0'.repeat(40)}`,
  data: encodeBoolean(true, [], 1_700_000_000, 'contains'),
}

describe.skipIf(skipReason())('signer and chain threads together', () => {
  let local: LocalChain
  let dataDir: string
  let lines: string[]
  let signer: SignerClient
  let chains: ChainClient | undefined

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
  })
  afterAll(() => local?.stop())
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-threads-'))
    lines = []
  })
  afterEach(async () => {
    await Promise.all([signer.close(), chains?.close()])
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function start(environment: Environment, store?: Pick<StoreClient, 'connect'>): Promise<void> {
    const config = readConfig({ DATA_DIR: dataDir, ...environment }, 1)
    const log = createLog('json', (line) => lines.push(line))
    signer = await startSigner(config, log)
    chains = await startChainAccess(config, log, signer, store)
  }

  async function sign(): Promise<Extract<SigningResult, { ok: true }>> {
    const signed = await signer.sign(payload)
    if (!signed.ok) throw new Error(signed.problem.detail)
    return signed
  }

  function submit({ signature, deadlineSeconds: deadline }: Extract<SigningResult, { ok: true }>) {
    return local.submitAnswer({
      attestation: { ...payload, revocable: true, refUID: `0x${'0'.repeat(64)}` },
      delegatedAttestation: { signature, attester: signer.address, deadline },
    })
  }

  it('is not started when no chain has an RPC', async () => {
    await start({})
    expect(chains).toBeUndefined()
    expect(await sign()).toMatchObject({ nonce: 0, nonceSource: 'default' })
  })

  it('signs with the current nonce before and after each submission', async () => {
    await start({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
    expect(chains!.states()).toEqual(new Map([[84532, { state: 'ok' }]]))
    for (let nonce = 0; nonce < 3; nonce++) {
      const signed = await sign()
      expect(signed).toMatchObject({ nonce, nonceSource: 'chain' })
      const stored = await submit(signed)
      expect(stored).toMatchObject({ attester: signer.address, data: payload.data, schema: uids.boolean })
    }
  })

  it('signs a burst of payloads with one nonce; one is accepted and the others are rejected', async () => {
    await start({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
    const signed = await Promise.all(Array.from({ length: 300 }, sign))
    expect(new Set(signed.map(({ nonce, nonceSource }) => `${nonce} ${nonceSource}`))).toEqual(new Set(['0 chain']))
    await submit(signed[150]!)
    await expect(submit(signed[0]!)).rejects.toThrow()
    expect((await sign()).nonce).toBe(1)
  })

  it('looks up attestations and schemas', async () => {
    await start(local.environment)
    const uid = await local.attest(uids.boolean, payload.data)
    expect(await chains!.attestation(84532, uid)).toMatchObject({ ok: true, value: { uid, data: payload.data } })
    expect(await chains!.attestation(84532, UNKNOWN)).toEqual({ ok: true, value: undefined })
    expect(await chains!.schemaString(84532, uids.verify)).toEqual({ ok: true, value: SCHEMA_STRINGS.verify })
    expect(await chains!.schemaString(84532, UNKNOWN)).toEqual({ ok: true, value: undefined })
    expect(chains!.serves(84532)).toBe(true)
    expect(await chains!.attestation(8453, uid)).toMatchObject({ ok: false })
    expect(chains!.serves(8453)).toBe(false)
  })

  it('rejects a chain of another EAS version with an error, in the signer too', async () => {
    await start({ ...local.environment, EAS_VERSION_84532: '1.3.0', RPC_TIMEOUT_MS: '5000' })
    expect(chains!.refusalReason(84532)).toMatch(/profile v2/)
    expect(lines.some((line) => line.includes('"level":"error"') && line.includes('chain refused'))).toBe(true)
    expect(await signer.sign(payload)).toMatchObject({ ok: false, problem: { type: 'invalid-input' } })
    expect(await signer.sign({ ...payload, chainId: 8453 })).toMatchObject({ ok: true })
  })

  it('signs for a chain again after its endpoint served another one', async () => {
    const other = await startLocalChain('1.3.0')
    const endpoint = await startFaultyRpc(other.url, () => 1)
    await start({ RPC_URL_84532: endpoint.url, RPC_TIMEOUT_MS: '5000' })
    expect(chains!.refusalReason(84532)).toBe('an RPC for chain 84532 serves chain 42220')
    expect(await signer.sign(payload)).toMatchObject({ ok: false, problem: { type: 'invalid-input' } })
    endpoint.forwardTo(local.url)
    await eventually(() => expect(chains!.refusalReason(84532)).toBeUndefined())
    // The signer asks again only some seconds after a failed read.
    await eventually(async () => expect(await sign()).toMatchObject({ nonceSource: 'chain' }))
    endpoint.close()
    await other.stop()
  })

  it('starts without the chain, signs by the configuration, and reports look-ups as unreachable', async () => {
    await start({ RPC_URL_84532: 'http://127.0.0.1:1', RPC_TIMEOUT_MS: '200' })
    expect(chains!.states().get(84532)).toMatchObject({ state: 'unverified' })
    expect(chains!.refusalReason(84532)).toBeUndefined()
    expect(await sign()).toMatchObject({ nonce: 0, nonceSource: 'default' })
    expect(await chains!.attestation(84532, UNKNOWN)).toMatchObject({ ok: false })
  })

  it('keeps signing with the last known nonce while the chain thread is down, and reconnects', async () => {
    await start({ ...local.environment, RPC_TIMEOUT_MS: '500' })
    await submit(await sign())
    expect(await sign()).toMatchObject({ nonce: 1, nonceSource: 'chain' })
    const lookUp = chains!.attestation(84532, UNKNOWN)
    await spawned.at(-1)!.terminate()
    expect((await lookUp).ok || (await chains!.attestation(84532, UNKNOWN)).ok).toBe(false)
    expect(await sign()).toMatchObject({ nonce: 1, nonceSource: 'cache' })
    await eventually(async () => expect((await sign()).nonceSource).toBe('chain'), { interval: 100 })
    expect(await chains!.attestation(84532, UNKNOWN)).toEqual({ ok: true, value: undefined })
  })

  // Regression: each restart of the chain thread left a subscription behind.
  it('holds one subscription of ports to the store, however often the chain thread restarts', async () => {
    let subscriptions = 0
    const connect = () => {
      subscriptions++
      return () => void subscriptions--
    }
    await start({ RPC_URL_84532: 'http://127.0.0.1:1', RPC_TIMEOUT_MS: '200' }, { connect })
    for (let round = 0; round < 3; round++) {
      const threads = spawned.length
      await spawned.at(-1)!.terminate()
      expect(subscriptions).toBe(0)
      await eventually(() => expect(spawned.length).toBeGreaterThan(threads))
      await eventually(() => expect(subscriptions).toBe(1))
    }
  })

  it('reconnects a restarted signer thread to the chain', async () => {
    await start({ ...local.environment, RPC_TIMEOUT_MS: '500' })
    await spawned.at(-2)!.terminate()
    await eventually(() => expect(signer.isReady).toBe(true))
    expect(await sign()).toMatchObject({ nonce: 0, nonceSource: 'chain' })
  })
})
