/**
 * Results with `submitOnchain` on three nodes with one database, while nodes are killed, blocks leave the chain, fees rise, and the RPC
 * loses, repeats and delays requests or serves another chain.
 */
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { attestationUid } from '../../src/attest/uid.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { eventually } from '../eventually.ts'
import type { Loose } from '../evidence.ts'
import { LOUVRE, RECIPIENT } from '../fixtures.ts'
import { type Answer, type LocalChain, skipReason, startLocalChain } from '../onchain/anvil.ts'
import { type FaultyRpc, startFaultyRpc } from '../onchain/faulty-rpc.ts'
import { scaled } from '../scale.ts'
import { startTestService, type TestService } from '../service.ts'

/** 1,000 with `TEST_SCALE=2`: that takes two to four minutes on two busy cores. */
const RESULTS = scaled(500)
const NODES = 3
const BATCH_ITEMS = 40
/** Share of the results that are requested one by one. The others are items of batches. */
const SINGLE_SHARE = 0.4
/** One request in this many is sent to two nodes at the same time. */
const SENT_TWICE = 10
/** A node is killed when this many transactions have been sent since the last kill. */
const TRANSACTIONS_PER_KILL = 5
const SEED = 24
const KEY = 'a-key-that-all-nodes-have'
const GWEI = 10n ** 9n
const BLOCK_MS = 200
/** What happens to the chain, by the number of the block within each round of 60. */
const ROUND = { blocks: 60, highFees: [15, 20], reorganisation: 30, otherChain: [40, 55] } as const
const REORGANISED_BLOCKS = 10

interface Sent {
  readonly path: string
  readonly idempotencyKey: string
  readonly body: object
  /** Index of its first result, and how many it has. */
  readonly first: number
  readonly count: number
}

/** A result in a response. */
interface Acknowledged {
  readonly submissionId: string
  readonly attestation: Answer['attestation']
}

interface Submission {
  readonly status: string
  readonly uid: string
  readonly time: number
}

