import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'

const KILLS = 3
const SENDERS = 4
/** Geometries that are acknowledged before each kill. */
const ACKNOWLEDGED = 25

describe('stored geometries and kill -9', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-stored-'))
  const services: TestService[] = []
  afterAll(async () => {
    for (const service of services) await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const start = async () => {
    const service = await startTestService({ RECORDS: '1', DATA_DIR: dataDir })
    services.push(service)
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    return service
  }
  const send = async (service: TestService, method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { 'x-api-key': service.developerKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a response may have any members
    return { status: response.status, body: (await response.json()) as any }
  }

  it(`keeps every acknowledged geometry through ${KILLS} kills`, async () => {
    const acknowledged = new Map<string, number>()
    let longitude = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await start()
      const before = acknowledged.size
      const sender = async () => {
        for (;;) {
          const own = longitude++ / 1000
          const geometry = { type: 'Point', coordinates: [own, 10] }
          const answer = await send(service, 'PUT', '/compute/v0/geometries', { geometry })
          if (answer.status === 200) acknowledged.set(answer.body.ref, own)
          // In the middle of what the other senders store.
          if (acknowledged.size >= before + ACKNOWLEDGED) process.kill(service.pid, 'SIGKILL')
        }
      }
      // Each sender ends with a broken connection.
      await Promise.allSettled(Array.from({ length: SENDERS }, sender))
      expect(acknowledged.size).toBeGreaterThanOrEqual(before + ACKNOWLEDGED)
    }
    const service = await start()
    const { usedBytes, count } = (await send(service, 'GET', '/compute/v0/geometries')).body
    expect(count).toBeGreaterThanOrEqual(acknowledged.size)
    expect(usedBytes).toBeGreaterThan(0)
    for (const [ref, own] of acknowledged) {
      const to = { type: 'Point', coordinates: [own, 10] }
      const answer = await send(service, 'POST', '/compute/v0/distance', { chainId: 84532, from: { ref }, to })
      expect(answer).toMatchObject({ status: 200, body: { result: 0, inputRefs: [ref, ref] } })
    }
    await service.stop() // the next test uses the same folder
  })

  it('keeps the old set when the service is killed while a new one arrives', async () => {
    let service = await start()
    const features = (count: number, lon: number) =>
      Array.from({ length: count }, (_, index) => ({
        type: 'Feature',
        properties: { index },
        geometry: { type: 'Point', coordinates: [lon, index / 1000] },
      }))
    const collection = (count: number, lon: number) => ({ type: 'FeatureCollection', features: features(count, lon) })
    const usedBytes = async () => (await send(service, 'GET', '/compute/v0/geometries')).body.usedBytes as number
    const nearest = async () => {
      const point = { type: 'Point', coordinates: [5, 0] }
      return (await send(service, 'POST', '/compute/v0/sets/kept/match?nearest=1', point)).body.matches[0].distance
    }
    expect((await send(service, 'PUT', '/compute/v0/sets/kept', collection(10, 5))).status).toBe(200)
    expect(await nearest()).toBe(0)
    const before = await usedBytes()
    const lines = features(10_000, 6)
      .map((feature) => `${JSON.stringify(feature)}\n`)
      .join('')
    const beginUpload = (name: string) => {
      const upload = request(`${service.url}/compute/v0/sets/${name}`, {
        method: 'PUT',
        headers: { 'x-api-key': service.developerKey, 'content-type': 'application/x-ndjson' },
      })
      upload.on('error', () => {})
      upload.write(lines)
      return upload
    }
    // As many as a key may have, and a part of each is in the store. What replaces a set counts beside it until it is published.
    const uploads = ['kept', 'second', 'third', 'fourth'].map(beginUpload)
    await eventually(async () => expect(await usedBytes()).toBeGreaterThan(before + 4 * 300_000))
    const refused = await send(service, 'PUT', '/compute/v0/sets/fifth', collection(1, 7))
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringContaining('4 sets')])
    // One that breaks off releases its place.
    uploads.pop()!.destroy()
    await eventually(async () =>
      expect((await send(service, 'PUT', '/compute/v0/sets/fifth', collection(1, 7))).status).toBe(200),
    )
    expect((await send(service, 'DELETE', '/compute/v0/sets/fifth')).status).toBe(200)
    beginUpload('fourth')
    await eventually(async () => expect(await usedBytes()).toBeGreaterThan(before + 4 * 300_000))
    process.kill(service.pid, 'SIGKILL')
    service = await start()
    expect(await nearest()).toBe(0)
    expect((await send(service, 'GET', '/compute/v0/sets/kept')).body.features).toBe(10)
    // The places and the bytes of the killed uploads are free.
    const stored = await send(service, 'PUT', '/compute/v0/sets/kept', collection(3, 6))
    expect([stored.status, stored.body.features]).toEqual([200, 3])
    expect(await usedBytes()).toBeLessThan(before)
    expect(await nearest()).toBeGreaterThan(100_000)
  })
})
