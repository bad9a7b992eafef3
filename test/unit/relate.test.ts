import { describe, expect, it } from 'vitest'
import { readGeometry } from '../../src/geometry/read.ts'
import { Matrix } from '../../src/topology/matrix.ts'
import { prepareTopology } from '../../src/topology/plane/prepared.ts'
import { relate } from '../../src/topology/relate.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const read = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 100_000, maxParts: 20_000 })
const north = () => 1 as const

/** The matrix in both orders, with and without preparation, which all have to agree. */
function matrixOf(a: Geometry, b: Geometry): string {
  const text = relate(read(a), read(b), north, kernel).toString()
  expect(relate(read(b), read(a), north, kernel).transposed().toString()).toBe(text)
  expect(relate(prepareTopology(read(a)), prepareTopology(read(b)), north).toString()).toBe(text)
  return text
}

const point = (...position: Position): Geometry => ({ type: 'Point', coordinates: position })
const points = (...positions: Position[]): Geometry => ({ type: 'MultiPoint', coordinates: positions })
const line = (...positions: Position[]): Geometry => ({ type: 'LineString', coordinates: positions })
const lines = (...members: Position[][]): Geometry => ({ type: 'MultiLineString', coordinates: members })
const ring = (west: number, south: number, east: number, north: number): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
const box = (...sides: [number, number, number, number]): Geometry => ({
  type: 'Polygon',
  coordinates: [ring(...sides)],
})
const boxes = (...all: [number, number, number, number][]): Geometry => ({
  type: 'MultiPolygon',
  coordinates: all.map((sides) => [ring(...sides)]),
})
const collection = (...geometries: Geometry[]) => ({ type: 'GeometryCollection', geometries }) as Geometry
const empty = (type: Geometry['type']) =>
  (type === 'GeometryCollection' ? { type, geometries: [] } : { type, coordinates: [] }) as unknown as Geometry

const square = box(0, 0, 4, 4)

