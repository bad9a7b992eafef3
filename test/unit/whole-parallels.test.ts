import pkg from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { toScaledInteger } from '../../src/base/units.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { bandAreaSquareMeters } from '../../src/geodesy/area.ts'
import { isWholeParallel } from '../../src/geometry/whole-parallels.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { at } from '../fixtures.ts'
import { createVerifier } from '../verify-runner.ts'

const { Geodesic, PolygonArea } = pkg
const E2 = 0.006694379990141316
const E = Math.sqrt(E2)
const B = 6356752.314245179

/** Area between the equator and a parallel by Karney's eq. 59, in m². */
function authalic(lat: number): number {
  const s = Math.sin((lat * Math.PI) / 180)
  return Math.PI * B * B * (s / (1 - E2 * s * s) + Math.atanh(E * s) / E)
}

/** Area of a cap bounded by geodesics between many positions on its parallel; the parallel lies on their equator side. */
function capOfGeodesics(lat: number, count: number): number {
  const polygon = new PolygonArea.PolygonArea(Geodesic.WGS84, false)
  for (let i = 0; i < count; i++) polygon.AddPoint(lat, -180 + (360 * i) / count)
  return Math.abs(polygon.Compute(false, true).area!)
}

describe('the area between two parallels', () => {
  it('from pole to pole is that of the whole ellipsoid', () => {
    // 2π(a² + b² atanh(e)/e) of WGS 84, evaluated to 50 digits: 510065621724088.509…
    expect(bandAreaSquareMeters(-90, 90)).toBe(510_065_621_724_088.5)
    expect(bandAreaSquareMeters(0, 90)).toBe(510_065_621_724_088.5 / 2)
  })

  it('agrees with the closed form of Karney', () => {
    for (const [south, north] of [
      [-60, 60],
      [60, 90],
      [-90, -45.5],
      [12.5, 13],
      [-1e-9, 1e-9],
    ] as const) {
      const expected = authalic(north) - authalic(south)
      expect(Math.abs(bandAreaSquareMeters(south, north) - expected)).toBeLessThan(0.5)
    }
  })

  it('is the limit of polygons with ever more geodesics along the parallel', () => {
    for (const lat of [5, 30, 60, 85, -40]) {
      const exact = lat > 0 ? bandAreaSquareMeters(lat, 90) : bandAreaSquareMeters(-90, lat)
      const [coarse, fine] = [capOfGeodesics(lat, 1000), capOfGeodesics(lat, 2000)]
      // The error falls with the square of the step: Richardson's extrapolation.
      expect(Math.abs(fine + (fine - coarse) / 3 - exact) / exact, `${lat}`).toBeLessThan(1e-11)
    }
  })

  it('has full precision for a small cap', () => {
    // A disc of radius 1.116939… m about the pole: π r² to first order.
    const [metersPerDegree, gap] = [111_693.9795, 2 ** -16]
    const area = bandAreaSquareMeters(90 - gap, 90)
    expect(area / (Math.PI * (gap * metersPerDegree) ** 2)).toBeCloseTo(1, 6)
  })
})

const keccak = await createKeccak()
const limits = { maxVertices: 1000, maxParts: 100, maxWork: 100_000 }
const engine = { kernel: loadKernel(), keccak, limits }

const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const box = (south: number, north: number): Position[] =>
  at(`-180 ${south}, 180 ${south}, 180 ${north}, -180 ${north}, -180 ${south}`)
/** The same box with vertices every 90 degrees along both parallels. */
const denseBox = (south: number, north: number): Position[] => {
  const lons = [-180, -90, 0, 90, 180]
  const [bottom, top] = [south, north].map((lat) => lons.map((lon): Position => [lon, lat]))
  return [...bottom!, ...top!.reverse(), bottom![0]!]
}

function run(name: OperationName, ...geometries: Geometry[]) {
  const row = OPERATIONS[name]
  const operands = geometries.map((geometry, i) => ({ geometry, ref: undefined, path: [row.inputs[i]!] }))
  return runOperation(row, operands, name === 'within' ? { radiusMeters: 5 } : {}, engine)
}

