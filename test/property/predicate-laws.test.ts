import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { ContainsSweep, contains } from '../../src/topology/contains.ts'
import { IntersectsSweep, intersects } from '../../src/topology/intersects.ts'
import { buildSegmentSet } from '../../src/topology/layout/build-segments.ts'
import { buildElementRings } from '../../src/topology/layout/element-rings.ts'
import { LineBoundary } from '../../src/topology/layout/line-boundary.ts'
import { findInvalidity, findInvalidityBySweep } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { withChains } from '../contact-laws.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import { RandomShapes, SHAPE_TYPES } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
/** The enclosed pole of every ring that winds around the axis. All caps in this file are at the north pole. */
const north = () => 1 as const
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), north) === undefined
const geometryContains = (a: Geometry, b: Geometry): boolean => contains(read(a), read(b), north)
const geometriesIntersect = (a: Geometry, b: Geometry): boolean => intersects(read(a), read(b), north)

/** Seeded shapes in [0, 12]², on a grid or not. */
const anyShape = (types: readonly (typeof SHAPE_TYPES)[number][] = SHAPE_TYPES): fc.Arbitrary<Geometry> =>
  fc
    .record({ type: fc.constantFrom(...types), isGrid: fc.boolean(), seed: fc.integer({ min: 0 }) })
    .map(({ type, isGrid, seed }) => new RandomShapes(seededNumbers(seed), 12, isGrid).next(type))
const validShape = (types?: readonly (typeof SHAPE_TYPES)[number][]) => anyShape(types).filter(isValid)
const AREAS = ['Polygon', 'MultiPolygon'] as const

function unitInterval(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
}

/** Moves a geometry east by a whole number of degrees, past 180 to −180. Exact for coordinates on a grid. */
function moveEast(geometry: Geometry, degrees: number): Geometry {
  return withChains(geometry, (chain) =>
    chain.map(([lon, lat]): Position => [lon + degrees > 180 ? lon + degrees - 360 : lon + degrees, lat]),
  )
}

/** Rounds positions to a fine binary grid, so that moving them and adding 360 is exact. */
function roundToFineGrid(geometry: Geometry): Geometry {
  return withChains(geometry, (chain) =>
    chain.map(([lon, lat]): Position => [Math.round(lon * 1024) / 1024, Math.round(lat * 1024) / 1024]),
  )
}

describe('intersects', () => {
  it('is symmetric', () => {
    fc.assert(
      fc.property(validShape(), validShape(), (a, b) => geometriesIntersect(a, b) === geometriesIntersect(b, a)),
      RUNS,
    )
  })

  it('is implied by contains', () => {
    fc.assert(
      fc.property(validShape(), validShape(), (a, b) => !geometryContains(a, b) || geometriesIntersect(a, b)),
      RUNS,
    )
  })
})

describe('contains', () => {
  it('is true for every area and itself', () => {
    fc.assert(
      fc.property(validShape(AREAS), (a) => geometryContains(a, a)),
      RUNS,
    )
  })

  it('is transitive', () => {
    let nested = 0
    fc.assert(
      fc.property(validShape(AREAS), validShape(AREAS), validShape(['Polygon', 'Point', 'LineString']), (a, b, c) => {
        if (!geometryContains(a, b) || !geometryContains(b, c)) return true
        nested++
        return geometryContains(a, c)
      }),
      { numRuns: scaled(5000) },
    )
    // Random areas are rarely nested three deep. Shrinking a ring towards its mean or one of its vertices often nests them.
    const scale = fc.double({ min: 0.1, max: 1, noNaN: true })
    fc.assert(
      fc.property(validShape(['Polygon']), fc.boolean(), scale, scale, (shape, isAroundMean, s, t) => {
        const ring = (shape as { coordinates: Position[][] }).coordinates[0]!
        const vertices = ring.slice(1)
        const mean = (axis: 0 | 1): number => vertices.reduce((sum, vertex) => sum + vertex[axis], 0) / vertices.length
        const center = isAroundMean ? ([mean(0), mean(1)] as const) : ring[0]!
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
        if (!isValid(a!) || !isValid(b!) || !isValid(c!) || !geometryContains(a!, b!) || !geometryContains(b!, c!))
          return true
        nested++
        return geometryContains(a!, c!)
      }),
      { numRuns: scaled(3000) },
    )
    expect(nested).toBeGreaterThan(scaled(500))
  })
})

