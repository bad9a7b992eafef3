import geographiclib from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import { checkInterior, kernelPoleResolver } from '../../src/compute/validity.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { bandWithHole, dividedAlongGeodesics, longEdgePolygon } from '../long-edge-polygons.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const count = scaled(24_000)
const kernel = loadKernel()
const limits = { maxVertices: 1_000_000, maxParts: 100, maxWork: 2_000_000 }
const engine = { kernel, keccak: await createKeccak(), limits }
const read = (geometry: Geometry) => readGeometry(geometry, [], limits)
const { WGS84 } = geographiclib.Geodesic

/** Returns the area of a ring in square metres by the formulas of GeographicLib. */
function ringArea(ring: readonly Position[]): number {
  const polygon = WGS84.Polygon(false)
  for (const [lon, lat] of ring.slice(1)) polygon.AddPoint(lat, lon)
  const area = Math.abs(polygon.Compute(false, true).area!)
  return Math.min(area, 510_065_621_724_088.44 - area)
}

const isValidInPlane = (geometry: Geometry): boolean =>
  findInvalidity(read(geometry), kernelPoleResolver(kernel)) === undefined

/** Whether the operations that measure accept a polygon. */
function isAccepted(geometry: Geometry): boolean {
  try {
    checkInterior(read(geometry), [], kernel, true)
    return true
  } catch (error) {
    if (error instanceof ProblemError) return false
    throw error
  }
}

/** Returns the codes and pointers of the problem, undefined for a result. */
function findProblems(name: OperationName, operands: Geometry[], radius?: number): unknown {
  try {
    const operationInputs = operands.map((geometry) => ({ geometry, path: ['geometry'], ref: undefined }))
    runOperation(OPERATIONS[name], operationInputs, { radiusMeters: radius }, engine)
    return undefined
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return error.data.invalidParts
  }
}

/** Returns a position in or near the bounding box of a polygon. */
function positionNear(geometry: Geometry, random: () => number): Position {
  const { vertices } = read(geometry)
  const first = 2 * Math.floor((random() * vertices.length) / 2)
  const second = 2 * Math.floor((random() * vertices.length) / 2)
  const share = -0.2 + 1.4 * random()
  const [lon1, lat1, lon2, lat2] = [vertices[first]!, vertices[first + 1]!, vertices[second]!, vertices[second + 1]!]
  const lon = lon1 + share * (Math.abs(lon2 - lon1) > 180 ? 0 : lon2 - lon1)
  return [Math.max(-180, Math.min(180, lon)), Math.max(-90, Math.min(90, lat1 + share * (lat2 - lat1)))]
}

describe('polygons with long edges', () => {
  it('are measured if and only if their rings are valid with vertices along their geodesics', () => {
    const random = seededRandom(125)
    const seen = { measured: 0, refused: 0, looked: 0 }
    for (let index = 0; index < count; index++) {
      const geometry = longEdgePolygon(random)
      if (findProblems('contains', [geometry, geometry]) !== undefined) continue
      const accepted = isAccepted(geometry)
      // Where the check and the ring with few vertices disagree, the rings almost touch, so more vertices decide.
      const agrees = [40, 1500, 20_000].some((pieces) => {
        if (pieces > 40) seen.looked++
        return isValidInPlane(dividedAlongGeodesics(kernel, geometry, pieces)) === accepted
      })
      expect(agrees, `${accepted} ${JSON.stringify(geometry)}`).toBe(true)
      seen[accepted ? 'measured' : 'refused']++
    }
    console.log(seen)
    expect(seen.measured).toBeGreaterThan(count / 5)
    expect(seen.refused).toBeGreaterThan(count / 10)
  })

  it('have an area, a distance and a result of within, or are rejected by all for the same reason', () => {
    const random = seededRandom(126)
    const seen = { answered: 0, refused: 0 }
    for (let index = 0; index < count / 4; index++) {
      const geometry = longEdgePolygon(random)
      const point: Geometry = { type: 'Point', coordinates: positionNear(geometry, random) }
      const distance = findProblems('distance', [geometry, point])
      expect(findProblems('distance', [point, geometry])).toEqual(distance)
      expect(findProblems('within', [geometry, point], 10 ** (7 * random()))).toEqual(distance)
      expect(findProblems('within', [point, geometry], 10 ** (7 * random()))).toEqual(distance)
      const area = findProblems('area', [geometry])
      // Only area also rejects a polygon whose area rounds to zero.
      if (JSON.stringify(area)?.includes('no-area') !== true) expect(area, JSON.stringify(geometry)).toEqual(distance)
      seen[distance === undefined ? 'answered' : 'refused']++
    }
    console.log(seen)
    expect(seen.refused).toBeGreaterThan(count / 40)
  })
})