describe.skipIf(skipReason() !== undefined || POSTGRES === undefined)('results on several nodes', () => {
  let cluster: PostgresCluster
  let local: LocalChain
  let other: LocalChain
  let endpoints: readonly FaultyRpc[] = []
  /** Undefined while a node starts. */
  const nodes: (TestService | undefined)[] = Array(NODES).fill(undefined)
  const ended: TestService[] = []
  const privateKey = generatePrivateKey()
  const attester = privateKeyToAddress(privateKey)
  const random = randomFrom(SEED)

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    other = await startLocalChain('1.3.0')
    for (const chain of [local, other]) await chain.client.setBalance({ address: attester, value: 10n ** 21n })
    // The account has its money in blocks that stay.
    await local.client.mine({ blocks: 2 * REORGANISED_BLOCKS })
    await local.client.setAutomine(false)
    endpoints = await Promise.all([1, 2].map((index) => startFaultyRpc(local.url, randomFrom(SEED + index))))
    cluster = await startCluster({ fsync: 'off' })
    await start(0) // the first one makes the tables
    await Promise.all([start(1), start(2)])
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node?.stop()))
    for (const endpoint of endpoints) endpoint.close()
    await cluster?.remove()
    await local?.stop()
    await other?.stop()
  })

  async function start(slot: number): Promise<void> {
    nodes[slot] = await startTestService({
      [`RPC_URL_${local.chain.id}`]: endpoints.map(({ url }) => url).join(),
      RECORDS: '1',
      SYNC: '0',
      DATABASE_URL: cluster.url,
      PUBLIC_URL: 'http://127.0.0.1:3000', // in errors, whatever the port of each node is
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: privateKey,
      API_KEYS: JSON.stringify({ [KEY]: { tier: 'internal', label: 'test' } }),
      COMPUTE_THREADS: '1',
      RATE_LIMIT_INTERNAL: '1000000000',
      COST_LIMIT_INTERNAL: 'cpu-ms=999999999999',
      REQUEST_DEADLINE_MS: '60000',
      MAX_QUEUE_MS: '60000',
      MAX_QUEUED_SUBMISSIONS: String(8 * RESULTS),
      SUBMIT_GAS_PER_DAY: '1000000000000',
      SUBMIT_POLL_MS: '100',
      SUBMIT_RPC_TIMEOUT_MS: '1000',
      // About twenty attestations per transaction: enough transactions for every kill to fall among them.
      SUBMIT_MAX_GAS: '8000000',
    })
  }

  /** Makes blocks, and makes things happen to the chain until it is calm. */
  class Chain {
    #blocks = 0
    #isCalm = false
    #isEnded = false
    reorganisations = 0
    readonly #running = this.#run()

    /** From now on there are only blocks, and endpoints without faults. */
    calm(): void {
      this.#isCalm = true
      for (const endpoint of endpoints) endpoint.repair()
    }

    async end(): Promise<void> {
      this.#isEnded = true
      await this.#running
    }

    async #run(): Promise<void> {
      while (!this.#isEnded) {
        await this.#step()
        await new Promise((done) => setTimeout(done, BLOCK_MS))
      }
    }

    async #step(): Promise<void> {
      const block = this.#isCalm ? 0 : this.#blocks++ % ROUND.blocks
      const isIn = ([begin, end]: readonly [number, number]) => block >= begin && block < end
      endpoints[1]!.forwardTo(isIn(ROUND.otherChain) ? other.url : local.url)
      await local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: isIn(ROUND.highFees) ? 20n * GWEI : GWEI })
      if (block === ROUND.reorganisation) {
        await local.client.request({ method: 'anvil_reorg' as never, params: [REORGANISED_BLOCKS, []] as never })
        this.reorganisations++
      }
      await local.client.mine({ blocks: this.#isCalm ? 5 : 1 })
    }
  }

  /** Kills nodes, each at a random time after one of them has sent a transaction, and starts them again. */
  class Killer {
    #isEnded = false
    kills = 0
    readonly #running = this.#run()

    async end(): Promise<void> {
      this.#isEnded = true
      await this.#running
    }

    async #run(): Promise<void> {
      const starts: Promise<void>[] = []
      // The first one ends while the requests arrive.
      for (let sent = 0; !this.#isEnded; ) {
        const alive = nodes.flatMap((node, slot) => (node === undefined ? [] : [slot]))
        if (alive.length > 1 && countLines('"submissions sent"') >= sent) {
          await new Promise((done) => setTimeout(done, random() * 300))
          const slot = alive[Math.floor(random() * alive.length)]!
          const node = nodes[slot]!
          process.kill(node.pid, 'SIGKILL')
          nodes[slot] = undefined
          ended.push(node)
          starts.push(node.stop().then(() => start(slot)))
          this.kills++
          sent = countLines('"submissions sent"') + TRANSACTIONS_PER_KILL
        }
        await new Promise((done) => setTimeout(done, 5))
      }
      await Promise.all(starts)
    }
  }

  /** Returns how many lines of the logs of all nodes contain a text. */
  function countLines(text: string): number {
    return [...ended, ...nodes].reduce(
      (sum, node) => sum + (node?.lines.filter((line) => line.includes(text)).length ?? 0),
      0,
    )
  }

  /** Returns an operation whose result no other operation has. */
  function operation(index: number): { op: string; body: object } {
    const point = { type: 'Point', coordinates: [index / 100, 45] }
    const line = {
      type: 'LineString',
      coordinates: [
        [index / 100, 0],
        [0, 45],
      ],
    }
    return [
      { op: 'distance', body: { from: LOUVRE, to: point } },
      { op: 'length', body: { geometry: line } },
      { op: 'within', body: { geometry: point, target: LOUVRE, radius: 1_000_000 } },
    ][index % 3]!
  }

  function requests(): Sent[] {
    const sent: Sent[] = []
    const common = { chainId: local.chain.id, recipient: RECIPIENT, options: { submitOnchain: true } }
    const singles = Math.round(RESULTS * SINGLE_SHARE)
    for (let index = 0; index < singles; index++) {
      const { op, body } = operation(index)
      const idempotencyKey = `single-${index}`
      sent.push({ path: `/compute/v0/${op}`, idempotencyKey, body: { ...body, ...common }, first: index, count: 1 })
    }
    for (let first = singles; first < RESULTS; first += BATCH_ITEMS) {
      const count = Math.min(BATCH_ITEMS, RESULTS - first)
      const items = Array.from({ length: count }, (_, index) => {
        const { op, body } = operation(first + index)
        return { op, ...body }
      })
      sent.push({
        path: '/compute/v0/batch',
        idempotencyKey: `batch-${first}`,
        body: { ...common, items },
        first,
        count,
      })
    }
    return sent
  }

  const counts = new Map<string, number>()
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const refusals: string[] = []

  /** Sends a request to one node after the other until it is answered for good. @returns its results */
  async function deliver(sent: Sent, firstSlot: number): Promise<Acknowledged[]> {
    for (let slot = firstSlot; ; slot++) {
      const node = nodes[slot % NODES]
      if (node === undefined) {
        await new Promise((done) => setTimeout(done, 10))
        continue
      }
      const headers = { 'x-api-key': KEY, 'Idempotency-Key': sent.idempotencyKey }
      const answer = await node.post(sent.path, sent.body, headers).catch(() => undefined)
      if (answer === undefined) {
        count('unanswered')
        continue
      }
      count(`status ${answer.status}`)
      const results: Loose[] = answer.status === 200 ? (answer.body.results ?? [answer.body]) : []
      const errors = results.flatMap(({ error }) => (error === undefined ? [] : [error]))
      for (const { status } of errors) count(`item with status ${status}`)
      // The node found an endpoint that serves another chain. It checks this again every few seconds.
      const isRefused = [answer.body, ...errors].some(({ errors }) => errors?.[0].code === 'unsupported-chain')
      if (!isRefused && answer.status !== 503 && errors.every(({ status }) => status !== 503)) {
        if (answer.status !== 200) refusals.push(JSON.stringify(answer.body))
        refusals.push(...errors.map((error) => JSON.stringify(error)))
        return results.flatMap(({ submission, attestation }) =>
          submission === undefined ? [] : [{ submissionId: submission.id, attestation }],
        )
      }
      const seconds = Number(answer.headers.get('retry-after') ?? 1)
      await new Promise((done) => setTimeout(done, seconds * 1000))
    }
  }

  /** Sends all requests at once, some of them twice. @returns the results by index */
  async function deliverAll(): Promise<Map<number, Acknowledged>> {
    const results = new Map<number, Acknowledged>()
    await Promise.all(
      requests().flatMap((sent, index) =>
        (index % SENT_TWICE === 0 ? [index, index + 1] : [index]).map(async (slot) => {
          for (const [item, acknowledged] of (await deliver(sent, slot)).entries()) {
            const known = results.get(sent.first + item) ?? acknowledged
            // Whichever node answers, a repeated request has the first result and its submission.
            expect(acknowledged.submissionId).toBe(known.submissionId)
            expect(acknowledged.attestation.data).toBe(known.attestation.data)
            results.set(sent.first + item, acknowledged)
          }
        }),
      ),
    )
    return results
  }

  /** Waits until all submissions are final. @returns their UIDs, which are those of the results at the times of their blocks */
  async function untilFinal(results: Iterable<Acknowledged>): Promise<Map<string, string>> {
    const keccak = await createKeccak()
    const uids = new Map<string, string>()
    for (const { submissionId, attestation } of results) {
      await eventually(
        async () => {
          const submission = (await (
            await fetch(`${nodes[0]!.url}/verify/v0/submissions/${submissionId}`)
          ).json()) as Submission
          expect(submission.status, JSON.stringify(submission)).toBe('finalized')
          const times = { timeSeconds: submission.time, expirationTimeSeconds: 0 }
          expect(submission.uid).toBe(attestationUid({ ...attestation, attester, ...times }, keccak))
          uids.set(submissionId, submission.uid)
        },
        { timeout: 300_000, interval: 200 },
      )
    }
    return uids
  }

  it(`are attested exactly once, ${RESULTS} of ${RESULTS}`, async () => {
    const beginMs = performance.now()
    const chain = new Chain()
    const killer = new Killer()
    const ending = async () => {
      await killer.end()
      await chain.end()
    }
    const run = async () => {
      const results = await deliverAll()
      const answeredMs = performance.now() - beginMs
      await killer.end()
      chain.calm()
      return { results, answeredMs, uids: await untilFinal(results.values()) }
    }
    const { results, uids, answeredMs } = await run().finally(ending)
    const finalMs = performance.now() - beginMs

    const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
    const transactions = await local.client.getTransactionCount({ address: attester })
    const facts = {
      ...Object.fromEntries([...counts].sort()),
      kills: killer.kills,
      reorganisations: chain.reorganisations,
      'reorganisations with submissions': countLines('"submissions vanished with their block"'),
      'raised fees': countLines('"fee raised"'),
      transactions,
      attestations: logs.length,
      'seconds until all were answered': Math.round(answeredMs / 1000),
      'seconds until all were final': Math.round(finalMs / 1000),
      endpoints: endpoints.map((endpoint) => Object.fromEntries(endpoint.counts)),
    }
    console.log(JSON.stringify(facts, null, 1))
    // A run in which little happened to nodes and chain proves little.
    expect(killer.kills).toBeGreaterThan(1)
    expect(chain.reorganisations).toBeGreaterThan(0)
    expect(refusals).toEqual([])
    expect([...counts.keys()].filter((what) => what.includes('500'))).toEqual([])
    expect(results.size).toBe(RESULTS)
    expect(uids.size).toBe(RESULTS)
    expect(logs).toHaveLength(RESULTS)
    expect(new Set(logs.map(({ data }) => data))).toEqual(new Set(uids.values()))
    expect(await other.client.getTransactionCount({ address: attester })).toBe(0)
  })
})
