import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compensatedSum } from '../../src/geodesy/length.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const NANOMETER = 1e-9
/** Edge lengths in degrees at which the kernel changes its method; see src/wasm/assembly/edges/short-edge.ts. */
const LIMITS = [0.02, 0.5]
const LATITUDES = [-89.2, -80, -61, -45, -30, -0.01, 0, 12, 29.9, 45, 70, 85, 89]

const measure = (ring: readonly number[]) => {
  kernel.release()
  const vertices = kernel.write(Float64Array.from(ring))
  return { area: kernel.ringArea(vertices, ring.length / 2), perimeter: kernel.perimeter() }
}
const lineLength = (line: readonly number[]) => {
  kernel.release()
  return kernel.lineLength(kernel.write(Float64Array.from(line)), line.length / 2)
}
/** The ends of an edge, as lon, lat, lon, lat. Its length in degrees and its direction (radians) are those in the lon/lat plane. */
function edge(lat: number, degrees: number, direction: number): [number, number, number, number] {
  const x = degrees * Math.cos(direction)
  const y = degrees * Math.sin(direction)
  return [5 - x / 2, lat - y / 2, 5 + x / 2, lat + y / 2]
}
const karneyLength = ([lon1, lat1, lon2, lat2]: [number, number, number, number]) =>
  kernel.inverse(lat1, lon1, lat2, lon2)

describe('the measures of short edges', () => {
  it('give the lengths of Karney’s inverse, within its rounding', () => {
    for (const lat of LATITUDES) {
      for (let direction = 0; direction < Math.PI; direction += 0.1) {
        for (const degrees of [1e-9, 1e-6, 1e-4, 0.003, 0.0199, 0.0201, 0.1, 0.3, 0.4999]) {
          const line = edge(lat, degrees, direction)
          // The error of Karney's inverse at this size, measured against GeodTest, is below 4 nm.
          expect(Math.abs(lineLength(line) - karneyLength(line)), `${line}`).toBeLessThanOrEqual(6 * NANOMETER)
        }
      }
    }
  })

  it.each(LIMITS)('change their method at %d° with a step below 5 nm', (limit) => {
    for (const lat of LATITUDES) {
      for (let direction = 0; direction < Math.PI; direction += 0.05) {
        const below = edge(lat, limit * (1 - 1e-11), direction)
        const above = edge(lat, limit * (1 + 1e-11), direction)
        // The real growth of the edge.
        const growth =
          karneyLength(edge(lat, limit * 1.001, direction)) - karneyLength(edge(lat, limit * 0.999, direction))
        const step = lineLength(above) - lineLength(below) - growth * 1e-8
        expect(Math.abs(step), `${below}`).toBeLessThan(5 * NANOMETER)
      }
    }
  })

  it('change their method for areas with a step below 2·10⁻⁶ m² at 0.02°, and below the rounding of S12 at 0.5°', () => {
    for (const [limit, bound] of [
      [0.02, 2e-6],
      [0.5, 4e-4],
    ] as const) {
      for (const lat of LATITUDES.filter((lat) => Math.abs(lat) < 89)) {
        for (let direction = 0.05; direction < Math.PI; direction += 0.1) {
          const [below, exact, above] = [1 - 1e-9, 1, 1 + 1e-9].map((factor) => {
            const [lon1, lat1, lon2, lat2] = edge(lat, limit * factor, direction)
            const apex = lat + (lat > 0 ? -0.3 : 0.3) * limit
            return measure([lon1, lat1, lon2, lat2, 5.01, apex, lon1, lat1]).area
          })
          // The area grows linearly over such a small step, so its second difference is the jump.
          const jump = above! - 2 * exact! + below!
          expect(Math.abs(jump), `${lat} ${limit} ${direction}`).toBeLessThan(bound)
        }
      }
    }
  })

  it('give areas of polygons with short edges within 10⁻⁵ m² or 2·10⁻¹⁵ of quadrature, and lengths within 1 nm per edge', () => {
    const { polygons } = JSON.parse(
      readFileSync(new URL('../vectors/geodesic-area.json', import.meta.url), 'utf8'),
    ) as {
      polygons: { name: string; ring: [number, number][]; perimeterMeters: number; areaSquareMeters: number }[]
    }
    let checked = 0
    for (const { name, ring, perimeterMeters, areaSquareMeters } of polygons) {
      const closed = [...ring, ring[0]!]
      const isShort = ring.every(([lon, lat], index) => {
        const lonDifference = Math.abs(closed[index + 1]![0] - lon)
        return Math.hypot(Math.min(lonDifference, 360 - lonDifference), closed[index + 1]![1] - lat) <= 0.5
      })
      if (!isShort) continue
      checked++
      const { area, perimeter } = measure(closed.flat())
      expect(Math.abs(area - areaSquareMeters), name).toBeLessThanOrEqual(Math.max(1e-5, 2e-15 * areaSquareMeters))
      expect(Math.abs(perimeter - perimeterMeters), name).toBeLessThanOrEqual(NANOMETER * Math.sqrt(ring.length))
    }
    expect(checked).toBeGreaterThan(30)
  })

  it('give zero length and area for repeated vertices', () => {
    for (const [lon, lat] of [
      [3, 4],
      [180, 0],
      [-180, 90],
      [7, -90],
    ] as const) {
      expect(measure([lon, lat, lon, lat, lon, lat, lon, lat])).toEqual({ area: 0, perimeter: 0 })
    }
    const ring = [2, 48, 2.01, 48, 2.01, 48.01, 2, 48]
    const repeated = [2, 48, 2, 48, 2.01, 48, 2.01, 48, 2.01, 48.01, 2.01, 48.01, 2.01, 48.01, 2, 48]
    expect(Math.abs(measure(repeated).area - measure(ring).area)).toBeLessThanOrEqual(1e-9)
    expect(Math.abs(measure(repeated).perimeter - measure(ring).perimeter)).toBeLessThanOrEqual(1e-12)
  })

  it('give the same values across the antimeridian, to the last bit', () => {
    const ring = [-0.0078125, 50, 0.0078125, 50.001, 0.005, 50.01, -0.0078125, 50].map((value, index) =>
      index % 2 === 0 ? Math.round(value * 2 ** 20) / 2 ** 20 : value,
    )
    const shifted = ring.map((value, index) => (index % 2 === 1 ? value : value > 0 ? value - 180 : value + 180))
    expect(measure(shifted)).toEqual(measure(ring))
  })
})

describe('a compensated sum', () => {
  it('keeps many small terms beside large ones exactly', () => {
    const terms = [1e16, ...Array.from({ length: 1000 }, () => 1), -1e16]
    expect(compensatedSum(terms)).toBe(1000)
    expect(compensatedSum([])).toBe(0)
  })
})