describe('the matrix of two geometries', () => {
  it.each<[string, Geometry, Geometry, string]>([
    // From the definitions of OGC 06-103r4, 6.1.15.
    ['polygons that overlap', square, box(2, 2, 6, 6), '212101212'],
    ['polygons with a common edge', square, box(4, 0, 8, 4), 'FF2F11212'],
    ['polygons with a common corner', square, box(4, 4, 8, 8), 'FF2F01212'],
    ['polygons that are apart', square, box(5, 5, 8, 8), 'FF2FF1212'],
    ['equal polygons', square, box(0, 0, 4, 4), '2FFF1FFF2'],
    ['a polygon inside another', square, box(1, 1, 2, 2), '212FF1FF2'],
    ['a polygon inside another along an edge', square, box(0, 1, 2, 2), '212F11FF2'],
    ['polygons that overlap along a part of an edge', square, box(2, 0, 6, 4), '212111212'],
    ['a cross of two polygons', square, box(1, -1, 2, 5), '212101212'],
    [
      'a polygon in a hole',
      { type: 'Polygon', coordinates: [ring(0, 0, 9, 9), ring(2, 2, 6, 6)] },
      box(2, 2, 6, 6),
      'FF2F112F2',
    ],
    ['a line through a polygon', line([-1, 1], [5, 1]), square, '101FF0212'],
    ['a line inside a polygon', line([1, 1], [2, 2]), square, '1FF0FF212'],
    ['a line along an edge', line([0, 1], [0, 2]), square, 'F1FF0F212'],
    ['lines that cross', line([0, 0], [2, 2]), line([0, 2], [2, 0]), '0F1FF0102'],
    ['lines that meet at ends', line([0, 0], [2, 2]), line([2, 2], [4, 0]), 'FF1F00102'],
    ['lines that overlap', line([0, 0], [2, 0]), line([1, 0], [3, 0]), '1010F0102'],
    ['a closed line has no boundary', line([0, 0], [1, 0], [1, 1], [0, 0]), point(0, 0), '0F1FFFFF2'],
    [
      'an end shared by two lines is interior',
      lines(
        [
          [0, 0],
          [1, 0],
        ],
        [
          [1, 0],
          [2, 0],
        ],
      ),
      point(1, 0),
      '0F1FF0FF2',
    ],
    ['a point at an end', line([0, 0], [1, 0]), point(1, 0), 'FF10F0FF2'],
    ['points at both ends', line([0, 0], [1, 0]), points([0, 0], [1, 0], [1, 0]), 'FF10FFFF2'],
    ['points', points([0, 0], [1, 0]), points([1, 0], [2, 0]), '0F0FFF0F2'],
    ['a point in a polygon', point(1, 1), square, '0FFFFF212'],
    ['a line of no length is a point', line([1, 1], [1, 1]), square, '0FFFFF212'],
    // A collection is the union of its members (JTS RelateNG).
    [
      'neighbours in a collection have no edge between them',
      collection(box(0, 0, 2, 4), box(2, 0, 4, 4)),
      square,
      '2FFF1FFF2',
    ],
    ['a line in the polygon of its collection', collection(square, line([1, 1], [2, 2])), square, '2FFF1FFF2'],
    ['a line out of the polygon of its collection', collection(square, line([1, 1], [9, 1])), point(9, 1), 'FF20F1FF2'],
  ])('is that of OGC for %s', (_name, a, b, expected) => {
    expect(matrixOf(a, b)).toBe(expected)
  })

  it.each<[string, Geometry, Geometry, string]>([
    ['two empty ones', empty('Point'), empty('Polygon'), 'FFFFFFFF2'],
    ['an empty one and a polygon', empty('GeometryCollection'), square, 'FFFFFF212'],
    ['an empty one and a line', line([0, 0], [1, 1]), empty('MultiPolygon'), 'FF1FF0FF2'],
    ['an empty one and a closed line', line([0, 0], [1, 1], [1, 0], [0, 0]), empty('LineString'), 'FF1FFFFF2'],
    ['an empty one and points', empty('MultiPoint'), points([0, 0], [1, 1]), 'FFFFFF0F2'],
    ['a collection of empty ones and a polygon', collection(empty('Point'), empty('Polygon')), square, 'FFFFFF212'],
    ['a collection with an empty member', collection(empty('Point'), square), square, '2FFF1FFF2'],
  ])('has no entries for an empty geometry: %s', (_name, a, b, expected) => {
    expect(matrixOf(a, b)).toBe(expected)
  })

  it.each<[string, Geometry, Geometry, string]>([
    ['the names 180 and −180 of one meridian', line([180, 0], [180, 9]), line([-180, 0], [-180, 9]), '1FFF0FFF2'],
    [
      'a polygon across the antimeridian and its two parts',
      box(170, 0, -170, 9),
      boxes([170, 0, 180, 9], [-180, 0, -170, 9]),
      '2FFF1FFF2',
    ],
    ['one part of it', box(170, 0, -170, 9), box(170, 0, 180, 9), '212F11FF2'],
    ['neighbours at the antimeridian', box(170, 0, 180, 9), box(-180, 0, -170, 9), 'FF2F11212'],
    ['neighbours on the same side elsewhere', box(170, 0, 180, 9), box(-170, 0, -160, 9), 'FF2FF1212'],
    [
      'a line across the antimeridian and a polygon there',
      line([170, 5], [-170, 5]),
      box(175, 0, -175, 9),
      '101FF0212',
    ],
    [
      'a pole and a polygon that it is a corner of',
      point(7, 90),
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 80],
            [10, 80],
            [5, 90],
            [0, 80],
          ],
        ],
      },
      'F0FFFF212',
    ],
    [
      'two polygons that share only the pole',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 80],
            [10, 80],
            [5, 90],
            [0, 80],
          ],
        ],
      },
      {
        type: 'Polygon',
        coordinates: [
          [
            [40, 80],
            [50, 80],
            [45, 90],
            [40, 80],
          ],
        ],
      },
      'FF2F01212',
    ],
    ['an edge along the pole, which has no length', line([0, 90], [90, 90]), point(3, 90), '0FFFFFFF2'],
    [
      'a ring around the pole and the pole',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 60],
            [120, 60],
            [-120, 60],
            [0, 60],
          ],
        ],
      },
      point(0, 90),
      '0F2FF1FF2',
    ],
    ['the whole globe, which has no boundary, and a point', box(-180, -90, 180, 90), point(5, 5), '0F2FFFFF2'],
    ['the whole globe and a point on the antimeridian', box(-180, -90, 180, 90), point(180, 5), '0F2FFFFF2'],
    ['the whole globe and a polygon', box(-180, -90, 180, 90), square, '212FFFFF2'],
    ['the whole globe and nothing', box(-180, -90, 180, 90), empty('Point'), 'FF2FFFFF2'],
    [
      'the whole globe and its two halves',
      box(-180, -90, 180, 90),
      boxes([-180, -90, 0, 90], [0, -90, 180, 90]),
      '2FFFFFFF2',
    ],
    ['a band between two parallels and a part of it', box(-180, 0, 180, 9), box(170, 0, -170, 9), '212F11FF2'],
    ['neighbouring bands', box(-180, 0, 180, 9), box(-180, 9, 180, 20), 'FF2F11212'],
  ])('is that of the globe for %s', (_name, a, b, expected) => {
    expect(matrixOf(a, b)).toBe(expected)
  })

  it('needs few crossings to be decided for polygons that cross tens of thousands of times', () => {
    const comb = (side: number): Geometry => {
      const teeth = Array.from({ length: 20_000 }, (_, i): Position => [i * 0.001, side * (i % 2)])
      return { type: 'Polygon', coordinates: [[...teeth, [20, -side * 5], [0, -side * 5], [0, 0]]] }
    }
    expect(matrixOf(comb(1), comb(-1)).slice(0, 1)).toBe('2')
  })

  it('is decided for lines that cross themselves a million times and a polygon that they enter once', () => {
    const tangle = Array.from({ length: 3001 }, (_, i): Position => [i % 2 === 0 ? 0 : 10, 20 + i * 0.001])
    expect(matrixOf(line(...tangle, [2, 2]), square)).toBe('1010F0212')
  })
})

