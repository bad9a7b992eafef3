import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { countWork, Work } from '../../src/base/work.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { PreparedGeometries } from '../../src/compute/prepared-geometries.ts'
import { runOperation } from '../../src/compute/run.ts'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { EAST, SQUARE } from '../fixtures.ts'
import { engine, kernel } from '../geometry-answers.ts'

const point = (...coordinates: Position): Geometry => ({ type: 'Point', coordinates })
const line = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const several = (...geometries: Geometry[]): Geometry => ({ type: 'GeometryCollection', geometries })
const box = (west: number, south: number, east: number, north: number): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

function ask(name: 'contains' | 'intersects', a: Geometry, b: Geometry): boolean | string {
  const operands = [a, b].map((geometry, i) => ({ geometry, path: [OPERATIONS[name].inputs[i]!], ref: undefined }))
  try {
    const outcome = runOperation(OPERATIONS[name], operands, { edges: 'geodesic' }, engine)
    return outcome.kind === 'boolean' && outcome.value
  } catch (error) {
    if (error instanceof ProblemError) return error.data.invalidParts?.[0]?.code ?? error.data.type
    throw error
  }
}
const flat = (geometry: Geometry) => readGeometry(geometry, [], engine.limits)
const contains = (a: Geometry, b: Geometry) => ask('contains', a, b)
const intersects = (a: Geometry, b: Geometry) => ask('intersects', a, b)
const UNDECIDED = 'within-margin'

/** In the middle of the geodesic along the south edge of `SQUARE`, to within a nanometre: geographiclib-geodesic 2.2.0. */
const ON_SOUTH_EDGE = point(2.5, 48.00108814025104)
/** The two halves of a box over longitude 180, as RFC 7946 cuts it. */
const FIJI: Geometry = { type: 'MultiPolygon', coordinates: [[box(177, -20, 180, -15)], [box(-180, -20, -178, -15)]] }
const CAP = polygon([
  [0, 80],
  [90, 80],
  [180, 80],
  [-90, 80],
  [0, 80],
])
/** The same cap, cut along longitude 180 up to the pole. */
const CUT_CAP = polygon([
  [-180, 80],
  [-90, 80],
  [0, 80],
  [90, 80],
  [180, 80],
  [180, 90],
  [-180, 90],
  [-180, 80],
])

describe('an edge of more than 10,000 km', () => {
  it('is not apart from what touches it', () => {
    const touching: readonly (readonly [Geometry, Geometry])[] = [
      [line([10, 42.80437343418802], [180, -1]), line([180, 0], [180, -89])],
      [line([10, 42.80437343418802], [180, -1e-9]), line([180, 0], [10, -90])],
      [line([0, 0], [102.80643941965252, 0]), line([90, 0], [0, 8.220447058892077])],
      [line([0, 0], [102.80643941965252, 0]), line([89, 0], [0, 8.220447058892077])],
      [line([10, 1e-9], [10, 90]), line([10, 1.1966277804209824], [10, -90])],
      [line([-180, 0], [-180, -1e-9]), line([180, 90], [-180, -48.507617916216894])],
      [line([0, 0], [150, 0]), point(77, 0)],
    ]
    for (const [a, b] of touching) {
      expect(intersects(a, b)).toBe(UNDECIDED)
      expect(intersects(b, a)).toBe(UNDECIDED)
    }
    const triangle = polygon([
      [0, 0],
      [150, 0],
      [75, 40],
      [0, 0],
    ])
    for (let lon = 1; lon < 150; lon++) expect([lon, contains(triangle, point(lon, 0))]).toEqual([lon, UNDECIDED])
    expect(contains(triangle, point(75, 1e-6))).toBe(true)
    expect(contains(triangle, point(75, -1e-6))).toBe(false)
  })
})

