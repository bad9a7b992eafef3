import { describe, expect, it } from 'vitest'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { type LonLat, oracleDistance, type Shape } from '../distance-oracle.ts'
import { type RandomGeometry, randomGeometry, seededRandom, TYPES, walk } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const kernel = loadKernel()
const flat = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 50_000, maxParts: 10_000 })
const distance = (a: RandomGeometry, b: RandomGeometry) =>
  distanceMeters(kernel, flat(a.geometry), flat(b.geometry), 1e6)

const random = seededRandom(20260728)
const between = (low: number, high: number) => low + (high - low) * random()
const anywhere = (): LonLat => [between(-180, 180), (Math.asin(between(-1, 1)) * 180) / Math.PI]

/** Where the first geometry stands and where the second, for geometries of some size. */
const PLACES: Record<string, (size: number) => [LonLat, LonLat]> = {
  'side by side': (size) => {
    const centre = anywhere()
    return [centre, walk(centre, 360 * random(), Math.min(1.9e7, size * between(0, 2) ** 2))]
  },
  'far apart': () => [anywhere(), anywhere()],
  'around a pole': (size) => {
    const pole: LonLat = [between(-180, 180), random() < 0.5 ? 90 : -90]
    return [walk(pole, 360 * random(), size * random()), walk(pole, 360 * random(), Math.min(9e6, 3 * size) * random())]
  },
  'over the antimeridian': (size) => {
    const centre: LonLat = [random() < 0.5 ? 180 : -180, between(-75, 75)]
    return [centre, walk(centre, 360 * random(), Math.min(9e6, size * between(0, 2) ** 2))]
  },
  'nearly antipodal': (size) => {
    const centre = anywhere()
    const antipode: LonLat = [centre[0] <= 0 ? centre[0] + 180 : centre[0] - 180, -centre[1]]
    return [centre, walk(antipode, 360 * random(), Math.min(5e5, size) * random())]
  },
  'a quarter of the globe apart': () => {
    // Where the distance to an edge may have several minima.
    const centre = anywhere()
    return [centre, walk(centre, 360 * random(), between(9.9e6, 10.1e6))]
  },
}
const SIZES = [10, 300, 1e4, 3e5, 2e6, 15e6]
const TOLERANCE_METERS = 1e-3

describe.each(Object.keys(PLACES))('distance of geometries %s', (place) => {
  it('is within 1 mm of brute force for every pair of types at every size', () => {
    let worst = 0
    let touching = 0
    let count = 0
    // Twice for every pair of types at every size.
    for (; count < scaled(2 * SIZES.length * TYPES.length ** 2); count++) {
      const size = SIZES[count % SIZES.length]!
      const pair = Math.floor(count / SIZES.length)
      const typeA = TYPES[pair % TYPES.length]!
      const typeB = TYPES[(pair + Math.floor(pair / TYPES.length)) % TYPES.length]!
      const [centreA, centreB] = PLACES[place]!(size)
      const a = randomGeometry(random, typeA, centreA, size)
      const b = randomGeometry(random, typeB, centreB, size * (random() < 0.3 ? 0.1 : 1))
      const expected = oracleDistance(a.shape, b.shape)
      const actual = distance(a, b)
      const error = Math.abs(actual - expected)
      if (!(error <= TOLERANCE_METERS)) {
        const report = JSON.stringify({ size, a: a.geometry, b: b.geometry })
        expect.fail(`${actual} instead of ${expected}: ${report}`)
      }
      worst = Math.max(worst, error)
      if (expected === 0) touching++
    }
    console.log(`${place}: ${count} pairs, ${touching} touching, greatest error ${worst.toExponential(1)} m`)
  })
})

