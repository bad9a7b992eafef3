import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { utf8 } from '../../src/crypto/hex.ts'
import { checkShape } from '../../src/geometry/check-shape.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { answer, engine, kernel } from '../geometry-answers.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const MAX_METERS = 19_000_000
const { WGS84 } = geodesic.Geodesic
const point = (position: Position): Geometry => ({ type: 'Point', coordinates: position })
const distance = (a: Position, b: Position) => kernel.inverse(a[1], a[0], b[1], b[0])

const latitude = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.constantFrom(-90, -89.999999, -45, 0, 1e-9, 30, 89.999999, 90),
)
const longitude = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, -90, 0, 90, 179.999999, 180),
)
const place: fc.Arbitrary<Position> = fc.tuple(longitude, latitude)
const azimuth = fc.oneof(fc.double({ min: -360, max: 360, noNaN: true }), fc.constantFrom(-360, -90, 0, 90, 180, 360))
const meters = fc
  .double({ min: 0, max: 1, noNaN: true })
  .map((share) => Math.min(MAX_METERS, 1e-3 * (MAX_METERS / 1e-3) ** share))

describe('direct', () => {
  it('ends at the distance, and where geographiclib-geodesic ends, within 20 nm', () => {
    fc.assert(
      fc.property(place, azimuth, meters, (from, azimuthDegrees, distanceMeters) => {
        const end = answer('direct', [point(from)], { azimuthDegrees, distanceMeters })
        expect(checkShape(end.geometry)).toMatchObject({ ok: true })
        const to: Position = end.geometry.coordinates
        expect(Math.abs(distance(from, to) - distanceMeters)).toBeLessThan(2e-8)
        const { lat2, lon2 } = WGS84.Direct(from[1], from[0], azimuthDegrees, distanceMeters)
        expect(distance([lon2!, lat2!], to)).toBeLessThan(2e-8)
      }),
      { numRuns: scaled(20_000) },
    )
  })

  it('comes back with the opposite of its azimuth at the end', () => {
    fc.assert(
      fc.property(place, azimuth, meters, (from, azimuthDegrees, distanceMeters) => {
        const end = answer('direct', [point(from)], { azimuthDegrees, distanceMeters })
        expect(end.azimuthDegrees).toBeGreaterThanOrEqual(0)
        expect(end.azimuthDegrees).toBeLessThan(360)
        const back = answer('direct', [end.geometry], { azimuthDegrees: end.azimuthDegrees - 180, distanceMeters })
        // The azimuth is rounded to 5.7e-14 degrees, and so is a position near the meridian ±180: 3 nm. A longitude near a pole
        // decides the direction there, and the azimuth is relative to it.
        expect(distance(back.geometry.coordinates, from)).toBeLessThan(5e-8)
      }),
      { numRuns: scaled(20_000) },
    )
  })

  it('stays where it is if the distance is 0', () => {
    fc.assert(
      fc.property(place, azimuth, (from, azimuthDegrees) => {
        const end = answer('direct', [point(from)], { azimuthDegrees, distanceMeters: 0 })
        expect(end.geometry.coordinates).toEqual(from.map((value) => value + 0))
      }),
      { numRuns: scaled(1000) },
    )
  })

  it('has the reference that its geometry has as an input', () => {
    const { geometry, ref } = answer('direct', [point([2, 48])], { azimuthDegrees: 90, distanceMeters: 1000 })
    expect(ref).toBe(engine.keccak.hashHex(utf8(canonicalGeometry(geometry))))
    const again = answer('direct', [geometry], { azimuthDegrees: 0, distanceMeters: 0 })
    expect(again.ref).toBe(ref)
  })

  it.each([
    [{ azimuthDegrees: Number.NaN, distanceMeters: 1 }, 'azimuthDegrees'],
    [{ azimuthDegrees: 361, distanceMeters: 1 }, 'azimuthDegrees'],
    [{ distanceMeters: 1 }, 'azimuthDegrees'],
    [{ azimuthDegrees: 0, distanceMeters: -1 }, 'distanceMeters'],
    [{ azimuthDegrees: 0, distanceMeters: 20_037_509 }, 'distanceMeters'],
    [{ azimuthDegrees: 0, distanceMeters: Number.POSITIVE_INFINITY }, 'distanceMeters'],
  ])('refuses %o at %s', (parameters, member) => {
    const { type, fault } = answer('direct', [point([2, 48])], parameters)
    expect(type).toBe('invalid-input')
    expect(fault.pointer).toBe(`#/${member}`)
  })
})

