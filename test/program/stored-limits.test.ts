import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'

async function startWithStore(settings: Record<string, string>): Promise<TestService> {
  const service = await startTestService({ RECORDS: '1', ...settings })
  await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  return service
}

describe('the quota of stored geometries', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startWithStore({ STORED_MAX_BYTES_PER_KEY: '2048' })
  })
  afterAll(() => service?.stop())

  const line = (vertices: number) => ({
    type: 'LineString',
    coordinates: Array.from({ length: vertices }, (_, index) => [10 + Math.cos(index), 50 + Math.sin(index)]),
  })
  const put = async (geometry: object) => {
    const response = await fetch(`${service.url}/compute/v0/geometries`, {
      method: 'PUT',
      headers: { 'x-api-key': service.developerKey },
      body: JSON.stringify({ geometry }),
    })
    return { status: response.status, body: (await response.json()) as { ref: string; bytes: number; detail: string } }
  }

  it('refuses what would exceed it with its figures, and takes it after a deletion', async () => {
    const first = await put(line(30))
    expect(first.status).toBe(200)
    const second = await put(line(31))
    expect(second.status).toBe(413)
    expect(second.body.detail).toContain(`uses ${first.body.bytes} of 2048 bytes`)
    expect((await put(line(30))).status).toBe(200)
    await fetch(`${service.url}/compute/v0/geometries/${first.body.ref}`, {
      method: 'DELETE',
      headers: { 'x-api-key': service.developerKey },
    })
    expect((await put(line(31))).status).toBe(200)
  })
})

describe('a set that this machine stored without a key', () => {
  let service: TestService
  beforeAll(async () => {
    // With the default limit, requests from this machine own sets without a key.
    service = await startWithStore({ RATE_LIMIT_PUBLIC: '100' })
  })
  afterAll(() => service?.stop())

  it('is not that of a key, and the 404 says whose sets were looked at', async () => {
    const point = { type: 'Point', coordinates: [1, 2] }
    const feature = { type: 'Feature', geometry: point, properties: null }
    const body = JSON.stringify({ type: 'FeatureCollection', features: [feature] })
    const store = (name: string, headers: Record<string, string>) =>
      fetch(`${service.url}/compute/v0/sets/${name}`, { method: 'PUT', headers, body })
    const key = { 'x-api-key': service.internalKey }
    expect((await store('local', {})).status).toBe(200)
    expect((await store('keyed', key)).status).toBe(200)
    const match = (name: string, headers: Record<string, string> = {}) =>
      service.post(`/compute/v0/sets/${name}/match`, point, headers)
    expect((await match('local')).body).toEqual({ matches: [{ feature: 0 }] })
    expect((await match('keyed', key)).body).toEqual({ matches: [{ feature: 0 }] })
    const [byKey, byMachine] = [await match('local', key), await match('keyed')]
    expect([byKey.status, byKey.body.detail]).toEqual([404, expect.stringMatching(/^this API key has no set "local"/)])
    expect(byKey.body.detail).toContain('stored without a key')
    expect([byMachine.status, byMachine.body.detail]).toEqual([
      404,
      expect.stringMatching(/^requests without an API key from this machine have no set "keyed"/),
    ])
    for (const { body } of [byKey, byMachine]) expect(JSON.stringify(body)).not.toContain(service.internalKey)
  })
})

describe('a set that does not fit into memory', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startWithStore({ STORED_MEMORY_BYTES: String(1_048_576) })
  })
  afterAll(() => service?.stop())

  it('is kept and refused as too large for a match, also for its properties', async () => {
    const point = { type: 'Point', coordinates: [1, 2] }
    const feature = { type: 'Feature', geometry: point, properties: { x: 'x'.repeat(45_000) } }
    const body = JSON.stringify({ type: 'FeatureCollection', features: Array(20).fill(feature) })
    const headers = { 'x-api-key': service.developerKey }
    const url = `${service.url}/compute/v0/sets/large`
    expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(200)
    for (let time = 0; time < 2; time++) {
      const answer = await service.post('/compute/v0/sets/large/match', point, headers)
      expect([answer.status, answer.body.detail]).toEqual([413, expect.stringContaining('STORED_MEMORY_BYTES')])
    }
    expect((await fetch(`${url}/features`, { headers })).status).toBe(200)
  })
})
