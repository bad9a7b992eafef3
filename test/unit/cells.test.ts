import { describe, expect, it } from 'vitest'
import { readDegrees } from '../../src/geometry/degrees.ts'
import { readGeohash } from '../../src/geometry/geohash.ts'
import { readH3 } from '../../src/geometry/h3.ts'
import { readLocationText } from '../../src/geometry/location-text.ts'
import { notationOf } from '../../src/geometry/notation.ts'
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
    // geohash.org's own example, and corners of the world.
    ['u4pruydqqvj', 10.40744, 57.64911],
    ['U4PRUYDQQVJ', 10.40744, 57.64911],
    ['zzzzzzzzzzzz', 180, 90],
    ['000000000000', -180, -90],
  ])('is where it says: %s', (text, longitude, latitude) => {
    const [ring] = geohash(text).coordinates
    // Eleven characters are cells of 1.3e-6 degrees, and the example is written with five decimals.
    expect(Math.abs(ring![0]![0] - longitude)).toBeLessThan(1e-5)
    expect(Math.abs(ring![2]![1] - latitude)).toBeLessThan(1e-5)
  })

  it.each([
    ['', 'is empty; a geohash has 1 to 12'],
    ['u4pruydqqvj8x', 'has 13 characters; a geohash has 1 to 12'],
    ['u4a', 'has "a", which no geohash has'],
    ['8928308280fffff', 'has 15 characters; a geohash has 1 to 12'],
    ['u4 p', 'has " ", which no geohash has'],
    ['\u{1F30D}', 'has "\u{1F30D}", which no geohash has'],
  ])('is refused when it is none: %j', (text, detail) => {
    expect(refusalOf(() => geohash(text))).toMatchObject({ code: 'not-geohash', detail, pointer: '#/location' })
  })
})

describe('a cell of H3', () => {
  it('is a closed polygon of its corners, longitude first', () => {
    // The quick start on h3geo.org takes this cell of resolution 10 for 37.7955, -122.3937. Its edges are about 76 m long.
    const [ring] = h3('8a283082a677fff').coordinates
    expect(ring).toHaveLength(7)
    expect(ring!.at(-1)).toEqual(ring![0])
    for (const [longitude, latitude] of ring!) {
      expect(Math.hypot((longitude + 122.3937) * Math.cos(37.7955 / 57.29578), latitude - 37.7955)).toBeLessThan(0.0014)
    }
  })

  it('is two polygons where it lies across the antimeridian, as RFC 7946 has it', () => {
    // The cell of resolution 15, half a metre wide, that holds 0, -179.99999453922453.
    const { type, coordinates } = readH3('8f7eb57221a2bb0', [])
    expect(type).toBe('MultiPolygon')
    const [east, west] = coordinates.map((polygon) => (polygon as Position[][])[0]!)
    expect(east!.every(([longitude]) => longitude > 179.99999 && longitude <= 180)).toBe(true)
    expect(west!.every(([longitude]) => longitude < -179.99999 && longitude >= -180)).toBe(true)
    const cut = (ring: Position[], longitude: number) => ring.filter(([at]) => at === longitude).map(([, at]) => at)
    expect(new Set(cut(east!, 180))).toEqual(new Set(cut(west!, -180)))
    expect(new Set(cut(east!, 180)).size).toBe(2)
  })

  it('has corners of nine decimals, so that engines with other sines agree', () => {
    for (const number of h3('8928308280fffff').coordinates.flat(2)) expect(number).toBe(Number(number.toFixed(9)))
  })

  it.each(['8928308280FFFFF', '0x8928308280fffff', '08928308280fffff', ' 8928308280fffff\n'])(
    'is the same however it is written: %j',
    (text) => {
      expect(h3(text)).toEqual(h3('8928308280fffff'))
    },
  )

  it('has five corners or more where a pentagon is, and at most ten', () => {
    // Base cells 4 and 14 of H3 are pentagons.
    expect(h3('8009fffffffffff').coordinates[0]!.length).toBeGreaterThan(5)
    expect(h3('801dfffffffffff').coordinates[0]!.length).toBeLessThanOrEqual(11)
  })

  it.each([
    ['', 'is no cell of H3'],
    ['8928308280ffff', 'is no cell of H3'],
    ['fffffffffffffff', 'is no cell of H3'],
    ['8928308280fffff8928308280fffff', 'is no cell of H3'],
    ['617700169958293503', 'is no cell of H3'],
    // The edge from 85283473fffffff to a neighbour, as h3geo.org/docs/api/uniedge has it.
    ['115283473fffffff', 'is an edge or a corner of H3, no cell'],
  ])('is refused when it is none: %j', (text, detail) => {
    expect(refusalOf(() => h3(text))).toMatchObject({ code: 'not-h3', detail, pointer: '#/location' })
  })
})

describe('a pair of degrees', () => {
  it.each([
    ['2.5, 48', true],
    ['[2.5,48]', true],
    ['48 2.5', false],
    ['48;2.5', false],
  ])('is a point in the order that was told: %s', (text, isLongitudeFirst) => {
    expect(readDegrees(text, isLongitudeFirst, [], LIMITS)).toEqual({ type: 'Point', coordinates: [2.5, 48] })
  })

  it.each([
    ['NaN, 3', 'not-degrees'],
    ['1,2,3', 'not-degrees'],
    [`${' '.repeat(300)}1${' '.repeat(300)}2`, 'not-degrees'],
    ['200, 3', 'longitude-range'],
    ['3, 95', 'latitude-range'],
  ])('is refused when it is none: %j', (text, code) => {
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
    expect(notationOf(type)).toBe(notation)
  })

  it.each([
    ['wkt', 'POINT(1 2)', 'Point'],
    ['wkb', '0101000000000000000000f03f0000000000000040', 'Point'],
    ['h3-index', '8928308280fffff', 'Polygon'],
    ['geohash', 'u4pruy', 'Polygon'],
    ['coordinate-decimal+lat-lon', '48, 2.5', 'Point'],
  ])('decides how a text is read: %s', (type, text, wanted) => {
    expect(readLocationText(type, text, [], LIMITS).type).toBe(wanted)
  })

  it('that nobody here reads is refused with those that are', () => {
    const place = refusalOf(() => readLocationText('what3words', 'filled.count.soap', ['location'], LIMITS))
    expect(place).toMatchObject({
      code: 'unknown-location-type',
      detail: 'is text of the type "what3words", which is not understood',
    })
    expect(place.hint).toContain('geohash')
  })
})
