import { describe, expect, it } from 'vitest'
import { readH3 } from '../../src/geometry/h3.ts'
import { readDegrees, readGeohash, readLocationText } from '../../src/geometry/location-text.ts'
import { findNotation } from '../../src/geometry/notation.ts'
import type { Polygon, Position } from '../../src/types/generated.ts'
import { LIMITS, refusalOf } from '../format-limits.ts'

const geohash = (text: string) => readGeohash(text, ['location'])
const h3 = (text: string) => readH3(text, ['location']) as Polygon

describe('a geohash', () => {
  // en.wikipedia.org/wiki/Geohash works "ezs42" out bit by bit: latitude 42.583..42.627, longitude -5.625..-5.581.
  it('is the rectangle of its bits', () => {
    expect(geohash('ezs42').coordinates).toEqual([
      [
        [-5.625, 42.5830078125],
        [-5.5810546875, 42.5830078125],
        [-5.5810546875, 42.626953125],
        [-5.625, 42.626953125],
        [-5.625, 42.5830078125],
      ],
    ])
  })

  it.each([
    // The example on geohash.org, and the corners of the world.
    ['u4pruydqqvj', 10.40744, 57.64911],
    ['U4PRUYDQQVJ', 10.40744, 57.64911],
    ['zzzzzzzzzzzz', 180, 90],
    ['000000000000', -180, -90],
  ])('decodes to the expected corner: %s', (text, longitude, latitude) => {
    const [ring] = geohash(text).coordinates
    // Cells of eleven characters measure 1.3e-6 degrees, and the example is written with five decimals.
    expect(Math.abs(ring![0]![0] - longitude)).toBeLessThan(1e-5)
    expect(Math.abs(ring![2]![1] - latitude)).toBeLessThan(1e-5)
  })

  it.each([
    ['', 'is empty; a geohash has 1 to 12'],
    ['u4pruydqqvj8x', 'has 13 characters; a geohash has 1 to 12'],
    ['u4a', 'has "a", which is not a geohash character'],
    ['8928308280fffff', 'has 15 characters; a geohash has 1 to 12'],
    ['u4 p', 'has " ", which is not a geohash character'],
    ['\u{1F30D}', 'has "\u{1F30D}", which is not a geohash character'],
  ])('is rejected when it is invalid: %j', (text, detail) => {
    expect(refusalOf(() => geohash(text))).toMatchObject({ code: 'not-geohash', detail, pointer: '#/location' })
  })
})

describe('an H3 cell', () => {
  it('is a closed polygon of its corners, longitude first', () => {
    // The quick start on h3geo.org gives this cell of resolution 10 for 37.7955, -122.3937. Its edges are about 76 m long.
    const [ring] = h3('8a283082a677fff').coordinates
    expect(ring).toHaveLength(7)
    expect(ring!.at(-1)).toEqual(ring![0])
    for (const [longitude, latitude] of ring!) {
      expect(Math.hypot((longitude + 122.3937) * Math.cos(37.7955 / 57.29578), latitude - 37.7955)).toBeLessThan(0.0014)
    }
  })

  it('is two polygons when it crosses the antimeridian, as RFC 7946 requires', () => {
    // The cell of resolution 15, half a metre wide, that contains 0, -179.99999453922453.
    const { type, coordinates } = readH3('8f7eb57221a2bb0', [])
    expect(type).toBe('MultiPolygon')
    const [east, west] = coordinates.map((polygon) => (polygon as Position[][])[0]!)
    expect(east!.every(([longitude]) => longitude > 179.99999 && longitude <= 180)).toBe(true)
    expect(west!.every(([longitude]) => longitude < -179.99999 && longitude >= -180)).toBe(true)
    const cut = (ring: Position[], longitude: number) =>
      ring.filter(([value]) => value === longitude).map(([, value]) => value)
    expect(new Set(cut(east!, 180))).toEqual(new Set(cut(west!, -180)))
    expect(new Set(cut(east!, 180)).size).toBe(2)
  })

  it('has corners rounded to nine decimals, so that JavaScript engines with different sines agree', () => {
    for (const coordinate of h3('8928308280fffff').coordinates.flat(2))
      expect(coordinate).toBe(Number(coordinate.toFixed(9)))
  })

  it.each(['8928308280FFFFF', '0x8928308280fffff', '08928308280fffff', ' 8928308280fffff\n'])(
    'is the same in every spelling: %j',
    (text) => {
      expect(h3(text)).toEqual(h3('8928308280fffff'))
    },
  )

  it('has five to ten corners when it is a pentagon', () => {
    // Base cells 4 and 14 of H3 are pentagons.
    expect(h3('8009fffffffffff').coordinates[0]!.length).toBeGreaterThan(5)
    expect(h3('801dfffffffffff').coordinates[0]!.length).toBeLessThanOrEqual(11)
  })

  it.each([
    ['', 'is not an H3 cell'],
    ['8928308280ffff', 'is not an H3 cell'],
    ['fffffffffffffff', 'is not an H3 cell'],
    ['8928308280fffff8928308280fffff', 'is not an H3 cell'],
    ['617700169958293503', 'is not an H3 cell'],
    // The edge from 85283473fffffff to a neighbour, from h3geo.org/docs/api/uniedge.
    ['115283473fffffff', 'is an H3 edge or vertex, not a cell'],
  ])('is rejected when it is invalid: %j', (text, detail) => {
    expect(refusalOf(() => h3(text))).toMatchObject({ code: 'not-h3', detail, pointer: '#/location' })
  })
})

