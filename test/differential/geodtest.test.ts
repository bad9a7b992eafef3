import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { loadKernel } from '../../src/wasm/loader.ts'
import { selfTestKernel } from '../../src/wasm/self-test.ts'

const { WGS84 } = geodesic.Geodesic
const kernel = loadKernel()

// C. F. F. Karney's test set: 10,000 geodesics with lengths exact to well below a nanometre.
const file = resolve(import.meta.dirname, '../../../shared/data/GeodTest-short.dat.gz')
const present = existsSync(file)
if (!present) console.log('skipped: GeodTest-short.dat.gz is not beside the repository')

describe.skipIf(!present)('the kernel on GeodTest-short', () => {
  const rows = present
    ? gunzipSync(readFileSync(file))
        .toString('latin1')
        .trim()
        .split('\n')
        .map(
          (line) =>
            line.split(' ').map(Number) as [
              number,
              number,
              number,
              number,
              number,
              number,
              number,
              number,
              number,
              number,
            ],
        )
    : []

  it('has every length within 15 nm, in both directions', () => {
    expect(rows).toHaveLength(10_000)
    let worst = 0
    for (const [lat1, lon1, , lat2, lon2, , s12] of rows) {
      worst = Math.max(worst, Math.abs(kernel.inverse(lat1, lon1, lat2, lon2) - s12))
      worst = Math.max(worst, Math.abs(kernel.inverse(lat2, lon2, lat1, lon1) - s12))
    }
    console.log(`largest error of a length: ${(worst * 1e9).toFixed(2)} nm`)
    expect(worst).toBeLessThanOrEqual(15e-9)
  })

  it('has every reduced length within 0.1 mm', () => {
    let worst = 0
    for (const [lat1, lon1, , lat2, lon2, , , , m12] of rows) {
      kernel.inverse(lat1, lon1, lat2, lon2)
      worst = Math.max(worst, Math.abs(kernel.m12() - m12))
    }
    // Ill-conditioned near the antipode, where the rounded coordinates alone move m12.
    console.log(`largest error of a reduced length: ${worst.toExponential(2)} m`)
    expect(worst).toBeLessThanOrEqual(1e-4)
  })

  it('arrives within 15 nm where the line was sent', () => {
    let worst = 0
    for (const [lat1, lon1, azi1, lat2, lon2, , s12] of rows) {
      const radians = (azi1 * Math.PI) / 180
      const lat = kernel.direct(lat1, lon1, Math.sin(radians), Math.cos(radians), s12)
      const lon = kernel.arrivalLon()
      // The given azimuth has 10⁻¹⁸ relative error, sine and cosine 10⁻¹⁶: 2 nm at 20,000 km.
      worst = Math.max(worst, WGS84.Inverse(lat, lon, lat2, lon2).s12 ?? Number.NaN)
    }
    console.log(`largest error of an arrival: ${(worst * 1e9).toFixed(2)} nm`)
    expect(worst).toBeLessThanOrEqual(15e-9)
  })
})

describe('the kernel beside geographiclib-geodesic', () => {
  // Park and Miller's generator, so that every run sees the same lines.
  let state = 42
  const random = (low: number, high: number) => {
    state = (state * 16807) % 2147483647
    return low + (state / 2147483647) * (high - low)
  }
  const nearby = (lat: number, lon: number, meters: number) => {
    const end = WGS84.Direct(lat, lon, random(0, 360), meters)
    return [end.lat2!, end.lon2!] as const
  }
  const compare = (lat1: number, lon1: number, lat2: number, lon2: number) =>
    Math.abs(kernel.inverse(lat1, lon1, lat2, lon2) - WGS84.Inverse(lat1, lon1, lat2, lon2).s12!)

  it.each([-3, -1, 1, 2, 3, 4, 5, 6, 7])('agrees within 15 nm for lines of 10^%d m', (decade) => {
    for (let index = 0; index < 2000; index++) {
      const lat1 = [random(-90, 90), random(89, 90), random(-1e-6, 1e-6), 0, 90, -90][index % 6]!
      const lon1 = random(-180, 180)
      const [lat2, lon2] = nearby(lat1, lon1, 10 ** decade * random(0.5, 1.9))
      expect(compare(lat1, lon1, lat2, lon2)).toBeLessThanOrEqual(15e-9)
    }
  })

  it('agrees on meridians, the equator, the antimeridian, coincident and antipodal points', () => {
    for (let index = 0; index < 2000; index++) {
      const lat = random(-90, 90)
      const lon = random(-180, 180)
      const opposite = lon > 0 ? lon - 180 : lon + 180
      for (const [lat1, lon1, lat2, lon2] of [
        [lat, lon, random(-90, 90), lon],
        [0, lon, 0, random(-180, 180)],
        [lat, 180, random(-90, 90), -180],
        [lat, 179.999, lat, -179.999],
        [lat, lon, lat, lon],
        [lat, lon, -lat, opposite],
        [lat, lon, -lat + random(-1e-3, 1e-3), opposite],
        [0, lon, 0, opposite],
        [90, lon, -90, random(-180, 180)],
        [90, lon, lat, random(-180, 180)],
      ] as const) {
        if (Math.abs(lat2) > 90) continue
        expect(compare(lat1, lon1, lat2, lon2)).toBeLessThanOrEqual(15e-9)
      }
    }
  })

  it('agrees on areas within 1 cm² for rings up to 10¹⁰ m²', () => {
    let worst = 0
    for (let index = 0; index < 300; index++) {
      const lat0 = random(-80, 80)
      const lon0 = random(-180, 180)
      const radius = 10 ** random(1, 4.7)
      const count = 3 + Math.floor(random(0, 60))
      const polygon = WGS84.Polygon(false)
      const ring: number[] = []
      for (let vertex = 0; vertex < count; vertex++) {
        const end = WGS84.Direct(lat0, lon0, -(360 * vertex) / count, radius * random(0.5, 1))
        polygon.AddPoint(end.lat2!, end.lon2!)
        ring.push(end.lon2!, end.lat2!)
      }
      ring.push(ring[0]!, ring[1]!)
      kernel.release()
      const area = kernel.ringArea(kernel.write(Float64Array.from(ring)), ring.length / 2)
      worst = Math.max(worst, Math.abs(area - Math.abs(polygon.Compute(false, true).area!)))
    }
    console.log(`largest difference of an area: ${worst.toExponential(2)} m²`)
    expect(worst).toBeLessThanOrEqual(1e-4)
  })
})

it('gives the bits it gave where it was made', () => {
  expect(() => selfTestKernel(loadKernel())).not.toThrow()
})
