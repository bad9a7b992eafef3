import { describe, expect, it } from 'vitest'
import { edgeTurn } from '../../src/geometry/edge-turn.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { orientation } from '../../src/topology/exact/exact.ts'
import { UndecidableError } from '../../src/topology/exact/undecidable.ts'
import { intersects } from '../../src/topology/intersects.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { oracleSide } from '../exact-oracle.ts'
import { at, box } from '../fixtures.ts'
import { seededNumbers } from '../near-touch-cases.ts'

const north = () => 1 as const
const south = () => -1 as const
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 50_000, maxParts: 10_000 })
const holds = (a: Geometry, b: Geometry) => contains(read(a), read(b), north)
const meets = (a: Geometry, b: Geometry) => intersects(read(a), read(b), north)

const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const points = (...coordinates: Position[]): Geometry => ({ type: 'MultiPoint', coordinates })
const line = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })
const lines = (...coordinates: Position[][]): Geometry => ({ type: 'MultiLineString', coordinates })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const multiPolygon = (...coordinates: Position[][][]): Geometry => ({ type: 'MultiPolygon', coordinates })
const collection = (first: Geometry, ...others: Geometry[]): Geometry => ({
  type: 'GeometryCollection',
  geometries: [first, ...others],
})
const square = polygon(box(0, 0, 10, 10))
const holed = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6))

describe('orientation', () => {
  it('has the exact sign at all magnitudes, even where products underflow', () => {
    // Expected values: computed with fractions of BigInts.
    const random = seededNumbers(5)
    const powers = [0, 0, 0, -1, -52, -60, -200, -398, -402, -600, -1022, -1060, -1074]
    const number = (): number => {
      if (random() < 0.1) return 0
      const size = random() < 0.5 ? Math.floor(random() * 8) : random() * 180
      return (random() < 0.5 ? -1 : 1) * size * 2 ** powers[Math.floor(random() * powers.length)]!
    }
    const mismatches: number[][] = []
    let zeros = 0
    for (let i = 0; i < 20_000; i++) {
      const [ax, ay, bx, by] = [number(), number(), number(), number()] as const
      const t = i % 2 === 0 ? 0.5 : random()
      const [cx, cy] = random() < 0.3 ? [number(), number()] : [ax + t * (bx - ax), ay + t * (by - ay)]
      const exactSign = oracleSide([ax, ay], [bx, by], [cx, cy])
      if (exactSign === 0) zeros++
      if (Math.sign(orientation(ax, ay, bx, by, cx, cy)) !== exactSign) mismatches.push([ax, ay, bx, by, cx, cy])
    }
    expect(mismatches).toEqual([])
    expect(zeros).toBeGreaterThan(1000)
  })
})

describe('intersects', () => {
  it('is true for two crossing lines that JTS calls disjoint', () => {
    // The smallest known case in which jsts 2.12.1 is wrong; exact fractions show that the lines meet.
    expect(meets(line([1.7, 4.7], [3.2, 3.0]), line([4.0, 4.6], [2.5, 1.6]))).toBe(true)
  })

  it('includes boundaries', () => {
    expect(meets(square, point(10, 5))).toBe(true)
    expect(meets(square, line([10, 10], [11, 11]))).toBe(true)
    expect(meets(square, polygon(box(10, 10, 11, 11)))).toBe(true)
    expect(meets(square, polygon(box(10.000001, 10, 11, 11)))).toBe(false)
  })

  it('is false in a hole and true around it', () => {
    expect(meets(holed, polygon(box(4.5, 4.5, 5.5, 5.5)))).toBe(false)
    expect(meets(holed, point(5, 5))).toBe(false)
    expect(meets(holed, polygon(box(4, 4, 6, 6)))).toBe(true)
    expect(meets(holed, polygon(box(3, 3, 7, 7)))).toBe(true)
  })

  it('treats each element of a collection separately', () => {
    expect(meets(collection(point(20, 20), line([-1, 5], [0, 5])), square)).toBe(true)
    expect(meets(collection(point(20, 20), line([-2, 5], [-1, 5])), square)).toBe(false)
    expect(meets(collection(square, polygon(box(5, 5, 15, 15))), point(12, 12))).toBe(true)
  })
})