describe('equivalent forms of a shape', () => {
  it('give the same answers for rotated and reversed rings and repeated vertices', () => {
    const rewrite = (a: Geometry, start: number): Geometry =>
      a.type.endsWith('Polygon')
        ? withChains(a, (ring) => {
            const open = ring.slice(0, -1)
            const first = Math.floor(start * open.length)
            const rotated = [...open.slice(first), ...open.slice(0, first)]
            if (start < 0.5) rotated.reverse()
            return [rotated[0]!, ...rotated, rotated[0]!]
          })
        : withChains(a, (chain) => (a.type.endsWith('LineString') ? [chain[0]!, ...chain].reverse() : chain))
    fc.assert(
      fc.property(anyShape(), anyShape(), unitInterval(), (a, b, start) => {
        expect(isValid(rewrite(a, start))).toBe(isValid(a))
        if (!isValid(a) || !isValid(b)) return
        expect(geometryContains(rewrite(a, start), b)).toBe(geometryContains(a, b))
        expect(geometryContains(a, rewrite(b, start))).toBe(geometryContains(a, b))
        expect(geometriesIntersect(rewrite(a, start), b)).toBe(geometriesIntersect(a, b))
      }),
      RUNS,
    )
  })

  it('give the same answers after both shapes are moved onto the antimeridian', () => {
    fc.assert(
      fc.property(anyShape(), anyShape(), fc.integer({ min: 168, max: 180 }), (first, second, degrees) => {
        const a = roundToFineGrid(first)
        const b = roundToFineGrid(second)
        const [movedA, movedB] = [moveEast(a, degrees), moveEast(b, degrees)]
        expect(isValid(movedA)).toBe(isValid(a))
        if (!isValid(a) || !isValid(b)) return
        expect(geometryContains(movedA, movedB)).toBe(geometryContains(a, b))
        expect(geometriesIntersect(movedA, movedB)).toBe(geometriesIntersect(a, b))
      }),
      RUNS,
    )
  })

  it('give the same answers for boxes that are cut and uncut at the antimeridian', () => {
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
        const b = moveEast(roundToFineGrid(shape), 174)
        if (!isValid(b)) return
        expect(geometriesIntersect(uncut, cut)).toBe(true)
        expect(geometryContains(uncut, cut) && geometryContains(cut, uncut)).toBe(true)
        expect(geometryContains(cut, b)).toBe(geometryContains(uncut, b))
        expect(geometryContains(b, cut)).toBe(geometryContains(b, uncut))
        expect(geometriesIntersect(cut, b)).toBe(geometriesIntersect(uncut, b))
      }),
      RUNS,
    )
  })

  it('give the same answers for a cap around a pole and its cut form', () => {
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
          const b = withChains(roundToFineGrid(shape), (chain) =>
            chain.map(([x, y]): Position => [Math.min(x + lon, 179), y + 60]),
          )
          if (!isValid(b)) return
          expect(isValid(uncut) && isValid(cut)).toBe(true)
          expect(geometryContains(uncut, b)).toBe(geometryContains(cut, b))
          expect(geometryContains(b, uncut)).toBe(geometryContains(b, cut))
          expect(geometriesIntersect(b, uncut)).toBe(geometriesIntersect(cut, b))
          expect(geometryContains(uncut, cut) && geometryContains(cut, uncut)).toBe(true)
        },
      ),
      RUNS,
    )
  })
})

describe('the scale of coordinates', () => {
  it('does not change answers when each axis is scaled by its own power of two', () => {
    // Down to where products, and then the coordinates themselves, are near the smallest doubles.
    const power = fc.integer({ min: -960, max: 2 })
    fc.assert(
      fc.property(anyShape(), anyShape(AREAS), anyShape(AREAS), power, power, (a, b, c, x, y) => {
        const scaled = (geometry: Geometry): Geometry =>
          withChains(geometry, (chain) => chain.map(([lon, lat]): Position => [lon * 2 ** x, lat * 2 ** y]))
        const both: Geometry = { type: 'GeometryCollection', geometries: [b, c] }
        expect(isValid(scaled(b))).toBe(isValid(b))
        if (!isValid(a) || !isValid(both)) return
        expect(geometryContains(scaled(both), scaled(a))).toBe(geometryContains(both, a))
        expect(geometriesIntersect(scaled(both), scaled(a))).toBe(geometriesIntersect(both, a))
      }),
      RUNS,
    )
  })
})

describe('the sweep', () => {
  const allSegments = (segments: { count: number }): Int32Array =>
    Int32Array.from({ length: segments.count }, (_, s) => s)

  it('gives the same predicates without the shortcuts by boxes and ring passes', () => {
    fc.assert(
      fc.property(validShape(), validShape(), (a, b) => {
        const containsSegments = buildSegmentSet(read(a), read(b), north)
        const sweep = new ContainsSweep(containsSegments, new LineBoundary(read(a), true))
        expect(sweep.decide(allSegments(containsSegments))).toBe(geometryContains(a, b))
        const intersectsSegments = buildSegmentSet(read(a), read(b), north)
        expect(!new IntersectsSweep(intersectsSegments).isDisjoint(allSegments(intersectsSegments))).toBe(
          geometriesIntersect(a, b),
        )
      }),
      RUNS,
    )
  })

  it('gives the same validity without the shortcuts by boxes and ring passes', () => {
    fc.assert(
      fc.property(anyShape(AREAS), (a) => {
        const elementRings = buildElementRings(read(a), 0, north)
        if ('reason' in elementRings) return
        expect(findInvalidityBySweep(elementRings) === undefined).toBe(isValid(a))
      }),
      { numRuns: scaled(5000) },
    )
  })
})
