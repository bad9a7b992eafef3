import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { ContainsSweep, contains } from '../../src/topology/contains.ts'
import { IntersectsSweep, intersects } from '../../src/topology/intersects.ts'
import { buildElementRings } from '../../src/topology/layout/element-rings.ts'
import { buildSegmentSet } from '../../src/topology/layout/lay-geometry.ts'
import { LineBoundary } from '../../src/topology/layout/line-boundary.ts'
import { findInvalidity, findInvalidityBySweep } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import { RandomShapes, SHAPE_TYPES } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
/** North for every ring that winds around the axis: the caps here lie there. */
const north = () => 1 as const
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), north) === undefined
const holds = (a: Geometry, b: Geometry): boolean => contains(read(a), read(b), north)
const meets = (a: Geometry, b: Geometry): boolean => intersects(read(a), read(b), north)

/** Shapes in [0, 12]², on a grid or not, from a seed. */
const anyShape = (types: readonly (typeof SHAPE_TYPES)[number][] = SHAPE_TYPES): fc.Arbitrary<Geometry> =>
  fc
    .record({ type: fc.constantFrom(...types), isGrid: fc.boolean(), seed: fc.integer({ min: 0 }) })
    .map(({ type, isGrid, seed }) => new RandomShapes(seededNumbers(seed), 12, isGrid).next(type))
const validShape = (types?: readonly (typeof SHAPE_TYPES)[number][]) => anyShape(types).filter(isValid)
const AREAS = ['Polygon', 'MultiPolygon'] as const

function unit(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
}

/** The same geometry with every position changed; the chains of positions are changed as a whole. */
function withChains(geometry: Geometry, change: (chain: Position[]) => Position[]): Geometry {
  switch (geometry.type) {
    case 'Point':
      return { type: 'Point', coordinates: change([geometry.coordinates])[0]! }
    case 'MultiPoint':
    case 'LineString':
      return { ...geometry, coordinates: change(geometry.coordinates) }
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map(change) }
    case 'MultiPolygon':
      return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(change)) }
    case 'GeometryCollection':
      return { ...geometry, geometries: geometry.geometries.map((member) => withChains(member, change)) }
  }
}

/** Moved east by a whole number of degrees, and over 180 to −180. Exact for coordinates on a grid. */
function movedEast(geometry: Geometry, degrees: number): Geometry {
  return withChains(geometry, (chain) =>
    chain.map(([lon, lat]): Position => [lon + degrees > 180 ? lon + degrees - 360 : lon + degrees, lat]),
  )
}

/** On a fine grid in binary, so that moving and mixing with 360 loses nothing. */
function onFineGrid(geometry: Geometry): Geometry {
  return withChains(geometry, (chain) =>
    chain.map(([lon, lat]): Position => [Math.round(lon * 1024) / 1024, Math.round(lat * 1024) / 1024]),
  )
}

describe('intersects', () => {
  it('is symmetric', () => {
    fc.assert(
      fc.property(validShape(), validShape(), (a, b) => meets(a, b) === meets(b, a)),
      RUNS,
    )
  })

  it('follows from contains', () => {
    fc.assert(
      fc.property(validShape(), validShape(), (a, b) => !holds(a, b) || meets(a, b)),
      RUNS,
    )
  })
})

