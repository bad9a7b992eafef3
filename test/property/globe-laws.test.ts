import { describe, expect, it } from 'vitest'
import { edgeTurn } from '../../src/geometry/edge-turn.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { prepareTopology } from '../../src/topology/plane/prepared.ts'
import { relate } from '../../src/topology/relate.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { seededNumbers } from '../near-touch-cases.ts'
import type { Random } from '../random-shapes.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(2000) }
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 500, maxParts: 50 })

/** The matrix as text, in both orders and prepared, which have to agree with each other, with `contains` and with `intersects`. */
function matrixOf(a: Geometry, b: Geometry): string {
  const [flatA, flatB] = [read(a), read(b)]
  const matrix = relate(flatA, flatB, poleOf)
  const note = JSON.stringify([a, b, matrix.toString()])
  expect(relate(flatB, flatA, poleOf).transposed().toString(), note).toBe(matrix.toString())
  expect(relate(prepareTopology(flatA), prepareTopology(flatB), poleOf).toString(), note).toBe(matrix.toString())
  expect(matrix.decides('disjoint'), note).toBe(!intersects(flatA, flatB, poleOf))
  expect(matrix.matches('T*****FF*'), note).toBe(contains(flatA, flatB, poleOf))
  expect(matrix.matches('T*F**F***'), note).toBe(contains(flatB, flatA, poleOf))
  return matrix.toString()
}

/** The pole at which the ring has a vertex, else the pole on the smaller side in the plane. Rotation and added vertices keep it. */
function poleOf(ring: Float64Array): 1 | -1 {
  let [isNorth, isSouth, winding, sum] = [false, false, 0, 0]
  for (let i = 2; i < ring.length; i += 2) {
    const [lon1, lat1, lon2, lat2] = [ring[i - 2]!, ring[i - 1]!, ring[i]!, ring[i + 1]!]
    const east = lon2 - lon1 + 360 * edgeTurn(lon1, lat1, lon2, lat2)
    winding += east
    sum += east * (lat1 + lat2)
    if (lat1 === 90) isNorth = true
    if (lat1 === -90) isSouth = true
  }
  if (isNorth !== isSouth) return isNorth ? 1 : -1
  return winding > 0 === sum >= 0 || sum === 0 ? 1 : -1
}

/** A shape anywhere on a coarse grid with vertices at the poles and ±180, so that shapes often touch, cross ±180 or wind. */
function globalShape(random: Random): Geometry {
  const kind = random()
  const step = [15, 30, 45, 60, 10][Math.floor(random() * 5)]!
  const position = (): Position => [
    Math.max(-180, Math.min(180, Math.round((random() * 360 - 180) / step) * step)),
    Math.max(-90, Math.min(90, Math.round((random() * 180 - 90) / step) * step)),
  ]
  const randomPositions = (least: number): Position[] =>
    Array.from({ length: least + Math.floor(random() * 5) }, position)
  if (kind < 0.15) return { type: 'Point', coordinates: position() }
  if (kind < 0.3) return { type: 'LineString', coordinates: randomPositions(2) }
  const ring = (): Position[] => {
    const vertices = random() < 0.4 ? ringAroundAxis(random) : random() < 0.5 ? randomBox(random) : randomPositions(3)
    return [...vertices, vertices[0]!]
  }
  if (kind < 0.6) return { type: 'Polygon', coordinates: [ring()] }
  if (kind < 0.8) return { type: 'Polygon', coordinates: [ring(), ring()] }
  return { type: 'MultiPolygon', coordinates: [[ring()], [ring()]] }
}

/** An open ring around the axis with eight vertices. */
function ringAroundAxis(random: Random): Position[] {
  const side = random() < 0.5 ? 1 : -1
  const from = Math.floor(random() * 8) * 45
  const vertices = Array.from(
    { length: 8 },
    (_, i): Position => [-180 + ((45 * i + from) % 360), side * (50 + 5 * Math.round(random() * 4))],
  )
  return random() < 0.5 ? vertices : vertices.reverse()
}

/** An open ring between two meridians and two parallels, often across 180 and up to a pole. */
function randomBox(random: Random): Position[] {
  const west = Math.round(random() * 24 - 12) * 15
  const east = west + Math.ceil(random() * 10) * 15
  const south = Math.round(random() * 10 - 6) * 15
  const north = Math.min(90, south + Math.ceil(random() * 4) * 15)
  const wrapLon = (lon: number): number => (lon > 180 ? lon - 360 : lon)
  const lons = [west, (west + east) / 2, east]
  return [
    ...lons.map((lon): Position => [wrapLon(lon), south]),
    ...lons.reverse().map((lon): Position => [wrapLon(lon), north]),
  ]
}

