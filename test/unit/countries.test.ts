import { describe, expect, it } from 'vitest'
import {
  countriesAt,
  countryOutlines,
  judgeCountry,
  OUTLINE_TOLERANCE_METERS,
} from '../../src/verify/countries/locate.ts'
import type { Coordinates } from '../../src/verify/plugin.ts'
import { type Loose, SIGNALS, stampOf } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

/** Distance on a sphere: within 0.6 % of the ellipsoid. */
function haversineMeters(a: Coordinates, b: Coordinates): number {
  const radians = Math.PI / 180
  const half = Math.sin(((b.lat - a.lat) * radians) / 2) ** 2
  const cosines = Math.cos(a.lat * radians) * Math.cos(b.lat * radians)
  return 2 * 6_371_008.8 * Math.asin(Math.sqrt(half + cosines * Math.sin(((b.lon - a.lon) * radians) / 2) ** 2))
}

const judge = (code: string, lon: number, lat: number) => judgeCountry(code, { lon, lat }, haversineMeters)

describe('the outlines of countries', () => {
  it('contain well-known places in the right country', () => {
    // Rounded coordinates from GeoNames: capitals, places near the antimeridian, in enclaves and at the pole.
    const positions: readonly (readonly [string, number, number])[] = [
      ['FR', 2.35, 48.86],
      ['US', -98.58, 39.83],
      ['BR', -47.93, -15.78],
      ['RU', 37.62, 55.75],
      ['RU', -175, 67],
      ['RU', 178, 67],
      ['FJ', -179.98, -16.85],
      ['AQ', 0, -90],
      ['AQ', 179.99, -85],
      ['LS', 28.2, -29.5],
      ['ZA', 28.19, -25.75],
      ['XK', 21.16, 42.66],
      ['NZ', 175.6, -39.3],
    ]
    for (const [code, lon, lat] of positions) expect(countriesAt({ lon, lat }), `${lon} ${lat}`).toEqual([code])
    expect(countriesAt({ lon: -30, lat: 30 })).toEqual([])
    expect(countriesAt({ lon: 44.06, lat: 9.56 })).toEqual([''])
  })

  it('are closed and on the globe, and number 237 with the areas of no country', () => {
    const outlines = countryOutlines()
    expect(outlines.size).toBe(237)
    for (const [code, { vertices, ringStarts, north, south }] of outlines) {
      expect(north <= 90 && south >= -90, code).toBe(true)
      for (let ring = 0; ring < ringStarts.length - 1; ring++) {
        const [first, last] = [2 * ringStarts[ring]!, 2 * (ringStarts[ring + 1]! - 1)]
        expect([vertices[first], vertices[first + 1]], `${code} ${ring}`).toEqual([vertices[last], vertices[last + 1]])
        for (let i = first; i < last; i += 2) {
          const jump = Math.abs(vertices[i + 2]! - vertices[i]!)
          expect(jump <= 180 || vertices[i + 1] === -90, `${code} ${ring}`).toBe(true)
        }
      }
    }
  })

  it('do not overlap', () => {
    // A lattice that meets no vertex. Neighbours share their borders, so each point has at most one country.
    for (let lat = -88.123; lat < 90; lat += 3.7) {
      for (let lon = -179.321; lon < 180; lon += 3.7) expect(countriesAt({ lon, lat }).length).toBeLessThan(2)
    }
  })

  it('give inside or outside only beyond their tolerance', () => {
    expect(judge('FR', 2.35, 48.86)).toEqual({ verdict: 'inside', distanceMeters: 0 })
    expect(judge('DE', 2.35, 48.86)?.verdict).toBe('outside')
    // Strasbourg lies on the Rhine, Kehl on the opposite bank.
    expect(judge('FR', 7.75, 48.58)?.verdict).toBe('cannot-tell')
    expect(judge('FR', 7.82, 48.57)?.verdict).toBe('cannot-tell')
    // At sea there could be an island too small for the outlines.
    expect(judge('FR', -30, 30)?.verdict).toBe('cannot-tell')
    // Hargeisa: no ISO 3166-1 code is certain there.
    expect(judge('SO', 44.06, 9.56)?.verdict).toBe('cannot-tell')
    expect(judge('', 44.06, 9.56)).toBeUndefined()
    expect(judge('ZZ', 2.35, 48.86)).toBeUndefined()
    expect(judge('__proto__', 2.35, 48.86)).toBeUndefined()
  })

  it('give the distance of the nearest vertex, to within the longest edge', () => {
    // The brute-force distance is never smaller, and larger by at most the longest edge.
    for (const [code, lon, lat] of [
      ['FR', 13.4, 52.5],
      ['CA', 10, 50],
      ['RU', -150, 65],
      ['FJ', 170, -20],
      ['AQ', 20, -60],
      ['US', -100, 52],
    ] as const) {
      const { vertices } = countryOutlines().get(code)!
      let leastMeters = Number.POSITIVE_INFINITY
      for (let i = 0; i < vertices.length; i += 2) {
        leastMeters = Math.min(leastMeters, haversineMeters({ lon, lat }, { lon: vertices[i]!, lat: vertices[i + 1]! }))
      }
      const { distanceMeters } = judge(code, lon, lat)!
      expect(distanceMeters, code).toBeLessThanOrEqual(leastMeters * (1 + 1e-9))
      expect(distanceMeters, code).toBeGreaterThan(leastMeters - 60_000)
    }
  })

  it('measure to a border along its parallel', () => {
    const { vertices } = countryOutlines().get('US')!
    const edges = Array.from({ length: vertices.length / 2 - 1 }, (_, i) => [...vertices.subarray(2 * i, 2 * i + 4)])
    // The border with Canada where it passes 100° W.
    const bordersOn49 = edges.filter(
      ([x1, y1, x2, y2]) => (x1! + 100) * (x2! + 100) < 0 && y1! > 48 && y1! < 50 && y1 === y2,
    )
    const [x1, y1, x2, y2] = bordersOn49[0] as [number, number, number, number]
    const borderLatitude = y1 + ((-100 - x1) / (x2 - x1)) * (y2 - y1)
    const alongMeridian = ((52 - borderLatitude) * Math.PI * 6_371_008.8) / 180
    // A chord of half a degree leaves the parallel by 30 m.
    expect(Math.abs(judge('US', -100, 52)!.distanceMeters - alongMeridian)).toBeLessThan(60)
  })
})

