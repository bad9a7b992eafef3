import { describe, expect, it } from 'vitest'
import { poleOf as poleOfKernel } from '../../src/compute/validity.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import type { Random } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import { renamed } from '../seam-names.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const kernel = loadKernel()
const poleOf = poleOfKernel(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 500, maxParts: 50 })
const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), poleOf) === undefined
const holds = (a: Geometry, b: Geometry): boolean => contains(read(a), read(b), poleOf, kernel)
const meets = (a: Geometry, b: Geometry): boolean => intersects(read(a), read(b), poleOf, kernel)

const seeds = fc.integer({ min: 0 }).map((seed) => seededNumbers(seed))
type Place = () => Position
const integer = (random: Random, from: number, to: number): number => from + Math.floor(random() * (to - from + 1))

/** On a coarse grid beside the seam, on one side of it or on both. */
function placesBeside(random: Random): Place {
  const [west, east] = [
    [174, 180],
    [180, 186],
    [175, 185],
  ][integer(random, 0, 2)]! as [number, number]
  return () => {
    // Much stands on the seam itself.
    const lon = random() < 0.3 ? 180 : integer(random, west, east)
    return [lon > 180 || (lon === 180 && west === 180) ? lon - 360 : lon, integer(random, -4, 6)]
  }
}

/** All around the globe, the poles among them. No two places are 180 degrees apart but 0 and the seam. */
function placesAround(random: Random): Place {
  return () => {
    const lon = [-180, -130, -80, -30, 0, 20, 70, 120, 180][integer(random, 0, 8)]!
    return [lon, random() < 0.1 ? (random() < 0.5 ? 90 : -90) : 22.5 * integer(random, -3, 3)]
  }
}

function ring(random: Random, place: Place): Position[] {
  const positions = Array.from({ length: integer(random, 3, 6) }, place)
  if (random() < 0.7) {
    // Mostly simple: in the order of directions from their middle, on the turn that starts at Greenwich.
    const x = ([lon]: Position): number => (lon < 0 ? lon + 360 : lon)
    const middle = positions.reduce((sum, p) => sum + x(p), 0) / positions.length + 0.01
    const height = positions.reduce((sum, [, lat]) => sum + lat, 0) / positions.length + 0.02
    const angle = (p: Position): number => Math.atan2(p[1] - height, x(p) - middle)
    positions.sort((p, q) => angle(p) - angle(q))
  }
  return [...positions, positions[0]!]
}

function box(place: Place): Position[] {
  const [[west, south], [east, north]] = [place(), place()]
  const corners: Position[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]
  return [...corners, corners[0]!]
}

function polygon(random: Random, place: Place): Position[][] {
  const rings = [random() < 0.5 ? box(place) : ring(random, place)]
  while (random() < 0.4) rings.push(ring(random, place))
  return rings
}

/** Valid or not. */
function areal(random: Random): Geometry {
  const place = (): Place => (random() < 0.5 ? placesBeside(random) : placesAround(random))
  const parts = random() < 0.5 ? 1 : integer(random, 2, 3)
  const polygons = Array.from({ length: parts }, () => polygon(random, place()))
  return parts === 1 ? { type: 'Polygon', coordinates: polygons[0]! } : { type: 'MultiPolygon', coordinates: polygons }
}

function shape(random: Random): Geometry {
  const place = random() < 0.5 ? placesBeside(random) : placesAround(random)
  const kind = random()
  const chain = (): Position[] => Array.from({ length: integer(random, 2, 5) }, place)
  if (kind < 0.1) return { type: 'Point', coordinates: place() }
  if (kind < 0.2) return { type: 'MultiPoint', coordinates: chain() }
  if (kind < 0.3) return { type: 'LineString', coordinates: chain() }
  if (kind < 0.4) return { type: 'MultiLineString', coordinates: [chain(), chain(), chain()] }
  if (kind < 0.5) return { type: 'GeometryCollection', geometries: [shape(random), shape(random)] }
  for (let tries = 0; tries < 20; tries++) {
    const geometry = areal(random)
    if (isValid(geometry)) return geometry
  }
  return { type: 'Point', coordinates: place() }
}

describe('the two names of the seam, and the two signs of zero', () => {
  it('do not decide whether a polygon is valid', () => {
    let valid = 0
    let invalid = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const geometry = areal(random)
        const verdict = isValid(geometry)
        if (verdict) valid++
        else invalid++
        for (let i = 0; i < 3; i++) {
          const other = renamed(geometry, random)
          expect(isValid(other), JSON.stringify([geometry, other])).toBe(verdict)
        }
      }),
      { numRuns: 10 * RUNS.numRuns },
    )
    expect(valid).toBeGreaterThan(RUNS.numRuns)
    expect(invalid).toBeGreaterThan(RUNS.numRuns)
  })

  it('do not decide what meets and what holds what', () => {
    let met = 0
    let held = 0
    fc.assert(
      fc.property(seeds, (random) => {
        const [a, b] = [shape(random), shape(random)]
        const answers = (p: Geometry, q: Geometry) => [meets(p, q), meets(q, p), holds(p, q), holds(q, p)].join()
        const wanted = answers(a, b)
        if (meets(a, b)) met++
        if (holds(a, b) || holds(b, a)) held++
        for (let i = 0; i < 3; i++) {
          const [c, d] = [renamed(a, random), renamed(b, random)]
          expect(answers(c, d), JSON.stringify([a, b, c, d])).toBe(wanted)
        }
      }),
      RUNS,
    )
    expect(met).toBeGreaterThan(RUNS.numRuns / 4)
    expect(held).toBeGreaterThan(RUNS.numRuns / 50)
  })
})
