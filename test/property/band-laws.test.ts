import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import { checkInterior, kernelPoleResolver } from '../../src/compute/validity.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { bandAreaSquareMeters } from '../../src/geodesy/area.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { isWholeParallel } from '../../src/geometry/whole-parallels.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { prepareTopology } from '../../src/topology/plane/prepared.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import type { Random } from '../random-shapes.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: Number(process.env['LAW_RUNS'] ?? 150) }
const kernel = loadKernel()
const poleOf = kernelPoleResolver(kernel)
const engine = {
  kernel,
  keccak: await createKeccak(),
  limits: { maxVertices: 1000, maxParts: 100, maxWork: 100_000 },
}
const read = (geometry: Geometry) => readGeometry(geometry, [], engine.limits)
const seeds = fc.integer({ min: 0 }).map((seed) => seededNumbers(seed))
const integer = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1))

/** Distinct latitudes from south to north, in multiples of 15 degrees so that shapes often share one. */
function latitudes(random: Random, count: number): number[] {
  const all = new Set<number>()
  while (all.size < count) all.add(integer(random, -6, 6) * 15)
  return [...all].sort((a, b) => a - b)
}

type Spacing = 'whole' | 'dense' | 'uneven'
const LONGITUDES: Readonly<Record<Spacing, number[]>> = {
  whole: [-180, 180],
  dense: [-180, -90, 0, 90, 180],
  uneven: [-180, -150, 0, 10, 180],
}

/** A closed ring around the globe between two parallels, with the given vertex spacing, a random start and a random direction. */
function box(random: Random, south: number, north: number, spacing?: Spacing): Position[] {
  const lons = (): number[] => LONGITUDES[spacing ?? (['whole', 'dense', 'uneven'] as const)[integer(random, 0, 2)]!]
  const sides = random() < 0.3 ? [(south + north) / 2] : []
  const open: Position[] = [
    ...lons().map((lon): Position => [lon, south]),
    ...sides.map((lat): Position => [180, lat]),
    ...lons()
      .toReversed()
      .map((lon): Position => [lon, north]),
    ...(random() < 0.5 ? sides : []).map((lat): Position => [-180, lat]),
  ]
  const start = integer(random, 0, open.length - 1)
  const rotated = [...open.slice(start), ...open.slice(0, start)]
  if (random() < 0.5) rotated.reverse()
  return [...rotated, rotated[0]!]
}

/** One or two bands in several forms: MultiPolygons, a collection, and the whole globe with the gaps between the bands as holes. */
function randomBands(random: Random): { lats: number[]; forms: Geometry[] } {
  const lats = latitudes(random, 2 * integer(random, 1, 2))
  const pairs: [number, number][] = []
  for (let i = 0; i < lats.length; i += 2) pairs.push([lats[i]!, lats[i + 1]!])
  const multi = (spacing?: Spacing): Geometry => ({
    type: 'MultiPolygon',
    coordinates: pairs.map(([south, north]) => [box(random, south, north, spacing)]),
  })
  const gaps = [-90, ...lats, 90].flatMap((lat, i, all): [number, number][] =>
    i % 2 === 0 && lat < all[i + 1]! ? [[lat, all[i + 1]!]] : [],
  )
  const holed: Geometry = {
    type: 'Polygon',
    coordinates: [box(random, -90, 90), ...gaps.map(([south, north]) => box(random, south, north, 'whole'))],
  }
  const collection: Geometry = {
    type: 'GeometryCollection',
    geometries: pairs.map(
      ([south, north]): Geometry => ({ type: 'Polygon', coordinates: [box(random, south, north)] }),
    ) as never,
  }
  return { lats, forms: [multi('whole'), multi(), multi(), holed, collection] }
}