describe('contains on geodesic edges', () => {
  it('follows the bulge of an edge, to the north on the northern hemisphere and to the south on the southern', () => {
    // The geodesic from (0, 50) to (10, 50) is at 50.1078° in the middle: geographiclib-geodesic 2.2.0.
    expect(contains(polygon(box(0, 49, 10, 50)), point(5, 50.1))).toBe(true)
    expect(contains(polygon(box(0, 49, 10, 50)), point(5, 50.12))).toBe(false)
    expect(contains(polygon(box(0, 49, 10, 50)), point(5, 49.05))).toBe(false)
    expect(contains(polygon(box(0, -50, 10, -49)), point(5, -50.1))).toBe(true)
    expect(contains(polygon(box(0, -50, 10, -49)), point(5, -49.05))).toBe(false)
  })

  it('is false for what lies only on the boundary, where vertices show it', () => {
    expect(contains(SQUARE, point(2, 48))).toBe(false)
    expect(
      contains(SQUARE, {
        type: 'MultiPoint',
        coordinates: [
          [2, 48],
          [2.5, 48.5],
        ],
      }),
    ).toBe(true)
    expect(contains(SQUARE, point(2, 48.5))).toBe(false)
    expect(contains(SQUARE, line([2, 48], [2, 49]))).toBe(false)
    expect(contains(SQUARE, ON_SOUTH_EDGE)).toBe(UNDECIDED)
  })

  it('decides for lines and polygons that leave the container between their vertices', () => {
    const bay = polygon([
      [0, 0],
      [10, 0],
      [10, 10],
      [6, 10],
      [6, 2],
      [4, 2],
      [4, 10],
      [0, 10],
      [0, 0],
    ])
    expect(contains(bay, line([1, 8], [9, 8]))).toBe(false)
    expect(contains(bay, line([1, 1], [9, 1]))).toBe(true)
    expect(contains(bay, polygon(box(1, 0.5, 9, 8)))).toBe(false)
    const ring = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6))
    expect(contains(ring, polygon(box(1, 1, 9, 9)))).toBe(false)
    expect(contains(ring, polygon(box(1, 1, 9, 9), box(3, 3, 7, 7)))).toBe(true)
    expect(contains(ring, point(5, 5))).toBe(false)
    expect(contains(ring, line([1, 5], [9, 5]))).toBe(false)
  })

  it('contains itself, but no larger and no other dimension', () => {
    for (const each of [SQUARE, FIJI, CAP, line([0, 0], [5, 5]), point(1, 1), several(point(1, 1), SQUARE)])
      expect(contains(each, each)).toBe(true)
    expect(contains(line([0, 0], [5, 5]), SQUARE)).toBe(false)
    expect(contains(point(0, 0), line([0, 0], [5, 5]))).toBe(false)
    expect(contains(polygon(box(1, 1, 2, 2)), polygon(box(0, 0, 3, 3)))).toBe(false)
  })

  it('compares lines by their vertices', () => {
    const road = line([0, 0], [5, 5], [9, 1])
    expect(contains(road, line([9, 1], [5, 5]))).toBe(true)
    expect(contains(road, point(5, 5))).toBe(true)
    expect(contains(road, point(9, 1))).toBe(false)
    expect(contains(road, line([0, 0], [9, 1]))).toBe(false)
    expect(contains(line([0, 10], [0, 20]), line([0, 12], [0, 15]))).toBe(true)
    expect(contains(line([2, 48], [3, 48]), ON_SOUTH_EDGE)).toBe(UNDECIDED)
    expect(contains(road, { type: 'MultiPoint', coordinates: [[1, 2]] })).toBe(false)
  })

  it('takes lines of no length as points', () => {
    const spot = line([1, 1], [1, 1])
    expect(contains(spot, spot)).toBe(true)
    expect(contains(point(1, 1), spot)).toBe(true)
    expect(contains(SQUARE, line([2.5, 48.5], [2.5, 48.5]))).toBe(true)
    expect(intersects(SQUARE, line([2.5, 48.5], [2.5, 48.5]))).toBe(true)
    expect(intersects(SQUARE, line([5, 48.5], [5, 48.5]))).toBe(false)
  })

  it('takes points as they are', () => {
    const points: Geometry = {
      type: 'MultiPoint',
      coordinates: [
        [1, 1],
        [180, 2],
        [7, 90],
      ],
    }
    expect(contains(points, point(-180, 2))).toBe(true)
    expect(contains(points, point(99, 90))).toBe(true)
    expect(contains(points, point(1, 1.0000001))).toBe(false)
  })

  it('takes the halves of a polygon cut at longitude 180 as one', () => {
    expect(contains(FIJI, line([179, -17], [-179, -17]))).toBe(true)
    expect(contains(FIJI, point(180, -17))).toBe(true)
    expect(contains(FIJI, point(-180, -17))).toBe(true)
    expect(contains(FIJI, polygon(box(179, -18, -179, -16)))).toBe(true)
    expect(contains(FIJI, line([179, -17], [-177, -17]))).toBe(false)
    const uneven: Geometry = {
      type: 'MultiPolygon',
      coordinates: [[box(177, -20, 180, -15)], [box(-180, -18, -178, -15)]],
    }
    expect(contains(uneven, line([179, -17], [-179, -17]))).toBe(true)
    expect(contains(uneven, line([179, -19], [-179, -16.8]))).toBe(true)
    expect(contains(uneven, line([179, -19], [-179, -18.5]))).toBe(false)
    expect(contains(uneven, point(180, -19))).toBe(UNDECIDED)
  })

  it.each([
    ['around a pole', CAP],
    ['cut along longitude 180', CUT_CAP],
    ['in a collection', several(CUT_CAP)],
  ])('takes a cap %s', (_, cap) => {
    expect(contains(cap, point(17, 90))).toBe(true)
    expect(contains(cap, point(180, 85))).toBe(true)
    expect(contains(cap, line([170, 85], [-170, 85]))).toBe(true)
    expect(contains(cap, line([10, 88], [-170, 88]))).toBe(true)
    expect(
      contains(
        cap,
        polygon([
          [0, 88],
          [120, 88],
          [-120, 88],
          [0, 88],
        ]),
      ),
    ).toBe(true)
    // Geodesics between vertices 90° apart run far north of the parallel.
    expect(contains(cap, point(45, 81))).toBe(false)
    expect(contains(cap, point(45, 83))).toBe(true)
    expect(contains(cap, point(45, -90))).toBe(false)
  })

  it('takes a polygon whose edge passes over a pole', () => {
    const half = polygon([
      [0, 80],
      [180, 80],
      [-90, 80],
      [0, 80],
    ])
    expect(contains(half, point(-90, 85))).toBe(true)
    expect(contains(half, point(90, 85))).toBe(false)
    expect(contains(half, point(0, 90))).toBe(UNDECIDED)
  })

  it('takes polygons of a collection as their union', () => {
    const two = several(polygon(box(0, 0, 5, 5)), polygon(box(4, 0, 9, 5)))
    expect(contains(two, point(4.5, 2))).toBe(true)
    expect(contains(two, polygon(box(6, 1, 8, 4)))).toBe(true)
    expect(contains(two, line([1, 2], [12, 2]))).toBe(false)
    // It crosses edges that lie inside of the union.
    expect(contains(two, line([1, 2], [8, 2]))).toBe(UNDECIDED)
    // One that is written twice.
    const twice = several(polygon(box(170, 0, 180, 5)), polygon(box(170, 0, 180, 5)))
    expect(contains(twice, point(180, 2))).toBe(UNDECIDED)
    expect(contains(twice, line([179, 2], [-179, 2]))).toBe(false)
  })

  it('is undecided for edges near an antipode', () => {
    expect(
      contains(
        polygon([
          [0, 0],
          [100, 10],
          [179.9, 0.1],
          [0, 0],
        ]),
        point(50, 20),
      ),
    ).toBe(UNDECIDED)
    expect(intersects(line([0, 0], [180, 0]), line([90, -10], [90, 10]))).toBe(UNDECIDED)
    expect(intersects(line([0, 0], [165, 0]), line([90, -10], [90, 10]))).toBe(true)
  })
})

