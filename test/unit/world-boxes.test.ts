import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { checkInterior, kernelPoleResolver } from '../../src/compute/validity.ts'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { contains } from '../../src/topology/contains.ts'
import { intersects } from '../../src/topology/intersects.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { at, box } from '../fixtures.ts'

const kernel = loadKernel()
const poleOf = kernelPoleResolver(kernel)
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 100, maxParts: 10 })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
/** The same box with vertices every 90 degrees from −180 to 180. */
const denseBox = (south: number, north: number): Position[] => {
  const lons = [-180, -90, 0, 90, 180]
  const [bottom, top] = [south, north].map((lat) => lons.map((lon): Position => [lon, lat]))
  return [...bottom!, ...top!.reverse(), bottom![0]!]
}

/** Returns the code and the hint with which a polygon is rejected, or undefined. */
function rejection(geometry: Geometry): { code: string | undefined; hint: string | undefined } | undefined {
  try {
    checkInterior(read(geometry), [], kernel)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    expect(error.data.type).toBe('invalid-input')
    const { code, hint } = error.data.invalidParts![0]!
    return { code, hint }
  }
  return undefined
}

/** contains, intersects and distance 0 of a point. */
const relations = (geometry: Geometry, lon: number, lat: number): [boolean, boolean, boolean] => [
  contains(read(geometry), read(point(lon, lat)), poleOf),
  intersects(read(geometry), read(point(lon, lat)), poleOf),
  distanceMeters(kernel, read(geometry), read(point(lon, lat)), 10_000) < 1e-6,
]
const INSIDE = [true, true, true]
const EDGE = [false, true, true]
const OUTSIDE = [false, false, false]
/** 4πc² with c the authalic radius of WGS 84 (Karney 2013, eq. 60), in m². */
const GLOBE = 510_065_621_724_088

describe('boxes around the world', () => {
  it('are rejected with a hint where their edges are not the short way', () => {
    const hint = expect.stringContaining('insert vertices along edges over 180° of longitude') as string
    const code = 'inside-not-defined-by-edges-along-the-poles'
    expect(rejection(polygon(box(-170, -90, 170, 90)))).toEqual({ code, hint })
    expect(rejection(polygon(box(-175, -60, 5, -60.5)))).toEqual({ code: 'no-area', hint })
    expect(rejection(polygon(box(0, 50, 180, 60)))).toEqual({ code: 'no-area', hint })
    // The same, used as a hole.
    const rim = at('-180 40, -90 40, 0 40, 90 40, -180 40')
    expect(rejection(polygon(rim, box(0, 50, 180, 60)))).toEqual({ code: 'no-area', hint })
  })

  it('are the world with vertices along the poles', () => {
    const world = polygon(denseBox(-90, 90))
    expect(rejection(world)).toBeUndefined()
    expect(Math.abs(areaSquareMeters(kernel, read(world)) - GLOBE)).toBeLessThan(1)
    for (const lon of [0, 180, -180, 33])
      for (const lat of [90, 0, -90]) expect(relations(world, lon, lat)).toEqual(INSIDE)
  })

  it('are half the world from one meridian to the opposite one', () => {
    for (const [west, inside, outside] of [
      [0, 90, -90],
      [-180, -90, 90],
    ] as const) {
      const half = polygon(box(west, -90, west + 180, 90))
      expect(rejection(half)).toBeUndefined()
      expect(Math.abs(areaSquareMeters(kernel, read(half)) - GLOBE / 2)).toBeLessThan(1)
      expect(relations(half, inside, 10)).toEqual(INSIDE)
      expect(relations(half, outside, 10)).toEqual(OUTSIDE)
      for (const lon of [0, 180, -180]) expect(relations(half, lon, 10)).toEqual(EDGE)
      for (const lat of [90, -90]) expect(relations(half, 33, lat)).toEqual(EDGE)
    }
  })

  it('are a band around the world; the antimeridian is not an edge of a cut ring, and uncut rings are rejected', () => {
    const cut = polygon(denseBox(-60, 60))
    const uncut = polygon(at('-180 -60, -90 -60, 0 -60, 90 -60, -180 -60'), at('-180 60, -90 60, 0 60, 90 60, -180 60'))
    expect(rejection(cut)).toBeUndefined()
    for (const lon of [0, 180, -180]) expect(relations(cut, lon, 0)).toEqual(INSIDE)
    for (const lat of [90, -90]) expect(relations(cut, 33, lat)).toEqual(OUTSIDE)
    // Uncut, the polygon would lie beyond one rim without the other cap; each rim takes the side of its own pole as its interior.
    expect(rejection(uncut)).toMatchObject({ code: 'hole-outside-its-exterior-ring' })
  })
})
