import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import { checkGeodesicRings, checkInterior } from '../../src/compute/validity.ts'
import { areaSquareMeters } from '../../src/geodesy/area.ts'
import { densify, isNearlyPlanar } from '../../src/geodesy/densify.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { ProblemError } from '../../src/problem.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const limits = { maxVertices: 60_000, maxParts: 1000 }
const read = (geometry: Geometry) => readGeometry(geometry, [], limits)

/** '0 0, 1 2' → [[0, 0], [1, 2]], closed. */
const ring = (text: string): Position[] => {
  const positions = text.split(', ').map((pair) => pair.split(' ').map(Number) as unknown as Position)
  return [...positions, positions[0]!]
}
const polygon = (...rings: string[]): Geometry => ({ type: 'Polygon', coordinates: rings.map(ring) })

const multiPolygon = (...members: string[]): Geometry => ({
  type: 'MultiPolygon',
  coordinates: members.map((member) => [ring(member)]),
})

/** Code, place and hint of the refusal to measure an area whose rings are valid in the plane; undefined when there is none. */
function refusal(geometry: Geometry): { code?: string; where: string; hint?: string } | undefined {
  const flat = read(geometry)
  checkInterior(flat, ['geometry'], kernel)
  try {
    checkGeodesicRings(flat, ['geometry'], kernel, 50_000)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    expect(error.data.type).toBe('invalid-input')
    const { code, hint } = error.data.places![0]!
    return { code: code!, where: error.data.detail.split(':')[0]!, hint: hint! }
  }
  return undefined
}
const hint = expect.stringContaining('put vertices along long edges') as string
const CROSSING = { code: 'self-intersection', where: expect.stringContaining('geometry.coordinates[') as string, hint }

// The geodesic from (0, 50) to (60, 50) rises to 54.005°, by geographiclib-geodesic 2.2.0; its middle lies at (30, 54.005).
describe('rings that cross as geodesics alone', () => {
  it.each([
    ['a strip beside the long edge', polygon('0 50, 60 50, 60 52, 30 52, 0 52')],
    ['a strip that is nearly nothing', polygon('0 50, 60 50, 60 50.03, 30 50.5, 0 50.03')],
    ['a peak just below the long edge', polygon('0 50, 60 50, 60 51, 31 56, 30 54, 29 56, 0 51')],
    ['the same in the south', polygon('0 -50, 60 -50, 60 -52, 30 -52, 0 -52')],
    ['the same over the antimeridian', polygon('150 50, -150 50, -150 52, 180 52, 150 52')],
    ['a hole across the long edge', polygon('0 50, 60 50, 60 60, 0 60', '25 53, 35 53, 35 55, 25 55')],
    [
      'members of which one reaches into the other',
      multiPolygon('0 40, 60 40, 60 50, 0 50', '0 50.5, 30 50.5, 60 50.5, 30 60'),
    ],
    ['edges of 50 km and a step of 10 m', polygon('10 50, 10.7 50, 10.7 50.02, 10.35 50.0001, 10 50.02')],
  ])('are refused: %s', (_, geometry) => {
    expect(refusal(geometry)).toEqual(CROSSING)
  })

  it('name the edge that was sent', () => {
    expect(refusal(polygon('0 50, 60 50, 60 52, 30 52, 0 52'))?.where).toBe('geometry.coordinates[0][3]')
  })

  it('are refused when a hole lies wholly outside, and measured with vertices along the edge', () => {
    const hole = '25 50.5, 35 50.5, 35 51.5, 25 51.5'
    expect(refusal(polygon('0 50, 60 50, 60 60, 0 60', hole))).toEqual({
      code: 'hole-outside-its-exterior-ring',
      where: 'geometry.coordinates[1][0]',
      hint,
    })
    const along = Array.from({ length: 59 }, (_, index) => `${index + 1} 50`).join(', ')
    expect(refusal(polygon(`0 50, ${along}, 60 50, 60 60, 0 60`, hole))).toBeUndefined()
  })
})

describe('operations other than area', () => {
  it('answer about rings that cross as geodesics alone', () => {
    const strip = { geometry: polygon('0 50, 60 50, 60 52, 30 52, 0 52'), path: ['a'], ref: undefined }
    const point = { geometry: { type: 'Point', coordinates: [30, 51] } as Geometry, path: ['b'], ref: undefined }
    const engine = {
      kernel,
      keccak: { hashHex: () => '0x00' } as never,
      limits: { ...limits, maxDistanceSolves: 1_000_000 },
    }
    const outcome = runOperation(OPERATIONS.contains, [strip, point], undefined, engine)
    expect(outcome).toMatchObject({ kind: 'boolean', value: true })
    expect(runOperation(OPERATIONS.distance, [strip, point], undefined, engine).kind).toBe('numeric')
    expect(() => runOperation(OPERATIONS.area, [strip], undefined, engine)).toThrow('self-intersection at [')
  })
})