function compute(name: OperationName, ...geometries: Geometry[]) {
  const outcome = run(name, ...geometries)
  if (outcome.kind === 'matrix') return outcome.matrix
  if (outcome.kind === 'geometry') return outcome.members
  return outcome.kind === 'boolean' ? outcome.value : Number(outcome.integer)
}

function findRejection(name: OperationName, ...geometries: Geometry[]) {
  try {
    return compute(name, ...geometries)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return error.data.invalidParts![0]!
  }
}

const locate = (geometry: Geometry, lon: number, lat: number) => [
  compute('contains', geometry, point(lon, lat)),
  compute('intersects', geometry, point(lon, lat)),
  compute('intersects', point(lon, lat), geometry),
]
const INSIDE = [true, true, true]
const EDGE = [false, true, true]
const OUTSIDE = [false, false, false]
/** Returns the on-chain integer of an area. */
const cm2 = (squareMeters: number): number => Number(toScaledInteger(squareMeters, 10_000))
/** Distance along a meridian by another implementation, in cm. */
const meridian = (lat1: number, lat2: number): number => Math.round(100 * Geodesic.WGS84.Inverse(lat1, 0, lat2, 0).s12!)

/** Returns the same ring from every start, in both directions. */
function* forms(positions: Position[]): Iterable<Position[]> {
  const open = positions.slice(0, -1)
  for (let i = 0; i < open.length; i++) {
    const turned = [...open.slice(i), ...open.slice(0, i)]
    yield [...turned, turned[0]!]
    const reversed = turned.toReversed()
    yield [...reversed, reversed[0]!]
  }
}

const BANDS = [
  ['a cap in the north', 60, 90],
  ['a cap in the south', -90, -45.5],
  ['a band', -60, 60],
  ['a band in the north', 12.5, 13],
  ['the world', -90, 90],
] as const

describe.each(BANDS)('%s drawn from −180 to 180', (_, south, north) => {
  const middle = (south + north) / 2
  const poleRow = (lat: number) => (Math.abs(lat) === 90 ? INSIDE : EDGE)

  it('contains what lies between its latitudes, from every start and in both directions', () => {
    for (const positions of forms(box(south, north))) {
      const band = polygon(positions)
      for (const lon of [-180, 180, -179.5, 0, 77]) {
        expect(locate(band, lon, middle), JSON.stringify(positions)).toEqual(INSIDE)
        expect(locate(band, lon, south)).toEqual(poleRow(south))
        expect(locate(band, lon, north)).toEqual(poleRow(north))
        if (south > -90) expect(locate(band, lon, south - 0.001)).toEqual(OUTSIDE)
        if (north < 90) expect(locate(band, lon, north + 0.001)).toEqual(OUTSIDE)
      }
    }
  })

  it('has the area of the closed form, and the result notes how the ring was read', () => {
    const expected = cm2(bandAreaSquareMeters(south, north))
    for (const positions of forms(box(south, north))) {
      const outcome = run('area', polygon(positions))
      expect(outcome).toMatchObject({ notes: [{ code: 'full-parallel' }] })
      expect(outcome.kind === 'numeric' && Number(outcome.integer)).toBe(expected)
    }
  })

  it('is as far from a point as its parallel is along the meridian, in both orders', () => {
    for (const positions of forms(box(south, north))) {
      const band = polygon(positions)
      for (const [lon, lat] of [
        [180, south - 7.25],
        [-33, north + 7.25],
        [12, middle],
        [-180, south],
      ] as const) {
        if (Math.abs(lat) > 90) continue
        const expected = lat < south ? meridian(lat, south) : lat > north ? meridian(lat, north) : 0
        expect(compute('distance', band, point(lon, lat))).toBe(expected)
        expect(compute('distance', point(lon, lat), band)).toBe(expected)
      }
    }
  })

  it('is rejected by within and by the distance to anything but a point, with a pointer to its edge', () => {
    const band = polygon(box(south, north))
    const line: Geometry = { type: 'LineString', coordinates: at('0 0, 1 1') }
    const hint = expect.stringContaining('put vertices along the parallel') as string
    const problemIn = (field: string) => ({ pointer: `#/${field}/coordinates/0/0`, code: 'whole-parallel', hint })
    expect(findRejection('within', band, point(0, 0))).toMatchObject(problemIn('geometry'))
    expect(findRejection('within', point(0, 0), band)).toMatchObject(problemIn('target'))
    expect(findRejection('distance', band, line)).toMatchObject(problemIn('from'))
    expect(findRejection('distance', line, band)).toMatchObject(problemIn('to'))
  })

  it('gives the same predicates with vertices along its parallels', () => {
    const [plain, dense] = [polygon(box(south, north)), polygon(denseBox(south, north))]
    expect(compute('contains', plain, dense)).toBe(true)
    expect(compute('contains', dense, plain)).toBe(true)
    const overAntimeridian = polygon(
      at(`170 ${middle - 0.1}, -170 ${middle - 0.1}, -170 ${middle + 0.1}, 170 ${middle + 0.1}, 170 ${middle - 0.1}`),
    )
    for (const band of [plain, dense]) {
      expect(compute('contains', band, overAntimeridian)).toBe(true)
      expect(compute('intersects', overAntimeridian, band)).toBe(true)
      expect(compute('contains', overAntimeridian, band)).toBe(false)
    }
  })
})

