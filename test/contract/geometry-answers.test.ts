import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import batchRequestSchema from '../../schemas/batch-request.schema.json' with { type: 'json' }
import batchResponseSchema from '../../schemas/batch-response.schema.json' with { type: 'json' }
import requestSchema from '../../schemas/compute-request.schema.json' with { type: 'json' }
import responseSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometrySchema from '../../schemas/geometry.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import { createClient } from '../../src/client/client.ts'
import { EIFFEL_TOWER, ROME, SQUARE } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

const CHAIN = 84532
const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
for (const schema of [geometrySchema, requestSchema, batchRequestSchema, problemSchema, responseSchema])
  ajv.addSchema(schema)
ajv.addSchema({ $id: 'input.schema.json', $defs: { InputOrEmpty: {} } })
const isResponse = ajv.compile({ $ref: 'compute-response.schema.json#/$defs/GeometryResponse' })
const isBatchResponse = ajv.compile(batchResponseSchema)
/** A request of each operation whose answer is a geometry. */
const REQUESTS = {
  direct: { from: EIFFEL_TOWER, azimuthDegrees: 90, distanceMeters: 1000 },
  waypoints: { from: EIFFEL_TOWER, to: ROME, everyMeters: 100_000 },
  nearest: { from: ROME, to: SQUARE },
  buffer: { geometry: ROME, radius: 5000 },
}
const NAMES = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[]

