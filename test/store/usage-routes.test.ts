import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

const DISTANCE = { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL }
const SETTINGS = { RECORDS: '1', USAGE_FLUSH_MS: '50' }

interface Usage {
  readonly completeUntil: string | null
  readonly usage: readonly Record<string, number | string>[]
}

const read = (service: TestService, path: string, key?: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { headers: { ...headers, ...(key === undefined ? {} : { 'X-API-Key': key }) } })
const usageOf = async (service: TestService, key: string, path = '/account/usage') =>
  (await (await read(service, path, key)).json()) as Usage
/** Returns the rows of a kind when they contain this many requests. */
const untilRequests = (service: TestService, key: string, kind: string, requests: number, path?: string) =>
  eventually(async () => {
    const row = (await usageOf(service, key, path)).usage.find((candidate) => candidate['kind'] === kind)
    expect(row).toMatchObject({ requests })
    return row!
  })

describe('usage', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService(SETTINGS)
    await eventually(async () => expect((await read(service, '/ready')).status).toBe(200))
  })
  afterAll(() => service.stop())

  it('of a key is counted by kind, with its errors and costs', async () => {
    const headers = { 'X-API-Key': service.developerKey }
    for (let index = 0; index < 3; index++) await service.post('/compute/v0/distance', DISTANCE, headers)
    await service.post('/compute/v0/distance', {}, headers)
    const item = { op: 'distance', from: EIFFEL_TOWER, to: TOWN_HALL }
    await service.post('/compute/v0/batch', { chainId: 84532, items: [item, item, { op: 'distance' }] }, headers)
    const row = await untilRequests(service, service.developerKey, 'distance', 4)
    expect(row).toMatchObject({ operations: 3, errors4xx: 1, errors5xx: 0, vertices: 6 })
    expect(row['bytes']).toBe(3 * JSON.stringify(DISTANCE).length + 2)
    expect(row['cpuMs']).toBeGreaterThan(0)
    expect(await untilRequests(service, service.developerKey, 'batch', 1)).toMatchObject({ operations: 2 })
    const { completeUntil } = await usageOf(service, service.developerKey)
    expect(Date.parse(completeUntil!)).toBeLessThanOrEqual(Date.now())
  })

  it('needs a valid key, and a key for operators shows that of everyone', async () => {
    const missing = await read(service, '/account/usage')
    expect(missing.status).toBe(401)
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    expect((await read(service, '/account/usage', 'wrong')).status).toBe(401)
    await service.post('/compute/v0/distance', DISTANCE)
    await untilRequests(service, service.internalKey, 'distance', 1, '/admin/keys/public/usage')
    expect((await read(service, '/admin/keys/public/usage', service.developerKey)).status).toBe(403)
    expect((await read(service, '/admin/keys/public/usage')).status).toBe(401)
    for (const id of ['0123456789ab', 'x', 'key%3A'])
      expect((await read(service, `/admin/keys/${id}/usage`, service.internalKey)).status).toBe(404)
    const { createHash } = await import('node:crypto')
    const id = createHash('sha256').update(service.developerKey).digest('hex').slice(0, 12)
    await untilRequests(service, service.internalKey, 'distance', 4, `/admin/keys/${id}/usage`)
  })

  it('is CSV for those who ask for it', async () => {
    const byParameter = await read(service, '/account/usage?format=csv', service.developerKey)
    const byHeader = await read(service, '/account/usage', service.developerKey, { Accept: 'text/csv' })
    for (const response of [byParameter, byHeader]) {
      expect(response.headers.get('content-type')).toMatch(/^text\/csv/)
      expect(response.headers.get('x-complete-until')).toMatch(/^\d{4}-.*Z$/)
      const [head, ...lines] = (await response.text()).split('\r\n')
      expect(head).toBe('day,kind,requests,operations,bytes,vertices,cpuMs,errors4xx,errors5xx')
      expect(lines.some((line) => /^\d{4}-\d\d-\d\d,distance,4,3,/.test(line))).toBe(true)
    }
  })

  it('is refused for days that make no sense, with the reason', async () => {
    const wrong = {
      'from=yesterday': 'from: is not a day',
      'from=2030-02-30': 'from: is not a day',
      'to=2030-01-01&to=2030-01-02': 'to: appears 2 times',
      'from=2030-01-02&to=2030-01-01': 'from: is after to, 2030-01-01',
      'from=2028-01-01&to=2030-01-01': 'from: is more than 399 days before to, 2030-01-01',
      'format=xml': 'format: is not json or csv',
    }
    for (const [query, detail] of Object.entries(wrong)) {
      const response = await read(service, `/account/usage?${query}`, service.developerKey)
      expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([400, detail])
    }
  })

  it('is shown on the command line', async () => {
    const server = ['--url', service.url, '--api-key', service.internalKey]
    const own = await runCli(['keys', 'usage', 'public', ...server])
    expect(own.out).toMatch(/^day +kind +requests/)
    expect(own.out).toMatch(/distance +1 +1 /)
    const csv = await runCli(['keys', 'usage', '--csv', ...server])
    expect(csv.out).toMatch(/^day,kind,requests/)
  })
})

describe('usage after an end of the service', () => {
  it('is what was acknowledged before a kill, once, and all of it after a stop', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-usage-'))
    const settings = { ...SETTINGS, DATA_DIR: dataDir }
    const start = async (more: Record<string, string> = {}) => {
      const service = await startTestService({ ...settings, ...more })
      await eventually(async () => expect((await read(service, '/ready')).status).toBe(200))
      return service
    }
    const send = async (service: TestService, times: number) => {
      const headers = { 'X-API-Key': service.developerKey }
      for (let index = 0; index < times; index++) await service.post('/compute/v0/distance', DISTANCE, headers)
    }
    try {
      const killed = await start()
      await send(killed, 5)
      await untilRequests(killed, killed.developerKey, 'distance', 5)
      process.kill(killed.pid, 'SIGKILL')
      await killed.stop()

      // It flushes only at its end.
      const stopped = await start({ USAGE_FLUSH_MS: '600000' })
      await untilRequests(stopped, stopped.developerKey, 'distance', 5)
      await send(stopped, 2)
      await stopped.stop()

      const last = await start()
      await untilRequests(last, last.developerKey, 'distance', 7)
      await last.stop()
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})
