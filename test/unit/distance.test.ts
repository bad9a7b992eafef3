import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { WorkLimitError } from '../../src/base/work.ts'
import { distanceMeters, isWithinCentimeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { box } from '../fixtures.ts'

const kernel = loadKernel()
const flat = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 50_000, maxParts: 10_000 })
const distance = (a: Geometry, b: Geometry, limit = 1e6) => distanceMeters(kernel, flat(a), flat(b), limit)
const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const line = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const collection = (first: Geometry, ...others: Geometry[]): Geometry => ({
  type: 'GeometryCollection',
  geometries: [first, ...others],
})
// geographiclib-geodesic is an independent implementation.
const inverse = (lon1: number, lat1: number, lon2: number, lat2: number) =>
  geodesic.Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2).s12!

const square = polygon(box(0, 0, 10, 10))
const withHole = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6))

describe('distance between points and lines', () => {
  it('is the geodesic between two points', () => {
    expect(distance(point(2.3522, 48.8566), point(-0.1276, 51.5072))).toBeCloseTo(
      inverse(2.3522, 48.8566, -0.1276, 51.5072),
      7,
    )
  })

  it('is exactly 0 for a point on an edge along a meridian or the equator, or on a vertex', () => {
    expect(distance(point(10, 5.3), line([10, 0], [10, 10]))).toBe(0)
    expect(distance(point(-180, 5.3), line([180, 0], [-180, 10]))).toBe(0)
    expect(distance(point(5.3, 0), line([0, 0], [10, 0]))).toBe(0)
    expect(distance(point(-179.3, 0), line([175, 0], [-175, 0]))).toBe(0)
    expect(distance(point(100, 85), line([10, 80], [-170, 80]))).toBeGreaterThan(0)
    expect(distance(point(-170, 85), line([10, 80], [-170, 80]))).toBe(0)
    expect(distance(point(12, 90), line([10, 80], [-170, 80]))).toBe(0)
    expect(distance(point(33, 70), line([33, 60], [120, 90]))).toBe(0)
    expect(distance(point(3.1, 4.2), line([0, 0], [3.1, 4.2], [7, 7]))).toBe(0)
  })

  it('is 0 for a point on an oblique edge, up to rounding', () => {
    const { WGS84 } = geodesic.Geodesic
    const edge = WGS84.InverseLine(10, 20, 60, 130)
    for (const fraction of [0.1, 0.35, 0.5, 0.9]) {
      const { lat2, lon2 } = edge.Position(fraction * edge.s13!)
      expect(distance(point(lon2!, lat2!), line([20, 10], [130, 60]))).toBeLessThan(1e-8)
    }
  })

  it('is measured to the interior of an edge where that is nearer than its vertices', () => {
    // The nearest point of the equator is due south, along the meridian.
    expect(distance(point(0.5, 0.5), line([0, 0], [1, 0]))).toBeCloseTo(inverse(0.5, 0.5, 0.5, 0), 8)
  })

  it('follows the geodesic, not the parallel', () => {
    // From 90° west to 90° east at 60° the geodesic goes over the pole.
    expect(distance(point(0, 90), line([-90, 60], [90, 60]))).toBe(0)
    expect(distance(point(45, 85), line([0, 60], [90, 60]))).toBeLessThan(distance(point(45, 85), point(45, 60)))
  })

  it('finds the smallest of several minima along an edge a quarter of the globe away', () => {
    // From near the pole all points of the equator are almost equally far. The point due south is nearest.
    expect(distance(point(30, 89.99), line([0, 0], [170, 0]))).toBeCloseTo(inverse(30, 89.99, 30, 0), 5)
    expect(distance(point(-30, 89.99), line([0, 0], [170, 0]))).toBeCloseTo(inverse(-30, 89.99, 0, 0), 5)
    expect(distance(point(0, 90), line([0, 0], [170, 0]))).toBeCloseTo(inverse(0, 90, 0, 0), 6)
  })

  it('is 0 for lines that cross, however long', () => {
    expect(distance(line([0, 0], [1, 1]), line([0, 1], [1, 0]))).toBe(0)
    expect(distance(line([-100, 10], [60, 20]), line([0, -80], [10, 89]))).toBe(0)
    expect(distance(line([179.99, 0.3], [-179.99, 0.4]), line([180, 0], [-180, 1]))).toBe(0)
  })

  it('is 0 for long lines that cross in the middle of both', () => {
    // Regression: both were halved at the crossing, and the pieces only touched.
    expect(distance(line([180, -45], [180, 90]), line([-135, -45], [135, 45]))).toBe(0)
    expect(distance(line([-45, 0], [45, 0]), line([0, -45], [0, 45]))).toBe(0)
    expect(distance(line([-120, 60], [120, -60]), line([180, -60], [180, 60]))).toBe(0)
  })

  it('is positive for lines whose great circles cross only on the far side of the globe', () => {
    expect(distance(line([-10, 0], [10, 0]), line([180, -10], [180, 10]))).toBeCloseTo(inverse(10, 0, 180, 10), 6)
  })

  it('does not need distinct vertices', () => {
    const degenerate = line([5, 5], [5, 5], [5, 5])
    expect(distance(degenerate, degenerate)).toBe(0)
    expect(distance(degenerate, point(6, 6))).toBe(distance(point(5, 5), point(6, 6)))
    expect(distance(degenerate, line([6, 6], [6, 6]))).toBe(distance(point(5, 5), point(6, 6)))
  })

  it('to a line of length 0 equals the distance to its point, also in a collection with lines and polygons', () => {
    // Regression: such a line was compared with only the first vertex of the other line, and dropped as too far away.
    const scaled = (geometry: Geometry): Geometry =>
      JSON.parse(JSON.stringify(geometry), (_, value) => (typeof value === 'number' ? value * 2 ** -16 : value))
    const pairs: readonly (readonly [Geometry, Geometry])[] = [
      [line([1, 5], [4, 2]), line([3.5, 2.5], [3.5, 2.5])],
      [
        collection(
          polygon([
            [7, 8],
            [7, 5],
            [7, 2],
            [4, 1],
            [3, 1],
            [7, 8],
          ] as Position[]),
          line([3, 7], [3, 7], [3, 7]),
        ),
        line([5, 9], [2, 6]),
      ],
    ]
    for (const [a, b] of pairs.map(([p, q]) => [scaled(p), scaled(q)] as const)) {
      expect(distance(a, b)).toBeLessThan(1e-8)
      expect(distance(b, a)).toBeLessThan(1e-8)
      for (const radius of [1n, 10n, 1000n]) {
        expect(isWithinCentimeters(kernel, flat(a), flat(b), radius, 1e6)).toBe(true)
        expect(isWithinCentimeters(kernel, flat(b), flat(a), radius, 1e6)).toBe(true)
      }
    }
  })
})