describe('a pair of degrees', () => {
  it.each([
    ['2.5, 48', true],
    ['[2.5,48]', true],
    ['48 2.5', false],
    ['48;2.5', false],
  ])('is a point in the given coordinate order: %s', (text, isLongitudeFirst) => {
    expect(readDegrees(text, isLongitudeFirst, [], LIMITS)).toEqual({ type: 'Point', coordinates: [2.5, 48] })
  })

  it.each([
    ['NaN, 3', 'not-degrees'],
    ['1,2,3', 'not-degrees'],
    [`${' '.repeat(300)}1${' '.repeat(300)}2`, 'not-degrees'],
    ['200, 3', 'longitude-range'],
    ['3, 95', 'latitude-range'],
  ])('is rejected when it is invalid: %j', (text, code) => {
    expect(refusalOf(() => readDegrees(text, true, ['location'], LIMITS))).toMatchObject({ code })
  })
})

describe('a location type', () => {
  it.each([
    ['wkt', 'wkt'],
    [' EWKT ', 'wkt'],
    ['ewkb', 'wkb'],
    ['h3-index', 'h3'],
    ['h3', 'h3'],
    ['geohash', 'geohash'],
    ['coordinate-decimal+lon-lat', 'lon-lat'],
    ['coordinate-decimal+lat-lon', 'lat-lon'],
    ['geojson-point', undefined],
    ['what3words', undefined],
    [`${'x'.repeat(10_000)}lonlat`, undefined],
    ['coordinate-radians+lon-lat', undefined],
    ['coordinate-utm+lat-lon', undefined],
  ])('names its notation: %j', (type, notation) => {
    expect(findNotation(type)).toBe(notation)
  })

  it.each([
    ['wkt', 'POINT(1 2)', 'Point'],
    ['wkb', '0101000000000000000000f03f0000000000000040', 'Point'],
    ['h3-index', '8928308280fffff', 'Polygon'],
    ['geohash', 'u4pruy', 'Polygon'],
    ['coordinate-decimal+lat-lon', '48, 2.5', 'Point'],
  ])('decides how a text is read: %s', (type, text, expectedType) => {
    expect(readLocationText(type, text, [], LIMITS).type).toBe(expectedType)
  })

  it('that is not supported is rejected with a list of the supported ones', () => {
    const invalidPart = refusalOf(() => readLocationText('what3words', 'filled.count.soap', ['location'], LIMITS))
    expect(invalidPart).toMatchObject({
      code: 'unknown-location-type',
      detail: 'is text of type "what3words", which is not supported',
    })
    expect(invalidPart.hint).toContain('geohash')
  })
})