function lineChains(geometry: Geometry): Position[][] {
  switch (geometry.type) {
    case 'LineString':
      return [geometry.coordinates]
    case 'Polygon':
      return geometry.coordinates
    case 'MultiPolygon':
      return geometry.coordinates.flat()
    default:
      return []
  }
}

/**
 * Whether a rotation may change the meaning of an edge: one of exactly 180 degrees, whose direction depends on the signs sent,
 * one along a pole whose ends are more than 180 apart, or one from −180 to 180, which is a whole parallel only there.
 */
function isAmbiguous(geometry: Geometry): boolean {
  return lineChains(geometry).some((chain) =>
    chain.some(([lon, lat], i) => {
      const previous = chain[i - 1]
      if (previous === undefined) return false
      const difference = Math.abs(lon - previous[0])
      return (
        difference === 180 || difference === 360 || (difference > 180 && Math.abs(lat) === 90 && lat === previous[1])
      )
    }),
  )
}

function rotated(geometry: Geometry): Geometry {
  const rotate = ([lon, lat]: Position): Position => [lon + 90 > 180 ? lon - 270 : lon + 90, lat]
  switch (geometry.type) {
    case 'Point':
      return { type: 'Point', coordinates: rotate(geometry.coordinates) }
    case 'LineString':
      return { type: 'LineString', coordinates: geometry.coordinates.map(rotate) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: geometry.coordinates.map((ring) => ring.map(rotate)) }
    case 'MultiPolygon':
      return {
        type: 'MultiPolygon',
        coordinates: geometry.coordinates.map((rings) => rings.map((ring) => ring.map(rotate))),
      }
    default:
      throw new RangeError(geometry.type)
  }
}

/** Adds a vertex in the middle of random edges along meridians, parallels and poles. This is exact on a grid of 15 degrees. */
function densified(random: Random, geometry: Geometry): Geometry {
  const midpoint = ([x, y]: Position, [u, v]: Position): Position[] => {
    if ((x !== u && y !== v) || random() < 0.4) return []
    const isShort = Math.abs(u - x) < 180 || (y === v && Math.abs(y) === 90)
    const middle = (x + (isShort ? u : u < x ? u + 360 : u - 360)) / 2
    return [[middle > 180 ? middle - 360 : middle < -180 ? middle + 360 : middle, (y + v) / 2]]
  }
  const chain = (positions: Position[]): Position[] =>
    positions.flatMap((position, i) => [...(i === 0 ? [] : midpoint(positions[i - 1]!, position)), position])
  switch (geometry.type) {
    case 'LineString':
      return { ...geometry, coordinates: chain(geometry.coordinates) }
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map(chain) }
    case 'MultiPolygon':
      return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(chain)) }
    default:
      return geometry
  }
}

describe('edges along meridians, parallels and poles', () => {
  it('keep validity and predicates when vertices are added', () => {
    let densifiedCount = 0
    const seed = fc.integer({ min: 0 }).map((start) => seededNumbers(start))
    fc.assert(
      fc.property(seed, (random) => {
        const [a, b] = [globalShape(random), globalShape(random)]
        if (isAmbiguous(a) || isAmbiguous(b)) return
        const [denseA, denseB] = [densified(random, a), densified(random, b)]
        if (lineChains(denseA).flat().length > lineChains(a).flat().length) densifiedCount++
        const [flatA, flatB, flatDenseA, flatDenseB] = [read(a), read(b), read(denseA), read(denseB)]
        const isValid = findInvalidity(flatA, poleOf) === undefined
        expect(findInvalidity(flatDenseA, poleOf) === undefined, JSON.stringify([a, denseA])).toBe(isValid)
        if (!isValid || findInvalidity(flatB, poleOf) !== undefined) return
        const note = JSON.stringify([denseA, denseB])
        expect(intersects(flatDenseA, flatDenseB, poleOf), note).toBe(intersects(flatA, flatB, poleOf))
        expect(contains(flatDenseA, flatDenseB, poleOf), note).toBe(contains(flatA, flatB, poleOf))
        expect(matrixOf(denseA, denseB), note).toBe(matrixOf(a, b))
      }),
      RUNS,
    )
    expect(densifiedCount).toBeGreaterThan(RUNS.numRuns / 5)
  })
})

