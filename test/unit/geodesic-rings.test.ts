import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { PreparedGeometries } from '../../src/compute/prepared-geometries.ts'
import { runOperation } from '../../src/compute/run.ts'
import { checkInterior } from '../../src/compute/validity.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { at } from '../fixtures.ts'

const kernel = loadKernel()
const limits = { maxVertices: 60_000, maxParts: 1000 }
const read = (geometry: Geometry) => readGeometry(geometry, [], limits)

/** '0 0, 1 2' → [[0, 0], [1, 2]], closed. */
const ring = (text: string): Position[] => {
  const positions = at(text)
  return [...positions, positions[0]!]
}
const polygon = (...rings: string[]): Geometry => ({ type: 'Polygon', coordinates: rings.map(ring) })

const multiPolygon = (...members: string[]): Geometry => ({
  type: 'MultiPolygon',
  coordinates: members.map((member) => [ring(member)]),
})

/** Returns the code, pointer and hint with which an area is rejected whose rings are valid in the plane, or undefined. */
function findRejection(geometry: Geometry): { code?: string; where: string; hint?: string } | undefined {
  const flat = read(geometry)
  checkInterior(flat, ['geometry'], kernel)
  try {
    checkInterior(flat, ['geometry'], kernel, true)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    expect(error.data.type).toBe('invalid-input')
    const { code, hint } = error.data.invalidParts![0]!
    return { code: code!, where: error.data.detail.split(':')[0]!, hint: hint! }
  }
  return undefined
}
const hint = expect.stringContaining('put vertices along long edges') as string
const CROSSING = { code: 'self-intersection', where: expect.stringContaining('geometry.coordinates[') as string, hint }

// The geodesic from (0, 50) to (60, 50) rises to 54.005°, by geographiclib-geodesic 2.2.0; its middle lies at (30, 54.005).
describe('rings that cross only as geodesics', () => {
  it.each([
    ['a strip along the long edge', polygon('0 50, 60 50, 60 52, 30 52, 0 52')],
    ['a strip that is almost empty', polygon('0 50, 60 50, 60 50.03, 30 50.5, 0 50.03')],
    ['a peak just below the long edge', polygon('0 50, 60 50, 60 51, 31 56, 30 54, 29 56, 0 51')],
    ['the same strip in the south', polygon('0 -50, 60 -50, 60 -52, 30 -52, 0 -52')],
    ['the same strip across the antimeridian', polygon('150 50, -150 50, -150 52, 180 52, 150 52')],
    ['a hole across the long edge', polygon('0 50, 60 50, 60 60, 0 60', '25 53, 35 53, 35 55, 25 55')],
    [
      'members of which one overlaps the other',
      multiPolygon('0 40, 60 40, 60 50, 0 50', '0 50.5, 30 50.5, 60 50.5, 30 60'),
    ],
    ['edges of 50 km and a step of 10 m', polygon('10 50, 10.7 50, 10.7 50.02, 10.35 50.0001, 10 50.02')],
  ])('are rejected: %s', (_, geometry) => {
    expect(findRejection(geometry)).toEqual(CROSSING)
  })

  // Regression: a band with a vertex halfway around the globe had the area of the whole ellipsoid.
  it('are rejected when edges spanning 180° of longitude cross one pole twice, and measured when they cross each pole once', () => {
    const poleHint = expect.stringContaining('insert vertices along edges over 180° of longitude or more') as string
    for (const [text, index] of [
      ['-180 -10, 0 -10, 180 -10, 180 10, 0 10, -180 10', 1],
      ['-180 60, 0 60, 180 60, 180 10, 90 10, 0 10, -90 10, -180 10', 1],
    ] as const) {
      const where = `geometry.coordinates[0][${index}]`
      expect(findRejection(polygon(text)), text).toEqual({ code: 'self-touch', where, hint: poleHint })
    }
    expect(findRejection(polygon('0 -10, 180 -10, 180 10, 0 10'))).toBeUndefined()
    expect(findRejection(polygon('-90 80, 90 80, 90 60, 0 50, -90 60'))).toBeUndefined()
  })

  it('are rejected when a vertex lies between two vertices on one pole, so that its edges run along one meridian', () => {
    expect(findRejection(polygon('10 90, 5 88, 0 90'))).toMatchObject({
      code: 'repeated-edge',
      where: 'geometry.coordinates[0][1]',
    })
    expect(findRejection(polygon('10 90, 10 88, 0 88, 0 90'))).toBeUndefined()
  })

  it('are rejected with a pointer to the edge as it was sent', () => {
    expect(findRejection(polygon('0 50, 60 50, 60 52, 30 52, 0 52'))?.where).toBe('geometry.coordinates[0][3]')
  })

  it('are rejected when a hole lies wholly outside, and measured when the edge has more vertices', () => {
    const hole = '25 50.5, 35 50.5, 35 51.5, 25 51.5'
    expect(findRejection(polygon('0 50, 60 50, 60 60, 0 60', hole))).toEqual({
      code: 'hole-outside-its-exterior-ring',
      where: 'geometry.coordinates[1][0]',
      hint,
    })
    const verticesAlong = Array.from({ length: 59 }, (_, index) => `${index + 1} 50`).join(', ')
    expect(findRejection(polygon(`0 50, ${verticesAlong}, 60 50, 60 60, 0 60`, hole))).toBeUndefined()
  })
})

