import { describe, expect, it } from 'vitest'
import { poleOf as poleOfKernel } from '../../src/compute/validity.ts'
import { enclosedPole } from '../../src/geodesy/area.ts'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import type { Random } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import { cutLine, cutRing, uncut, withSeamVertices } from '../seam-cutter.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const kernel = loadKernel()
const poleOf = poleOfKernel(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 500, maxParts: 50 })
const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), poleOf) === undefined
const holds = (a: Geometry, b: Geometry): boolean => contains(read(a), read(b), poleOf)
const meets = (a: Geometry, b: Geometry): boolean => intersects(read(a), read(b), poleOf)
const distance = (a: Geometry, b: Geometry): number => distanceMeters(kernel, read(a), read(b), 100_000)

const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const seeds = fc.integer({ min: 0 }).map((seed) => seededNumbers(seed))
const pick = <T>(random: Random, ...items: readonly [T, ...T[]]): T => items[Math.floor(random() * items.length)]!
const name = (random: Random) => (): 180 | -180 => pick<180 | -180>(random, 180, -180)

/** One shape in two forms: as it is and cut at the seam, when it goes over it. */
type Forms = readonly [Geometry, ...Geometry[]]

/** Around the seam on a coarse grid, so that much touches. */
function seamShape(random: Random): Forms | undefined {
  const integer = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1))
  const place = (): Position => [integer(174, 186), integer(0, 12)]
  const kind = random()
  if (kind < 0.2) {
    const [lon, lat] = random() < 0.6 ? [180, integer(0, 48) / 4] : place()
    return lon === 180 ? [point(180, lat), point(-180, lat)] : [point(lon > 180 ? lon - 360 : lon, lat)]
  }
  const several = Array.from({ length: integer(3, 9) }, place)
  if (kind < 0.5) {
    const line = withSeamVertices(
      random() < 0.2
        ? [
            [180, integer(0, 5)],
            [180, integer(6, 12)],
          ]
        : several,
    )
    return [{ type: 'LineString', coordinates: uncut(line, name(random)) }, cutLine(line)]
  }
  const [x, y] = place()
  const angle = ([lon, lat]: Position): number => Math.atan2(lat - y - 0.3, lon - x - 0.4)
  const vertices = several.toSorted((p, q) => angle(p) - angle(q))
  const ring = withSeamVertices([...vertices, vertices[0]!])
  const whole = polygon(uncut(ring, name(random)))
  if (!isValid(whole)) return undefined
  const cut = cutRing(ring)
  return cut === undefined ? [whole] : [whole, cut]
}

/** All answers about two shapes are the same in all their forms. */
function expectSame(as: Forms, bs: Forms): void {
  const answers = as.flatMap((a) => bs.map((b) => [meets(a, b), meets(b, a), holds(a, b), holds(b, a)].join()))
  expect([...new Set(answers)], JSON.stringify([as, bs])).toHaveLength(1)
}

describe('a shape over the antimeridian', () => {
  it('answers alike uncut, with any name of its vertices there, and cut as RFC 7946 asks', () => {
    let cuts = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const a = seamShape(random)
        const b = seamShape(random)
        if (a === undefined || b === undefined) return
        for (const form of [...a, ...b]) expect(isValid(form), JSON.stringify(form)).toBe(true)
        if (a.length > 1 && b.length > 1) cuts++
        expectSame(a, b)
        if (a[0].type === 'Polygon') for (const p of a) for (const q of a) expect(holds(p, q)).toBe(true)
        for (const p of a) for (const q of b) if (holds(p, q)) expect(meets(p, q)).toBe(true)
      }),
      RUNS,
    )
    expect(cuts).toBeGreaterThan(RUNS.numRuns / 4)
  })
})

/** A rim around the pole from −180 to 180, on a grid of 15 by 5 degrees. */
function rim(random: Random, side: 1 | -1, lowest: number): Position[] {
  const lats = Array.from({ length: 13 }, () => side * (lowest + 5 * Math.floor(random() * 3)))
  lats[12] = lats[0]!
  return lats.map((lat, i): Position => [30 * i - 180, lat])
}

