import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { findInvalidity } from '../../src/topology/validity.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { at, box } from '../fixtures.ts'

type Ring = Position[]

const validate = (geometry: Geometry) =>
  findInvalidity(readGeometry(geometry, [], { maxVertices: 99, maxParts: 99 }), () => 1)
const polygon = (...coordinates: Ring[]) => validate({ type: 'Polygon', coordinates })
const multiPolygon = (...coordinates: Ring[][]) => validate({ type: 'MultiPolygon', coordinates })

describe('a valid polygon', () => {
  // Expected values: OGC 06-103r4, 6.1.11, worked out on paper.
  it('may have holes, including one that touches the exterior ring at one vertex', () => {
    expect(polygon(box(0, 0, 10, 10), box(4, 4, 6, 6))).toBeUndefined()
    expect(polygon(box(0, 0, 10, 10), at('0 5, 5 4, 5 6, 0 5'))).toBeUndefined()
    expect(polygon(box(0, 0, 10, 10), at('0 0, 5 4, 4 5, 0 0'))).toBeUndefined()
  })

  it('may have holes that touch each other at one vertex', () => {
    expect(polygon(box(0, 0, 10, 10), box(2, 2, 5, 5), box(5, 5, 8, 8))).toBeUndefined()
  })

  it('may repeat vertices and run in either direction', () => {
    expect(polygon(at('0 0, 0 0, 10 0, 10 0, 10 10, 0 10, 0 0, 0 0'))).toBeUndefined()
    expect(polygon(box(0, 0, 10, 10).toReversed(), box(4, 4, 6, 6).toReversed())).toBeUndefined()
  })

  it('may have vertices in the middle of straight edges', () => {
    expect(polygon(at('0 0, 5 0, 10 0, 10 10, 5 10, 0 10, 0 5, 0 0'))).toBeUndefined()
  })

  it('may lie in the hole of another member, or touch another at points', () => {
    expect(multiPolygon([box(0, 0, 10, 10), box(4, 4, 6, 6)], [box(4.5, 4.5, 5.5, 5.5)])).toBeUndefined()
    expect(multiPolygon([box(0, 0, 10, 10)], [box(10, 10, 15, 15)])).toBeUndefined()
    expect(multiPolygon([box(0, 0, 10, 10)], [at('10 5, 12 4, 12 6, 10 5')])).toBeUndefined()
    expect(multiPolygon([box(0, 0, 10, 10)], [at('10 2, 12 4, 12 6, 10 8, 11 5, 10 2')])).toBeUndefined()
  })
})