describe('contains', () => {
  it('holds of every area and itself', () => {
    fc.assert(
      fc.property(validShape(AREAS), (a) => holds(a, a)),
      RUNS,
    )
  })

  it('is transitive', () => {
    let nested = 0
    fc.assert(
      fc.property(validShape(AREAS), validShape(AREAS), validShape(['Polygon', 'Point', 'LineString']), (a, b, c) => {
        if (!holds(a, b) || !holds(b, c)) return true
        nested++
        return holds(a, c)
      }),
      { numRuns: scaled(5000) },
    )
    // Chance hardly nests three areas: shrinking a ring towards its middle or one of its vertices often does.
    const scale = fc.double({ min: 0.1, max: 1, noNaN: true })
    fc.assert(
      fc.property(validShape(['Polygon']), fc.boolean(), scale, scale, (shape, isMiddle, s, t) => {
        const ring = (shape as { coordinates: Position[][] }).coordinates[0]!
        const vertices = ring.slice(1)
        const mean = (axis: 0 | 1): number => vertices.reduce((sum, vertex) => sum + vertex[axis], 0) / vertices.length
        const center = isMiddle ? ([mean(0), mean(1)] as const) : ring[0]!
        const [a, b, c] = [1, s, s * t].map(
          (factor): Geometry => ({
            type: 'Polygon',
            coordinates: [
              ring.map(
                ([x, y]): Position => [center[0] + factor * (x - center[0]), center[1] + factor * (y - center[1])],
              ),
            ],
          }),
        )
        if (!isValid(a!) || !isValid(b!) || !isValid(c!) || !holds(a!, b!) || !holds(b!, c!)) return true
        nested++
        return holds(a!, c!)
      }),
      { numRuns: scaled(3000) },
    )
    expect(nested).toBeGreaterThan(scaled(500))
  })
})

describe('the form in which a shape is sent', () => {
  it('does not matter: rotation and reversal of rings, repeated vertices', () => {
    const other = (a: Geometry, turn: number): Geometry =>
      a.type.endsWith('Polygon')
        ? withChains(a, (ring) => {
            const open = ring.slice(0, -1)
            const at = Math.floor(turn * open.length)
            const rotated = [...open.slice(at), ...open.slice(0, at)]
            if (turn < 0.5) rotated.reverse()
            return [rotated[0]!, ...rotated, rotated[0]!]
          })
        : withChains(a, (chain) => (a.type.endsWith('LineString') ? [chain[0]!, ...chain].reverse() : chain))
    fc.assert(
      fc.property(anyShape(), anyShape(), unit(), (a, b, turn) => {
        expect(isValid(other(a, turn))).toBe(isValid(a))
        if (!isValid(a) || !isValid(b)) return
        expect(holds(other(a, turn), b)).toBe(holds(a, b))
        expect(holds(a, other(b, turn))).toBe(holds(a, b))
        expect(meets(other(a, turn), b)).toBe(meets(a, b))
      }),
      RUNS,
    )
  })

  it('does not matter at the antimeridian: moved onto it, everything stays as it was', () => {
    fc.assert(
      fc.property(anyShape(), anyShape(), fc.integer({ min: 168, max: 180 }), (first, second, degrees) => {
        const a = onFineGrid(first)
        const b = onFineGrid(second)
        const [movedA, movedB] = [movedEast(a, degrees), movedEast(b, degrees)]
        expect(isValid(movedA)).toBe(isValid(a))
        if (!isValid(a) || !isValid(b)) return
        expect(holds(movedA, movedB)).toBe(holds(a, b))
        expect(meets(movedA, movedB)).toBe(meets(a, b))
      }),
      RUNS,
    )
  })

  it('does not matter at the antimeridian: boxes cut there and uncut agree', () => {
    const side = fc.integer({ min: 1, max: 11 })
    fc.assert(
      fc.property(side, side, side, side, validShape(), (west, east, south, north_, shape) => {
        const [low, high] = [Math.min(south, north_), Math.max(south, north_) + 1]
        const box = (from: number, to: number): Position[] => [
          [from, low],
          [to, low],
          [to, high],
          [from, high],
          [from, low],
        ]
        const uncut: Geometry = { type: 'Polygon', coordinates: [box(180 - west, east - 180)] }
        const cut: Geometry = { type: 'MultiPolygon', coordinates: [[box(180 - west, 180)], [box(-180, east - 180)]] }
        const b = movedEast(onFineGrid(shape), 174)
        if (!isValid(b)) return
        expect(meets(uncut, cut)).toBe(true)
        expect(holds(uncut, cut) && holds(cut, uncut)).toBe(true)
        expect(holds(cut, b)).toBe(holds(uncut, b))
        expect(holds(b, cut)).toBe(holds(b, uncut))
        expect(meets(cut, b)).toBe(meets(uncut, b))
      }),
      RUNS,
    )
  })

  it('does not matter at a pole: a cap around it and its cut form agree', () => {
    const lats = fc.array(fc.integer({ min: 55, max: 75 }), { minLength: 12, maxLength: 12 })
    fc.assert(
      fc.property(
        lats,
        fc.boolean(),
        validShape(),
        fc.integer({ min: -170, max: 160 }),
        (rim, isReversed, shape, lon) => {
          // Vertices every 30 degrees from −180.
          const uncutRing = rim.map((lat, i): Position => [30 * i - 180, lat])
          const uncut: Geometry = { type: 'Polygon', coordinates: [[...uncutRing, uncutRing[0]!]] }
          const cutRing: Position[] = [...uncutRing, [180, rim[0]!], [180, 90], [-180, 90], uncutRing[0]!]
          const cut: Geometry = { type: 'Polygon', coordinates: [isReversed ? cutRing.toReversed() : cutRing] }
          const b = withChains(onFineGrid(shape), (chain) =>
            chain.map(([x, y]): Position => [Math.min(x + lon, 179), y + 60]),
          )
          if (!isValid(b)) return
          expect(isValid(uncut) && isValid(cut)).toBe(true)
          expect(holds(uncut, b)).toBe(holds(cut, b))
          expect(holds(b, uncut)).toBe(holds(b, cut))
          expect(meets(b, uncut)).toBe(meets(cut, b))
          expect(holds(uncut, cut) && holds(cut, uncut)).toBe(true)
        },
      ),
      RUNS,
    )
  })
})

