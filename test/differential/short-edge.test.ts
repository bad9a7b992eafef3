import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compensatedSum } from '../../src/geodesy/length.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const NANO = 1e-9
/** Distances in degrees at which one kernel takes over from another: src/wasm/assembly/edges/short-edge.ts. */
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
/** Ends of an edge of so many degrees in a direction of the plane of longitude and latitude. */
function edge(lat: number, degrees: number, direction: number): [number, number, number, number] {
  const x = degrees * Math.cos(direction)
  const y = degrees * Math.sin(direction)
  return [5 - x / 2, lat - y / 2, 5 + x / 2, lat + y / 2]
}
const karney = ([lon1, lat1, lon2, lat2]: [number, number, number, number]) => kernel.inverse(lat1, lon1, lat2, lon2)

describe('the kernel of short edges', () => {
  it('measures lengths as Karney’s inverse does, to the rounding of that', () => {
    for (const lat of LATITUDES) {
      for (let direction = 0; direction < Math.PI; direction += 0.1) {
        for (const degrees of [1e-9, 1e-6, 1e-4, 0.003, 0.0199, 0.0201, 0.1, 0.3, 0.4999]) {
          const line = edge(lat, degrees, direction)
          // Karney's own error, measured against GeodTest, is below 4 nm at this size.
          expect(Math.abs(lineLength(line) - karney(line)), `${line}`).toBeLessThanOrEqual(6 * NANO)
        }
      }
    }
  })

  it.each(LIMITS)('goes over to the next one at %d° without a step of 5 nm', (limit) => {
    for (const lat of LATITUDES) {
      for (let direction = 0; direction < Math.PI; direction += 0.05) {
        const below = edge(lat, limit * (1 - 1e-11), direction)
        const above = edge(lat, limit * (1 + 1e-11), direction)
        // What the edge itself has grown by.
        const growth = karney(edge(lat, limit * 1.001, direction)) - karney(edge(lat, limit * 0.999, direction))
        const step = lineLength(above) - lineLength(below) - growth * 1e-8
        expect(Math.abs(step), `${below}`).toBeLessThan(5 * NANO)
      }
    }
  })

  it('goes over to its higher terms in area by less than 2·10⁻⁶ m², to the general kernel by the rounding of S12', () => {
    for (const [limit, bound] of [
      [0.02, 2e-6],
      [0.5, 4e-4],
    ] as const) {
      for (const lat of LATITUDES.filter((lat) => Math.abs(lat) < 89)) {
        for (let direction = 0.05; direction < Math.PI; direction += 0.1) {
          const [below, at, above] = [1 - 1e-9, 1, 1 + 1e-9].map((factor) => {
            const [lon1, lat1, lon2, lat2] = edge(lat, limit * factor, direction)
            const apex = lat + (lat > 0 ? -0.3 : 0.3) * limit
            return measure([lon1, lat1, lon2, lat2, 5.01, apex, lon1, lat1]).area
          })
          // The area grows evenly over so small a step: its second difference is the seam.
          const seam = above! - 2 * at! + below!
          expect(Math.abs(seam), `${lat} ${limit} ${direction}`).toBeLessThan(bound)
        }
      }
    }
  })

  it('keeps polygons without longer edges within 10⁻⁵ m² or 2·10⁻¹⁵ of quadrature and their edges within 1 nm', () => {
    const { polygons } = JSON.parse(
      readFileSync(new URL('../vectors/geodesic-area.json', import.meta.url), 'utf8'),
    ) as {
      polygons: { name: string; ring: [number, number][]; perimeterMeters: number; areaSquareMeters: number }[]
    }
    let checked = 0
    for (const { name, ring, perimeterMeters, areaSquareMeters } of polygons) {
      const closed = [...ring, ring[0]!]
      const isShort = ring.every(([lon, lat], index) => {
        const turn = Math.abs(closed[index + 1]![0] - lon)
        return Math.hypot(Math.min(turn, 360 - turn), closed[index + 1]![1] - lat) <= 0.5
      })
      if (!isShort) continue
      checked++
      const { area, perimeter } = measure(closed.flat())
      expect(Math.abs(area - areaSquareMeters), name).toBeLessThanOrEqual(Math.max(1e-5, 2e-15 * areaSquareMeters))
      expect(Math.abs(perimeter - perimeterMeters), name).toBeLessThanOrEqual(NANO * Math.sqrt(ring.length))
    }
    expect(checked).toBeGreaterThan(30)
  })

  it('measures no length and no area of vertices that repeat', () => {
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

  it('measures the same across the antimeridian, to the last bit', () => {
    const ring = [-0.0078125, 50, 0.0078125, 50.001, 0.005, 50.01, -0.0078125, 50].map((value, index) =>
      index % 2 === 0 ? Math.round(value * 2 ** 20) / 2 ** 20 : value,
    )
    const shifted = ring.map((value, index) => (index % 2 === 1 ? value : value > 0 ? value - 180 : value + 180))
    expect(measure(shifted)).toEqual(measure(ring))
  })
})

describe('a sum over parts', () => {
  it('loses nothing of many small terms beside large ones', () => {
    const terms = [1e16, ...Array.from({ length: 1000 }, () => 1), -1e16]
    expect(compensatedSum(terms)).toBe(1000)
    expect(compensatedSum([])).toBe(0)
  })
})
