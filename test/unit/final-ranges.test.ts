import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import type { SyncStore } from '../../src/sync/chain-position.ts'
import type { RpcClient } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import { createChainTasks } from '../../src/sync/sync-records.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { countingEndpoint, MODEL_CHAIN, MODEL_SCHEMA, ModelChain } from '../model-chain.ts'

const LOGS_AT_ONCE = 6

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

/** A chain with a full piece of attestations in each of four final blocks; each next block revokes some of the one before. */
function createChain(): ModelChain {
  const chain = new ModelChain(keccak, randomFrom(5))
  for (let block = 0; block < 4; block++) chain.mine(LOGS_AT_ONCE - 2, block === 0 ? 0 : 2)
  for (let block = 0; block < 12; block++) chain.mine(0, 0)
  return chain
}

function open(client: RpcClient, store: SyncStore) {
  const problems: string[] = []
  const { sync } = createChainTasks({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 16, blocksAtOnce: 4, logsAtOnce: LOGS_AT_ONCE, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: new RpcList({
      chainId: MODEL_CHAIN.id,
      clients: [client],
      now: () => 0,
      random: () => 0.5,
      maxSuspensionMs: 60_000,
    }),
    store,
    keccak,
    nowSeconds: () => 1_750_000_000,
    onProblem: (message) => problems.push(message),
  })
  return { sync, problems }
}

describe('final blocks', () => {
  it('are read while the store works on the ones before', async () => {
    const chain = createChain()
    let onMessage = () => {}
    const endpoint = countingEndpoint(chain, ({ method }, result) => {
      if (method === 'eth_call') onMessage()
      return result
    })
    const store = createMemorySyncStore()
    let waits = 0
    const { sync } = open(endpoint, {
      ...store,
      async apply(range) {
        // The next piece has to be requested before this one is stored; otherwise the test never ends.
        if (range.checkpoint?.to?.blockNumber !== undefined && range.checkpoint.to.blockNumber < 4 && waits < 2) {
          waits++
          await new Promise<void>((resolve) => {
            onMessage = resolve
          })
        }
        return store.apply(range)
      },
    })
    while (!(await sync.pass(20)).isCaughtUp);
    expect(waits).toBe(2)
    const clean = createMemorySyncStore()
    const other = open(countingEndpoint(chain), clean)
    while (!(await other.sync.pass(1)).isCaughtUp);
    expect(store.dump()).toBe(clean.dump())
  })

  it('are requested once, however many steps their logs take to store', async () => {
    const ranges: string[] = []
    const endpoint = countingEndpoint(createChain(), ({ method, params: [filter] }, result) => {
      const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: string; toBlock?: string }
      if (method === 'eth_getLogs' && fromBlock !== undefined) ranges.push(`${fromBlock} ${toBlock}`)
      return result
    })
    const { sync } = open(endpoint, createMemorySyncStore())
    while (!(await sync.pass(20)).isCaughtUp);
    expect(ranges).toEqual(['0x0 0x8'])
  })

  it('do not count as missed when an attestation and its revocation are stored one after the other', async () => {
    const { sync, problems } = open(countingEndpoint(createChain()), createMemorySyncStore())
    const result = await sync.pass(20)
    expect(result.revoked).toBeGreaterThan(0)
    expect(problems.filter((problem) => problem.includes('missed'))).toEqual([])
  })

  it('are not read any further when storing fails', async () => {
    const endpoint = countingEndpoint(createChain())
    const store = createMemorySyncStore()
    const { sync } = open(endpoint, { ...store, apply: () => Promise.reject(new StoreFault('unavailable', 'cut off')) })
    await expect(sync.pass(20)).rejects.toThrow('cut off')
    const { messages } = endpoint
    await new Promise((resolve) => setImmediate(resolve))
    expect(endpoint.messages).toBe(messages)
  })
})
