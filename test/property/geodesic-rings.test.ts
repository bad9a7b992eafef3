import { describe, expect, it } from 'vitest'
import { checkInterior, poleOf } from '../../src/compute/validity.ts'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { lengthMeters } from '../../src/geodesy/length.ts'
import type { FlatGeometry } from '../../src/geometry/flat.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { ProblemError } from '../../src/problem.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { scaled } from '../scale.ts'

const kernel = loadKernel()
const limits = { maxVertices: 100_000, maxParts: 100 }
type Position = [lon: number, lat: number]

/** Park and Miller's generator, so that every run sees the same polygons. */
function generator(seed: number): (low: number, high: number) => number {
  let state = seed
  return (low, high) => {
    state = (state * 16807) % 2147483647
    return low + (state / 2147483647) * (high - low)
  }
}

const wrap = (lon: number) => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon)

/** A star in the plane of longitude and latitude, closed. */
function star(
  random: ReturnType<typeof generator>,
  lon: number,
  lat: number,
  width: number,
  height: number,
): Position[] {
  const count = Math.floor(random(3, 9))
  const ring = Array.from({ length: count }, (_, corner): Position => {
    const turn = (2 * Math.PI * (corner + random(0, 0.7))) / count
    const share = random(0.2, 1)
    return [wrap(lon + share * width * Math.cos(turn)), lat + share * height * Math.sin(turn)]
  })
  return [...ring, ring[0]!]
}

/** The same ring with equally many vertices along each edge: made otherwise than the judgement makes its own. */
function divided(ring: readonly Position[], pieces: number): Position[] {
  return ring.flatMap((end, index): Position[] => {
    if (index === 0) return [end]
    const start = ring[index - 1]!
    const s12 = kernel.inverse(start[1], start[0], end[1], end[0])
    const [salp1, calp1] = [kernel.salp1(), kernel.calp1()]
    const between = Array.from({ length: pieces - 1 }, (_, piece): Position => {
      const lat = kernel.direct(start[1], start[0], salp1, calp1, (s12 * (piece + 1)) / pieces)
      return [kernel.arrivalLon(), lat]
    })
    return [...between, end]
  })
}

const read = (rings: Position[][]): FlatGeometry =>
  readGeometry({ type: 'Polygon', coordinates: rings } as Geometry, [], limits)

/** Whether a check lets a geometry pass. */
function passes(geometry: FlatGeometry, measures?: { maxSolves: number }): boolean {
  try {
    checkInterior(geometry, [], kernel, measures)
    return true
  } catch (error) {
    if (error instanceof ProblemError) return false
    throw error
  }
}

describe('polygons with long edges', () => {
  it('are measured just when their rings, with 1500 vertices along each edge, are valid, and alike then', () => {
    const random = generator(17)
    let measured = 0
    let refused = 0
    const count = scaled(400)
    for (let index = 0; index < count; index++) {
      const [lon, lat] = [random(-180, 180), random(-60, 60)]
      const [width, height] = [10 ** random(-0.3, 1.8), 10 ** random(-1.5, 1.3)]
      const rings = [star(random, lon, lat, width, height)]
      if (index % 2 === 1) rings.push(star(random, lon, lat, width * 0.15, height * 0.15))
      const geometry = read(rings)
      if (!passes(geometry)) continue
      const isMeasured = passes(geometry, { maxSolves: 100_000 })
      const dense = read(rings.map((ring) => divided(ring, 1500)))
      const isDenseValid = findInvalidity(dense, poleOf(kernel)) === undefined
      expect(isMeasured, JSON.stringify(rings)).toBe(isDenseValid)
      if (!isMeasured) refused++
      else {
        measured++
        const area = areaSquareMeters(kernel, geometry)
        // Vertices are rounded to 2 nm: that much times the lengths of the edges at them.
        const meters = rings.reduce(
          (sum, ring) =>
            sum + lengthMeters(kernel, readGeometry({ type: 'LineString', coordinates: ring }, [], limits)),
          0,
        )
        expect(Math.abs(areaSquareMeters(kernel, dense) - area)).toBeLessThanOrEqual(
          Math.max(1e-4, 4e-15 * area) + 4e-9 * meters,
        )
      }
    }
    expect(measured).toBeGreaterThan(count / 4)
    // The first that is refused comes late.
    if (count >= 400) expect(refused).toBeGreaterThan(count / 14)
    console.log(`${measured} measured, ${refused} refused`)
  })
})
