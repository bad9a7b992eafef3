import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak, type Keccak } from '../../src/crypto/keccak.ts'
import { openChainSync } from '../../src/sync/open-chain-sync.ts'
import { type RpcCall, type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { createRpcList } from '../../src/sync/rpc-list.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { MODEL_CHAIN, MODEL_SCHEMA, ModelChain, modelEndpoint, NO_FAULTS } from '../model-chain.ts'

type Fields = Record<string, unknown>
/** Changes what an endpoint answers. */
type Twist = (call: RpcCall, value: unknown) => unknown

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

/** A chain of its own with some attestations in every block. */
function chainOf(seed: number, blocks: number): ModelChain {
  const chain = new ModelChain(keccak, randomFrom(seed))
  for (let count = 0; count < blocks; count++) chain.mine(2, count % 3 === 0 ? 1 : 0)
  return chain
}

/** The synchronisation with one endpoint, whose answers go through `twist`. */
function world(chain: ModelChain) {
  const store = createMemorySyncStore()
  const state = { twist: ((_, value) => value) as Twist, chain, nowMs: 1_750_000_000_000 }
  async function requestAll(calls: readonly RpcCall[]) {
    const honest = modelEndpoint(state.chain, Math.random, () => NO_FAULTS)
    const answers = await honest.requestAll(calls)
    return answers.map((answer, index) =>
      answer.ok ? { ok: true as const, value: state.twist(calls[index]!, structuredClone(answer.value)) } : answer,
    )
  }
  const client: RpcClient = {
    requestAll,
    async request(method, params) {
      const [answer] = await requestAll([{ method, params }])
      if (!answer!.ok) throw answer!.error
      return answer!.value
    },
  }
  const { sync } = openChainSync({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 16, blocksAtOnce: 4, logsAtOnce: 50, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: createRpcList({
      chainId: MODEL_CHAIN.id,
      clients: [client],
      now: () => state.nowMs,
      random: () => 0.5,
      maxBenchMs: 60_000,
    }),
    store,
    keccak,
    nowSeconds: () => Math.floor(state.nowMs / 1000),
    onProblem: () => {},
  })
  return {
    state,
    store,
    /** Until it is at the head; an endpoint that was left alone comes back before each try. */
    async follow() {
      state.nowMs += 120_000
      for (let pass = 0; pass < 20; pass++) if ((await sync.pass(50)).isCaughtUp) return
      throw new Error('does not come to the head in 20 passes')
    },
  }
}

async function clean(chain: ModelChain): Promise<string> {
  const { store, follow } = world(chain)
  for (let count = 0; count < 3; count++) await follow().catch(() => {})
  await follow()
  return store.dump()
}

/** As `follow`, through attestations that are asked for twice before they are set aside. */
const expectTruth = async ({ follow, store }: ReturnType<typeof world>, chain: ModelChain) => {
  for (let count = 0; count < 3; count++) await follow().catch(() => {})
  await follow()
  expect(store.dump()).toBe(await clean(chain))
}

const ofBlocks =
  (change: (block: Fields) => Fields): Twist =>
  ({ method }, value) =>
    method === 'eth_getBlockByNumber' && value !== null ? change(value as Fields) : value
const ofLogs =
  (change: (logs: Fields[]) => Fields[]): Twist =>
  ({ method }, value) =>
    method === 'eth_getLogs' ? change(value as Fields[]) : value
const everyLog = (changes: Fields): Twist => ofLogs((logs) => logs.map((log) => ({ ...log, ...changes })))

describe('an endpoint', () => {
  it('that serves another chain all at once takes nothing with it, and puts nothing in', async () => {
    const [ours, other] = [chainOf(1, 30), chainOf(2, 40)]
    const served = world(ours)
    await served.follow()
    const before = served.store.dump()
    served.state.chain = other
    served.state.twist = ({ method }, value) => (method === 'eth_chainId' ? '0x1' : value)
    for (let count = 0; count < 5; count++) await expect(served.follow()).rejects.toThrow(/serves chain 1/)
    expect(served.store.dump()).toBe(before)
    // Shorter than what we have as well.
    served.state.chain = chainOf(3, 10)
    for (let count = 0; count < 8; count++) await served.follow().catch(() => {})
    expect(served.store.dump()).toBe(before)
    Object.assign(served.state, { chain: ours, twist: (_: RpcCall, value: unknown) => value })
    ours.mine(3, 1)
    await expectTruth(served, ours)
  })

  it.each<[string, Twist]>([
    ['a block number that is a float', ofBlocks((block) => ({ ...block, number: 3.5 }))],
    ['a block number that is a number of JSON', ofBlocks((block) => ({ ...block, number: Number(block['number']) }))],
    ['a negative block number', ofBlocks((block) => ({ ...block, number: '-0x1' }))],
    ['a block number of 2⁵³', ofBlocks((block) => ({ ...block, number: '0x20000000000000' }))],
    ['a time of 2²⁵⁶ − 1', ofBlocks((block) => ({ ...block, timestamp: `0x${'f'.repeat(64)}` }))],
    ['a block without a hash', ofBlocks(({ hash: _, ...block }) => block)],
    ['a block that is a word', ({ method }, value) => (method === 'eth_getBlockByNumber' ? 'block' : value)],
    [
      'another block than asked for',
      ({ method, params }, value) =>
        method === 'eth_getBlockByNumber' && String(params[0]).startsWith('0x')
          ? { ...(value as Fields), number: '0x1' }
          : value,
    ],
    ['logs that are no list', ({ method }, value) => (method === 'eth_getLogs' ? { length: 1 } : value)],
    ['a log that is nothing', ofLogs((logs) => [...logs, null as never])],
    ['logs of another contract', everyLog({ address: `0x${'12'.repeat(20)}` })],
    ['logs of another event', ofLogs((logs) => logs.map((log) => ({ ...log, topics: [`0x${'0'.repeat(64)}`] })))],
    [
      'logs of another schema',
      ofLogs((logs) =>
        logs.map((log) => ({ ...log, topics: [...(log['topics'] as string[]).slice(0, 3), `0x${'1'.repeat(64)}`] })),
      ),
    ],
    ['logs of a block not asked for', everyLog({ blockNumber: '0xffffff' })],
    ['logs whose place is negative', everyLog({ logIndex: '-0x1' })],
    ['logs without a UID', everyLog({ data: '0x' })],
    ['blocks that do not follow each other', ofBlocks((block) => ({ ...block, parentHash: `0x${'9'.repeat(64)}` }))],
  ])('that answers with %s is not believed, and nothing is stored of it', async (_, twist) => {
    const chain = chainOf(4, 25)
    const served = world(chain)
    served.state.twist = twist
    // Blocks that do not follow each other show in the part that is not final.
    const stored = async () => (await served.store.syncState({ chainId: MODEL_CHAIN.id })).checkpoint?.number ?? -1
    for (let count = 0; count < 3; count++)
      await served.follow().catch((error) => expect(error).toBeInstanceOf(RpcError))
    expect(await stored()).toBeLessThan(chain.head.number)
    served.state.twist = (__, value) => value
    await expectTruth(served, chain)
  })

  it.each<[string, Twist]>([
    [
      'every log three times, at other places',
      ofLogs((logs) =>
        [...logs, ...logs, ...logs].map((log, index) => ({ ...log, logIndex: `0x${(1000 - index).toString(16)}` })),
      ),
    ],
    [
      'blocks whose time goes backwards',
      ofBlocks((block) => ({
        ...block,
        timestamp: `0x${(2_000_000_000 - Number(block['number'])).toString(16)}`,
      })),
    ],
    ['blocks without time', ofBlocks((block) => ({ ...block, timestamp: '0x0' }))],
    [
      'a final block far beyond its head',
      ({ method, params }, value) =>
        method === 'eth_getBlockByNumber' && params[0] === 'finalized'
          ? { ...(value as Fields), number: '0x1fffffffffffff' }
          : value,
    ],
  ])('that answers with %s changes no record', async (_, twist) => {
    const chain = chainOf(5, 25)
    const served = world(chain)
    served.state.twist = twist
    await expectTruth(served, chain)
  })
})
