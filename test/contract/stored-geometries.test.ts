import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
type Loose = any

/** A disc of many vertices around [10, 50]. */
function zone(vertices: number, radius = 1) {
  const ring = Array.from({ length: vertices }, (_, index) => {
    const angle = (2 * Math.PI * index) / vertices
    return [10 + radius * Math.cos(angle), 50 + radius * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

const INSIDE = { type: 'Point', coordinates: [10.2, 50.1] }
const OUTSIDE = { type: 'Point', coordinates: [12, 50.1] }
const chainId = 84532

describe('stored geometries', () => {
  let service: TestService
  const send = async (method: string, path: string, body?: unknown, key = service.developerKey) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: key === '' ? {} : { 'x-api-key': key },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Loose }
  }
  const put = async (geometry: object, key?: string): Promise<string> => {
    const { status, body } = await send('PUT', '/compute/v0/geometries', { geometry }, key)
    expect(status).toBe(200)
    return body.ref
  }
  const compute = (operation: string, body: object, key?: string) =>
    send('POST', `/compute/v0/${operation}`, { chainId, ...body }, key)

  beforeAll(async () => {
    service = await startTestService({ ...NO_LOCAL_CALLERS, RECORDS: '1', JOB_POLL_MS: '20' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  })
  afterAll(() => service?.stop())

  it('are inputs, with the reference that the geometry itself has', async () => {
    const container = zone(10_000)
    const ref = await put(container)
    for (const [containee, expected] of [
      [INSIDE, true],
      [OUTSIDE, false],
    ] as const) {
      const inline = await compute('contains', { container, containee })
      const stored = await compute('contains', { container: { ref }, containee })
      expect(stored.status).toBe(200)
      expect(stored.body.result).toBe(expected)
      expect(stored.body.inputRefs).toEqual(inline.body.inputRefs)
      expect(stored.body.inputRefs[0]).toBe(ref)
    }
  })

  it('are inputs of every operation, alone and with a geometry of the request', async () => {
    const polygon = zone(200)
    const line = {
      type: 'LineString',
      coordinates: [
        [9, 50, 7],
        [11, 50.5, 8],
      ],
    }
    const [polygonRef, lineRef, pointRef] = [await put(polygon), await put(line), await put(INSIDE)]
    const cases: readonly (readonly [string, object, object])[] = [
      ['distance', { from: polygon, to: OUTSIDE }, { from: { ref: polygonRef }, to: OUTSIDE }],
      ['distance', { from: INSIDE, to: OUTSIDE }, { from: { ref: pointRef }, to: OUTSIDE }],
      [
        'contains',
        { container: polygon, containee: INSIDE, edges: 'geodesic' },
        { container: { ref: polygonRef }, containee: INSIDE, edges: 'geodesic' },
      ],
      ['area', { geometry: polygon }, { geometry: { ref: polygonRef } }],
      ['length', { geometry: line }, { geometry: { ref: lineRef } }],
      ['within', { geometry: OUTSIDE, target: polygon }, { geometry: OUTSIDE, target: { ref: polygonRef } }],
      [
        'intersects',
        { geometry1: line, geometry2: polygon },
        { geometry1: { ref: lineRef }, geometry2: { ref: polygonRef } },
      ],
      [
        'relate',
        { geometry1: line, geometry2: polygon },
        { geometry1: { ref: lineRef }, geometry2: { ref: polygonRef } },
      ],
      ['crosses', { geometry1: line, geometry2: polygon }, { geometry1: line, geometry2: { ref: polygonRef } }],
      ['nearest', { from: polygon, to: OUTSIDE }, { from: { ref: polygonRef }, to: OUTSIDE }],
      ['repair', { geometry: polygon }, { geometry: { ref: polygonRef } }],
      ['buffer', { geometry: INSIDE }, { geometry: { ref: pointRef } }],
      ['direct', { from: INSIDE }, { from: { ref: pointRef } }],
      ['waypoints', { from: INSIDE, to: OUTSIDE }, { from: { ref: pointRef }, to: OUTSIDE }],
    ]
    const others = { radius: 100_000, azimuthDegrees: 90, distanceMeters: 1000, everyMeters: 50_000 }
    for (const [operation, inline, stored] of cases) {
      const expected = await compute(operation, { ...inline, ...others })
      const found = await compute(operation, { ...stored, ...others })
      expect(found.status, operation).toBe(200)
      const comparable = ({ attestation, delegatedAttestation, timestamp, ...members }: Loose) => members
      expect(comparable(found.body), operation).toEqual(comparable(expected.body))
    }
  })

  it('can have a salt, with the reference of the geometry with that salt', async () => {
    const polygon = zone(50)
    const ref = await put(polygon)
    const salt = `0x${'7c'.repeat(32)}`
    for (const operation of ['area', 'repair']) {
      const stored = await compute(operation, { geometry: { input: { ref }, salt } })
      const inline = await compute(operation, { geometry: { input: polygon, salt } })
      expect([stored.status, stored.body.inputSalts]).toEqual([200, [salt]])
      expect(stored.body.inputRefs).toEqual(inline.body.inputRefs)
      expect(stored.body.inputRefs).not.toEqual([ref])
    }
    const items = [
      { op: 'contains', container: { input: { ref }, salt }, containee: INSIDE },
      { op: 'contains', container: { ref }, containee: INSIDE },
    ]
    const { body } = await send('POST', '/compute/v0/batch', { chainId, attest: 'none', items })
    expect(body.results.map(({ result }: Loose) => result)).toEqual([true, true])
    expect(body.results[0].inputSalts).toEqual([salt, null])
    expect(body.results[1].inputRefs[0]).toBe(ref)
  })

  it('are inputs of batches, streams and jobs, and name their problem there', async () => {
    const ref = await put(zone(500))
    const unknown = `0x${'1'.repeat(64)}`
    const items = [
      { op: 'contains', id: 0, container: { ref }, containee: INSIDE },
      { op: 'contains', id: 1, container: { ref: unknown }, containee: INSIDE },
      { op: 'area', id: 2, geometry: { ref: ref.toUpperCase().replace('0X', '0x') } },
      { op: 'contains', id: 3, container: { ref }, containee: OUTSIDE },
    ]
    const check = (results: readonly Loose[]) => {
      expect(results.map(({ id }) => id)).toEqual([0, 1, 2, 3])
      expect([results[0].result, results[3].result]).toEqual([true, false])
      expect(results[2].inputRefs).toEqual([ref])
      expect(results[1].error).toMatchObject({ status: 404 })
      expect(results[1].error.detail).toContain(unknown)
    }
    for (const attest of ['none', 'each', 'merkle']) {
      const { status, body } = await send('POST', '/compute/v0/batch', { chainId, attest, items })
      expect(status).toBe(200)
      check(body.results)
    }
    const lines = items.map((item) => JSON.stringify(item)).join('\n')
    const stream = await fetch(`${service.url}/compute/v0/batch?chainId=${chainId}&attest=none`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': service.developerKey },
      body: lines,
    })
    check(
      (await stream.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    const job = await send('POST', '/compute/v0/jobs', { chainId, attest: 'none', items })
    expect(job.status).toBe(202)
    await eventually(async () => {
      expect((await send('GET', `/compute/v0/jobs/${job.body.id}`)).body.state).toBe('done')
    })
    const results = await fetch(`${service.url}/compute/v0/jobs/${job.body.id}/results`, {
      headers: { 'x-api-key': service.developerKey },
    })
    check(
      (await results.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
  })

  it('belong to the key that stored them', async () => {
    const ref = await put(zone(100))
    expect((await send('PUT', '/compute/v0/geometries', { geometry: INSIDE }, '')).status).toBe(401)
    const body = { geometry: { ref } }
    expect((await compute('area', body, '')).status).toBe(401)
    expect((await send('GET', `/compute/v0/geometries/${ref}`, undefined, '')).status).toBe(401)
    const others = [
      await compute('area', body, service.internalKey),
      await send('GET', `/compute/v0/geometries/${ref}`, undefined, service.internalKey),
      await send('DELETE', `/compute/v0/geometries/${ref}`, undefined, service.internalKey),
    ]
    for (const { status, body } of others) {
      expect(status).toBe(404)
      expect(body.detail).toContain(ref)
    }
    expect((await compute('area', body)).status).toBe(200)
    // Both keys may have the same geometry, and one that deletes its own leaves the other's.
    expect(await put(zone(100), service.internalKey)).toBe(ref)
    expect((await send('DELETE', `/compute/v0/geometries/${ref}`, undefined, service.internalKey)).status).toBe(200)
    expect((await compute('area', body, service.internalKey)).status).toBe(404)
    expect((await compute('area', body)).status).toBe(200)
  })

  it('can be read, listed and deleted, and stored again', async () => {
    const geometry = { type: 'Point', coordinates: [1.25, 2, 30] }
    const stored = await send('PUT', '/compute/v0/geometries', {
      geometry: { type: 'Feature', geometry, properties: {} },
    })
    const { ref } = stored.body
    expect(stored.body).toEqual({
      ref,
      bytes: 42,
      created: expect.any(Number),
      expires: stored.body.created + 30 * 86_400,
    })
    const read = await send('GET', `/compute/v0/geometries/${ref}`)
    expect(read.body).toEqual({ ...stored.body, geometry })
    const listed = await send('GET', '/compute/v0/geometries')
    expect(listed.body.geometries).toContainEqual(stored.body)
    expect(listed.body.count).toBe(listed.body.geometries.length)
    expect(listed.body.maxBytes).toBe(67_108_864)
    await put(geometry)
    expect((await send('GET', '/compute/v0/geometries')).body.usedBytes).toBe(listed.body.usedBytes)
    expect((await send('DELETE', `/compute/v0/geometries/${ref}`)).body).toEqual({ deleted: ref })
    expect((await send('DELETE', `/compute/v0/geometries/${ref}`)).status).toBe(404)
    expect((await send('GET', `/compute/v0/geometries/${ref}`)).status).toBe(404)
    expect((await compute('distance', { from: { ref }, to: INSIDE })).status).toBe(404)
    expect(await put(geometry)).toBe(ref)
    expect((await compute('distance', { from: { ref }, to: INSIDE })).status).toBe(200)
  })

  it.each([
    ['no geometry', {}, 400, /geometry: is missing/],
    ['an attestation', { geometry: { uid: `0x${'a'.repeat(64)}` } }, 400, /only these are stored/],
    ['another reference', { geometry: { ref: `0x${'a'.repeat(64)}` } }, 400, /only these are stored/],
    ['a latitude out of range', { geometry: { type: 'Point', coordinates: [0, 91] } }, 400, /latitude/],
    [
      'an open ring',
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 1],
            ],
          ],
        },
      },
      400,
      /is open/,
    ],
    ['a list', [], 400, /array/],
    ['text', 'zone', 400, /JSON/],
  ])('are refused: %s', async (_, body, status, detail) => {
    const answer = await send('PUT', '/compute/v0/geometries', body)
    expect(answer.status).toBe(status)
    expect(answer.body.detail).toMatch(detail)
  })

  it('are refused as inputs that are written wrongly', async () => {
    const ref = await put(INSIDE)
    const short = await compute('area', { geometry: { ref: '0x12' } })
    expect(short.status).toBe(400)
    const both = await compute('area', { geometry: { ref, type: 'Point', coordinates: [0, 0] } })
    expect(both.status).toBe(400)
    expect(both.body.detail).toContain('exactly one form')
    const wrongType = await compute('area', { geometry: { ref } })
    expect(wrongType.status).toBe(400)
    expect(wrongType.body.detail).toContain('takes a Polygon')
    // Escapes hide the name from the search for references, and the thread asks for the geometry.
    const escaped = await send(
      'POST',
      '/compute/v0/distance',
      `{"chainId":${chainId},"from":{"r\\u0065f":"${ref}"},"to":{"type":"Point","coordinates":[10.2,50.1]}}`,
    )
    expect(escaped).toMatchObject({ status: 200, body: { result: 0 } })
  })

  it('with crossing edges are stored, and only the operations that need their interior refuse them', async () => {
    const bowtie = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
          [0, 0],
        ],
      ],
    }
    const ref = await put(bowtie)
    const inline = await compute('area', { geometry: bowtie })
    const stored = await compute('area', { geometry: { ref } })
    expect(stored.status).toBe(400)
    expect(stored.body.detail).toBe(inline.body.detail)
    expect(stored.body['invalid-parts']).toEqual(inline.body['invalid-parts'])
    expect((await compute('repair', { geometry: { ref } })).status).toBe(200)
  })
})
