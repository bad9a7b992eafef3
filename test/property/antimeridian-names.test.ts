import { describe, expect, it } from 'vitest'
import { kernelPoleResolver } from '../../src/compute/validity.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { renamed } from '../antimeridian-names.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import type { Random } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const kernel = loadKernel()
const poleOf = kernelPoleResolver(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 500, maxParts: 50 })
const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), poleOf) === undefined
const geometryContains = (a: Geometry, b: Geometry): boolean => contains(read(a), read(b), poleOf, kernel)
const geometriesIntersect = (a: Geometry, b: Geometry): boolean => intersects(read(a), read(b), poleOf, kernel)

const seeds = fc.integer({ min: 0 }).map((seed) => seededNumbers(seed))
type PositionGenerator = () => Position
const integer = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1))

/** Positions on a coarse grid near the antimeridian, on one side of it or on both. */
function positionsNearAntimeridian(random: Random): PositionGenerator {
  const [west, east] = [
    [174, 180],
    [180, 186],
    [175, 185],
  ][integer(random, 0, 2)]! as [number, number]
  return () => {
    // Many positions are on the antimeridian itself.
    const lon = random() < 0.3 ? 180 : integer(random, west, east)
    return [lon > 180 || (lon === 180 && west === 180) ? lon - 360 : lon, integer(random, -4, 6)]
  }
}

/** Positions around the globe, including the poles. Only 0 and the antimeridian are 180 degrees apart. */
function positionsAroundGlobe(random: Random): PositionGenerator {
  return () => {
    const lon = [-180, -130, -80, -30, 0, 20, 70, 120, 180][integer(random, 0, 8)]!
    return [lon, random() < 0.1 ? (random() < 0.5 ? 90 : -90) : 22.5 * integer(random, -3, 3)]
  }
}

function ring(random: Random, nextPosition: PositionGenerator): Position[] {
  const positions = Array.from({ length: integer(random, 3, 6) }, nextPosition)
  if (random() < 0.7) {
    // Order the positions by direction from their mean, with longitudes from 0 to 360, so that most rings are simple.
    const x = ([lon]: Position): number => (lon < 0 ? lon + 360 : lon)
    const middle = positions.reduce((sum, p) => sum + x(p), 0) / positions.length + 0.01
    const height = positions.reduce((sum, [, lat]) => sum + lat, 0) / positions.length + 0.02
    const angle = (p: Position): number => Math.atan2(p[1] - height, x(p) - middle)
    positions.sort((p, q) => angle(p) - angle(q))
  }
  return [...positions, positions[0]!]
}

function box(nextPosition: PositionGenerator): Position[] {
  const [[west, south], [east, north]] = [nextPosition(), nextPosition()]
  const corners: Position[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]
  return [...corners, corners[0]!]
}

function polygon(random: Random, nextPosition: PositionGenerator): Position[][] {
  const rings = [random() < 0.5 ? box(nextPosition) : ring(random, nextPosition)]
  while (random() < 0.4) rings.push(ring(random, nextPosition))
  return rings
}

/** A polygon or multipolygon, valid or not. */
function randomArea(random: Random): Geometry {
  const nextPosition = (): PositionGenerator =>
    random() < 0.5 ? positionsNearAntimeridian(random) : positionsAroundGlobe(random)
  const parts = random() < 0.5 ? 1 : integer(random, 2, 3)
  const polygons = Array.from({ length: parts }, () => polygon(random, nextPosition()))
  return parts === 1 ? { type: 'Polygon', coordinates: polygons[0]! } : { type: 'MultiPolygon', coordinates: polygons }
}

function shape(random: Random): Geometry {
  const nextPosition = random() < 0.5 ? positionsNearAntimeridian(random) : positionsAroundGlobe(random)
  const kind = random()
  const chain = (): Position[] => Array.from({ length: integer(random, 2, 5) }, nextPosition)
  if (kind < 0.1) return { type: 'Point', coordinates: nextPosition() }
  if (kind < 0.2) return { type: 'MultiPoint', coordinates: chain() }
  if (kind < 0.3) return { type: 'LineString', coordinates: chain() }
  if (kind < 0.4) return { type: 'MultiLineString', coordinates: [chain(), chain(), chain()] }
  if (kind < 0.5) return { type: 'GeometryCollection', geometries: [shape(random), shape(random)] }
  for (let tries = 0; tries < 20; tries++) {
    const geometry = randomArea(random)
    if (isValid(geometry)) return geometry
  }
  return { type: 'Point', coordinates: nextPosition() }
}

describe('the signs of 180 and of zero', () => {
  it('do not affect the validity of a polygon', () => {
    let valid = 0
    let invalid = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const geometry = randomArea(random)
        const expected = isValid(geometry)
        if (expected) valid++
        else invalid++
        for (let i = 0; i < 3; i++) {
          const other = renamed(geometry, random)
          expect(isValid(other), JSON.stringify([geometry, other])).toBe(expected)
        }
      }),
      { numRuns: 10 * RUNS.numRuns },
    )
    expect(valid).toBeGreaterThan(RUNS.numRuns)
    expect(invalid).toBeGreaterThan(RUNS.numRuns)
  })

  it('do not affect intersects and contains', () => {
    let intersecting = 0
    let contained = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const [a, b] = [shape(random), shape(random)]
        const answers = (p: Geometry, q: Geometry) =>
          [geometriesIntersect(p, q), geometriesIntersect(q, p), geometryContains(p, q), geometryContains(q, p)].join()
        const expected = answers(a, b)
        if (geometriesIntersect(a, b)) intersecting++
        if (geometryContains(a, b) || geometryContains(b, a)) contained++
        for (let i = 0; i < 3; i++) {
          const [c, d] = [renamed(a, random), renamed(b, random)]
          expect(answers(c, d), JSON.stringify([a, b, c, d])).toBe(expected)
        }
      }),
      RUNS,
    )
    expect(intersecting).toBeGreaterThan(RUNS.numRuns / 4)
    expect(contained).toBeGreaterThan(RUNS.numRuns / 50)
  })
})
