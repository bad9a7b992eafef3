import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import { checkInterior, poleOf as poleOfKernel } from '../../src/compute/validity.ts'
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
const poleOf = poleOfKernel(kernel)
const engine = {
  kernel,
  keccak: await createKeccak(),
  limits: { maxVertices: 1000, maxParts: 100, maxDistanceSolves: 100_000 },
}
const read = (geometry: Geometry) => readGeometry(geometry, [], engine.limits)
const seeds = fc.integer({ min: 0 }).map((seed) => seededNumbers(seed))
const integer = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1))

/** Latitudes from south to north, on a grid on which much is equal. */
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

/** A box from −180 to 180, its vertices spaced as wanted on both parallels, from any of them, either way. */
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
  const turned = [...open.slice(start), ...open.slice(0, start)]
  if (random() < 0.5) turned.reverse()
  return [...turned, turned[0]!]
}

/** One shape: some bands of the globe, as one MultiPolygon, and as the world with what lies between them as holes. */
function bandsOf(random: Random): { lats: number[]; forms: Geometry[] } {
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

/** Small shapes anywhere, often at the seam, a pole or on a parallel of the grid; as one piece. */
function other(random: Random): { geometry: Geometry; south: number; north: number } | undefined {
  const on = (lon: number): number => (lon > 180 ? lon - 360 : lon)
  const west = random() < 0.5 ? integer(random, 165, 180) : integer(random, -18, 17) * 10
  const south = integer(random, -12, 11) * 7.5
  const [width, height] = [integer(random, 1, 12) * 5, integer(random, 0, 8) * 7.5]
  const north = Math.min(90, south + height)
  const kind = random()
  if (kind < 0.3) return { geometry: { type: 'Point', coordinates: [on(west), south] }, south, north: south }
  const east = on(west + width)
  if (kind < 0.5) {
    const coordinates: Position[] = [
      [on(west), south],
      [east, north],
    ]
    return { geometry: { type: 'LineString', coordinates }, south, north }
  }
  if (south === north) return undefined
  const corners: Position[] = [
    [on(west), south],
    [east, south],
    [east, north],
    [on(west), north],
  ]
  const geometry: Geometry = { type: 'Polygon', coordinates: [[...corners, corners[0]!]] }
  return findInvalidity(read(geometry), poleOf) === undefined ? { geometry, south, north } : undefined
}

describe('bands of the globe, whatever form they are sent in', () => {
  it('are valid, and hold and meet what their latitudes say', () => {
    const tally = { held: 0, met: 0, apart: 0 }
    fc.assert(
      fc.property(seeds, (random) => {
        const { lats, forms } = bandsOf(random)
        const shape = other(random)
        for (const form of forms) expect(findInvalidity(read(form), poleOf), JSON.stringify(form)).toBeUndefined()
        if (shape === undefined) return
        const { geometry, south, north } = shape
        const pairs = lats.flatMap((lat, i) => (i % 2 === 0 ? [[lat, lats[i + 1]!] as const] : []))
        const meets = pairs.some(([s, n]) => south <= n && north >= s)
        // Bands do not touch, so one of them holds it. What lies on a parallel alone is not held; a pole is no parallel.
        const holds = pairs.some(
          ([s, n]) =>
            south >= s && north <= n && !(south === north && ((south === s && s > -90) || (north === n && n < 90))),
        )
        tally[holds ? 'held' : meets ? 'met' : 'apart']++
        const flat = read(geometry)
        for (const form of forms) {
          const note = JSON.stringify([form, geometry])
          const band = read(form)
          for (const b of [band, prepareTopology(band)]) {
            expect(intersects(b, flat, poleOf, kernel), note).toBe(meets)
            expect(intersects(flat, b, poleOf, kernel), note).toBe(meets)
            expect(contains(b, flat, poleOf, kernel), note).toBe(holds)
          }
          expect(contains(flat, band, poleOf, kernel), note).toBe(false)
        }
        for (const form of forms) expect(contains(read(forms[0]!), read(form), poleOf, kernel)).toBe(true)
      }),
      RUNS,
    )
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(RUNS.numRuns / 20)
  })

  it('have the areas of their latitudes, and the distances of points along meridians', () => {
    const run = (name: OperationName, ...geometries: Geometry[]): bigint => {
      const operands = geometries.map((geometry) => ({ geometry, ref: undefined, path: [] }))
      const outcome = runOperation(OPERATIONS[name], operands, undefined, engine)
      if (outcome.kind !== 'numeric') throw new RangeError(name)
      return outcome.integer
    }
    fc.assert(
      fc.property(seeds, (random) => {
        const { lats, forms } = bandsOf(random)
        const [lon, lat] = [integer(random, -6, 6) * 30, integer(random, -180, 180) / 2]
        const point: Geometry = { type: 'Point', coordinates: [lon, lat] }
        const rims = lats.filter((rim) => Math.abs(rim) < 90)
        const isInside = lats.some((rim, i) => i % 2 === 0 && lat >= rim && lat <= lats[i + 1]!)
        const nearest = Math.min(...rims.map((rim) => kernel.fastInverse(lat, lon, rim, lon)))
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
  /** Rings of vertices on a coarse grid, many of them on ±180. */
  function ring(random: Random): Position[] {
    const place = (): Position => [
      random() < 0.5 ? (random() < 0.5 ? 180 : -180) : integer(random, -5, 5) * 30,
      integer(random, -3, 3) * 30,
    ]
    if (random() < 0.5) {
      const open = Array.from({ length: integer(random, 3, 7) }, place)
      return [...open, open[0]!]
    }
    // A whole parallel below, or above, and anything on the other side.
    const side = random() < 0.5 ? 1 : -1
    const lat = (): number => side * integer(random, -1, 3) * 30
    const lons = Array.from({ length: integer(random, 0, 4) }, () => integer(random, -5, 5) * 30).sort((a, b) => b - a)
    const start: Position = [-180, -60 * side]
    return [start, [180, -60 * side], [180, lat()], ...lons.map((lon): Position => [lon, lat()]), [-180, lat()], start]
  }

  /** With vertices on the whole parallels; undefined without one. */
  function split(positions: Position[]): Position[] | undefined {
    const flat = Float64Array.from(positions.flat())
    const dense = positions.flatMap((position, i): Position[] => {
      if (i === 0 || !isWholeParallel(flat, 0, positions.length, i - 1)) return [position]
      const [lon, lat] = position
      return [[-lon / 2, lat], [0, lat], [lon / 2, lat], position]
    })
    return dense.length > positions.length ? dense : undefined
  }

  it('are valid and answer as the same ring with vertices along them', () => {
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
        const shape = other(random)
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

  it('end in an answer or in a refusal of the input, in every operation', () => {
    let answered = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const coordinates = random() < 0.5 ? [ring(random)] : [box(random, -60, 60), ring(random)]
        const geometry: Geometry = { type: 'Polygon', coordinates }
        const shape = other(random)?.geometry ?? { type: 'Point', coordinates: [0, 0] }
        for (const [name, ...geometries] of [
          ['area', geometry],
          ['distance', geometry, shape],
          ['within', shape, geometry],
          ['contains', geometry, shape],
        ] as const) {
          const operands = geometries.map((one) => ({ geometry: one, ref: undefined, path: [] }))
          try {
            runOperation(OPERATIONS[name], operands, 5, engine)
            answered++
          } catch (error) {
            if (!(error instanceof ProblemError)) throw error
            expect(error.data.type).toBe('invalid-input')
            expect(error.data.places![0]!.hint).toBeTruthy()
          }
        }
        checkInterior(read({ type: 'Polygon', coordinates: [box(random, -60, 60)] }), [], kernel)
      }),
      RUNS,
    )
    expect(answered).toBeGreaterThan(RUNS.numRuns / 4)
  })
})
