import { describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { computeBounds } from '../../src/geometry/bounds.ts'
import { checkShape } from '../../src/geometry/check-shape.ts'
import type { Geometry } from '../../src/types/generated.ts'

const square = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

describe('the bounding box of a geometry', () => {
  it('has sides that are exactly coordinates of its positions', () => {
    // Regression: sums such as 0.1 + (0.3 − 0.1) were off by an ulp, and a box drawn to the corner missed the record.
    const random = randomFrom(11)
    const decimal = (maximum: number) => Math.round(random() * maximum * 1e6) / 1e6
    for (let round = 0; round < 200; round++) {
      const coordinates = Array.from({ length: 30 }, (): [number, number] => [decimal(170), decimal(80)])
      const [longitudes, latitudes] = [coordinates.map(([x]) => x), coordinates.map(([, y]) => y)]
      expect(computeBounds({ type: 'LineString', coordinates })).toEqual([
        Math.min(...longitudes),
        Math.min(...latitudes),
        Math.max(...longitudes),
        Math.max(...latitudes),
      ])
    }
  })

  it.each<[string, object, readonly number[]]>([
    ['a point', { type: 'Point', coordinates: [2, 48] }, [2, 48, 2, 48]],
    ['a point at 180', { type: 'Point', coordinates: [180, 0] }, [180, 0, 180, 0]],
    [
      'a line',
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [5, -3],
          [3, 4],
        ],
      },
      [1, -3, 5, 4],
    ],
    [
      'a line over the antimeridian',
      {
        type: 'LineString',
        coordinates: [
          [179, 0],
          [-179, 1],
        ],
      },
      [179, 0, 181, 1],
    ],
    [
      'the same line reversed',
      {
        type: 'LineString',
        coordinates: [
          [-179, 1],
          [179, 0],
        ],
      },
      [179, 0, 181, 1],
    ],
    [
      'a polygon over the antimeridian',
      { type: 'Polygon', coordinates: [square(170, -10, -170, 10)] },
      [170, -10, 190, 10],
    ],
    [
      'the same polygon, cut as RFC 7946 advises',
      { type: 'MultiPolygon', coordinates: [[square(170, -10, 180, 10)], [square(-180, -10, -170, 10)]] },
      [170, -10, 190, 10],
    ],
    [
      'a polygon around the north pole',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 70],
            [90, 75],
            [180, 70],
            [-90, 75],
            [0, 70],
          ],
        ],
      },
      [-180, 70, 180, 90],
    ],
    [
      'a polygon around the south pole',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, -70],
            [-90, -75],
            [180, -70],
            [90, -75],
            [0, -70],
          ],
        ],
      },
      [-180, -90, 180, -70],
    ],
    ['the whole world', { type: 'Polygon', coordinates: [square(-180, -90, 180, 90)] }, [-180, -90, 180, 90]],
    [
      'points far apart, without the gap between them',
      {
        type: 'MultiPoint',
        coordinates: [
          [-170, 1],
          [170, 2],
        ],
      },
      [170, 1, 190, 2],
    ],
    [
      'points around the world',
      {
        type: 'MultiPoint',
        coordinates: [
          [-120, 0],
          [0, 0],
          [120, 0],
        ],
      },
      [-120, 0, 120, 0],
    ],
    [
      'a collection',
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [10, 1] },
          {
            type: 'LineString',
            coordinates: [
              [20, 5],
              [30, 6],
            ],
          },
        ],
      },
      [10, 1, 30, 6],
    ],
  ])('encloses %s', (_, geometry, bounds) => {
    expect(computeBounds(geometry as Geometry)).toEqual(bounds)
  })
})

describe('a geometry in an attestation', () => {
  it('loses foreign members and keeps the others', () => {
    const checked = checkShape({ type: 'Point', coordinates: [1, 2, 3], crs: 'x' })
    expect(checked).toEqual({ ok: true, geometry: { type: 'Point', coordinates: [1, 2, 3] } })
  })

  it.each<[string, unknown]>([
    ['is not a geometry', null],
    ['is not a geometry', 'Point'],
    ['has an unknown geometry type', { type: 'Circle', coordinates: [0, 0] }],
    ['has an unknown geometry type', { type: 'toString', coordinates: [0, 0] }],
    ['has a position that is not two to four finite numbers', { type: 'Point', coordinates: [1] }],
    ['has a position that is not two to four finite numbers', { type: 'Point', coordinates: ['1', 2] }],
    ['has a position that is not two to four finite numbers', { type: 'Point', coordinates: [null, 2] }],
    ['has longitude 181, outside -180..180', { type: 'Point', coordinates: [181, 2] }],
    ['has latitude -91, outside -90..90', { type: 'Point', coordinates: [1, -91] }],
    ['has 1 positions, fewer than the 2 that it needs', { type: 'LineString', coordinates: [[1, 2]] }],
    [
      'has an open ring',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      },
    ],
    ['has no array where its type needs one', { type: 'Polygon', coordinates: [] }],
    ['is an empty collection', { type: 'GeometryCollection', geometries: [] }],
  ])('%s: %j', (reason, value) => {
    expect(checkShape(value)).toEqual({ ok: false, reason })
  })

  it('is rejected when collections nest too deeply', () => {
    let value: unknown = { type: 'Point', coordinates: [0, 0] }
    for (let depth = 0; depth < 10_000; depth++) value = { type: 'GeometryCollection', geometries: [value] }
    expect(checkShape(value)).toEqual({ ok: false, reason: 'nests collections too deeply' })
  })
})
