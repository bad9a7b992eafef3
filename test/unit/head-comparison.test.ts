import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { type RpcCall, type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import { createChainTasks } from '../../src/sync/sync-records.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { MODEL_CHAIN, MODEL_SCHEMA, ModelChain, modelEndpoint, NO_FAULTS } from '../model-chain.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const createChain = () => {
  const chain = new ModelChain(keccak, randomFrom(11))
  for (let count = 0; count < 20; count++) chain.mine(0, 0)
  return chain
}

/** An endpoint, and the methods of each message that it got. */
interface Endpoint extends RpcClient {
  readonly messages: string[][]
}

/** Creates an endpoint that may drop logs, lag by some blocks, reject wide ranges or be silent. */
function createEndpoint(
  chain: ModelChain,
  { drops = false, lag = 0, maxRange = Number.POSITIVE_INFINITY, isSilent = false } = {},
): Endpoint {
  const faults = { ...NO_FAULTS, partial: drops ? 1 : 0 }
  const whole = modelEndpoint(
    chain,
    () => 0.5,
    () => faults,
  ) // each log is dropped, because 0.5 is not below 0.5
  const messages: string[][] = []
  const answer = async ({ method, params }: RpcCall): Promise<unknown> => {
    const [first] = params as [{ fromBlock?: string; toBlock?: string } | string]
    const last = chain.head.number - lag
    if (method === 'eth_getBlockByNumber' && first === 'latest')
      return whole.request(method, [`0x${last.toString(16)}`, false])
    if (method === 'eth_getBlockByNumber' && Number(first) > last) return null
    if (method === 'eth_getLogs' && typeof first === 'object' && first.fromBlock !== undefined) {
      const blocks = Number(first.toBlock) - Number(first.fromBlock) + 1
      if (blocks > maxRange) throw new RpcError('error', { code: -32000, endpointMessage: `limited to ${maxRange}` })
    }
    return whole.request(method, params)
  }
  const requestAll: RpcClient['requestAll'] = async (calls) => {
    messages.push(calls.map(({ method }) => method))
    if (isSilent) throw new RpcError('no answer', { failure: 'silent' })
    return Promise.all(
      calls.map(async (call) => {
        try {
          return { ok: true, value: await answer(call) } as const
        } catch (error) {
          return { ok: false, error: error as RpcError } as const
        }
      }),
    )
  }
  return {
    messages,
    requestAll,
    async request(method, params) {
      const [only] = await requestAll([{ method, params }])
      if (!only!.ok) throw only!.error
      return only!.value
    },
  }
}

/** Opens the synchronisation with these endpoints. The first is read. */
function open(...clients: RpcClient[]) {
  const clock = { ms: 1_750_000_000_000 }
  const store = createMemorySyncStore()
  const problems: string[] = []
  const tasks = createChainTasks({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 100, blocksAtOnce: 8, logsAtOnce: 50, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: new RpcList({
      chainId: MODEL_CHAIN.id,
      clients,
      now: () => clock.ms,
      random: () => 0.5,
      maxSuspensionMs: 60_000,
    }),
    store,
    keccak,
    nowSeconds: () => Math.floor(clock.ms / 1000),
    onProblem: (message) => problems.push(message),
    onContradictions: () => {},
  })
  return {
    problems,
    tasks,
    async poll() {
      clock.ms += 2000
      while (!(await tasks.sync.pass(50)).isCaughtUp);
      await tasks.comparison.step()
    },
    logs: async () => (await store.storedLogs({ chainId: MODEL_CHAIN.id, from: 0, to: 1000 })).length,
  }
}

/** Takes the messages that an endpoint got since the last call. */
const take = ({ messages }: Endpoint) => messages.splice(0)

describe('the comparison of new blocks', () => {
  it('stores logs that the first endpoint drops, at the poll that reads their blocks', async () => {
    const chain = createChain()
    const { poll, logs, problems } = open(createEndpoint(chain, { drops: true }), createEndpoint(chain))
    await poll()
    for (let count = 1; count <= 5; count++) {
      chain.mine(2, 0)
      await poll()
      expect(await logs()).toBe(2 * count)
    }
    chain.mine(0, 1)
    await poll()
    expect(await logs()).toBe(11)
    expect(problems.at(-1)).toBe('1 logs of blocks 26 to 26 had been omitted by an endpoint and are stored now')
  })

  it('asks one endpoint in turn for three calls in two messages, and none while there are no new blocks', async () => {
    const chain = createChain()
    const [first, second, third] = [createEndpoint(chain), createEndpoint(chain), createEndpoint(chain)]
    const { poll } = open(first, second, third)
    for (let count = 0; count < 4; count++) await poll()
    for (const each of [first, second, third]) take(each)
    const comparison = [['eth_getBlockByNumber'], ['eth_getLogs', 'eth_getBlockByNumber']]
    for (const [asked, idle] of [
      [second, third],
      [third, second],
      [second, third],
    ] as const) {
      for (let count = 0; count < 4; count++) chain.mine(1, 0)
      await poll()
      expect(take(asked)).toEqual(comparison)
      expect(take(idle)).toEqual([])
      // The one that is read gets the heads, the blocks, their logs and the attestations, as without a comparison.
      expect(take(first).flat()).toHaveLength(2 + 4 + 4 + 4)
    }
    await poll()
    await poll()
    expect([...take(second), ...take(third)].flat().length).toBeLessThanOrEqual(3)
    await poll()
    expect([...take(second), ...take(third)]).toEqual([])
  })

  it('changes nothing with one endpoint', async () => {
    const chain = createChain()
    const only = createEndpoint(chain, { drops: true })
    const { poll, logs } = open(only)
    await poll()
    take(only)
    await poll()
    expect(take(only)).toEqual([['eth_getBlockByNumber', 'eth_getBlockByNumber']])
    chain.mine(1, 0)
    await poll()
    expect(await logs()).toBe(0)
  })

  it('also reads an endpoint that always lags', async () => {
    const chain = createChain()
    const { poll, logs } = open(createEndpoint(chain, { drops: true }), createEndpoint(chain, { lag: 2 }))
    await poll()
    for (let count = 0; count < 10; count++) {
      chain.mine(1, 0)
      await poll()
    }
    // The contract of the endpoint that lags does not have the newest two yet, and two endpoints are a majority only together.
    expect(await logs()).toBe(8)
  })

  it('asks another endpoint in the same poll if one is silent', async () => {
    const chain = createChain()
    const silent = createEndpoint(chain, { isSilent: true })
    const { poll, logs } = open(createEndpoint(chain, { drops: true }), silent, createEndpoint(chain))
    await poll()
    for (let count = 1; count <= 10; count++) {
      chain.mine(1, 0)
      await poll()
      expect(await logs()).toBe(count)
    }
  })

  it('delays no other task of the chain while an endpoint does not answer', async () => {
    const chain = createChain()
    const second = createEndpoint(chain)
    let answer = () => {}
    const gate = new Promise<void>((resolve) => {
      answer = resolve
    })
    const slow: RpcClient = {
      request: second.request,
      requestAll: (calls) => gate.then(() => second.requestAll(calls)),
    }
    const { tasks, logs } = open(createEndpoint(chain, { drops: true }), slow)
    chain.mine(1, 0)
    await tasks.sync.pass(50)
    const running: string[] = []
    const step = tasks.comparison.step(async (task) => {
      running.push('begin')
      const result = await task()
      running.push('end')
      return result
    })
    chain.mine(1, 0)
    expect(await tasks.sync.pass(50)).toMatchObject({ isCaughtUp: true, block: chain.head.number })
    expect(running).toEqual(['begin', 'end'])
    answer()
    await step
    expect(running).toEqual(['begin', 'end', 'begin', 'end'])
    expect(await logs()).toBe(1)
    await tasks.comparison.step()
    expect(await logs()).toBe(2)
  })

  it('fits its ranges to what an endpoint accepts', async () => {
    const chain = createChain()
    const { poll, logs } = open(createEndpoint(chain, { drops: true }), createEndpoint(chain, { maxRange: 3 }))
    await poll()
    for (let count = 1; count <= 10; count++) {
      for (let block = 0; block < 3; block++) chain.mine(1, 0)
      await poll()
      expect(await logs()).toBe(3 * count)
    }
  })

  it('adds nothing that the contract of the only other endpoint denies, and stops asking when the block is final', async () => {
    const [chain, false_] = [createChain(), createChain()]
    const [honest, liar] = [createEndpoint(chain), createEndpoint(false_)]
    const { poll, logs } = open(honest, liar)
    await poll()
    for (const each of [chain, false_]) each.mine(0, 0)
    false_.forgeAttestation(false_.head.number)
    for (let count = 0; count < 20; count++) {
      await poll()
      expect(await logs()).toBe(0)
      for (const each of [chain, false_]) each.mine(0, 0)
    }
    take(liar)
    await poll()
    expect(take(liar)).toEqual([['eth_getBlockByNumber'], ['eth_getLogs', 'eth_getBlockByNumber']])
  })
})