/** A cap, or a band around the pole, uncut and cut. */
function capShape(random: Random, side: 1 | -1): Forms {
  const outer = rim(random, side, 55)
  const inner = rim(random, side, 70)
  const around = (ring: Position[]): Position[] => {
    const open = ring.slice(0, -1)
    const from = Math.floor(random() * 12)
    const turned = [...open.slice(from), ...open.slice(0, from)].map(
      ([lon, lat]): Position => [lon === -180 ? name(random)() : lon, lat],
    )
    const closed = [...turned, turned[0]!]
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
    ? [polygon(around(outer)), polygon([...outer, ...pole, outer[0]!])]
    : [polygon(around(outer), around(inner)), polygon([...outer, ...inner.toReversed(), outer[0]!])]
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
  it('answers alike uncut and cut: for places at the pole, on the seam, lines over the pole, other caps', () => {
    fc.assert(
      fc.property(seeds, (random) => {
        const side = pick<1 | -1>(random, 1, -1)
        const a = capShape(random, side)
        const b = poleProbe(random, side)
        if (![...a, ...b].every(isValid)) return
        expectSame(a, b)
        for (const p of a) for (const q of a) expect(holds(p, q)).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('edges along meridians and the equator', () => {
  /** Between two meridians, less than 180 apart, and up to a pole: in the plane and as geodesics the same. */
  const sector = (random: Random): Geometry => {
    const west = 15 * Math.floor(random() * 25) - 180
    const width = 15 * (1 + Math.floor(random() * 11))
    const to = (lon: number): number => (lon > 180 ? lon - 360 : lon)
    const top = pick(random, 90, -90)
    return polygon([
      [west, 0],
      [to(west + width), 0],
      [to(west + width), top],
      [west, top],
      [west, 0],
    ])
  }
  const thing = (random: Random): Geometry => {
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

  it('lie where they are drawn: what meets is at distance 0, and what does not is not (decision 94)', () => {
    let met = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const [a, b] = [sector(random), thing(random)]
        expect(isValid(a) && isValid(b)).toBe(true)
        const isMet = meets(a, b)
        if (isMet) met++
        // Next to 1 mm lies nothing: the grid is 7.5 degrees. A pole to which 1e-9 m are missing is reached.
        expect(distance(a, b) < 1e-6, JSON.stringify([a, b])).toBe(isMet)
      }),
      RUNS,
    )
    expect(met).toBeGreaterThan(RUNS.numRuns / 10)
  })
})

describe('the inside of a ring', () => {
  it('is one for area, distance and containment: the poles are in it for all three or for none (decision 92)', () => {
    let around = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const count = 3 + Math.floor(random() * 6)
        const step = pick(random, 1, 7.5, 15)
        // Rings near the equator have sides nearly equal; some have vertices on a pole.
        const room = pick(random, 10, 40, 85)
        const lons = Array.from({ length: count }, () => Math.floor((random() * 360) / step) * step - 180)
        const vertices = [...new Set(lons)]
          .sort((p, q) => p - q)
          .map((lon): Position => [lon, random() < 0.05 ? pick(random, 90, -90) : (random() * 2 - 1) * room])
        if (vertices.length < 3) return
        const ring = [...vertices, vertices[0]!]
        if (ring.some(([lon], i) => i > 0 && Math.abs(lon - ring[i - 1]![0]) === 180)) return
        const shape = polygon(random() < 0.5 ? ring : ring.reverse())
        if (!isValid(shape)) return
        const enclosed = enclosedPole(kernel, new Float64Array(ring.flat()))
        if (enclosed !== 0) around++
        for (const pole of [1, -1] as const) {
          const isVertex = ring.some(([, lat]) => lat === 90 * pole)
          expect(holds(shape, point(33, 90 * pole)), JSON.stringify(ring)).toBe(enclosed === pole && !isVertex)
          expect(meets(shape, point(33, 90 * pole))).toBe(enclosed === pole || isVertex)
          expect(distance(shape, point(33, 90 * pole)) < 1e-6).toBe(enclosed === pole || isVertex)
        }
      }),
      RUNS,
    )
    expect(around).toBeGreaterThan(RUNS.numRuns / 5)
  })
})