/** A ring around a pole in one piece, without edges along the antimeridian. */
const ringAround = (lat: number): Position[] => at(`-180 ${lat}, -90 ${lat}, 0 ${lat}, 90 ${lat}, -180 ${lat}`)

describe('holes and the antimeridian', () => {
  const hole = at('170 0, 170 10, -170 10, -170 0, 170 0')
  const inHole = [
    [180, 5],
    [-180, 5],
    [175, 5],
    [-175, 5],
  ] as const

  it('a hole over the antimeridian is a hole of bands and of the world, with and without vertices along them', () => {
    for (const [south, north] of [
      [-60, 60],
      [-90, 90],
    ] as const) {
      for (const exterior of [box(south, north), denseBox(south, north)]) {
        const holed = polygon(exterior, hole)
        for (const [lon, lat] of inHole) expect(locate(holed, lon, lat)).toEqual(OUTSIDE)
        for (const lon of [180, -180]) {
          expect(locate(holed, lon, 10)).toEqual(EDGE)
          expect(locate(holed, lon, 20)).toEqual(INSIDE)
        }
        const across: Geometry = { type: 'LineString', coordinates: at('175 5, -175 5') }
        const [inside, larger] = [at('178 4, -178 4, 180 6, 178 4'), at('160 -5, -160 -5, 180 20, 160 -5')]
        expect(compute('intersects', holed, across)).toBe(false)
        expect(compute('intersects', across, holed)).toBe(false)
        expect(compute('intersects', holed, polygon(inside))).toBe(false)
        expect(compute('intersects', holed, polygon(larger))).toBe(true)
        expect(compute('contains', holed, polygon(larger))).toBe(false)
        expect(compute('contains', holed, polygon(at('175 15, -175 15, 180 20, 175 15')))).toBe(true)
      }
    }
    const area = Number(compute('area', polygon(box(-60, 60), hole)))
    expect(area / 1e4).toBeCloseTo(bandAreaSquareMeters(-60, 60) - Number(compute('area', polygon(hole))) / 1e4, 0)
  })

  it('the distance from inside the hole is the distance to its edges', () => {
    const rim: Geometry = { type: 'LineString', coordinates: hole }
    for (const [lon, lat] of inHole) {
      expect(compute('distance', polygon(box(-60, 60), hole), point(lon, lat))).toBe(
        compute('distance', rim, point(lon, lat)),
      )
    }
    // Regression: edges along ±180 counted, although they are not part of the boundary.
    for (const polygonWithAntimeridian of [
      polygon(denseBox(-60, 60), hole),
      polygon(ringAround(40), denseBox(60, 90)),
      polygon(box(-60, 60), at('170 0, 180 0, 180 10, 170 10, 170 0'), at('-170 0, -180 0, -180 10, -170 10, -170 0')),
      polygon(box(-90, 90), denseBox(60, 90)),
    ]) {
      for (const operation of ['distance', 'within'] as const) {
        const found = findRejection(operation, polygonWithAntimeridian, point(175, 5)) as {
          code: string
          pointer: string
        }
        if (found.code !== 'whole-parallel') expect(found).toMatchObject({ code: 'hole-at-antimeridian' })
      }
    }
    // The remedy that the hint names.
    const notched = at(
      '-180 -60, -90 -60, 0 -60, 90 -60, 180 -60, 180 0, 170 0, 170 10, 180 10, 180 60, 90 60, 0 60, -90 60, -180 60, -180 10, -170 10, -170 0, -180 0, -180 -60',
    )
    for (const [lon, lat] of inHole) {
      expect(compute('distance', polygon(notched), point(lon, lat))).toBe(compute('distance', rim, point(lon, lat)))
    }
    expect(compute('distance', polygon(ringAround(40), ringAround(60)), point(180, 80))).toBeGreaterThan(1e8)
  })

  it('a cap may be a hole of the world, of a larger cap and of a band up to its pole', () => {
    for (const exterior of [box(-90, 90), box(40, 90), box(-20, 90)]) {
      for (const cap of [box(60, 90), denseBox(60, 90), ringAround(60)]) {
        const holed = polygon(exterior, cap)
        for (const lon of [180, -180, 33]) {
          expect(locate(holed, lon, 75)).toEqual(OUTSIDE)
          expect(locate(holed, lon, 90)).toEqual(OUTSIDE)
          expect(locate(holed, lon, 60)).toEqual(EDGE)
          expect(locate(holed, lon, 50)).toEqual(INSIDE)
        }
      }
      const south = exterior[0]![1]
      // Rounding a number of this size once changes it by up to 0.03 m².
      const area = Number(compute('area', polygon(exterior, box(60, 90))))
      expect(Math.abs(area - cm2(bandAreaSquareMeters(south, 60)))).toBeLessThan(1000)
      expect(compute('distance', polygon(exterior, box(60, 90)), point(12, 80))).toBe(meridian(80, 60))
    }
  })

  it('a band may be a hole: the remaining polygon equals two caps', () => {
    const cut = polygon(box(-90, 90), box(-10, 10))
    const caps: Geometry = { type: 'MultiPolygon', coordinates: [[box(-90, -10)], [box(10, 90)]] }
    expect(Math.abs(Number(compute('area', cut)) - Number(compute('area', caps)))).toBeLessThan(1000)
    expect(compute('contains', cut, caps)).toBe(true)
    expect(compute('contains', caps, cut)).toBe(true)
    for (const geometry of [cut, caps]) {
      for (const lon of [180, -180, 5]) {
        expect(locate(geometry, lon, 0)).toEqual(OUTSIDE)
        expect(locate(geometry, lon, 10)).toEqual(EDGE)
        expect(locate(geometry, lon, -50)).toEqual(INSIDE)
        expect(compute('distance', geometry, point(lon, 2))).toBe(meridian(2, 10))
      }
    }
  })

  it('invalid polygons are rejected', () => {
    const readCode = (geometry: Geometry) => (findRejection('area', geometry) as { code: string }).code
    const multi = (...rings: Position[][]): Geometry => ({ type: 'MultiPolygon', coordinates: rings.map((r) => [r]) })
    expect(readCode(multi(box(-90, 90), box(-90, 90)))).toBe('overlapping-polygons')
    expect(readCode(multi(box(-90, 90), hole))).toBe('overlapping-polygons')
    expect(readCode(multi(denseBox(-90, 90), box(-90, 90)))).toBe('overlapping-polygons')
    expect(readCode(multi(box(0, 20), box(10, 30)))).toBe('overlapping-polygons')
    expect(readCode(multi(box(0, 20), box(20, 30)))).toBe('shared-edge')
    expect(readCode(polygon(box(-90, 90), box(-90, 90)))).toBe('hole-outside-its-exterior-ring')
    expect(readCode(polygon(box(10, 20), box(30, 40)))).toBe('hole-outside-its-exterior-ring')
    expect(readCode(polygon(box(20, 20)))).toBe('ring-without-an-inside')
    // Back and forth along the parallel: these edges have no length, and only a line remains.
    const again = polygon(at('-180 20, 180 20, -180 20, 180 20, 180 90, -180 90, -180 20'))
    expect(readCode(again)).toMatch(/^(repeated-edge|ring-without-an-inside|no-area)$/)
  })
})

