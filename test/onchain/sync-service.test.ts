import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const LOCATION_SCHEMA = schemaUids(readConfig({}, 1)).location

const locationData = (index: number): Hex =>
  encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    1_700_000_000n + BigInt(index),
    'EPSG:4326',
    'geojson-point',
    JSON.stringify({ type: 'Point', coordinates: [index, index] }),
    [],
    [],
    [],
    [],
    '',
  ])

describe.skipIf(skipReason())('the service with a chain', () => {
  let local: LocalChain
  let service: TestService

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    service = await startTestService({
      ...local.environment,
      RECORDS: '1',
      SYNC_POLL_MS: '100',
      FINALITY_DEPTH_84532: '8',
    })
    await untilReadable(service.url)
  })
  afterAll(async () => {
    await service?.stop()
    await local?.stop()
  })

  // biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
  const get = async (path: string): Promise<any> => (await fetch(`${service.url}${path}`)).json()
  const status = () => get('/api/sync/status')

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    await eventually(async () => expect(await isSo()).toBe(true))
  }

  it('shows attestations and their revocations', async () => {
    const uid = await local.attest(LOCATION_SCHEMA, locationData(1))
    const record = () => get(`/api/v0/location-records/${uid}`)
    await until(async () => (await record()).uid === uid)
    expect(await record()).toMatchObject({ chain: 'base-sepolia', longitude: 1, latitude: 1, revoked: false })
    await local.revoke(LOCATION_SCHEMA, uid)
    await until(async () => (await record()).revoked === true)
  })

  it('logs once where it began to read', () => {
    const began = service.lines.filter((line) => line.includes('a chain is read for the first time'))
    expect(began).toHaveLength(1)
    expect(JSON.parse(began[0]!)).toMatchObject({ chainId: 84532, from: 0, level: 'info' })
    expect(began[0]).not.toContain('START_BLOCK') // this chain is read quickly, so no hint
  })

  it('reports its progress', async () => {
    const head = Number(await local.client.getBlockNumber({ cacheTime: 0 }))
    await until(async () => (await status()).chains['base-sepolia']?.block === head)
    const found = await status()
    expect(found).toMatchObject({
      status: 'ok',
      worker: { running: true, failedRuns: 0 },
      attestations: { totalIngested: 1, byChain: { 'base-sepolia': 1 } },
      supportedChains: ['base-sepolia'],
      chains: { 'base-sepolia': { lagBlocks: 0, quarantined: 0, reorgs: 0 } },
    })
    expect(found.worker.totalRuns).toBeGreaterThan(0)
    expect(found.worker.lastRunDuration).toMatch(/^\d+\.\d\ds$/)
    expect(Date.parse(found.worker.lastSuccessfulRun)).toBeGreaterThan(Date.now() - 60_000)
  })

  it('stops and starts reading on request, and remembers it', async () => {
    const postAction = (action: string) => service.post(`/api/sync/worker?action=${action}`, '')
    expect(await postAction('stop')).toMatchObject({
      status: 200,
      body: { status: 'success', message: 'Worker stopped' },
    })
    expect((await postAction('stop')).body.message).toBe('Worker is already stopped')
    expect((await status()).worker.running).toBe(false)
    const uid = await local.attest(LOCATION_SCHEMA, locationData(2))
    await new Promise((resolve) => setTimeout(resolve, 500)) // five polls in which no record may arrive
    expect((await fetch(`${service.url}/api/v0/location-records/${uid}`)).status).toBe(404)
    const synced = await service.post('/api/sync?chain=base-sepolia', '')
    expect(synced).toMatchObject({ status: 200, body: { status: 'success', chain: 'base-sepolia', count: 1 } })
    expect((await get(`/api/v0/location-records/${uid}`)).uid).toBe(uid)
    expect(await postAction('start')).toMatchObject({ status: 200, body: { message: 'Worker started' } })
    expect((await postAction('start')).body.message).toBe('Worker is already running')
    await until(async () => (await status()).worker.running)
  })

  it('reads all chains and checks revocations on request', async () => {
    expect(await service.post('/api/sync', '')).toMatchObject({
      status: 202,
      body: { status: 'success', message: 'Full sync cycle started' },
    })
    expect(await service.post('/api/sync/revocations', '')).toMatchObject({ status: 202, body: { status: 'success' } })
    await until(async () => (await status()).revocationChecks.totalChecked >= 1)
    expect(Date.parse((await status()).revocationChecks.lastRun)).toBeGreaterThan(Date.now() - 60_000)
  })

  it('sends its progress to listeners whenever it changes', async () => {
    const response = await fetch(`${service.url}/api/sync/events`)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(response.headers.get('access-control-allow-origin')).toBe(null)
    const before = (await status()).attestations.totalIngested
    await local.attest(LOCATION_SCHEMA, locationData(3))
    let text = ''
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString()
      if (text.includes(`"totalIngested":${before + 1}`)) break
    }
    expect(text).toMatch(/^event: status\ndata: \{"status":"ok"/)
  })

  it.each([
    ['/api/sync?chain=mars', 'Invalid chain parameter'],
    ['/api/sync?chain=celo', 'Invalid chain parameter'],
    ['/api/sync?chain=celo&chain=base', 'Duplicate parameter'],
    ['/api/sync/worker', 'Invalid action parameter'],
    ['/api/sync/worker?action=pause', 'Invalid action parameter'],
  ])('refuses %s', async (path, message) => {
    expect(await service.post(path, '')).toMatchObject({
      status: 400,
      body: { status: 'error', message, detail: expect.any(String) },
    })
  })
})