it('gives the same answers and counts the same work for prepared geometries', () => {
  const ring = Array.from({ length: 200 }, (_, i): Position => {
    const turn = (2 * Math.PI * i) / 200
    return [10 + 5 * Math.cos(turn) * (1 + 0.3 * Math.sin(9 * turn)), 45 + 5 * Math.sin(turn)]
  })
  const shape = polygon([...ring, ring[0]!])
  const others = [
    point(10, 45),
    point(30, 45),
    point(...ring[7]!),
    line([10, 45], [20, 50]),
    polygon(box(9, 44, 11, 46)),
  ]
  const prepared = new PreparedGeometries(kernel, 1 << 22)
  for (const name of ['contains', 'intersects'] as const) {
    for (const other of others) {
      const outcomes = [undefined, prepared, prepared, prepared].map((cache) => {
        const operands = [shape, other].map((geometry, i) => {
          return { geometry, path: [OPERATIONS[name].inputs[i]!], ref: undefined }
        })
        const work = new Work(Number.POSITIVE_INFINITY)
        const context = { ...engine, ...(cache === undefined ? {} : { prepared: cache }) }
        const outcome = countWork(work, () => runOperation(OPERATIONS[name], operands, { edges: 'geodesic' }, context))
        return { outcome, work: work.done }
      })
      for (const each of outcomes.slice(1)) expect(each).toEqual(outcomes[0])
    }
  }
  expect(prepared.size).toBe(1)
  // Evicting it frees the kernel's memory.
  const entry = prepared.find(javascriptKeccak().hashHex(Buffer.from(canonicalGeometry(shape))), flat(shape))!
  expect(entry.release()).toBe(true)
  expect(entry.release()).toBe(false)
  expect(contains(shape, point(10, 45))).toBe(true)
})