describe('a hole', () => {
  it('never lowers a distance', () => {
    const random = seededRandom(127)
    const seen = { compared: 0, raised: 0 }
    for (let index = 0; index < count / 2; index++) {
      const [shell, hole] = bandWithHole(random) as [Position[], Position[]]
      const whole: Geometry = { type: 'Polygon', coordinates: [shell, hole] }
      const filled: Geometry = { type: 'Polygon', coordinates: [shell] }
      if (!isAccepted(whole)) continue
      const inHole: Position = [hole[0]![0], (hole[0]![1] + hole[2]![1]) / 2]
      for (const position of [positionNear(whole, random), inHole]) {
        const point = read({ type: 'Point', coordinates: position })
        const without = distanceMeters(kernel, read(filled), point, limits.maxWork)
        const withHole = distanceMeters(kernel, read(whole), point, limits.maxWork)
        expect(withHole, JSON.stringify([whole, position])).toBeGreaterThanOrEqual(without - 1e-6)
        seen.compared++
        if (withHole > without) seen.raised++
      }
    }
    console.log(seen)
    expect(seen.raised).toBeGreaterThan(count / 1000)
  })

  it('is subtracted from the area of the exterior ring', () => {
    const random = seededRandom(128)
    for (let index = 0; index < count / 8; index++) {
      const rings = bandWithHole(random)
      const geometry: Geometry = { type: 'Polygon', coordinates: rings }
      if (!isAccepted(geometry) || findProblems('area', [geometry]) !== undefined) continue
      const outcome = runOperation(OPERATIONS.area, [{ geometry, path: [], ref: undefined }], {}, engine)
      const area = outcome.kind === 'numeric' ? Number(outcome.integer) / 1e4 : Number.NaN
      const truth = ringArea(rings[0]!) - ringArea(rings[1]!)
      // GeographicLib's formulas lose 10 cm² and 5·10⁻¹⁴ of the area.
      expect(Math.abs(area - truth), JSON.stringify(rings)).toBeLessThan(0.1 + 1e-12 * truth)
    }
  })

  it('on a straight edge is accepted if and only if the part outside is no larger than the error of the area', () => {
    const random = seededRandom(129)
    const seen = { taken: 0, refused: 0 }
    for (let index = 0; index < count / 8; index++) {
      const [lon, lat] = [Math.floor(300 * random()) - 150, Math.floor(60 * random()) + 10]
      // Binary fractions, so that the hole's vertex is exactly on the edge.
      const size = 2 ** -Math.floor(3 + 12 * random())
      const [open, share] = [10 ** (-3 + 2.5 * random()), (1 + Math.floor(7 * random())) / 8]
      const foot: Position = [lon + share * size, lat]
      const half = 0.05 * size
      const hole: Position[] = [foot, [foot[0] + half, lat + open * half], [foot[0] - half, lat + open * half], foot]
      const shell: Position[] = [
        [lon, lat],
        [lon + size, lat],
        [lon + size, lat + size],
        [lon, lat + size],
        [lon, lat],
      ]
      const geometry: Geometry = { type: 'Polygon', coordinates: [shell, hole] }
      // How far the vertex is beyond the geodesic, and the area of the hole beyond it, on a flat surface.
      const line = WGS84.InverseLine(lat, lon, lat, lon + size)
      const depth = WGS84.Inverse(lat, foot[0], line.Position(line.s13! * share).lat2!, foot[0]).s12!
      const slope =
        (open * WGS84.Inverse(lat, lon, lat + 1e-3, lon).s12!) / WGS84.Inverse(lat, lon, lat, lon + 1e-3).s12!
      const beyond = depth ** 2 / slope
      const area = ringArea(shell)
      if (isAccepted(geometry)) {
        expect(depth, JSON.stringify(geometry)).toBeLessThan(1.01e-3)
        expect(beyond, JSON.stringify(geometry)).toBeLessThan(Math.max(1e-4, 1e-12 * area))
        seen.taken++
      } else {
        // The length of its two edges beyond the geodesic, and the area with the tolerance of the check.
        const length = 2 * depth * Math.hypot(1, 1 / slope)
        const isSmall = length < 1.9e-3 && beyond < Math.max(1e-4, 1e-12 * area) / 10
        expect(isSmall, JSON.stringify(geometry)).toBe(false)
        seen.refused++
      }
    }
    console.log(seen)
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(count / 100)
  })
})