describe('an invalid polygon', () => {
  it('crosses itself, and the crossing is reported', () => {
    expect(polygon(at('0 0, 2 2, 2 0, 0 2, 0 0'))).toEqual({
      reason: 'self-intersection',
      lon: 1,
      lat: 1,
      sequence: 0,
      vertex: 2,
    })
  })

  it('is reported by the first of its crossings in the order sent', () => {
    const zigzag: Ring = at('0 0, 10 0, 10 4, 9 -1, 8 4, 7 -1, 6 4, 0 4, 0 0')
    // The edge (0, 0)–(10, 0) is crossed by the edges from vertex 2 on: (10, 4)–(9, −1) at 9.2.
    expect(polygon(zigzag)).toEqual({ reason: 'self-intersection', lon: 9.2, lat: 0, sequence: 0, vertex: 2 })
  })

  it('touches itself, like a figure eight', () => {
    expect(polygon(at('0 0, 2 2, 4 0, 4 4, 2 2, 0 4, 0 0'))).toMatchObject({
      reason: 'self-touch',
      lon: 2,
      lat: 2,
    })
    // A vertex on an edge of the same ring.
    expect(polygon(at('0 0, 10 0, 10 10, 5 0, 0 10, 0 0'))).toMatchObject({
      reason: 'self-touch',
      lon: 5,
      lat: 0,
    })
  })

  it('has a spike, outward or inward', () => {
    const outward: Ring = at('0 0, 10 0, 10 10, 15 10, 10 10, 0 10, 0 0')
    const inward: Ring = at('0 0, 10 0, 10 5, 5 5, 10 5, 10 10, 0 10, 0 0')
    expect(polygon(outward)).toMatchObject({ reason: 'repeated edge', lon: 10, lat: 10 })
    expect(polygon(inward)).toMatchObject({ reason: 'repeated edge', lon: 5, lat: 5 })
  })

  it('encloses no area', () => {
    expect(polygon(at('0 0, 2 2, 4 4, 0 0'))).toMatchObject({ reason: 'ring without an inside', sequence: 0 })
    expect(polygon(at('3 3, 3 3, 3 3, 3 3'))).toMatchObject({ reason: 'ring without an inside' })
    // Only just: the third vertex is off the line by one unit in the last place.
    expect(
      polygon([
        [0, 0],
        [2, 2],
        [4, 4 + 2 ** -50],
        [0, 0],
      ]),
    ).toBeUndefined()
  })

  it('has a hole outside, across or around its exterior ring', () => {
    expect(polygon(box(0, 0, 10, 10), box(14, 4, 16, 6))).toMatchObject({
      reason: 'hole outside its exterior ring',
      lon: 14,
      lat: 4,
      sequence: 1,
    })
    expect(polygon(box(0, 0, 10, 10), box(-4, -4, 16, 16))).toMatchObject({ reason: 'hole outside its exterior ring' })
    expect(polygon(box(0, 0, 10, 10), box(-1, 4, 6, 6))).toMatchObject({
      reason: 'self-intersection',
      lon: 0,
      lat: 4,
      sequence: 1,
    })
    // A hole that touches the exterior ring from outside at one vertex.
    expect(polygon(box(0, 0, 10, 10), at('10 5, 12 4, 12 6, 10 5'))).toMatchObject({
      reason: 'hole outside its exterior ring',
    })
  })

  it('has rings that cross at a common vertex', () => {
    const shell: Ring = at('0 0, 10 0, 10 10, 0 10, 0 6, 0 4, 0 0')
    const hole: Ring = at('0 4, 5 5, 0 6, -5 5, 0 4')
    expect(polygon(shell, hole)).toMatchObject({ reason: 'self-intersection', lon: 0, lat: 4 })
  })

  it('has a hole that shares an edge with its exterior ring or with another hole', () => {
    expect(polygon(box(0, 0, 10, 10), box(0, 4, 6, 6))).toMatchObject({ reason: 'shared edge', lon: 0, lat: 4 })
    expect(polygon(box(0, 0, 10, 10), box(0, 0, 10, 10))).toMatchObject({ reason: 'shared edge' })
    expect(polygon(box(0, 0, 10, 10), box(2, 2, 5, 5), box(5, 3, 8, 4))).toMatchObject({
      reason: 'shared edge',
      lon: 5,
      lat: 3,
    })
  })

  it('has nested holes', () => {
    expect(polygon(box(0, 0, 10, 10), box(2, 2, 8, 8), box(4, 4, 6, 6))).toMatchObject({
      reason: 'nested holes',
      sequence: 2,
    })
    // The inner one touches the outer one.
    expect(polygon(box(0, 0, 10, 10), box(2, 2, 8, 8), at('2 2, 6 4, 4 6, 2 2'))).toMatchObject({
      reason: 'nested holes',
    })
  })

  it('has an interior that touching rings cut in two', () => {
    expect(polygon(box(0, 0, 10, 10), at('0 5, 5 4, 10 5, 5 6, 0 5'))).toMatchObject({
      reason: 'disconnected interior',
    })
    const chain: Ring[] = [at('0 5, 5 4, 5 6, 0 5'), at('5 4, 10 5, 6 4, 5 4')]
    expect(polygon(box(0, 0, 10, 10), ...chain)).toMatchObject({ reason: 'disconnected interior' })
  })

  it('has members that overlap, nest or share an edge', () => {
    expect(multiPolygon([box(0, 0, 10, 10)], [box(5, 5, 15, 15)])).toMatchObject({ reason: 'self-intersection' })
    expect(multiPolygon([box(0, 0, 10, 10)], [box(5, 5, 8, 8)])).toMatchObject({
      reason: 'overlapping polygons',
      sequence: 1,
    })
    expect(multiPolygon([box(0, 0, 10, 10)], [box(10, 0, 15, 10)])).toMatchObject({ reason: 'shared edge' })
  })

  it('has a hole in the wrong member', () => {
    expect(multiPolygon([box(0, 0, 10, 10)], [box(20, 0, 30, 10), box(4, 4, 6, 6)])).toMatchObject({
      reason: 'hole outside its exterior ring',
      sequence: 2,
    })
  })
})