const engine = {
  kernel,
  keccak: await createKeccak(),
  limits: { ...limits, maxWork: 1_000_000 },
}
const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })

/** Returns the result of an operation, a number or a truth value, or the code and detail of the error that rejects it. */
function runAndCatch(
  name: OperationName,
  geometries: Geometry[],
  radius?: number,
  prepared?: PreparedGeometries,
): unknown {
  const operands = geometries.map((geometry, index) => ({ geometry, path: [`g${index}`], ref: undefined }))
  try {
    const outcome = runOperation(
      OPERATIONS[name],
      operands,
      { radiusMeters: radius },
      prepared ? { ...engine, prepared } : engine,
    )
    if (outcome.kind === 'matrix') return outcome.matrix
    if (outcome.kind === 'geometry') return outcome.members
    return outcome.kind === 'numeric' ? Number(outcome.integer) : outcome.value
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const { code, detail } = error.data.invalidParts![0]!
    return { code, detail }
  }
}

describe('operations that measure', () => {
  // The geodesic from (0, 49) to (60, 49) passes 4° north of this hole.
  const shell = '0 49, 60 49, 60 50, 0 50'
  const hole = '29.9 49.4, 30.1 49.4, 30.1 49.6, 29.9 49.6'
  const inHole = point(30, 49.5)
  const rejection = {
    code: 'hole-outside-its-exterior-ring',
    detail: expect.stringContaining('beyond the geodesic from [0, 49] to [60, 49]') as string,
  }

  it('all reject a hole outside its geodesic exterior ring, in either order of the operands', () => {
    const band = polygon(shell, hole)
    expect(runAndCatch('area', [band])).toEqual(rejection)
    expect(runAndCatch('distance', [band, inHole])).toEqual(rejection)
    expect(runAndCatch('distance', [inHole, band])).toEqual(rejection)
    expect(runAndCatch('within', [band, inHole], 10_000)).toEqual(rejection)
    expect(runAndCatch('within', [inHole, band], 1e8)).toEqual(rejection)
    expect(runAndCatch('distance', [polygon(shell), inHole])).toBe(39_355_179)
  })

  it('reject a thin box whose geodesic edges bulge by its whole height and leave the hole outside', () => {
    const box = polygon(
      '0 50, 0.14 50, 0.14 50.00002, 0 50.00002',
      '0.05 50.000002, 0.09 50.000002, 0.09 50.000018, 0.05 50.000018',
    )
    expect(runAndCatch('area', [box])).toMatchObject({ code: 'hole-outside-its-exterior-ring' })
    expect(runAndCatch('distance', [box, inHole])).toMatchObject({ code: 'hole-outside-its-exterior-ring' })
  })

  it('reject a ring whose geodesic edges cross, which predicates accept', () => {
    const strip = polygon('0 50, 60 50, 60 52, 30 52, 0 52')
    const crossing = {
      code: 'self-intersection',
      detail: expect.stringContaining('self-intersection at [30, 52]') as string,
    }
    expect(runAndCatch('contains', [strip, point(30, 51)])).toBe(true)
    expect(runAndCatch('intersects', [strip, point(30, 51)])).toBe(true)
    expect(runAndCatch('distance', [strip, point(30, 51)])).toEqual(crossing)
    expect(runAndCatch('within', [point(30, 51), strip], 1)).toEqual(crossing)
    expect(runAndCatch('area', [strip])).toEqual(crossing)
  })

  it('reject invalid polygons in a collection, and check nothing but polygons', () => {
    const line: Geometry = {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [60, 50],
        [60, 0],
        [0, 50],
      ],
    }
    const collection = (...geometries: Geometry[]): Geometry => ({ type: 'GeometryCollection', geometries })
    expect(runAndCatch('distance', [collection(line, polygon(shell, hole)), inHole])).toEqual(rejection)
    expect(runAndCatch('distance', [collection(line, polygon(shell), polygon(hole)), inHole])).toBe(0)
  })

  it('reject a prepared geometry as they do the first time, whatever operation came before', () => {
    const verticesAlong = Array.from({ length: 70 }, (_, index) => `60 ${49 + (index + 1) / 71}`).join(', ')
    const band = polygon(`0 49, 60 49, ${verticesAlong}, 60 50, 0 50`, hole)
    const prepared = new PreparedGeometries(kernel, 1 << 20)
    for (let index = 0; index < 3; index++) {
      expect(runAndCatch('contains', [band, inHole], undefined, prepared)).toBe(false)
      expect(runAndCatch('distance', [band, inHole], undefined, prepared)).toEqual(rejection)
      expect(runAndCatch('within', [band, inHole], 5, prepared)).toEqual(rejection)
      expect(runAndCatch('area', [band], undefined, prepared)).toEqual(rejection)
    }
    expect(prepared.size).toBe(1)
  })

  it('reject a geometry whose check would need too much work', () => {
    const teeth = Array.from({ length: 200 }, (_, index) => `${index % 2 === 0 ? 0 : 60} ${40 + index / 1000}`).join(
      ', ',
    )
    const comb = polygon(`${teeth}, 61 41, 61 39`)
    const limited = { ...engine, limits: { ...engine.limits, maxWork: 100 } }
    const operands = [{ geometry: comb, path: ['g'], ref: undefined }]
    expect(() => runOperation(OPERATIONS.area, operands, {}, limited)).toThrow(
      'area needs too much work: 100 units of work were counted, and the limit is 100',
    )
  })
})

