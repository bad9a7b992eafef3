import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { readWkt } from '../../src/geometry/wkt.ts'
import { LIMITS, refusalOf } from '../format-limits.ts'
import vectors from '../vectors/wkt.json' with { type: 'json' }

const { geometries, rejections } = vectors
const read = (text: string, limits = LIMITS) => readWkt(text, ['claim', 'location'], limits)
const rejection = (text: string, limits = LIMITS) => refusalOf(() => read(text, limits))

describe('well-known text', () => {
  it.each(geometries.map(({ text, geometry }) => [text, geometry] as const))('is read: %s', (text, geometry) => {
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

  it.each([
    ['POINT EMPTY', { type: 'Point', coordinates: [] }],
    [' srid=4326; polygon z empty ', { type: 'Polygon', coordinates: [] }],
    ['MULTIPOINT EMPTY', { type: 'MultiPoint', coordinates: [] }],
    ['GEOMETRYCOLLECTION EMPTY', { type: 'GeometryCollection', geometries: [] }],
    [
      'GEOMETRYCOLLECTION (POINT EMPTY, POINT (1 2))',
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [] },
          { type: 'Point', coordinates: [1, 2] },
        ],
      },
    ],
  ])('may be empty where the caller accepts that: %s', (text, geometry) => {
    expect(read(text, { ...LIMITS, acceptsEmpty: true })).toEqual(geometry)
    expect(rejection(text).code).toBe('empty-geometry')
  })

  it.each(['MULTIPOINT (1 2, EMPTY)', 'POLYGON (EMPTY)', 'POINT EMPTY EMPTY', 'POINT EMPTYX'])(
    'rejects what is only partly empty: %s',
    (text) => {
      expect(['empty-geometry', 'not-wkt']).toContain(rejection(text, { ...LIMITS, acceptsEmpty: true }).code)
    },
  )

  it('reads −0 as 0', () => {
    const { coordinates } = read('POINT(-0 -0.0)') as { coordinates: number[] }
    expect(coordinates.map((value) => Object.is(value, 0))).toEqual([true, true])
  })

  it.each(rejections.map(({ text, code, detail }) => [text, code, detail] as const))(
    'is rejected with its offset: %j',
    (text, code, detail) => {
      expect(rejection(text)).toMatchObject({ code, detail, pointer: '#/claim/location' })
    },
  )

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
