import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { distanceMeters, nearestPlaces } from '../../src/geodesy/distance.ts'
import { prepareDistance } from '../../src/geodesy/prepared-distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { EAST } from '../fixtures.ts'
import { answer, engine, kernel } from '../geometry-answers.ts'
import { randomPair } from '../random-geometry.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const { WGS84 } = geodesic.Geodesic
const TEN_NANOMETERS = 1e-8
const flat = (geometry: Geometry) => readGeometry(geometry, [], engine.limits)
const inverse = (a: readonly number[], b: readonly number[]) => kernel.inverse(a[1]!, a[0]!, b[1]!, b[0]!)

/** Lines and points around a place, of 10 m to 15,000 km; at poles and across longitude ±180 too. */
const around = fc
  .tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 89.9999, 90)),
    fc.double({ min: 1, max: 7.2, noNaN: true }),
  )
  .chain(([lon, lat, decade]) => {
    const position = fc
      .tuple(fc.double({ min: 0, max: 360, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([azimuth, share]): Position => {
        const latitude = kernel.directDegrees(lat, lon, azimuth, share * 10 ** decade)
        return [kernel.arrivalLon(), latitude]
      })
    const geometry = fc.oneof(
      position.map((coordinates): Geometry => ({ type: 'Point', coordinates })),
      fc
        .array(position, { minLength: 2, maxLength: 8 })
        .map((coordinates) => ({ type: 'LineString', coordinates }) as Geometry),
    )
    return fc.tuple(geometry, geometry)
  })

const anyTypes = fc
  .integer({ min: 1, max: 2 ** 31 - 2 })
  .map((seed) => randomPair(seed).map(({ geometry }) => geometry) as [Geometry, Geometry])

/** The distance from a place to a geometry. */
const distanceTo = (place: readonly number[], geometry: Geometry) =>
  distanceMeters(kernel, flat({ type: 'Point', coordinates: [...place] as Position }), flat(geometry), 1e6)

describe('nearest', () => {
  it('finds places on both geometries at the distance of distance, within 10 nm', () => {
    fc.assert(
      fc.property(fc.oneof(around, anyTypes), ([a, b]) => {
        const { meters, onA, onB } = nearestPlaces(kernel, flat(a), flat(b), 1e6)
        expect(meters).toBe(distanceMeters(kernel, flat(a), flat(b), 1e6))
        expect(Math.abs(inverse(onA, onB) - meters)).toBeLessThan(TEN_NANOMETERS)
        expect(isOn(onA, a)).toBe(true)
        expect(isOn(onB, b)).toBe(true)
        if (meters === 0) expect(onA).toEqual(onB)
        // Neither order nor preparing changes the places.
        const swapped = nearestPlaces(kernel, flat(b), flat(a), 1e6)
        if (JSON.stringify(a) !== JSON.stringify(b)) expect([swapped.onB, swapped.onA]).toEqual([onA, onB])
        const prepared = prepareDistance(kernel, flat(a))!
        expect(nearestPlaces(kernel, prepared, flat(b), 1e6)).toEqual({ meters, onA, onB })
        prepared.release()
      }),
      { numRuns: scaled(20_000) },
    )
  })

  it('finds nothing nearer by brute force over dense places of both geometries', () => {
    fc.assert(
      fc.property(around, ([a, b]) => {
        const { meters } = nearestPlaces(kernel, flat(a), flat(b), 1e6)
        for (const first of dense(a))
          for (const second of dense(b)) expect(inverse(first, second)).toBeGreaterThan(meters - 2 * TEN_NANOMETERS)
      }),
      { numRuns: scaled(300) },
    )
  })

  it('has azimuths that lead from one place to the other, by geographiclib-geodesic', () => {
    fc.assert(
      fc.property(around, ([a, b]) => {
        const { from, to, distanceMeters: rounded } = answer('nearest', [a, b], {})
        const { meters } = nearestPlaces(kernel, flat(a), flat(b), 1e6)
        expect(Math.abs(rounded - meters)).toBeLessThanOrEqual(0.0050001)
        if (meters < 1e-3 || meters > 19_000_000) return
        const [lon, lat] = from.geometry.coordinates
        const end = WGS84.Direct(lat, lon, from.azimuthDegrees, meters)
        expect(inverse([end.lon2!, end.lat2!], to.geometry.coordinates)).toBeLessThan(1e-6)
      }),
      { numRuns: scaled(2000) },
    )
  })

  const place = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })

  it('finds a common place of geometries that meet', () => {
    const inside = nearestPlaces(kernel, flat(EAST), flat(place(3.5, 48.5)), 1e6)
    expect(inside).toEqual({ meters: 0, onA: [3.5, 48.5], onB: [3.5, 48.5] })
    const { from, to, distanceMeters: meters } = answer('nearest', [EAST, place(3.5, 48.5)], {})
    expect([meters, from, to]).toEqual([0, to, from])
    expect(from).not.toHaveProperty('azimuthDegrees')
  })

  it('refuses a whole parallel and says what would work', () => {
    const cap: Geometry = {
      type: 'Polygon',
      coordinates: [
        [
          [-180, 60],
          [180, 60],
          [180, 90],
          [-180, 90],
          [-180, 60],
        ],
      ],
    }
    const { type, fault } = answer('nearest', [place(0, 0), cap], {})
    expect(type).toBe('invalid-input')
    expect(fault.pointer).toMatch(/^#\/to/)
    expect(fault.hint).toContain('vertices')
  })
})

/** Whether a place is on a geometry: inside of a polygon, or within 10 nm of an edge or a vertex by the azimuths of geodesics. */
function isOn(place: readonly number[], geometry: Geometry): boolean {
  const { vertices, sequenceStarts } = flat(geometry)
  for (let sequence = 0; sequence + 1 < sequenceStarts.length; sequence++) {
    for (let i = sequenceStarts[sequence]!; i < sequenceStarts[sequence + 1]!; i++) {
      const at = [vertices[2 * i]!, vertices[2 * i + 1]!]
      if (inverse(at, place) < TEN_NANOMETERS) return true
      if (i + 1 === sequenceStarts[sequence + 1]) continue
      const next = [vertices[2 * i + 2]!, vertices[2 * i + 3]!]
      if (offset(place, at, next) < TEN_NANOMETERS || offset(place, next, at) < TEN_NANOMETERS) return true
    }
  }
  return distanceTo(place, geometry) === 0
}

/** How far a place is beside the geodesic from one position to another; Infinity if it is not between them. */
function offset(place: readonly number[], from: readonly number[], to: readonly number[]): number {
  const length = inverse(from, to)
  const [sine, cosine] = [kernel.salp1(), kernel.calp1()]
  const along = inverse(from, place)
  if (along > length || inverse(place, to) > length) return Number.POSITIVE_INFINITY
  inverse(from, place)
  return Math.abs(kernel.m12() * (kernel.salp1() * cosine - kernel.calp1() * sine))
}

/** Places on the edges of a geometry, ends included. */
function dense({ type, coordinates }: Geometry): (readonly number[])[] {
  if (type === 'Point') return [coordinates as Position]
  const line = coordinates as Position[]
  return line.slice(1).flatMap((to, i) => {
    const [lon, lat] = line[i]!
    const length = inverse(line[i]!, to)
    const [sine, cosine] = [kernel.salp1(), kernel.calp1()]
    return Array.from({ length: 21 }, (_, k) => {
      const latitude = kernel.direct(lat, lon, sine, cosine, (length * k) / 20)
      return [kernel.arrivalLon(), latitude]
    })
  })
}