describe('distance to polygons', () => {
  it('is 0 inside and positive in a hole', () => {
    expect(distance(point(1, 1), withHole)).toBe(0)
    expect(distance(point(5, 5), square)).toBe(0)
    expect(distance(point(5, 5), withHole)).toBeCloseTo(distance(point(5, 5), line(...box(4, 4, 6, 6))), 9)
    expect(distance(point(5, 5), withHole)).toBeGreaterThan(110_000)
  })

  it('is 0 on the boundary, also of a hole', () => {
    expect(distance(point(0, 3.3), withHole)).toBe(0)
    expect(distance(point(4, 4.7), withHole)).toBe(0)
    expect(distance(point(10, 10), withHole)).toBe(0)
  })

  it('is 0 for a polygon inside another, in either order, and positive for one in its hole', () => {
    const inner = polygon(box(1, 1, 2, 2))
    expect(distance(inner, square)).toBe(0)
    expect(distance(square, inner)).toBe(0)
    const island = polygon(box(4.9, 4.9, 5.1, 5.1))
    expect(distance(island, withHole)).toBeGreaterThan(90_000)
    expect(distance(island, square)).toBe(0)
  })

  it('is 0 for polygons that touch at a vertex or along an edge, or overlap', () => {
    expect(distance(square, polygon(box(10, 10, 11, 11)))).toBe(0)
    expect(distance(square, polygon(box(10, 2, 11, 3)))).toBe(0)
    expect(distance(square, polygon(box(9, -1, 11, 11)))).toBe(0)
  })

  it('considers every member of multi geometries and collections', () => {
    const scattered: Geometry = {
      type: 'MultiPoint',
      coordinates: [
        [20, 20],
        [5, 5],
        [-20, 3],
      ],
    }
    expect(distance(scattered, square)).toBe(0)
    expect(distance(scattered, withHole)).toBe(distance(point(5, 5), withHole))
    const twoSquares: Geometry = {
      type: 'MultiPolygon',
      coordinates: [[box(50, 50, 51, 51)], [box(4, 4, 6, 6)]],
    }
    expect(distance({ type: 'GeometryCollection', geometries: [point(30, 30), withHole] }, twoSquares)).toBe(0)
  })
})