describe('rings of whole parallels and other edges', () => {
  const notched = polygon(at('-180 40, 180 40, 180 60, 100 50, 0 55, -100 50, -180 60, -180 40'))

  it('give predicates as drawn, and measures reject them with a pointer to the parallel', () => {
    expect(locate(notched, 180, 50)).toEqual(INSIDE)
    expect(locate(notched, 100, 49)).toEqual(INSIDE)
    expect(locate(notched, 100, 51)).toEqual(OUTSIDE)
    expect(locate(notched, 50, 40)).toEqual(EDGE)
    for (const rejection of [
      findRejection('area', notched),
      findRejection('distance', notched, point(0, 0)),
      findRejection('distance', point(0, 0), notched),
      findRejection('within', point(0, 0), notched),
    ]) {
      expect(rejection).toMatchObject({ code: 'whole-parallel', pointer: expect.stringMatching(/\/0\/0$/) as string })
    }
  })

  it('are rejected by measures if a geodesic of another ring bulges over a whole parallel', () => {
    // The geodesic from (0, 50) to (60, 50) rises to 54.005°, by geographiclib-geodesic 2.2.0.
    const holed = (north: number) => polygon(box(0, north), at('0 50, 60 50, 60 40, 0 40, 0 50'))
    for (const operation of ['area', 'distance'] as const) {
      const operandsFor = (north: number) => (operation === 'area' ? [holed(north)] : [holed(north), point(30, 45)])
      expect(findRejection(operation, ...operandsFor(54)), operation).toMatchObject({ code: 'self-intersection' })
      expect(typeof findRejection(operation, ...operandsFor(54.01))).toBe('number')
    }
    expect(compute('contains', holed(54), point(30, 30))).toBe(true)
  })
})