/** Whether edges reach vertices at ±180 both from the west and from the east, which may be a cut at the antimeridian. */
function reachesAntimeridianFromBothSides(geometry: Geometry): boolean {
  const sides = lineChains(geometry).flatMap((chain) =>
    chain.slice(1).flatMap(([lon2], i) => {
      const lon1 = chain[i]![0]
      if (Math.abs(lon1) === 180) return Math.abs(lon2) === 180 ? [] : [Math.sign(lon2)]
      return Math.abs(lon2) === 180 ? [Math.sign(lon1)] : []
    }),
  )
  return sides.includes(1) && sides.includes(-1)
}

describe('the globe rotated by 90 degrees', () => {
  const shape = fc.integer({ min: 0 }).map((seed) => globalShape(seededNumbers(seed)))

  it('has the same valid polygons', () => {
    let compared = 0
    fc.assert(
      fc.property(shape, (a) => {
        const b = rotated(a)
        // A geometry that is cut at ±180 is valid only there: at any other longitude its parts share an edge.
        if (
          isAmbiguous(a) ||
          isAmbiguous(b) ||
          reachesAntimeridianFromBothSides(a) ||
          reachesAntimeridianFromBothSides(b)
        )
          return
        compared++
        const note = JSON.stringify(a)
        expect(findInvalidity(read(b), poleOf) === undefined, note).toBe(findInvalidity(read(a), poleOf) === undefined)
      }),
      RUNS,
    )
    expect(compared).toBeGreaterThan(RUNS.numRuns / 10)
  })

  it('has the same intersections and containments, and each area contains itself', () => {
    let compared = 0
    const isComparable = (geometry: Geometry): boolean =>
      !isAmbiguous(geometry) && !isAmbiguous(rotated(geometry)) && findInvalidity(read(geometry), poleOf) === undefined
    fc.assert(
      fc.property(shape.filter(isComparable), shape.filter(isComparable), (a, b) => {
        const [flatA, flatB, turnedA, turnedB] = [read(a), read(b), read(rotated(a)), read(rotated(b))]
        const isIntersecting = intersects(flatA, flatB, poleOf)
        expect(intersects(flatB, flatA, poleOf)).toBe(isIntersecting)
        if (a.type.endsWith('Polygon')) expect(contains(flatA, flatA, poleOf)).toBe(true)
        expect(relate(flatA, read(a), poleOf).decides('equals'), JSON.stringify(a)).toBe(true)
        const matrix = matrixOf(a, b)
        if (findInvalidity(turnedA, poleOf) !== undefined || findInvalidity(turnedB, poleOf) !== undefined) return
        compared++
        expect(intersects(turnedA, turnedB, poleOf)).toBe(isIntersecting)
        expect(contains(turnedA, turnedB, poleOf)).toBe(contains(flatA, flatB, poleOf))
        expect(matrixOf(rotated(a), rotated(b)), JSON.stringify([a, b])).toBe(matrix)
      }),
      RUNS,
    )
    expect(compared).toBeGreaterThan(RUNS.numRuns / 10)
  })

  it('answers about two parts together as about each of them', () => {
    const counts = { compared: 0, met: 0, contained: 0 }
    const isValid = (geometry: Geometry): boolean => findInvalidity(read(geometry), poleOf) === undefined
    const valid = shape.filter(isValid)
    fc.assert(
      fc.property(valid, valid, valid, fc.integer({ min: 0, max: 2 }), (a, b, c, copies) => {
        const parts = [
          [b, c],
          [a, c],
          [a, a],
        ][copies]!
        const both = read({ type: 'GeometryCollection', geometries: parts })
        const [flatA, ...flatParts] = [a, ...parts].map(read)
        const note = JSON.stringify([a, parts])
        const isMet = flatParts.some((part) => intersects(flatA!, part, poleOf))
        expect(intersects(flatA!, both, poleOf), note).toBe(isMet)
        expect(intersects(both, flatA!, poleOf), note).toBe(isMet)
        counts.compared++
        if (isMet) counts.met++
        // The interior of a polygon meets that of what covers it. A line or a point may lie on the boundary.
        if (!parts.every(({ type }) => type.endsWith('Polygon'))) return
        const isContained = flatParts.every((part) => contains(flatA!, part, poleOf))
        expect(contains(flatA!, both, poleOf), note).toBe(isContained)
        if (isContained) counts.contained++
      }),
      RUNS,
    )
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(RUNS.numRuns / 20)
    expect(counts.met).toBeLessThan(counts.compared)
  })
})
