import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { readWkt } from '../../src/geometry/wkt.ts'
import { LIMITS, refusalOf } from '../format-limits.ts'

const read = (text: string, limits = LIMITS) => readWkt(text, ['claim', 'location'], limits)
const rejection = (text: string, limits = LIMITS) => refusalOf(() => read(text, limits))

describe('well-known text', () => {
  // The examples of OGC 06-103r4, table 6, within the ranges of longitude and latitude.
  it.each([
    ['POINT (10 20)', { type: 'Point', coordinates: [10, 20] }],
    [
      'LineString(10 10, 20 20, 30 40)',
      {
        type: 'LineString',
        coordinates: [
          [10, 10],
          [20, 20],
          [30, 40],
        ],
      },
    ],
    [
      'Polygon((10 10, 10 20, 20 20, 20 15, 10 10))',
      {
        type: 'Polygon',
        coordinates: [
          [
            [10, 10],
            [10, 20],
            [20, 20],
            [20, 15],
            [10, 10],
          ],
        ],
      },
    ],
    [
      'MULTIPOINT((10 10), (20 20))',
      {
        type: 'MultiPoint',
        coordinates: [
          [10, 10],
          [20, 20],
        ],
      },
    ],
    [
      'MULTIPOINT(10 10, 20 20)',
      {
        type: 'MultiPoint',
        coordinates: [
          [10, 10],
          [20, 20],
        ],
      },
    ],
    [
      'MultiLineString((10 10, 20 20), (15 15, 30 15))',
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [10, 10],
            [20, 20],
          ],
          [
            [15, 15],
            [30, 15],
          ],
        ],
      },
    ],
    [
      'MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,9 5,9 9,5 5),(7 6,8 7,8 6,7 6)))',
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0],
            ],
          ],
          [
            [
              [5, 5],
              [9, 5],
              [9, 9],
              [5, 5],
            ],
            [
              [7, 6],
              [8, 7],
              [8, 6],
              [7, 6],
            ],
          ],
        ],
      },
    ],
    [
      'GEOMETRYCOLLECTION(POINT(4 6),GEOMETRYCOLLECTION(LINESTRING(4 6,7 10)))',
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [4, 6] },
          {
            type: 'GeometryCollection',
            geometries: [
              {
                type: 'LineString',
                coordinates: [
                  [4, 6],
                  [7, 10],
                ],
              },
            ],
          },
        ],
      },
    ],
  ])('is read: %s', (text, geometry) => {
    expect(read(text)).toEqual(geometry)
  })

  it.each([
    'POINT Z (1 2 3)',
    'POINTZ(1 2 3)',
    'point m (1 2 3)',
    'POINT ZM (1 2 3 4)',
    'POINT(1 2 3)',
    'POINT(1 2 3 4)',
    'SRID=4326;POINT(1 2)',
    'srid = 4326 ; POINT ( 1.0 \t 2e0 ) \n',
    'POINT(+1. .2E+1)',
  ])('gives the same geometry with any dimension tag and any spaces: %j', (text) => {
    expect(read(text)).toEqual({ type: 'Point', coordinates: [1, 2] })
  })

  it('reads −0 as 0', () => {
    const { coordinates } = read('POINT(-0 -0.0)') as { coordinates: number[] }
    expect(coordinates.map((value) => Object.is(value, 0))).toEqual([true, true])
  })

  it.each([
    ['', 'not-wkt', 'at character 1: expected a geometry type such as POINT, found the end of the text'],
    ['PIONT(1 2)', 'not-wkt', 'at character 1: expected a geometry type such as POINT, found "PIONT(1 2)"'],
    ['POINT 1 2', 'not-wkt', 'at character 7: expected "(", found "1 2"'],
    ['POINT(1)', 'not-wkt', 'at character 8: expected a number, found ")"'],
    ['POINT(1 2', 'not-wkt', 'at character 10: expected ")", found the end of the text'],
    ['POINT(1 2) x', 'not-wkt', 'at character 12: expected the end of the text, found "x"'],
    ['POINT(1 2)POINT(3 4)', 'not-wkt', 'at character 11: expected the end of the text, found "POINT(3 4)"'],
    // wkx accepts the next three as numbers.
    ['POINT(1x 2)', 'not-wkt', 'at character 7: expected a number, found "1x 2)"'],
    ['POINT(1.2.3 4)', 'not-wkt', 'at character 7: expected a number, found "1.2.3 4)"'],
    ['POINT(NaN 2)', 'not-wkt', 'at character 7: expected a number, found "NaN 2)"'],
    ['POINT(Infinity 2)', 'not-wkt', 'at character 7: expected a number, found "Infinity 2)"'],
    ['POINT(1 2 3 4 5)', 'not-wkt', 'at character 15: expected ")", found "5)"'],
    ['POINT Z(1 2)', 'not-wkt', 'at character 12: expected number 3 of a position, found ")"'],
    ['POINT Z(1 2 3 4)', 'not-wkt', 'at character 15: expected ")", found "4)"'],
    ['POINT(1e400 2)', 'not-finite', 'at character 7: the number is too large to be finite'],
    ['POINT(1 2 1e400)', 'not-finite', 'at character 11: the number is too large to be finite'],
    ['POINT(200 2)', 'longitude-range', 'at character 7: longitude 200 is outside -180..180'],
    ['LINESTRING(0 0, 1 95)', 'latitude-range', 'at character 17: latitude 95 is outside -90..90'],
    ['POINT EMPTY', 'empty-geometry', 'at character 7: the geometry is empty; empty geometries have no location'],
    ['POINT Z EMPTY', 'empty-geometry', 'at character 9: the geometry is empty; empty geometries have no location'],
    [
      'MULTIPOINT(0 0, EMPTY)',
      'empty-geometry',
      'at character 17: the geometry is empty; empty geometries have no location',
    ],
    [
      'MULTIPOLYGON(EMPTY)',
      'empty-geometry',
      'at character 14: the geometry is empty; empty geometries have no location',
    ],
    ['POLYGON(EMPTY)', 'empty-geometry', 'at character 9: the geometry is empty; empty geometries have no location'],
    [
      'GEOMETRYCOLLECTION(POINT EMPTY)',
      'empty-geometry',
      'at character 26: the geometry is empty; empty geometries have no location',
    ],
    ['LINESTRING(0 0)', 'too-few', 'at character 11: a line has 1 position; a line needs at least 2'],
    [
      'POLYGON((0 0,1 0,1 1))',
      'open-ring',
      'at character 9: a ring has 3 positions and is open; a ring needs at least 4, the last equal to the first',
    ],
    [
      'POLYGON((0 0,1 0,0 0))',
      'too-few',
      'at character 9: a ring has 3 positions; a ring needs at least 4, the last equal to the first',
    ],
    [
      'CIRCULARSTRING(0 0,1 1,2 0)',
      'unknown-geometry-type',
      'at character 1: CIRCULARSTRING is not a geometry type of GeoJSON',
    ],
    ['TRIANGLEZ EMPTY', 'unknown-geometry-type', 'at character 1: TRIANGLEZ is not a geometry type of GeoJSON'],
    [
      'SRID=3857;POINT(1 2)',
      'srid',
      'at character 1: SRID 3857 is not supported; coordinates have to be WGS 84, SRID 4326 or none',
    ],
    ['POINT(\u0000 1)', 'not-wkt', 'at character 7: expected a number, found "\\u0000 1)"'],
    [
      '{"type":"Point"}',
      'not-wkt',
      'at character 1: expected a geometry type such as POINT, found "{\\"type\\":\\"Point\\"}"',
    ],
  ])('is rejected with its offset: %j', (text, code, detail) => {
    expect(rejection(text)).toMatchObject({ code, detail, pointer: '#/claim/location' })
  })

  // Regression: the missing comma after the first position turned the next two numbers into a height and a measure, and a vertex
  // was lost.
  it.each([
    [
      'LINESTRING(2.29 48.86 2.35 48.85, 2.4 48.9)',
      'at character 35: a position has 2 numbers, earlier ones have 4; all positions of a geometry must have the same dimension',
    ],
    [
      'LINESTRING(0 0, 1 1 5)',
      'at character 17: a position has 3 numbers, earlier ones have 2; all positions of a geometry must have the same dimension',
    ],
    [
      'POLYGON((0 0,1 0,1 1,0 0),(.1 .1 1,.1 .2 1,.2 .2 1,.1 .1 1))',
      'at character 28: a position has 3 numbers, earlier ones have 2; all positions of a geometry must have the same dimension',
    ],
    [
      'MULTIPOINT((0 0 1),(1 1))',
      'at character 21: a position has 2 numbers, earlier ones have 3; all positions of a geometry must have the same dimension',
    ],
    [
      'GEOMETRYCOLLECTION(POINT(0 0),POINT Z(1 1 1))',
      'at character 39: a position has 3 numbers, earlier ones have 2; all positions of a geometry must have the same dimension',
    ],
    [
      'GEOMETRYCOLLECTION(POINT M(0 0 1),POINT Z(1 1 1))',
      'at character 43: a position of dimension Z follows one of dimension M; all positions of a geometry must have the same dimension',
    ],
    [
      'GEOMETRYCOLLECTION(POINT(0 0 1),POINT M(1 1 1))',
      'at character 41: a position of dimension M follows one of dimension Z; all positions of a geometry must have the same dimension',
    ],
    [
      'GEOMETRYCOLLECTION Z(POINT M(1 1 1))',
      'at character 28: dimension M in a collection of dimension Z; all positions of a geometry must have the same dimension',
    ],
    [
      'GEOMETRYCOLLECTION ZM(POINTZ(1 1 1))',
      'at character 23: dimension Z in a collection of dimension ZM; all positions of a geometry must have the same dimension',
    ],
  ])('is rejected if its positions have different dimensions: %s', (text, detail) => {
    expect(rejection(text)).toMatchObject({ code: 'mixed-dimension', detail })
  })

  it.each([
    'GEOMETRYCOLLECTION Z(POINT(1 2 3),POINT Z(1 2 3))',
    'GEOMETRYCOLLECTION M(POINT(1 2 3),POINTM(1 2 3))',
    'GEOMETRYCOLLECTION(POINT(1 2 3),POINT Z(1 2 3))',
    'GEOMETRYCOLLECTION ZM(POINT(1 2 3 4),POINT ZM(1 2 3 4))',
  ])('may take the dimension from its collection or from its numbers: %s', (text) => {
    const point = { type: 'Point', coordinates: [1, 2] }
    expect(read(text)).toEqual({ type: 'GeometryCollection', geometries: [point, point] })
  })

  it.each([
    ['GEOMETRYCOLLECTION Z(POINT(1 2))', 'at character 31: expected number 3 of a position, found "))"'],
    ['GEOMETRYCOLLECTION M(POINT(1 2 3 4))', 'at character 34: expected ")", found "4))"'],
    ['POINT ZM(1 2 3)', 'at character 15: expected number 4 of a position, found ")"'],
    ['LINESTRING(0 0,,1 1)', 'at character 16: expected a number, found ",1 1)"'],
    ['LINESTRING(,0 0,1 1)', 'at character 12: expected a number, found ",0 0,1 1)"'],
    ['LINESTRING(0 0,1 1,)', 'at character 20: expected a number, found ")"'],
    ['LINESTRING(0,0,1 1)', 'at character 13: expected a number, found ",0,1 1)"'],
    ['LINESTRING((0 0),(1 1))', 'at character 12: expected a number, found "(0 0),(1 1))"'],
    ['POLYGON((0 0,1 0,1 1,0 0)', 'at character 26: expected ")", found the end of the text'],
    ['POLYGON(0 0,1 0,1 1,0 0)', 'at character 9: expected "(", found "0 0,1 0,1 1,0 0)"'],
    ['POLYGON((0 0,1 0,1 1,0 0) (0 0,1 0,1 1,0 0))', 'at character 27: expected ")", found "(0 0,1 0,1 1,0 0))"'],
    ['POINT(1 2))', 'at character 11: expected the end of the text, found ")"'],
    ['POINT((1 2))', 'at character 7: expected a number, found "(1 2))"'],
    ['POINT(1 2);', 'at character 11: expected the end of the text, found ";"'],
    ['POINT Z M(1 2 3 4)', 'at character 9: expected "(", found "M(1 2 3 4)"'],
    ['POINT(1-2)', 'at character 7: expected a number, found "1-2)"'],
  ])('is rejected with what was expected: %s', (text, detail) => {
    expect(rejection(text)).toMatchObject({ code: 'not-wkt', detail })
  })

  it.each([
    ['POINT(1\u00a02)', 'at character 8: U+00A0'],
    ['POINT(1 \u00a02)', 'at character 9: U+00A0'],
    ['\ufeffPOINT(1 2)', 'at character 1: U+FEFF'],
    ['POINT\u2009(1 2)', 'at character 6: U+2009'],
    ['POINT(1 2)\u3000', 'at character 11: U+3000'],
    ['LINESTRING(1 2,\u200b3 4)', 'at character 16: U+200B'],
    ['SRID=4326;\u0085POINT(1 2)', 'at character 11: U+0085'],
    ['POINT(1\v2)', 'at character 8: U+000B'],
  ])('allows no white space other than spaces, tabs and line ends: %j', (text, detail) => {
    expect(rejection(text)).toMatchObject({
      code: 'not-wkt',
      detail: `${detail} is not white space in well-known text`,
      hint: 'use spaces, tabs or line ends',
    })
  })

  it('has the path in the request in its message', () => {
    expect(() => read('POINT(1)')).toThrow(ProblemError)
    expect(() => read('POINT(1)')).toThrow(/^claim\.location: at character 8: /)
  })

  it('is limited in length, vertices, parts and depth before anything more is read', () => {
    const limits = { maxVertices: 3, maxParts: 2, maxCollectionDepth: 2, maxBodyBytes: 60 }
    const nested = (depth: number) => `${'GEOMETRYCOLLECTION('.repeat(depth)}POINT(0 0)${')'.repeat(depth)}`
    expect(rejection(' '.repeat(61), limits).code).toBe('too-long')
    expect(rejection('LINESTRING(0 0,1 1,x', limits).code).toBe('not-wkt')
    expect(rejection('LINESTRING(0 0,1 1,2 2,3 3,x', limits).code).toBe('too-many-vertices')
    expect(rejection('MULTIPOINT(0 0,1 1,x', limits).code).toBe('too-many-parts')
    expect(rejection('MULTILINESTRING((0 0,1 1),(0 0,1 1),(9', { ...limits, maxVertices: 9 }).code).toBe(
      'too-many-parts',
    )
    expect(read(nested(2), limits)).toMatchObject({ type: 'GeometryCollection' })
    expect(rejection(nested(3), { ...limits, maxBodyBytes: 100 }).code).toBe('collection-depth')
    // 50,000 nested brackets are rejected just like nine.
    expect(rejection(nested(50_000)).code).toBe('collection-depth')
  })

  it('is read in time proportional to its length', { timeout: 60_000 }, () => {
    // wkx searches the remaining text for each word: these lines would take it five minutes; here they take half a second.
    const count = 300_000
    const lines = Array.from({ length: count }, (_, index) => `LINESTRING(${(index % 1000) / 10} 1,1 2)`)
    const limits = { maxVertices: 2 * count, maxParts: count, maxCollectionDepth: 8, maxBodyBytes: 2 ** 30 }
    const geometry = read(`GEOMETRYCOLLECTION(${lines.join(',')})`, limits)
    expect(geometry.type === 'GeometryCollection' && geometry.geometries.length).toBe(count)
  })
})