describe('rings that do not cross as geodesics', () => {
  it.each([
    ['a box with long edges', polygon('0 50, 60 50, 60 60, 0 60')],
    ['a hole clear of them', polygon('0 50, 60 50, 60 60, 0 60', '25 55, 35 55, 35 56, 25 56')],
    ['a hole that touches at a vertex', polygon('0 0, 10 0, 10 40, 0 40', '10 40, 2 5, 5 5')],
    ['a peak just above the long edge', polygon('0 50, 60 50, 60 51, 31 56, 30 54.01, 29 56, 0 51')],
    ['a triangle 8000 km long and 40 m wide', polygon('0 10, 80 40, 80 40.0004')],
    ['another whose long edges have different lengths', polygon('0 10, 80 40, 42 31.0001')],
    ['a ring around a pole', polygon('0 60, 120 60, -120 60')],
    ['a ring with a vertex on a pole', polygon('0 60, 120 60, 40 90')],
    ['an edge over a pole', polygon('0 80, 90 70, 180 80')],
    ['a quarter of the globe', polygon('0 0, 90 0, 17 90')],
    ['a box over the antimeridian', polygon('170 10, -170 10, -170 60, 170 60')],
    ['the same cut', multiPolygon('170 10, 180 10, 180 60, 170 60', '-180 10, -170 10, -170 60, -180 60')],
    ['a ring along the equator', polygon('0 0, 90 0, 180 0, -90 0')],
  ])('are accepted: %s', (_, geometry) => {
    expect(refusal(geometry)).toBeUndefined()
  })
})

describe('vertices along geodesics', () => {
  it('keep the area and leave the geodesics by less than the bound', () => {
    for (const geometry of [
      polygon('0 50, 60 50, 60 60, 0 60'),
      polygon('-170 -75, 11 -80.5, 100 -60, -160 20'),
      polygon('0 89, 100 89.5, -100 88', '50 89.9, 160 89.9, -90 89.9'),
    ]) {
      const flat = read(geometry)
      const dense = densify(kernel, flat, 1, 50_000)!
      expect(dense.boundMeters).toBe(1)
      const area = areaSquareMeters(kernel, flat)
      expect(Math.abs(areaSquareMeters(kernel, dense.geometry) - area)).toBeLessThanOrEqual(0.1 + 2e-15 * area)
      const { vertices, sequenceStarts } = dense.geometry
      for (let i = 0; i + 3 < vertices.length; i += 2) {
        if (sequenceStarts.includes(i / 2 + 1)) continue
        const [lon1, lat1, lon2, lat2] = vertices.subarray(i, i + 4) as unknown as [number, number, number, number]
        if (Math.abs(lon2 - lon1) > 180 || Math.abs(lat1) === 90 || Math.abs(lat2) === 90) continue
        const s12 = kernel.inverse(lat1, lon1, lat2, lon2)
        const lat = kernel.direct(lat1, lon1, kernel.salp1(), kernel.calp1(), s12 / 2)
        // How far the middle of the geodesic stands off the line in the plane, on the ground.
        const shrink = Math.cos((lat * Math.PI) / 180)
        const [x, y] = [(lon2 - lon1) * shrink, lat2 - lat1]
        const across = (kernel.arrivalLon() - lon1) * shrink * y - (lat - lat1) * x
        expect((Math.abs(across) / Math.hypot(x, y)) * 111_700).toBeLessThanOrEqual(1)
      }
    }
  })

  it('are not looked for where all edges are short', () => {
    const circle = Array.from({ length: 10_000 }, (_, index) => {
      const turn = (2 * Math.PI * index) / 10_000
      return `${179.99 + 0.009 * Math.cos(turn)} ${50 + Math.sin(turn)}`
    })
    expect(isNearlyPlanar(read(polygon(circle.join(', '))), 1)).toBe(true)
    expect(isNearlyPlanar(read(polygon('179.999 50, -179.999 50, -179.999 50.01')), 1)).toBe(true)
    expect(isNearlyPlanar(read(polygon('0 50, 0.2 50, 0.1 50.01')), 1)).toBe(false)
    expect(isNearlyPlanar(read(polygon('0 50, 0 80, 0.001 60')), 1)).toBe(false)
  })
})