describe('rings over the antimeridian and around a pole', () => {
  const acrossAntimeridian: Ring = at('170 0, -170 0, -170 10, 170 10, 170 0')
  const ringAround = (lat: number): Ring => [
    [0, lat],
    [90, lat],
    [180, lat],
    [-90, lat],
    [0, lat],
  ]

  it('are checked on the cylinder, with holes on either side', () => {
    expect(polygon(acrossAntimeridian, box(-176, 4, -174, 6), box(174, 4, 176, 6))).toBeUndefined()
    expect(polygon(acrossAntimeridian, box(-166, 4, -164, 6))).toMatchObject({
      reason: 'hole outside its exterior ring',
      lon: -166,
    })
    expect(polygon(at('170 0, -170 10, -170 0, 170 10, 170 0'))).toMatchObject({
      reason: 'self-intersection',
      lon: 180,
      lat: 5,
    })
  })

  it('are closed through their pole', () => {
    expect(polygon(ringAround(60))).toBeUndefined()
    expect(polygon(ringAround(60), box(-1, 70, 1, 80), ringAround(85))).toBeUndefined()
    expect(polygon(ringAround(60), ringAround(50))).toMatchObject({ reason: 'hole outside its exterior ring' })
    expect(polygon(ringAround(60), box(-1, 50, 1, 70))).toMatchObject({ reason: 'self-intersection', lat: 60 })
  })

  it('may be cut at ±180 with an edge along the pole', () => {
    const rim: Ring = at('-180 60, -90 60, 0 60, 90 60, 180 60')
    expect(polygon([...rim, [180, 90], [-180, 90], [-180, 60]])).toBeUndefined()
    // A sector over the antimeridian whose edge along the pole spans more than 180° as sent.
    expect(polygon(at('32 70, 110 70, 180 70, -168 66, -168 90, 32 90, 32 70'))).toBeUndefined()
  })

  it('may be cut at ±180 next to members that are not', () => {
    const east: Ring = box(170, 0, 180, 10)
    const other: Ring = at('170 20, -170 20, -170 30, 170 30, 170 20')
    const rim: Ring = at('-180 60, -90 60, 0 60, 90 60, 180 60')
    expect(multiPolygon([east], [box(-180, 0, -170, 10)], [other])).toBeUndefined()
    expect(multiPolygon([east], [box(-180, 5, -170, 15)], [other])).toBeUndefined()
    expect(multiPolygon([[...rim, [180, 90], [-180, 90], [-180, 60]]], [other])).toBeUndefined()
    // A slit is not a cut: there the ring runs back on the same side.
    const slit: Ring = at('170 0, 180 0, 180 5, 180 0, -170 0, -170 10, 170 10, 170 0')
    expect(polygon(slit)).toMatchObject({ reason: 'repeated edge' })
  })

  // Regression: a ring that named the antimeridian by its other side was taken for one that crosses it.
  it('are cut at ±180 under either name of the antimeridian', () => {
    const west: Ring = box(-180, 0, -170, 10)
    const others = ['170 0, -180 0, -180 10, 170 10, 170 0', '170 0, 180 0, -180 10, 170 10, 170 0']
    for (const east of others) expect(multiPolygon([at(east)], [west])).toBeUndefined()
    expect(multiPolygon([box(170, 0, 180, 10)], [at('180 0, -170 0, -170 10, 180 10, 180 0')])).toBeUndefined()
    // On the same side they still overlap or share an edge.
    for (const east of others) {
      expect(multiPolygon([at(east)], [at('175 3, 180 3, 180 6, 175 6, 175 3')])).toBeDefined()
      expect(polygon(at(east), at('175 3, 180 3, -180 6, 175 6, 175 3'))).toMatchObject({ reason: 'shared edge' })
    }
  })

  it('go the short way along the antimeridian between its two names at different latitudes', () => {
    expect(polygon(at('170 0, 180 0, -180 10, 170 10, 170 0'))).toBeUndefined()
    // A cap around the pole, whose first edge is a step along the antimeridian.
    expect(polygon(at('-180 60, 180 60.5, 90 70, 0 65, -90 70, -180 60'))).toBeUndefined()
    // There and back along the antimeridian.
    expect(polygon(at('-180 50, 180 60, 180 80, -180 75, -180 50'))).toMatchObject({ reason: 'ring without an inside' })
    // At a pole the longitude has no meaning.
    expect(polygon(at('-180 60, -90 60, 0 60, 90 60, 180 60, 180 90, -180 60'))).toBeUndefined()
  })

  // Regression: whether the interior was in one piece or in two depended on how the antimeridian was named.
  it('have an interior that is cut in two by a hole touching them at the antimeridian, under either name', () => {
    const east: Ring = box(170, 0, 180, 10)
    const across: Ring = at('170 0, 180 0, -170 0, -170 10, 180 10, 170 10, 170 0')
    const disconnected = { reason: 'disconnected interior' }
    for (const lon of [180, -180]) {
      const hole = at(`170 5, 175 2, ${lon} 5, 175 8, 170 5`)
      expect(polygon(east, hole)).toMatchObject({ ...disconnected, lat: 5 })
      expect(multiPolygon([east, hole], [box(-180, 0, -170, 10)])).toMatchObject(disconnected)
      expect(polygon(east, at(`172 5, 175 2, ${lon} 5, 175 8, 172 5`))).toBeUndefined()
      const triangle = at(`45 0, ${lon} -67.5, ${lon} 67.5, 45 0`)
      expect(polygon(triangle, at('135 0, 90 22.5, 180 -67.5, 135 0'))).toMatchObject(disconnected)
      // From antimeridian to antimeridian in a polygon that crosses it, west and east of it.
      expect(polygon(across, at(`${lon} 0, 175 5, ${lon} 10, 178 5, ${lon} 0`))).toMatchObject(disconnected)
      expect(polygon(across, at(`${lon} 0, -175 5, ${lon} 10, -178 5, ${lon} 0`))).toMatchObject(disconnected)
      // A hole that surrounds the pole except for a gap, closed at the antimeridian.
      const ring = at(`180 70, 90 70, 0 70, -90 70, ${lon} 70, -90 75, 0 75, 90 75, 180 70`)
      expect(polygon(ringAround(50), ring)).toMatchObject({ reason: 'self-touch' })
    }
  })

  it('may have a hole across the antimeridian if their interior lies on both sides, but no cut hole where they have no cut', () => {
    const south: Ring = at('-180 -10, -90 -10, 0 -10, 90 -10, 180 -10')
    const band: Ring = [...south, ...at('180 10, 90 10, 0 10, -90 10, -180 10, -180 -10')]
    expect(polygon(band, at('170 0, 180 3, 170 5, 170 0'), at('-170 0, -180 3, -170 5, -170 0'))).toBeUndefined()
    const hole: Ring = at('170 0, -170 0, -170 5, 170 5, 170 0')
    const halved: Ring = at('170 0, 180 0, -170 0, -170 5, 180 5, 170 5, 170 0')
    for (const ring of [hole, halved]) expect(polygon(band, ring)).toBeUndefined()
    for (const lon of [180, -180]) {
      const halves: Ring[] = [at(`${lon} 3, 175 5, ${lon} 8, ${lon} 3`), at(`${-lon} 3, -175 5, ${-lon} 8, ${-lon} 3`)]
      expect(polygon(at('170 0, -170 0, -170 10, 170 10, 170 0'), ...halves)).toMatchObject({ reason: 'shared edge' })
    }
  })

  // Regression: rings that meet at ±180 were compared only in polygons that cross the antimeridian.
  it('have an interior that is cut in two by holes that touch in a circle around the globe', () => {
    const band: Ring = box(-180, -50, 180, 50)
    const [west, east] = [at('-180 0, -90 -5, 0 0, -90 5, -180 0'), at('0 0, 90 -5, 180 0, 90 5, 0 0')]
    expect(polygon(band, west, east)).toMatchObject({ reason: 'disconnected interior' })
    expect(polygon(band, west, at('1 0, 90 -5, 180 0, 90 5, 1 0'))).toBeUndefined()
    expect(polygon(band, at('-180 0, 0 -5, 180 0, 0 5, -180 0'))).toMatchObject({ reason: 'self-touch', lat: 0 })
    // Two holes that are one on the globe.
    const halves = [at('180 3, 175 5, 180 8, 180 3'), at('-180 3, -175 5, -180 8, -180 3')]
    expect(polygon(band, ...halves)).toBeUndefined()
    // A band as a hole is the one way to write two caps as a polygon (test/property/band-laws.test.ts).
    expect(polygon(band, box(-180, -10, 180, 10))).toBeUndefined()
  })

  it('may come to a pole only once, because it is one point at all longitudes', () => {
    const twice: Ring = at('0 60, 40 60, 40 90, 80 90, 80 60, 120 60, 120 90, 0 90, 0 60')
    expect(polygon(twice)).toMatchObject({ reason: 'self-touch', lat: 90 })
    const sector: Ring = box(0, 40, 60, 90)
    expect(polygon(sector, at('20 90, 10 70, 20 60, 30 70, 20 90'))).toBeUndefined()
    // Regression: one touch at the same longitude was counted twice.
    expect(polygon(at('0 80, 10 90, 20 80, 10 70, 0 80'), at('5 80, 10 90, 15 80, 5 80'))).toBeUndefined()
    // The hole also touches the rim and cuts the interior in two.
    expect(polygon(sector, at('20 90, 10 70, 20 40, 30 70, 20 90'))).toMatchObject({ reason: 'disconnected interior' })
  })

  it('have no defined interior with edges along both poles', () => {
    // 340° wide as drawn, 20° the short way.
    expect(polygon(box(-170, -90, 170, 90))).toMatchObject({ reason: 'inside not defined by edges along the poles' })
    expect(polygon(box(-180, -90, 180, 90))).toBeUndefined()
    const south: Ring = at('-180 -90, -90 -90, 0 -90, 90 -90, 180 -90')
    expect(polygon([...south, ...at('180 90, 90 90, 0 90, -90 90, -180 90, -180 -90')])).toBeUndefined()
    // Sectors of 20° across the antimeridian, whose edge along the pole is sent as 340°.
    for (const lat of [90, -90]) expect(polygon(at(`170 0, -170 0, -170 ${lat}, 170 ${lat}, 170 0`))).toBeUndefined()
  })

  it('may not go around the pole twice', () => {
    const twice: Ring = [...ringAround(60).slice(0, -1), [0, 50], [90, 50], [180, 50], [-90, 50], [0, 60]]
    expect(polygon(twice)).toMatchObject({ reason: 'ring around the axis more than once' })
  })
})