describe('an edge between the two names of one position on the antimeridian', () => {
  const plain = polygon(at('170 0, -170 0, -170 10, 170 10, 170 0'))

  it('has no length where the ring crosses the antimeridian or continues along it', () => {
    for (const withBothNames of [
      '170 0, 180 0, -180 0, -170 0, -170 10, -180 10, 180 10, 170 10, 170 0',
      '170 0, -170 0, -170 10, -180 10, 180 10, 170 10, 170 0',
    ]) {
      const geometry = polygon(at(withBothNames))
      expect(run('area', geometry)).not.toHaveProperty('notes')
      expect(compute('contains', geometry, plain)).toBe(true)
      expect(compute('contains', plain, geometry)).toBe(true)
    }
    const slope = polygon(at('170 0, 180 5, -180 5, -170 10, 170 10, 170 0'))
    expect(locate(slope, 179, 4)).toEqual(OUTSIDE)
    expect(locate(slope, -179, 8)).toEqual(INSIDE)
    expect(locate(slope, 0, 5)).toEqual(OUTSIDE)
  })

  it('does not count where a ring over the antimeridian has its tip there, under both names', () => {
    // A circle around [180, -17] whose northern and southern vertices lie on the antimeridian.
    const once = polygon(
      at(
        '-177 -17, -177.87868 -15.585786, 180 -15, 177.87868 -15.585786, 177 -17, 177.87868 -18.414214, 180 -19, -177.87868 -18.414214, -177 -17',
      ),
    )
    const circle = polygon(
      at(
        '-177 -17, -177.87868 -15.585786, -180 -15, 180 -15, 177.87868 -15.585786, 177 -17, 177.87868 -18.414214, 180 -19, -180 -19, -177.87868 -18.414214, -177 -17',
      ),
    )
    expect(run('area', circle)).not.toHaveProperty('notes')
    expect(compute('area', circle)).toBe(compute('area', once))
    expect(compute('contains', once, circle)).toBe(true)
    expect(compute('contains', circle, once)).toBe(true)
    expect(locate(circle, 180, -17)).toEqual(INSIDE)
    expect(locate(circle, 0, -17)).toEqual(OUTSIDE)
    const kite = polygon(at('170 0, 180 5, -180 5, -170 0, -180 -5, 180 -5, 170 0'))
    expect(locate(kite, 180, 4)).toEqual(INSIDE)
    expect(locate(kite, 0, 0)).toEqual(OUTSIDE)
    const corner = polygon(at('180 0, 180 5, -180 5, -170 0, 180 0'))
    expect(locate(corner, -178, 1)).toEqual(INSIDE)
    expect(locate(corner, 178, 1)).toEqual(OUTSIDE)
  })

  it('is recognised in time linear in the vertices, however often a ring names the position', () => {
    const names = Array.from({ length: 100_000 }, (_, i): [number, number] => [i % 2 === 0 ? 180 : -180, 5])
    const flat = Float64Array.from([[170, 0], ...names, [-170, 10], [170, 10], [170, 0]].flat())
    let whole = 0
    for (let vertex = 0; vertex < flat.length / 2 - 1; vertex++) {
      if (isWholeParallel(flat, 0, flat.length / 2, vertex)) whole++
    }
    expect(whole).toBe(0)
  })

  it('has no length in a line', () => {
    const line: Geometry = { type: 'LineString', coordinates: at('170 5, 180 5, -180 5, -170 5') }
    expect(compute('length', line)).toBe(
      compute('length', { type: 'LineString', coordinates: at('170 5, 180 5, -170 5') }),
    )
    expect(compute('intersects', line, point(0, 5))).toBe(false)
  })
})

