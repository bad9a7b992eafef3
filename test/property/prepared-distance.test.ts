import { describe, expect, it } from 'vitest'
import { toScaledInteger } from '../../src/base/units.ts'
import { distanceMeters, isWithinCentimeters } from '../../src/geodesy/distance.ts'
import { type PreparedDistance, prepareDistance } from '../../src/geodesy/prepared-distance.ts'
import type { FlatGeometry } from '../../src/geometry/flat.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { checkedBase64 } from '../../src/wasm/generated/checked.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { simdBase64 } from '../../src/wasm/generated/simd.ts'
import { compileModule, instantiateKernel } from '../../src/wasm/loader.ts'
import type { LonLat } from '../distance-oracle.ts'
import { randomGeometry, seededRandom, TYPES, walk } from '../random-geometry.ts'

const kernel = instantiateKernel(compileModule(simdBase64))
const LIMIT = 1e6

/** Pairs of geometries of any types, 1 m to 10,000 km in size, at any distance from 0 to antipodal. Some of them intersect. */
function* pairs(seed: number, count: number): Generator<readonly [FlatGeometry, FlatGeometry]> {
  const random = seededRandom(seed)
  const type = () => TYPES[Math.floor(TYPES.length * random())]!
  for (let pair = 0; pair < count; pair++) {
    const size = 10 ** (7 * random())
    const isFar = random() < 0.2
    const centre: LonLat = random() < 0.2 ? [180, 180 * random() - 90] : [360 * random() - 180, 180 * random() - 90]
    const separationMeters = isFar ? 2e7 * random() : Math.min(1.9e7, 4 * size * random())
    const otherCentre = walk(centre, 360 * random(), separationMeters)
    const first = randomGeometry(random, type(), centre, size)
    const second = randomGeometry(random, type(), otherCentre, size * (random() < 0.3 ? 0.1 : 1))
    yield [flat(first.geometry), flat(second.geometry)]
  }
}

const flat = (geometry: Parameters<typeof readGeometry>[0]) =>
  readGeometry(geometry, [], { maxVertices: 50_000, maxParts: 10_000 })

function withPrepared<T>(geometries: readonly FlatGeometry[], use: (prepared: PreparedDistance[]) => T): T {
  const prepared = geometries.map((geometry) => prepareDistance(kernel, geometry)!)
  try {
    return use(prepared)
  } finally {
    for (const geometry of prepared) geometry.release()
  }
}

describe('a prepared geometry', () => {
  it('has the same distances as an unprepared one, to the last bit, in either order', () => {
    for (const [a, b] of pairs(20260801, 2000)) {
      const expected = distanceMeters(kernel, a, b, LIMIT)
      withPrepared([a, b], ([p, q]) => {
        const actual = [
          distanceMeters(kernel, p!, b, LIMIT),
          distanceMeters(kernel, b, p!, LIMIT),
          distanceMeters(kernel, a, q!, LIMIT),
          distanceMeters(kernel, q!, p!, LIMIT),
          distanceMeters(kernel, p!, q!, LIMIT),
        ]
        expect(actual).toEqual(actual.map(() => expected))
      })
    }
  })
})

describe('within a radius', () => {
  it('agrees with the rounded distance, for radii near the distance and for random radii', () => {
    const random = seededRandom(20260802)
    let compared = 0
    for (const [a, b] of pairs(20260803, 3000)) {
      const meters = distanceMeters(kernel, a, b, LIMIT)
      const distanceCm = toScaledInteger(meters, 100)
      const radii = new Set([
        distanceCm,
        distanceCm - 1n,
        distanceCm + 1n,
        // Radii just above and below the distance: their rounding decides ties.
        toScaledInteger(meters + 1e-7, 100),
        toScaledInteger(Math.max(0, meters - 1e-7), 100),
        toScaledInteger(2 * random() * meters, 100),
        toScaledInteger(meters * (1 + 1e-4 * (random() - 0.5)), 100),
        BigInt(Math.floor(10 ** (10 * random()))),
      ])
      for (const radiusCm of radii) {
        if (radiusCm < 0n) continue
        compared++
        const actual = isWithinCentimeters(kernel, a, b, radiusCm, LIMIT)
        if (actual !== distanceCm <= radiusCm) expect.fail(`${meters} m within ${radiusCm} cm: ${actual}`)
      }
    }
    expect(compared).toBeGreaterThan(10_000)
  })

  it('agrees with the rounded distance when the distance is within a nanometre of half a centimetre beyond the radius', () => {
    const random = seededRandom(20260804)
    const point = (lon: number, lat: number) => flat({ type: 'Point', coordinates: [lon, lat] })
    let near = 0
    for (let trial = 0; trial < 300; trial++) {
      const lat = 180 * random() - 90
      const origin = point(0, lat)
      const radiusCm = BigInt(Math.floor(10 ** (7 * random())))
      const tie = (Number(radiusCm) + 0.5) / 100
      // Finds the latitude at which the distance passes the tie, by bisection.
      let low = 0
      let high = 1
      for (let step = 0; step < 80; step++) {
        const middle = (low + high) / 2
        const to = lat + (lat < 0 ? middle : -middle)
        if (distanceMeters(kernel, origin, point(0, to), LIMIT) < tie) low = middle
        else high = middle
      }
      for (const offset of [low, high]) {
        const to = point(0, lat + (lat < 0 ? offset : -offset))
        const meters = distanceMeters(kernel, origin, to, LIMIT)
        if (Math.abs(meters - tie) < 1e-8) near++
        expect(isWithinCentimeters(kernel, origin, to, radiusCm, LIMIT)).toBe(toScaledInteger(meters, 100) <= radiusCm)
      }
    }
    expect(near).toBeGreaterThan(500)
  })
})

describe('the builds of the kernel', () => {
  it('give the same bits of a distance, and satisfy their assertions', () => {
    const others = [scalarBase64, checkedBase64].map((base64) => instantiateKernel(compileModule(base64)))
    for (const [a, b] of pairs(20260805, 1500)) {
      const expected = distanceMeters(kernel, a, b, LIMIT)
      const work = kernel.workDone()
      for (const otherCentre of others) {
        expect(distanceMeters(otherCentre, a, b, LIMIT)).toBe(expected)
        expect(otherCentre.workDone()).toBe(work)
      }
    }
  })
})
