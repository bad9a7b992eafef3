import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Relay } from '../../src/relay/relay.ts'
import { RpcError } from '../../src/sync/rpc.ts'
import type { Hex } from '../../src/wire/values.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { createRelayFixture, type Interference, openRelayStore, type RelayFixture } from './relay-parts.ts'

const GWEI = 10n ** 9n
const hex = (value: number) => `0x${value.toString(16)}`

describe.skipIf(skipReason() !== undefined)('the relay with one lying and one honest endpoint', () => {
  let local: LocalChain
  let fixture: RelayFixture
  let files: Awaited<ReturnType<typeof openRelayStore>>
  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    files = await openRelayStore()
  })
  beforeEach(async () => {
    fixture = await createRelayFixture(local, files.store)
    await mine(12)
  })
  afterEach(() => local.client.setAutomine(true))
  afterAll(async () => {
    await files.close()
    await local.stop()
  })

  const mine = (blocks = 1) => local.client.mine({ blocks })
  const head = async () => Number(await local.client.getBlockNumber({ cacheTime: 0 }))
  const statuses = async (...indexes: number[]) => (await fixture.read(indexes)).map(({ status }) => status)
  const tick = async (relay: Relay, times: number) => {
    let state = await relay.tick()
    for (let round = 1; round < times; round++) state = await relay.tick()
    return state
  }
  const open = async () =>
    (await fixture.store.relayWork({ chainId: local.chain.id, sender: fixture.sender, maxItems: 1 })).open
  const requestHonestly = (method: string, params: readonly unknown[]) =>
    local.client.request({ method: method as never, params: params as never })
  /** The first endpoint has precedence. */
  const relayWith = (lyingEndpoint: Interference) => fixture.createRelay({ endpoints: [lyingEndpoint, undefined] })

  it('gives up no nonce for a transaction that only one endpoint shows', async () => {
    const usedBy: Hex = `0x${'ab'.repeat(32)}`
    let liedAt: number | undefined
    const relay = relayWith(async (method, [first, second]) => {
      if (liedAt === undefined) return undefined
      if (method === 'eth_getTransactionReceipt') return null
      if (method === 'eth_getTransactionCount') return second === 'latest' || Number(second) >= liedAt ? '0x1' : '0x0'
      if (method !== 'eth_getBlockByNumber' || Number(first) !== liedAt) return undefined
      const block = (await requestHonestly(method, [first, false])) as object
      return { ...block, transactions: [{ from: fixture.sender, nonce: '0x0', hash: usedBy }] }
    })
    await local.client.setAutomine(false)
    await fixture.submit([1])
    await tick(relay, 1)
    expect(await open()).toMatchObject([{ nonce: 0, state: 'sent' }])
    liedAt = (await head()) - 8
    expect(await relay.tick()).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('another endpoint disagrees'),
    })
    await mine()
    await local.client.setAutomine(true)
    await fixture.settle(relay, [1])
    await tick(relay, 10)
    await mine(8)
    await tick(relay, 10)
    expect(await fixture.attestations()).toHaveLength(1)
    expect(fixture.notes.filter((note) => note.startsWith('transaction lost'))).toEqual([])
  })

  it('ignores a revert that only one endpoint shows', async () => {
    const relay = relayWith(async (method, params) => {
      if (method !== 'eth_getTransactionReceipt') return undefined
      const receipt = (await requestHonestly(method, params)) as object | null
      return receipt === null ? undefined : { ...receipt, status: '0x0', logs: [] }
    })
    await fixture.submit([1])
    await tick(relay, 2)
    expect(await open()).toMatchObject([{ state: 'reverted' }])
    await mine(8)
    expect(await tick(relay, 20)).toMatchObject({ reason: expect.stringContaining('another endpoint disagrees') })
    expect(await fixture.attestations()).toHaveLength(1)
    expect(fixture.notes.filter((note) => note.startsWith('transaction lost'))).toEqual([])
    // The operator removes the lying endpoint.
    await tick(fixture.createRelay(), 3)
    expect(await statuses(1)).toEqual(['finalized'])
  })

  it('treats nothing as final without a receipt from the other endpoint', async () => {
    let hides = true
    const relay = fixture.createRelay({
      endpoints: [undefined, (method) => (hides && method === 'eth_getTransactionReceipt' ? null : undefined)],
    })
    await fixture.submit([1])
    await fixture.settle(relay, [1])
    await mine(8)
    await tick(relay, 5)
    expect(await statuses(1)).toEqual(['mined'])
    hides = false
    await tick(relay, 5)
    expect(await statuses(1)).toEqual(['finalized'])
  })

  it('treats nothing as final while the other endpoint is down, however long', async () => {
    let isDown = true
    const relay = fixture.createRelay({
      endpoints: [
        undefined,
        () => {
          if (isDown) throw new RpcError('no connection', { failure: 'silent' })
          return undefined
        },
      ],
    })
    await fixture.submit([1])
    await fixture.settle(relay, [1])
    await mine(8)
    await tick(relay, 5)
    expect(await statuses(1)).toEqual(['mined'])
    const state = await tick(relay, 80) // more than ten minutes
    expect(state).toMatchObject({ reason: expect.stringContaining('no other endpoint responds') })
    expect(await statuses(1)).toEqual(['mined'])
    isDown = false
    await tick(relay, 5)
    expect(await statuses(1)).toEqual(['finalized'])
  })

  it('sends through the next endpoint what the first one accepts and withholds', async () => {
    const relay = relayWith((method) => {
      if (method === 'eth_sendRawTransaction') return `0x${'00'.repeat(32)}`
      return method === 'eth_getTransactionByHash' ? { hash: '0x' } : undefined
    })
    await fixture.submit([1])
    await fixture.settle(relay, [1], 20)
    expect(await fixture.attestations()).toHaveLength(1)
  })

  it('skips an endpoint that keeps echoing old blocks', async () => {
    const echoes = new Map<string, unknown>()
    let isOld = false
    const relay = relayWith(async (method, params) => {
      if (method === 'eth_sendRawTransaction' || method === 'eth_estimateGas') return undefined
      const question = JSON.stringify([method, params])
      if (!isOld) echoes.set(question, await requestHonestly(method, params))
      return isOld ? (echoes.get(question) ?? null) : undefined
    })
    await fixture.submit([0])
    await fixture.settle(relay, [0])
    isOld = true
    await fixture.submit([1])
    await fixture.settle(relay, [1], 20)
    const notes = fixture.notes.length
    await tick(relay, 10)
    expect(fixture.notes.slice(notes).filter((note) => note.includes('vanished'))).toEqual([])
    expect(await statuses(0, 1)).toEqual(['mined', 'mined'])
    expect(await fixture.attestations()).toHaveLength(2)
  })

  it('does not start with an unreachable nonce', async () => {
    const relay = relayWith((method) => (method === 'eth_getTransactionCount' ? hex(1e9) : undefined))
    await fixture.submit([1])
    expect(await relay.tick()).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('another endpoint disagrees'),
    })
    expect(await open()).toEqual([])
    await fixture.settle(relay, [1], 20)
    expect((await fixture.read([1]))[0]!.status).toBe('mined')
    expect(await open()).toMatchObject([{ nonce: 0 }])
  })

  it('fails no submission because only one endpoint claims that the contract rejects it', async () => {
    const relay = relayWith((method) => {
      if (method !== 'eth_estimateGas') return undefined
      throw new RpcError('error 3', { code: 3 })
    })
    await fixture.submit([1, 2])
    await fixture.settle(relay, [1, 2], 20)
    expect(await statuses(1, 2)).toEqual(['mined', 'mined'])
  })

  it('pays block producers no more than the ceiling, whatever the endpoint asks for', async () => {
    await local.client.setAutomine(false)
    const relay = fixture.createRelay({
      endpoints: [(method) => (method === 'eth_maxPriorityFeePerGas' ? hex(90e9) : undefined)],
    })
    await fixture.submit([1])
    await tick(relay, 1)
    const [first] = await open()
    expect(first!.state === 'sent' && first!.attempts[0]!.maxPriorityFeePerGas).toBe(2n * GWEI)
  })

  it.each([
    ['in words that are known', 'gas required exceeds allowance (16777216)'],
    ['in words of its own', 'the computation is too large for this tier'],
  ])('sends fewer at once when a node tries no more, and says so %s', async (_how, endpointMessageText) => {
    // A node with the limit of EIP-7825 reports this for 40 attestations of proofs: 18.6 million gas.
    const relay = fixture.createRelay({
      endpoints: [
        (method, [call]) => {
          const isLong = method === 'eth_estimateGas' && (call as { data: string }).data.length > 20_000
          if (isLong) throw new RpcError('error -32000', { code: -32000, endpointMessage: endpointMessageText })
          return undefined
        },
      ],
    })
    const indexes = Array.from({ length: 40 }, (_, index) => index)
    await fixture.submit(indexes)
    const found = await fixture.settle(relay, indexes)
    expect(found.every(({ status }) => status === 'mined')).toBe(true)
    expect(new Set(found.map(({ transactionHash }) => transactionHash)).size).toBeGreaterThan(1)
  })

  it('resends what a pool lost even if the account cannot pay a higher fee', async () => {
    await local.client.setAutomine(false)
    await fixture.submit([1])
    const relay = fixture.createRelay()
    await tick(relay, 1)
    const [first] = await open()
    const { hash } = first!.state === 'sent' ? first!.attempts[0]! : expect.fail('it was not sent')
    await local.client.dropTransaction({ hash })
    await mine(4)
    await fixture.fund(54n * 10n ** 14n) // above the floor, and enough for the first form
    expect(await tick(relay, 1)).toMatchObject({ state: 'unfunded' })
    await mine()
    expect((await fixture.settle(relay, [1]))[0]!.transactionHash).toBe(hash)
  })

  it('still looks at blocks after the clock was set back', async () => {
    let nowMs = 1_800_000_000_000
    const relay = fixture.createRelay({ nowMs: () => nowMs })
    await fixture.submit([1])
    await fixture.settle(relay, [1])
    await relay.tick()
    nowMs -= 3_600_000
    await mine(8)
    await tick(relay, 2)
    expect(await statuses(1)).toEqual(['finalized'])
  })
})