describe.each(['uws', 'node'])('answers that are geometries over %s', (adapter) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ HTTP_ADAPTER: adapter })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })
  const post = (operation: string, members: object) =>
    service.post(`/compute/v0/${operation}`, { chainId: CHAIN, ...members })

  it.each(NAMES)('%s answers without a signature, by a single request, a batch and the client', async (name) => {
    const { status, body } = await post(name, REQUESTS[name])
    expect(status).toBe(200)
    expect(isResponse(body), JSON.stringify(isResponse.errors)).toBe(true)
    const client = createClient({ baseUrl: service.url, chainId: CHAIN, batching: {} })
    const [batch, lone] = await Promise.all([
      post('batch', { attest: 'none', items: [{ op: name, id: 'a', ...REQUESTS[name] }] }),
      client.batch.run([{ op: name, ...REQUESTS[name] } as Parameters<typeof client.batch.run>[0][0]]),
    ])
    expect(isBatchResponse(batch.body), JSON.stringify(isBatchResponse.errors)).toBe(true)
    const { timestamp: _, ...facts } = body
    expect(batch.body.results[0]).toMatchObject({ id: 'a', ...facts })
    expect(lone.results[0]).toMatchObject(facts)
  })

  it.each(['each', 'merkle'] as const)('answers them among results that are signed with %s', async (attest) => {
    const items = [
      { op: 'direct', ...REQUESTS.direct },
      { op: 'distance', from: EIFFEL_TOWER, to: ROME },
    ]
    const { status, body } = await post('batch', { attest, items })
    expect(status).toBe(200)
    expect(isBatchResponse(body), JSON.stringify(isBatchResponse.errors)).toBe(true)
    expect(body.failed).toBe(0)
    expect(body.results[0]).not.toHaveProperty('attestation')
    expect(body.results[0]).not.toHaveProperty('proof')
    expect(body.results[0].geometry.type).toBe('Point')
    expect(body.results[1].result).toBeGreaterThan(1_000_000)
  })

  it('bounds the answers of a batch, whose results are together in memory', async () => {
    const item = { op: 'waypoints', ...REQUESTS.waypoints, everyMeters: 1000 }
    const { body } = await post('batch', { attest: 'none', items: [item, { ...item, everyMeters: 5000 }] })
    expect(body.failed).toBe(1)
    expect(body.results[0].error.errors[0]).toMatchObject({
      pointer: '#/items/0/everyMeters',
      code: 'too-many-vertices',
      hint: expect.stringMatching(/send at least \d+, or send it as a request of its own$/),
    })
    expect((await post('waypoints', { ...REQUESTS.waypoints, everyMeters: 1000 })).status).toBe(200)
  })

  it('gives references that the geometry has as an input', async () => {
    const { body } = await post('direct', REQUESTS.direct)
    const distance = await post('distance', { from: EIFFEL_TOWER, to: body.geometry })
    expect(distance.body).toMatchObject({ result: 1000, inputRefs: [body.inputRefs[0], body.ref] })
    const line = await post('waypoints', REQUESTS.waypoints)
    const length = await post('length', { geometry: line.body.geometry })
    expect(length.body.inputRefs).toEqual([line.body.ref])
    expect(length.body.result).toBeCloseTo(line.body.lengthMeters, 1)
  })

  it('calls them by the methods of the client', async () => {
    const { compute } = createClient({ baseUrl: service.url, chainId: CHAIN })
    const end = await compute.direct(EIFFEL_TOWER, 90, 1000)
    expect((await compute.distance(EIFFEL_TOWER, end.geometry)).result).toBe(1000)
    const line = await compute.waypoints(EIFFEL_TOWER, end.geometry, 300)
    expect(line.geometry.coordinates).toHaveLength(5)
    const around = await compute.buffer(ROME, 5000, { toleranceMeters: 1 })
    expect(around.errorMeters).toBeLessThanOrEqual(1)
    expect((await compute.contains(around.geometry, ROME)).result).toBe(true)
    const { from, to, distanceMeters } = await compute.nearest(ROME, SQUARE)
    expect((await compute.distance(from.geometry, to.geometry)).result).toBe(distanceMeters)
    expect((await compute.distance(ROME, SQUARE)).result).toBe(distanceMeters)
  })

  it.each([
    ['direct', { azimuthDegrees: 'north' }, '#/azimuthDegrees'],
    ['direct', { azimuthDegrees: 361 }, '#/azimuthDegrees'],
    ['direct', { distanceMeters: -1 }, '#/distanceMeters'],
    ['direct', { distanceMeters: 20_037_509 }, '#/distanceMeters'],
    ['direct', { distanceMeters: null }, '#/distanceMeters'],
    ['direct', { distanceMeters: undefined }, '#/distanceMeters'],
    ['direct', { from: SQUARE }, '#/from'],
    ['direct', { from: { type: 'Point', coordinates: [448_251, 5_411_932] } }, '#/from/coordinates/0'],
    ['waypoints', { everyMeters: 0 }, '#/everyMeters'],
    ['waypoints', { everyMeters: 1 }, '#/everyMeters'],
    ['waypoints', { to: SQUARE }, '#/to'],
    ['buffer', { radius: 0 }, '#/radius'],
    ['buffer', { radius: 0.0005 }, '#/radius'],
    ['buffer', { radius: 20_000_000 }, '#/radius'],
    ['buffer', { radius: '5 km' }, '#/radius'],
    ['buffer', { radius: undefined }, '#/radius'],
    ['buffer', { toleranceMeters: 0 }, '#/toleranceMeters'],
    ['buffer', { toleranceMeters: 1e-5 }, '#/toleranceMeters'],
    ['buffer', { geometry: SQUARE }, '#/geometry'],
    ['buffer', { geometry: { type: 'MultiPoint', coordinates: [[0, 0]] } }, '#/geometry'],
    ['nearest', { to: { type: 'LineString', coordinates: [[0, 0]] } }, '#/to/coordinates'],
  ] as const)('%s refuses %o at its pointer', async (name, members, pointer) => {
    const { status, body } = await post(name, { ...REQUESTS[name], ...members })
    expect(status).toBe(400)
    expect(body.errors[0].pointer).toBe(pointer)
  })

  it('refuses a number beyond doubles', async () => {
    const text = JSON.stringify({ chainId: CHAIN, ...REQUESTS.direct }).replace('1000', '1e999')
    const response = await fetch(`${service.url}/compute/v0/direct`, { method: 'POST', body: text })
    expect(response.status).toBe(400)
    const body = (await response.json()) as { errors: { pointer: string }[] }
    expect(body.errors[0]!.pointer).toBe('#/distanceMeters')
  })
})