describe('a predicate', () => {
  const decide = (a: Geometry, b: Geometry) => relate(read(a), read(b), north, kernel)

  it('depends on the dimensions where OGC says so', () => {
    expect(decide(line([-1, 1], [5, 1]), square).decides('crosses')).toBe(true)
    expect(decide(square, line([-1, 1], [5, 1])).decides('crosses')).toBe(true)
    expect(decide(line([0, 0], [2, 2]), line([0, 2], [2, 0])).decides('crosses')).toBe(true)
    expect(decide(line([0, 0], [2, 0]), line([1, 0], [3, 0])).decides('crosses')).toBe(false)
    expect(decide(line([0, 0], [2, 0]), line([1, 0], [3, 0])).decides('overlaps')).toBe(true)
    expect(decide(line([0, 0], [2, 2]), line([0, 2], [2, 0])).decides('overlaps')).toBe(false)
    expect(decide(points([0, 0], [1, 0]), points([1, 0], [2, 0])).decides('overlaps')).toBe(true)
    expect(decide(square, box(2, 2, 6, 6)).decides('crosses')).toBe(false)
  })

  it('covers what lies on the boundary, which contains does not', () => {
    expect(decide(square, line([0, 1], [0, 2])).decides('covers')).toBe(true)
    expect(decide(square, line([0, 1], [0, 2])).matches('T*****FF*')).toBe(false)
    expect(decide(line([0, 1], [0, 2]), square).decides('coveredBy')).toBe(true)
  })

  it('of empty geometries is false, except that they are disjoint from everything and equal to each other', () => {
    const names = ['touches', 'crosses', 'overlaps', 'covers', 'coveredBy'] as const
    for (const other of [square, empty('Polygon'), point(1, 1)]) {
      const matrix = decide(empty('LineString'), other)
      for (const name of names) expect({ name, is: matrix.decides(name) }).toEqual({ name, is: false })
      expect(matrix.decides('disjoint')).toBe(true)
      expect(matrix.decides('equals')).toBe(other !== square && other.type === 'Polygon')
    }
  })
})

describe('a pattern', () => {
  it('matches any dimension, none, either, or one', () => {
    const matrix = new Matrix(Int8Array.of(2, 1, 2, 1, 0, 1, 2, 1, 2))
    for (const pattern of ['212101212', '*********', 'TTTTTTTTT', '2*T***21*'])
      expect(matrix.matches(pattern)).toBe(true)
    for (const pattern of ['112101212', 'F********', '****1****']) expect(matrix.matches(pattern)).toBe(false)
    expect(new Matrix().matches('FFFFFFFF2')).toBe(true)
  })
})
