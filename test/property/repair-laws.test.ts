/** Laws of repair, on rings of Natural Earth that were damaged. */
import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { countWork, Work } from '../../src/base/work.ts'
import { repairGeometry } from '../../src/compute/repair.ts'
import { kernelPoleResolver } from '../../src/compute/validity.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { COUNTRIES_10M, damaged, type Polygons, type Ring } from '../damaged-polygons.ts'
import { scaled, stride } from '../scale.ts'
import fc from '../seeded.ts'

const kernel = loadKernel()
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
/** With the default limit of work, polygons of 10,000 vertices are repaired. */
const WORK_PER_VERTEX = 20
function repaired(geometry: Geometry) {
  const openRings = new Set<number>()
  const flat = readGeometry(geometry, ['geometry'], LIMITS, openRings)
  return repairGeometry(kernel, flat, openRings, ['geometry'], LIMITS)
}

function faultOf(geometry: Geometry) {
  return findInvalidity(readGeometry(geometry, [], LIMITS), kernelPoleResolver(kernel))
}

/** How often a closed ring in the plane goes around a place; undefined if it comes near. */
function windingNumber(ring: Ring, lon: number, lat: number): number | undefined {
  let winding = 0
  const closed = [...ring, ring[0]!]
  for (let i = 1; i < closed.length; i++) {
    const [[ax, ay], [bx, by]] = [closed[i - 1]!, closed[i]!]
    const cross = (bx - ax) * (lat - ay) - (by - ay) * (lon - ax)
    const isInBox =
      lon >= Math.min(ax, bx) - 1e-9 &&
      lon <= Math.max(ax, bx) + 1e-9 &&
      lat >= Math.min(ay, by) - 1e-9 &&
      lat <= Math.max(ay, by) + 1e-9
    if (isInBox && Math.abs(cross) < 1e-7) return undefined
    if (ay <= lat && by > lat && cross > 0) winding++
    if (ay > lat && by <= lat && cross < 0) winding--
  }
  return winding
}

/** Whether a place is inside by the rule of structure, from the rings as they were received; undefined if that is not certain. */
function isInside(polygons: Polygons, lon: number, lat: number): boolean | undefined {
  let result: boolean | undefined = false
  for (const [shell, ...holes] of polygons) {
    const windings = [shell!, ...holes].map((ring) => windingNumber(ring, lon, lat))
    if (windings.includes(undefined)) return undefined
    const [around, ...around2] = windings as number[]
    // A hole outside becomes a polygon only if it is apart from the shell.
    if (around === 0 && around2.some((winding) => winding !== 0)) return undefined
    if (around !== 0 && around2.every((winding) => winding === 0)) result = true
  }
  return result
}

/** Compares places with the rule, and returns their number. */
function expectPlaces(polygons: Polygons, made: Polygons, seed: number): number {
  const lons = polygons.flat(2).map(([lon]) => lon)
  const lats = polygons.flat(2).map(([, lat]) => lat)
  const [west, east, south, north] = [Math.min(...lons), Math.max(...lons), Math.min(...lats), Math.max(...lats)]
  let places = 0
  // Rings across ±180 are not in one plane.
  if (east - west >= 180) return 0
  for (let i = 1; i <= 20; i++) {
    const lon = west + (east - west) * ((seed * 1e-6 + i * 0.618_033_988_749) % 1)
    const lat = south + (north - south) * ((seed * 1e-7 + i * 0.754_877_666_247) % 1)
    const wanted = isInside(polygons, lon, lat)
    if (wanted === undefined) continue
    expect(isInside(made, lon, lat) ?? wanted).toBe(wanted)
    places++
  }
  return places
}

/** Returns the result, or undefined if nothing has an area. */
function orNoArea<T>(repair: () => T): T | undefined {
  try {
    return repair()
  } catch (error) {
    if (error instanceof ProblemError && error.data.invalidParts?.[0]?.code === 'no-area') return undefined
    throw error
  }
}

describe('repair', () => {
  it('gives a valid geometry that is the same after another repair, and where the rule says', () => {
    let [unchanged, changed, empty, places] = [0, 0, 0, 0]
    fc.assert(
      fc.property(damaged, fc.nat(), (geometry, seed) => {
        const polygons = geometry.coordinates as Polygons
        const wasOpen = polygons
          .flat()
          .some((ring) => ring[0]![0] !== ring.at(-1)![0] || ring[0]![1] !== ring.at(-1)![1])
        const isValid = !wasOpen && faultOf(geometry) === undefined
        const result = orNoArea(() => repaired(geometry))
        if (result === undefined) {
          empty++
          expectPlaces(polygons, [], seed)
          return
        }
        expect(faultOf(result.geometry)).toBeUndefined()
        expect(Number.isFinite(result.areaMovedSquareMeters)).toBe(true)
        expect(result.areaMovedSquareMeters).toBeGreaterThanOrEqual(0)
        expect(result.changes.length > 0).toBe(!isValid)
        if (isValid) {
          unchanged++
          expect(result.geometry).toEqual(geometry)
          expect(result.areaMovedSquareMeters).toBe(0)
          return
        }
        changed++
        const again = repaired(result.geometry)
        expect(again).toMatchObject({ geometry: result.geometry, changes: [], areaMovedSquareMeters: 0 })
        const { geometry: valid } = result as { geometry: { type: string; coordinates: unknown } }
        const made = (valid.type === 'Polygon' ? [valid.coordinates] : valid.coordinates) as Polygons
        places += expectPlaces(polygons, made, seed)
      }),
      { numRuns: scaled(10_000) },
    )
    expect(changed).toBeGreaterThan(scaled(10_000) / 2)
    expect(unchanged).toBeGreaterThan(0)
    expect(places).toBeGreaterThan(scaled(10_000))
    console.log({ unchanged, changed, empty, places })
  })

  it('makes the countries of Natural Earth 1:10m valid, with work that grows with their vertices', () => {
    let [invalid, squareMeters, mostWork] = [0, 0, 0]
    for (const [index, geometry] of COUNTRIES_10M.entries()) {
      if (index % stride !== 0) continue
      const vertices = (geometry.coordinates as Polygons).flat(geometry.type === 'Polygon' ? 1 : 2).length
      if (vertices > LIMITS.maxVertices) continue
      const fault = faultOf(geometry)
      const work = new Work(1000 + WORK_PER_VERTEX * vertices)
      const result = orNoArea(() => countWork(work, () => repaired(geometry)))
      // Quantising has left a line of the smallest country.
      if (result === undefined) {
        expect(vertices).toBeLessThan(10)
        continue
      }
      expect(faultOf(result.geometry)).toBeUndefined()
      expect(result.changes.length > 0).toBe(fault !== undefined)
      mostWork = Math.max(mostWork, work.units)
      if (fault === undefined) continue
      invalid++
      squareMeters += result.areaMovedSquareMeters
    }
    console.log({ invalid, squareMeters, mostWork })
    expect(invalid).toBeGreaterThan(stride === 1 ? 50 : 1)
    // What is quantised to 0.0036° has slivers.
    expect(squareMeters).toBeLessThan(1e6)
  })
})
