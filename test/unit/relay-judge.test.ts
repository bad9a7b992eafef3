import { beforeEach, describe, expect, it } from 'vitest'
import { chainTable } from '../../src/attest/chains.ts'
import { encodeMerkleRoot } from '../../src/attest/data.ts'
import { relayCeilings } from '../../src/attest/relay-transaction.ts'
import { readConfig } from '../../src/config/config.ts'
import { RelayChain } from '../../src/relay/relay-chain.ts'
import { RelayJudge } from '../../src/relay/relay-judge.ts'
import type { ChainSnapshot } from '../../src/relay/relay-sender.ts'
import { type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import type { RelayStep } from '../../src/wire/relay-messages.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import { createTestSigner, RECIPIENT } from '../attest-parts.ts'
import { createModelChain } from '../model-relay-chain.ts'

const CHAIN_ID = 84532
const GWEI = 10n ** 9n
const SILENT = { state: 'waiting', reason: expect.stringContaining('no other endpoint responds') }

const settings = readConfig({ ENABLE_ONCHAIN_SUBMIT: '1' }, 1).submission!
const { signer, keccak, schemas } = await createTestSigner({ relay: relayCeilings(settings) })
const sender = signer.address
const { easAddress } = chainTable(readConfig({}, 1)).get(CHAIN_ID)!
const chainParts = { chainId: CHAIN_ID, sender, easAddress, keccak }
const item: AttestationPayload = {
  kind: 'merkle-root',
  chainId: CHAIN_ID,
  schema: schemas['merkle-root'],
  recipient: RECIPIENT,
  data: encodeMerkleRoot({ merkleRoot: `0x${'1'.repeat(64)}`, leafCount: 1, timestampSeconds: 1 }),
}

// Regression: a silent second endpoint counted as an agreeing one, for submissions that the contract rejects and for nonces at
// once, and for final transactions after ten minutes.
describe('the judge of the relay, while one of two endpoints is silent', () => {
  let model: ReturnType<typeof createModelChain>
  let judge: RelayJudge
  let steps: RelayStep[]
  let isSilent: boolean
  let clockMs: number
  /** Responds to a method instead of the model; returns undefined to let the model respond. */
  let override: ((method: string) => unknown) | undefined

  beforeEach(() => {
    model = createModelChain({ ...chainParts, random: () => 0.5 })
    ;[steps, isSilent, clockMs, override] = [[], true, 0, undefined]
    judge = new RelayJudge({
      chainParts,
      rpcs: new RpcList({
        chainId: CHAIN_ID,
        clients: [endpoint(() => false), endpoint(() => isSilent)],
        now: () => clockMs,
        random: () => 0.5,
        maxSuspensionMs: 60_000,
      }),
      finalityDepth: model.finalBlocks,
      settings,
      step: async (change) => {
        steps.push(change)
        return true
      },
      note: () => {},
    })
  })

  function endpoint(fails: () => boolean): RpcClient {
    const respond = async <T>(method: string, ask: () => Promise<T>) => {
      if (fails()) throw new RpcError('no response', { failure: 'silent' })
      const value = override?.(method)
      return value === undefined ? await ask() : (value as T)
    }
    return {
      request: (method, params) => respond(method, () => model.client.request(method, params)),
      requestAll: (calls) => respond(`all ${calls[0]!.method}`, () => model.client.requestAll(calls)),
    }
  }

  /** Returns the chain as the first endpoint shows it. Time passes, so that no endpoint is suspended any more. */
  async function readSnapshot(): Promise<ChainSnapshot> {
    clockMs += 3_600_000
    const chain = new RelayChain(
      endpoint(() => false),
      chainParts,
    )
    const head = await chain.head()
    const finalized = await chain.finalizedNumber(head, model.finalBlocks)
    return { chain, endpointIndex: 1, head, finalized, usedNonces: await chain.transactionCount() }
  }

  async function sendTransaction() {
    const fees = { maxFeePerGas: 4n * GWEI, maxPriorityFeePerGas: GWEI }
    const payload = { chainId: CHAIN_ID, nonce: 0, gas: 500_000, ...fees, items: [item] }
    const signed = await signer.sign({ kind: 'relay-transaction', ...payload })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const { raw, hash } = signed
    await model.client.request('eth_sendRawTransaction', [raw])
    return { hash, attempt: { hash, raw, gas: 500_000, ...fees, sentBlock: 0 } }
  }

  const mineBlocks = (count: number) => {
    for (let block = 0; block < count; block++) model.mine()
  }

  it.each(['mined', 'reverted'] as const)('settles no transaction that is %s and final', async (state) => {
    const { hash } = await sendTransaction()
    model.mine(state === 'reverted' ? 1 : 0)
    const blockNumber = model.depth() - 1
    mineBlocks(model.finalBlocks)
    const { chain } = await readSnapshot()
    const [outcome] = await chain.readOutcomes([hash])
    expect(outcome!.isSuccess).toBe(state === 'mined')
    const blockHash = outcome!.blockHash as `0x${string}`
    const settle = async () =>
      judge.settleFinal(await readSnapshot(), [{ nonce: 0, itemCount: 1, state, hash, blockNumber, blockHash }])

    for (let hour = 0; hour < 3; hour++) expect(await settle()).toEqual(SILENT)
    expect(steps).toEqual([])
    isSilent = false
    expect(await settle()).toEqual({ state: 'ready' })
    expect(steps).toMatchObject([{ step: state === 'mined' ? 'finalized' : 'lost' }])
  })

  it('gives up no nonce that another transaction used', async () => {
    const { attempt } = await sendTransaction()
    model.emptyPool()
    model.addForeign()
    mineBlocks(1 + model.finalBlocks)
    const open = { nonce: 0, itemCount: 1, state: 'sent', attempts: [attempt], items: [item] } as const
    expect(await judge.settleUsedNonce(await readSnapshot(), open)).toEqual(SILENT)
    expect(steps).toEqual([])
    isSilent = false
    expect(await judge.settleUsedNonce(await readSnapshot(), open)).toEqual({ state: 'ready' })
    expect(steps).toMatchObject([{ step: 'lost', nonce: 0 }])
  })

  it('fails no submission that the contract rejects', async () => {
    override = (method) => {
      const error = new RpcError('execution reverted', { code: 3 })
      return method === 'all eth_estimateGas' ? [{ ok: false, error }] : undefined
    }
    const rejected = [{ id: 'first', payload: item }]
    for (let hour = 0; hour < 3; hour++)
      expect(await judge.failRejected(await readSnapshot(), rejected)).toEqual(SILENT)
    expect(steps).toEqual([])
    isSilent = false
    expect(await judge.failRejected(await readSnapshot(), rejected)).toEqual({ state: 'ready' })
    expect(steps).toMatchObject([{ step: 'failed', ids: ['first'] }])
  })

  it('trusts no count of nonces that went up, and no gap in them', async () => {
    model.addForeign()
    mineBlocks(1)
    expect(await judge.checkNonceCount(await readSnapshot(), 0)).toContain('no other endpoint responds')
    expect(await judge.checkNonceGap(await readSnapshot(), 2)).toContain('no other endpoint responds')
    isSilent = false
    expect(await judge.checkNonceCount(await readSnapshot(), 0)).toBeUndefined()
    expect(await judge.checkNonceGap(await readSnapshot(), 2)).toBeUndefined()
  })
})
