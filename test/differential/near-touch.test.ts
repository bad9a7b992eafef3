import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { oracleContains, oracleIntersects, shapeOf } from '../exact-oracle.ts'
import { NEAR_TOUCH_SHAPES, NearTouchCases, type NearTouchShape, seededNumbers } from '../near-touch-cases.ts'
import { scaled } from '../scale.ts'

const CASES = Number(process.env['NEAR_TOUCH_CASES'] ?? scaled(50_000))
const SEED = Number(process.env['NEAR_TOUCH_SEED'] ?? 1)
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const poleOf = (): never => {
  throw new Error('no ring here winds around the axis')
}

interface Tally {
  pairs: number
  invalid: number
  intersecting: number
  containing: number
}

function judge(a: Geometry, b: Geometry, tally: Tally, wrong: string[], isUnrolled = false): void {
  const flatA = readGeometry(a, [], LIMITS)
  const flatB = readGeometry(b, [], LIMITS)
  if (findInvalidity(flatA, poleOf) !== undefined || findInvalidity(flatB, poleOf) !== undefined) {
    tally.invalid++
    return
  }
  tally.pairs++
  const shapeA = shapeOf(a, isUnrolled)
  const shapeB = shapeOf(b, isUnrolled)
  const meet = oracleIntersects(shapeA, shapeB)
  // A geometry contains nothing that it does not meet, which the oracle knows already.
  const aHoldsB = meet && oracleContains(shapeA, shapeB)
  const bHoldsA = meet && oracleContains(shapeB, shapeA)
  if (meet) tally.intersecting++
  if (aHoldsB || bHoldsA) tally.containing++
  const say = (what: string): void => {
    wrong.push(`${what}: ${JSON.stringify(a)} ${JSON.stringify(b)}`)
  }
  if (intersects(flatA, flatB, poleOf) !== meet) say(`intersects is ${meet}`)
  if (intersects(flatB, flatA, poleOf) !== meet) say(`intersects, exchanged, is ${meet}`)
  if (contains(flatA, flatB, poleOf) !== aHoldsB) say(`contains is ${aHoldsB}`)
  if (contains(flatB, flatA, poleOf) !== bHoldsA) say(`contains, exchanged, is ${bHoldsA}`)
}

describe('predicates of geometries that touch or all but touch', () => {
  // Expected values: brute force over exact fractions (test/exact-oracle.ts).
  it.each(NEAR_TOUCH_SHAPES)('agree with exact fractions on: %s', (shape: NearTouchShape) => {
    const cases = new NearTouchCases(SEED + NEAR_TOUCH_SHAPES.indexOf(shape))
    const tally: Tally = { pairs: 0, invalid: 0, intersecting: 0, containing: 0 }
    const wrong: string[] = []
    const size = Math.ceil(CASES / NEAR_TOUCH_SHAPES.length)
    for (let i = 0; i < size; i++) judge(...cases.next(shape), tally, wrong)
    console.log(
      `${shape}: ${tally.pairs} pairs (seed ${SEED}), ${tally.intersecting} meet, ${tally.containing} contain, ` +
        `${tally.invalid} invalid left out, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    // The cases are of use only when they fall on both sides.
    expect(tally.intersecting).toBeGreaterThan(tally.pairs / 20)
    expect(tally.intersecting).toBeLessThan(tally.pairs)
  })

  it('agree with exact fractions where many lines cross in one place', () => {
    const random = seededNumbers(SEED + 200)
    const tally: Tally = { pairs: 0, invalid: 0, intersecting: 0, containing: 0 }
    const wrong: string[] = []
    // Lines between the points of a lattice cross in few places, and so do those that go through one center.
    const lattice = (): number => Math.floor(random() * 5)
    const line = (through: Position | undefined, scale: number): Position[] => {
      const [x, y, u, v] = [lattice(), lattice(), lattice(), lattice()]
      const to: Position = through === undefined ? [u, v] : [2 * through[0] - x, 2 * through[1] - y]
      return [[x * scale, y * scale], to.map((value) => value * scale) as [number, number]]
    }
    for (let i = 0; i < CASES / 250; i++) {
      const scale = [1, 1 / 3, 1e-9, 1e-160][i % 4]!
      const through: Position | undefined = i % 3 === 0 ? [lattice() + 0.5, lattice() + 0.25] : undefined
      const lines = Array.from({ length: 5 + (i % 9) }, () => line(through, scale))
      const others = lines.filter(() => random() < 0.3)
      if (others.length === 0 || random() < 0.5) others.push(line(through, scale))
      judge(
        { type: 'MultiLineString', coordinates: lines },
        { type: 'MultiLineString', coordinates: others },
        tally,
        wrong,
      )
    }
    console.log(
      `lines through common places: ${tally.pairs} pairs (seed ${SEED + 200}), ${tally.intersecting} meet, ` +
        `${tally.containing} contain, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    expect(tally.containing).toBeGreaterThan(tally.pairs / 10)
    expect(tally.containing).toBeLessThan(tally.pairs)
  })

  it('agree with exact fractions over the antimeridian', () => {
    const cases = new NearTouchCases(SEED + 100)
    const random = seededNumbers(SEED + 101)
    const tally: Tally = { pairs: 0, invalid: 0, intersecting: 0, containing: 0 }
    const wrong: string[] = []
    const size = Math.ceil(CASES / 4)
    for (let i = 0; i < size; i++) {
      const [a, b] = cases.next(NEAR_TOUCH_SHAPES[i % NEAR_TOUCH_SHAPES.length]!)
      const middle = firstLongitude(a)
      // Somewhere near 180 or on it, and sent with as many bits as a longitude on the other side has.
      const east = 180 - middle + (i % 3 === 0 ? 0 : (random() - 0.5) * 2)
      const moved = (geometry: Geometry): Geometry => {
        const seam = random() < 0.5 ? 180 : -180
        return onto(geometry, ([lon, lat]) => {
          const x = lon + east > 180 ? lon - (360 - east) : lon + east
          return [x === 180 ? seam : x, lat]
        })
      }
      judge(moved(a), moved(b), tally, wrong, true)
    }
    console.log(
      `antimeridian: ${tally.pairs} pairs (seed ${SEED + 100}), ${tally.intersecting} meet, ${tally.containing} contain, ` +
        `${tally.invalid} invalid left out, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    expect(tally.pairs).toBeGreaterThan(size / 2)
    expect(tally.intersecting).toBeGreaterThan(tally.pairs / 20)
  })
})

type Move = (position: Position) => Position

/** Only the types that the cases have. */
function onto(geometry: Geometry, move: Move): Geometry {
  if (geometry.type === 'Point') return { type: 'Point', coordinates: move(geometry.coordinates) }
  if (geometry.type === 'LineString') return { type: 'LineString', coordinates: geometry.coordinates.map(move) }
  if (geometry.type !== 'Polygon') throw new RangeError(geometry.type)
  return { type: 'Polygon', coordinates: geometry.coordinates.map((ring) => ring.map(move)) }
}

function firstLongitude(geometry: Geometry): number {
  if (geometry.type === 'LineString') return geometry.coordinates[0]![0]
  return geometry.type === 'Polygon' ? geometry.coordinates[0]![0]![0] : 0
}
