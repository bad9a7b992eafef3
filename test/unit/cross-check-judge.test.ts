import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { judge } from '../../src/cross-check/judge.ts'
import type { AnswerSample, SampledAnswer } from '../../src/wire/compute-messages.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { EAST, EIFFEL_TOWER, ROAD, ROME, SQUARE } from '../fixtures.ts'
import { createSampler } from '../sampled-answers.ts'

const sampleOf = createSampler()
const LINE = {
  type: 'LineString',
  coordinates: [
    [1.5, 48.5],
    [4, 48.6],
  ],
}
const polygon = (...coordinates: [number, number][][]) => ({ type: 'Polygon', coordinates })
const point = (...coordinates: [number, number]) => ({ type: 'Point', coordinates })
const distance = (from: object, to: object) => judge(sampleOf('distance', { from, to })!)

/** A request of every operation that a library can judge. */
const REQUESTS: readonly (readonly [OperationName, object])[] = [
  ['distance', { from: EIFFEL_TOWER, to: ROME }],
  ['within', { geometry: EIFFEL_TOWER, target: ROME, radius: 1_200_000 }],
  ['within', { geometry: EIFFEL_TOWER, target: ROME, radius: 12 }],
  ['length', { geometry: ROAD }],
  ['area', { geometry: SQUARE }],
  ['contains', { container: SQUARE, containee: point(2.5, 48.5) }],
  ['intersects', { geometry1: SQUARE, geometry2: LINE }],
  ['relate', { geometry1: SQUARE, geometry2: LINE }],
  ['relate', { geometry1: SQUARE, geometry2: LINE, pattern: 'T********' }],
  ...(['equals', 'disjoint', 'touches', 'crosses', 'overlaps', 'covers', 'coveredBy'] as const).flatMap((operation) =>
    [SQUARE, EAST, LINE].map((geometry2) => [operation, { geometry1: SQUARE, geometry2 }] as const),
  ),
]

/** Wrong answers that are as near to the right one as the library can tell. */
function wrongAnswers(answer: SampledAnswer): SampledAnswer[] {
  switch (answer.kind) {
    case 'numeric': {
      // 1 µm, or 1e-9 of an area.
      const error = answer.scale === 100 ? 1e-6 : 1e-9 * answer.measure
      return [
        { ...answer, measure: answer.measure + error },
        { ...answer, measure: answer.measure - error },
        { ...answer, integer: answer.integer + 1n },
        { ...answer, measure: Number.NaN },
      ]
    }
    case 'boolean':
      return [{ kind: 'boolean', value: !answer.value }]
    case 'matrix':
      return [{ kind: 'matrix', matrix: answer.matrix.replace('2', '1') }]
    case 'geometry':
      return []
  }
}