describe('geometries without faults', () => {
  it('include lines that cross themselves, and points', () => {
    expect(
      validate({
        type: 'LineString',
        coordinates: at('0 0, 2 2, 2 0, 0 2'),
      }),
    ).toBeUndefined()
    expect(
      validate({
        type: 'MultiPoint',
        coordinates: [
          [0, 0],
          [0, 0],
        ],
      }),
    ).toBeUndefined()
  })

  it('include collections whose elements overlap, since each is checked separately', () => {
    const a: Geometry = { type: 'Polygon', coordinates: [box(0, 0, 10, 10)] }
    const b: Geometry = { type: 'Polygon', coordinates: [box(5, 5, 15, 15)] }
    const bowtie: Geometry = {
      type: 'Polygon',
      coordinates: [at('0 0, 2 2, 2 0, 0 2, 0 0')],
    }
    expect(validate({ type: 'GeometryCollection', geometries: [a, b] })).toBeUndefined()
    expect(validate({ type: 'GeometryCollection', geometries: [a, b, bowtie] })).toMatchObject({ sequence: 2 })
  })
})

describe('a polygon that is too intricate around the axis', () => {
  const cap = at('0 50, 90 49, 180 49, -90 49, 0 50')
  /** Crosses the meridian on which the cap is closed through its pole 24,000 times. */
  const zigzag = Array.from({ length: 24_000 }, (_, i): Position => [i % 2 === 0 ? -0.5 : 0.5, 60 + i * 0.001])
  const validateLarge = (hole: Ring) =>
    findInvalidity(
      readGeometry({ type: 'Polygon', coordinates: [cap, [...zigzag, ...hole, zigzag[0]!]] }, [], {
        maxVertices: 50_000,
        maxParts: 9,
      }),
      () => 1,
    )

  it('is rejected with that reason', () => {
    expect(validateLarge(at('3 84, 3 59'))?.reason).toBe('too intricate around the axis')
  })

  it('is rejected for its self-intersection when it has one', () => {
    // On paper: the edge (2, 70.5)–(3.5, 70.4) meets the meridian of 3 at 70.5 − 0.1 · 2/3.
    const fault = validateLarge(at('3 84, 3 70, 2 71, 2 70.5, 3.5 70.4, 3.5 59'))
    expect(fault).toMatchObject({ reason: 'self-intersection', lon: 3, sequence: 1, vertex: 24_003 })
    expect(fault!.lat).toBeCloseTo(70.5 - 0.2 / 3, 12)
  })
})
