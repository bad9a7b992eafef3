import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { lengthMeters } from '../../src/geodesy/length.ts'
import { enclosedPole } from '../../src/geometry/pole-resolver.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const limits = { maxVertices: 200_000, maxParts: 1000 }

const computeArea = (geometry: Geometry) => areaSquareMeters(kernel, readGeometry(geometry, [], limits))
const closed = (...ring: readonly (readonly [number, number])[]): Position[] =>
  [...ring, ring[0]!] as unknown as Position[]
const polygon = (...rings: Position[][]): Geometry => ({ type: 'Polygon', coordinates: rings }) as Geometry
const findPole = (...ring: readonly (readonly [number, number])[]) =>
  enclosedPole(kernel, Float64Array.from(closed(...ring).flat() as number[]))

// 2π(a² + b² atanh(e)/e) of WGS 84, evaluated to 40 digits.
const ELLIPSOID = 510_065_621_724_088.5
/** Four units in the last place of half the ellipsoid. */
const TOLERANCE = 0.125

describe('the area of a polygon', () => {
  const { polygons } = JSON.parse(readFileSync(new URL('../vectors/geodesic-area.json', import.meta.url), 'utf8')) as {
    polygons: { name: string; ring: [number, number][]; perimeterMeters: number; areaSquareMeters: number }[]
  }
  it.each(polygons)('is within 1 cm² or 2·10⁻¹⁵ of quadrature for $name', (vector) => {
    // Source: test/vectors/geodesic-area.json, quadrature at 34 digits.
    const area = computeArea(polygon(closed(...vector.ring)))
    expect(Math.abs(area - vector.areaSquareMeters)).toBeLessThanOrEqual(
      Math.max(1e-4, 2e-15 * vector.areaSquareMeters),
    )
    const line = readGeometry({ type: 'LineString', coordinates: closed(...vector.ring) } as Geometry, [], limits)
    const perimeter = lengthMeters(kernel, line)
    expect(Math.abs(perimeter - vector.perimeterMeters)).toBeLessThanOrEqual(15e-9 * Math.sqrt(vector.ring.length))
  })

  it('is an eighth of the ellipsoid for an octant, wherever it lies and in either orientation', () => {
    for (const lon of [-180, -90, 0, 90]) {
      for (const pole of [90, -90]) {
        const ring = closed([lon, 0], [lon + 90, 0], [17, pole])
        expect(Math.abs(computeArea(polygon(ring)) - ELLIPSOID / 8)).toBeLessThanOrEqual(TOLERANCE)
        expect(Math.abs(computeArea(polygon(ring.reverse())) - ELLIPSOID / 8)).toBeLessThanOrEqual(TOLERANCE)
      }
    }
  })

  it('is proportional to the angle of a lune between two meridians', () => {
    for (const angle of [1e-3, 1, 45, 120, 179, 181, 270, 359]) {
      const ring = closed([-170, -90], [-170, 0], [-170, 90], [angle - 170 > 180 ? angle - 530 : angle - 170, 0])
      // Up to half a turn it is the lune, beyond that its complement: vertices on both poles do not decide the side.
      const expected = (ELLIPSOID * Math.min(angle, 360 - angle)) / 360
      expect(Math.abs(computeArea(polygon(ring)) - expected), `${angle}°`).toBeLessThanOrEqual(TOLERANCE)
    }
  })

  it('is half the ellipsoid for a ring along the equator', () => {
    for (const lons of [
      [0, 90, 180, -90],
      [-180, -60, 60],
      [0, 179, 180, -179, -1],
    ]) {
      const ring = closed(...lons.map((lon) => [lon, 0] as const))
      expect(Math.abs(computeArea(polygon(ring)) - ELLIPSOID / 2)).toBeLessThanOrEqual(TOLERANCE)
    }
  })

  it('does not depend on the longitude with which a vertex on a pole is written', () => {
    // A 40° wedge of the cap, and the other 320° of it.
    const small = (poleLon: number) => computeArea(polygon(closed([poleLon, 90], [-20, 60], [20, 60])))
    const large = (poleLon: number) =>
      computeArea(polygon(closed([poleLon, 90], [20, 60], [140, 60], [-100, 60], [-20, 60])))
    for (const poleLon of [-180, -123.25, -20, 0, 20, 77.5, 180]) {
      expect(Math.abs(small(poleLon) - small(0))).toBeLessThanOrEqual(TOLERANCE)
      expect(Math.abs(large(poleLon) - large(0))).toBeLessThanOrEqual(TOLERANCE)
    }
    const cap = computeArea(polygon(closed([-20, 60], [20, 60], [140, 60], [-100, 60])))
    expect(Math.abs(small(0) + large(0) - cap)).toBeLessThanOrEqual(TOLERANCE)
  })

  it('is that of the side with the pole on which a vertex lies, also beyond half the ellipsoid', () => {
    // Three quarters of all meridians, from the north pole down to 45° south: three wedges.
    const wedge = (lon: number) => computeArea(polygon(closed([lon, 90], [lon, -45], [lon + 90, -45])))
    const threeQuarters = computeArea(polygon(closed([-135, 90], [-135, -45], [-45, -45], [45, -45], [135, -45])))
    expect(threeQuarters).toBeGreaterThan(ELLIPSOID / 2)
    expect(Math.abs(threeQuarters - 3 * wedge(-135))).toBeLessThanOrEqual(TOLERANCE)
    // The longitude of the vertex on the pole decides whether the ring winds around the pole, not what it encloses.
    const ringWithPole = (lon: number) =>
      [
        [lon, 90],
        [-135, -45],
        [-45, -45],
        [45, -45],
        [135, -45],
      ] as const
    expect([findPole(...ringWithPole(180)), findPole(...ringWithPole(0))]).toEqual([1, 0])
    for (const lon of [180, 0])
      expect(Math.abs(computeArea(polygon(closed(...ringWithPole(lon)))) - threeQuarters)).toBeLessThanOrEqual(
        TOLERANCE,
      )
  })

  it('is that of the smaller side when a ring winds around the axis and has no vertex on a pole', () => {
    const south = computeArea(polygon(closed([0, -60], [120, -60], [-120, -60])))
    const north = computeArea(polygon(closed([0, 60], [120, 60], [-120, 60])))
    expect(south).toBe(north)
    expect(south).toBeLessThan(ELLIPSOID / 2)
    // Three wedges that meet at the pole cover the same cap.
    const wedge = computeArea(polygon(closed([0, 60], [120, 60], [60, 90])))
    expect(Math.abs(3 * wedge - north)).toBeLessThanOrEqual(TOLERANCE)
    expect([findPole([0, 60], [120, 60], [-120, 60]), findPole([0, -60], [120, -60], [-120, -60])]).toEqual([1, -1])
    expect(findPole([0, 60], [10, 60], [5, 65])).toBe(0)
  })

  it('is exactly zero for a ring that returns along the same edges', () => {
    expect(computeArea(polygon(closed([1.5, 2.5], [30.25, 60.125])))).toBe(0)
    expect(computeArea(polygon(closed([1.5, 2.5], [30.25, 60.125], [100, -20], [30.25, 60.125])))).toBe(0)
  })

  it('routes an edge over exactly 180° of longitude by the sign of lon2 − lon1, so that both directions agree', () => {
    // The edge from (0, 80) to (180, 80) runs over the pole; the ring is half a cap cut along it.
    const eastern = computeArea(polygon(closed([0, 80], [90, 80], [180, 80])))
    const western = computeArea(polygon(closed([0, 80], [180, 80], [-90, 80])))
    const cap = computeArea(polygon(closed([0, 80], [90, 80], [180, 80], [-90, 80])))
    expect(Math.abs(eastern - western)).toBeLessThanOrEqual(TOLERANCE)
    expect(Math.abs(eastern + western - cap)).toBeLessThanOrEqual(TOLERANCE)
    const rewritten = computeArea(polygon(closed([90, 80], [180, 80], [-90, 80])))
    expect(Math.abs(rewritten - eastern)).toBeLessThanOrEqual(TOLERANCE)
  })

  it('subtracts holes by the same rule, in either orientation', () => {
    const exterior = closed([0, 0], [4, 0], [4, 4], [0, 4])
    const hole = closed([1, 1], [2, 1], [2, 2], [1, 2])
    const expected = computeArea(polygon(exterior)) - computeArea(polygon(hole))
    expect(computeArea(polygon(exterior, hole))).toBe(expected)
    expect(computeArea(polygon(exterior, hole.toReversed()))).toBeCloseTo(expected, 3)
    expect(computeArea(polygon(exterior.toReversed(), hole))).toBeCloseTo(expected, 3)
  })

  it('is not positive when the holes exceed the exterior ring, which the caller has to reject', () => {
    const small = closed([1, 1], [2, 1], [2, 2], [1, 2])
    expect(computeArea(polygon(small, small))).toBe(0)
    expect(computeArea(polygon(small, closed([0, 0], [4, 0], [4, 4], [0, 4])))).toBeLessThan(0)
  })

  it('adds up the polygons of a MultiPolygon and of a collection, and nothing else', () => {
    const first = closed([0, 0], [4, 0], [4, 4])
    const second = closed([10, 0], [14, 0], [14, 4])
    const both = computeArea(polygon(first)) + computeArea(polygon(second))
    expect(computeArea({ type: 'MultiPolygon', coordinates: [[first], [second]] } as Geometry)).toBe(both)
    const collection = {
      type: 'GeometryCollection',
      geometries: [polygon(first), { type: 'LineString', coordinates: second }, { type: 'Point', coordinates: [1, 2] }],
    }
    expect(computeArea(collection as Geometry)).toBe(computeArea(polygon(first)))
  })
})

describe('the length of lines', () => {
  it('adds up the lines of a MultiLineString without the gaps between them', () => {
    // Quarter meridian a·E(e²) = 10001965.7293127 m and quarter equator a·π/2 = 10018754.1713946 m.
    const lines = {
      type: 'MultiLineString',
      coordinates: [
        [
          [7, 0],
          [7, 45],
          [7, 90],
        ],
        [
          [100, 0],
          [-170, 0],
        ],
      ],
    } as Geometry
    const length = lengthMeters(kernel, readGeometry(lines, [], limits))
    expect(Math.abs(length - 20020719.9007073)).toBeLessThanOrEqual(1e-7)
  })

  it('is zero for a line whose vertices are all one point, written with either longitude of the antimeridian', () => {
    const line = {
      type: 'LineString',
      coordinates: [
        [180, 5],
        [-180, 5],
        [180, 5],
      ],
    } as Geometry
    expect(lengthMeters(kernel, readGeometry(line, [], limits))).toBe(0)
  })
})
