import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { checkInterior, kernelPoleResolver } from '../../src/compute/validity.ts'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { enclosedPole } from '../../src/geometry/pole-resolver.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { cutLine, cutRing, uncut, withAntimeridianVertices } from '../antimeridian-cutter.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import type { Random } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const kernel = loadKernel()
const poleOf = kernelPoleResolver(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 500, maxParts: 50 })
const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), poleOf) === undefined
const geometryContains = (a: Geometry, b: Geometry): boolean => contains(read(a), read(b), poleOf)
const geometriesIntersect = (a: Geometry, b: Geometry): boolean => intersects(read(a), read(b), poleOf)
const distance = (a: Geometry, b: Geometry): number => distanceMeters(kernel, read(a), read(b), 100_000)

/** Returns the area in m², or the code of the fault for which the polygon is refused. */
function areaOf(geometry: Geometry): number | string | undefined {
  const flat = read(geometry)
  try {
    checkInterior(flat, ['geometry'], kernel, true)
    return areaSquareMeters(kernel, flat)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return error.data.invalidParts?.[0]?.code
  }
}

const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const seeds = fc.integer({ min: 0 }).map((seed) => seededNumbers(seed))
const pick = <T>(random: Random, ...items: readonly [T, ...T[]]): T => items[Math.floor(random() * items.length)]!
const randomSign180 = (random: Random) => (): 180 | -180 => pick<180 | -180>(random, 180, -180)

/** Equivalent forms of one shape: uncut and, if it crosses the antimeridian, cut there. */
type Forms = readonly [Geometry, ...Geometry[]]

/** A shape near the antimeridian on a coarse grid, so that shapes often touch. */
function antimeridianShape(random: Random): Forms | undefined {
  const integer = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1))
  const randomPosition = (): Position => [integer(174, 186), integer(0, 12)]
  const kind = random()
  if (kind < 0.2) {
    const [lon, lat] = random() < 0.6 ? [180, integer(0, 48) / 4] : randomPosition()
    return lon === 180 ? [point(180, lat), point(-180, lat)] : [point(lon > 180 ? lon - 360 : lon, lat)]
  }
  const several = Array.from({ length: integer(3, 9) }, randomPosition)
  if (kind < 0.5) {
    const line = withAntimeridianVertices(
      random() < 0.2
        ? [
            [180, integer(0, 5)],
            [180, integer(6, 12)],
          ]
        : several,
    )
    return [{ type: 'LineString', coordinates: uncut(line, randomSign180(random)) }, cutLine(line)]
  }
  const [x, y] = randomPosition()
  const angle = ([lon, lat]: Position): number => Math.atan2(lat - y - 0.3, lon - x - 0.4)
  const vertices = several.toSorted((p, q) => angle(p) - angle(q))
  const ring = withAntimeridianVertices([...vertices, vertices[0]!])
  const whole = polygon(uncut(ring, randomSign180(random)))
  if (!isValid(whole)) return undefined
  const cut = cutRing(ring)
  return cut === undefined ? [whole] : [whole, cut]
}

/** Expects the same answers for two shapes in all combinations of their forms. */
function expectSameAnswers(as: Forms, bs: Forms): void {
  const answers = as.flatMap((a) =>
    bs.map((b) =>
      [geometriesIntersect(a, b), geometriesIntersect(b, a), geometryContains(a, b), geometryContains(b, a)].join(),
    ),
  )
  expect([...new Set(answers)], JSON.stringify([as, bs])).toHaveLength(1)
}

describe('a shape over the antimeridian', () => {
  it('has the same predicates uncut, with either sign of 180, and cut as RFC 7946 asks', () => {
    let cuts = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const a = antimeridianShape(random)
        const b = antimeridianShape(random)
        if (a === undefined || b === undefined) return
        for (const form of [...a, ...b]) expect(isValid(form), JSON.stringify(form)).toBe(true)
        if (a.length > 1 && b.length > 1) cuts++
        expectSameAnswers(a, b)
        if (a[0].type === 'Polygon') for (const p of a) for (const q of a) expect(geometryContains(p, q)).toBe(true)
        for (const p of a) for (const q of b) if (geometryContains(p, q)) expect(geometriesIntersect(p, q)).toBe(true)
      }),
      RUNS,
    )
    expect(cuts).toBeGreaterThan(RUNS.numRuns / 4)
  })
})

