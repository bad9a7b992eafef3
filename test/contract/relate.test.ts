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
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createClient, verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { EAST, EIFFEL_TOWER, ROAD, ROME, SQUARE } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const CHAIN = 84532
const NOTHING = { type: 'Polygon', coordinates: [] }
const recompute = createRecompute()
const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
for (const schema of [geometrySchema, requestSchema, batchRequestSchema, problemSchema, proofSchema, verifySchema])
  ajv.addSchema(schema)
ajv.addSchema({ $id: 'input.schema.json', $defs: { InputOrEmpty: {}, InputName: {}, InputWithName: {} } })
const isResponse = ajv.compile({ $defs: responseSchema.$defs, $ref: '#/$defs/RelateResponse' })
ajv.addSchema(responseSchema)
const isBatchResponse = ajv.compile(batchResponseSchema)

describe.each(ADAPTERS)('relate and its predicates over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })

  const post = async (operation: string, geometry1: unknown, geometry2: unknown, members: object = {}) => {
    const body = { chainId: CHAIN, geometry1, geometry2, ...members }
    const response = await service.post(`/compute/v0/${operation}`, body)
    if (response.status === 200) expect(isResponse(response.body), JSON.stringify(isResponse.errors)).toBe(true)
    return response
  }
  const batch = async (members: object) => {
    const response = await service.post('/compute/v0/batch', { chainId: CHAIN, ...members })
    if (response.status === 200)
      expect(isBatchResponse(response.body), JSON.stringify(isBatchResponse.errors)).toBe(true)
    return response
  }

  it('answers a matrix without a signature, whatever signature the client prefers', async () => {
    const body = { chainId: CHAIN, geometry1: SQUARE, geometry2: EAST }
    const plain = await service.post('/compute/v0/relate', body)
    expect(plain.status).toBe(200)
    expect(Object.keys(plain.body)).toEqual(['matrix', 'operation', 'timestamp', 'inputRefs'])
    expect(plain.body).toMatchObject({ matrix: 'FF2F11212', operation: 'relate' })
    const preferred = await service.post('/compute/v0/relate', body, { prefer: 'result-signature' })
    expect(preferred.body).toEqual({ ...plain.body, timestamp: preferred.body.timestamp })
    expect(preferred.headers.get('preference-applied')).toBeNull()
  })

  it.each([
    ['equals', SQUARE, SQUARE, true],
    ['equals', SQUARE, EAST, false],
    ['disjoint', SQUARE, ROME, true],
    ['touches', SQUARE, EAST, true],
    [
      'crosses',
      {
        type: 'LineString',
        coordinates: [
          [1, 48.5],
          [4, 48.5],
        ],
      },
      SQUARE,
      true,
    ],
    ['overlaps', SQUARE, EAST, false],
    ['covers', SQUARE, { type: 'Point', coordinates: [3, 48.5] }, true],
    ['coveredBy', ROAD, SQUARE, true],
  ])('signs %s', async (operation, a, b, result) => {
    const { body } = await post(operation, a, b)
    expect(body).toMatchObject({ result, operation })
    const verdict = await verifyResult(body, {
      attester: service.attester,
      chainId: CHAIN,
      inputs: [a, b] as never,
      recompute,
    })
    expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect(verdict.checks.find(({ id }) => id === 'recomputed')?.status).toBe('pass')
  })

  it('signs whether the matrix matches a pattern, under the name of the pattern', async () => {
    const { body } = await post('relate', SQUARE, EAST, { pattern: 'F***1****' })
    expect(body).toMatchObject({ result: true, operation: 'relate:F***1****' })
    const options = { attester: service.attester, inputs: [SQUARE, EAST] as never, recompute }
    expect((await verifyResult(body, options)).ok).toBe(true)
    const other = await verifyResult({ ...body, operation: 'relate:F***0****' }, options)
    expect(other.ok).toBe(false)
  })

  it('takes empty geometries, which other operations reject', async () => {
    expect((await post('relate', NOTHING, SQUARE)).body.matrix).toBe('FFFFFF212')
    expect((await post('disjoint', SQUARE, { type: 'GeometryCollection', geometries: [] })).body.result).toBe(true)
    expect((await post('equals', NOTHING, { type: 'Point', coordinates: [] })).body.result).toBe(true)
    expect((await post('covers', SQUARE, NOTHING)).body.result).toBe(false)
    const member = { type: 'GeometryCollection', geometries: [NOTHING, EIFFEL_TOWER] }
    expect((await post('equals', member, EIFFEL_TOWER)).body.result).toBe(true)
    for (const operation of ['intersects', 'relate']) {
      const { status, body } = await post(operation, { type: 'Polygon', coordinates: [[]] }, SQUARE)
      expect([status, body.errors[0].pointer]).toEqual([400, '#/geometry1/coordinates/0'])
    }
    const { status, body } = await post('intersects', NOTHING, SQUARE)
    expect([status, body.errors[0].pointer]).toEqual([400, '#/geometry1/coordinates'])
  })

  it('locates what is wrong with a request', async () => {
    const pattern = await post('relate', SQUARE, EAST, { pattern: 'T*F**FFF' })
    expect(pattern.status).toBe(400)
    expect(pattern.body.errors[0]).toEqual({
      pointer: '#/pattern',
      detail: 'must be nine characters of T, F, *, 0, 1 and 2, found string "T*F**FFF"',
      code: 'wrong-format',
    })
    const missing = await service.post('/compute/v0/touches', { chainId: CHAIN, geometry1: SQUARE })
    expect([missing.status, missing.body.errors[0].pointer]).toEqual([400, '#/geometry2'])
    const chain = await service.post('/compute/v0/relate', { chainId: 5, geometry1: SQUARE, geometry2: EAST })
    expect([chain.status, chain.body.errors[0].pointer]).toEqual([400, '#/chainId'])
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
    const invalid = await post('overlaps', SQUARE, bowtie)
    expect(invalid.body.errors[0]).toMatchObject({
      pointer: '#/geometry2/coordinates/0/2',
      code: 'self-intersection',
    })
  })

  it('says in a note that an edge was read as a whole parallel', async () => {
    const world = {
      type: 'Polygon',
      coordinates: [
        [
          [-180, -90],
          [180, -90],
          [180, 90],
          [-180, 90],
          [-180, -90],
        ],
      ],
    }
    const { body } = await post('relate', world, SQUARE)
    expect(body).toMatchObject({ matrix: '212FFFFF2', notes: [{ code: 'full-parallel' }] })
  })

  const ITEMS = [
    { op: 'relate', id: 'm', geometry1: SQUARE, geometry2: EAST },
    { op: 'relate', id: 'p', geometry1: SQUARE, geometry2: EAST, pattern: 'F***1****' },
    { op: 'touches', id: 't', geometry1: SQUARE, geometry2: EAST },
    { op: 'equals', id: 'e', geometry1: NOTHING, geometry2: NOTHING },
    { op: 'relate', id: 'x', geometry1: SQUARE, geometry2: EAST, pattern: 'nine char' },
  ]

  it.each([{ attest: 'none' }, { attest: 'each' }, { attest: 'merkle' }, { sequence: 'consecutive' }])(
    'never signs the matrix of a batch: %j',
    async (options) => {
      const { body } = await batch({ ...options, items: ITEMS })
      expect(body).toMatchObject({ count: 5, failed: 1 })
      const [matrix, pattern, touches, equals, failed] = body.results
      expect(Object.keys(matrix)).toEqual(['id', 'matrix', 'operation', 'timestamp', 'inputRefs'])
      expect(matrix).toMatchObject({ id: 'm', matrix: 'FF2F11212', operation: 'relate' })
      expect(pattern).toMatchObject({ id: 'p', result: true, operation: 'relate:F***1****' })
      expect(touches).toMatchObject({ id: 't', result: true })
      expect(equals).toMatchObject({ id: 'e', result: true })
      expect(failed.error.errors[0].pointer).toBe('#/items/4/pattern')
      if (options.attest === 'merkle') {
        expect(body.merkle.leafCount).toBe(3)
        const keccak = await createKeccak()
        for (const result of [pattern, touches, equals])
          expect(verifyMerkleProof(result, result.proof, body.merkle.root, keccak)).toBe(true)
      } else if (options.attest !== 'none') {
        for (const result of [pattern, touches, equals]) expect(result.attestation.attester).toBe(service.attester)
      }
    },
  )

  it('streams matrices among signed results as lines', async () => {
    const client = createClient({ baseUrl: service.url, chainId: CHAIN })
    const results = []
    for await (const result of client.batch.stream(ITEMS.slice(0, 3) as never)) results.push(result)
    expect(results.map(({ matrix, attestation }) => [matrix, attestation !== undefined])).toEqual([
      ['FF2F11212', false],
      [undefined, true],
      [undefined, true],
    ])
  })
})
