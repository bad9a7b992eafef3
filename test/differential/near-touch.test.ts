import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { oracleContains, oracleIntersects, shapeOf } from '../exact-oracle.ts'
import { NEAR_TOUCH_SHAPES, NearTouchCases, type NearTouchShape, seededNumbers } from '../near-touch-cases.ts'
import { scaled } from '../scale.ts'

const CASES = scaled(50_000)
const SEED = Number(process.env['NEAR_TOUCH_SEED'] ?? 1)
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const poleOf = (): never => {
  throw new Error('no ring here winds around the axis')
}

interface Counts {
  pairs: number
  invalid: number
  intersecting: number
  containing: number
}

function compareWithOracle(
  a: Geometry,
  b: Geometry,
  counts: Counts,
  wrong: string[],
  isAcrossAntimeridian = false,
): void {
  const flatA = readGeometry(a, [], LIMITS)
  const flatB = readGeometry(b, [], LIMITS)
  if (findInvalidity(flatA, poleOf) !== undefined || findInvalidity(flatB, poleOf) !== undefined) {
    counts.invalid++
    return
  }
  counts.pairs++
  const shapeA = shapeOf(a, isAcrossAntimeridian)
  const shapeB = shapeOf(b, isAcrossAntimeridian)
  const isIntersecting = oracleIntersects(shapeA, shapeB)
  // A geometry contains only what it intersects, so the slower containment oracle runs only then.
  const aContainsB = isIntersecting && oracleContains(shapeA, shapeB)
  const bContainsA = isIntersecting && oracleContains(shapeB, shapeA)
  if (isIntersecting) counts.intersecting++
  if (aContainsB || bContainsA) counts.containing++
  const report = (message: string): void => {
    wrong.push(`${message}: ${JSON.stringify(a)} ${JSON.stringify(b)}`)
  }
  if (intersects(flatA, flatB, poleOf) !== isIntersecting) report(`intersects is ${isIntersecting}`)
  if (intersects(flatB, flatA, poleOf) !== isIntersecting)
    report(`intersects with exchanged operands is ${isIntersecting}`)
  if (contains(flatA, flatB, poleOf) !== aContainsB) report(`contains is ${aContainsB}`)
  if (contains(flatB, flatA, poleOf) !== bContainsA) report(`contains with exchanged operands is ${bContainsA}`)
}