/** A line around the pole from −180 to 180, in steps of 30 degrees of longitude and 5 of latitude. */
function polarRim(random: Random, side: 1 | -1, lowest: number): Position[] {
  const lats = Array.from({ length: 13 }, () => side * (lowest + 5 * Math.floor(random() * 3)))
  lats[12] = lats[0]!
  return lats.map((lat, i): Position => [30 * i - 180, lat])
}

/** A cap or a band around the pole, uncut and cut. */
function capShape(random: Random, side: 1 | -1): Forms {
  const outer = polarRim(random, side, 55)
  const inner = polarRim(random, side, 70)
  const closeRandomly = (ring: Position[]): Position[] => {
    const open = ring.slice(0, -1)
    const from = Math.floor(random() * 12)
    const rotated = [...open.slice(from), ...open.slice(0, from)].map(
      ([lon, lat]): Position => [lon === -180 ? randomSign180(random)() : lon, lat],
    )
    const closed = [...rotated, rotated[0]!]
    return random() < 0.5 ? closed : closed.reverse()
  }
  const pole: Position[] =
    random() < 0.5
      ? [
          [180, 90 * side],
          [-180, 90 * side],
        ]
      : [
          [180, 90 * side],
          [7, 90 * side],
          [-180, 90 * side],
        ]
  return random() < 0.5
    ? [polygon(closeRandomly(outer)), polygon([...outer, ...pole, outer[0]!])]
    : [polygon(closeRandomly(outer), closeRandomly(inner)), polygon([...outer, ...inner.toReversed(), outer[0]!])]
}

function poleProbe(random: Random, side: 1 | -1): Forms {
  const lon = (): number => 15 * Math.floor(random() * 25) - 180
  const lat = (): number => side * (50 + 5 * Math.floor(random() * 9))
  const kind = random()
  if (kind < 0.25) return [point(lon(), 90 * side), point(lon(), 90 * side)]
  if (kind < 0.4) {
    const y = lat()
    return [point(180, y), point(-180, y)]
  }
  if (kind < 0.7) {
    const [from, to] = [lon(), lon()]
    const [y, z] = [lat(), lat()]
    const over: Position[] = [
      [from, y],
      [from, 90 * side],
      [to, 90 * side],
      [to, z],
    ]
    const detour: Position[] = [
      [from, y],
      [from, 90 * side],
      [lon(), 90 * side],
      [to, 90 * side],
      [to, z],
    ]
    return [
      { type: 'LineString', coordinates: over },
      { type: 'LineString', coordinates: detour },
    ]
  }
  return kind < 0.9 ? capShape(random, side) : capShape(random, side === 1 ? -1 : 1)
}