/** A point, line or box anywhere, often at the antimeridian, at a pole or on a parallel of the grid. Undefined if it is invalid. */
function smallShape(random: Random): { geometry: Geometry; south: number; north: number } | undefined {
  const wrapLon = (lon: number): number => (lon > 180 ? lon - 360 : lon)
  const west = random() < 0.5 ? integer(random, 165, 180) : integer(random, -18, 17) * 10
  const south = integer(random, -12, 11) * 7.5
  const [width, height] = [integer(random, 1, 12) * 5, integer(random, 0, 8) * 7.5]
  const north = Math.min(90, south + height)
  const kind = random()
  if (kind < 0.3) return { geometry: { type: 'Point', coordinates: [wrapLon(west), south] }, south, north: south }
  const east = wrapLon(west + width)
  if (kind < 0.5) {
    const coordinates: Position[] = [
      [wrapLon(west), south],
      [east, north],
    ]
    return { geometry: { type: 'LineString', coordinates }, south, north }
  }
  if (south === north) return undefined
  const corners: Position[] = [
    [wrapLon(west), south],
    [east, south],
    [east, north],
    [wrapLon(west), north],
  ]
  const geometry: Geometry = { type: 'Polygon', coordinates: [[...corners, corners[0]!]] }
  return findInvalidity(read(geometry), poleOf) === undefined ? { geometry, south, north } : undefined
}

describe('bands of the globe, in every form in which they can be sent', () => {
  it('are valid, and contain and intersect what their latitudes imply', () => {
    const counts = { contained: 0, intersecting: 0, disjoint: 0 }
    fc.assert(
      fc.property(seeds, (random) => {
        const { lats, forms } = randomBands(random)
        const shape = smallShape(random)
        for (const form of forms) expect(findInvalidity(read(form), poleOf), JSON.stringify(form)).toBeUndefined()
        if (shape === undefined) return
        const { geometry, south, north } = shape
        const pairs = lats.flatMap((lat, i) => (i % 2 === 0 ? [[lat, lats[i + 1]!] as const] : []))
        const isIntersecting = pairs.some(([s, n]) => south <= n && north >= s)
        // Bands do not touch, so one band must contain the whole shape. A shape that lies entirely on a bounding parallel is in
        // the boundary and therefore not contained. A pole is not a boundary.
        const isContained = pairs.some(
          ([s, n]) =>
            south >= s && north <= n && !(south === north && ((south === s && s > -90) || (north === n && n < 90))),
        )
        counts[isContained ? 'contained' : isIntersecting ? 'intersecting' : 'disjoint']++
        const flat = read(geometry)
        for (const form of forms) {
          const note = JSON.stringify([form, geometry])
          const band = read(form)
          for (const b of [band, prepareTopology(band)]) {
            expect(intersects(b, flat, poleOf, kernel), note).toBe(isIntersecting)
            expect(intersects(flat, b, poleOf, kernel), note).toBe(isIntersecting)
            expect(contains(b, flat, poleOf, kernel), note).toBe(isContained)
          }
          expect(contains(flat, band, poleOf, kernel), note).toBe(false)
        }
        for (const form of forms) expect(contains(read(forms[0]!), read(form), poleOf, kernel)).toBe(true)
      }),
      RUNS,
    )
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(RUNS.numRuns / 20)
  })

  it('have the area between their latitudes, and distances to points measured along meridians', () => {
    const run = (name: OperationName, ...geometries: Geometry[]): bigint => {
      const operands = geometries.map((geometry) => ({ geometry, ref: undefined, path: [] }))
      const outcome = runOperation(OPERATIONS[name], operands, {}, engine)
      if (outcome.kind !== 'numeric') throw new RangeError(name)
      return outcome.integer
    }
    fc.assert(
      fc.property(seeds, (random) => {
        const { lats, forms } = randomBands(random)
        const [lon, lat] = [integer(random, -6, 6) * 30, integer(random, -180, 180) / 2]
        const point: Geometry = { type: 'Point', coordinates: [lon, lat] }
        const boundaryLats = lats.filter((boundaryLat) => Math.abs(boundaryLat) < 90)
        const isInside = lats.some((boundaryLat, i) => i % 2 === 0 && lat >= boundaryLat && lat <= lats[i + 1]!)
        const nearest = Math.min(...boundaryLats.map((boundaryLat) => kernel.fastInverse(lat, lon, boundaryLat, lon)))
        const expected = isInside ? 0 : Math.round(100 * nearest)
        let area = 0
        for (let i = 0; i < lats.length; i += 2) area += bandAreaSquareMeters(lats[i]!, lats[i + 1]!)
        for (const form of [forms[0]!, forms[3]!]) {
          const note = JSON.stringify([form, point])
          expect(Number(run('distance', form, point)), note).toBe(expected)
          expect(Number(run('distance', point, form)), note).toBe(expected)
          expect(Math.abs(Number(run('area', form)) / 1e4 - area), note).toBeLessThan(0.3)
        }
      }),
      RUNS,
    )
  })
})

