import { describe, expect, it } from 'vitest'
import { readWkt } from '../../src/geometry/wkt.ts'
import { ProblemError } from '../../src/problem.ts'
import { LIMITS, refusalOf } from '../format-limits.ts'

const read = (text: string, limits = LIMITS) => readWkt(text, ['claim', 'location'], limits)
const refusal = (text: string, limits = LIMITS) => refusalOf(() => read(text, limits))

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
  ])('comes to the same place however it is marked and spaced: %j', (text) => {
    expect(read(text)).toEqual({ type: 'Point', coordinates: [1, 2] })
  })

  it('has one zero', () => {
    const { coordinates } = read('POINT(-0 -0.0)') as { coordinates: number[] }
    expect(coordinates.map((value) => Object.is(value, 0))).toEqual([true, true])
  })

  it.each([
    ['', 'not-wkt', 'at character 1 the type of a geometry, such as POINT is expected, found the end'],
    ['PIONT(1 2)', 'not-wkt', 'at character 1 the type of a geometry, such as POINT is expected, found "PIONT(1 2)"'],
    ['POINT 1 2', 'not-wkt', 'at character 7 "(" is expected, found "1 2"'],
    ['POINT(1)', 'not-wkt', 'at character 8 a number is expected, found ")"'],
    ['POINT(1 2', 'not-wkt', 'at character 10 ")" is expected, found the end'],
    ['POINT(1 2) x', 'not-wkt', 'at character 12 the end is expected, found "x"'],
    ['POINT(1 2)POINT(3 4)', 'not-wkt', 'at character 11 the end is expected, found "POINT(3 4)"'],
    // wkx takes the next three for numbers.
    ['POINT(1x 2)', 'not-wkt', 'at character 7 a number is expected, found "1x 2)"'],
    ['POINT(1.2.3 4)', 'not-wkt', 'at character 7 a number is expected, found "1.2.3 4)"'],
    ['POINT(NaN 2)', 'not-wkt', 'at character 7 a number is expected, found "NaN 2)"'],
    ['POINT(Infinity 2)', 'not-wkt', 'at character 7 a number is expected, found "Infinity 2)"'],
    ['POINT(1 2 3 4 5)', 'not-wkt', 'at character 15 ")" is expected, found "5)"'],
    ['POINT Z(1 2)', 'not-wkt', 'at character 12 number 3 of a position is expected, found ")"'],
    ['POINT Z(1 2 3 4)', 'not-wkt', 'at character 15 ")" is expected, found "4)"'],
    ['POINT(1e400 2)', 'not-finite', 'at character 7 stands a number too large to be finite'],
    ['POINT(1 2 1e400)', 'not-finite', 'at character 11 stands a number too large to be finite'],
    ['POINT(200 2)', 'longitude-range', 'at character 7 longitude 200 is outside -180..180'],
    ['LINESTRING(0 0, 1 95)', 'latitude-range', 'at character 17 latitude 95 is outside -90..90'],
    ['POINT EMPTY', 'empty-geometry', 'at character 7 it is empty; empty geometries have no place'],
    ['POINT Z EMPTY', 'empty-geometry', 'at character 9 it is empty; empty geometries have no place'],
    ['MULTIPOINT(0 0, EMPTY)', 'empty-geometry', 'at character 17 it is empty; empty geometries have no place'],
    ['MULTIPOLYGON(EMPTY)', 'empty-geometry', 'at character 14 it is empty; empty geometries have no place'],
    ['POLYGON(EMPTY)', 'empty-geometry', 'at character 9 it is empty; empty geometries have no place'],
    [
      'GEOMETRYCOLLECTION(POINT EMPTY)',
      'empty-geometry',
      'at character 26 it is empty; empty geometries have no place',
    ],
    ['LINESTRING(0 0)', 'too-few', 'at character 11 a line has 1 position; a line needs at least 2'],
    [
      'POLYGON((0 0,1 0,1 1))',
      'open-ring',
      'at character 9 a ring has 3 positions and is open; a ring needs at least 4, the last equal to the first',
    ],
    [
      'POLYGON((0 0,1 0,0 0))',
      'too-few',
      'at character 9 a ring has 3 positions; a ring needs at least 4, the last equal to the first',
    ],
    [
      'CIRCULARSTRING(0 0,1 1,2 0)',
      'unknown-geometry-type',
      'at character 1 stands CIRCULARSTRING, which is no geometry of GeoJSON',
    ],
    ['TRIANGLEZ EMPTY', 'unknown-geometry-type', 'at character 1 stands TRIANGLEZ, which is no geometry of GeoJSON'],
    ['SRID=3857;POINT(1 2)', 'srid', 'at character 1 stands SRID 3857; coordinates are WGS 84 here, SRID 4326 or none'],
    ['POINT(\u0000 1)', 'not-wkt', 'at character 7 a number is expected, found "\\u0000 1)"'],
    [
      '{"type":"Point"}',
      'not-wkt',
      'at character 1 the type of a geometry, such as POINT is expected, found "{\\"type\\":\\"Point\\"}"',
    ],
  ])('is refused with its place: %j', (text, code, detail) => {
    expect(refusal(text)).toMatchObject({ code, detail, pointer: '#/claim/location' })
  })

  // Regression: the missing comma after the first position made its last two numbers a height and a measure, and lost a vertex.
  it.each([
    [
      'LINESTRING(2.29 48.86 2.35 48.85, 2.4 48.9)',
      'at character 35 a position has 2 numbers, those before it 4; all positions of a geometry have the same',
    ],
    [
      'LINESTRING(0 0, 1 1 5)',
      'at character 17 a position has 3 numbers, those before it 2; all positions of a geometry have the same',
    ],
    [
      'POLYGON((0 0,1 0,1 1,0 0),(.1 .1 1,.1 .2 1,.2 .2 1,.1 .1 1))',
      'at character 28 a position has 3 numbers, those before it 2; all positions of a geometry have the same',
    ],
    [
      'MULTIPOINT((0 0 1),(1 1))',
      'at character 21 a position has 2 numbers, those before it 3; all positions of a geometry have the same',
    ],
    [
      'GEOMETRYCOLLECTION(POINT(0 0),POINT Z(1 1 1))',
      'at character 39 a position has 3 numbers, those before it 2; all positions of a geometry have the same',
    ],
    [
      'GEOMETRYCOLLECTION(POINT M(0 0 1),POINT Z(1 1 1))',
      'at character 43 a position of dimension Z follows one of dimension M; all positions of a geometry have the same',
    ],
    [
      'GEOMETRYCOLLECTION(POINT(0 0 1),POINT M(1 1 1))',
      'at character 41 a position of dimension M follows one of dimension Z; all positions of a geometry have the same',
    ],
    [
      'GEOMETRYCOLLECTION Z(POINT M(1 1 1))',
      'at character 28 stands M in a collection of dimension Z; all positions of a geometry have the same',
    ],
    [
      'GEOMETRYCOLLECTION ZM(POINTZ(1 1 1))',
      'at character 23 stands Z in a collection of dimension ZM; all positions of a geometry have the same',
    ],
  ])('is refused where its positions are of several dimensions: %s', (text, detail) => {
    expect(refusal(text)).toMatchObject({ code: 'mixed-dimension', detail })
  })

  it.each([
    'GEOMETRYCOLLECTION Z(POINT(1 2 3),POINT Z(1 2 3))',
    'GEOMETRYCOLLECTION M(POINT(1 2 3),POINTM(1 2 3))',
    'GEOMETRYCOLLECTION(POINT(1 2 3),POINT Z(1 2 3))',
    'GEOMETRYCOLLECTION ZM(POINT(1 2 3 4),POINT ZM(1 2 3 4))',
  ])('may leave the dimension to its collection or to its numbers: %s', (text) => {
    const point = { type: 'Point', coordinates: [1, 2] }
    expect(read(text)).toEqual({ type: 'GeometryCollection', geometries: [point, point] })
  })

  it.each([
    ['GEOMETRYCOLLECTION Z(POINT(1 2))', 'at character 31 number 3 of a position is expected, found "))"'],
    ['GEOMETRYCOLLECTION M(POINT(1 2 3 4))', 'at character 34 ")" is expected, found "4))"'],
    ['POINT ZM(1 2 3)', 'at character 15 number 4 of a position is expected, found ")"'],
    ['LINESTRING(0 0,,1 1)', 'at character 16 a number is expected, found ",1 1)"'],
    ['LINESTRING(,0 0,1 1)', 'at character 12 a number is expected, found ",0 0,1 1)"'],
    ['LINESTRING(0 0,1 1,)', 'at character 20 a number is expected, found ")"'],
    ['LINESTRING(0,0,1 1)', 'at character 13 a number is expected, found ",0,1 1)"'],
    ['LINESTRING((0 0),(1 1))', 'at character 12 a number is expected, found "(0 0),(1 1))"'],
    ['POLYGON((0 0,1 0,1 1,0 0)', 'at character 26 ")" is expected, found the end'],
    ['POLYGON(0 0,1 0,1 1,0 0)', 'at character 9 "(" is expected, found "0 0,1 0,1 1,0 0)"'],
    ['POLYGON((0 0,1 0,1 1,0 0) (0 0,1 0,1 1,0 0))', 'at character 27 ")" is expected, found "(0 0,1 0,1 1,0 0))"'],
    ['POINT(1 2))', 'at character 11 the end is expected, found ")"'],
    ['POINT((1 2))', 'at character 7 a number is expected, found "(1 2))"'],
    ['POINT(1 2);', 'at character 11 the end is expected, found ";"'],
    ['POINT Z M(1 2 3 4)', 'at character 9 "(" is expected, found "M(1 2 3 4)"'],
    ['POINT(1-2)', 'at character 7 a number is expected, found "1-2)"'],
  ])('is refused with what is expected: %s', (text, detail) => {
    expect(refusal(text)).toMatchObject({ code: 'not-wkt', detail })
  })

  it.each([
    ['POINT(1\u00a02)', 'at character 8 stands U+00A0'],
    ['POINT(1 \u00a02)', 'at character 9 stands U+00A0'],
    ['\ufeffPOINT(1 2)', 'at character 1 stands U+FEFF'],
    ['POINT\u2009(1 2)', 'at character 6 stands U+2009'],
    ['POINT(1 2)\u3000', 'at character 11 stands U+3000'],
    ['LINESTRING(1 2,\u200b3 4)', 'at character 16 stands U+200B'],
    ['SRID=4326;\u0085POINT(1 2)', 'at character 11 stands U+0085'],
    ['POINT(1\v2)', 'at character 8 stands U+000B'],
  ])('has no other white space than spaces, tabs and line ends: %j', (text, detail) => {
    expect(refusal(text)).toMatchObject({
      code: 'not-wkt',
      detail: `${detail}, which is not white space of well-known text`,
      hint: 'write spaces, tabs or line ends',
    })
  })

  it('names the place in the request too', () => {
    expect(() => read('POINT(1)')).toThrow(ProblemError)
    expect(() => read('POINT(1)')).toThrow(/^claim\.location: at character 8 /)
  })

  it('is bounded in length, vertices, parts and depth before any more is read', () => {
    const limits = { maxVertices: 3, maxParts: 2, maxCollectionDepth: 2, maxBodyBytes: 60 }
    const nested = (depth: number) => `${'GEOMETRYCOLLECTION('.repeat(depth)}POINT(0 0)${')'.repeat(depth)}`
    expect(refusal(' '.repeat(61), limits).code).toBe('too-long')
    expect(refusal('LINESTRING(0 0,1 1,x', limits).code).toBe('not-wkt')
    expect(refusal('LINESTRING(0 0,1 1,2 2,3 3,x', limits).code).toBe('too-many-vertices')
    expect(refusal('MULTIPOINT(0 0,1 1,x', limits).code).toBe('too-many-parts')
    expect(refusal('MULTILINESTRING((0 0,1 1),(0 0,1 1),(9', { ...limits, maxVertices: 9 }).code).toBe('too-many-parts')
    expect(read(nested(2), limits)).toMatchObject({ type: 'GeometryCollection' })
    expect(refusal(nested(3), { ...limits, maxBodyBytes: 100 }).code).toBe('collection-depth')
    // 50,000 brackets inside each other are refused like nine.
    expect(refusal(nested(50_000)).code).toBe('collection-depth')
  })

  it('is read in time that grows with its length alone', { timeout: 60_000 }, () => {
    // wkx looks through the rest of the text for each word: these lines would take it five minutes, and take half a second here.
    const count = 300_000
    const lines = Array.from({ length: count }, (_, index) => `LINESTRING(${(index % 1000) / 10} 1,1 2)`)
    const limits = { maxVertices: 2 * count, maxParts: count, maxCollectionDepth: 8, maxBodyBytes: 2 ** 30 }
    const geometry = read(`GEOMETRYCOLLECTION(${lines.join(',')})`, limits)
    expect(geometry.type === 'GeometryCollection' && geometry.geometries.length).toBe(count)
  })
})
