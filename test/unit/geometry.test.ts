import { describe, expect, it } from 'vitest'
import type { ProblemError } from '../../src/base/problem.ts'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { vertexPath } from '../../src/geometry/flat.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { canonicalJson } from '../canonical-json.ts'

const limits = { maxVertices: 50, maxParts: 10 }
const ring = (x: number): [number, number][] => [
  [x, 0],
  [x + 1, 0],
  [x + 1, 1],
  [x, 0],
]

const mixedCollection: Geometry = {
  type: 'GeometryCollection',
  geometries: [
    { type: 'Point', coordinates: [-0, 5, 100] },
    {
      type: 'GeometryCollection',
      geometries: [{ type: 'MultiPolygon', coordinates: [[ring(0)], [ring(5), ring(7)]] }],
    },
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      type: 'LineString',
      coordinates: [
        [8, 8],
        [9, 9],
      ],
    },
  ],
}

describe('a flat geometry', () => {
  const flat = readGeometry(mixedCollection, ['from'], limits)

  it('keeps vertices, sequences, parts and elements in the order of the text', () => {
    expect(flat.type).toBe('GeometryCollection')
    expect([...flat.sequenceStarts]).toEqual([0, 1, 5, 9, 13, 14, 15, 17])
    expect([...flat.partStarts]).toEqual([0, 1, 2, 4, 5, 6, 7])
    expect([...flat.partDimensions]).toEqual([0, 2, 2, 0, 0, 1])
    expect([...flat.elementStarts]).toEqual([0, 1, 3, 5, 6])
    expect(flat.elementTypes).toEqual(['Point', 'MultiPolygon', 'MultiPoint', 'LineString'])
    expect([...flat.vertices.slice(0, 4)]).toEqual([0, 5, 0, 0])
    expect(Object.is(flat.vertices[0], 0)).toBe(true)
  })

  it('gives the JSON path of a vertex', () => {
    expect(vertexPath(flat, 0)).toEqual(['geometries', 0, 'coordinates'])
    expect(vertexPath(flat, 3, 2)).toEqual(['geometries', 1, 'geometries', 0, 'coordinates', 1, 1, 2])
    expect(vertexPath(flat, 5)).toEqual(['geometries', 2, 'coordinates', 1])
    expect(vertexPath(flat, 6, 1)).toEqual(['geometries', 3, 'coordinates', 1])
  })

  it.each([
    [
      'an open ring',
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
      'open-ring',
      '#/from/coordinates/0',
    ],
    ['nothing when the ends of a ring differ only in altitude', undefined, undefined, undefined],
    [
      'too many vertices',
      { type: 'LineString', coordinates: Array.from({ length: 51 }, (_, i) => [i, 0]) },
      'too-many-vertices',
      '#/from',
    ],
    [
      'too many parts',
      { type: 'MultiPoint', coordinates: Array.from({ length: 11 }, (_, i) => [i, 0]) },
      'too-many-parts',
      '#/from',
    ],
  ])('is rejected for %s', (_, geometry, code, pointer) => {
    if (geometry === undefined) {
      const closed = {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0, 1],
            [1, 0],
            [1, 1],
            [0, 0, 2],
          ],
        ],
      }
      expect(readGeometry(closed as Geometry, [], limits).vertices).toHaveLength(8)
      return
    }
    try {
      readGeometry(geometry as Geometry, ['from'], limits)
      expect.unreachable()
    } catch (error) {
      expect((error as ProblemError).data.invalidParts?.[0]).toMatchObject({ code, pointer })
    }
  })
})

describe('the canonical JSON', () => {
  it('holds only type and coordinates, sorted', () => {
    const geometry = {
      bbox: [0, 0, 1, 1],
      type: 'Point',
      coordinates: [1.5, -0, 1e21],
      name: 'x',
    } as unknown as Geometry
    expect(canonicalGeometry(geometry)).toBe('{"coordinates":[1.5,0,1e+21],"type":"Point"}')
  })

  it('is the RFC 8785 form of the same object', () => {
    expect(canonicalGeometry(mixedCollection)).toBe(canonicalJson(mixedCollection))
  })

  it('sorts by UTF-16 code units and escapes as RFC 8785 shows', () => {
    // The sample from RFC 8785, section 3.2.3.
    const value = JSON.parse(
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
    )
    expect(Object.values(JSON.parse(canonicalJson(value)))).toHaveLength(7)
    expect([...canonicalJson(value).matchAll(/:"(\w+)/g)].map((match) => match[1])).toEqual([
      'Carriage',
      'One',
      'Control',
      'Latin',
      'Euro',
      'Emoji',
      'Hebrew',
    ])
    expect(canonicalJson(JSON.parse('[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]'))).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27]',
    )
  })

  it('is not defined for a lone surrogate', () => {
    expect(() => canonicalJson({ a: '\ud800' })).toThrow(RangeError)
  })
})
