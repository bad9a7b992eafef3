import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import { kernelPoleResolver } from '../../src/compute/validity.ts'
import { checkShape } from '../../src/geometry/check-shape.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { toPrepared } from '../../src/topology/plane/prepared.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { answer, engine, kernel } from '../geometry-answers.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const { WGS84 } = geodesic.Geodesic
const MAX_RADIUS = 19_900_000
/** What a computed distance and the rounding of a position may differ by, metres. */
const NOISE_METERS = 3e-8

const point = (position: Position): Geometry => ({ type: 'Point', coordinates: position })
const distance = (a: Position, b: Position) => kernel.inverse(a[1], a[0], b[1], b[0])
const double = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const power = (low: number, high: number) => double(low, high).map((exponent) => 10 ** exponent)

const latitude = fc.oneof(
  double(-90, 90),
  fc.constantFrom(-90, -89.9999, 0, 1e-9, 45, 89.999999, 90),
  power(-12, 0).map((gap) => 90 - gap),
)
const longitude = fc.oneof(
  double(-180, 180),
  fc.constantFrom(-180, -90, 0, 90, 179.999999, 180),
  power(-12, 0).map((gap) => gap - 180),
)
const place: fc.Arbitrary<Position> = fc.tuple(longitude, latitude)

interface Case {
  readonly centre: Position
  readonly radius: number
  readonly toleranceMeters: number | undefined
}

/** Circles that run along longitude ±180 for thousands of kilometres. */
const alongAntimeridian: fc.Arbitrary<Case> = fc
  .tuple(fc.constantFrom(90, -90), double(-0.5, 0.5), fc.oneof(fc.constantFrom(0, 1e-9), double(-1e-6, 1e-6)), latitude)
  .map(([side, offset, lat, target]) => {
    const centre: Position = [side + offset, lat]
    return { centre, radius: distance(centre, [180, target]), toleranceMeters: undefined }
  })

/** Radii of any size, some of which lead to a pole or to the antimeridian exactly or nearly so. */
const anyCases: fc.Arbitrary<Case> = place.chain((centre) => {
  const toPole = fc.constantFrom(90, -90).map((pole) => distance(centre, [centre[0], pole]))
  const radius = fc.oneof(
    { weight: 3, arbitrary: power(-3, Math.log10(MAX_RADIUS)) },
    { weight: 1, arbitrary: fc.constantFrom(0.001, 1e7, MAX_RADIUS) },
    { weight: 1, arbitrary: power(0, 6).map((gap) => MAX_RADIUS - gap) },
    { weight: 1, arbitrary: toPole },
    {
      weight: 1,
      arbitrary: fc
        .tuple(toPole, fc.constantFrom(-1, 1), power(-8, 3))
        .map(([meters, sign, gap]) => meters + sign * gap),
    },
    { weight: 1, arbitrary: latitude.map((lat) => distance(centre, [180, lat])) },
  )
  return radius
    .map((meters) => Math.max(0.001, Math.min(MAX_RADIUS, meters)))
    .chain((meters) => {
      const tolerance = fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: power(-4.5, -1).map((share) => Math.max(1e-5, meters * share)) },
      )
      return tolerance.map((toleranceMeters): Case => ({ centre, radius: meters, toleranceMeters }))
    })
})

const cases = fc.oneof({ weight: 9, arbitrary: anyCases }, { weight: 1, arbitrary: alongAntimeridian })

/** The answer of `buffer`. */
interface Answer {
  readonly geometry: Geometry & { coordinates: Position[][] | Position[][][] }
  readonly errorMeters: number
}
const buffer = ({ centre, radius, toleranceMeters }: Case): Answer =>
  answer('buffer', [point(centre)], { radiusMeters: radius, toleranceMeters })

function polygonsOf({ geometry }: Answer): Position[][][] {
  return geometry.type === 'Polygon' ? [geometry.coordinates as Position[][]] : (geometry.coordinates as Position[][][])
}

/** The edges of the boundary: not those along longitude ±180 or at a pole, which lie inside. */
function boundaryEdges(polygons: readonly Position[][][]): [Position, Position][] {
  return polygons.flat().flatMap((ring) =>
    ring.slice(1).flatMap((to, i): [Position, Position][] => {
      const from = ring[i]!
      const isAlongCut = Math.abs(from[0]) === 180 && Math.abs(to[0]) === 180
      return isAlongCut || Math.abs(from[1]) === 90 || Math.abs(to[1]) === 90 ? [] : [[from, to]]
    }),
  )
}

/** Twice the planar area of a ring with edges that go the short way around; positive if it runs counterclockwise. */
function windingOf(ring: readonly Position[]): number {
  let lon = 0
  let sum = 0
  for (let i = 1; i < ring.length; i++) {
    const [from, to] = [ring[i - 1]!, ring[i]!]
    // Relative to the first vertex, because a ring of 1 mm has no area otherwise.
    const width = to[0] - from[0]
    const isAtPole = Math.abs(from[1]) === 90 && Math.abs(to[1]) === 90
    const next =
      lon + (isAtPole || Math.abs(width) <= 180 || Math.abs(width) === 360 ? width : width - 360 * Math.sign(width))
    sum += lon * (to[1] - ring[0]![1]) - next * (from[1] - ring[0]![1])
    lon = next
  }
  return sum
}

