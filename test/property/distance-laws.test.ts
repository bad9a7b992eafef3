import { describe, expect, it } from 'vitest'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { LonLat } from '../distance-oracle.ts'
import { type RandomGeometry, randomPair, seededRandom, walk } from '../random-geometry.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const kernel = loadKernel()
const flat = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 50_000, maxParts: 10_000 })
const distance = (a: Geometry, b: Geometry) => distanceMeters(kernel, flat(a), flat(b), 1e6)
const point = ([lon, lat]: LonLat): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const line = (positions: readonly LonLat[]): Geometry => ({
  type: 'LineString',
  coordinates: positions.map(([lon, lat]): Position => [lon, lat]),
})

const runs = { numRuns: scaled(1500) }
const lonLat: fc.Arbitrary<LonLat> = fc.tuple(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 90)),
)
const lonLatList = fc.array(lonLat, { minLength: 2, maxLength: 6 })
const pair = fc.integer({ min: 1, max: 2 ** 31 - 2 }).map(randomPair)

/** The same geometry with every position replaced. */
function mapPositions(geometry: Geometry, change: (position: Position) => Position): Geometry {
  const mapDeep = (value: unknown): unknown =>
    Array.isArray(value) ? (typeof value[0] === 'number' ? change(value as Position) : value.map(mapDeep)) : value
  return geometry.type === 'GeometryCollection'
    ? { ...geometry, geometries: geometry.geometries.map((member) => mapPositions(member, change)) }
    : ({ ...geometry, coordinates: mapDeep(geometry.coordinates) } as Geometry)
}

/** The same geometry with every line and ring rewritten. */
function mapSequences(
  geometry: Geometry,
  line: (positions: Position[]) => Position[],
  ring: (positions: Position[]) => Position[],
): Geometry {
  switch (geometry.type) {
    case 'LineString':
      return { ...geometry, coordinates: line(geometry.coordinates) }
    case 'MultiLineString':
      return { ...geometry, coordinates: geometry.coordinates.map(line) }
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map(ring) }
    case 'MultiPolygon':
      return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(ring)) }
    case 'GeometryCollection':
      return { ...geometry, geometries: geometry.geometries.map((member) => mapSequences(member, line, ring)) }
    default:
      return geometry
  }
}

const startAtNextVertex = (ring: Position[]) => [...ring.slice(1), ring[1]!]
const reverse = (positions: Position[]) => [...positions].reverse()
const unchanged = (positions: Position[]) => positions

