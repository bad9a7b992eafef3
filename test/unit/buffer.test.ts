import { describe, expect, it } from 'vitest'
import { countWork, Work, WorkLimitError } from '../../src/base/work.ts'
import { bandAreaSquareMeters } from '../../src/geodesy/area.ts'
import { bufferPolygons, defaultTolerance, MAX_RADIUS_METERS } from '../../src/geodesy/buffer.ts'
import type { Place } from '../../src/geodesy/distance.ts'
import { lengthMeters } from '../../src/geodesy/length.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const buffer = (centre: Place, radius: number, tolerance = defaultTolerance(radius), maxVertices = 50_000) =>
  bufferPolygons(kernel, centre, radius, tolerance, maxVertices)!

describe('the polygons of a buffer', () => {
  it.each([
    [[2.2945, 48.8584], 1000],
    [[180, -17], 20_000],
    [[0, 90], 5e6],
    [[-30, 10], 12e6],
    [[13, -44], MAX_RADIUS_METERS],
  ] as const)('have the same bits without SIMD, around %o with %d m', (centre, radius) => {
    const scalar = instantiateKernel(compileModule(scalarBase64))
    expect(bufferPolygons(scalar, [...centre], radius, radius / 1e4, 50_000)).toEqual(
      buffer([...centre], radius, radius / 1e4),
    )
  })

  it('around a pole have their vertices on the parallel at that distance', () => {
    const { polygons } = buffer([17, -90], 1_000_000)
    const [ring] = polygons[0]!
    const latitudes = new Set(ring!.map(([, lat]) => lat))
    expect(latitudes.size).toBe(2)
    const [parallel] = [...latitudes].filter((lat) => lat !== -90)
    const meridian = readGeometry(
      {
        type: 'LineString',
        coordinates: [
          [17, -90],
          [17, parallel!],
        ],
      },
      [],
      { maxVertices: 10, maxParts: 1 },
    )
    expect(Math.abs(lengthMeters(kernel, meridian) - 1_000_000)).toBeLessThan(2e-8)
    // A cap of 1,000 km has 0.2 % less than the circle of the plane.
    const squareMeters = bandAreaSquareMeters(-90, parallel!)
    expect(squareMeters / (Math.PI * 1e12)).toBeCloseTo(0.998, 3)
  })

  it('stop at the most vertices, and where the work ends', () => {
    expect(bufferPolygons(kernel, [0, 0], 1000, 1e-5, 100)).toBeUndefined()
    expect(() => countWork(new Work(50), () => buffer([0, 0], 1000))).toThrow(WorkLimitError)
  })

  it('pass a pole that the circle meets at a distance, which counts in the error', () => {
    const radius = kernel.inverse(60, 0, 90, 0)
    const { polygons, errorMeters } = buffer([0, 60], radius, 1000)
    expect(errorMeters).toBeGreaterThan(250)
    expect(errorMeters).toBeLessThanOrEqual(1000)
    const nearest = Math.max(...polygons.flat(2).map(([, lat]) => lat))
    expect(nearest).toBeLessThan(90)
  })
})