describe('the interior of a ring', () => {
  const createCap = (lat: number): Geometry =>
    polygon([
      [0, lat],
      [120, lat],
      [-120, lat],
      [0, lat],
    ])

  it('is the smaller one for a ring around a pole', () => {
    expect(distance(point(77, 90), createCap(80))).toBe(0)
    expect(distance(point(77, 86), createCap(80))).toBe(0)
    expect(distance(point(77, 60), createCap(80))).toBeGreaterThan(1e6)
    expect(distance(point(77, -90), createCap(-80))).toBe(0)
    expect(distance(point(77, 90), createCap(-80))).toBeGreaterThan(1e7)
  })

  it('is the side with the pole when a vertex lies on that pole', () => {
    // Maps cut at the antimeridian write everything north of about 10° south this way: down the cut, along, up the cut.
    const withPole = polygon([
      [-180, 90],
      [-180, -10],
      [-90, -10],
      [0, -10],
      [90, -10],
      [180, -10],
      [180, 90],
      [-180, 90],
    ])
    expect(distance(point(33, 50), withPole)).toBe(0)
    expect(distance(point(33, -60), withPole)).toBeGreaterThan(5e6)
  })

  it('is otherwise the side without poles, even when it is the larger one', () => {
    // A crescent from 80° south to 80° north over 300° of longitude.
    const crescent = polygon([
      [-150, -80],
      [-50, -80],
      [50, -80],
      [150, -80],
      [150, 80],
      [50, 80],
      [-50, 80],
      [-150, 80],
      [-150, -80],
    ])
    expect(distance(point(0, 0), crescent)).toBe(0)
    expect(distance(point(180, 0), crescent)).toBeGreaterThan(3e6)
    expect(distance(point(0, 90), crescent)).toBeGreaterThan(4e5)
  })

  it('does not depend on orientation or on the first vertex', () => {
    const ring = box(3, 4, 8, 9)
    const rotated = [...ring.slice(2), ring[1]!, ring[2]!]
    for (const other of [point(5, 5), point(9.7, 9.3), line([0, 0], [20, 5])]) {
      const expected = distance(polygon(ring), other)
      expect(distance(polygon([...ring].reverse()), other)).toBe(expected)
      expect(distance(polygon(rotated), other)).toBe(expected)
    }
  })

  it('is the same for a ring across the antimeridian, in one piece or cut in two', () => {
    const whole = polygon([
      [170, -10],
      [-170, -10],
      [-170, 10],
      [170, 10],
      [170, -10],
    ])
    const cut: Geometry = {
      type: 'MultiPolygon',
      coordinates: [
        // The cut passes through the points where the geodesic edges cross the antimeridian.
        [
          [
            [170, -10],
            [180, latitudeAt180(-10)],
            [180, latitudeAt180(10)],
            [170, 10],
            [170, -10],
          ],
        ],
        [
          [
            [-180, latitudeAt180(-10)],
            [-170, -10],
            [-170, 10],
            [-180, latitudeAt180(10)],
            [-180, latitudeAt180(-10)],
          ],
        ],
      ],
    }
    for (const [lon, lat] of [
      [180, 0],
      [-180, 3],
      [175, -9.99],
      [-170.5, 9],
      [160, 0],
      [-150, 20],
      [180, 30],
      [0, 0],
    ]) {
      expect(distance(point(lon!, lat!), cut)).toBeCloseTo(distance(point(lon!, lat!), whole), 6)
    }
  })

  it('counts a vertex on the meridian of the point once', () => {
    const diamond = polygon([
      [0, -5],
      [5, 0],
      [0, 5],
      [-5, 0],
      [0, -5],
    ])
    expect(distance(point(0, 0), diamond)).toBe(0)
    expect(distance(point(0, 6), diamond)).toBeCloseTo(inverse(0, 6, 0, 5), 7)
    expect(distance(point(0, -6), diamond)).toBeCloseTo(inverse(0, -6, 0, -5), 7)
    const far = polygon([
      [180, -5],
      [-175, 0],
      [-180, 5],
      [175, 0],
      [180, -5],
    ])
    for (const lon of [180, -180]) {
      expect(distance(point(lon, 0), far)).toBe(0)
      expect(distance(point(lon, -6), far)).toBeCloseTo(inverse(180, -6, 180, -5), 7)
    }
  })
})