/** Joins the lines of an answer at longitude ±180 and leaves out the places of the cut. */
function joined({ type, coordinates }: Geometry): { places: Position[]; cuts: Position[][] } {
  const lines = (type === 'LineString' ? [coordinates] : coordinates) as Position[][]
  return { places: lines.flat(), cuts: lines.slice(1).map((line, i) => [lines[i]!.at(-1)!, line[0]!]) }
}

describe('waypoints', () => {
  it('lie on the geodesic, every so many metres, within 40 nm', () => {
    fc.assert(
      fc.property(place, place, fc.integer({ min: 1, max: 60 }), (from, to, parts) => {
        const length = distance(from, to)
        fc.pre(length > 1e-3)
        const everyMeters = length / (parts + 0.3)
        const { geometry, lengthMeters } = answer('waypoints', [point(from), point(to)], { everyMeters })
        expect(checkShape(geometry)).toMatchObject({ ok: true })
        expect(lengthMeters).toBe(length)
        const { places, cuts } = joined(geometry)
        expect(distance(places[0]!, from)).toBe(0)
        expect(distance(places.at(-1)!, to)).toBe(0)
        for (const [end, start] of cuts) {
          expect(Math.abs(end![0])).toBe(180)
          expect(start).toEqual([-end![0], end![1]])
        }
        // Each place is where geographiclib-geodesic has it; places of a cut and of a pole lie between two of them.
        const line = WGS84.InverseLine(from[1], from[0], to[1], to[0])
        const expected = Array.from({ length: parts }, (_, i) => line.Position((i + 1) * everyMeters))
        let next = 0
        for (const at of places) {
          const goal = expected[next]
          if (goal !== undefined && distance(at, [goal.lon2!, goal.lat2!]) < 4e-8) next++
        }
        // Nearly antipodal places have several shortest lines.
        if (length < 19_900_000) expect(next).toBe(parts)
        // No edge crosses the map, and the steps add up to the length.
        const steps = places.slice(1).map((at, i) => distance(places[i]!, at))
        expect(Math.abs(steps.reduce((sum, step) => sum + step, 0) - length)).toBeLessThan(4e-8 * (parts + 3))
        const inLine = geometry.type === 'LineString' ? [geometry.coordinates] : geometry.coordinates
        for (const one of inLine)
          for (let i = 1; i < one.length; i++)
            expect(Math.abs(one[i][0] - one[i - 1][0])).toBeLessThanOrEqual(180 + 1e-9)
      }),
      { numRuns: scaled(5000) },
    )
  })

  it.each([
    // [from, to, everyMeters, type, first line]
    ['at longitude ±180', [179, 10], [-179, 10], 1e7, 'MultiLineString', 2],
    ['that starts at longitude 180 and goes east', [180, 10], [-170, 20], 1e7, 'LineString', 2],
    ['that starts at longitude -180 and goes west', [-180, 10], [170, 20], 1e7, 'LineString', 2],
    ['that ends at the other name of longitude 180', [170, 10], [-180, 20], 1e7, 'LineString', 2],
    ['over a pole', [10, 80], [-170, 80], 1e7, 'LineString', 4],
    ['of no length', [10, 80], [10, 80], 5, 'LineString', 2],
    ['from a pole', [10, 90], [-175, 80], 1e7, 'MultiLineString', 2],
  ] as const)('of a line %s', (_, from, to, everyMeters, type, vertices) => {
    const { geometry } = answer('waypoints', [point([...from]), point([...to])], { everyMeters })
    expect(geometry.type).toBe(type)
    const first = type === 'LineString' ? geometry.coordinates : geometry.coordinates[0]
    expect(first).toHaveLength(vertices)
  })

  it('leave out a last step that is only rounding', () => {
    const everyMeters = distance([0, 0], [90, 0]) / 3
    const { geometry } = answer('waypoints', [point([0, 0]), point([90, 0])], { everyMeters })
    expect(geometry.coordinates).toHaveLength(4)
  })

  it('are refused if they are more than the vertices of a request, with a distance that works', () => {
    const inputs = [point([2, 48]), point([30, 10])]
    const { type, fault } = answer('waypoints', inputs, { everyMeters: 1 })
    expect(type).toBe('invalid-input')
    expect(fault).toMatchObject({ pointer: '#/everyMeters', code: 'too-many-vertices' })
    const everyMeters = Number(/at least (\d+)$/.exec(fault.hint)![1])
    expect(answer('waypoints', inputs, { everyMeters }).geometry.coordinates.length).toBeGreaterThan(49_000)
  })
})
