/** A relay in this process with a real store and a real chain, for tests that break the connections between them. */
import { randomBytes } from 'node:crypto'

import { ENGINES, makeStore } from '../../bench/store-engines.ts'
import { encodeVerify } from '../../src/attest/data.ts'
import { relayCeilings } from '../../src/attest/relay-transaction.ts'
import { readConfig } from '../../src/config/config.ts'
import type { SubmissionConfig } from '../../src/config/submission.ts'
import { Relay } from '../../src/relay/relay.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { HttpRpc, type RpcCall, type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import type { NewSubmission, RelayState, Submission } from '../../src/wire/relay-messages.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, RECIPIENT, VERIFY_DATA } from '../attest-parts.ts'
import type { LocalChain } from './anvil.ts'

export type RelayFixture = Awaited<ReturnType<typeof createRelayFixture>>

/** Responds instead of a node; undefined forwards the request. */
export type Interference = (method: string, params: readonly unknown[]) => unknown

export interface RelayOptions {
  readonly settings?: Partial<SubmissionConfig>
  /** For each endpoint; the default is one honest endpoint. */
  readonly endpoints?: readonly (Interference | undefined)[]
  readonly store?: RecordStore
  /** Whether the node knows the tag `finalized`, which on this chain is 64 blocks before the head. */
  readonly hasFinality?: boolean
  /** Milliseconds since the epoch; by default ten seconds pass between two reads. */
  readonly nowMs?: () => number
}

/** Opens a store for any number of fixtures. */
export async function openRelayStore() {
  const files = await makeStore(ENGINES[0]!)
  const database = await files.open()
  return {
    store: createRecordStore(database, () => ''),
    async close() {
      await database.close()
      await files.remove()
    },
  }
}

/** Creates a separate account on the chain and in the store. */
export async function createRelayFixture(local: LocalChain, store: RecordStore) {
  const settings: SubmissionConfig = readConfig({ ENABLE_ONCHAIN_SUBMIT: '1' }, 1).submission!
  const privateKey = randomBytes(32)
  const { signer, keccak, schemas } = await createTestSigner({ relay: relayCeilings(settings), privateKey })
  const chainId = local.chain.id
  const sender = signer.address
  const notes: string[] = []
  let clockMs = 1_800_000_000_000
  await fund(10n ** 19n)

  return {
    store,
    sender,
    privateKey: `0x${privateKey.toString('hex')}` as Hex,
    settings,
    notes,
    schemas,
    createPayload,
    submit,
    read,
    fund,
    createRelay: create,
    settle,
    async attestations() {
      const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
      return logs
        .filter(({ topics }) => topics[2]?.endsWith(sender.slice(2)))
        .map(({ data }) => data.slice(0, 66) as Hex)
    },
  }

  function submissionId(index: number): string {
    return `${sender} ${index}`
  }

  function fund(value: bigint): Promise<void> {
    return local.client.setBalance({ address: sender, value })
  }

  function createPayload(index: number): AttestationPayload {
    const data = encodeVerify({ ...VERIFY_DATA, proofHash: `0x${index.toString(16).padStart(64, '0')}` })
    return { kind: 'verify', chainId, schema: schemas.verify, recipient: RECIPIENT, data }
  }

  async function submit(indexes: readonly number[], changes: Partial<NewSubmission> = {}): Promise<void> {
    for (const index of indexes) {
      const payload = createPayload(index)
      const common = { id: submissionId(index), account: sender, idempotencyKey: `${index}`, sender, payload, gas: 1 }
      const [outcome] = await store.submit({
        submissions: [{ ...common, ...changes }],
        maxQueued: 10_000,
        maxQueuedPerKey: 10_000,
        gasPerDay: 1e12,
        gasPerDayOfAll: 1e12,
        nowMs: clockMs,
      })
      if (outcome!.outcome !== 'taken') throw new Error(outcome!.outcome)
    }
  }

  async function read(indexes: readonly number[]): Promise<Submission[]> {
    const found = await store.submissions(indexes.map(submissionId))
    return indexes.map((index) => found.find(({ id }) => id === submissionId(index))!)
  }

  function create(options: RelayOptions = {}): Relay {
    const {
      settings: changes = {},
      endpoints = [undefined],
      store: other = store,
      hasFinality = false,
      nowMs,
    } = options
    return new Relay({
      chain: { ...local.chain, finalityDepth: 6 },
      sender,
      keccak,
      store: other,
      settings: { ...settings, ...changes },
      sign: async (payload) => signer.sign(payload),
      rpcs: new RpcList({
        chainId,
        clients: endpoints.map((interference) => endpoint(local.url, hasFinality, interference)),
        now: () => clockMs,
        random: () => 0.5,
        maxSuspensionMs: 1000,
      }),
      nowMs: nowMs ?? (() => (clockMs += 10_000)), // every read advances the clock
      note: (event, facts) => notes.push(`${event} ${JSON.stringify(facts)}`),
    })
  }

  /** Ticks until nothing is queued or pending. */
  async function settle(relay: Relay, indexes: readonly number[], ticks = 60): Promise<Submission[]> {
    let state: RelayState | undefined
    for (let round = 0; round < ticks; round++) {
      state = await relay.tick()
      const found = await read(indexes)
      if (found.every(({ status }) => status !== 'queued' && status !== 'sent')) return found
    }
    throw new Error(`not settled in ${ticks} ticks: ${JSON.stringify(state)}\n${notes.slice(-10).join('\n')}`)
  }
}

function endpoint(url: string, hasFinality: boolean, interference: Interference = () => undefined): RpcClient {
  const rpc = new HttpRpc({ url, timeoutMs: 2000, maxResponseBytes: 8_000_000 })
  const request = async (method: string, params: readonly unknown[]) => {
    if (params[0] === 'finalized' && !hasFinality) throw new RpcError('no such tag', { code: -32602 })
    const answer = await interference(method, params)
    return answer === undefined ? rpc.request(method, params) : answer
  }
  return {
    request,
    requestAll: async (calls: readonly RpcCall[]) => {
      try {
        const answer = await interference(calls[0]!.method, calls[0]!.params)
        return answer === undefined ? rpc.requestAll(calls) : calls.map(() => ({ ok: true, value: answer }))
      } catch (error) {
        if (error instanceof RpcError && error.failure === 'error') return calls.map(() => ({ ok: false, error }))
        throw error
      }
    },
  }
}
