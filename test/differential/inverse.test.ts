import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { loadKernel } from '../../src/wasm/loader.ts'
import { LATITUDES, type RandomBetween, seededBetween } from '../random-geometry.ts'

const { Geodesic } = geodesic
const { WGS84 } = Geodesic
const kernel = loadKernel()
const NANOMETER = 1e-9

type Line = readonly [lat1: number, lon1: number, lat2: number, lon2: number]

/** Largest difference in metres between the lengths of the two implementations, and the line that has it. */
function largestDifference(lines: Iterable<Line>): { meters: number; line: Line | undefined; count: number } {
  let worst: { meters: number; line: Line | undefined } = { meters: 0, line: undefined }
  let count = 0
  for (const line of lines) {
    const meters = Math.abs(kernel.inverse(...line) - WGS84.Inverse(...line).s12!)
    if (!(meters <= worst.meters)) worst = { meters, line }
    count++
  }
  return { ...worst, count }
}

describe('the kernel compared with geographiclib-geodesic', () => {
  for (const [band, latitude] of Object.entries(LATITUDES)) {
    it.each([-3, -1, 1, 2, 3, 4, 5, 6, 7])(`agrees within 15 nm on lines of 10^%d m that begin ${band}`, (decade) => {
      const random = seededBetween(1000 + decade)
      const lines = Array.from({ length: 500 }, (): Line => {
        const lat1 = latitude(random)
        const lon1 = random(-180, 180)
        const end = WGS84.Direct(lat1, lon1, random(0, 360), 10 ** decade * random(0.5, 1.9))
        return [lat1, lon1, end.lat2!, end.lon2!]
      })
      const { meters, line } = largestDifference(lines)
      expect(meters, `${line}`).toBeLessThanOrEqual(15 * NANOMETER)
    })
  }

  const SPECIAL: Record<string, (lat: number, lon: number, random: RandomBetween) => Line> = {
    'on one meridian': (lat, lon, random) => [lat, lon, random(-90, 90), lon],
    'on opposite meridians': (lat, lon, random) => [lat, lon, random(-90, 90), oppositeMeridian(lon)],
    'on the equator': (_, lon, random) => [0, lon, 0, random(-180, 180)],
    'along the antimeridian, from 180 to −180': (lat, _, random) => [lat, 180, random(-90, 90), -180],
    'across the antimeridian': (lat, _, random) => [
      lat,
      180 - random(0, 1),
      lat + random(-0.1, 0.1),
      random(0, 1) - 180,
    ],
    'between coincident points': (lat, lon) => [lat, lon, lat, lon],
    'between neighbouring doubles': (lat, lon) => [lat, lon, lat * (1 + 2 ** -52), lon],
    'between exact antipodes': (lat, lon) => [lat, lon, -lat, oppositeMeridian(lon)],
    'between antipodes on the equator': (_, lon) => [0, lon, 0, oppositeMeridian(lon)],
    'near the antipode in latitude': (lat, lon, random) => [lat, lon, -lat + random(-1, 1), oppositeMeridian(lon)],
    'near the antipode in longitude': (lat, lon, random) => [
      lat,
      lon,
      -lat,
      oppositeMeridian(lon) * (1 - random(0, 0.01)),
    ],
    'near the antipode by powers of ten': (lat, lon, random) => [
      lat,
      lon,
      -lat + 10 ** random(-12, 0),
      oppositeMeridian(lon) * (1 - 10 ** random(-12, -2)),
    ],
    'from pole to pole': (_, lon, random) => [90, lon, -90, random(-180, 180)],
    'from a pole': (lat, lon, random) => [90, lon, lat, random(-180, 180)],
    'between two longitudes of one pole': (_, lon, random) => [-90, lon, -90, random(-180, 180)],
  }
  const oppositeMeridian = (lon: number) => (lon > 0 ? lon - 180 : lon + 180)

  it.each(Object.keys(SPECIAL))('agrees within 15 nm on lines %s', (name) => {
    const random = seededBetween(7)
    const lines = Array.from({ length: 2000 }, () => SPECIAL[name]!(random(-90, 90), random(-180, 180), random)).filter(
      ([, , lat2]) => Math.abs(lat2) <= 90,
    )
    const { meters, line, count } = largestDifference(lines)
    expect(count).toBeGreaterThan(1900)
    expect(meters, `${line}`).toBeLessThanOrEqual(15 * NANOMETER)
  })

  it('agrees on azimuths, reduced length, geodesic scales and area where they are well conditioned', () => {
    const random = seededBetween(11)
    const worst = { azimuth: 0, m12: 0, M12: 0, M21: 0, S12: 0 }
    for (let index = 0; index < 5000; index++) {
      const [lat1, lon1] = [random(-90, 90), random(-180, 180)]
      const end = WGS84.Direct(lat1, lon1, random(0, 360), 10 ** random(0, 7.2))
      const line = [lat1, lon1, end.lat2!, end.lon2!] as const
      const expected = WGS84.Inverse(...line, Geodesic.ALL)
      kernel.inverseWithArea(...line)
      const radians = (expected.azi1! * Math.PI) / 180
      const azimuthDifference = Math.abs(kernel.salp1() * Math.cos(radians) - kernel.calp1() * Math.sin(radians))
      worst.azimuth = Math.max(worst.azimuth, azimuthDifference * expected.m12!)
      worst.m12 = Math.max(worst.m12, Math.abs(kernel.m12() - expected.m12!))
      worst.M12 = Math.max(worst.M12, Math.abs(kernel.M12() - expected.M12!))
      worst.M21 = Math.max(worst.M21, Math.abs(kernel.M21() - expected.M21!))
      worst.S12 = Math.max(worst.S12, Math.abs(kernel.S12() - expected.S12!))
    }
    expect(worst.azimuth).toBeLessThanOrEqual(15 * NANOMETER)
    expect(worst.m12).toBeLessThanOrEqual(15 * NANOMETER)
    expect(worst.M12).toBeLessThanOrEqual(4e-15)
    expect(worst.M21).toBeLessThanOrEqual(4e-15)
    expect(worst.S12).toBeLessThanOrEqual(0.25)
  })
})