describe('the work limit of a distance', () => {
  const circle = (radius: number): Position[] => {
    const open = Array.from({ length: 2000 }, (_, index): Position => {
      const { lat2, lon2 } = geodesic.Geodesic.WGS84.Direct(45, 10, (360 * index) / 2000, radius)
      return [lon2!, lat2!]
    })
    return [...open, open[0]!]
  }
  // All edges of the hole are equally near to its centre, so each needs an exact solution.
  const annulus = polygon(circle(100_000), circle(50_000))

  it('throws when it is reached, and leaves the kernel usable', () => {
    expect(() => distance(point(10, 45), annulus, 500)).toThrow(WorkLimitError)
    expect(distance(point(10, 45), annulus, 1e6)).toBeGreaterThan(49_999)
    expect(distance(point(0, 0), point(0, 1), 500)).toBeGreaterThan(110_000)
  })

  it('counts the solutions of the inverse problem', () => {
    distance({ type: 'MultiPoint', coordinates: [[0, 0]] }, point(1, 1))
    expect(kernel.workDone()).toBe(1)
    distance(point(10, 45), annulus)
    expect(kernel.workDone()).toBeGreaterThan(2000)
    expect(kernel.workDone()).toBeLessThan(10_000)
  })
})

it('measures two points with the same bits as the tree search does', () => {
  for (let index = 0; index < 5000; index++) {
    const scale = 10 ** -(index % 9)
    const [lon, lat] = [((index * 37.7) % 360) - 180, ((index * 17.3) % 180) - 90]
    const other: Position = [((index * 91.1) % 360) - 180, ((index * 71.9) % 180) - 90]
    const near: Position = [lon + (other[0] - lon) * scale, lat + (other[1] - lat) * scale]
    const direct = distance(point(lon, lat), { type: 'Point', coordinates: near })
    expect(
      distance({ type: 'MultiPoint', coordinates: [[lon, lat]] }, { type: 'MultiPoint', coordinates: [near] }),
    ).toBe(direct)
    expect(distance({ type: 'Point', coordinates: near }, point(lon, lat))).toBe(direct)
  }
})

describe('the work of a distance', () => {
  /** Returns the work of one distance: exact solutions, plus a sixteenth for each box examined. */
  const measureWork = (a: Geometry, b: Geometry) => {
    distance(a, b)
    return kernel.workDone()
  }
  /** A zigzag. A copy moved north runs between its teeth and never meets it. */
  const createComb = (count: number, north: number) =>
    line(...Array.from({ length: count }, (_, i): Position => [10 + 1e-4 * i, 45 + north + 0.01 * (i % 2)]))
  const createIsland = (lon: number, lat: number, count: number): Geometry => {
    const open = Array.from({ length: count }, (_, index): Position => {
      const radius = 1000 * (0.9 + 0.08 * Math.sin(index / 7))
      const { lat2, lon2 } = geodesic.Geodesic.WGS84.Direct(lat, lon, (360 * index) / count, radius)
      return [lon2!, lat2!]
    })
    return polygon([...open, open[0]!])
  }
  const createHouses = (side: number, shift: number): Geometry => ({
    type: 'MultiPolygon',
    // Takes every 7th house in 7 passes, so that neighbours in the text are not neighbours on the ground.
    coordinates: Array.from({ length: side * side }, (_, i) => (7 * i) % (side * side)).map((i) => {
      const west = 0.001 * (i % side) + shift
      const south = 45 + 0.001 * Math.floor(i / side) + shift
      return [box(west, south, west + 0.0003, south + 0.0003)]
    }),
  })

  it('grows with the sum of the vertex counts, not with their product', () => {
    const ratio =
      measureWork(createComb(8000, 0), createComb(8000, 0.002)) /
      measureWork(createComb(2000, 0), createComb(2000, 0.002))
    expect(ratio).toBeLessThan(6)
    const far =
      measureWork(createIsland(10, 45, 8000), createIsland(146, -25, 8000)) /
      measureWork(createIsland(10, 45, 2000), createIsland(146, -25, 2000))
    expect(far).toBeLessThan(6)
    const towns =
      measureWork(createHouses(50, 0), createHouses(50, 0.0005)) /
      measureWork(createHouses(25, 0), createHouses(25, 0.0005))
    expect(towns).toBeLessThan(6)
  })

  it('is a quarter of the default limit of 2,000,000 at most for the largest geometries', () => {
    expect(measureWork(createComb(25_000, 0), createComb(25_000, 0.002))).toBeLessThan(500_000)
    expect(measureWork(createIsland(10, 45, 25_000), createIsland(146, -25, 25_000))).toBeLessThan(500_000)
    expect(measureWork(createHouses(69, 0), createHouses(69, 0.0005))).toBeLessThan(500_000)
  })
})

/** Latitude where the geodesic from 170° to −170° at a given latitude meets the antimeridian: its midpoint. */
function latitudeAt180(lat: number): number {
  const edge = geodesic.Geodesic.WGS84.InverseLine(lat, 170, lat, -170)
  return edge.Position(edge.s13! / 2).lat2!
}
