import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { SyncStore } from '../../src/sync/chain-position.ts'
import { MULTICALL3 } from '../../src/sync/eas-attestations.ts'
import { HttpRpc } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import { createChainTasks } from '../../src/sync/sync-records.ts'
import type { ChainTasks } from '../../src/sync/sync-worker.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const LOCATION_SCHEMA = schemaUids(readConfig({}, 1)).location

const locationData = (index: number, memo = '', location?: string, seconds = 1_700_000_000n + BigInt(index)): Hex =>
  encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    seconds,
    'EPSG:4326',
    'geojson-point',
    location ?? JSON.stringify({ type: 'Point', coordinates: [(index % 360) - 180, (index % 180) - 90] }),
    ['gps'],
    ['0x010203'],
    [],
    [],
    memo,
  ])

const LIMITS = { maxRangeBlocks: 10_000, blocksAtOnce: 64, logsAtOnce: 2000, maxDataBytes: 1_048_576, maxBumps: 1024 }

describe.skipIf(skipReason())('records of a local chain', () => {
  let local: LocalChain
  let files: StoreFiles
  let database: Database
  let keccak: Keccak
  let store: RecordStore
  let sync: ChainTasks
  let problems: string[]

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    files = await makeStore('embedded')
    database = await files.open()
    keccak = await createKeccak()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
    sync = createSync(store)
  })
  beforeEach(() => {
    problems = []
  })
  afterAll(async () => {
    await local?.stop()
    await database?.close()
    await files?.remove()
  })

  function createSync(target: SyncStore, urls: readonly string[] = [local.url], finalityDepth = 16): ChainTasks {
    return createChainTasks({
      chain: { ...local.chain, finalityDepth },
      schemas: new Map([[LOCATION_SCHEMA, 'nine-fields']]),
      limits: LIMITS,
      rpcs: new RpcList({
        chainId: local.chain.id,
        clients: urls.map((url) => new HttpRpc({ url, timeoutMs: 5000, maxResponseBytes: 2 * 1_048_576 })),
        now: () => performance.now(),
        random: Math.random,
        maxSuspensionMs: 1000,
      }),
      store: target,
      keccak,
      nowSeconds: () => Math.floor(Date.now() / 1000),
      onProblem: (message) => problems.push(message),
      onContradictions: () => {},
    })
  }

  async function catchUp(opened = sync): Promise<{ inserted: number; revoked: number; rolledBack: number }> {
    const sum = { inserted: 0, revoked: 0, rolledBack: 0 }
    for (;;) {
      const { inserted, revoked, rolledBack, isCaughtUp } = await opened.sync.pass(50)
      sum.inserted += inserted
      sum.revoked += revoked
      sum.rolledBack += rolledBack
      if (isCaughtUp) return sum
    }
  }

  /** Returns the records that another process finds when it reads the chain from the beginning. */
  async function expectTruth(): Promise<void> {
    const freshStore = createMemorySyncStore()
    await catchUp(createSync(freshStore))
    const listedRecords = JSON.parse(`[${(await store.page({ limit: 1000, offset: 0 })).documents}]`) as {
      finalized: boolean
    }[]
    // Records do not store whether they are final.
    const actualRecords = listedRecords.map(({ finalized: _, ...record }) => JSON.stringify(record)).sort()
    const expectedRecords = freshStore
      .dump()
      .split('\n')
      .filter((line) => line.startsWith('{"uid":"0x') && line.includes('"created_at"'))
    expect(actualRecords).toEqual(expectedRecords.map((line) => line.slice(0, line.lastIndexOf('}') + 1)).sort())
  }

  const attest = (index: number, memo?: string) => local.attest(LOCATION_SCHEMA, locationData(index, memo))
  const revoke = (uid: Hex) => local.revoke(LOCATION_SCHEMA, uid)

  it('are the attested ones, with their contents', async () => {
    const uids: Hex[] = []
    for (let index = 0; index < 3; index++) uids.push(await attest(index, `n ${index}`))
    expect(await catchUp()).toMatchObject({ inserted: 3 })
    expect(await store.record(uids[1]!)).toMatch(/"memo":"n 1","revoked":false/)
    await expectTruth()
  })

  it('are revoked by the log of their revocation', async () => {
    const uid = await attest(10)
    await revoke(uid)
    expect(await catchUp()).toMatchObject({ inserted: 1, revoked: 1 })
    await expectTruth()
  })

  it.each([1, 3, 20, 40])('follow a reorganisation of %i blocks within one pass', async (depth) => {
    const uid = await attest(20 + depth)
    await catchUp()
    await revoke(uid)
    await attest(30 + depth)
    if (depth > 2) await local.client.mine({ blocks: depth - 2 })
    await catchUp()
    expect(await store.record(uid)).toMatch(/"revoked":true/)
    await local.client.request({ method: 'anvil_reorg', params: [depth, []] } as never)
    const result = await sync.sync.pass(50)
    expect(result).toMatchObject({ isCaughtUp: true })
    // The first depth removes only the last block, the others remove the revocation too.
    expect(result.rolledBack).toBe(1)
    expect(await store.record(uid)).toMatch(depth === 1 ? /"revoked":true/ : /"revoked":false/)
    expect(problems.join()).toMatch(/reorganised/)
    await expectTruth()
  })

  it('are removed when the chain becomes shorter', async () => {
    await attest(60)
    await attest(61)
    await catchUp()
    await local.client.request({ method: 'anvil_rollback', params: [2] } as never)
    for (let pass = 0; pass < 4; pass++) await sync.sync.pass(50) // a lagging endpoint looks the same, so it gets some time
    await expectTruth()
    await attest(62)
    expect(await catchUp()).toMatchObject({ inserted: 1 })
    await expectTruth()
  })

  it('include a hundred with equal fields in one block (R1)', async () => {
    const attestationFields = {
      recipient: `0x${'0'.repeat(40)}`,
      expirationTime: 0n,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      value: 0n,
    }
    const items = Array.from({ length: 20 }, () => ({ ...attestationFields, data: locationData(70) }))
    await local.client.setAutomine(false)
    await local.client.setBlockGasLimit({ gasLimit: 200_000_000n })
    const hashes: Hex[] = []
    for (let round = 0; round < 5; round++)
      hashes.push(await local.multiAttest([{ schema: LOCATION_SCHEMA, data: items }]))
    await local.client.mine({ blocks: 1 })
    await local.client.setAutomine(true)
    for (const hash of hashes) expect((await local.client.getTransactionReceipt({ hash })).status).toBe('success')
    expect(await catchUp()).toMatchObject({ inserted: 100 })
    await expectTruth()
  })

  it('exclude invalid attestations, which are quarantined with a reason', async () => {
    const undecodable = [
      '0x1234',
      locationData(0, '', 'no JSON'),
      locationData(0, '', '{"type":"Point","coordinates":[500,0]}'),
      locationData(0, '', undefined, 2n ** 256n - 1n),
      locationData(0, '', '{"type":"Point\u0000","coordinates":[0,0]}'),
    ] as const
    for (const data of undecodable) await local.attest(LOCATION_SCHEMA, data)
    await attest(80, 'zero \u0000 and a quote "')
    expect(await catchUp()).toMatchObject({ inserted: 1 })
    const rows = await database.reads.query('select stage, reason, retry_at from quarantine order by block_number')
    expect(rows).toEqual([
      { stage: 'data', reason: 'its data ends within its first 9 words', retry_at: null },
      { stage: 'location', reason: 'the location: is not valid JSON', retry_at: null },
      { stage: 'location', reason: 'the location has longitude 500, outside -180..180', retry_at: null },
      { stage: 'time', reason: `eventTimestamp ${2n ** 256n - 1n} is past the year 9999 in seconds`, retry_at: null },
      { stage: 'location', reason: 'the location: is not valid JSON', retry_at: null },
    ])
    await expectTruth()
  })

  it('are the same when read through Multicall3, where the chain has it', async () => {
    await local.installMulticall3()
    const requestedCalls: string[] = []
    const spy = await proxy(
      (method, params) => void requestedCalls.push(`${method} ${(params[0] as { to?: string })?.to ?? ''}`),
    )
    const other = createMemorySyncStore()
    await catchUp(createSync(other, [spy.url]))
    spy.close()
    expect(requestedCalls).toContain(`eth_call ${MULTICALL3}`)
    const freshStore = createMemorySyncStore()
    const plain = await proxy((method) => (method === 'eth_getCode' ? '0x' : undefined))
    await catchUp(createSync(freshStore, [plain.url]))
    plain.close()
    expect(other.dump()).toBe(freshStore.dump())
  })

  it('are complete even if an endpoint omits logs, once another was read', async () => {
    await local.client.mine({ blocks: 80 }) // anvil reports blocks as final 64 below the head
    const partial = await proxy((method, _params, result) =>
      method === 'eth_getLogs' ? (result as unknown[]).slice(1) : undefined,
    )
    const other = createMemorySyncStore()
    const opened = createSync(other, [partial.url, local.url], 4)
    await catchUp(opened)
    const freshStore = createMemorySyncStore()
    await catchUp(createSync(freshStore, [local.url], 4))
    expect(other.dump()).not.toBe(freshStore.dump())
    while ((await opened.audit.step()) !== undefined);
    partial.close()
    await catchUp(opened)
    expect(problems.join()).toMatch(/omitted by an endpoint/)
    expect(other.dump()).toBe(freshStore.dump())
  })

  // The last test, because anvil is slow afterwards.
  it('are not held up by an attestation of 5 MB, which is quarantined', async () => {
    await local.client.setBlockGasLimit({ gasLimit: 20_000_000_000n })
    await attest(81)
    const uid = await local.attest(LOCATION_SCHEMA, locationData(82, '', ' '.repeat(5_000_000)), 0n, {
      gas: 19_000_000_000n,
    })
    await attest(83)
    expect(await catchUp()).toMatchObject({ inserted: 2 })
    const rows = await database.reads.query("select stage, reason from quarantine where uid = decode($1, 'hex')", [
      uid.slice(2),
    ])
    expect(rows).toEqual([{ stage: 'size', reason: 'is larger than the limit of RPC responses' }])
    await expectTruth()
  })

  /** Creates an endpoint that responds as the chain does, unless overridden; undefined keeps the true response. */
  async function proxy(change: (method: string, params: unknown[], result: unknown) => unknown) {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', async () => {
        const requestedCalls = JSON.parse(body)
        // biome-ignore lint/suspicious/noExplicitAny: the chain's response is passed on unchanged
        const truth: any = await (
          await fetch(local.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        ).json()
        const changed = (call: { method: string; params: unknown[] }, reply: { result?: unknown }) => ({
          ...reply,
          result: change(call.method, call.params, reply.result) ?? reply.result,
        })
        const reply = Array.isArray(requestedCalls)
          ? requestedCalls.map((call, index) => changed(call, truth[index]))
          : changed(requestedCalls, truth)
        response.end(JSON.stringify(reply))
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: () => server.closeAllConnections(),
    }
  }
})