describe('the judge of answers', () => {
  it.each(REQUESTS)('agrees with a right answer of %s and finds wrong ones', (operation, members) => {
    const sample = sampleOf(operation, members)!
    expect(judge(sample)).toMatchObject({ outcome: 'agreed', engine: expect.stringMatching(/^(geographiclib|jsts)/) })
    const wrong = wrongAnswers(sample.answer)
    expect(wrong.length).toBeGreaterThan(0)
    for (const answer of wrong)
      expect(judge({ ...sample, answer })).toMatchObject({ outcome: 'disagreed', other: expect.anything() })
  })

  it('knows every operation', () => {
    const judged = new Set(REQUESTS.map(([operation]) => operation))
    const others = Object.values(OPERATIONS).filter(({ name }) => !judged.has(name))
    expect(others.map(({ result }) => result.kind)).toEqual(others.map(() => 'geometry'))
    for (const [operation, members] of [
      ['direct', { from: ROME, azimuthDegrees: 10, distanceMeters: 100 }],
      ['waypoints', { from: ROME, to: EIFFEL_TOWER, everyMeters: 100_000 }],
      ['nearest', { from: ROME, to: SQUARE }],
      ['buffer', { geometry: ROME, radius: 1000 }],
      ['repair', { geometry: SQUARE }],
    ] as const)
      expect([operation, judge(sampleOf(operation, members)!)]).toEqual([operation, { outcome: 'unchecked' }])
  })

  it('compares the coordinates as they were sent, whatever the service has read', () => {
    const sample = sampleOf('distance', { from: EIFFEL_TOWER, to: ROME })!
    const body = Buffer.from(JSON.stringify({ from: EIFFEL_TOWER, to: point(12.4925, 41.8903) }))
    expect(judge({ ...sample, body })).toMatchObject({ outcome: 'disagreed' })
    const feature = { type: 'Feature', properties: {}, geometry: ROME }
    expect(distance(EIFFEL_TOWER, feature)).toMatchObject({ outcome: 'agreed' })
    const aliases = sampleOf('contains', { geometry1: SQUARE, geometry2: point(2.5, 48.5) })!
    expect(judge(aliases)).toMatchObject({ outcome: 'agreed' })
  })

  it('reads inputs that the body refers to, if they are GeoJSON', () => {
    const sample = sampleOf('distance', { from: EIFFEL_TOWER, to: ROME })!
    const body = Buffer.from(JSON.stringify({ from: EIFFEL_TOWER, to: { uid: `0x${'1'.repeat(64)}` } }))
    const resolved = [
      { field: 'to', ref: '0x01', geometry: JSON.stringify(ROME), locationType: 'geojson-point' },
    ] as const
    expect(judge({ ...sample, body, resolved })).toMatchObject({ outcome: 'agreed' })
    const text = [{ ...resolved[0], geometry: 'POINT (12 41)', locationType: 'wkt' }]
    expect(judge({ ...sample, body, resolved: text })).toEqual({ outcome: 'unchecked' })
    expect(judge({ ...sample, body })).toEqual({ outcome: 'unchecked' })
  })

  it('leaves what no library can judge unchecked', () => {
    const unchecked = (operation: OperationName, members: object) =>
      expect(judge(sampleOf(operation, members)!)).toEqual({ outcome: 'unchecked' })
    unchecked('distance', { from: EIFFEL_TOWER, to: SQUARE })
    unchecked('within', { geometry: ROAD, target: ROME, radius: 10 })
    // A cap of a parallel and a ring around a pole: their inside is a definition of this service.
    const cap: [number, number][] = [
      [-180, 70],
      [180, 70],
      [180, 90],
      [-180, 90],
      [-180, 70],
    ]
    const aroundPole: [number, number][] = [
      [-120, 80],
      [0, 80],
      [120, 80],
      [-120, 80],
    ]
    for (const ring of [cap, aroundPole]) {
      unchecked('area', { geometry: polygon(ring) })
      unchecked('contains', { container: polygon(ring), containee: point(1, 85) })
    }
    unchecked('intersects', { geometry1: { type: 'GeometryCollection', geometries: [ROME] }, geometry2: SQUARE })
    unchecked('equals', { geometry1: polygon(), geometry2: SQUARE })
    unchecked('intersects', { geometry1: point(180, 3), geometry2: point(-180, 3) })
    const sample = sampleOf('contains', { container: SQUARE, containee: point(2.5, 48.5) })!
    expect(judge({ ...sample, signedOperation: 'contains:geodesic' })).toEqual({ outcome: 'unchecked' })
    expect(judge({ ...sample, body: undefined })).toEqual({ outcome: 'unchecked' })
    const stored = { container: { ref: sample.inputRefs[0] }, containee: point(2.5, 48.5) }
    expect(judge({ ...sample, body: Buffer.from(JSON.stringify(stored)) })).toEqual({ outcome: 'unchecked' })
  })

  it('never agrees within the margin in which doubles cannot decide', () => {
    const onEdge = sampleOf('covers', { geometry1: SQUARE, geometry2: point(2.5, 48) })!
    expect(judge(onEdge)).toMatchObject({ outcome: 'undecided' })
    const wrong: AnswerSample = { ...onEdge, answer: { kind: 'boolean', value: false } }
    expect(judge(wrong)).toMatchObject({ outcome: 'undecided', other: true })
    // 10⁻⁸ degrees away, doubles do decide.
    expect(judge(sampleOf('covers', { geometry1: SQUARE, geometry2: point(2.5, 48 + 1e-8) })!).outcome).toBe('agreed')
    expect(judge(sampleOf('covers', { geometry1: SQUARE, geometry2: point(2.5, 48 + 1e-10) })!).outcome).toBe(
      'undecided',
    )
    // A vertex of the other is a contact without rounding.
    expect(judge(sampleOf('covers', { geometry1: SQUARE, geometry2: point(2, 48) })!).outcome).toBe('agreed')
    const line = (...coordinates: [number, number][]) => ({ type: 'LineString', coordinates })
    const shallow = { geometry1: line([0, 0], [10, 0]), geometry2: line([0, -0.001], [10, 0.001]) }
    expect(judge(sampleOf('crosses', shallow)!).outcome).toBe('undecided')
    // Three lines cross in nearly the same place.
    const diagonals = [line([0, 0], [2, 2]).coordinates, line([0, 2], [2, 0]).coordinates]
    const bundle = { geometry1: { type: 'MultiLineString', coordinates: diagonals }, geometry2: line([1, 0], [1, 3]) }
    expect(judge(sampleOf('crosses', bundle)!).outcome).toBe('undecided')
    // 1.5 cm along the equator, whose radius is 6,378,137 m: within 1 cm, because distances are rounded to centimetres.
    const degrees = (0.015 / 6_378_137) * (180 / Math.PI)
    const within = (lon: number) => sampleOf('within', { geometry: point(0, 0), target: point(lon, 0), radius: 0.01 })!
    expect(judge(within(degrees)).outcome).toBe('undecided')
    expect(judge(within(degrees * (1 - 1e-4))).outcome).toBe('agreed')
  })
})
