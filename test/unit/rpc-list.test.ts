import { describe, expect, it } from 'vitest'
import { type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'

const CHAIN = 84532
const throwSilent = () => {
  throw new RpcError('eth_call: no connection', { failure: 'silent' })
}

/** @param answer responds to every method but eth_chainId */
function endpoint(answer: () => unknown, chainId = CHAIN): RpcClient {
  const request = async (method: string) => (method === 'eth_chainId' ? `0x${chainId.toString(16)}` : answer())
  return { request, requestAll: async (calls) => calls.map(() => ({ ok: true, value: answer() })) }
}

function createList(clients: readonly RpcClient[]) {
  const clock = { ms: 0 }
  const benched: [number, string][] = []
  const list = new RpcList({
    chainId: CHAIN,
    clients,
    now: () => clock.ms,
    random: () => 0.999_999,
    maxSuspensionMs: 60_000,
    onSuspend: (index, reason) => benched.push([index, reason]),
  })
  return { list, clock, benched }
}

describe('the endpoints of a chain', () => {
  it('are tried in order until one answers, and a failed one is suspended', async () => {
    const { list, benched } = createList([endpoint(throwSilent), endpoint(() => 'b')])
    expect(await list.use((rpc) => rpc.request('eth_call', []))).toBe('b')
    expect(await list.use(async (rpc) => rpc.index)).toBe(2)
    expect(benched).toEqual([[1, 'eth_call: no connection']])
  })

  it('return after 2ⁿ seconds, at most a minute', async () => {
    const { list, clock } = createList([endpoint(throwSilent)])
    const waits: number[] = []
    for (let round = 0; round < 9; round++) {
      await expect(list.use((rpc) => rpc.request('eth_call', []))).rejects.toThrow('no connection')
      await expect(list.use((rpc) => rpc.request('eth_call', []))).rejects.toThrow('is suspended')
      const before = clock.ms
      while (list.statuses()[0]!.isSuspended) clock.ms += 100
      waits.push((clock.ms - before) / 1000)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  it('are used only when they serve the chain', async () => {
    const { list, benched } = createList([endpoint(() => 'other', 1), endpoint(() => 'right')])
    expect(await list.client.request('eth_call', [])).toBe('right')
    expect(benched).toEqual([[1, `an endpoint for chain ${CHAIN} serves chain 1`]])
  })

  // Regression: a decimal chain ID counted as the hexadecimal one.
  it('are used only when they give the chain as JSON-RPC does', async () => {
    const request = async (method: string) => (method === 'eth_chainId' ? `${CHAIN}` : 'other')
    const { list, benched } = createList([{ request, requestAll: async () => [] }, endpoint(() => 'right')])
    expect(await list.client.request('eth_call', [])).toBe('right')
    expect(benched).toEqual([[1, 'not a JSON-RPC quantity']])
  })

  it('are not suspended for an error that the caller has to handle', async () => {
    const revert = () => {
      throw new RpcError('eth_call: error 3', { code: 3 })
    }
    const { list, benched } = createList([endpoint(revert), endpoint(() => 'b')])
    await expect(list.client.request('eth_call', [])).rejects.toMatchObject({ code: 3 })
    expect(benched).toEqual([])
  })

  it('are skipped where a caller excludes them, and fail when all are excluded', async () => {
    const { list } = createList([endpoint(() => 'a'), endpoint(() => 'b')])
    expect(await list.use((rpc) => rpc.request('eth_call', []), new Set([1]))).toBe('b')
    await expect(list.use((rpc) => rpc.request('eth_call', []), new Set([1, 2]))).rejects.toBeInstanceOf(RpcError)
  })
})
