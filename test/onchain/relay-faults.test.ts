import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Relay } from '../../src/relay/relay.ts'
import { RpcError } from '../../src/sync/rpc.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { createRelayFixture, type Interference, openRelayStore, type RelayFixture } from './relay-parts.ts'

const GWEI = 10n ** 9n
const HANGS: Interference = () => {
  throw new RpcError('no answer in 2000 ms', { failure: 'silent' })
}

describe.skipIf(skipReason() !== undefined)('the relay under faults', () => {
  let local: LocalChain
  let fixture: RelayFixture
  let files: Awaited<ReturnType<typeof openRelayStore>>
  let account: PrivateKeyAccount
  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    files = await openRelayStore()
  })
  beforeEach(async () => {
    fixture = await createRelayFixture(local, files.store)
    account = privateKeyToAccount(fixture.privateKey)
  })
  afterEach(async () => {
    await local.client.setAutomine(true)
    await local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
    await mine()
  })
  afterAll(async () => {
    await files.close()
    await local.stop()
  })

  const statuses = async (...indexes: number[]) => (await fixture.read(indexes)).map(({ status }) => status)
  const mine = (blocks = 1) => local.client.mine({ blocks })
  const tick = async (relay: Relay, times = 1) => {
    let state = await relay.tick()
    for (let round = 1; round < times; round++) state = await relay.tick()
    return state
  }
  const used = () => local.client.getTransactionCount({ address: fixture.sender })
  const open = async () =>
    (await fixture.store.relayWork({ chainId: local.chain.id, sender: fixture.sender, maxItems: 1 })).open
  const readAttempts = async () => {
    const [first] = await open()
    return first?.state === 'sent' ? first.attempts : []
  }
  /** Sends a transaction of our account that the relay does not know of. */
  const sendForeignTransaction = async (nonce?: number) => {
    const request = { account, to: account.address, value: 1n, chain: null, gas: 30_000n, maxFeePerGas: 900n * GWEI }
    return local.client.sendTransaction(nonce === undefined ? request : { ...request, nonce })
  }

  it('raises the fee of a transaction that three blocks left out, by at least an eighth', async () => {
    await local.client.setAutomine(false)
    await fixture.submit([1, 2])
    const relay = fixture.createRelay()
    await tick(relay)
    const [first] = await readAttempts()
    // The base fee is above the transaction's fee, so blocks leave it out.
    const setFee = () => local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * first!.maxFeePerGas })
    for (let block = 0; block < 2; block++) {
      await setFee()
      await mine()
      await tick(relay)
      expect(await readAttempts()).toHaveLength(1)
    }
    await setFee()
    await mine()
    await tick(relay)
    const [, second] = await readAttempts()
    expect(second!.maxFeePerGas * 8n).toBeGreaterThanOrEqual(first!.maxFeePerGas * 9n)
    expect(second!.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(first!.maxPriorityFeePerGas * 9n)
    expect(second!.gas).toBe(first!.gas)
    await mine()
    await tick(relay)
    const [one, two] = await fixture.read([1, 2])
    expect([one!.status, two!.status]).toEqual(['mined', 'mined'])
    expect(one!.transactionHash).toBe(second!.hash)
    expect(await fixture.attestations()).toHaveLength(2)
  })

  it('raises no fee above the ceiling, and sends nothing above it', async () => {
    await local.client.setAutomine(false)
    await fixture.submit([1])
    const relay = fixture.createRelay({ settings: { maxFeeGwei: 5 } })
    await tick(relay)
    for (let block = 0; block < 8; block++) {
      await local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 6n * GWEI })
      await mine()
      await tick(relay)
    }
    expect((await readAttempts()).every(({ maxFeePerGas }) => maxFeePerGas <= 5n * GWEI)).toBe(true)
    expect(await tick(relay)).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('above the ceiling of'),
    })
    for (let block = 0; block < 2; block++) {
      await local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
      await mine()
      await tick(relay)
    }
    expect(await statuses(1)).toEqual(['mined'])
    await fixture.submit([2])
    await local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 6n * GWEI })
    await mine()
    expect(await tick(relay)).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('above the ceiling of'),
    })
    expect(await statuses(2)).toEqual(['queued'])
  })

  it('uses another nonce once a foreign transaction of the account with its nonce is final', async () => {
    await local.client.setAutomine(false)
    await fixture.submit([1, 2])
    const relay = fixture.createRelay()
    await tick(relay)
    const [first] = await readAttempts()
    // Our transaction never reached a miner; the foreign one did.
    await local.client.dropTransaction({ hash: first!.hash })
    await sendForeignTransaction(0)
    await mine()
    expect(await tick(relay)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('not final') })
    expect(await statuses(1, 2)).toEqual(['sent', 'sent'])
    await mine(6)
    await tick(relay, 2)
    const [second] = await open()
    expect(second).toMatchObject({ nonce: 1, state: 'sent', itemCount: 2 })
    await mine()
    await tick(relay)
    expect(await statuses(1, 2)).toEqual(['mined', 'mined'])
    expect(await fixture.attestations()).toHaveLength(2)
    expect(fixture.notes.some((note) => note.startsWith('transaction lost'))).toBe(true)
  })

  it('accounts for foreign transactions between its own', async () => {
    const relay = fixture.createRelay()
    for (let round = 0; round < 3; round++) {
      await fixture.submit([round])
      await fixture.settle(relay, [round])
      for (let round = 0; round < 2; round++) {
        await local.client.waitForTransactionReceipt({ hash: await sendForeignTransaction() })
      }
    }
    expect(await used()).toBe(9)
    expect(await fixture.attestations()).toHaveLength(3)
  })

  it('resends, once, a transaction that vanished with its block', async () => {
    await mine(5) // the account is funded before the blocks that will be replaced
    await fixture.submit([1, 2])
    const relay = fixture.createRelay()
    const before = await fixture.settle(relay, [1, 2])
    await fixture.submit([3])
    await fixture.settle(relay, [3])
    // Four blocks are replaced by others without any transaction.
    await local.client.request({ method: 'anvil_reorg' as never, params: [4, []] as never })
    expect(await fixture.attestations()).toHaveLength(0)
    await tick(relay)
    expect(await statuses(1, 2, 3)).toEqual(['sent', 'sent', 'sent'])
    const after = await fixture.settle(relay, [1, 2, 3])
    expect(after.map(({ status }) => status)).toEqual(['mined', 'mined', 'mined'])
    expect(after[0]!.transactionHash).toBe(before[0]!.transactionHash)
    expect(new Set(await fixture.attestations())).toEqual(new Set(after.map(({ uid }) => uid)))
    expect(await fixture.attestations()).toHaveLength(3)
    await mine(6)
    await tick(relay)
    expect(await statuses(1, 2, 3)).toEqual(['finalized', 'finalized', 'finalized'])
  })

  it('uses the finality that the node reports', async () => {
    await fixture.submit([1])
    const relay = fixture.createRelay({ hasFinality: true })
    const blockNumber = (await fixture.settle(relay, [1]))[0]!.blockNumber!
    const finalized = async () => Number((await local.client.getBlock({ blockTag: 'finalized' })).number)
    await mine(6)
    await tick(relay)
    expect(await statuses(1)).toEqual(['mined'])
    while ((await finalized()) < blockNumber) await mine(10)
    await tick(relay)
    expect(await statuses(1)).toEqual(['finalized'])
  })

  it('requeues a reverted transaction once the revert is final', async () => {
    await local.client.setAutomine(false)
    await fixture.submit([1, 2])
    const relay = fixture.createRelay()
    await tick(relay)
    const code = (await local.client.getCode({ address: local.chain.easAddress }))!
    // revert(0, 0)
    await local.client.setCode({ address: local.chain.easAddress, bytecode: '0x60006000fd' })
    await mine()
    await local.client.setCode({ address: local.chain.easAddress, bytecode: code })
    await tick(relay)
    expect((await open())[0]).toMatchObject({ nonce: 0, state: 'reverted' })
    await mine(6)
    await local.client.setAutomine(true)
    const found = await fixture.settle(relay, [1, 2])
    expect(found.map(({ status, error }) => [status, error])).toEqual([
      ['mined', undefined],
      ['mined', undefined],
    ])
    expect(await used()).toBe(2)
    expect(await fixture.attestations()).toHaveLength(2)
  })

  it('sends a transaction that was stored but not sent, with the stored bytes', async () => {
    await fixture.submit([1, 2])
    const silentWhenSent: Interference = (method, params) =>
      method === 'eth_sendRawTransaction' ? HANGS(method, params) : undefined
    expect(await tick(fixture.createRelay({ endpoints: [silentWhenSent] }))).toMatchObject({ state: 'waiting' })
    expect(await used()).toBe(0)
    const [attempt] = await readAttempts()
    const found = await fixture.settle(fixture.createRelay(), [1, 2])
    expect(found.map(({ transactionHash }) => transactionHash)).toEqual([attempt!.hash, attempt!.hash])
    expect(await fixture.attestations()).toHaveLength(2)
  })

  it('finds what it sent before it ended, whatever was stored of it', async () => {
    await fixture.submit([1, 2, 3])
    // The process ends after the node accepted the transaction.
    const dying: RecordStore = {
      ...fixture.store,
      relayStep: async (argument) => {
        if (argument.change.step === 'mined') throw new Error('killed')
        return fixture.store.relayStep(argument)
      },
    }
    const first = fixture.createRelay({ store: dying })
    await tick(first)
    await expect(tick(first)).rejects.toThrow('killed')
    await fixture.settle(fixture.createRelay(), [1, 2, 3])
    expect(await used()).toBe(1)
    expect(await fixture.attestations()).toHaveLength(3)
  })

  it('attests once even if two relays share one store', async () => {
    const indexes = Array.from({ length: 200 }, (_, index) => index)
    await fixture.submit(indexes)
    const relays = [fixture.createRelay(), fixture.createRelay(), fixture.createRelay()]
    for (let round = 0; round < 40; round++) await Promise.all(relays.map((relay) => relay.tick()))
    expect(new Set(await statuses(...indexes))).toEqual(new Set(['mined']))
    expect(await fixture.attestations()).toHaveLength(200)
  })

  it('keeps the balance of the account above a floor', async () => {
    await fixture.fund(4n * 10n ** 15n)
    await fixture.submit([1])
    const relay = fixture.createRelay()
    expect(await tick(relay)).toMatchObject({
      state: 'unfunded',
      reason: expect.stringContaining('4000000000000000 wei'),
    })
    expect(await statuses(1)).toEqual(['queued'])
    expect(await open()).toEqual([])
    await fixture.fund(10n ** 18n)
    await fixture.settle(relay, [1])
    expect(await tick(relay)).toEqual({ state: 'ready' })
  })

  it('reports an account without funds before the first submission', async () => {
    await fixture.fund(0n)
    expect(await tick(fixture.createRelay())).toMatchObject({ state: 'unfunded' })
  })

  it('uses the next endpoint when one is silent or serves another chain', async () => {
    await fixture.submit([1])
    const otherChain: Interference = (method) => (method === 'eth_chainId' ? '0x1' : undefined)
    const found = await fixture.settle(fixture.createRelay({ endpoints: [HANGS, otherChain, undefined] }), [1])
    expect(found[0]!.status).toBe('mined')
  })

  it('uses no endpoint that serves another chain, even one that changes midway', async () => {
    await fixture.submit([1])
    let served = `0x${local.chain.id.toString(16)}`
    const relay = fixture.createRelay({ endpoints: [(method) => (method === 'eth_chainId' ? served : undefined)] })
    await local.client.setAutomine(false)
    await tick(relay)
    served = '0x1'
    await mine()
    for (let round = 0; round < 5; round++) {
      expect(await tick(relay)).toMatchObject({ state: 'waiting' })
    }
    expect(await statuses(1)).toEqual(['sent'])
    served = `0x${local.chain.id.toString(16)}`
    await fixture.settle(relay, [1])
    expect(await fixture.attestations()).toHaveLength(1)
  })

  it('does not attest twice because of a false nonce', async () => {
    let falseNonce: number | undefined
    const lyingEndpoint: Interference = (method, params) =>
      method === 'eth_getTransactionCount' && params[1] === 'latest' && falseNonce !== undefined
        ? `0x${falseNonce.toString(16)}`
        : undefined
    const relay = fixture.createRelay({ endpoints: [lyingEndpoint] })
    // Too high at the start: the transaction waits behind a gap, which is filled when the true nonce appears.
    falseNonce = 5
    await local.client.setAutomine(false)
    await fixture.submit([1, 2])
    await tick(relay)
    expect((await open())[0]).toMatchObject({ nonce: 5 })
    falseNonce = undefined
    for (let block = 0; block < 4; block++) {
      await mine()
      await tick(relay)
    }
    await local.client.setAutomine(true)
    await mine()
    await fixture.settle(relay, [1, 2])
    expect(await used()).toBe(6)
    // Too high while a transaction is pending: no endpoint shows the transaction that used the nonce.
    await local.client.setAutomine(false)
    await fixture.submit([3])
    await tick(relay)
    falseNonce = 30
    for (let round = 0; round < 5; round++) {
      expect(await tick(relay)).toMatchObject({
        state: 'waiting',
        reason: expect.stringContaining('shows no transaction'),
      })
      await local.client.request({ method: 'anvil_dropAllTransactions' as never })
      await mine()
    }
    expect(await statuses(3)).toEqual(['sent'])
    falseNonce = undefined
    await local.client.setAutomine(true)
    await fixture.settle(relay, [3])
    // Too high or too low before a transaction is sent.
    await fixture.submit([4])
    for (const number of [40, 2]) {
      falseNonce = number
      expect(await tick(relay)).toMatchObject({ state: 'waiting' })
      expect(await statuses(4)).toEqual(['queued'])
    }
    falseNonce = undefined
    await fixture.settle(relay, [4])
    expect(await fixture.attestations()).toHaveLength(4)
  })

  it('rejects a receipt with foreign UIDs, and one of a replaced block', async () => {
    await fixture.submit([1])
    const honestClient = local.client
    // Until the first lie there is no receipt: the tick that sends may already ask for it.
    let change: (receipt: Record<string, unknown>) => unknown = () => null
    const lyingEndpoint: Interference = async (method, params) => {
      if (method !== 'eth_getTransactionReceipt') return undefined
      const receipt = await honestClient.request({ method, params: params as never })
      return receipt === null ? undefined : change(receipt as unknown as Record<string, unknown>)
    }
    const relay = fixture.createRelay({ endpoints: [lyingEndpoint] })
    await tick(relay)
    const logsWith = (changes: object) => (receipt: Record<string, unknown>) => ({
      ...receipt,
      logs: (receipt['logs'] as object[]).map((log) => ({ ...log, ...changes })),
    })
    for (const falseNonce of [
      logsWith({ data: `0x${'ab'.repeat(32)}` }),
      logsWith({ data: '0x12' }),
      logsWith({ address: account.address }),
      (receipt: Record<string, unknown>) => ({ ...receipt, logs: [] }),
      (receipt: Record<string, unknown>) => ({ ...receipt, blockHash: `0x${'cd'.repeat(32)}` }),
      (receipt: Record<string, unknown>) => ({ ...receipt, transactionHash: `0x${'cd'.repeat(32)}` }),
      () => ({}),
    ]) {
      change = falseNonce
      await tick(relay, 3)
      expect(await statuses(1), String(falseNonce)).toEqual(['sent'])
    }
    change = (receipt) => receipt
    await fixture.settle(relay, [1])
    expect(await used()).toBe(1)
  })

  it('resends a transaction when the chain became shorter', async () => {
    await fixture.submit([1])
    const relay = fixture.createRelay()
    await fixture.settle(relay, [1])
    await local.client.request({ method: 'anvil_rollback' as never, params: [1] as never })
    await tick(relay, 4)
    const [found] = await fixture.settle(relay, [1])
    expect(found!.status).toBe('mined')
    expect(await fixture.attestations()).toEqual([found!.uid])
  })
})
