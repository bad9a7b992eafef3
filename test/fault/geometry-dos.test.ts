import { describe, expect, it } from 'vitest'
import type { FlatGeometry } from '../../src/geometry/flat.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { UndecidableError } from '../../src/topology/exact/undecidable.ts'
import { intersects } from '../../src/topology/intersects.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { comb, polygon, slanting, spiral, star } from '../adversarial-shapes.ts'
import { seededNumbers } from '../near-touch-cases.ts'

// Measured on 2 shared cores: 40 to 250 ms, the first call of a process the slowest; quadratic methods take minutes. The bound
// lies in between, so that it tests the method and not the machine.
const BOUND_MS = 20_000

const read = (geometry: Geometry): FlatGeometry => readGeometry(geometry, [], { maxVertices: 50_001, maxParts: 10_001 })
const area = (...rings: Position[][]): FlatGeometry => read(polygon(...rings))
const line = (coordinates: Position[]): FlatGeometry => read({ type: 'LineString', coordinates })
const north = () => 1 as const

/** Runs, prints the processor time and checks it against the bound; on a busy machine the clock time would be longer. */
function timed<T>(name: string, run: () => T): T {
  const before = process.cpuUsage()
  const result = run()
  const { user, system } = process.cpuUsage(before)
  const ms = (user + system) / 1000
  console.log(`${name}: ${ms.toFixed(1)} ms`)
  expect(ms, name).toBeLessThan(BOUND_MS)
  return result
}

function randomLine(count: number, seed: number): Position[] {
  const random = seededNumbers(seed)
  return Array.from({ length: count }, (): Position => [10 * random(), 10 * random()])
}

describe('adversarial geometries are answered in time that grows with n log n', () => {
  it('handles interlocking combs of 85 KB', () => {
    const [left, right] = [comb(950, 1), comb(950, -1)]
    expect(JSON.stringify(left).length).toBeGreaterThan(85_000)
    const [a, b] = [area(left), area(right)]
    expect(timed('combs, validity', () => findInvalidity(a, north))).toBeUndefined()
    expect(timed('combs, intersects', () => intersects(a, b, north))).toBe(false)
    expect(timed('combs, contains', () => contains(a, b, north))).toBe(false)
    const nudged = right.map(([x, y], i): Position => (i === 5 ? [10, y] : [x, y]))
    expect(timed('combs that touch at one tooth, intersects', () => intersects(a, area(nudged), north))).toBe(true)
  })

  it('handles slanting combs of 24,000 vertices each, whose boxes all overlap', () => {
    const [a, b] = [slanting(comb(6000, 1)), slanting(comb(6000, -1))]
    expect(timed('slanting combs, validity', () => findInvalidity(area(a), north))).toBeUndefined()
    expect(timed('slanting combs, intersects', () => intersects(area(a), area(b), north))).toBe(false)
    expect(timed('slanting combs, contains', () => contains(area(a), area(b), north))).toBe(false)
    expect(timed('slanting comb lines, intersects', () => intersects(line(a), line(b), north))).toBe(false)
    expect(timed('slanting comb contains line', () => contains(area(a), line(b), north))).toBe(false)
  })

  it('handles stars of 50,000 vertices', () => {
    const spikyStar = star(50_000)
    expect(timed('star, validity', () => findInvalidity(area(spikyStar), north))).toBeUndefined()
    // One spike is longer and bent over its neighbours.
    const modifiedStar = spikyStar.map(([x, y], i): Position => (i === 101 ? [x + 0.5, y + 0.5] : [x, y]))
    expect(timed('bent star, validity', () => findInvalidity(area(modifiedStar), north))).toMatchObject({
      reason: 'self-intersection',
    })
    const smallStar = star(25_000)
    expect(timed('star contains itself', () => contains(area(smallStar), area(smallStar), north))).toBe(true)
    expect(
      timed('star contains a turned star', () => contains(area(smallStar), area(star(25_000, 1.5, 0.7)), north)),
    ).toBe(false)
    const tinyStar = star(50_000).map(([x, y], i): Position => [1e-300 * x, i % 3 === 0 ? 1e-300 * y : y])
    expect(timed('star of mixed magnitudes, validity', () => findInvalidity(area(tinyStar), north))).toBeDefined()
  })

  it('handles points in a star of 40,000 vertices', () => {
    const coordinates = randomLine(10_000, 3).map(([x, y]): Position => [0.19 * x - 0.95, 0.19 * y - 0.95])
    const many = read({ type: 'MultiPoint', coordinates })
    expect(timed('star contains 10,000 points', () => contains(area(star(40_000, 2)), many, north))).toBe(true)
    expect(timed('star intersects 10,000 points', () => intersects(area(star(40_000, 2)), many, north))).toBe(true)
  })

  it('handles spirals of 50,000 vertices', () => {
    expect(timed('spiral, validity', () => findInvalidity(area(spiral(50_000, 100)), north))).toBeUndefined()
    const [a, b] = [area(spiral(25_000, 100)), area(spiral(25_000, 100, true))]
    expect(timed('interlocked spirals, intersects', () => intersects(a, b, north))).toBe(false)
    expect(timed('interlocked spirals, contains', () => contains(a, b, north))).toBe(false)
  })

  it('handles thousands of parts', () => {
    const boxes = (size: number, offset: number): FlatGeometry =>
      read({
        type: 'MultiPolygon',
        coordinates: Array.from({ length: 4900 }, (_, i) => {
          const [x, y] = [(i % 70) + offset, Math.floor(i / 70) + offset]
          return [
            [
              [x, y],
              [x + size, y],
              [x + size, y + size],
              [x, y + size],
              [x, y],
            ],
          ]
        }),
      })
    const a = boxes(0.8, 0)
    expect(timed('4,900 boxes, validity', () => findInvalidity(a, north))).toBeUndefined()
    expect(timed('4,900 boxes among 4,900', () => intersects(a, boxes(0.1, 0.85), north))).toBe(false)
    expect(timed('4,900 boxes contain 4,900', () => contains(a, boxes(0.3, 0.2), north))).toBe(true)
  })

  it('handles scribbles that cross themselves a hundred million times', () => {
    const track = randomLine(25_000, 5)
    const fence = area([
      [-1, -1],
      [11, -1],
      [11, 11],
      [-1, 11],
      [-1, -1],
    ])
    expect(timed('fence contains a scribble', () => contains(fence, line(track), north))).toBe(true)
    expect(timed('scribbles, intersects', () => intersects(line(track), line(randomLine(25_000, 6)), north))).toBe(true)
    expect(
      timed('scribble as a ring, validity', () => findInvalidity(area([...track, track[0]!]), north)),
    ).toMatchObject({
      reason: 'self-intersection',
    })
  })
})

