import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { CM_PER_METER, CM2_PER_SQUARE_METER, toScaledInteger } from '../../src/base/units.ts'
import { createMatrix, createRecompute } from '../../src/client/recompute.ts'
import { area, direct, distance, type GeometryInput, inverse, length, prepare } from '../../src/library/geodesy.ts'
import {
  contains,
  coveredBy,
  covers,
  crosses,
  disjoint,
  equals,
  findInvalidity,
  GeometryError,
  intersects,
  overlaps,
  relate,
  touches,
} from '../../src/library/topology.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { contactCases } from '../contact-cases.ts'
import { LATITUDES, seededBetween } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const { WGS84 } = geodesic.Geodesic
const GEODTEST = new URL('../vectors/GeodTest-short.dat.gz', import.meta.url)
const PREDICATES = { contains, intersects, equals, disjoint, touches, crosses, overlaps, covers, coveredBy }
/** Number of seeds for `contactCases` at scale 1. */
const SEEDS = 100
const recompute = createRecompute()
const matrix = createMatrix()

/** The result or the reason why there is none. */
function outcomeOf<T>(compute: () => T): T | string {
  try {
    return compute()
  } catch (error) {
    if (error instanceof GeometryError) return error.message
    throw error
  }
}
function serviceOf(operation: string, inputs: readonly Geometry[]): bigint | boolean | string {
  const computed = recompute(operation, inputs)
  return computed.ok ? computed.result : computed.reason
}

describe('the library', () => {
  // Each seed gives eight cases.
  const cases = Array.from({ length: scaled(SEEDS) }, (_, seed) => contactCases(seed)).flat()

  it('decides as the service does, for geometries as they are and prepared', () => {
    for (const { a, b } of cases) {
      const [preparedA, preparedB] = [prepare(a), prepare(b)]
      for (const [name, predicate] of Object.entries(PREDICATES)) {
        const expected = serviceOf(name, [a, b])
        expect(
          outcomeOf(() => predicate(a, b)),
          name,
        ).toBe(expected)
        expect(
          outcomeOf(() => predicate(preparedA, preparedB)),
          name,
        ).toBe(expected)
        expect(
          outcomeOf(() => predicate(preparedA, b)),
          name,
        ).toBe(expected)
      }
      const computed = matrix([a, b])
      const expected = computed.ok ? computed.matrix : computed.reason
      expect(outcomeOf(() => relate(a, b))).toBe(expected)
      expect(outcomeOf(() => relate(preparedA, preparedB))).toBe(expected)
      if (computed.ok) expect(relate(a, b, computed.matrix)).toBe(true)
    }
  })

  it('measures what the service rounds and signs', () => {
    for (const { a, b } of cases) {
      const measures: [string, () => number, number, Geometry[]][] = [
        ['distance', () => distance(a, b), CM_PER_METER, [a, b]],
        ['distance', () => distance(prepare(a), b), CM_PER_METER, [a, b]],
        ['length', () => length(b), CM_PER_METER, [b]],
        ['area', () => area(a), CM2_PER_SQUARE_METER, [a]],
        ['area', () => area(prepare(a)), CM2_PER_SQUARE_METER, [a]],
      ]
      for (const [name, compute, scale, inputs] of measures) {
        const measured = outcomeOf(compute)
        const rounded = typeof measured === 'number' ? toScaledInteger(measured, scale) : measured
        expect(rounded, name).toEqual(serviceOf(name, inputs))
      }
    }
  })

  it('prepares a geometry once and measures it again and again with the same result', () => {
    const point: GeometryInput = { type: 'Point', coordinates: [40, -3] }
    const triangle = [
      [0, 0],
      [4, 0],
      [0, 4],
      [0, 0],
    ] as const
    const valid: GeometryInput = { type: 'Polygon', coordinates: [triangle] }
    expect(distance(valid, point)).toBe(distance(point, prepare(valid)))
    for (const geometry of [valid, ...cases.map(({ a }) => a)]) {
      const prepared = prepare(geometry)
      expect(prepare(prepared)).toBe(prepared)
      // Some geometries are valid in the plane but not on the ellipsoid: then every call fails with the same reason.
      const expected = outcomeOf(() => distance(point, geometry))
      for (let repeat = 0; repeat < 3; repeat++) expect(outcomeOf(() => distance(point, prepared))).toBe(expected)
    }
  })

  it('solves the inverse and the direct problem as GeodTest says', () => {
    const rows = gunzipSync(readFileSync(GEODTEST)).toString('latin1').trim().split('\n')
    const selected = rows.filter((_, row) => row % Math.round(10 / Math.min(10, scaled(10))) === 0)
    for (const row of selected) {
      const [lat1, lon1, azimuth1, lat2, lon2, azimuth2, meters] = row.split(' ').map(Number) as number[] as LineOfTest
      const [from, to] = [
        [lon1, lat1],
        [lon2, lat2],
      ] as [Position, Position]
      expect(Math.abs(inverse(from, to).distanceMeters - meters)).toBeLessThan(15e-9)
      const arrival = direct(from, azimuth1, meters)
      expect(WGS84.Inverse(arrival.position[1], arrival.position[0], lat2, lon2).s12!).toBeLessThan(15e-9)
      // Near a pole the azimuth turns with the longitude, so only their sum is well defined there.
      if (Math.abs(lat2) < 89.9)
        expect(Math.abs(angleBetween(arrival.arrivalAzimuthDegrees, azimuth2))).toBeLessThan(1e-10)
    }
  })

  it('arrives where it started to look', () => {
    const random = seededBetween(5)
    for (const [where, latitude] of Object.entries(LATITUDES)) {
      for (let index = 0; index < scaled(500); index++) {
        const from: Position = [random(-180, 180), latitude(random)]
        const azimuth = index % 5 === 0 ? 90 * Math.round(random(-8, 8)) : random(-720, 720)
        const meters = 10 ** random(-3, 7)
        const { position } = direct(from, azimuth, meters)
        expect(Math.abs(position[0]), where).toBeLessThanOrEqual(180)
        expect(Math.abs(position[1]), where).toBeLessThanOrEqual(90)
        const { lat2, lon2 } = WGS84.Direct(from[1], from[0], azimuth, meters)
        expect(WGS84.Inverse(position[1], position[0], lat2!, lon2!).s12!, where).toBeLessThan(15e-9)
        // A shortest geodesic leads back.
        const { distanceMeters } = inverse(from, position)
        expect(distanceMeters - meters, where).toBeLessThan(15e-9)
      }
    }
  })
})