describe('the country of an IP address', () => {
  it.each([
    ['the country of Paris', 'FR', undefined],
    ['a country far away', 'JP', 'country-outline'],
    ['an unknown country', 'QQ', undefined],
  ])('is compared with a location in Paris: %s', async (_, country, expectedWarning) => {
    const verifier = await createVerifier()
    const signals = { ...SIGNALS['ip-geolocation'], country }
    const { details, signalsConsistent } = await verifier.stamp(stampOf('ip-geolocation', { signals }))
    expect(signalsConsistent).toBe(true)
    const failedChecks = details.checks.filter(({ ok }: Loose) => !ok).map(({ id }: Loose) => id)
    expect(failedChecks).toEqual(expectedWarning === undefined ? [] : [expectedWarning])
  })

  it('may be as far away as the accuracy allows', async () => {
    const verifier = await createVerifier()
    const signals = { ...SIGNALS['ip-geolocation'], country: 'DE', accuracyMeters: 500_000 }
    const { details } = await verifier.stamp(stampOf('ip-geolocation', { signals }))
    // The tripoint of three countries on the Mosel, 6.37° E 49.47° N, is 302 km from the Eiffel tower.
    expect(details.country).toMatchObject({ verdict: 'outside' })
    expect(details.country.distanceMeters).toBeGreaterThan(290_000)
    expect(details.country.distanceMeters).toBeLessThan(310_000)
    expect(details.checks).toContainEqual(expect.objectContaining({ id: 'country-outline', ok: true }))
    expect(OUTLINE_TOLERANCE_METERS).toBe(35_000)
  })
})