/** Returns `count` lines that all cross at one point. */
function fan(count: number, scale = 1): Position[][] {
  return Array.from({ length: count }, (_, i): Position[] => [
    [-20, scale * (i / 100 - count / 200)],
    [20, scale * (count / 200 - i / 100)],
  ])
}

const lines = (coordinates: Position[][]): FlatGeometry => read({ type: 'MultiLineString', coordinates })

describe('lines that cross at one point', () => {
  const beam = line([
    [-20, 0],
    [20, 0],
  ])

  // Regression: each of the crossings found there went through all lines again, 4,900 lines took 40 s.
  it('are reordered there once, however many they are', () => {
    expect(timed('4,000 lines and one of them', () => contains(lines(fan(4000)), beam, north))).toBe(true)
    expect(timed('4,900 lines and themselves', () => contains(lines(fan(4900)), lines(fan(4900)), north))).toBe(true)
    const nudged = fan(4900).map(([from, to], i): Position[] => [from!, [20, to![1] + (i === 2450 ? 1e-13 : 0)]])
    expect(timed('4,900 lines but for that one', () => contains(lines(nudged), beam, north))).toBe(false)
  })

  it('are handled at a hundred points, and on the other side of the globe', () => {
    const fans = Array.from({ length: 100 }, (_, j) =>
      fan(45, 0.01).map((chain) => chain.map(([lon, lat]): Position => [lon, lat + j - 50])),
    ).flat()
    expect(timed('100 fans of 45 lines', () => contains(lines(fans), lines(fans), north))).toBe(true)
    const across = fan(4000).map((chain) => chain.map(([lon, lat]): Position => [lon + (lon < 0 ? 180 : -180), lat]))
    const equator = line([
      [160, 0],
      [-160, 0],
    ])
    expect(timed('4,000 lines over the antimeridian', () => contains(lines(across), equator, north))).toBe(true)
  })

  it('are rejected when the crossings need too many digits', () => {
    const crossed = [...fan(2000, 1e-300), ...fan(2000, -1e-290)].map(([from, to], i): Position[] => [
      [from![0] + i * 1e-290, from![1] + (i % 60) * 1e-285],
      [to![0], to![1] - (i % 61) * 1e-285],
    ])
    const refused = timed('4,000 tiny lines', () => {
      try {
        return contains(lines(crossed), lines(crossed), north)
      } catch (error) {
        return error
      }
    })
    expect(refused).toBeInstanceOf(UndecidableError)
  })
})

describe('input that cannot be decided in time is rejected, not guessed', () => {
  const refusal = (run: () => boolean): unknown => {
    try {
      return run()
    } catch (error) {
      return error
    }
  }

  it('rejects two scribbles in slanting strips side by side', () => {
    const strip = (seed: number, up: number): FlatGeometry =>
      line(randomLine(25_000, seed).map(([x, y]): Position => [x, x + up + 0.1 * y]))
    expect(timed('strips', () => refusal(() => intersects(strip(1, 0), strip(2, 1.1), north)))).toBeInstanceOf(
      UndecidableError,
    )
  })

  it('rejects a line that runs up and down one edge', () => {
    const coordinates = Array.from({ length: 45_000 }, (_, i): Position => [5 + (i % 2 ? i : -i) / 10_000, 0])
    const fence = area([
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ])
    expect(timed('up and down', () => refusal(() => contains(fence, line(coordinates), north)))).toBeInstanceOf(
      UndecidableError,
    )
  })

  it('rejects a strip that winds around the axis thousands of times', () => {
    const edge = (up: number): Position[] =>
      Array.from({ length: 12_000 }, (_, i): Position => [((i * 120) % 360) - 180, -80 + (150 * i) / 12_000 + up])
    const ring = [...edge(0), ...edge(0.01).reverse()]
    const windingPolygon = area([...ring, ring[0]!])
    expect(timed('wound strip, validity', () => findInvalidity(windingPolygon, north))).toMatchObject({
      reason: 'too intricate around the axis',
    })
    const point = read({ type: 'Point', coordinates: [0, 0] })
    expect(timed('wound strip, contains', () => refusal(() => contains(windingPolygon, point, north)))).toBeInstanceOf(
      UndecidableError,
    )
  })
})
