import { createServer, connect as openSocket, type Socket } from 'node:net'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, type PostgresStandby, startCluster } from '../../bench/store-engines.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { comparable, faultyOf, pieces } from '../job-operations.ts'
import { type LocalChain, skipReason, startLocalChain } from '../onchain/anvil.ts'
import { type Answer, startTestService, type TestService } from '../service.ts'

const LINES = 40_000
const SUBMISSIONS = 120
const KEY = 'a-key-that-all-nodes-have'
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/x-ndjson' }
const SKIP = POSTGRES === undefined ? 'no PostgreSQL' : skipReason()

/** The address of the database for the nodes, as a proxy in front of two servers is. */
async function startForwarder(url: string) {
  let port: number | undefined = Number(new URL(url).port)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    if (port === undefined) return void client.destroy()
    const upstream = openSocket(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = new URL(url)
  own.port = String((server.address() as { port: number }).port)
  return {
    url: own.href,
    /** Breaks every connection, and leads new ones to another server; with undefined, to none. */
    moveTo(target: string | undefined) {
      port = target === undefined ? undefined : Number(new URL(target).port)
      for (const socket of open) socket.destroy()
    },
    close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

describe.skipIf(SKIP !== undefined)('a primary that is lost, and a standby that takes its place', () => {
  let primary: PostgresCluster
  let standby: PostgresStandby
  let forwarder: Awaited<ReturnType<typeof startForwarder>>
  let local: LocalChain
  let mining: NodeJS.Timeout
  const nodes: TestService[] = []
  const key = generatePrivateKey()

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 20n })
    await local.client.setAutomine(false)
    mining = setInterval(() => void local.client.mine({ blocks: 1 }).catch(() => {}), 150) // the last one may fail when the chain stops
    // A commit is acknowledged only when the standby has it too, so none can be lost.
    primary = await startCluster({ synchronous_standby_names: '*' })
    standby = await primary.startStandby()
    forwarder = await startForwarder(primary.url)
    for (let count = 0; count < 2; count++) {
      const node = await startTestService({
        ...local.environment,
        RECORDS: '1',
        DATABASE_URL: forwarder.url,
        PUBLIC_URL: 'http://127.0.0.1:3000', // in errors, whatever the port of each node is
        ENABLE_ONCHAIN_SUBMIT: '1',
        SIGNER_PRIVATE_KEY: key,
        API_KEYS: JSON.stringify({ [KEY]: { tier: 'internal', label: 'test' } }),
        RATE_LIMIT_INTERNAL: '1000000000',
        COST_LIMIT_INTERNAL: 'cpu-ms=999999999999',
        JOB_POLL_MS: '50',
        SUBMIT_WAIT_MS: '0',
        SUBMIT_POLL_MS: '20',
        SUBMIT_GAS_PER_DAY: '1000000000000',
        // Five attestations per transaction: some are sent at any time.
        SUBMIT_MAX_GAS: '1700000',
        RPC_TIMEOUT_MS: '5000',
      })
      nodes.push(node)
      await eventually(() => expect(node.lines.join('\n')).toContain('"store open"'))
    }
  }, 300_000)
  afterAll(async () => {
    clearInterval(mining)
    for (const node of nodes) await node.stop()
    forwarder?.close()
    await standby?.remove()
    await primary?.remove()
    await local?.stop()
  })

  const submit = (node: TestService, index: number): Promise<Answer> =>
    node.post(
      '/verify/v0/proof',
      {
        proof: proofOf([stampOf()], { radius: 100 + index }),
        options: { chainId: local.chain.id, submitOnchain: true },
      },
      { 'x-api-key': KEY },
    )

  it('loses nothing that was acknowledged, and answers no request with an error of its own', async () => {
    const [first, second] = nodes as [TestService, TestService]
    const created = await fetch(`${first.url}/compute/v0/jobs?chainId=84532&attest=none&more=true`, {
      method: 'POST',
      headers: HEADERS,
      body: [...pieces(0, LINES / 2)].join(''),
    })
    const { id } = (await created.json()) as { id: string }

    // Clients of both nodes, until everything has been accepted. What has no place in `expected` is a defect.
    const acknowledged = new Map<number, string>()
    const refused: Record<string, number> = {}
    const unexpected: unknown[] = []
    let isOver = false
    const count = (kind: string) => {
      refused[kind] = (refused[kind] ?? 0) + 1
    }
    const submitAll = async () => {
      for (let index = 0; index < SUBMISSIONS; ) {
        const answer = await submit(nodes[index % 2]!, index)
        if (answer.status === 200) {
          acknowledged.set(index, answer.body.submission.id)
          index++
          continue
        }
        // docs/submission.md: 500 of this type where compute or verify need the store, and 503 where it is only late.
        const isHonest = ['database', 'overloaded'].includes(/[^/]*$/.exec(answer.body.type)![0])
        if (!isHonest || !answer.headers.has('retry-after')) unexpected.push(answer.body)
        count(`submission ${answer.status}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const computeAlways = async (node: TestService) => {
      while (!isOver) {
        const answer = await node.post(
          '/compute/v0/distance',
          { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL },
          { 'x-api-key': KEY },
        )
        if (answer.status !== 200 || answer.body.result !== 4238.77) unexpected.push(answer.body)
      }
    }
    const listAlways = async (node: TestService) => {
      while (!isOver) {
        for (const path of ['/api/v0/location-records?limit=1', `/compute/v0/jobs/${id}`]) {
          const response = await fetch(node.url + path, { headers: { 'x-api-key': KEY } })
          const body = await response.text()
          if (response.status === 200) continue
          if (response.status !== 503 || !response.headers.has('retry-after')) unexpected.push([path, body])
          count(`${path.split('/')[1]} ${response.status}`)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }
    const others = nodes.flatMap((node) => [computeAlways(node), listAlways(node)])
    const submissions = submitAll()
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(SUBMISSIONS / 4))

    forwarder.moveTo(undefined)
    await primary.stop('kill')
    await eventually(() => expect(refused['api 503']).toBeGreaterThan(0))
    standby.promote()
    forwarder.moveTo(standby.url)

    // The client continues its upload with what the job has.
    await eventually(
      async () => {
        const state = await (await fetch(`${second.url}/compute/v0/jobs/${id}`, { headers: HEADERS })).json()
        const { received } = state as { received: number }
        expect(received).toBeGreaterThanOrEqual(LINES / 2)
        const body = [...pieces(received, LINES)].join('')
        const path = `/compute/v0/jobs/${id}/input?from=${received}`
        const put = await fetch(second.url + path, { method: 'PUT', headers: HEADERS, body })
        expect(await put.json()).toMatchObject({ received: LINES, total: LINES })
      },
      { interval: 500 },
    )
    await eventually(
      async () => {
        const state = await (await fetch(`${first.url}/compute/v0/jobs/${id}`, { headers: HEADERS })).json()
        expect(state).toMatchObject({ state: 'done', done: LINES, failed: faultyOf(LINES) })
      },
      { timeout: 400_000, interval: 500 },
    )
    await submissions
    isOver = true
    await Promise.all(others)
    expect(unexpected).toEqual([])
    console.log('refused during the failover:', JSON.stringify(refused))

    const results = await (await fetch(`${second.url}/compute/v0/jobs/${id}/results`, { headers: HEADERS })).text()
    const batch = await fetch(`${first.url}/compute/v0/batch?chainId=84532&attest=none`, {
      method: 'POST',
      headers: HEADERS,
      body: [...pieces(0, LINES)].join(''),
    })
    const expected = (await batch.text()).trim().split('\n').map(comparable)
    const stored = results.trim().split('\n').map(comparable)
    // The message of a failure would have all lines.
    expect([stored.length, expected.findIndex((line, index) => line !== stored[index])]).toEqual([LINES, -1])

    const uids = new Set<string>()
    for (const submission of acknowledged.values()) {
      await eventually(
        async () => {
          const response = await fetch(`${first.url}/verify/v0/submissions/${submission}`, { headers: HEADERS })
          const { uid, status } = (await response.json()) as { uid?: string; status: string }
          expect(status).toMatch(/^(mined|finalized)$/)
          uids.add(uid!)
        },
        { interval: 100 },
      )
    }
    const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
    expect(new Set(logs.map(({ data }) => data))).toEqual(uids)
    expect([uids.size, logs.length]).toEqual([SUBMISSIONS, SUBMISSIONS])
  }, 900_000)
})
