import { describe, expect, it } from 'vitest'
import { type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { createRpcList } from '../../src/sync/rpc-list.ts'

const CHAIN = 84532
const silent = () => {
  throw new RpcError('eth_call: no connection', { failure: 'silent' })
}

/** @param answer to everything but the chain id */
function endpoint(answer: () => unknown, chainId = CHAIN): RpcClient {
  const request = async (method: string) => (method === 'eth_chainId' ? `0x${chainId.toString(16)}` : answer())
  return { request, requestAll: async (calls) => calls.map(() => ({ ok: true, value: answer() })) }
}

function listOf(clients: readonly RpcClient[]) {
  const clock = { ms: 0 }
  const benched: [number, string][] = []
  const list = createRpcList({
    chainId: CHAIN,
    clients,
    now: () => clock.ms,
    random: () => 0.999_999,
    maxBenchMs: 60_000,
    onBench: (place, reason) => benched.push([place, reason]),
  })
  return { list, clock, benched }
}

describe('the endpoints of a chain', () => {
  it('are asked in turn until one answers, and one that failed is left alone', async () => {
    const { list, benched } = listOf([endpoint(silent), endpoint(() => 'b')])
    expect(await list.use((rpc) => rpc.request('eth_call', []))).toBe('b')
    expect(await list.use(async (rpc) => rpc.place)).toBe(2)
    expect(benched).toEqual([[1, 'eth_call: no connection']])
  })

  it('come back after 2ⁿ seconds, at most a minute', async () => {
    const { list, clock } = listOf([endpoint(silent)])
    const waits: number[] = []
    for (let turn = 0; turn < 9; turn++) {
      await expect(list.use((rpc) => rpc.request('eth_call', []))).rejects.toThrow('no connection')
      await expect(list.use((rpc) => rpc.request('eth_call', []))).rejects.toThrow('left alone')
      const before = clock.ms
      while (list.standings()[0]!.isBenched) clock.ms += 100
      waits.push((clock.ms - before) / 1000)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  it('are believed only when they serve the chain', async () => {
    const { list, benched } = listOf([endpoint(() => 'other', 1), endpoint(() => 'right')])
    expect(await list.client.request('eth_call', [])).toBe('right')
    expect(benched).toEqual([[1, `an endpoint for chain ${CHAIN} serves chain 1`]])
  })

  it('are not blamed for an error that the caller has to read', async () => {
    const revert = () => {
      throw new RpcError('eth_call: error 3', { code: 3 })
    }
    const { list, benched } = listOf([endpoint(revert), endpoint(() => 'b')])
    await expect(list.client.request('eth_call', [])).rejects.toMatchObject({ code: 3 })
    expect(benched).toEqual([])
  })

  it('are asked again where a question excludes some of them', async () => {
    const { list } = listOf([endpoint(() => 'a'), endpoint(() => 'b')])
    expect(await list.use((rpc) => rpc.request('eth_call', []), new Set([1]))).toBe('b')
    await expect(list.use((rpc) => rpc.request('eth_call', []), new Set([1, 2]))).rejects.toBeInstanceOf(RpcError)
  })
})
