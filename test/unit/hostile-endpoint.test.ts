import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { type RpcCall, type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import { createChainTasks } from '../../src/sync/sync-records.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { MODEL_CHAIN, MODEL_SCHEMA, ModelChain, modelEndpoint, NO_FAULTS } from '../model-chain.ts'

type Fields = Record<string, unknown>
/** Changes a reply of an endpoint. */
type Tamper = (call: RpcCall, value: unknown) => unknown

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

/** Creates a chain with some attestations in every block. */
function createChain(seed: number, blocks: number): ModelChain {
  const chain = new ModelChain(keccak, randomFrom(seed))
  for (let count = 0; count < blocks; count++) chain.mine(2, count % 3 === 0 ? 1 : 0)
  return chain
}

/** Creates a synchronisation with one endpoint, whose replies go through `tamper`. */
function createSync(chain: ModelChain) {
  const store = createMemorySyncStore()
  const state = { tamper: ((_, value) => value) as Tamper, chain, nowMs: 1_750_000_000_000 }
  async function requestAll(calls: readonly RpcCall[]) {
    const honest = modelEndpoint(state.chain, Math.random, () => NO_FAULTS)
    const replies = await honest.requestAll(calls)
    return replies.map((reply, index) =>
      reply.ok ? { ok: true as const, value: state.tamper(calls[index]!, structuredClone(reply.value)) } : reply,
    )
  }
  const client: RpcClient = {
    requestAll,
    async request(method, params) {
      const [reply] = await requestAll([{ method, params }])
      if (!reply!.ok) throw reply!.error
      return reply!.value
    },
  }
  const { sync } = createChainTasks({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 16, blocksAtOnce: 4, logsAtOnce: 50, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: new RpcList({
      chainId: MODEL_CHAIN.id,
      clients: [client],
      now: () => state.nowMs,
      random: () => 0.5,
      maxSuspensionMs: 60_000,
    }),
    store,
    keccak,
    nowSeconds: () => Math.floor(state.nowMs / 1000),
    onProblem: () => {},
    onContradictions: () => {},
  })
  return {
    state,
    store,
    /** Syncs until the head. The clock advances first, so that a suspended endpoint is used again. */
    async follow() {
      state.nowMs += 120_000
      for (let pass = 0; pass < 20; pass++) if ((await sync.pass(50)).isCaughtUp) return
      throw new Error('did not reach the head in 20 passes')
    },
  }
}

async function dumpHonest(chain: ModelChain): Promise<string> {
  const { store, follow } = createSync(chain)
  for (let count = 0; count < 3; count++) await follow().catch(() => {})
  await follow()
  return store.dump()
}

/** Syncs repeatedly, because an attestation is requested twice before it is quarantined, and compares with honest replies. */
const expectHonestRecords = async ({ follow, store }: ReturnType<typeof createSync>, chain: ModelChain) => {
  for (let count = 0; count < 3; count++) await follow().catch(() => {})
  await follow()
  expect(store.dump()).toBe(await dumpHonest(chain))
}

const tamperBlocks =
  (change: (block: Fields) => Fields): Tamper =>
  ({ method }, value) =>
    method === 'eth_getBlockByNumber' && value !== null ? change(value as Fields) : value
const tamperLogs =
  (change: (logs: Fields[]) => Fields[]): Tamper =>
  ({ method }, value) =>
    method === 'eth_getLogs' ? change(value as Fields[]) : value
const tamperEveryLog = (changes: Fields): Tamper => tamperLogs((logs) => logs.map((log) => ({ ...log, ...changes })))

describe('an endpoint', () => {
  it('that suddenly serves another chain removes no records and adds none', async () => {
    const [ownChain, other] = [createChain(1, 30), createChain(2, 40)]
    const served = createSync(ownChain)
    await served.follow()
    const before = served.store.dump()
    served.state.chain = other
    served.state.tamper = ({ method }, value) => (method === 'eth_chainId' ? '0x1' : value)
    for (let count = 0; count < 5; count++) await expect(served.follow()).rejects.toThrow(/serves chain 1/)
    expect(served.store.dump()).toBe(before)
    // The other chain may also be shorter than the stored one.
    served.state.chain = createChain(3, 10)
    for (let count = 0; count < 8; count++) await served.follow().catch(() => {})
    expect(served.store.dump()).toBe(before)
    Object.assign(served.state, { chain: ownChain, tamper: (_: RpcCall, value: unknown) => value })
    ownChain.mine(3, 1)
    await expectHonestRecords(served, ownChain)
  })

  it.each<[string, Tamper]>([
    ['a block number that is a float', tamperBlocks((block) => ({ ...block, number: 3.5 }))],
    ['a block number that is a JSON number', tamperBlocks((block) => ({ ...block, number: Number(block['number']) }))],
    ['a negative block number', tamperBlocks((block) => ({ ...block, number: '-0x1' }))],
    ['a block number of 2⁵³', tamperBlocks((block) => ({ ...block, number: '0x20000000000000' }))],
    ['a time of 2²⁵⁶ − 1', tamperBlocks((block) => ({ ...block, timestamp: `0x${'f'.repeat(64)}` }))],
    ['a block without a hash', tamperBlocks(({ hash: _, ...block }) => block)],
    ['a block that is a string', ({ method }, value) => (method === 'eth_getBlockByNumber' ? 'block' : value)],
    [
      'a block other than the requested one',
      ({ method, params }, value) =>
        method === 'eth_getBlockByNumber' && String(params[0]).startsWith('0x')
          ? { ...(value as Fields), number: '0x1' }
          : value,
    ],
    ['logs that are not an array', ({ method }, value) => (method === 'eth_getLogs' ? { length: 1 } : value)],
    ['a log that is null', tamperLogs((logs) => [...logs, null as never])],
    ['logs of another contract', tamperEveryLog({ address: `0x${'12'.repeat(20)}` })],
    ['logs of another event', tamperLogs((logs) => logs.map((log) => ({ ...log, topics: [`0x${'0'.repeat(64)}`] })))],
    [
      'logs of another schema',
      tamperLogs((logs) =>
        logs.map((log) => ({ ...log, topics: [...(log['topics'] as string[]).slice(0, 3), `0x${'1'.repeat(64)}`] })),
      ),
    ],
    ['logs of a block that was not requested', tamperEveryLog({ blockNumber: '0xffffff' })],
    ['logs with a negative index', tamperEveryLog({ logIndex: '-0x1' })],
    ['logs without a UID', tamperEveryLog({ data: '0x' })],
    [
      'blocks whose parent hashes do not match',
      tamperBlocks((block) => ({ ...block, parentHash: `0x${'9'.repeat(64)}` })),
    ],
  ])('that replies with %s is not trusted, and nothing of the reply is stored', async (_, tamper) => {
    const chain = createChain(4, 25)
    const served = createSync(chain)
    served.state.tamper = tamper
    // Wrong parent hashes are detected only in blocks that are not final.
    const lastStoredBlock = async () =>
      (await served.store.syncState({ chainId: MODEL_CHAIN.id })).checkpoint?.number ?? -1
    for (let count = 0; count < 3; count++)
      await served.follow().catch((error) => expect(error).toBeInstanceOf(RpcError))
    expect(await lastStoredBlock()).toBeLessThan(chain.head.number)
    served.state.tamper = (__, value) => value
    await expectHonestRecords(served, chain)
  })

  it.each<[string, Tamper]>([
    [
      'every log three times, at different indexes',
      tamperLogs((logs) =>
        [...logs, ...logs, ...logs].map((log, index) => ({ ...log, logIndex: `0x${(1000 - index).toString(16)}` })),
      ),
    ],
    [
      'blocks whose time goes backwards',
      tamperBlocks((block) => ({
        ...block,
        timestamp: `0x${(2_000_000_000 - Number(block['number'])).toString(16)}`,
      })),
    ],
    ['blocks without time', tamperBlocks((block) => ({ ...block, timestamp: '0x0' }))],
    [
      'a final block far beyond its head',
      ({ method, params }, value) =>
        method === 'eth_getBlockByNumber' && params[0] === 'finalized'
          ? { ...(value as Fields), number: '0x1fffffffffffff' }
          : value,
    ],
  ])('that replies with %s changes no record', async (_, tamper) => {
    const chain = createChain(5, 25)
    const served = createSync(chain)
    served.state.tamper = tamper
    await expectHonestRecords(served, chain)
  })
})