describe('distance', () => {
  it('does not depend on the order of its arguments, to the last bit', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(distance(a.geometry, b.geometry)).toBe(distance(b.geometry, a.geometry))
      }),
      runs,
    )
    fc.assert(
      fc.property(lonLatList, lonLatList, (a, b) => {
        expect(distance(line(a), line(b))).toBe(distance(line(b), line(a)))
      }),
      runs,
    )
  })

  it('is 0 between a geometry and itself', () => {
    fc.assert(
      fc.property(pair, ([{ geometry }]) => {
        expect(distance(geometry, geometry)).toBe(0)
      }),
      runs,
    )
  })

  it('satisfies the triangle inequality between points', () => {
    fc.assert(
      fc.property(lonLat, lonLat, lonLat, (p, q, r) => {
        const direct = distance(point(p), point(r))
        expect(direct).toBeLessThanOrEqual(distance(point(p), point(q)) + distance(point(q), point(r)) + 3e-8)
      }),
      runs,
    )
  })

  it('to a line does not exceed the distance to its ends, and is smaller by at most the length of the line', () => {
    fc.assert(
      fc.property(lonLat, lonLat, lonLat, (p, q, r) => {
        const toLine = distance(point(p), line([q, r]))
        const toEnds = Math.min(distance(point(p), point(q)), distance(point(p), point(r)))
        expect(toLine).toBeLessThanOrEqual(toEnds + 2e-8)
        expect(toLine).toBeGreaterThanOrEqual(toEnds - distance(point(q), point(r)) / 2 - 2e-8)
      }),
      runs,
    )
  })

  it('does not depend on the start of a ring or on the direction of lines and rings', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const expected = distance(a.geometry, b.geometry)
        expect(distance(mapSequences(a.geometry, unchanged, startAtNextVertex), b.geometry)).toBeCloseTo(expected, 6)
        expect(distance(mapSequences(a.geometry, reverse, reverse), b.geometry)).toBeCloseTo(expected, 6)
      }),
      runs,
    )
  })

  it('does not change when both geometries are rotated about the axis', () => {
    const rotateBy = (by: number) => (position: Position) => {
      const lon = position[0] + by
      return [lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon, position[1]] as Position
    }
    fc.assert(
      fc.property(pair, fc.integer({ min: -180, max: 180 }), ([a, b], degrees) => {
        const rotated = distance(
          mapPositions(a.geometry, rotateBy(degrees)),
          mapPositions(b.geometry, rotateBy(degrees)),
        )
        expect(Math.abs(rotated - distance(a.geometry, b.geometry))).toBeLessThan(1e-6)
      }),
      runs,
    )
  })

  it('does not change when both geometries are mirrored north to south, or east to west', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const expected = distance(a.geometry, b.geometry)
        const flipLat = ([lon, lat]: Position): Position => [lon, -lat]
        const flipLon = ([lon, lat]: Position): Position => [-lon, lat]
        for (const mirror of [flipLat, flipLon]) {
          const mirrored = distance(mapPositions(a.geometry, mirror), mapPositions(b.geometry, mirror))
          expect(Math.abs(mirrored - expected)).toBeLessThan(1e-6)
        }
      }),
      runs,
    )
  })

  it('changes by less than 1 mm when a vertex is added on an edge', () => {
    fc.assert(
      fc.property(pair, fc.double({ min: 0.01, max: 0.99, noNaN: true }), ([a, b], share) => {
        const expected = distance(a.geometry, b.geometry)
        const divided = mapSequences(
          a.geometry,
          (positions) => divide(positions, share),
          (ring) => divide(ring, share),
        )
        expect(Math.abs(distance(divided, b.geometry) - expected)).toBeLessThan(1e-3)
      }),
      runs,
    )
  })

  it('of two edges on one geodesic is the gap between them', () => {
    // Regression: the error of azimuths decided on which sides their ends are, and edges kilometres apart had the distance 0.
    const random = seededRandom(20_261_127)
    for (let i = 0; i < scaled(40_000); i++) {
      const start: LonLat = [360 * random() - 180, 120 * random() - 60]
      const azimuth = 360 * random()
      const length = 10 ** (1 + 6 * random())
      const stops = [0, 0.4 * length, 0.4 * length + 0.02 * length * random() + 0.001, length]
      const places = stops.map((meters) => walk(start, azimuth, meters))
      const found = distance(line(places.slice(0, 2)), line(places.slice(2)))
      expect(Math.abs(found - (stops[2]! - stops[1]!)), JSON.stringify(places)).toBeLessThan(1e-6)
    }
  })

  it('to a collection is the smallest distance to its members', () => {
    fc.assert(
      fc.property(pair, pair, ([a, b], [c]) => {
        const members = [a, c].map(({ geometry }: RandomGeometry) => geometry)
        const least = Math.min(...members.map((member) => distance(member, b.geometry)))
        const whole = distance({ type: 'GeometryCollection', geometries: members }, b.geometry)
        expect(Math.abs(whole - least)).toBeLessThan(1e-6)
      }),
      runs,
    )
  })
})

/** Adds a vertex on the geodesic of the first edge, which `walk` finds to within nanometres of the kernel. */
function divide(positions: Position[], share: number): Position[] {
  const [from, to] = positions as [Position, Position, ...Position[]]
  kernel.inverse(from[1], from[0], to[1], to[0])
  const azimuth = (Math.atan2(kernel.salp1(), kernel.calp1()) * 180) / Math.PI
  const [lon, lat] = walk([from[0], from[1]], azimuth, share * kernel.s12())
  return [from, [lon, lat], ...positions.slice(1)]
}
