import { describe, expect, it } from 'vitest'
import { readWkb, readWkbHex } from '../../src/geometry/wkb.ts'
import { LIMITS, refusalOf } from '../format-limits.ts'

const read = (hex: string, limits = LIMITS) => readWkbHex(hex.replaceAll(' ', ''), ['location'], limits)
const rejection = (hex: string, limits = LIMITS) => refusalOf(() => read(hex, limits))

/** 1.0 and 2.0 as doubles, in both byte orders. */
const [LE1, LE2] = ['000000000000f03f', '0000000000000040']
const [BE1, BE2] = ['3ff0000000000000', '4000000000000000']
const NAN = '000000000000f87f'
const ONE_TWO = { type: 'Point', coordinates: [1, 2] }

/** Encodes a 32-bit count, little-endian. */
function u32(value: number): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes.toString('hex')
}

describe('well-known binary', () => {
  // OGC 06-103r4, section 8.2; flags of EWKB as PostGIS writes them (postgis.net/docs, ST_AsEWKB).
  it.each([
    ['little-endian', `01 01000000 ${LE1} ${LE2}`],
    ['big-endian', `00 00000001 ${BE1} ${BE2}`],
    ['with ISO Z', `01 e9030000 ${LE1} ${LE2} ${LE1}`],
    ['with ISO M', `01 d1070000 ${LE1} ${LE2} ${LE1}`],
    ['with ISO ZM', `01 b90b0000 ${LE1} ${LE2} ${LE1} ${LE1}`],
    ['with a Z of EWKB', `01 01000080 ${LE1} ${LE2} ${LE1}`],
    ['with an M of EWKB', `01 01000040 ${LE1} ${LE2} ${LE1}`],
    ['with Z, M and SRID', `01 010000e0 e6100000 ${LE1} ${LE2} ${NAN} ${LE1}`],
    ['with SRID 4326', `01 01000020 e6100000 ${LE1} ${LE2}`],
    ['as PostgreSQL shows bytes', `\\x01 01000000 ${LE1} ${LE2}`],
    ['in capitals after 0x', `0X01 01000000 ${LE1} ${LE2}`.toUpperCase()],
  ])('is read: %s', (_, hex) => {
    expect(read(hex)).toEqual(ONE_TWO)
  })

  it('is read from part of a larger buffer, which stays unchanged', () => {
    const bytes = Buffer.from(`ffff0101000000${LE1}${LE2}ff`, 'hex')
    expect(readWkb(new Uint8Array(bytes.buffer, bytes.byteOffset + 2, 21), [], LIMITS)).toEqual(ONE_TWO)
    expect(bytes.toString('hex')).toBe(`ffff0101000000${LE1}${LE2}ff`)
  })

  it('may have members of either byte order and with the SRID of their collection', () => {
    const members = `00 00000001 ${BE1} ${BE2}  01 01000020 e6100000 ${LE1} ${LE2}`
    expect(read(`01 07000020 e6100000 02000000 ${members}`)).toEqual({
      type: 'GeometryCollection',
      geometries: [ONE_TWO, ONE_TWO],
    })
  })

  const point = `01 01000000 ${LE1} ${LE2}`
  it.each([
    ['nothing', '', 'not-wkb', 'is not well-known binary: expected an even number of hex digits'],
    ['half a byte', '010', 'not-wkb', 'is not well-known binary: expected an even number of hex digits'],
    ['text that is not hex', '01zz', 'not-wkb', 'is not well-known binary: expected an even number of hex digits'],
    ['half a header', '0101', 'not-wkb', 'at byte 0: the data ends after 2 of 5 bytes'],
    ['half a point', `01 01000000 ${LE1}`, 'not-wkb', 'at byte 5: the data ends after 8 of 16 bytes'],
    ['another byte order', '02 01000000', 'not-wkb', 'at byte 0: the byte order is 2; it has to be 0 or 1'],
    ['more after the end', `${point} 00`, 'not-wkb', 'at byte 21: 1 bytes follow the geometry'],
    ['type 0', '01 00000000', 'not-wkb', 'at byte 1: 0 is not a geometry type'],
    // wkx looks only at the low four bits, so it would read a triangle as a point.
    [
      'a triangle of EWKB',
      `01 11000020 e6100000 ${LE1} ${LE2}`,
      'unknown-geometry-type',
      'at byte 1: Triangle is not a geometry type of GeoJSON',
    ],
    [
      'a curve',
      '01 08000000 00000000',
      'unknown-geometry-type',
      'at byte 1: CircularString is not a geometry type of GeoJSON',
    ],
    ['an ISO code with flags', '01 e9030080', 'not-wkb', 'at byte 1: 2147484649 is not a geometry type'],
    [
      'an ISO code inside EWKB',
      `01 04000080 01000000 01 e9030000 ${LE1} ${LE2} ${LE1}`,
      'not-wkb',
      'at byte 10: 1001 is not a geometry type',
    ],
    // Regression: each of these was accepted, and its heights were dropped.
    [
      'a point with Z among points without',
      `01 04000000 01000000 01 e9030000 ${LE1} ${LE2} ${LE1}`,
      'mixed-dimension',
      'at byte 10: dimension Z in a geometry of dimension XY; all positions of a geometry must have the same dimension',
    ],
    [
      'a point without Z among points with',
      `01 ec030000 01000000 01 01000000 ${LE1} ${LE2}`,
      'mixed-dimension',
      'at byte 10: dimension XY in a geometry of dimension Z; all positions of a geometry must have the same dimension',
    ],
    [
      'M in a collection of Z, as EWKB',
      `01 07000080 01000000 01 01000040 ${LE1} ${LE2} ${LE1}`,
      'mixed-dimension',
      'at byte 10: dimension M in a geometry of dimension Z; all positions of a geometry must have the same dimension',
    ],
    [
      'a flag of EWKB below a code of ISO',
      `01 ef030000 01000000 01 010000c0 ${LE1} ${LE2} ${LE1} ${LE1}`,
      'mixed-dimension',
      'at byte 10: dimension ZM in a geometry of dimension Z; all positions of a geometry must have the same dimension',
    ],
    [
      'collections that differ two levels down',
      `01 07000000 01000000 01 07000000 01000000 01 e9030000 ${LE1} ${LE2} ${LE1}`,
      'mixed-dimension',
      'at byte 19: dimension Z in a geometry of dimension XY; all positions of a geometry must have the same dimension',
    ],
    [
      'an SRID inside a collection without one',
      `01 07000000 01000000 01 01000020 e6100000 ${LE1} ${LE2}`,
      'srid',
      'at byte 10: a member has an SRID, but the geometry around it has none',
    ],
    [
      'another SRID',
      `01 01000020 110f0000 ${LE1} ${LE2}`,
      'srid',
      'at byte 5: SRID 3857 is not supported; coordinates have to be WGS 84, SRID 4326 or none',
    ],
    [
      'a line with missing points',
      `01 02000000 ffffffff ${LE1} ${LE2}`,
      'not-wkb',
      'at byte 5: 4294967295 positions do not fit into the remaining 16 bytes',
    ],
    [
      'missing members',
      '01 07000000 00000080',
      'not-wkb',
      'at byte 5: 2147483648 geometries do not fit into the remaining 0 bytes',
    ],
    [
      'an empty line',
      '01 02000000 00000000',
      'empty-geometry',
      'at byte 5: the geometry is empty; empty geometries have no location',
    ],
    [
      'an empty point',
      `01 01000000 ${NAN} ${NAN}`,
      'empty-geometry',
      'at byte 0: the geometry is empty; empty geometries have no location',
    ],
    ['half an empty point', `01 01000000 ${LE1} ${NAN}`, 'not-finite', 'at byte 5: NaN is not a coordinate'],
    [
      'an infinite coordinate',
      `01 01000000 000000000000f07f ${LE2}`,
      'not-finite',
      'at byte 5: Infinity is not a coordinate',
    ],
    [
      'a longitude out of range',
      '01 01000000 0000000000007940 0000000000000000',
      'longitude-range',
      'at byte 5: longitude 400 is outside -180..180',
    ],
    [
      'a line among points',
      `01 04000000 01000000 01 02000000 02000000 ${LE1}${LE2}${LE2}${LE1}`,
      'not-wkb',
      'at byte 9: a member has geometry type 2; only type 1 is allowed here',
    ],
    [
      'a line of one position',
      `01 02000000 01000000 ${LE1} ${LE2}`,
      'too-few',
      'at byte 5: a line has 1 position; a line needs at least 2',
    ],
    [
      'an open ring',
      `01 03000000 01000000 04000000 ${LE1}${LE1} ${LE2}${LE1} ${LE2}${LE2} ${LE1}${LE2}`,
      'open-ring',
      'at byte 9: a ring has 4 positions and is open; a ring needs at least 4, the last equal to the first',
    ],
  ])('is rejected with its offset: %s', (_, hex, code, detail) => {
    expect(rejection(hex)).toMatchObject({ code, detail, pointer: '#/location' })
  })

  it('is limited in length, vertices, parts and depth before wkx reads it', () => {
    const limits = { maxVertices: 3, maxParts: 2, maxCollectionDepth: 2, maxBodyBytes: 400 }
    const nested = (depth: number) => `${'01 07000000 01000000 '.repeat(depth)}${point}`
    const points = (count: number) => `01 04000000 ${u32(count)} ${point.repeat(count)}`
    const line = (count: number) => `01 02000000 ${u32(count)} ${`${LE1}${LE2}`.repeat(count)}`
    expect(rejection('01'.repeat(401), limits).code).toBe('too-long')
    expect(rejection(line(4), limits).code).toBe('too-many-vertices')
    expect(rejection(points(3), limits).code).toBe('too-many-parts')
    expect(rejection(nested(3), limits).code).toBe('collection-depth')
    // At this depth of nesting wkx itself overflows the stack.
    expect(rejection(nested(50_000)).code).toBe('collection-depth')
    expect(read(line(3), limits)).toMatchObject({ type: 'LineString' })
    expect(read(nested(2), limits)).toMatchObject({ type: 'GeometryCollection' })
  })
})
