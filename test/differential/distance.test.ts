import { describe, expect, it } from 'vitest'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { type LonLat, oracleDistance } from '../distance-oracle.ts'
import { type RandomGeometry, randomGeometry, seededRandom, TYPES, walk } from '../random-geometry.ts'

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
    for (const size of SIZES) {
      for (const typeA of [...TYPES, ...TYPES]) {
        for (const typeB of TYPES) {
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
          count++
          if (expected === 0) touching++
        }
      }
    }
    console.log(`${place}: ${count} pairs, ${touching} touching, greatest error ${worst.toExponential(1)} m`)
  })
})
