import { describe, expect, it } from 'vitest'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { lengthMeters } from '../../src/geodesy/length.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const kernel = loadKernel()
const limits = { maxVertices: 10_000, maxParts: 100 }
const NANOMETER = 1e-9
// 2π(a² + b² atanh(e)/e) of WGS 84, evaluated to 40 digits.
const ELLIPSOID = 510_065_621_724_088.5
const EARTH_RADIUS_METERS = 6_371_000

type Position = [lon: number, lat: number]

const multiPolygonArea = (...polygons: Position[][][]) =>
  areaSquareMeters(kernel, readGeometry({ type: 'MultiPolygon', coordinates: polygons } as Geometry, [], limits))
const ringArea = (ring: Position[]) => multiPolygonArea([[...ring, ring[0]!]])
const lineLength = (line: Position[]) =>
  lengthMeters(kernel, readGeometry({ type: 'LineString', coordinates: line } as Geometry, [], limits))
const distance = ([lon1, lat1]: Position, [lon2, lat2]: Position) => kernel.inverse(lat1, lon1, lat2, lon2)
const wrap = (lon: number) => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon)

/** The position at a fraction (0 to 1) of the geodesic from one position to another. */
function interpolate([lon1, lat1]: Position, [lon2, lat2]: Position, share: number): Position {
  const s12 = kernel.inverse(lat1, lon1, lat2, lon2)
  const lat = kernel.direct(lat1, lon1, kernel.salp1(), kernel.calp1(), s12 * share)
  return [kernel.arrivalLon(), Math.max(-90, Math.min(90, lat))]
}

const latitude = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.constantFrom(-90, -89.999999, -45, 0, 1e-9, 30, 45, 89.999999, 90),
)
const longitude = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, -90, 0, 90, 179.999999, 180),
)
const position = fc.tuple(longitude, latitude)
/** Multiples of 2⁻¹⁶°: adding 90° or 360° to them is exact. */
const dyadicLongitude = fc.integer({ min: -180 * 65536, max: 180 * 65536 }).map((n) => n / 65536)

/** A star-shaped ring around a centre; counter-clockwise, not closed. `maxMeters` bounds its radius. */
const star = (maxMeters: number, maxLatitude: number) =>
  fc
    .record({
      lon: longitude,
      lat: fc.double({ min: -maxLatitude, max: maxLatitude, noNaN: true }),
      meters: fc.double({ min: 0, max: 1, noNaN: true }).map((share) => 10 * (maxMeters / 10) ** share),
      shares: fc.array(fc.double({ min: 0.4, max: 1, noNaN: true }), { minLength: 4, maxLength: 40 }),
    })
    .map(({ lon, lat, meters, shares }) => {
      const ring = shares.map((share, corner): Position => {
        const azimuth = (-2 * Math.PI * corner) / shares.length
        const lat2 = kernel.direct(lat, lon, Math.sin(azimuth), Math.cos(azimuth), meters * share)
        return [kernel.arrivalLon(), lat2]
      })
      return { centre: [lon, lat] as Position, ring, meters }
    })

/**
 * The allowed difference in m² between two areas that should be equal: 1 cm² or 4·10⁻¹⁵ of the area, whichever is larger.
 * Positions that a test computed are rounded to 2 nm, which adds 2 nm times the lengths of the edges at them (`roundedMeters`).
 */
const tolerance = (area: number, roundedMeters = 0) => Math.max(1e-4, 4e-15 * area) + 2 * NANOMETER * roundedMeters