describe('a cap or a band around a pole', () => {
  it('has the same predicates uncut and cut, against positions at the pole and on the antimeridian, lines over the pole and other caps', () => {
    fc.assert(
      fc.property(seeds, (random) => {
        const side = pick<1 | -1>(random, 1, -1)
        const a = capShape(random, side)
        const b = poleProbe(random, side)
        if (![...a, ...b].every(isValid)) return
        expectSameAnswers(a, b)
        for (const p of a) for (const q of a) expect(geometryContains(p, q)).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('edges along meridians and the equator', () => {
  /** An area between the equator, two meridians less than 180 apart and a pole. Its edges are the same in the plane and as geodesics. */
  const sector = (random: Random): Geometry => {
    const west = 15 * Math.floor(random() * 25) - 180
    const width = 15 * (1 + Math.floor(random() * 11))
    const wrapLon = (lon: number): number => (lon > 180 ? lon - 360 : lon)
    const top = pick(random, 90, -90)
    return polygon([
      [west, 0],
      [wrapLon(west + width), 0],
      [wrapLon(west + width), top],
      [west, top],
      [west, 0],
    ])
  }
  const randomShape = (random: Random): Geometry => {
    const lon = 7.5 * Math.floor(random() * 49) - 180
    const lat = (): number => 15 * Math.floor(random() * 13) - 90
    const kind = random()
    if (kind < 0.5) return point(lon, lat())
    if (kind < 0.8)
      return {
        type: 'LineString',
        coordinates: [
          [lon, lat()],
          [lon, lat()],
        ],
      }
    return sector(random)
  }

  it('give distance 0 exactly when two shapes intersect (decision 94)', () => {
    let intersecting = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const [a, b] = [sector(random), randomShape(random)]
        expect(isValid(a) && isValid(b)).toBe(true)
        const isIntersecting = geometriesIntersect(a, b)
        if (isIntersecting) intersecting++
        // No distance is near the threshold, because the grid has 7.5 degrees. A pole may be missed by 1e-9 m.
        expect(distance(a, b) < 1e-6, JSON.stringify([a, b])).toBe(isIntersecting)
      }),
      RUNS,
    )
    expect(intersecting).toBeGreaterThan(RUNS.numRuns / 10)
  })
})

describe('the interior of a ring', () => {
  it('contains the same poles for area, distance and containment (decision 92)', () => {
    let aroundPole = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const count = 3 + Math.floor(random() * 6)
        const step = pick(random, 1, 7.5, 15)
        // For rings near the equator both sides have nearly equal areas. Some rings have vertices at a pole.
        const maxLatitude = pick(random, 10, 40, 85)
        const lons = Array.from({ length: count }, () => Math.floor((random() * 360) / step) * step - 180)
        const vertices = [...new Set(lons)]
          .sort((p, q) => p - q)
          .map((lon): Position => [lon, random() < 0.05 ? pick(random, 90, -90) : (random() * 2 - 1) * maxLatitude])
        if (vertices.length < 3) return
        const ring = [...vertices, vertices[0]!]
        if (ring.some(([lon], i) => i > 0 && Math.abs(lon - ring[i - 1]![0]) === 180)) return
        const shape = polygon(random() < 0.5 ? ring : ring.reverse())
        if (!isValid(shape)) return
        const enclosed = enclosedPole(kernel, new Float64Array(ring.flat()))
        if (enclosed !== 0) aroundPole++
        for (const pole of [1, -1] as const) {
          const isVertex = ring.some(([, lat]) => lat === 90 * pole)
          expect(geometryContains(shape, point(33, 90 * pole)), JSON.stringify(ring)).toBe(
            enclosed === pole && !isVertex,
          )
          expect(geometriesIntersect(shape, point(33, 90 * pole))).toBe(enclosed === pole || isVertex)
          expect(distance(shape, point(33, 90 * pole)) < 1e-6).toBe(enclosed === pole || isVertex)
        }
      }),
      RUNS,
    )
    expect(aroundPole).toBeGreaterThan(RUNS.numRuns / 5)
  })

  it('is accepted with the same area as elsewhere, however small it is', () => {
    let accepted = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const size = 10 ** (7 * random() - 6)
        const lat = 160 * random() - 80
        const angles = Array.from({ length: 3 + Math.floor(6 * random()) }, () => 2 * Math.PI * random()).toSorted(
          (a, b) => a - b,
        )
        const vertices = angles.map((angle): Position => {
          const radius = size * (0.2 + 0.8 * random())
          return [radius * Math.cos(angle), Math.max(-90, Math.min(90, lat + radius * Math.sin(angle)))]
        })
        const ring = [...vertices, vertices[0]!]
        const opposite = ring.map(([lon, lat]): Position => [lon > 0 ? lon - 180 : lon + 180, lat])
        const [here, there] = [ring, opposite].map((coordinates) => areaOf(polygon(coordinates)))
        if (typeof here === 'number') {
          accepted++
          // The longitudes there are rounded to 3 nm.
          expect(Math.abs((there as number) - here)).toBeLessThan(1e-8 * Math.sqrt(here) + 1e-9 * here + 1e-6)
        } else expect(there).toEqual(here)
      }),
      RUNS,
    )
    expect(accepted).toBeGreaterThan(RUNS.numRuns / 2)
  })
})
