import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

describe('a service with records and without an RPC', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ RECORDS: '1' })
    await untilReadable(service.url)
  })
  afterAll(() => service?.stop())

  it('names an unknown chain, as a service with an RPC does', async () => {
    const { status, body } = await service.post('/api/sync?chain=mars', '')
    expect([status, body]).toEqual([
      400,
      {
        status: 'error',
        message: 'Invalid chain parameter',
        detail: expect.stringMatching(/^Supported chains: .*sepolia/),
      },
    ])
  })

  it('reports that no chain is configured when a request needs one', async () => {
    for (const path of [
      '/api/sync',
      '/api/sync?chain=celo',
      '/api/sync/revocations',
      '/api/sync/worker?action=start',
    ]) {
      const { status, body } = await service.post(path, '')
      expect([path, status, body.message]).toEqual([path, 400, 'No chain is configured'])
    }
  })

  it('stops the worker with success, for every process of the deployment', async () => {
    for (const message of ['Worker stopped', 'Worker is already stopped']) {
      const { status, body } = await service.post('/api/sync/worker?action=stop', '')
      expect([status, body]).toEqual([200, { status: 'success', message }])
    }
  })

  it('links to the status of the sync in the root document', async () => {
    const { links } = (await (await fetch(service.url)).json()) as { links: { rel: string; href: string }[] }
    expect(links.find(({ rel }) => rel === 'sync')?.href).toBe(`${service.url}/api/sync/status`)
  })

  it.each(['/api/v0/location-records', '/api/v0/location-proofs'])(
    'returns the largest page of %s for any larger limit',
    async (path) => {
      for (const limit of ['1001', '99999999999999999999', '9'.repeat(400)]) {
        const response = await fetch(`${service.url}${path}?limit=${limit}`)
        expect([response.status, ((await response.json()) as { limit: number }).limit]).toEqual([200, 1000])
      }
    },
  )
})

it('logs that it is not ready once for each reason, not for each probe', async () => {
  const service = await startTestService({
    RECORDS: '1',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    LOG_SAMPLE_RATIO: '0',
  })
  try {
    const probe = async () => (await fetch(`${service.url}/ready`)).status
    await eventually(() => expect(service.lines.join('\n')).toContain('"store not open"'), { timeout: 30_000 })
    for (let count = 0; count < 30; count++) expect(await probe()).toBe(503)
    const lines = service.lines.map((line) => JSON.parse(line) as Record<string, string>)
    expect(lines.filter(({ event, route }) => event === 'request' && route === '/ready')).toEqual([])
    const changes = lines.filter(({ event }) => event === 'not ready')
    expect(changes.length).toBeLessThanOrEqual(2)
    expect(changes.at(-1)).toMatchObject({ level: 'warn', reason: expect.stringMatching(/^database: postgres: /) })
  } finally {
    await service.stop()
  }
})