describe('a vertex on a straight edge of another ring', () => {
  // A square of `size` degrees whose hole touches the middle of its southern edge. That edge bulges to the north.
  const createTouching = (size: number, ...verticesAlong: string[]): Geometry =>
    polygon(
      [`0 50`, ...verticesAlong, `${size} 50, ${size} ${50 + size}, 0 ${50 + size}`].join(', '),
      `${size / 2} 50, ${0.7 * size} ${50 + 0.3 * size}, ${0.3 * size} ${50 + 0.3 * size}`,
    )

  it('is within the tolerance at the size of buildings', () => {
    // 70 m: 0.1 mm beyond the geodesic, and 10⁻⁸ m².
    expect(runAndCatch('area', [createTouching(0.001)])).toBe(74_960_931)
    expect(runAndCatch('distance', [createTouching(0.001), point(0.0005, 49.999)])).toBe(11_123)
  })

  it('is rejected if it lies more than 1 mm beyond the geodesic, unless the edge has a vertex there', () => {
    const rejection = {
      code: 'self-intersection',
      detail: expect.stringContaining('0.003 m beyond the geodesic') as string,
    }
    expect(runAndCatch('area', [createTouching(0.005)])).toEqual(rejection)
    expect(runAndCatch('distance', [createTouching(0.005), point(0, 0)])).toEqual(rejection)
    expect(runAndCatch('area', [createTouching(0.005, '0.0025 50')])).toBe(1_873_949_327)
    expect(runAndCatch('distance', [createTouching(0.005, '0.0025 50'), point(0.0025, 49.999)])).toBe(11_123)
  })

  it('is accepted where the geodesic bulges away from it', () => {
    expect(findRejection(polygon('0 50, 1 50, 1 49, 0 49', '0.5 50, 0.7 49.7, 0.3 49.7'))).toBeUndefined()
    expect(findRejection(multiPolygon('0 50, 1 50, 1 49, 0 49', '0.5 50, 0.7 50.3, 0.3 50.3'))).toBeDefined()
  })
})

describe('a polygon between the planar and the geodesic edges of another one', () => {
  it('is outside a strip on either side of it', () => {
    // Both long edges of the strip pass 4° north of the small polygon.
    expect(findRejection(multiPolygon('0 49, 60 49, 60 49.5, 0 49.5', '29 51, 31 51, 31 52, 29 52'))).toBeUndefined()
    expect(findRejection(multiPolygon('0 49, 60 49, 60 49.5, 0 49.5', '29 51, 31 51, 31 55, 29 55'))).toEqual(CROSSING)
    expect(findRejection(multiPolygon('0 49, 60 49, 60 53.3, 0 53.3', '29 54, 31 54, 31 55, 29 55'))).toMatchObject({
      code: 'overlapping-polygons',
    })
  })
})

describe('rings that do not cross as geodesics', () => {
  it.each([
    ['a box with long edges', polygon('0 50, 60 50, 60 60, 0 60')],
    ['a hole clear of them', polygon('0 50, 60 50, 60 60, 0 60', '25 55, 35 55, 35 56, 25 56')],
    ['a hole that touches at a vertex', polygon('0 0, 10 0, 10 40, 0 40', '10 40, 2 5, 5 5')],
    ['a peak just above the long edge', polygon('0 50, 60 50, 60 51, 31 56, 30 54.01, 29 56, 0 51')],
    ['a triangle 8000 km long and 40 m wide', polygon('0 10, 80 40, 80 40.0004')],
    ['a triangle whose long edges have different lengths', polygon('0 10, 80 40, 42 31.0001')],
    ['a ring around a pole', polygon('0 60, 120 60, -120 60')],
    ['a ring with a vertex on a pole', polygon('0 60, 120 60, 40 90')],
    ['an edge over a pole', polygon('0 80, 90 70, 180 80')],
    ['a quarter of the globe', polygon('0 0, 90 0, 17 90')],
    ['a box across the antimeridian', polygon('170 10, -170 10, -170 60, 170 60')],
    ['the same box cut in two', multiPolygon('170 10, 180 10, 180 60, 170 60', '-180 10, -170 10, -170 60, -180 60')],
    ['a ring along the equator', polygon('0 0, 90 0, 180 0, -90 0')],
  ])('are accepted: %s', (_, geometry) => {
    expect(findRejection(geometry)).toBeUndefined()
  })
})
