import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import type { RpcClient } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import { createChainTasks } from '../../src/sync/sync-records.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { type Change, countingEndpoint, MODEL_CHAIN, MODEL_SCHEMA, ModelChain } from '../model-chain.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const dropsLogs: Change = ({ method }, result) => (method === 'eth_getLogs' ? { ok: true, value: [] } : result)

function open(clients: readonly RpcClient[], store = createMemorySyncStore()) {
  const problems: string[] = []
  const suspended: number[] = []
  const tasks = createChainTasks({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 16, blocksAtOnce: 4, logsAtOnce: 6, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: new RpcList({
      chainId: MODEL_CHAIN.id,
      clients,
      now: () => 0, // suspended endpoints stay suspended, and the first endpoint is the best one
      random: () => 0.5,
      maxSuspensionMs: 60_000,
      onSuspend: (index) => suspended.push(index),
    }),
    store,
    keccak,
    nowSeconds: () => 1_750_000_000,
    onProblem: (message) => problems.push(message),
  })
  /** Does what the service does at one poll. Returns the number of logs that had been omitted. */
  const poll = async () => {
    while (!(await tasks.sync.pass(20)).isCaughtUp);
    return tasks.comparison.step()
  }
  return { poll, store, problems, suspended, tasks }
}

async function cleanDump(chain: ModelChain): Promise<string> {
  const { poll, store } = open([countingEndpoint(chain)])
  await poll()
  return store.dump()
}

function createChain(): ModelChain {
  const chain = new ModelChain(keccak, randomFrom(7))
  for (let block = 0; block < 20; block++) chain.mine(0, 0)
  return chain
}

describe('the comparison of the newest blocks with another endpoint', () => {
  it('stores what one endpoint omits at the same poll, and suspends it', async () => {
    const chain = createChain()
    const { poll, store, problems, suspended } = open([countingEndpoint(chain, dropsLogs), countingEndpoint(chain)])
    expect(await poll()).toBe(0)
    chain.mine(3, 0)
    expect(await poll()).toBe(3)
    expect(store.dump()).toBe(await cleanDump(chain))
    expect(suspended).toEqual([1])
    expect(problems).toEqual(['3 logs of blocks 14 to 21 had been omitted by an endpoint and are stored now'])
  })

  it('finds an omitted revocation', async () => {
    const chain = createChain()
    chain.mine(4, 0)
    const omits: Change = ({ method }, result) =>
      method === 'eth_getLogs' && chain.head.number === 22 ? { ok: true, value: [] } : result
    const { poll, store } = open([countingEndpoint(chain, omits), countingEndpoint(chain)])
    expect(await poll()).toBe(0)
    chain.mine(0, 2)
    expect(await poll()).toBe(2)
    expect(store.dump()).toBe(await cleanDump(chain))
  })

  it('takes a second poll if the other endpoint does not have the block yet', async () => {
    const chain = createChain()
    let behind = 0
    const lags: Change = ({ method, params: [block] }, result) => {
      if (method !== 'eth_getBlockByNumber' || !result.ok) return result
      const number = block === 'latest' ? chain.head.number : Number(block)
      const seen = chain.head.number - behind
      if (number <= seen) return result
      const { hash, parentHash, time } = chain.blocks[seen]!
      const head = { number: `0x${seen.toString(16)}`, hash, parentHash, timestamp: `0x${time.toString(16)}` }
      return { ok: true, value: block === 'latest' ? head : null }
    }
    const lagsInLogs: Change = (call, result) => {
      const isLog = call.method === 'eth_getLogs' && result.ok && behind > 0
      return isLog ? { ok: true, value: [] } : lags(call, result)
    }
    const { poll, store } = open([countingEndpoint(chain, dropsLogs), countingEndpoint(chain, lagsInLogs)])
    await poll()
    chain.mine(2, 0)
    behind = 1
    expect(await poll()).toBe(0)
    behind = 0
    expect(await poll()).toBe(2)
    expect(store.dump()).toBe(await cleanDump(chain))
  })

  it('costs an honest endpoint one message at each poll, and two honest ones suspend nobody', async () => {
    const chain = createChain()
    const other = countingEndpoint(chain)
    const { poll, store, suspended } = open([countingEndpoint(chain), other])
    await poll()
    const before = other.messages
    for (let round = 0; round < 10; round++) {
      if (round % 2 === 0) chain.mine(2, 1)
      if (round === 6) {
        chain.drop(3)
        chain.mine(1, 0)
        chain.mine(1, 0)
      }
      expect(await poll()).toBe(0)
    }
    expect(other.messages - before).toBe(10)
    expect(suspended).toEqual([])
    expect(store.dump()).toBe(await cleanDump(chain))
  })

  it('suspends an endpoint whose head stays behind, but not one that is a little slower', async () => {
    const chain = createChain()
    let frozenAt: number | undefined
    const freezes: Change = (call, result) => {
      if (frozenAt === undefined || call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'latest') return result
      const { hash, parentHash, time } = chain.blocks[frozenAt]!
      const value = { number: `0x${frozenAt.toString(16)}`, hash, parentHash, timestamp: `0x${time.toString(16)}` }
      return { ok: true, value }
    }
    const { poll, store, suspended } = open([countingEndpoint(chain, freezes), countingEndpoint(chain)])
    await poll()
    frozenAt = chain.head.number
    chain.mine(1, 0)
    await poll()
    frozenAt = chain.head.number
    chain.mine(1, 0)
    await poll()
    expect(suspended).toEqual([])
    await poll()
    expect(suspended).toEqual([1])
    await poll()
    expect(store.dump()).toBe(await cleanDump(chain))
  })

  it('asks each of the other endpoints in turn, so that one honest endpoint is enough', async () => {
    const chain = createChain()
    const { poll, store, suspended } = open([
      countingEndpoint(chain, dropsLogs),
      countingEndpoint(chain, dropsLogs),
      countingEndpoint(chain),
    ])
    await poll() // asks the second endpoint
    chain.mine(1, 0)
    expect(await poll()).toBe(1)
    expect(suspended).toEqual([1])
    chain.mine(1, 0)
    expect(await poll()).toBe(1)
    expect(suspended).toEqual([1, 2])
    expect(store.dump()).toBe(await cleanDump(chain))
  })

  it('stores nothing that another endpoint invents', async () => {
    const chain = createChain()
    const invents: Change = (call, result) => {
      if (call.method !== 'eth_getLogs' || !result.ok) return result
      const { number, hash } = chain.head
      const log = {
        address: MODEL_CHAIN.easAddress,
        topics: [
          '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35',
          `0x${'0'.repeat(64)}`,
          `0x${'0'.repeat(64)}`,
          MODEL_SCHEMA,
        ],
        data: `0x${'f'.repeat(64)}`,
        blockNumber: `0x${number.toString(16)}`,
        blockHash: hash,
        logIndex: '0x63',
      }
      return { ok: true, value: [...(result.value as unknown[]), log] }
    }
    const { poll, store, suspended } = open([countingEndpoint(chain), countingEndpoint(chain, invents)])
    chain.mine(1, 0)
    expect(await poll()).toBe(0)
    expect(suspended).toEqual([2])
    expect(store.dump()).toBe(await cleanDump(chain))
  })
})