describe('intersects on geodesic edges', () => {
  it('meets where geodesics cross, whatever straight lines do', () => {
    const parallel = line([0, 50], [90, 50])
    // The geodesic is at 59.3° in the middle.
    expect(intersects(parallel, line([45, 55], [45, 65]))).toBe(true)
    expect(intersects(parallel, line([45, 45], [45, 55]))).toBe(false)
    expect(intersects(line([-150, 60], [30, 60]), line([10, 80], [50, 80]))).toBe(true)
    expect(intersects(line([-150, 60], [30, 60]), line([40, 80], [80, 80]))).toBe(false)
  })

  it('meets at a vertex that both have', () => {
    expect(intersects(SQUARE, EAST)).toBe(true)
    expect(intersects(point(180, 5), line([-180, 5], [-170, 5]))).toBe(true)
    expect(intersects(point(12, 90), line([50, 90], [50, 80]))).toBe(true)
    expect(intersects(SQUARE, point(2, 48.5))).toBe(true)
    expect(intersects(SQUARE, ON_SOUTH_EDGE)).toBe(UNDECIDED)
  })

  it('compares shared vertices and edges exactly', () => {
    const [west, middle] = [polygon(box(0, 40, 1, 41)), polygon(box(1, 40, 2, 41))]
    const both: Geometry = { type: 'MultiPolygon', coordinates: [[box(0, 40, 1, 41)], [box(5, 40, 6, 41)]] }
    expect(intersects(west, middle)).toBe(true)
    expect(contains(west, middle)).toBe(false)
    expect(contains(both, west)).toBe(true)
    expect(contains(west, both)).toBe(false)
    // A corner of the box cut off: both share two edges and two vertices.
    expect(
      contains(
        west,
        polygon([
          [0, 40],
          [1, 40],
          [1, 41],
          [0, 40],
        ]),
      ),
    ).toBe(true)
    expect(
      contains(
        west,
        polygon([
          [0, 40],
          [1, 40],
          [1, 42],
          [0, 40],
        ]),
      ),
    ).toBe(false)
    expect(contains(several(west, middle), line([0.5, 40.5], [1.5, 40.5]))).toBe(true)
    expect(contains(several(west, middle), line([0.5, 40.5], [2.5, 40.5]))).toBe(false)
    // The geodesic along the south edge runs north of the straight one, over the vertex between them.
    const chord = polygon([
      [0, 40],
      [2, 40],
      [2, 41],
      [0, 41],
      [0, 40],
    ])
    expect(contains(chord, middle)).toBe(false)
    expect(
      contains(
        polygon([
          [0, 40],
          [1, 40],
          [2, 40],
          [2, 41],
          [1, 41],
          [0, 41],
          [0, 40],
        ]),
        middle,
      ),
    ).toBe(true)
  })

  it('decides for polygons that cross without holding vertices of each other', () => {
    expect(intersects(polygon(box(0, 4, 10, 6)), polygon(box(4, 0, 6, 10)))).toBe(true)
    expect(intersects(polygon(box(0, 0, 10, 10), box(2, 2, 8, 8)), polygon(box(3, 3, 7, 7)))).toBe(false)
    expect(intersects(polygon(box(0, 0, 10, 10)), polygon(box(3, 3, 7, 7)))).toBe(true)
  })

  it('does not take edges on one geodesic for crossing edges', () => {
    // Regression: the error of azimuths decided, and two edges 2,823 m apart had the distance 0.
    const first = line([-92.04868109526517, 27.914261504967815], [-91.32637782965067, 29.83795729048552])
    const second = line([-91.317123129931, 29.86211636572451], [-90.18901121805418, 32.71459685601324])
    expect(intersects(first, second)).toBe(false)
  })

  it('knows an offset of 2 µm', () => {
    const lat = kernel.directDegrees(48, 2, 0, 50_000)
    kernel.directDegrees(lat, 2, 90, 2e-6)
    const beside = kernel.arrivalLon()
    expect(intersects(line([2, 48], [2, 49]), line([beside, lat], [3, lat]))).toBe(false)
    kernel.directDegrees(lat, 2, -90, 2e-6)
    expect(intersects(line([2, 48], [2, 49]), line([kernel.arrivalLon(), lat], [3, lat]))).toBe(true)
  })
})
