import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { makeStore } from '../../bench/store-engines.ts'
import { chainTable } from '../../src/attest/chains.ts'
import { encodeMerkleRoot } from '../../src/attest/data.ts'
import { relayCeilings } from '../../src/attest/relay-transaction.ts'
import { readConfig } from '../../src/config/config.ts'
import { Relay } from '../../src/relay/relay.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { createTestSigner, RECIPIENT } from '../attest-parts.ts'
import { createModelChain } from '../model-relay-chain.ts'
import { scaled } from '../scale.ts'

const SEEDS = scaled(25)
const SUBMISSIONS = 12
const STEPS = 60
const CHAIN_ID = 84532

/** Simulates the end of the process: earlier effects persist, and nothing after it happens. */
class Crash extends Error {}

let store: RecordStore
let close: () => Promise<void>
beforeAll(async () => {
  const files = await makeStore('embedded')
  const database = await files.open()
  store = createRecordStore(database, () => '')
  close = async () => {
    await database.close()
    await files.remove()
  }
})
afterAll(() => close())

it('attests each submission exactly once, despite crashes, reorganisations and other faults', async () => {
  const seen = { crashes: 0, silences: 0, reorganisations: 0, foreign: 0, reverts: 0, raised: 0, lost: 0, vanished: 0 }
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      await runSeed(seed, seen)
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
  console.log(`${SEEDS} seeds: ${JSON.stringify(seen)}`)
  // Every kind of fault occurred. A run with few seeds may miss some.
  if (SEEDS >= 25) for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0)
})

async function runSeed(seed: number, seen: Record<string, number>): Promise<void> {
  const random = randomFrom(seed)
  const privateKey = Buffer.from(seed.toString(16).padStart(64, 'a'), 'hex')
  const settings = {
    ...readConfig({ ENABLE_ONCHAIN_SUBMIT: '1' }, 1).submission!,
    maxGas: 1_600_000, // five attestations
    maxAttempts: 1000,
    minBalanceEther: 0,
  }
  const { signer, keccak, schemas } = await createTestSigner({ privateKey, relay: relayCeilings(settings) })
  const sender = signer.address
  const chain = chainTable(readConfig({}, 1)).get(CHAIN_ID)!
  const model = createModelChain({ chainId: CHAIN_ID, sender, easAddress: chain.easAddress, keccak, random })
  let clockMs = 1_800_000_000_000
  /** The probability of faults in each call: the process ends before or after it, or its answer is lost. */
  let faultRate = 0
  const withFaults = async <T>(run: () => Promise<T>, canTimeOut: boolean): Promise<T> => {
    const dice = random()
    if (dice < faultRate / 2) return crash()
    const answer = await run()
    if (dice < faultRate) return crash()
    if (canTimeOut && dice < 2 * faultRate) {
      seen['silences']!++
      throw new RpcError('no answer', { failure: 'silent' })
    }
    return answer
  }
  const crash = (): never => {
    seen['crashes']!++
    throw new Crash()
  }
  const client: RpcClient = {
    request: (method, params) => withFaults(() => model.client.request(method, params), true),
    requestAll: (calls) => withFaults(() => model.client.requestAll(calls), true),
  }
  const start = () =>
    new Relay({
      chain,
      sender,
      keccak,
      settings,
      sign: async (payload) => signer.sign(payload),
      store: {
        relayWork: (argument) => store.relayWork(argument),
        relayStep: (argument) => withFaults(() => store.relayStep(argument), false),
      },
      rpcs: new RpcList({
        chainId: CHAIN_ID,
        clients: [client, client],
        now: () => clockMs,
        random: () => 0.5,
        maxSuspensionMs: 1000,
      }),
      nowMs: () => (clockMs += 10_000),
      note: (event) => {
        if (event === 'fee raised') seen['raised']!++
        if (event === 'transaction lost') seen['lost']!++
        if (event.includes('vanished')) seen['vanished']!++
        if (event === 'submissions reverted') seen['reverts']!++
      },
    })
  let relays = [start(), start()]
  const tick = async () => {
    const index = Math.floor(random() * relays.length)
    try {
      await relays[index]!.tick()
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      relays = relays.with(index, start())
    }
  }
  const submit = async (index: number) => {
    const data = encodeMerkleRoot({
      merkleRoot: `0x${index.toString(16).padStart(64, '0')}`,
      leafCount: seed,
      timestampSeconds: 1,
    })
    const payload = {
      kind: 'merkle-root',
      chainId: CHAIN_ID,
      schema: schemas['merkle-root'],
      recipient: RECIPIENT,
      data,
    } as const
    const common = { id: `${seed} ${index}`, account: sender, idempotencyKey: String(index), sender, payload, gas: 1 }
    await store.submit({
      submissions: [common],
      maxQueued: 1000,
      maxQueuedPerKey: 1000,
      gasPerDay: 1e9,
      gasPerDayOfAll: 1e9,
      nowMs: clockMs,
    })
    return data
  }

  const dataList: string[] = []
  faultRate = 0.02
  for (let step = 0; step < STEPS; step++) {
    if (dataList.length < SUBMISSIONS && random() < 0.3) dataList.push(await submit(dataList.length))
    await tick()
    const dice = random()
    if (dice < 0.45) model.mine(0.05)
    else if (dice < 0.55) {
      seen['reorganisations']!++
      model.reorganise(1 + Math.floor(random() * (model.finalBlocks - 1)))
    } else if (dice < 0.58) {
      seen['foreign']!++
      model.addForeign()
    } else if (dice < 0.62) model.emptyPool()
    else if (dice < 0.72) model.setBaseFee(1 + 4 * random())
  }
  // Then no more faults, until every submission is final.
  faultRate = 0
  model.setBaseFee(1)
  while (dataList.length < SUBMISSIONS) dataList.push(await submit(dataList.length))
  const ids = dataList.map((_, index) => `${seed} ${index}`)
  for (let round = 0; ; round++) {
    await tick()
    model.mine()
    const found = await store.submissions(ids)
    if (found.every(({ status }) => status === 'finalized')) break
    if (round > 300)
      throw new Error(`not settled: ${JSON.stringify(found.filter(({ status }) => status !== 'finalized'))}`)
  }
  const onChain = model.attestations()
  expect(onChain.map(({ data }) => data).toSorted()).toEqual(dataList.toSorted())
  const stored = await store.submissions(ids)
  for (const [index, data] of dataList.entries()) {
    const { uid } = stored.find(({ id }) => id === `${seed} ${index}`)!
    expect(uid).toBe(onChain.find((attestation) => attestation.data === data)!.uid)
  }
}
