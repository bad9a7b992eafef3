import { describe, expect, it } from 'vitest'
import { degreesText } from '../../web/explorer/format.ts'
import { readPosition } from '../../web/explorer/geo/position-text.ts'
import { readText } from '../../web/explorer/geo/read-text.ts'

const at = (longitude: number, latitude: number) => ({ kind: 'position', position: [longitude, latitude] })

describe('one position as text', () => {
  it.each([
    ['38.7223° N, 9.1393° W', -9.1393, 38.7223],
    ['9.1393° W, 38.7223° N', -9.1393, 38.7223],
    ['38.7223N 9.1393W', -9.1393, 38.7223],
    ['N 38.7223 W 9.1393', -9.1393, 38.7223],
    ['n38.7223, w9.1393', -9.1393, 38.7223],
    ['38,7223° N, 9,1393° W', -9.1393, 38.7223],
    [`48°51'30"N 2°17'40"E`, 2.294444444, 48.858333333],
    [`48° 51' 30" N, 2° 17' 40" E`, 2.294444444, 48.858333333],
    ['48°51′30″N 2°17′40″E', 2.294444444, 48.858333333],
    ['48º51’30”N, 2º17’40”E', 2.294444444, 48.858333333],
    [`48°51'30''N 2°17'40''E`, 2.294444444, 48.858333333],
    ['48 51 30 N 2 17 40 E', 2.294444444, 48.858333333],
    ['48:51:30N 2:17:40E', 2.294444444, 48.858333333],
    [`33°51.5'S 151°12.9'E`, 151.215, -33.858333333],
    [`N 48°51'30" E 2°17'40"`, 2.294444444, 48.858333333],
    [`2°17'40.5"E / 48°51'30.25"N`, 2.294583333, 48.858402778],
    ['lat 48.8584, lon 2.2945', 2.2945, 48.8584],
    ['longitude: 2.2945 latitude: -48.8584', 2.2945, -48.8584],
    ['lat=48.8584 lng=-2.2945', -2.2945, 48.8584],
    ['geo:48.8584,2.2945;u=35', 2.2945, 48.8584],
    ['35.6895, 139.6917', 139.6917, 35.6895],
    ['139.6917 35.6895', 139.6917, 35.6895],
    ['10, 10', 10, 10],
  ])('reads %s', (text, longitude, latitude) => {
    expect(readPosition(text)).toEqual(at(longitude, latitude))
  })

  it.each(['48.8584, 2.2945', '48.8584 2.2945', '48.8584;2.2945', '48,8584 2,2945', '48.8584°, 2.2945°'])(
    'does not guess which number of %s is the latitude',
    (text) => {
      expect(readPosition(text)).toEqual({
        kind: 'ambiguous',
        readings: [
          [2.2945, 48.8584],
          [48.8584, 2.2945],
        ],
      })
    },
  )

  it.each([`48°51'30", 2°17'40"`, `48°51'30" 2°17'40"`])('asks about %s too', (text) => {
    expect(readPosition(text)).toMatchObject({ kind: 'ambiguous', readings: [[2.294444444, 48.858333333], {}] })
  })

  it.each([
    ['91° N, 5° E', 'The latitude 91 is outside -90 to 90.'],
    ['5° N, 181° W', 'The longitude -181 is outside -180 to 180.'],
    ['5° N, 6° S', 'The text has two latitudes.'],
    ['5° W, 6° E', 'The text has two longitudes.'],
    ['200, 300', 'A latitude is between -90 and 90, and a longitude between -180 and 180.'],
  ])('says what is wrong with %s', (text, reason) => {
    expect(readPosition(text)).toEqual({ kind: 'invalid', reason })
  })

  it.each([
    '',
    '5',
    '1, 2, 3',
    '2 48; 3 49',
    '2 48\n3 49',
    'POINT (1 2)',
    'New York, West',
    "48°61'N 2°E",
    "48.5°30'N 2°E",
    '2.29, 48.85,',
  ])('leaves %j to other readers', (text) => {
    expect(readPosition(text)).toBeUndefined()
  })

  it('reads what the page displays', () => {
    for (const [longitude, latitude] of [
      [-9.1393, 38.7223],
      [179.9999, -89.9999],
      [0, 0],
    ] as const)
      expect(readPosition(degreesText(longitude, latitude))).toEqual(at(longitude, latitude))
  })
})

describe('the text of an input', () => {
  it('offers both readings of two bare numbers', () => {
    const read = readText('48.8584, 2.2945')
    expect(read).toMatchObject({
      ok: false,
      choices: [
        [2.2945, 48.8584],
        [48.8584, 2.2945],
      ],
    })
  })

  it('reads a position with letters as a point', () => {
    expect(readText(`48°51'30"N 2°17'40"E`)).toEqual({
      ok: true,
      input: { type: 'Point', coordinates: [2.294444444, 48.858333333] },
      form: 'coordinates',
    })
  })

  it.each(['0x2, 48\n3, 49', '2,\n3, 49', 'Infinity, 48\n3, 49'])('reads no line from %j', (text) => {
    expect(readText(text)).toMatchObject({ ok: false })
  })

  it('reads several lines with the longitude first', () => {
    expect(readText('2, 48\n3, 49')).toMatchObject({
      ok: true,
      input: {
        type: 'LineString',
        coordinates: [
          [2, 48],
          [3, 49],
        ],
      },
    })
  })
})
