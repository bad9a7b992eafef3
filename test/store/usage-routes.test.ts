import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, startCluster } from '../../bench/store-engines.ts'
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

  it('of a key of an account is that of the account, also for operators and after the key was revoked', async () => {
    const wallet = privateKeyToAccount(`0x${'c3'.repeat(32)}`)
    const { nonce } = (await service.post('/auth/nonce', {})).body
    const fields = { domain: new URL(service.url).host, uri: service.url, version: '1', nonce, chainId: 84532 } as const
    const message = createSiweMessage({ ...fields, issuedAt: new Date(), address: wallet.address })
    const signature = await wallet.signMessage({ message })
    const { token } = (await service.post('/auth/siwe', { message, signature })).body
    const bearer = { authorization: `Bearer ${token}` }
    const { key, properties } = (await service.post('/account/keys', {}, bearer)).body
    await eventually(async () => {
      expect((await service.post('/compute/v0/distance', DISTANCE, { 'X-API-Key': key })).status).toBe(200)
    })
    await service.post('/compute/v0/distance', DISTANCE, bearer)
    const path = `/admin/keys/${properties.id}/usage`
    // With the key and with the session.
    const row = await untilRequests(service, service.internalKey, 'distance', 2, path)
    expect((await usageOf(service, key)).usage).toContainEqual(row)
    await fetch(`${service.url}/account/keys/${properties.id}`, { method: 'DELETE', headers: bearer })
    expect((await usageOf(service, service.internalKey, path)).usage).toContainEqual(row)
  })

  it('is shown on the command line', async () => {
    const server = ['--url', service.url, '--api-key', service.internalKey]
    const own = await runCli(['keys', 'usage', 'public', ...server])
    expect(own.out).toMatch(/^day +kind +requests/)
    expect(own.out).toMatch(/distance +1 +1 /)
    const csv = await runCli(['keys', 'usage', '--csv', ...server])
    expect(csv.out).toMatch(/^day,kind,requests/)
    const rejected = ['--url', service.url, '--api-key', 'wrong']
    expect(await runCli(['keys', 'usage', 'public', ...rejected])).toMatchObject({
      exitCode: 4,
      err: expect.stringMatching(/scope admin with --api-key or TRIGPOINT_API_KEY;.*keys add internal --scopes admin/),
    })
    expect((await runCli(['keys', 'usage', ...rejected])).err).toContain('give the key whose usage you want')
  })
})

describe('the time until which usage is complete', () => {
  const SELDOM = { RECORDS: '1', USAGE_FLUSH_MS: '600000' }

  it('is known once the database is open, long before the first counts are stored', async () => {
    const service = await startTestService(SELDOM)
    try {
      await eventually(async () => {
        const { completeUntil } = await usageOf(service, service.developerKey)
        expect(Date.parse(completeUntil!)).toBeLessThanOrEqual(Date.now())
      })
    } finally {
      await service.stop()
    }
  })

  it.runIf(POSTGRES !== undefined)('waits for a node from its first request on', async () => {
    const cluster = await startCluster({ fsync: 'off' })
    const settings = { RECORDS: '1', DATABASE_URL: cluster.url }
    try {
      const first = await startTestService({ ...settings, USAGE_FLUSH_MS: '50' })
      const second = await startTestService({ ...settings, USAGE_FLUSH_MS: '600000' })
      const startedMs = Date.now()
      const completeMs = async () => Date.parse((await usageOf(first, first.developerKey)).completeUntil!)
      await first.post('/compute/v0/distance', DISTANCE, { 'X-API-Key': first.developerKey })
      await untilRequests(first, first.developerKey, 'distance', 1)
      expect(await completeMs()).toBeLessThanOrEqual(startedMs)
      await second.stop()
      await eventually(async () => expect(await completeMs()).toBeGreaterThan(startedMs))
      await first.stop()
    } finally {
      await cluster.remove()
    }
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
      const killedMs = Date.now()
      process.kill(killed.pid, 'SIGKILL')
      await killed.stop()

      // It flushes only at its end.
      const stopped = await start({ USAGE_FLUSH_MS: '600000' })
      await untilRequests(stopped, stopped.developerKey, 'distance', 5)
      await send(stopped, 2)
      await stopped.stop()

      const last = await start()
      await untilRequests(last, last.developerKey, 'distance', 7)
      // What the killed process had counted and not stored is missing.
      const { completeUntil } = await usageOf(last, last.developerKey)
      expect(Date.parse(completeUntil!)).toBeLessThanOrEqual(killedMs)
      await last.stop()
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})
