import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import responseSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifyResponseSchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { proofOf, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, RECIPIENT, ROAD, SQUARE, TOWN_HALL } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const schemas = [verifyResponseSchema, proofSchema, problemSchema]
const isComputeResponse = new Ajv2020({ strict: false, schemas }).compile(responseSchema)
const isProblem = new Ajv2020({ strict: false }).compile(problemSchema)

const ZERO = `0x${'0'.repeat(64)}`
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

describe.each(ADAPTERS)('compute over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })

  const compute = async (operation: string, body: object) => {
    const response = await service.post(`/compute/v0/${operation}`, { chainId: 84532, ...body })
    const valid = response.status === 200 ? isComputeResponse : isProblem
    expect(valid(response.body), JSON.stringify([valid.errors, response.body])).toBe(true)
    return response
  }
  const requestProblem = async (operation: string, body: object | string) => {
    const response =
      typeof body === 'string' ? await service.post(`/compute/v0/${operation}`, body) : await compute(operation, body)
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(isProblem(response.body)).toBe(true)
    expect(response.body.status).toBe(response.status)
    return response.body
  }

  it('names the supported chains when a request has another one, on every route that takes a chain', async () => {
    const point = { type: 'Point', coordinates: [1, 2] }
    const item = { op: 'distance', from: point, to: point }
    const batch = (await service.post('/compute/v0/batch', { chainId: 84532, items: [{ ...item, chainId: 5 }] })).body
    const response = (await service.post('/compute/v0/distance', { chainId: 84532, from: point, to: point })).body
    const verified = (
      await service.post('/verify/v0/proof', { proof: proofOf([stampOf()]), options: { chainId: 84532 } })
    ).body
    const problems: [pointer: string, problem: { detail: string; errors: { pointer: string }[] }][] = [
      ['#/chainId', (await service.post('/compute/v0/distance', { chainId: 5, from: point, to: point })).body],
      ['#/chainId', (await service.post('/compute/v0/batch', { chainId: 5, attest: 'merkle', items: [item] })).body],
      ['#/items/0/chainId', batch.results[0].error],
      ['#/chainId', (await service.post('/compute/v0/resign', { ...response, chainId: 5 })).body],
      [
        '#/options/chainId',
        (await service.post('/verify/v0/proof', { proof: proofOf([stampOf()]), options: { chainId: 5 } })).body,
      ],
      [
        '#/from/verifiedProof/chainId',
        (
          await service.post('/compute/v0/distance', {
            chainId: 84532,
            from: { verifiedProof: { ...verified, chainId: 5 } },
            to: point,
          })
        ).body,
      ],
    ]
    for (const [pointer, problem] of problems) {
      expect([problem.errors[0]!.pointer, problem.detail]).toEqual([
        pointer,
        expect.stringMatching(/chain 5 is not supported; supported chains: .*\b84532 \(base-sepolia\)/),
      ])
    }
  })

  it.each([
    // GeographicLib 2.2.0 (JavaScript) on the same coordinates: 4238.772876425399 m.
    ['distance', { from: EIFFEL_TOWER, to: TOWN_HALL }, { result: 4238.77, units: 'meters', operation: 'distance' }, 2],
    ['length', { geometry: ROAD }, { result: 4238.77, units: 'meters', operation: 'length' }, 1],
    ['contains', { container: SQUARE, containee: EIFFEL_TOWER }, { result: true, operation: 'contains' }, 2],
    [
      'contains',
      { container: SQUARE, containee: { type: 'Point', coordinates: [2, 48.5] } },
      { result: false, operation: 'contains' },
      2,
    ],
    [
      'within',
      { geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 4238.77 },
      { result: true, operation: 'within:423877' },
      2,
    ],
    [
      'within',
      { geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 4238.76 },
      { result: false, operation: 'within:423876' },
      2,
    ],
    [
      'intersects',
      { geometry1: SQUARE, geometry2: { type: 'Point', coordinates: [2, 48.5] } },
      { result: true, operation: 'intersects' },
      2,
    ],
  ])('answers %s', async (operation, body, expected, refs) => {
    const before = Math.floor(Date.now() / 1000)
    const { status, body: response } = await compute(operation, body)
    expect(status).toBe(200)
    expect(response).toMatchObject(expected)
    expect('units' in response).toBe('units' in expected)
    expect(response.inputRefs).toHaveLength(refs)
    expect(response.timestamp).toBeGreaterThanOrEqual(before)
    expect(response.attestation).toMatchObject({ refUID: ZERO, revocable: true, attester: service.attester })
    expect(response.delegatedAttestation).toMatchObject({
      attester: service.attester,
      nonce: 0,
      signature: response.attestation.signature,
    })
    expect(response.delegatedAttestation.deadline).toBeGreaterThanOrEqual(before + 3600)
  })

  it('answers area to the square centimetre', async () => {
    const { body } = await compute('area', { geometry: SQUARE })
    // Karney's area integral and the longitude equation by quadrature with 40 digits: 8217589924.770678703 m². The kernel
    // promises 1 cm², and the result is rounded to 1 cm².
    expect(Math.abs(body.result - 8_217_589_924.770679)).toBeLessThanOrEqual(1.5e-4)
    expect(body.units).toBe('square_meters')
  })

  it('returns the same reference for the same geometry in any notation', async () => {
    const spellings = [
      '{"type":"Point","coordinates":[2.5,48]}',
      '{ "coordinates" : [ 2.50, 4.8e1 ], "type" : "Point" }',
      '{"coordinates":[25e-1,48.000],"bbox":[1,2,3,4],"type":"Point","name":"x"}',
      '{"type":"Feature","properties":null,"geometry":{"type":"Point","coordinates":[2.5,48]}}',
    ]
    const refs = await Promise.all(
      spellings.map(async (text) => {
        const body = `{"chainId":84532,"from":${text},"to":{"type":"Point","coordinates":[0,0]}}`
        return (await service.post('/compute/v0/distance', body)).body.inputRefs[0]
      }),
    )
    expect(new Set(refs).size).toBe(1)
  })

  it('puts recipient, schema and chain into the response', async () => {
    const recipient = RECIPIENT.toLowerCase()
    const schema = `0x${'AB'.repeat(32)}`
    const { body } = await compute('distance', { from: EIFFEL_TOWER, to: TOWN_HALL, recipient, schema, chainId: 42161 })
    // EIP-55 form of the address (the account is one of anvil's).
    expect(body.attestation).toMatchObject({
      recipient: RECIPIENT,
      schema: schema.toLowerCase(),
    })
  })

  it('answers a body over 16 KB from the large lane with the same result', async () => {
    const ring = Array.from({ length: 1001 }, (_, i) => {
      const angle = (2 * Math.PI * (i % 1000)) / 1000
      return [10 + Math.cos(angle), 20 + Math.sin(angle)]
    })
    const geometry = { type: 'Polygon', coordinates: [ring] }
    const padded = await service.post('/compute/v0/area', { chainId: 84532, geometry, padding: 'x'.repeat(20_000) })
    const small = await service.post('/compute/v0/contains', {
      chainId: 84532,
      container: geometry,
      containee: { type: 'Point', coordinates: [10, 20] },
    })
    expect(padded.status).toBe(200)
    expect(small.body).toMatchObject({ result: true })
    expect(small.body.inputRefs[0]).toBe(padded.body.inputRefs[0])
  })

  it.each([
    ['not JSON', '{"chainId":', 'bad-request'],
    ['empty', '', 'bad-request'],
    ['an array', '[]', 'bad-request'],
    ['a duplicate key', '{"chainId":84532,"chainId":1}', 'bad-request'],
    ['a prototype key', '{"chainId":84532,"__proto__":{}}', 'bad-request'],
    ['nested too deep', `{"a":${'['.repeat(50)}${']'.repeat(50)}}`, 'bad-request'],
    [
      'too large a number',
      '{"chainId":84532,"from":{"type":"Point","coordinates":[1e999,0]},"to":{"type":"Point","coordinates":[0,0]}}',
      'invalid-input',
    ],
  ])('rejects a body that is %s', async (_, body, type) => {
    const problem = await requestProblem('distance', body)
    expect(problem.type).toBe(`${service.url}/errors/${type}`)
    expect(problem.status).toBe(400)
  })

  it.each([
    ['area of a line', 'area', { geometry: ROAD }, 'wrong-geometry-type'],
    [
      'area of a collection',
      'area',
      { geometry: { type: 'GeometryCollection', geometries: [SQUARE] } },
      'wrong-geometry-type',
    ],
    ['length of a polygon', 'length', { geometry: SQUARE }, 'wrong-geometry-type'],
    ['length of a point', 'length', { geometry: EIFFEL_TOWER }, 'wrong-geometry-type'],
    ['area of a bowtie', 'area', { geometry: bowtie }, 'self-intersection'],
    ['distance to a bowtie', 'distance', { from: EIFFEL_TOWER, to: bowtie }, 'self-intersection'],
    [
      'an open ring',
      'area',
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
      'open-ring',
    ],
    ['radius 0', 'within', { geometry: EIFFEL_TOWER, target: SQUARE, radius: 0 }, 'out-of-range'],
    ['radius 1e300', 'within', { geometry: EIFFEL_TOWER, target: SQUARE, radius: 1e300 }, 'out-of-range'],
    ['radius 0.001', 'within', { geometry: EIFFEL_TOWER, target: SQUARE, radius: 0.001 }, 'radius-too-small'],
    ['chainId as a string', 'distance', { from: EIFFEL_TOWER, to: EIFFEL_TOWER, chainId: '84532' }, 'wrong-type'],
    ['an unknown chain', 'distance', { from: EIFFEL_TOWER, to: EIFFEL_TOWER, chainId: 999 }, 'unsupported-chain'],
    ['a uid without RPC', 'distance', { from: EIFFEL_TOWER, to: { uid: ZERO } }, 'no-rpc'],
    [
      'the schema of another kind',
      'distance',
      {
        from: EIFFEL_TOWER,
        to: EIFFEL_TOWER,
        schema: '0x4958625091a773dcfb37a1c33099a378f32a975a7fb61f33d53c4be7589898f5',
      },
      'schema-mismatch',
    ],
  ])('rejects %s with a pointer and a hint', async (_, operation, body, code) => {
    const problem = await requestProblem(operation, body)
    expect(problem.status).toBe(400)
    expect(problem.errors[0]).toMatchObject({ code })
    expect(problem.errors[0].pointer).toMatch(/^#/)
  })

  it('names where a self-intersecting ring crosses itself', async () => {
    const problem = await requestProblem('area', { geometry: bowtie })
    expect(problem.detail).toContain('self-intersection at [0.5, 0.5]')
  })

  it('answers {uid, uri} with 501', async () => {
    const problem = await requestProblem('distance', { from: EIFFEL_TOWER, to: { uid: ZERO, uri: 'ipfs://x' } })
    expect(problem).toMatchObject({ status: 501, title: 'Not Implemented' })
  })

  it('marks a nonce that does not come from a chain', async () => {
    const { headers } = await compute('distance', { from: EIFFEL_TOWER, to: TOWN_HALL })
    expect(headers.get('x-attester-nonce-source')).toBe('default')
  })
})