describe('predicates of geometries that touch or nearly touch', () => {
  // Expected values: brute force over exact fractions (test/exact-oracle.ts).
  it.each(NEAR_TOUCH_SHAPES)('agree with exact fractions on: %s', (shape: NearTouchShape) => {
    const cases = new NearTouchCases(SEED + NEAR_TOUCH_SHAPES.indexOf(shape))
    const counts: Counts = { pairs: 0, invalid: 0, intersecting: 0, containing: 0 }
    const wrong: string[] = []
    const size = Math.ceil(CASES / NEAR_TOUCH_SHAPES.length)
    for (let i = 0; i < size; i++) compareWithOracle(...cases.next(shape), counts, wrong)
    console.log(
      `${shape}: ${counts.pairs} pairs (seed ${SEED}), ${counts.intersecting} intersect, ${counts.containing} contain, ` +
        `${counts.invalid} invalid skipped, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    // The cases are only useful if some intersect and some do not.
    expect(counts.intersecting).toBeGreaterThan(counts.pairs / 20)
    expect(counts.intersecting).toBeLessThan(counts.pairs)
  })

  it('agree with exact fractions where many lines cross at one position', () => {
    const random = seededNumbers(SEED + 200)
    const counts: Counts = { pairs: 0, invalid: 0, intersecting: 0, containing: 0 }
    const wrong: string[] = []
    // Lines between lattice points cross at few distinct positions, and so do lines through one centre.
    const latticeCoordinate = (): number => Math.floor(random() * 5)
    const line = (centre: Position | undefined, scale: number): Position[] => {
      const [x, y, u, v] = [latticeCoordinate(), latticeCoordinate(), latticeCoordinate(), latticeCoordinate()]
      const to: Position = centre === undefined ? [u, v] : [2 * centre[0] - x, 2 * centre[1] - y]
      return [[x * scale, y * scale], to.map((value) => value * scale) as [number, number]]
    }
    for (let i = 0; i < CASES / 250; i++) {
      const scale = [1, 1 / 3, 1e-9, 1e-160][i % 4]!
      const centre: Position | undefined =
        i % 3 === 0 ? [latticeCoordinate() + 0.5, latticeCoordinate() + 0.25] : undefined
      const lines = Array.from({ length: 5 + (i % 9) }, () => line(centre, scale))
      const others = lines.filter(() => random() < 0.3)
      if (others.length === 0 || random() < 0.5) others.push(line(centre, scale))
      compareWithOracle(
        { type: 'MultiLineString', coordinates: lines },
        { type: 'MultiLineString', coordinates: others },
        counts,
        wrong,
      )
    }
    console.log(
      `lines with common crossings: ${counts.pairs} pairs (seed ${SEED + 200}), ${counts.intersecting} intersect, ` +
        `${counts.containing} contain, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    expect(counts.containing).toBeGreaterThan(counts.pairs / 10)
    expect(counts.containing).toBeLessThan(counts.pairs)
  })

  it('agree with exact fractions across the antimeridian', () => {
    const cases = new NearTouchCases(SEED + 100)
    const random = seededNumbers(SEED + 101)
    const counts: Counts = { pairs: 0, invalid: 0, intersecting: 0, containing: 0 }
    const wrong: string[] = []
    const size = Math.ceil(CASES / 4)
    for (let i = 0; i < size; i++) {
      const [a, b] = cases.next(NEAR_TOUCH_SHAPES[i % NEAR_TOUCH_SHAPES.length]!)
      const middle = firstLongitude(a)
      // Move the middle onto 180 or near it. Longitudes then have as many bits as those on the other side.
      const east = 180 - middle + (i % 3 === 0 ? 0 : (random() - 0.5) * 2)
      const moveToAntimeridian = (geometry: Geometry): Geometry => {
        const sign180 = random() < 0.5 ? 180 : -180
        return mapPositions(geometry, ([lon, lat]) => {
          const x = lon + east > 180 ? lon - (360 - east) : lon + east
          return [x === 180 ? sign180 : x, lat]
        })
      }
      compareWithOracle(moveToAntimeridian(a), moveToAntimeridian(b), counts, wrong, true)
    }
    console.log(
      `antimeridian: ${counts.pairs} pairs (seed ${SEED + 100}), ${counts.intersecting} intersect, ${counts.containing} contain, ` +
        `${counts.invalid} invalid skipped, ${wrong.length} wrong`,
    )
    expect(wrong.slice(0, 3)).toEqual([])
    expect(counts.pairs).toBeGreaterThan(size / 2)
    expect(counts.intersecting).toBeGreaterThan(counts.pairs / 20)
  })
})

type Transform = (position: Position) => Position

/** Applies `transform` to every position. Supports the types that the cases use, and throws a RangeError for others. */
function mapPositions(geometry: Geometry, transform: Transform): Geometry {
  if (geometry.type === 'Point') return { type: 'Point', coordinates: transform(geometry.coordinates) }
  if (geometry.type === 'LineString') return { type: 'LineString', coordinates: geometry.coordinates.map(transform) }
  if (geometry.type !== 'Polygon') throw new RangeError(geometry.type)
  return { type: 'Polygon', coordinates: geometry.coordinates.map((ring) => ring.map(transform)) }
}

function firstLongitude(geometry: Geometry): number {
  if (geometry.type === 'LineString') return geometry.coordinates[0]![0]
  return geometry.type === 'Polygon' ? geometry.coordinates[0]![0]![0] : 0
}
