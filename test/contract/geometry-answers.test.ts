import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import batchRequestSchema from '../../schemas/batch-request.schema.json' with { type: 'json' }
import batchResponseSchema from '../../schemas/batch-response.schema.json' with { type: 'json' }
import requestSchema from '../../schemas/compute-request.schema.json' with { type: 'json' }
import responseSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometrySchema from '../../schemas/geometry.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifySchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { createClient } from '../../src/client/client.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { EIFFEL_TOWER, ROME, SQUARE } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const CHAIN = 84532
const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
for (const schema of [
  geometrySchema,
  requestSchema,
  batchRequestSchema,
  problemSchema,
  responseSchema,
  proofSchema,
  verifySchema,
])
  ajv.addSchema(schema)
ajv.addSchema({ $id: 'input.schema.json', $defs: { InputOrEmpty: {}, InputName: {}, InputWithName: {} } })
const isResponse = ajv.compile({ $ref: 'compute-response.schema.json#/$defs/GeometryResponse' })
const isBatchResponse = ajv.compile(batchResponseSchema)
/** Its edges cross at [1, 1]. */
const BOWTIE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [2, 2],
      [2, 0],
      [0, 2],
      [0, 0],
    ],
  ],
}
/** A request of each operation whose answer is a geometry. */
const REQUESTS = {
  direct: { from: EIFFEL_TOWER, azimuthDegrees: 90, distanceMeters: 1000 },
  waypoints: { from: EIFFEL_TOWER, to: ROME, everyMeters: 100_000 },
  nearest: { from: ROME, to: SQUARE },
  buffer: { geometry: ROME, radius: 5000 },
  repair: { geometry: BOWTIE },
}
const NAMES = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[]

describe.each(ADAPTERS)('answers that are geometries over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
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
    const { geometry, changes } = await compute.repair(BOWTIE as Geometry)
    expect(changes.map(({ code, place }) => [code, place])).toEqual([['self-intersection', [1, 1]]])
    expect((await compute.contains(geometry, { type: 'Point', coordinates: [0.5, 1] })).result).toBe(true)
  })

  it('repairs what the other operations reject, and names repair in the error', async () => {
    const rejected = await post('area', { geometry: BOWTIE })
    expect(rejected.status).toBe(400)
    expect(rejected.body.errors[0].hint).toContain('POST /compute/v0/repair')
    const { body } = await post('repair', { geometry: BOWTIE })
    expect(body).toMatchObject({
      geometry: { type: 'MultiPolygon' },
      changes: [{ code: 'self-intersection', pointer: '#/geometry/coordinates/0', place: [1, 1] }],
      areaMovedSquareMeters: 0,
    })
    const area = await post('area', { geometry: body.geometry })
    expect(area.status).toBe(200)
    expect(area.body.inputRefs).toEqual([body.ref])
  })

  it.each([
    SQUARE,
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0, 5],
          [0, 1, 7],
          [1, 1, 7],
          [-0, 0, 5],
        ],
      ],
    },
    {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [2, 2],
        [2, 0],
        [0, 2],
      ],
    },
    { type: 'GeometryCollection', geometries: [ROME, { type: 'GeometryCollection', geometries: [SQUARE] }] },
  ])('answers a valid geometry unchanged, with its reference: %o', async (geometry) => {
    const { status, body } = await post('repair', { geometry })
    expect(status).toBe(200)
    expect(isResponse(body), JSON.stringify(isResponse.errors)).toBe(true)
    expect(body).toMatchObject({ changes: [], areaMovedSquareMeters: 0, inputRefs: [body.ref] })
    expect(body.geometry).toEqual(JSON.parse(JSON.stringify(geometry)))
  })

  it('repairs one member of a collection', async () => {
    const geometry = {
      type: 'GeometryCollection',
      geometries: [ROME, { type: 'GeometryCollection', geometries: [BOWTIE] }],
    }
    const { body } = await post('repair', { geometry })
    expect(body.geometry.geometries[0]).toEqual(ROME)
    expect(body.geometry.geometries[1].geometries[0].type).toBe('MultiPolygon')
    expect(body.changes[0].pointer).toBe('#/geometry/geometries/1/geometries/0/coordinates/0')
  })

  it('closes a ring, and refuses a polygon without an area', async () => {
    const open = await post('repair', {
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
    })
    expect(open.body.changes.map(({ code }: { code: string }) => code)).toEqual(['closed'])
    expect(open.body.geometry.coordinates[0]).toHaveLength(5)
    const line = await post('repair', {
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 1],
            [2, 2],
            [0, 0],
          ],
        ],
      },
    })
    expect(line.status).toBe(422)
    expect(line.body).toMatchObject({
      type: expect.stringMatching(/not-repairable$/),
      errors: [{ pointer: '#/geometry', code: 'no-area' }],
    })
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
    ['repair', { geometry: undefined }, '#/geometry'],
    ['repair', { geometry: { type: 'Polygon', coordinates: [] } }, '#/geometry/coordinates'],
    [
      'repair',
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [0, 91],
              [1, 1],
              [0, 0],
            ],
          ],
        },
      },
      '#/geometry/coordinates/0/1/1',
    ],
    [
      'repair',
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 1],
            ],
          ],
        },
      },
      '#/geometry/coordinates/0',
    ],
    ['repair', { geometry: { type: 'Point', coordinates: [448_251, 5_411_932] } }, '#/geometry/coordinates/0'],
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