describe('the size of numbers', () => {
  it('does not matter: scaled by a power of two, each axis by its own, everything stays as it was', () => {
    // Down to where products, and then the numbers themselves, are near the end of what doubles hold.
    const power = fc.integer({ min: -960, max: 2 })
    fc.assert(
      fc.property(anyShape(), anyShape(AREAS), anyShape(AREAS), power, power, (a, b, c, x, y) => {
        const scaled = (geometry: Geometry): Geometry =>
          withChains(geometry, (chain) => chain.map(([lon, lat]): Position => [lon * 2 ** x, lat * 2 ** y]))
        const both: Geometry = { type: 'GeometryCollection', geometries: [b, c] }
        expect(isValid(scaled(b))).toBe(isValid(b))
        if (!isValid(a) || !isValid(both)) return
        expect(holds(scaled(both), scaled(a))).toBe(holds(both, a))
        expect(meets(scaled(both), scaled(a))).toBe(meets(both, a))
      }),
      RUNS,
    )
  })
})

describe('the sweep', () => {
  const everything = (scene: { count: number }): Int32Array => Int32Array.from({ length: scene.count }, (_, s) => s)

  it('alone decides what boxes and passes decide', () => {
    fc.assert(
      fc.property(validShape(), validShape(), (a, b) => {
        const cover = buildSegmentSet(read(a), read(b), north)
        const sweep = new ContainsSweep(cover, new LineBoundary(read(a), true))
        expect(sweep.decide(everything(cover))).toBe(holds(a, b))
        const contact = buildSegmentSet(read(a), read(b), north)
        expect(!new IntersectsSweep(contact).isDisjoint(everything(contact))).toBe(meets(a, b))
      }),
      RUNS,
    )
  })

  it('alone judges validity as boxes and passes do', () => {
    fc.assert(
      fc.property(anyShape(AREAS), (a) => {
        const laid = buildElementRings(read(a), 0, north)
        if ('reason' in laid) return
        expect(findInvalidityBySweep(laid) === undefined).toBe(isValid(a))
      }),
      { numRuns: scaled(5000) },
    )
  })
})