type LineOfTest = [number, number, number, number, number, number, number]

function angleBetween(a: number, b: number): number {
  return ((((a - b + 180) % 360) + 360) % 360) - 180
}

describe('arguments that are no geometries', () => {
  const point: GeometryInput = { type: 'Point', coordinates: [1, 2] }

  it.each<[unknown, string]>([
    [undefined, 'from: is not a geometry'],
    [null, 'from: is not a geometry'],
    ['POINT (1 2)', 'from: is not a geometry'],
    [[1, 2], 'from: has an unknown geometry type'],
    [{ type: 'Point' }, 'from: has a position that is not two to four finite numbers'],
    [{ type: 'Point', coordinates: ['1', 2] }, 'from: has a position that is not two to four finite numbers'],
    [{ type: 'Point', coordinates: [Number.NaN, 2] }, 'from: has a position that is not two to four finite numbers'],
    [{ type: 'Point', coordinates: [181, 2] }, 'from: has longitude 181, outside -180..180'],
    [{ type: 'Feature', geometry: null }, 'from: is not a geometry'],
    [{ type: 'MultiPoint', coordinates: [] }, 'from: is an empty MultiPoint, for which distance is not defined'],
  ])('%j', (input, message) => {
    const error = outcomeOf(() => distance(input as GeometryInput, point))
    expect(error).toBe(message)
  })

  it('name the parameter', () => {
    expect(() => direct([0, 91], 0, 1)).toThrow('from: [0,91] is not a position')
    expect(() => inverse([0, 0], { lon: 1 } as never)).toThrow('to: {"lon":1} is not a position')
    expect(() => direct([0, 0], Number.NaN, 1)).toThrow('azimuthDegrees is NaN')
    expect(() => direct([0, 0], 0, Number.POSITIVE_INFINITY)).toThrow('distanceMeters is Infinity')
    expect(() => relate(point, point, 'T')).toThrow(TypeError)
  })

  it('say where a polygon is not valid', () => {
    const hole = [
      [0, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ]
    const error = findInvalidity({ type: 'Polygon', coordinates: [hole] })
    expect(error).toMatchObject({ code: 'self-intersection', pointer: '#/geometry/coordinates/0/2' })
    expect(findInvalidity(point)).toBe(undefined)
  })
})