describe('the length of a geodesic', () => {
  it('is the same in both directions, to the last bit', () => {
    fc.assert(
      fc.property(position, position, (a, b) => {
        expect(distance(a, b)).toBe(distance(b, a))
      }),
      { numRuns: scaled(5000) },
    )
  })

  it('is the same when mirrored at the equator or at a meridian, to the last bit', () => {
    fc.assert(
      fc.property(position, position, ([lon1, lat1], [lon2, lat2]) => {
        const expected = distance([lon1, lat1], [lon2, lat2])
        expect(distance([lon1, -lat1], [lon2, -lat2])).toBe(expected)
        expect(distance([-lon1, lat1], [-lon2, lat2])).toBe(expected)
      }),
      { numRuns: scaled(5000) },
    )
  })

  it('does not change with the longitude of its start, to the last bit', () => {
    fc.assert(
      fc.property(
        dyadicLongitude,
        latitude,
        dyadicLongitude,
        latitude,
        dyadicLongitude,
        (lon1, lat1, lon2, lat2, by) => {
          const shifted = distance([wrap(lon1 + by), lat1], [wrap(lon2 + by), lat2])
          expect(shifted).toBe(distance([lon1, lat1], [lon2, lat2]))
        },
      ),
      { numRuns: scaled(5000) },
    )
  })

  it('does not exceed the length of any path through a third position', () => {
    fc.assert(
      fc.property(position, position, position, (a, b, c) => {
        expect(distance(a, c)).toBeLessThanOrEqual(distance(a, b) + distance(b, c) + 45 * NANOMETER)
      }),
      { numRuns: scaled(5000) },
    )
  })

  it('is zero between a position and itself, in every notation of the position, and only there', () => {
    fc.assert(
      fc.property(position, longitude, ([lon, lat], other) => {
        expect(distance([lon, lat], [lon, lat])).toBe(0)
        expect(distance([180, lat], [-180, lat])).toBe(0)
        expect(distance([lon, 90], [other, 90])).toBeLessThanOrEqual(NANOMETER)
        expect(distance([lon, lat], [lon, lat > 0 ? lat - 1e-6 : lat + 1e-6])).toBeGreaterThan(0.1)
      }),
      { numRuns: scaled(2000) },
    )
  })

  it('never exceeds the distance between the poles', () => {
    fc.assert(
      fc.property(position, position, (a, b) => {
        // 2 a E(e²), evaluated to 40 digits: the distance from pole to pole, and between antipodes on the equator.
        expect(distance(a, b)).toBeLessThanOrEqual(20003931.458625447 + 15 * NANOMETER)
      }),
      { numRuns: scaled(5000) },
    )
  })
})

describe('the length of a line', () => {
  it('does not change when edges are divided or the line is reversed', () => {
    fc.assert(
      fc.property(
        fc.array(position, { minLength: 2, maxLength: 8 }),
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        (line, share) => {
          const length = lineLength(line)
          const divided = line.flatMap((at, index): Position[] =>
            index === 0 ? [at] : [interpolate(line[index - 1]!, at, share), at],
          )
          expect(Math.abs(lineLength(divided) - length)).toBeLessThanOrEqual(30 * NANOMETER * line.length)
          expect(Math.abs(lineLength(line.toReversed()) - length)).toBeLessThanOrEqual(4 * NANOMETER)
        },
      ),
      { numRuns: scaled(1000) },
    )
  })

  it('is the sum of the lengths of its pieces', () => {
    fc.assert(
      fc.property(fc.array(position, { minLength: 3, maxLength: 30 }), fc.nat(), (line, at) => {
        const cut = 1 + (at % (line.length - 2))
        const pieces = lineLength(line.slice(0, cut + 1)) + lineLength(line.slice(cut))
        expect(Math.abs(pieces - lineLength(line))).toBeLessThanOrEqual(4e-16 * lineLength(line) * 4)
      }),
    )
  })
})

