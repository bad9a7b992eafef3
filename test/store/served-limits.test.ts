/** The hourly limit of a client of several services on one PostgreSQL server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { eventually } from '../eventually.ts'
import { untilReadable } from '../record-service.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const LIMIT = 100
/** On a busy machine, a service may close a connection that was idle just when it is used again. */
const CLOSE = { connection: 'close' }
const REQUEST = {
  chainId: 84532,
  from: { type: 'Point', coordinates: [2.35, 48.85] },
  to: { type: 'Point', coordinates: [13.4, 52.52] },
}
const ITEM = { op: 'distance', ...REQUEST, chainId: undefined }

describe.skipIf(POSTGRES === undefined)('services on one PostgreSQL server', () => {
  let cluster: PostgresCluster
  let services: TestService[] = []
  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    const settings = {
      DATABASE_URL: cluster.url,
      RECORDS: '1',
      RATE_LIMIT_PUBLIC: String(LIMIT),
      SYNC: '0',
      METRICS_PUBLIC: '1',
    }
    // A busy machine must not count as a database that is away.
    const environment = { ...NO_LOCAL_CALLERS, ...settings, SHARED_LIMIT_WAIT_MS: '10000' }
    services = await Promise.all(
      ['uws', 'node'].map((HTTP_ADAPTER) => startTestService({ ...environment, HTTP_ADAPTER })),
    )
    for (const service of services) {
      await untilReadable(service.url)
      await eventually(async () => expect(await metric(service, 'limit_database_away')).toBe(0))
    }
  })
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()))
    await cluster?.remove()
  })

  const single = async (service: TestService) => {
    const { status } = await service.post('/compute/v0/distance', REQUEST, CLOSE)
    expect([200, 429]).toContain(status)
    return status === 200 ? 1 : 0
  }
  const batch = async (service: TestService) => {
    const items = Array.from({ length: 7 }, (_, index) => ({ id: String(index), ...ITEM }))
    const { status, body } = await service.post('/compute/v0/batch', { chainId: 84532, attest: 'none', items }, CLOSE)
    if (status === 429) return 0
    expect(status).toBe(200)
    return body.results.filter((result: object) => 'result' in result).length
  }
  const lines = async (service: TestService) => {
    const body = Array.from({ length: 7 }, (_, index) => `${JSON.stringify({ id: String(index), ...ITEM })}\n`).join('')
    const url = `${service.url}/compute/v0/batch?chainId=84532&attest=none`
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', ...CLOSE },
      body,
    })
    const text = await response.text()
    if (response.status === 429) return 0
    expect(response.status).toBe(200)
    return text.split('\n').filter((line) => line.includes('"result"')).length
  }
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

  it('answer no more than the limit of a client together, in single requests, batches and streams', async () => {
    const everywhere = (requests: (service: TestService) => Promise<number>[]) =>
      Promise.all(services.flatMap(requests)).then(sum)
    let answered = await everywhere((service) => [single(service), single(service), single(service)])
    expect(answered).toBe(6)
    const mixed = (service: TestService) => [
      batch(service),
      lines(service),
      ...Array.from({ length: 20 }, () => single(service)),
    ]
    answered += await everywhere(mixed)
    expect(answered).toBe(6 + 2 * (7 + 7 + 20))
    answered += await everywhere((service) => [lines(service), batch(service), ...mixed(service)])
    await eventually(async () => {
      answered += await everywhere((service) => [single(service)])
      expect(answered).toBeGreaterThanOrEqual(LIMIT)
    })
    answered += await everywhere(mixed)
    expect(answered).toBe(LIMIT)
    const rejected = await services[0]!.post('/compute/v0/distance', REQUEST)
    expect(rejected.status).toBe(429)
    expect(rejected.headers.get('x-ratelimit-remaining')).toBe('0')
  })

  it('answer more while the server is away only within their share, and say so', async () => {
    await cluster.stop()
    await eventually(async () => {
      for (const service of services) expect(await metric(service, 'limit_database_away')).toBe(1)
    })
    const key = { 'x-api-key': services[0]!.developerKey }
    const response = await services[0]!.post('/compute/v0/distance', REQUEST)
    expect(response.status).toBe(429)
    expect((await services[0]!.post('/compute/v0/distance', REQUEST, key)).status).toBe(200)
    expect(await metric(services[0]!, 'limit_answered_alone_total')).toBe(1)
    await cluster.start()
    await eventually(async () => {
      for (const service of services) expect(await metric(service, 'limit_database_away')).toBe(0)
    })
  })
})

async function metric(service: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}