describe('distance of a point and a short edge', () => {
  // The ranges in which edges are measured from positions in space, with series, and by their nearest place.
  const LENGTHS = [3, 100, 3000, 9900, 10_100]
  // From 10 cm on: nearer the section's own steps show.
  const DISTANCES = [0.1, 1, 100, 3000, 9900, 10_100, 50_000, 99_000, 101_000, 300_000, 510_000]

  it.each([
    ['anywhere', anywhere],
    ['around the poles', (): LonLat => [between(-180, 180), (random() < 0.5 ? 1 : -1) * (90 - between(0, 0.1) ** 2)]],
    ['over the antimeridian', (): LonLat => [random() < 0.5 ? 180 : -180, between(-80, 80)]],
  ])('is within 20 nm of golden section %s', (_, place) => {
    let worst = 0
    for (const length of LENGTHS) {
      for (const apart of DISTANCES) {
        for (let trial = 0; trial < 6; trial++) {
          const from = place()
          const azimuth = 360 * random()
          const to = walk(from, azimuth, length)
          // Beside the edge, and beyond its ends.
          const point = walk(walk(from, azimuth, length * between(-0.3, 1.3)), 360 * random(), apart)
          const expected = oracleDistance(
            { points: [point], lines: [], polygons: [] },
            { points: [], lines: [[from, to]], polygons: [] },
          )
          const actual = distanceMeters(
            kernel,
            flat({ type: 'Point', coordinates: [point[0], point[1]] }),
            flat({ type: 'LineString', coordinates: [from, to].map(([lon, lat]): Position => [lon, lat]) }),
            1000,
          )
          worst = Math.max(worst, Math.abs(actual - expected))
        }
      }
    }
    console.log(`short edges: greatest error ${worst.toExponential(1)} m`)
    expect(worst).toBeLessThanOrEqual(2e-8)
  })
})

describe('distance of geometries of 150 vertices', () => {
  /** A star with a coast-like outline; every tenth edge may be much longer than the others. */
  const coast = (centre: LonLat, size: number): Shape => {
    const ring = Array.from({ length: 150 }, (_, index) => {
      const wave = 0.2 * Math.sin(index / 3) + 0.1 * Math.sin(index * 1.7)
      return walk(centre, (360 * index) / 150, size * (0.7 + wave - (index % 10 === 0 ? 0.3 * random() : 0)))
    })
    return { points: [], lines: [], polygons: [{ rings: [[...ring, ring[0]!]], reference: centre, isInside: true }] }
  }
  const track = (centre: LonLat, size: number): Shape => {
    let at = walk(centre, 360 * random(), size)
    const positions = Array.from({ length: 150 }, () => {
      at = walk(at, 360 * random(), (size / 15) * random() ** 3)
      return at
    })
    return { points: [], lines: [positions], polygons: [] }
  }
  const cloud = (centre: LonLat, size: number): Shape => ({
    points: Array.from({ length: 150 }, () => walk(centre, 360 * random(), size * Math.sqrt(random()))),
    lines: [],
    polygons: [],
  })
  const geometryOf = ({ points, lines, polygons }: Shape): Geometry => {
    const list = (positions: readonly LonLat[]) => positions.map(([lon, lat]): Position => [lon, lat])
    if (points.length > 0) return { type: 'MultiPoint', coordinates: list(points) }
    if (lines.length > 0) return { type: 'MultiLineString', coordinates: lines.map(list) }
    return { type: 'MultiPolygon', coordinates: polygons.map(({ rings }) => rings.map(list)) }
  }

  it.each([
    ['neighbours', 1.6],
    ['some sizes apart', 8],
    ['thousands of kilometres apart', 0],
    ['on opposite sides of the globe', -1],
  ])('is within 1 mm of brute force between %s', (relation, apart) => {
    let worst = 0
    const kinds = [coast, track, cloud]
    const sizes = [100, 5e4, 1e6]
    for (let index = 0; index < scaled(sizes.length * kinds.length); index++) {
      const size = sizes[Math.floor(index / kinds.length)]!
      const kindA = kinds[index % kinds.length]!
      const kindB = kinds[(index + Math.round(2 * random())) % kinds.length]!
      const centre = anywhere()
      const antipode: LonLat = [centre[0] <= 0 ? centre[0] + 180 : centre[0] - 180, -centre[1]]
      const other =
        apart > 0
          ? walk(centre, 360 * random(), apart * size)
          : walk(apart < 0 ? antipode : centre, 360 * random(), apart < 0 ? size : between(4e6, 1.6e7))
      const a = kindA(centre, size)
      const b = kindB(other, size)
      const actual = distanceMeters(kernel, flat(geometryOf(a)), flat(geometryOf(b)), 1e6)
      worst = Math.max(worst, Math.abs(actual - oracleDistance(a, b)))
    }
    console.log(`150 vertices, ${relation}: greatest error ${worst.toExponential(1)} m`)
    expect(worst).toBeLessThanOrEqual(TOLERANCE_METERS)
  })
})