describe('locations of evidence', () => {
  it('are rejected with a whole parallel, or with edges along ±180 in a hole, since verification measures distances to them', async () => {
    const verifier = await createVerifier()
    const polygonClaim = (location: Geometry) => proofOf([stampOf()], { location, locationType: 'geojson-polygon' })
    for (const [location, code] of [
      [polygon(box(40, 90)), 'whole-parallel'],
      [polygon(denseBox(-60, 60), at('170 0, 170 10, -170 10, -170 0, 170 0')), 'hole-at-antimeridian'],
    ] as const) {
      const { problem } = await verifier.proof(polygonClaim(location))
      expect(problem).toMatchObject({ type: 'invalid-input', invalidParts: [{ code }] })
    }
    expect((await verifier.proof(polygonClaim(polygon(denseBox(40, 90)))))['problem']).toBeUndefined()
  })
})

describe('collections with bands', () => {
  it('are as near as their nearest member', () => {
    const collection = (first: Geometry, ...rest: Geometry[]): Geometry => ({
      type: 'GeometryCollection',
      geometries: [first, ...rest],
    })
    const [north, near] = [polygon(box(60, 90)), polygon(at('0 10, 10 10, 10 20, 0 20, 0 10'))]
    const all = collection(near, north, { type: 'LineString', coordinates: at('50 0, 50 5') }, point(-90, -30))
    for (const [lon, lat] of [
      [5, 58],
      [5, 21],
      [51, 3],
      [-91, -31],
      [5, 15],
      [100, 75],
    ] as const) {
      const from = point(lon, lat)
      const others = collection(near, { type: 'LineString', coordinates: at('50 0, 50 5') }, point(-90, -30))
      const expected = Math.min(Number(compute('distance', from, others)), lat < 60 ? meridian(lat, 60) : 0)
      expect(compute('distance', all, from)).toBe(expected)
      expect(compute('distance', from, all)).toBe(expected)
    }
    expect(run('intersects', all, point(0, 0))).toMatchObject({
      notes: [{ code: 'full-parallel' }, { code: 'planar-deviation', meters: 8732 }],
    })
  })
})