describe('whole parallels among other edges', () => {
  /** A ring of vertices on a coarse grid, many of them on ±180. */
  function ring(random: Random): Position[] {
    const randomPosition = (): Position => [
      random() < 0.5 ? (random() < 0.5 ? 180 : -180) : integer(random, -5, 5) * 30,
      integer(random, -3, 3) * 30,
    ]
    if (random() < 0.5) {
      const open = Array.from({ length: integer(random, 3, 7) }, randomPosition)
      return [...open, open[0]!]
    }
    // A whole parallel on one side, and a random line on the other.
    const side = random() < 0.5 ? 1 : -1
    const lat = (): number => side * integer(random, -1, 3) * 30
    const lons = Array.from({ length: integer(random, 0, 4) }, () => integer(random, -5, 5) * 30).sort((a, b) => b - a)
    const start: Position = [-180, -60 * side]
    return [start, [180, -60 * side], [180, lat()], ...lons.map((lon): Position => [lon, lat()]), [-180, lat()], start]
  }

  /** The same ring with vertices added along its whole parallels. Undefined if it has none. */
  function split(positions: Position[]): Position[] | undefined {
    const flat = Float64Array.from(positions.flat())
    const dense = positions.flatMap((position, i): Position[] => {
      if (i === 0 || !isWholeParallel(flat, 0, positions.length, i - 1)) return [position]
      const [lon, lat] = position
      return [[-lon / 2, lat], [0, lat], [lon / 2, lat], position]
    })
    return dense.length > positions.length ? dense : undefined
  }

  it('give the same validity and predicates as the ring with vertices added along them', () => {
    let compared = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const coordinates = ring(random)
        const dense = split(coordinates)
        if (dense === undefined) return
        const [a, b] = [coordinates, dense].map((r) => read({ type: 'Polygon', coordinates: [r] })) as [never, never]
        const isValid = findInvalidity(a, poleOf) === undefined
        expect(findInvalidity(b, poleOf) === undefined, JSON.stringify([coordinates, dense])).toBe(isValid)
        if (!isValid) return
        const shape = smallShape(random)
        if (shape === undefined) return
        compared++
        const flat = read(shape.geometry)
        const note = JSON.stringify([coordinates, dense, shape.geometry])
        expect(intersects(a, flat, poleOf, kernel), note).toBe(intersects(b, flat, poleOf, kernel))
        expect(contains(a, flat, poleOf, kernel), note).toBe(contains(b, flat, poleOf, kernel))
        expect(contains(flat, a, poleOf, kernel), note).toBe(contains(flat, b, poleOf, kernel))
      }),
      { numRuns: 10 * RUNS.numRuns },
    )
    expect(compared).toBeGreaterThan(RUNS.numRuns)
  })

  it('give a result or an invalid-input problem, in every operation', () => {
    let succeeded = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const coordinates = random() < 0.5 ? [ring(random)] : [box(random, -60, 60), ring(random)]
        const geometry: Geometry = { type: 'Polygon', coordinates }
        const shape = smallShape(random)?.geometry ?? { type: 'Point', coordinates: [0, 0] }
        for (const [name, ...geometries] of [
          ['area', geometry],
          ['distance', geometry, shape],
          ['within', shape, geometry],
          ['contains', geometry, shape],
        ] as const) {
          const operands = geometries.map((operand) => ({ geometry: operand, ref: undefined, path: [] }))
          try {
            runOperation(OPERATIONS[name], operands, { radiusMeters: 5 }, engine)
            succeeded++
          } catch (error) {
            if (!(error instanceof ProblemError)) throw error
            expect(error.data.type).toBe('invalid-input')
            expect(error.data.invalidParts![0]!.hint).toBeTruthy()
          }
        }
        checkInterior(read({ type: 'Polygon', coordinates: [box(random, -60, 60)] }), [], kernel)
      }),
      RUNS,
    )
    expect(succeeded).toBeGreaterThan(RUNS.numRuns / 4)
  })
})
