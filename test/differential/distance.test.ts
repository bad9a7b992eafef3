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
const uniform = (low: number, high: number) => low + (high - low) * random()
const anyPosition = (): LonLat => [uniform(-180, 180), (Math.asin(uniform(-1, 1)) * 180) / Math.PI]

/** Generators of the centres of two geometries, for a given size in metres. */
const CENTRE_PAIRS: Record<string, (size: number) => [LonLat, LonLat]> = {
  'side by side': (size) => {
    const centre = anyPosition()
    return [centre, walk(centre, 360 * random(), Math.min(1.9e7, size * uniform(0, 2) ** 2))]
  },
  'far apart': () => [anyPosition(), anyPosition()],
  'around a pole': (size) => {
    const pole: LonLat = [uniform(-180, 180), random() < 0.5 ? 90 : -90]
    return [walk(pole, 360 * random(), size * random()), walk(pole, 360 * random(), Math.min(9e6, 3 * size) * random())]
  },
  'over the antimeridian': (size) => {
    const centre: LonLat = [random() < 0.5 ? 180 : -180, uniform(-75, 75)]
    return [centre, walk(centre, 360 * random(), Math.min(9e6, size * uniform(0, 2) ** 2))]
  },
  'nearly antipodal': (size) => {
    const centre = anyPosition()
    const antipode: LonLat = [centre[0] <= 0 ? centre[0] + 180 : centre[0] - 180, -centre[1]]
    return [centre, walk(antipode, 360 * random(), Math.min(5e5, size) * random())]
  },
  'a quarter of the globe apart': () => {
    // At this distance, the distance to an edge may have several minima.
    const centre = anyPosition()
    return [centre, walk(centre, 360 * random(), uniform(9.9e6, 10.1e6))]
  },
}
const SIZES = [10, 300, 1e4, 3e5, 2e6, 15e6]
const TOLERANCE_METERS = 1e-3

describe.each(Object.keys(CENTRE_PAIRS))('distance of geometries %s', (arrangement) => {
  it('is within 1 mm of brute force for every pair of types at every size', () => {
    let worst = 0
    let touching = 0
    let count = 0
    // Two cases for every pair of types at every size.
    for (; count < scaled(2 * SIZES.length * TYPES.length ** 2); count++) {
      const size = SIZES[count % SIZES.length]!
      const pair = Math.floor(count / SIZES.length)
      const typeA = TYPES[pair % TYPES.length]!
      const typeB = TYPES[(pair + Math.floor(pair / TYPES.length)) % TYPES.length]!
      const [centreA, centreB] = CENTRE_PAIRS[arrangement]!(size)
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
    console.log(`${arrangement}: ${count} pairs, ${touching} touching, largest error ${worst.toExponential(1)} m`)
  })
})

describe('distance of a point and a short edge', () => {
  // Lengths in metres on both sides of the limits between the kernel's methods: positions in space, series, nearest position.
  const LENGTHS = [3, 100, 3000, 9900, 10_100]
  // Metres. Below 10 cm the step size of the golden-section search would dominate the error.
  const DISTANCES = [0.1, 1, 100, 3000, 9900, 10_100, 50_000, 99_000, 101_000, 300_000, 510_000]

  it.each([
    ['anywhere', anyPosition],
    ['around the poles', (): LonLat => [uniform(-180, 180), (random() < 0.5 ? 1 : -1) * (90 - uniform(0, 0.1) ** 2)]],
    ['over the antimeridian', (): LonLat => [random() < 0.5 ? 180 : -180, uniform(-80, 80)]],
  ])('is within 20 nm of a golden-section search %s', (_, randomPosition) => {
    let worst = 0
    for (const length of LENGTHS) {
      for (const separationMeters of DISTANCES) {
        for (let trial = 0; trial < 6; trial++) {
          const from = randomPosition()
          const azimuth = 360 * random()
          const to = walk(from, azimuth, length)
          // Beside the edge or beyond its ends.
          const point = walk(walk(from, azimuth, length * uniform(-0.3, 1.3)), 360 * random(), separationMeters)
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
    console.log(`short edges: largest error ${worst.toExponential(1)} m`)
    expect(worst).toBeLessThanOrEqual(2e-8)
  })
})

describe('distance of geometries of 150 vertices', () => {
  /** A star with an outline like a coast. Every tenth edge may be much longer than the others. */
  const coastline = (centre: LonLat, size: number): Shape => {
    const ring = Array.from({ length: 150 }, (_, index) => {
      const wave = 0.2 * Math.sin(index / 3) + 0.1 * Math.sin(index * 1.7)
      return walk(centre, (360 * index) / 150, size * (0.7 + wave - (index % 10 === 0 ? 0.3 * random() : 0)))
    })
    return { points: [], lines: [], polygons: [{ rings: [[...ring, ring[0]!]], reference: centre, isInside: true }] }
  }
  const track = (centre: LonLat, size: number): Shape => {
    let current = walk(centre, 360 * random(), size)
    const positions = Array.from({ length: 150 }, () => {
      current = walk(current, 360 * random(), (size / 15) * random() ** 3)
      return current
    })
    return { points: [], lines: [positions], polygons: [] }
  }
  const cloud = (centre: LonLat, size: number): Shape => ({
    points: Array.from({ length: 150 }, () => walk(centre, 360 * random(), size * Math.sqrt(random()))),
    lines: [],
    polygons: [],
  })
  const toGeometry = ({ points, lines, polygons }: Shape): Geometry => {
    const list = (positions: readonly LonLat[]) => positions.map(([lon, lat]): Position => [lon, lat])
    if (points.length > 0) return { type: 'MultiPoint', coordinates: list(points) }
    if (lines.length > 0) return { type: 'MultiLineString', coordinates: lines.map(list) }
    return { type: 'MultiPolygon', coordinates: polygons.map(({ rings }) => rings.map(list)) }
  }

  it.each([
    ['neighbouring geometries', 1.6],
    ['geometries at eight times their size', 8],
    ['geometries thousands of kilometres apart', 0],
    ['geometries on opposite sides of the globe', -1],
  ])('is within 1 mm of brute force between %s', (relation, sizesApart) => {
    let worst = 0
    const kinds = [coastline, track, cloud]
    const sizes = [100, 5e4, 1e6]
    for (let index = 0; index < scaled(sizes.length * kinds.length); index++) {
      const size = sizes[Math.floor(index / kinds.length)]!
      const kindA = kinds[index % kinds.length]!
      const kindB = kinds[(index + Math.round(2 * random())) % kinds.length]!
      const centre = anyPosition()
      const antipode: LonLat = [centre[0] <= 0 ? centre[0] + 180 : centre[0] - 180, -centre[1]]
      const otherCentre =
        sizesApart > 0
          ? walk(centre, 360 * random(), sizesApart * size)
          : walk(sizesApart < 0 ? antipode : centre, 360 * random(), sizesApart < 0 ? size : uniform(4e6, 1.6e7))
      const a = kindA(centre, size)
      const b = kindB(otherCentre, size)
      const actual = distanceMeters(kernel, flat(toGeometry(a)), flat(toGeometry(b)), 1e6)
      worst = Math.max(worst, Math.abs(actual - oracleDistance(a, b)))
    }
    console.log(`150 vertices, ${relation}: largest error ${worst.toExponential(1)} m`)
    expect(worst).toBeLessThanOrEqual(TOLERANCE_METERS)
  })
})
