import { describe, expect, it } from 'vitest'
import { PROJECTED_HINT } from '../../src/base/coordinate-hints.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { readWkt } from '../../src/geometry/wkt.ts'
import { readComputeRequest } from '../../src/validation/compute-request.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { EIFFEL_TOWER } from '../fixtures.ts'
import { LIMITS, refusalOf } from '../format-limits.ts'

const square = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  ],
}
const uid = `0x${'ab'.repeat(32)}`

const read = (operation: OperationName, body: object) => readComputeRequest(OPERATIONS[operation], body as never, 8)

/** Returns the type and detail of the problem that reading throws, and the members of its first error. */
function readProblem(operation: OperationName, body: object) {
  try {
    read(operation, body)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const [firstError] = error.data.invalidParts ?? []
    return { ...firstError, type: error.data.type, detail: error.data.detail, errorDetail: firstError?.detail }
  }
  throw new Error('the request was accepted')
}

const distance = (from: unknown) => ({ chainId: 84532, from, to: EIFFEL_TOWER })

describe('a compute request', () => {
  it('is read with its inputs in the order of inputRefs', () => {
    const request = read('within', {
      chainId: 84532,
      target: square,
      geometry: EIFFEL_TOWER,
      radius: 500,
      recipient: `0x${'AB'.repeat(20)}`,
    })
    expect(request.inputs.map((input) => input.form === 'geometry' && input.geometry.type)).toEqual([
      'Point',
      'Polygon',
    ])
    expect(request).toMatchObject({
      chainId: 84532,
      radiusMeters: 500,
      recipient: `0x${'ab'.repeat(20)}`,
      schema: undefined,
    })
  })

  it.each([
    [{ container: square, containee: EIFFEL_TOWER }],
    [{ geometryA: square, geometryB: EIFFEL_TOWER }],
    [{ geometry1: square, geometry2: EIFFEL_TOWER }],
    [{ container: square, geometry: EIFFEL_TOWER }],
  ])('for contains accepts the inputs %j', (inputs) => {
    const body = { chainId: 84532, ...inputs }
    const types = read('contains', body).inputs.map((input) => input.form === 'geometry' && input.geometry.type)
    expect(types).toEqual(['Polygon', 'Point'])
  })

  it.each([
    [{ container: square, containee: EIFFEL_TOWER, geometry: EIFFEL_TOWER }],
    [{ container: square, containee: EIFFEL_TOWER, geometryA: square, geometryB: EIFFEL_TOWER }],
    [{ geometryA: square, geometry2: EIFFEL_TOWER }],
    [{ geometryA: square, containee: EIFFEL_TOWER }],
  ])('for contains rejects mixed spellings: %j', (inputs) => {
    expect(readProblem('contains', { chainId: 84532, ...inputs }).code).toBe('mixed-aliases')
  })

  it('for contains is rejected with the canonical name of a missing input', () => {
    expect(readProblem('contains', { chainId: 84532, container: square })).toMatchObject({
      pointer: '#/containee',
      code: 'missing-member',
    })
  })

  it('may have a Feature, a {uid} and unknown members', () => {
    const request = read('distance', {
      chainId: 84532,
      from: { type: 'Feature', properties: {}, geometry: EIFFEL_TOWER },
      to: { uid: uid.toUpperCase().replace('0X', '0x') },
      extra: 1,
    })
    expect(request.inputs).toEqual([
      { form: 'geometry', geometry: EIFFEL_TOWER, path: ['from', 'geometry'] },
      { form: 'onchain', uid, path: ['to'] },
    ])
  })

  it.each([
    [
      'chainId as a string',
      { ...distance(EIFFEL_TOWER), chainId: '84532' },
      '#/chainId',
      'wrong-type',
      'send the number 84532 without quotes',
    ],
    ['no chainId', { from: EIFFEL_TOWER, to: EIFFEL_TOWER }, '#/chainId', 'missing-member', undefined],
    [
      'a misspelt member',
      { chainId: 1, form: EIFFEL_TOWER, to: EIFFEL_TOWER },
      '#/from',
      'missing-member',
      'found "form": did you mean "from"?',
    ],
    ['chainId 0', { ...distance(EIFFEL_TOWER), chainId: 0 }, '#/chainId', 'out-of-range', undefined],
    ['a fractional chainId', { ...distance(EIFFEL_TOWER), chainId: 1.5 }, '#/chainId', 'wrong-type', undefined],
    ['a chainId beyond 2⁵³', { ...distance(EIFFEL_TOWER), chainId: 1e308 }, '#/chainId', 'out-of-range', undefined],
    ['a bad recipient', { ...distance(EIFFEL_TOWER), recipient: '0x12' }, '#/recipient', 'wrong-format', undefined],
    ['a bad schema', { ...distance(EIFFEL_TOWER), schema: 'x' }, '#/schema', 'wrong-format', undefined],
    ['a bare UID', distance(uid), '#/from', 'wrong-type', `use {"uid": "${uid}"}`],
    ['a number as input', distance(5), '#/from', 'wrong-type', undefined],
    ['null as input', distance(null), '#/from', 'wrong-type', undefined],
    ['an array as input', distance([0, 0]), '#/from', 'wrong-type', undefined],
    ['an empty object', distance({}), '#/from', 'unknown-input', undefined],
    ['type and uid', distance({ ...EIFFEL_TOWER, uid }), '#/from', 'ambiguous-input', undefined],
    ['uid and verifiedProof', distance({ uid, verifiedProof: {} }), '#/from', 'ambiguous-input', undefined],
    ['a short uid', distance({ uid: '0x12' }), '#/from/uid', 'wrong-format', undefined],
    [
      'an unknown type',
      distance({ type: 'point', coordinates: [0, 0] }),
      '#/from/type',
      'unknown-geometry-type',
      'did you mean "Point"?',
    ],
    ['a type that is not a string', distance({ type: 1 }), '#/from/type', 'unknown-geometry-type', undefined],
    [
      'a FeatureCollection',
      distance({ type: 'FeatureCollection', features: [] }),
      '#/from',
      'feature-collection',
      undefined,
    ],
    [
      'a Feature without geometry',
      distance({ type: 'Feature', geometry: null }),
      '#/from/geometry',
      'null-geometry',
      'send one geometry',
    ],
    [
      'swapped coordinates',
      distance({ type: 'Point', coordinates: [48.8, 102.3] }),
      '#/from/coordinates/1',
      'latitude-range',
      'GeoJSON order is [longitude, latitude]',
    ],
    [
      'a longitude over 180',
      distance({ type: 'Point', coordinates: [180.00000000000003, 0] }),
      '#/from/coordinates/0',
      'longitude-range',
      undefined,
    ],
    [
      'a number that overflows',
      distance(JSON.parse('{"type":"Point","coordinates":[1e999,0]}')),
      '#/from/coordinates/0',
      'not-finite',
      undefined,
    ],
    [
      'a string as coordinate',
      distance({ type: 'Point', coordinates: ['2.29', 48] }),
      '#/from/coordinates/0',
      'wrong-type',
      'send the number 2.29 without quotes',
    ],
    [
      'null as coordinate',
      distance({ type: 'Point', coordinates: [0, null] }),
      '#/from/coordinates/1',
      'wrong-type',
      undefined,
    ],
    [
      'five coordinates',
      distance({ type: 'Point', coordinates: [0, 0, 0, 0, 0] }),
      '#/from/coordinates',
      'position-length',
      undefined,
    ],
    ['one coordinate', distance({ type: 'Point', coordinates: [0] }), '#/from/coordinates', 'too-few', undefined],
    ['no coordinates', distance({ type: 'Point' }), '#/from/coordinates', 'missing-member', undefined],
    ['an empty Point', distance({ type: 'Point', coordinates: [] }), '#/from/coordinates', 'empty-geometry', undefined],
    [
      'an empty MultiPoint',
      distance({ type: 'MultiPoint', coordinates: [] }),
      '#/from/coordinates',
      'empty-geometry',
      undefined,
    ],
    [
      'an empty collection',
      distance({ type: 'GeometryCollection', geometries: [] }),
      '#/from/geometries',
      'empty-geometry',
      undefined,
    ],
    [
      'a line of one position',
      distance({ type: 'LineString', coordinates: [[0, 0]] }),
      '#/from/coordinates',
      'too-few',
      undefined,
    ],
    [
      'a ring of three positions',
      distance({
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [0, 0],
          ],
        ],
      }),
      '#/from/coordinates/0',
      'too-few',
      undefined,
    ],
    [
      'a Feature in a collection',
      distance({ type: 'GeometryCollection', geometries: [{ type: 'Feature', geometry: EIFFEL_TOWER }] }),
      '#/from/geometries/0/type',
      'unknown-geometry-type',
      undefined,
    ],
  ])('is rejected with a pointer for %s', (_, body, pointer, code, hint) => {
    const problem = readProblem('distance', body)
    expect(problem).toMatchObject({ type: 'invalid-input', pointer, code })
    if (hint !== undefined) expect(problem.hint).toBe(hint)
  })

  it.each([
    [222638.98, 48, PROJECTED_HINT],
    [-2001, 48, PROJECTED_HINT],
    [-2000, 48, 'longitudes are not wrapped: bring it into -180..180'],
    [2, 6250000, PROJECTED_HINT],
    [2, 2001, PROJECTED_HINT],
    [2, 2000, 'latitudes end at the poles'],
    [2, 102, 'GeoJSON order is [longitude, latitude]'],
  ])('is rejected with a hint that fits the size of the coordinate: %d, %d', (longitude, latitude, hint) => {
    const problem = readProblem('distance', distance({ type: 'Point', coordinates: [longitude, latitude] }))
    expect(problem.hint).toBe(hint)
    const refusal = refusalOf(() => readWkt(`POINT (${longitude} ${latitude})`, [], LIMITS))
    expect(refusal.hint).toBe(
      hint.replace('GeoJSON order is [longitude, latitude]', 'the order is longitude, latitude'),
    )
  })

  it('is rejected with the allowed range in the detail', () => {
    // People search for the limit, so the detail has it (decision 89).
    const problem = readProblem(
      'distance',
      distance({
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 95],
            [0, 0],
          ],
        ],
      }),
    )
    expect(problem.detail).toBe('from.coordinates[0][2][1]: latitude 95 is outside -90..90')
    expect(problem.errorDetail).toBe('latitude 95 is outside -90..90')
  })

  it('is rejected as not-implemented for {uid, uri}, whatever the uri is', () => {
    for (const uri of ['ipfs://x', 'file:///etc/passwd', 'http://127.0.0.1:1', 5, null]) {
      expect(readProblem('distance', distance({ uid, uri })).type).toBe('not-implemented')
    }
    expect(readProblem('distance', distance({ uid: 'nonsense', uri: 'x' })).type).toBe('not-implemented')
  })

  it.each([
    [0, 'out-of-range'],
    [-1, 'out-of-range'],
    [1e300, 'out-of-range'],
    ['500', 'wrong-type'],
    [null, 'wrong-type'],
    [undefined, 'missing-member'],
  ])('for within is rejected with radius %s', (radius, code) => {
    expect(
      readProblem('within', { chainId: 84532, geometry: EIFFEL_TOWER, target: EIFFEL_TOWER, radius }),
    ).toMatchObject({
      pointer: '#/radius',
      code,
    })
  })

  it('is rejected when collections nest deeper than 8', () => {
    const nested = (levels: number): object =>
      levels === 0 ? EIFFEL_TOWER : { type: 'GeometryCollection', geometries: [nested(levels - 1)] }
    expect(read('distance', distance(nested(8))).inputs).toHaveLength(2)
    expect(readProblem('distance', distance(nested(9))).code).toBe('collection-depth')
  })
})