describe('contains', () => {
  // Expected values: DE-9IM matrices worked out on paper.
  it('needs the interiors to meet: a geometry that lies only on the boundary is not contained', () => {
    expect(holds(square, point(5, 5))).toBe(true)
    expect(holds(square, point(0, 5))).toBe(false)
    expect(holds(square, points([0, 5], [5, 5]))).toBe(true)
    expect(holds(square, line([0, 0], [10, 0]))).toBe(false)
    expect(holds(square, line([0, 0], [10, 0], [5, 5]))).toBe(true)
    expect(holds(square, line([0, 0], [10, 0], [11, 0]))).toBe(false)
  })

  it('lets areas share boundaries', () => {
    expect(holds(square, square)).toBe(true)
    expect(holds(square, polygon(box(0, 0, 5, 5)))).toBe(true)
    expect(holds(square, polygon(box(0, 0, 5, 11)))).toBe(false)
    expect(holds(holed, polygon(box(4, 4, 6, 6)))).toBe(false)
    expect(holds(holed, polygon(box(3, 3, 7, 7)))).toBe(false)
    expect(holds(holed, polygon(box(6, 4, 8, 6)))).toBe(true)
    expect(holds(holed, holed)).toBe(true)
  })

  it('follows lines', () => {
    const bent = line([0, 0], [5, 0], [5, 5])
    expect(holds(bent, line([2, 0], [5, 0], [5, 1]))).toBe(true)
    expect(holds(bent, line([0, 0], [5, 5]))).toBe(false)
    expect(holds(bent, point(3, 0))).toBe(true)
    expect(holds(bent, point(0, 0))).toBe(false)
    expect(holds(bent, points([0, 0], [5, 5]))).toBe(false)
    expect(holds(bent, square)).toBe(false)
    // A line of zero length is the point where it lies.
    expect(holds(bent, line([3, 0], [3, 0]))).toBe(true)
    expect(holds(line([3, 0], [3, 0]), point(3, 0))).toBe(true)
  })

  it('determines the boundary of lines by the mod-2 rule', () => {
    const closed = line([0, 0], [5, 0], [5, 5], [0, 0])
    expect(holds(closed, point(0, 0))).toBe(true)
    expect(holds(lines(at('0 0, 5 0'), at('5 0, 9 0')), point(5, 0))).toBe(true)
    expect(holds(lines(at('0 0, 5 0'), at('5 0, 9 0'), at('5 0, 5 5')), point(5, 0))).toBe(false)
    expect(holds(lines(at('0 0, 9 0'), at('5 0, 5 5')), point(5, 0))).toBe(false)
    expect(holds(lines(at('0 0, 5 0'), at('5 0, 9 0')), line([1, 0], [8, 0]))).toBe(true)
  })

  it('compares points', () => {
    expect(holds(points([1, 1], [2, 2]), point(2, 2))).toBe(true)
    expect(holds(points([1, 1], [2, 2]), points([2, 2], [3, 3]))).toBe(false)
    expect(holds(point(1, 1), line([1, 1], [2, 2]))).toBe(false)
  })

  it('combines members of a MultiPolygon only where they touch', () => {
    const two = multiPolygon([box(0, 0, 5, 5)], [box(5, 5, 10, 10)])
    expect(holds(two, line([1, 1], [9, 9]))).toBe(true)
    expect(holds(two, line([1, 1], [9, 8]))).toBe(false)
    expect(holds(two, point(5, 5))).toBe(false)
    expect(holds(two, polygon(box(1, 1, 4, 4)))).toBe(true)
  })

  it('follows a line from one polygon of a MultiPolygon into another whose vertex touches its edge', () => {
    // Regression: the line crosses an edge of the first polygon, and that was taken as leaving the MultiPolygon.
    const two = multiPolygon([at('0 0, 2 0, 1 -1, 0 0')], [at('1 0, 2 1, 0 1, 1 0')])
    const through = line([1, -0.5], [1, 0.5])
    const withVertex = multiPolygon([at('0 0, 1 0, 2 0, 1 -1, 0 0')], [at('1 0, 2 1, 0 1, 1 0')])
    const asCollection = collection(polygon(at('0 0, 2 0, 1 -1, 0 0')), polygon(at('1 0, 2 1, 0 1, 1 0')))
    for (const container of [two, withVertex, asCollection]) {
      expect(holds(container, through)).toBe(true)
      expect(
        holds(container, lines(at('1 0.5, 1 -0.5') as Position[], at('0.5 -0.25, 1 0, 1 0.5') as Position[])),
      ).toBe(true)
      expect(holds(container, collection(through, point(1, 0.75)))).toBe(true)
      // Next to the touching point there is no polygon.
      expect(holds(container, line([1, -0.5], [1.5, 0.5]))).toBe(false)
      expect(holds(container, line([1.25, -0.5], [1.25, 0.5]))).toBe(false)
      // Lines that pass through the touching point and leave elsewhere.
      expect(holds(container, line([1, -0.5], [1, 1.5]))).toBe(false)
      expect(holds(container, lines(at('1 -0.5, 1 0.5') as Position[], at('0.5 -0.25, 0.5 0.25') as Position[]))).toBe(
        false,
      )
    }
  })

  it('follows a line into an island whose vertex touches the edge of its hole', () => {
    const shell = box(0, 0, 10, 10)
    const hole = box(2, 2, 8, 8)
    const island = at('5 2, 6 6, 4 6, 5 2')
    expect(holds(multiPolygon([shell, hole], [island]), line([5, 1], [5, 4]))).toBe(true)
    expect(holds(multiPolygon([island], [shell, hole]), line([5, 4], [5, 1]))).toBe(true)
    expect(holds(multiPolygon([shell, hole], [island]), line([5.5, 1], [5.5, 4]))).toBe(false)
    // Two touching points on one edge, and a crossing next to them.
    const other = at('3 2, 3.5 6, 2.5 6, 3 2')
    const both = multiPolygon([shell, hole], [island], [other])
    expect(holds(both, line([5, 4], [5, 1], [3, 1], [3, 4]))).toBe(true)
    expect(holds(both, line([5, 4], [5, 1], [4, 1], [4, 4]))).toBe(false)
    // A counter-example of the property tests.
    const members = multiPolygon([at('3 3, 4 3, 4 4, 3 3')], [box(1, 0, 5.5, 7), box(2, 2, 5, 4)])
    expect(holds(members, line([4.5, 4.5], [3, 3]))).toBe(true)
  })

  it('lets a line leave a single polygon where a hole touches the edge of its exterior ring or of another hole', () => {
    const touching = polygon(box(0, 0, 10, 10), at('5 0, 6 4, 4 4, 5 0'), at('5 4, 6 8, 4 8, 5 4'))
    expect(holds(touching, line([5, -1], [5, 1]))).toBe(false)
    expect(holds(touching, line([5, 3], [5, 5]))).toBe(false)
    expect(holds(touching, line([4.5, 3.5], [5.5, 6]))).toBe(false)
    expect(holds(touching, line([3, 4], [7, 4]))).toBe(true)
    expect(holds(touching, line([3, 3], [3, 9], [7, 9]))).toBe(true)
  })

  it('treats the elements of a collection as their union', () => {
    const halves = collection(polygon(box(0, 0, 5, 10)), polygon(box(5, 0, 10, 10)))
    expect(holds(halves, square)).toBe(true)
    expect(holds(halves, point(5, 5))).toBe(true)
    expect(holds(halves, point(5, 0))).toBe(false)
    expect(holds(halves, line([5, 1], [5, 9]))).toBe(true)
    const overlapping = collection(polygon(box(0, 0, 6, 10)), polygon(box(4, 2, 10, 8)))
    expect(holds(overlapping, polygon(at('1 1, 9 3, 2 8, 1 1')))).toBe(true)
    expect(holds(overlapping, polygon(at('1 1, 9 1, 2 8, 1 1')))).toBe(false)
    // Edges that cross at 0.3 and at 1/3, neither of which is a double.
    const crossing = collection(polygon(at('0 0, 9 3, 0 3, 0 0')), polygon(at('0 3, 9 0, 9 3, 0 3')))
    expect(holds(crossing, polygon(at('1 2, 8 2, 8 2.5, 1 2')))).toBe(true)
    expect(holds(crossing, polygon(at('1 2, 4.5 1.4, 8 2, 1 2')))).toBe(false)
    expect(holds(crossing, polygon(at('1 2, 4.5 1.5, 8 2, 1 2')))).toBe(true)
  })

  it('ranks polygons before lines and lines before points in a collection', () => {
    const mixed = collection(square, line([-5, 0], [15, 0]), point(20, 20))
    expect(holds(mixed, line([-5, 0], [15, 0]))).toBe(true)
    expect(holds(mixed, line([0, 0], [10, 0]))).toBe(false)
    expect(holds(mixed, line([12, 0], [14, 0]))).toBe(true)
    expect(holds(mixed, collection(point(20, 20), point(12, 0)))).toBe(true)
    expect(holds(mixed, point(5, 0))).toBe(false)
    expect(holds(mixed, point(15, 0))).toBe(false)
    expect(holds(square, collection(point(0, 0), line([0, 5], [5, 5])))).toBe(true)
  })

  it('throws instead of guessing when the decision would cost too much', () => {
    const random = seededNumbers(1)
    const scribble = line(...Array.from({ length: 3000 }, (): Position => [random() * 10, random() * 10]))
    expect(() => holds(scribble, scribble)).toThrow(UndecidableError)
    expect(holds(polygon(box(-1, -1, 11, 11)), scribble)).toBe(true)
  })
})

