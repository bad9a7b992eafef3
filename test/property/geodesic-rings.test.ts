import { expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { checkInterior, kernelPoleResolver } from '../../src/compute/validity.ts'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { lengthMeters } from '../../src/geodesy/length.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { dividedAlongGeodesics, longEdgePolygon } from '../long-edge-polygons.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const kernel = loadKernel()
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 200_000, maxParts: 100 })

function isAccepted(geometry: Geometry, isMeasured = false): boolean {
  try {
    checkInterior(read(geometry), [], kernel, isMeasured)
    return true
  } catch (error) {
    if (error instanceof ProblemError) return false
    throw error
  }
}

function perimeterMeters(geometry: Geometry): number {
  const rings =
    geometry.type === 'Polygon'
      ? geometry.coordinates
      : (geometry as { coordinates: Position[][][] }).coordinates.flat()
  return lengthMeters(kernel, read({ type: 'MultiLineString', coordinates: rings }))
}

// `fuzz/geodesic-measures` tries many more polygons, and runs the operations on them.
it('measures a polygon with long edges exactly when it is valid with vertices along their geodesics, with the same area', () => {
  const random = seededRandom(17)
  const seen = { measured: 0, refused: 0 }
  const count = scaled(500)
  for (let index = 0; index < count; index++) {
    const geometry = longEdgePolygon(random)
    if (!isAccepted(geometry)) continue
    const isMeasured = isAccepted(geometry, true)
    const divided = (pieces: number) => read(dividedAlongGeodesics(kernel, geometry, pieces))
    const agrees = [30, 1500].some(
      (pieces) => (findInvalidity(divided(pieces), kernelPoleResolver(kernel)) === undefined) === isMeasured,
    )
    expect(agrees, JSON.stringify(geometry)).toBe(true)
    seen[isMeasured ? 'measured' : 'refused']++
    if (!isMeasured) continue
    const area = areaSquareMeters(kernel, read(geometry))
    // Each vertex is rounded to 2 nm, which moves the area by up to 2 nm times the lengths of the two edges at it.
    const rounding = Math.max(1e-4, 4e-15 * area) + 4e-9 * perimeterMeters(geometry)
    expect(Math.abs(areaSquareMeters(kernel, divided(30)) - area), JSON.stringify(geometry)).toBeLessThanOrEqual(
      rounding,
    )
  }
  console.log(seen)
  expect(seen.measured).toBeGreaterThan(count / 3)
  expect(seen.refused).toBeGreaterThan(count / 8)
})