function run(name: keyof typeof OPERATIONS, inputs: readonly Geometry[], radiusMeters?: number) {
  const row = OPERATIONS[name]
  const operands = inputs.map((geometry, i) => ({ geometry, path: [row.inputs[i]!], ref: undefined }))
  return runOperation(row, operands, { radiusMeters }, engine)
}

const flat = (geometry: Geometry) => readGeometry(geometry, [], engine.limits)

/** Returns the predicate `contains` of a geometry, whose validity another test checks. */
function containsOf(container: Geometry): (position: Position) => boolean {
  const topology = toPrepared(flat(container))
  return (position) => contains(topology, flat(point(position)), kernelPoleResolver(kernel), kernel)
}

describe('buffer', () => {
  it('has a boundary within its error of the circle, with straight edges and with geodesics', () => {
    const places = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9]
    fc.assert(
      fc.property(cases, double(0, 1), (given, share) => {
        const { centre, radius } = given
        const made = buffer(given)
        expect(made.errorMeters).toBeLessThanOrEqual(given.toleranceMeters ?? Math.max(1e-5, radius / 1000))
        const offset = (position: Position) => Math.abs(distance(centre, position) - radius)
        let largest = 0
        const edges = boundaryEdges(polygonsOf(made))
        for (const [from, to] of edges) {
          const length = distance(from, to)
          const [sine, cosine] = [kernel.salp1(), kernel.calp1()]
          let width = to[0] - from[0]
          if (Math.abs(width) > 180) width -= 360 * Math.sign(width)
          for (const t of [0, share, ...places]) {
            largest = Math.max(largest, offset([from[0] + t * width, from[1] + t * (to[1] - from[1])]))
            const lat = kernel.direct(from[1], from[0], sine, cosine, t * length)
            largest = Math.max(largest, offset([kernel.arrivalLon(), lat]))
          }
        }
        expect(edges.length).toBeGreaterThanOrEqual(16)
        expect(largest).toBeLessThanOrEqual(made.errorMeters)
      }),
      { numRuns: scaled(10_000) },
    )
  })

  it('has a boundary at the places that geographiclib-geodesic finds in every direction', () => {
    fc.assert(
      fc.property(cases, fc.array(double(0, 360), { minLength: 4, maxLength: 4 }), (given, azimuths) => {
        const { centre, radius } = given
        const made = buffer(given)
        const margin = made.errorMeters + NOISE_METERS
        const isInside = containsOf(made.geometry)
        for (const azimuth of azimuths)
          for (const [meters, expected] of [
            [Math.max(0, radius - margin), true],
            [radius + margin, false],
          ] as const) {
            const { lat2, lon2 } = WGS84.Direct(centre[1], centre[0], azimuth, meters)
            expect(isInside([Math.max(-180, Math.min(180, lon2!)), lat2!])).toBe(expected)
          }
      }),
      { numRuns: scaled(2000) },
    )
  })

  it('contains a place if and only if it is within the radius, beyond the error', () => {
    const anywhere = fc.oneof(
      place,
      fc.tuple(fc.constantFrom(-180, 180, 0), latitude),
      fc.tuple(longitude, fc.constantFrom(-90, 90)),
    )
    fc.assert(
      fc.property(cases, fc.array(anywhere, { minLength: 8, maxLength: 8 }), (given, positions) => {
        const { centre, radius } = given
        const made = buffer(given)
        const isInside = containsOf(made.geometry)
        for (const position of positions as Position[]) {
          const meters = distance(centre, position)
          if (Math.abs(meters - radius) <= made.errorMeters + NOISE_METERS) continue
          expect(isInside(position)).toBe(meters < radius)
        }
      }),
      { numRuns: scaled(10_000) },
    )
  })

  it('is valid for all operations, and measures as the circle does', () => {
    fc.assert(
      fc.property(cases, double(0, 360), double(0, 1), (given, azimuth, share) => {
        const { centre, radius } = given
        const made = buffer(given)
        expect(checkShape(made.geometry)).toMatchObject({ ok: true })
        // Throws if the rings are not valid as planar edges and as geodesics.
        expect(run('contains', [made.geometry, made.geometry])).toMatchObject({ value: true })
        if (radius > 0.1) expect(run('area', [made.geometry])).toMatchObject({ kind: 'numeric' })
        const beyond = radius + share * (19_960_000 - radius)
        const lat = kernel.directDegrees(centre[1], centre[0], azimuth, beyond)
        const there: Position = [kernel.arrivalLon(), lat]
        const outcome = run('distance', [made.geometry, point(there)])
        const expected = distance(centre, there) - radius
        if (outcome.kind !== 'numeric') throw new RangeError('a distance is numeric')
        expect(Math.abs(outcome.measure - Math.max(0, expected))).toBeLessThanOrEqual(made.errorMeters + 1e-6)
      }),
      { numRuns: scaled(4000) },
    )
  })

  it('runs counterclockwise around what is inside, and clockwise around holes, within ±180', () => {
    fc.assert(
      fc.property(cases, (given) => {
        const polygons = polygonsOf(buffer(given))
        for (const polygon of polygons)
          for (const [index, ring] of polygon.entries()) {
            expect(ring[0]).toEqual(ring.at(-1))
            const isInRange = ([lon, lat]: Position) =>
              Math.abs(lon) <= 180 && Math.abs(lat) <= 90 && !Object.is(lon, -0) && !Object.is(lat, -0)
            expect(ring.every(isInRange)).toBe(true)
            expect(Math.sign(windingOf(ring))).toBe(index === 0 ? 1 : -1)
            // Exterior rings are cut at ±180: no edge crosses the map, except at a pole and in the box of the world.
            const atPole = ring.map(([, lat]) => Math.abs(lat) === 90)
            const widths = ring
              .slice(1)
              .map(([lon], i) => (atPole[i] && atPole[i + 1] ? 0 : Math.abs(lon - ring[i]![0])))
            if (index === 0 && polygon.length === 1) expect(Math.max(...widths)).toBeLessThanOrEqual(90)
          }
      }),
      { numRuns: scaled(4000) },
    )
  })

  it('fits into a batch with its default tolerance', () => {
    fc.assert(
      fc.property(cases, (given) => {
        const made = buffer({ ...given, toleranceMeters: undefined })
        expect(polygonsOf(made).flat(2).length).toBeLessThanOrEqual(250)
      }),
      { numRuns: scaled(10_000) },
    )
  })

  it('names a tolerance that works if there would be too many vertices', () => {
    const most = { ...engine, maxAnswerVertices: 250 }
    const row = OPERATIONS.buffer
    const attempt = ({ centre, radius, toleranceMeters }: Case) =>
      runOperation(
        row,
        [{ geometry: point(centre), path: ['geometry'], ref: undefined }],
        { radiusMeters: radius, toleranceMeters },
        most,
      )
    let refusals = 0
    fc.assert(
      fc.property(cases, (given) => {
        const asked = { ...given, toleranceMeters: Math.max(1e-5, given.radius * 1e-6) }
        try {
          attempt(asked)
        } catch (error) {
          refusals++
          const [fault] = (error as { data: { invalidParts: { pointer: string; hint: string }[] } }).data.invalidParts
          expect(fault).toMatchObject({ pointer: '#/toleranceMeters', code: 'too-many-vertices' })
          const [, least] = /^send at least ([\d.]+), or send it as a request of its own$/.exec(fault!.hint)!
          expect(attempt({ ...given, toleranceMeters: Number(least) })).toMatchObject({ kind: 'geometry' })
        }
      }),
      { numRuns: scaled(2000) },
    )
    expect(refusals).toBeGreaterThan(0)
  })

  it.each([
    ['around a place', [2, 48], 1000, 'Polygon', 1, 1],
    ['across longitude ±180', [179.999, 0], 1000, 'MultiPolygon', 2, 1],
    ['at longitude 180', [180, 0], 1000, 'MultiPolygon', 2, 1],
    ['that touches longitude ±180 only', [179, 0], distance([179, 0], [180, 0]), 'Polygon', 1, 1],
    ['around a pole', [0, 90], 1000, 'Polygon', 1, 1],
    ['that a pole is beside', [0, 89], 1000, 'Polygon', 1, 1],
    ['with one pole', [10, -60], 5e6, 'Polygon', 1, 1],
    ['with both poles', [0, 0], 12e6, 'Polygon', 1, 2],
    ['of all but the place opposite', [30, 40], MAX_RADIUS, 'Polygon', 1, 2],
  ] as const)('of a circle %s', (_, centre, radiusMeters, type, polygons, rings) => {
    const made = answer('buffer', [point([...centre])], { radiusMeters })
    expect(made.geometry.type).toBe(type)
    expect(polygonsOf(made)).toHaveLength(polygons)
    expect(polygonsOf(made)[0]).toHaveLength(rings)
  })

  it.each([
    [{}, 'radius'],
    [{ radiusMeters: 0 }, 'radius'],
    [{ radiusMeters: 0.0009 }, 'radius'],
    [{ radiusMeters: Number.NaN }, 'radius'],
    [{ radiusMeters: 19_900_001 }, 'radius'],
    [{ radiusMeters: 1, toleranceMeters: 0 }, 'toleranceMeters'],
    [{ radiusMeters: 1e6, toleranceMeters: 1e-5 }, 'toleranceMeters'],
  ])('refuses %o at %s', (parameters, member) => {
    const { type, fault } = answer('buffer', [point([2, 48])], parameters)
    expect(type).toBe('invalid-input')
    expect(fault.pointer).toBe(`#/${member}`)
  })
})
