import { getRes0Cells, gridDisk, isPentagon, latLngToCell } from 'h3-js'
import { describe, expect, it } from 'vitest'
import { checkInterior } from '../../src/compute/validity.ts'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readH3 } from '../../src/geometry/h3.ts'
import { readGeohash } from '../../src/geometry/location-text.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const RUNS = { numRuns: scaled(1000) }
const kernel = loadKernel()
const flat = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 100, maxParts: 10 })
/** The surface of WGS 84, as GeographicLib's EllipsoidArea gives it. */
const ELLIPSOID_SQUARE_METERS = 510_065_621_724_088.4

const longitudes = fc.double({ min: -180, max: 180, noNaN: true })
const latitudes = fc.double({ min: -90, max: 90, noNaN: true })

/** Encodes a geohash by halving the ranges of longitude and latitude, as its inventor describes it. */
function encodeGeohash(longitude: number, latitude: number, length: number): string {
  const [lonRange, latRange]: [number[], number[]] = [
    [-180, 180],
    [-90, 90],
  ]
  let text = ''
  for (let character = 0, bit = 0; character < length; character++) {
    let value = 0
    for (let index = 0; index < 5; index++, bit++) {
      const [range, coordinate] = bit % 2 === 0 ? [lonRange, longitude] : [latRange, latitude]
      const middle = (range[0]! + range[1]!) / 2
      const isUpper = coordinate >= middle
      range[isUpper ? 0 : 1] = middle
      value = 2 * value + Number(isUpper)
    }
    text += '0123456789bcdefghjkmnpqrstuvwxyz'[value]
  }
  return text
}

describe('the cell of a geohash', () => {
  it('contains every position that is encoded as it, and has the size that its length implies', () => {
    fc.assert(
      fc.property(longitudes, latitudes, fc.integer({ min: 1, max: 12 }), (longitude, latitude, length) => {
        const [ring] = readGeohash(encodeGeohash(longitude, latitude, length), []).coordinates
        const [[west, south], [east, north]] = [ring![0]!, ring![2]!]
        expect(west <= longitude && longitude <= east && south <= latitude && latitude <= north).toBe(true)
        expect((east - west) * (north - south) * 32 ** length).toBe(360 * 180)
      }),
      RUNS,
    )
  })

  it('is a polygon that can be measured', () => {
    fc.assert(
      fc.property(longitudes, latitudes, fc.integer({ min: 1, max: 12 }), (longitude, latitude, length) => {
        const geometry = flat(readGeohash(encodeGeohash(longitude, latitude, length), []))
        checkInterior(geometry, [], kernel)
        expect(areaSquareMeters(kernel, geometry)).toBeGreaterThan(0)
      }),
      RUNS,
    )
  })
})

describe('cells of H3', () => {
  it.each([0, 1])('at resolution %i cover the ellipsoid exactly once', (resolution) => {
    // Neighbours share their edges, so the areas add up to the ellipsoid's, poles and antimeridian included.
    const seen = new Set(getRes0Cells())
    if (resolution > 0) {
      const queue = [latLngToCell(0, 0, resolution)]
      seen.clear()
      for (const cell of queue) {
        if (seen.has(cell)) continue
        seen.add(cell)
        queue.push(...gridDisk(cell, 1))
      }
    }
    expect(seen.size).toBe(2 + 120 * 7 ** resolution)
    expect([...seen].filter((cell) => isPentagon(cell))).toHaveLength(12)
    let total = 0
    for (const cell of seen) {
      const geometry = flat(readH3(cell, []))
      checkInterior(geometry, [], kernel)
      total += areaSquareMeters(kernel, geometry)
    }
    // Corners are rounded to 0.1 mm, so each edge contributes an error of 0.1 mm times its length: 0.1 mm × 1,000 km × 2,500 edges.
    expect(Math.abs(total - ELLIPSOID_SQUARE_METERS)).toBeLessThan(2.5e5)
  })

  it('lie within their edge tolerance of every position that is encoded as them', () => {
    fc.assert(
      fc.property(longitudes, latitudes, fc.integer({ min: 0, max: 15 }), (longitude, latitude, resolution) => {
        // The smallest cells at the two poles cannot be measured: they are under a square metre, and the southern pole is a corner.
        fc.pre(resolution < 15 || Math.abs(latitude) < 89.99999)
        const cell = flat(readH3(latLngToCell(latitude, longitude, resolution), []))
        checkInterior(cell, [], kernel)
        const point = flat({ type: 'Point', coordinates: [longitude, latitude] })
        // H3 draws edges as arcs on a sphere, Trigpoint as geodesics. They differ by up to 0.1 % of the edge length.
        const edge = 1_300_000 / 7 ** (resolution / 2)
        expect(distanceMeters(kernel, point, cell, 100_000)).toBeLessThan(0.003 * edge)
      }),
      RUNS,
    )
  })
})