describe('longitude jumps', () => {
  it('are resolved to the short way exactly', () => {
    // Expected values: decided by the exact difference; 180 − (−1e-20) is more than 180 but rounds to 180.
    expect(edgeTurn(170, 0, -170, 0)).toBe(1)
    expect(edgeTurn(-170, 0, 170, 0)).toBe(-1)
    expect(edgeTurn(0, 0, 180, 0)).toBe(0)
    expect(edgeTurn(-1e-20, 0, 180, 0)).toBe(-1)
    expect(edgeTurn(1e-20, 0, 180, 0)).toBe(0)
    expect(edgeTurn(1e-20, 0, -180, 0)).toBe(1)
    expect(edgeTurn(180, 90, -180, 90)).toBe(0)
    expect(edgeTurn(180, 90, -180, 89)).toBe(1)
  })

  const uncut = polygon(at('170 0, -170 0, -170 10, 170 10, 170 0'))
  const cut = multiPolygon([box(170, 0, 180, 10)], [box(-180, 0, -170, 10)])

  it('join the parts of a polygon sent on both sides of 180', () => {
    for (const lon of [171, 180, -180, -171]) expect(holds(uncut, point(lon, 5))).toBe(true)
    for (const lon of [170, -170]) expect(holds(uncut, point(lon, 5))).toBe(false)
    for (const lon of [169, -169, 0]) expect(meets(uncut, point(lon, 5))).toBe(false)
    expect(holds(uncut, line([175, 5], [-175, 5]))).toBe(true)
    expect(holds(uncut, cut)).toBe(true)
    expect(holds(cut, uncut)).toBe(true)
  })

  it('are not needed: a geometry cut at ±180 is joined there, whichever side its parts and the other geometry name', () => {
    for (const lon of [180, -180]) {
      expect(holds(cut, point(lon, 5))).toBe(true)
      expect(holds(cut, point(lon, 0))).toBe(false)
      expect(meets(cut, point(lon, 0))).toBe(true)
      expect(meets(polygon(box(170, 0, 180, 10)), point(lon, 5))).toBe(true)
      expect(holds(polygon(box(170, 0, 180, 10)), point(lon, 5))).toBe(false)
    }
    expect(meets(point(180, 5), point(-180, 5))).toBe(true)
    expect(holds(point(180, 5), point(-180, 5))).toBe(true)
    expect(meets(polygon(box(170, 0, 180, 10)), polygon(box(-180, 5, -170, 6)))).toBe(true)
    expect(holds(cut, line([180, 1], [180, 9]))).toBe(true)
    expect(holds(cut, lines(at('175 5, 180 5'), at('-180 5, -175 5')))).toBe(true)
    // The boundary of a line that is cut: its two ends at the antimeridian are one interior point.
    expect(holds(lines(at('175 5, 180 5'), at('-180 5, -175 5')), point(180, 5))).toBe(true)
    expect(holds(line([175, 5], [-175, 5]), lines(at('175 5, 180 5'), at('-180 5, -175 5')))).toBe(true)
  })

  it('keep a hole on the other side of 180 in effect, in either operand', () => {
    // Regression: the hole of the second operand lay outside its exterior ring.
    const ring = polygon(at('170 0, -170 0, -170 10, 170 10, 170 0'), box(-178, 4, -174, 6))
    expect(meets(point(-176, 5), ring)).toBe(false)
    expect(meets(ring, point(-176, 5))).toBe(false)
    expect(meets(ring, point(-179, 5))).toBe(true)
  })

  it('close a ring through its pole', () => {
    const ring: Position[] = at('0 60, 90 60, 180 60, -90 60, 0 60')
    const cap = polygon(ring)
    expect(holds(cap, point(45, 70))).toBe(true)
    expect(holds(cap, point(0, 70))).toBe(true)
    expect(holds(cap, point(45, 50))).toBe(false)
    expect(holds(cap, polygon(at('0 70, 90 65, 180 80, -90 70, 0 70')))).toBe(true)
    expect(contains(read(cap), read(point(45, 50)), south)).toBe(true)
    expect(contains(read(cap), read(point(45, 70)), south)).toBe(false)
  })

  it('treat a pole as one point at all longitudes', () => {
    const uncutCap = polygon(at('-180 60, -90 60, 0 60, 90 60, -180 60'))
    const cutCap = polygon(at('-180 60, -90 60, 0 60, 90 60, 180 60, 180 90, -180 90, -180 60'))
    for (const cap of [uncutCap, cutCap]) {
      for (const lon of [0, 50, 180, -180]) expect(holds(cap, point(lon, 90))).toBe(true)
      for (const lon of [180, -180]) expect(holds(cap, point(lon, 70))).toBe(true)
      expect(holds(cap, line([0, 75], [0, 90], [180, 90], [180, 75]))).toBe(true)
      expect(holds(cap, line([20, 90], [70, 90]))).toBe(true)
      expect(meets(cap, line([20, -90], [70, -90]))).toBe(false)
    }
    expect(holds(uncutCap, cutCap) && holds(cutCap, uncutCap)).toBe(true)
    expect(meets(point(0, 90), point(50, 90))).toBe(true)
    expect(meets(point(0, 90), point(0, -90))).toBe(false)
    // A sector ends at the pole, so the pole is on its boundary. Four sectors surround the pole.
    const sectors = [-180, -90, 0, 90].map((west) => polygon(box(west, 60, west + 90, 90)))
    for (const sector of sectors) {
      expect(holds(sector, point(33, 90))).toBe(false)
      expect(meets(sector, point(33, 90))).toBe(true)
    }
    expect(meets(polygon(box(10, 60, 20, 90)), polygon(box(30, 60, 40, 90)))).toBe(true)
    expect(holds(collection(sectors[0]!, ...sectors.slice(1)), point(33, 90))).toBe(true)
    expect(holds(collection(sectors[0]!, ...sectors.slice(1, 3)), point(33, 90))).toBe(false)
    // Lines that meet at the pole: two ends there cancel out.
    expect(holds(lines(at('0 80, 0 90'), at('50 90, 50 80')), point(7, 90))).toBe(true)
    expect(holds(line([0, 80], [0, 90]), point(7, 90))).toBe(false)
  })

  it('keep a pole outside of the polygon when a hole surrounds it', () => {
    // Regression: the edge that closes the hole over the pole counted as part of the polygon.
    const uncut = polygon(at('-180 60, -90 60, 0 60, 90 60, -180 60'), at('0 80, 90 80, 180 80, -90 80, 0 80'))
    const cut = polygon(at('-180 60, -90 60, 0 60, 90 60, 180 60, 180 80, 90 80, 0 80, -90 80, -180 80, -180 60'))
    for (const ring of [uncut, cut]) {
      for (const lon of [0, 180, -180]) {
        expect(meets(ring, point(lon, 85))).toBe(false)
        expect(meets(ring, point(lon, 90))).toBe(false)
        expect(meets(ring, line([lon, 82], [lon, 88]))).toBe(false)
        expect(holds(ring, point(lon, 70))).toBe(true)
      }
      expect(meets(ring, polygon(at('-180 85, -90 85, 0 85, 90 85, -180 85')))).toBe(false)
    }
    expect(holds(uncut, cut) && holds(cut, uncut)).toBe(true)
  })

  // Regression: the edge that closes the exterior ring over its pole counted as part of the polygon inside the hole too.
  it('exclude everything inside a hole around a pole', () => {
    const around = (lat: number): Position[] => at(`-170 ${lat}, -80 ${lat}, 10 ${lat}, 100 ${lat}, -170 ${lat}`)
    for (const side of [1, -1]) {
      const poleOf = side > 0 ? north : south
      const ring = polygon(around(60 * side), around(80 * side))
      const inHole = [
        line([-175, 85 * side], [-165, 85 * side], [-100, 86 * side]),
        polygon(at(`-175 ${85 * side}, -165 ${85 * side}, -165 ${87 * side}, -175 ${85 * side}`)),
      ]
      for (const other of inHole) {
        expect(intersects(read(ring), read(other), poleOf)).toBe(false)
        expect(intersects(read(other), read(ring), poleOf)).toBe(false)
      }
      const across = line([-175, 85 * side], [-165, 70 * side])
      expect(intersects(read(ring), read(across), poleOf)).toBe(true)
    }
  })

  it('are exact for longitudes that lose bits when a turn is added', () => {
    // (−1e-20) + 360 rounds to 360: as doubles both positions would be equal.
    const thin = polygon(at('100 0, -100 0, -1e-20 10, -100 20, 100 20, 100 0'))
    expect(meets(thin, point(-1e-20, 10))).toBe(true)
    expect(meets(thin, point(0, 10))).toBe(false)
  })
})
