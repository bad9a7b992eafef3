import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const square = (size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [size, 0],
      [size, size],
      [0, size],
      [0, 0],
    ],
  ],
})
/** Each on a connection of its own, so that both processes get some. A client may have 16 streams open in a process. */
const REQUESTS = 16

describe('stored geometries and sets with several processes', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      ...NO_LOCAL_CALLERS,
      RECORDS: '1',
      PROCESSES: '2',
      RATE_LIMIT_DEVELOPER: '1000000',
    })
    await eventually(async () => expect((await send('GET', '/compute/v0/sets')).status).toBe(200))
  })
  afterAll(() => service?.stop())

  function send(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { 'x-api-key': service.developerKey }
      const sent = request(`${service.url}${path}`, { method, headers, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece) => {
          text += piece
        })
        response.on('end', () => resolve({ status: response.statusCode!, text }))
      })
      sent.on('error', reject)
      sent.end(body && JSON.stringify(body))
    })
  }
  const each = <T>(run: () => Promise<T>) => Promise.all(Array.from({ length: REQUESTS }, run))

  it('are used by all of them, also right after they were stored, and end in all of them', async () => {
    const { text } = await send('PUT', '/compute/v0/geometries', { geometry: square(2) })
    const { ref } = JSON.parse(text)
    const area = () => send('POST', '/compute/v0/area', { chainId: 84532, geometry: { ref } })
    expect(new Set((await each(area)).map(({ status }) => status))).toEqual(new Set([200]))
    expect((await send('DELETE', `/compute/v0/geometries/${ref}`)).status).toBe(200)
    await eventually(async () => {
      expect(new Set((await each(area)).map(({ status }) => status))).toEqual(new Set([404]))
    })
  })

  it('are replaced for all of them at once', async () => {
    const point = { type: 'Point', coordinates: [1.5, 1.5] }
    const match = () => send('POST', '/compute/v0/sets/zones/match', point)
    for (const size of [1, 2, 1]) {
      const features = [{ type: 'Feature', properties: {}, geometry: square(size) }]
      const stored = await send('PUT', '/compute/v0/sets/zones', { type: 'FeatureCollection', features })
      expect(stored.status, stored.text).toBe(200)
      const expected = size === 2 ? '{"matches":[{"feature":0}]}\n' : '{"matches":[]}\n'
      expect(new Set((await each(match)).map(({ text }) => text))).toEqual(new Set([expected]))
    }
  })
})
