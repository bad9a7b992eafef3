import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const PROCESSES = 3
const BURST = 300

describe.skipIf(skipReason() !== undefined || POSTGRES === undefined)('a burst of submissions', () => {
  let local: LocalChain
  let cluster: PostgresCluster
  const services: TestService[] = []
  const key = generatePrivateKey()

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 21n })
    cluster = await startCluster()
    for (let index = 0; index < PROCESSES; index++) services.push(await start())
  }, 300_000)
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()))
    await cluster?.remove()
    await local?.stop()
  })

  async function start(environment: Record<string, string> = {}): Promise<TestService> {
    const service = await startTestService({
      ...local.environment,
      DATABASE_URL: cluster.url,
      RECORDS: '1',
      SYNC: '0',
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      COMPUTE_THREADS: '1',
      RPC_TIMEOUT_MS: '10000',
      REQUEST_DEADLINE_MS: '60000',
      MAX_QUEUE_MS: '60000',
      RATE_LIMIT_DEVELOPER: '1000000000',
      SUBMIT_WAIT_MS: '0',
      SUBMIT_GAS_PER_DAY: '1000000000000',
      ...environment,
    })
    const untilLogged = (text: string) =>
      eventually(() => expect(service.lines.join('\n')).toContain(text), { timeout: 100_000 })
    await untilLogged('"store open"')
    await untilLogged('"relay ready"')
    return service
  }

  const submit = (service: TestService, index: number) =>
    service.post(
      '/verify/v0/proof',
      {
        proof: proofOf([stampOf()], { radius: 100 + index }),
        options: { chainId: local.chain.id, submitOnchain: true },
      },
      { 'x-api-key': service.developerKey },
    )
  function countBy(values: readonly number[]): Record<number, number> {
    const counts: Record<number, number> = {}
    for (const value of values) counts[value] = (counts[value] ?? 0) + 1
    return counts
  }

  it(`of ${BURST} proofs at once over ${PROCESSES} processes is stored completely, and each proof is attested once`, async () => {
    const answers = await Promise.all(
      Array.from({ length: BURST }, (_, index) => submit(services[index % PROCESSES]!, index)),
    )
    expect(countBy(answers.map(({ status }) => status))).toEqual({ 200: BURST })
    const ids = answers.map(({ body }) => body.submission.id as string)
    expect(new Set(ids).size).toBe(BURST)
    await eventually(
      async () => {
        const response = await fetch(`${services[0]!.url}/verify/v0/submissions/${ids.at(-1)}`)
        expect(['mined', 'finalized']).toContain(((await response.json()) as { status: string }).status)
      },
      { timeout: 100_000, interval: 200 },
    )
    await eventually(
      async () => {
        const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
        expect(logs).toHaveLength(BURST)
      },
      { timeout: 100_000, interval: 200 },
    )
  }, 300_000)

  it('of equal proofs is stored once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => submit(services[index % PROCESSES]!, 9999)),
    )
    expect(countBy(answers.map(({ status }) => status))).toEqual({ 200: 60 })
  })

  it('beyond the queue size gets 503 with Retry-After, never 500', async () => {
    const service = await start({ MAX_UNSTORED_SUBMISSIONS: '5' })
    services.push(service)
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => submit(service, 20_000 + index)))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ status, headers }) => `${status} ${headers.has('retry-after')}`))).toEqual(
      new Set(['503 true']),
    )
    expect(answers.length - refused.length).toBeGreaterThan(0)
  }, 300_000)
})