describe('the area of a ring', () => {
  const rings = fc.oneof(star(1000, 89.9), star(100_000, 85), star(5_000_000, 40))

  it('does not depend on its first vertex or its direction', () => {
    fc.assert(
      fc.property(rings, fc.nat(), ({ ring }, by) => {
        const area = ringArea(ring)
        const first = by % ring.length
        expect(Math.abs(ringArea([...ring.slice(first), ...ring.slice(0, first)]) - area)).toBeLessThanOrEqual(
          tolerance(area),
        )
        expect(Math.abs(ringArea(ring.toReversed()) - area)).toBeLessThanOrEqual(tolerance(area))
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('does not change when mirrored at the equator, to the last bit', () => {
    fc.assert(
      fc.property(rings, ({ ring }) => {
        expect(ringArea(ring.map(([lon, lat]): Position => [lon, -lat]))).toBe(ringArea(ring))
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('does not change with the longitude, whether or not the ring crosses the antimeridian', () => {
    const dyadic = rings.map(({ ring }) => ring.map(([lon, lat]): Position => [Math.round(lon * 65536) / 65536, lat]))
    fc.assert(
      fc.property(dyadic, dyadicLongitude, (ring, by) => {
        // The shift is exact, so the areas are equal to the last bit.
        expect(ringArea(ring.map(([lon, lat]): Position => [wrap(lon + by), lat]))).toBe(ringArea(ring))
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('is the sum of the triangles around an interior position', () => {
    fc.assert(
      fc.property(fc.oneof(star(1000, 89.9), star(100_000, 85)), ({ centre, ring }) => {
        const area = ringArea(ring)
        const triangles = ring.map((at, index) => ringArea([centre, at, ring[(index + 1) % ring.length]!]))
        const sum = triangles.reduce((total, triangle) => total + triangle, 0)
        // Each triangle has an error of up to 1 cm², and the errors are independent.
        expect(Math.abs(sum - area)).toBeLessThanOrEqual(1e-4 * Math.sqrt(ring.length) + tolerance(area))
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('is the sum of the two parts along a diagonal, within the accuracy of one area', () => {
    const convex = star(200_000, 85).map(({ centre: [lon, lat], ring, meters }) =>
      ring.map((_, corner): Position => {
        const azimuth = (-2 * Math.PI * corner) / ring.length
        const lat2 = kernel.direct(lat, lon, Math.sin(azimuth), Math.cos(azimuth), meters)
        return [kernel.arrivalLon(), lat2]
      }),
    )
    fc.assert(
      fc.property(convex, fc.nat(), (ring, at) => {
        const area = ringArea(ring)
        const corner = 2 + (at % (ring.length - 3))
        const parts = ringArea(ring.slice(0, corner + 1)) + ringArea([...ring.slice(corner), ring[0]!])
        expect(Math.abs(parts - area)).toBeLessThanOrEqual(Math.max(1e-4, 2e-15 * area))
      }),
      { numRuns: scaled(2000) },
    )
  })

  it('does not change when edges are divided, however short or long', () => {
    fc.assert(
      fc.property(rings, fc.double({ min: 0.1, max: 0.9, noNaN: true }), ({ ring }, share) => {
        const area = ringArea(ring)
        const divided = ring.flatMap((at, index) => [at, interpolate(at, ring[(index + 1) % ring.length]!, share)])
        expect(Math.abs(ringArea(divided) - area)).toBeLessThanOrEqual(tolerance(area, lineLength([...ring, ring[0]!])))
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('equals that of a plane polygon for a small ring, up to the curvature of the ellipsoid', () => {
    fc.assert(
      fc.property(star(100, 80), ({ centre, ring, meters }) => {
        // Distances and azimuths from the centre project the ring to a plane. The relative error of the projected area is
        // (radius / Earth's radius)².
        const plane = ring.map(([lon, lat]) => {
          const s12 = kernel.inverse(centre[1], centre[0], lat, lon)
          return [s12 * kernel.salp1(), s12 * kernel.calp1()] as const
        })
        const shoelace = plane.reduce((sum, [x, y], index) => {
          const [x2, y2] = plane[(index + 1) % plane.length]!
          return sum + (x * y2 - x2 * y) / 2
        }, 0)
        const area = ringArea(ring)
        const curvature = (meters / EARTH_RADIUS_METERS) ** 2
        expect(Math.abs(area - Math.abs(shoelace))).toBeLessThanOrEqual(
          area * curvature + 4 * NANOMETER * meters * Math.PI * 2,
        )
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('is the sum of both halves of a ring that is cut at the antimeridian', () => {
    // The highest vertex is at most 13.5° above `lat`, so it does not reach the pole.
    const atAntimeridian = fc.record({
      lat: fc.double({ min: -80, max: 75, noNaN: true }),
      width: fc.double({ min: 0.001, max: 20, noNaN: true }),
      height: fc.double({ min: 0.001, max: 9, noNaN: true }),
      tilt: fc.double({ min: -0.5, max: 0.5, noNaN: true }),
    })
    fc.assert(
      fc.property(atAntimeridian, ({ lat, width, height, tilt }) => {
        const west = 180 - width
        const east = width * (1 + tilt) - 180
        const ring: Position[] = [
          [west, lat],
          [east, lat + tilt * height],
          [east, lat + height],
          [west, lat + height * (1 + tilt)],
        ]
        const south = antimeridianLatitude(ring[0]!, ring[1]!)
        const north = antimeridianLatitude(ring[3]!, ring[2]!)
        const western = [ring[0]!, [180, south], [180, north], ring[3]!] as Position[]
        const eastern = [[-180, south], ring[1]!, ring[2]!, [-180, north]] as Position[]
        const whole = ringArea(ring)
        const halves = multiPolygonArea([[...western, western[0]!]], [[...eastern, eastern[0]!]])
        expect(Math.abs(halves - whole)).toBeLessThanOrEqual(tolerance(whole, lineLength([...ring, ring[0]!])))
      }),
      { numRuns: scaled(500) },
    )
  })

  it('is the sum of the wedges around the pole for a ring that encloses a pole', () => {
    const caps = fc.record({
      pole: fc.constantFrom(90, -90),
      lons: fc.uniqueArray(fc.integer({ min: -180, max: 179 }), { minLength: 5, maxLength: 40 }),
      reach: fc.double({ min: 1e-5, max: 80, noNaN: true }),
      name: longitude,
    })
    fc.assert(
      fc.property(caps, ({ pole, lons, reach, name }) => {
        const sorted = lons.toSorted((a, b) => a - b)
        const gaps = sorted.map(
          (lon, index) => (index + 1 < sorted.length ? sorted[index + 1]! : sorted[0]! + 360) - lon,
        )
        fc.pre(gaps.every((gap) => gap < 170))
        const lat = pole > 0 ? 90 - reach : reach - 90
        const ring = sorted.map((lon): Position => [lon, lat])
        const wedges = ring.map((at, index) => ringArea([at, ring[(index + 1) % ring.length]!, [name, pole]]))
        const sum = wedges.reduce((total, wedge) => total + wedge, 0)
        const whole = ringArea(ring)
        expect(whole).toBeGreaterThan(0)
        expect(Math.abs(sum - whole)).toBeLessThanOrEqual(1e-4 * Math.sqrt(ring.length) + 4e-15 * whole * 4)
      }),
      { numRuns: scaled(500) },
    )
  })

  it('is half the ellipsoid for any ring along the equator, and never more for a ring without a vertex at a pole', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: -180, max: 179 }), { minLength: 5, maxLength: 40 }),
        fc.array(fc.double({ min: -40, max: 40, noNaN: true }), { minLength: 40, maxLength: 40 }),
        (lons, lats) => {
          const sorted = lons.toSorted((a, b) => a - b)
          const gaps = sorted.map(
            (lon, index) => (index + 1 < sorted.length ? sorted[index + 1]! : sorted[0]! + 360) - lon,
          )
          fc.pre(gaps.every((gap) => gap < 170))
          const equator = ringArea(sorted.map((lon): Position => [lon, 0]))
          expect(Math.abs(equator - ELLIPSOID / 2)).toBeLessThanOrEqual(0.25)
          const wavy = ringArea(sorted.map((lon, index): Position => [lon, lats[index]!]))
          expect(wavy).toBeLessThanOrEqual(ELLIPSOID / 2 + 0.25)
        },
      ),
      { numRuns: scaled(500) },
    )
  })

  it('is an eighth of the ellipsoid between meridians 90° apart, with any vertices added on its edges', () => {
    fc.assert(
      fc.property(
        dyadicLongitude,
        fc.array(fc.double({ min: 0.001, max: 89.999, noNaN: true }), { maxLength: 20 }),
        (lon, lats) => {
          const east = wrap(lon + 90)
          const up = lats.toSorted((a, b) => a - b)
          const ring: Position[] = [
            [lon, 0],
            ...up.map((angle): Position => [wrap(lon + angle), 0]),
            [east, 0],
            ...up.map((lat): Position => [east, lat]),
            [lon, 90],
            ...up.toReversed().map((lat): Position => [lon, lat]),
          ]
          expect(Math.abs(ringArea(ring) - ELLIPSOID / 8)).toBeLessThanOrEqual(0.125)
        },
      ),
      { numRuns: scaled(500) },
    )
  })
})

/** Finds the latitude at which a geodesic crosses the antimeridian, by bisection of its length. */
function antimeridianLatitude(from: Position, to: Position): number {
  let low = 0
  let high = 1
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2
    if (interpolate(from, to, middle)[0] > 0) low = middle
    else high = middle
  }
  return interpolate(from, to, low)[1]
}
