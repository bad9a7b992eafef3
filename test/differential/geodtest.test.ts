import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { loadKernel } from '../../src/wasm/loader.ts'

const { WGS84 } = geodesic.Geodesic
const kernel = loadKernel()

// C. F. F. Karney's test set: 10,000 geodesics with lengths exact to well below a nanometre. See test/vectors/README.md.
const compressed = readFileSync(new URL('../vectors/GeodTest-short.dat.gz', import.meta.url))

interface Row {
  readonly lat1: number
  readonly lon1: number
  readonly azi1: number
  readonly lat2: number
  readonly lon2: number
  readonly azi2: number
  readonly s12: number
  readonly m12: number
  readonly S12: number
}

function readRows(): Row[] {
  const lines = gunzipSync(compressed).toString('latin1').trim().split('\n')
  return lines.map((line) => {
    const columns = line.split(' ').map(Number)
    const [lat1, lon1, azi1, lat2, lon2, azi2, s12, , m12, S12] = columns as number[] & { length: 10 }
    return { lat1, lon1, azi1, lat2, lon2, azi2, s12, m12, S12 } as Row
  })
}

/** Absolute sine of the angle between an azimuth of the set, in degrees, and an azimuth given by its sine and cosine. */
function azimuthDifference(azi: number, salp: number, calp: number): number {
  const radians = (azi * Math.PI) / 180
  return Math.abs(salp * Math.cos(radians) - calp * Math.sin(radians))
}

const NANOMETER = 1e-9
/** Largest error of a length in metres, as README states it. Two units in the last place of 20,000 km are 7.45 nm. */
const LENGTH_ERROR = 7.5 * NANOMETER
const EQUATORIAL_RADIUS_METERS = 6378137

describe('GeodTest-short', () => {
  it('is the file whose checksum test/vectors/README.md gives', () => {
    const page = readFileSync(new URL('../vectors/README.md', import.meta.url), 'utf8')
    expect(page).toContain(createHash('sha256').update(compressed).digest('hex'))
  })
})

describe('the kernel on GeodTest-short', () => {
  const rows = readRows()

  it('computes every length within 7.5 nm by the iterative solution, in both directions', () => {
    expect(rows).toHaveLength(10_000)
    let worst = 0
    for (const { lat1, lon1, lat2, lon2, s12 } of rows) {
      worst = Math.max(worst, Math.abs(kernel.inverse(lat1, lon1, lat2, lon2) - s12))
      worst = Math.max(worst, Math.abs(kernel.inverse(lat2, lon2, lat1, lon1) - s12))
    }
    console.log(`largest error of a length: ${(worst / NANOMETER).toFixed(2)} nm`)
    expect(worst).toBeLessThanOrEqual(LENGTH_ERROR)
  })

  /** Largest error of lengths in metres: of all rows, and of those below 1000 km. Ignores rows that measure as NaN. */
  function worstLengths(measure: (row: Row) => number): { all: number; below1000Km: number; measured: number } {
    const worst = { all: 0, below1000Km: 0, measured: 0 }
    for (const row of rows) {
      const length = measure(row)
      if (Number.isNaN(length)) continue
      worst.measured++
      const error = Math.abs(length - row.s12)
      worst.all = Math.max(worst.all, error)
      if (row.s12 < 1e6) worst.below1000Km = Math.max(worst.below1000Km, error)
    }
    return worst
  }
  const inNanometers = ({ all, below1000Km }: { all: number; below1000Km: number }) =>
    `${(all / NANOMETER).toFixed(2)} nm, ${(below1000Km / NANOMETER).toFixed(2)} nm below 1000 km`

  it('computes every length that is accepted without iteration within 7.5 nm, and within 3 nm below 1000 km', () => {
    const forward = worstLengths(({ lat1, lon1, lat2, lon2 }) => kernel.guardedInverse(lat1, lon1, lat2, lon2))
    console.log(`without iteration: ${inNanometers(forward)}, ${forward.measured} of 10,000 rows`)
    // Most lines of the set are hard: a third of them are nearly antipodal.
    expect(forward.measured).toBeGreaterThan(5500)
    expect(forward.all).toBeLessThanOrEqual(LENGTH_ERROR)
    expect(forward.below1000Km).toBeLessThanOrEqual(3 * NANOMETER)
    const backward = worstLengths(({ lat1, lon1, lat2, lon2 }) => kernel.guardedInverse(lat2, lon2, lat1, lon1))
    expect(backward).toEqual(forward)
  })

  it('computes every length of a batch within 7.5 nm, and within 3 nm below 1000 km, with either method', () => {
    kernel.release()
    const pairs = kernel.write(
      Float64Array.from(rows.flatMap(({ lat1, lon1, lat2, lon2 }) => [lon1, lat1, lon2, lat2])),
    )
    const out = kernel.write(new Float64Array(rows.length))
    kernel.pairLengths(pairs, rows.length, out)
    const lengths = new Float64Array(kernel.memory.buffer, out, rows.length).values()
    const batch = worstLengths(() => lengths.next().value!)
    console.log(`batch: ${inNanometers(batch)}`)
    expect(batch.measured).toBe(10_000)
    expect(batch.all).toBeLessThanOrEqual(LENGTH_ERROR)
    expect(batch.below1000Km).toBeLessThanOrEqual(3 * NANOMETER)
  })

  it('computes every area of an edge within 0.1 m² times a / m12 without iteration too', () => {
    let worst = 0
    let worstBelow18000Km = 0
    let withoutIteration = 0
    kernel.release()
    const vertices = kernel.write(new Float64Array(4))
    const out = kernel.write(new Float64Array(1))
    for (const { lat1, lon1, lat2, lon2, s12, m12, S12 } of rows) {
      new Float64Array(kernel.memory.buffer, vertices, 4).set([lon1, lat1, lon2, lat2])
      kernel.generalAreas(vertices, 2, 0, out)
      const area = new Float64Array(kernel.memory.buffer, out, 1)[0]!
      kernel.inverseWithArea(lat1, lon1, lat2, lon2)
      // Rejected edges have the bits of the iterative solution.
      if (area !== kernel.S12()) withoutIteration++
      const error = Math.abs(area - S12)
      worst = Math.max(worst, error * Math.min(1, m12 / EQUATORIAL_RADIUS_METERS))
      if (s12 < 18e6) worstBelow18000Km = Math.max(worstBelow18000Km, error)
    }
    console.log(
      `area of an edge: ${worst.toFixed(3)} m² · a / m12, ${worstBelow18000Km.toFixed(3)} m² below 18,000 km, ${withoutIteration} rows`,
    )
    expect(withoutIteration).toBeGreaterThan(2500)
    expect(worst).toBeLessThanOrEqual(0.1)
    expect(worstBelow18000Km).toBeLessThanOrEqual(0.1)
  })

  it('computes every azimuth within 15 nm at the other end of the line', () => {
    // A rotation of the line at one end moves its other end by m12 times the angle. In this measure every row is well
    // conditioned: the rounding of the set's coordinates contributes 1.6 nm.
    let worst = 0
    for (const { lat1, lon1, azi1, lat2, lon2, azi2, m12 } of rows) {
      kernel.inverse(lat1, lon1, lat2, lon2)
      worst = Math.max(worst, m12 * azimuthDifference(azi1, kernel.salp1(), kernel.calp1()))
      worst = Math.max(worst, m12 * azimuthDifference(azi2, kernel.salp2(), kernel.calp2()))
    }
    console.log(`largest error of an azimuth: ${(worst / NANOMETER).toFixed(2)} nm at the other end`)
    expect(worst).toBeLessThanOrEqual(15 * NANOMETER)
  })

  it('computes every reduced length within 0.1 mm', () => {
    let worst = 0
    for (const { lat1, lon1, lat2, lon2, m12 } of rows) {
      kernel.inverse(lat1, lon1, lat2, lon2)
      worst = Math.max(worst, Math.abs(kernel.m12() - m12))
    }
    // m12 is ill-conditioned near the antipode: the rounding of the coordinates is enough to change it.
    console.log(`largest error of a reduced length: ${worst.toExponential(2)} m`)
    expect(worst).toBeLessThanOrEqual(1e-4)
  })

  it('computes every area under a line within 0.1 m² times a / m12', () => {
    // An error of the end positions changes the azimuths by 1 / m12, and these change the area by c² per radian. Near the
    // antipode m12 is small, so S12 is ill-conditioned for the rounded coordinates of the set.
    let worst = 0
    let worstBelow18000Km = 0
    for (const { lat1, lon1, lat2, lon2, s12, m12, S12 } of rows) {
      kernel.inverseWithArea(lat1, lon1, lat2, lon2)
      const error = Math.abs(kernel.S12() - S12)
      worst = Math.max(worst, error * Math.min(1, m12 / EQUATORIAL_RADIUS_METERS))
      if (s12 < 18e6) worstBelow18000Km = Math.max(worstBelow18000Km, error)
    }
    console.log(
      `largest error of an area: ${worst.toFixed(3)} m² · a / m12, ${worstBelow18000Km.toFixed(3)} m² below 18,000 km`,
    )
    expect(worst).toBeLessThanOrEqual(0.1)
    expect(worstBelow18000Km).toBeLessThanOrEqual(0.1)
  })

  it('solves the direct problem within 15 nm, with the azimuth at the arrival', () => {
    let worst = 0
    let worstAzimuth = 0
    for (const { lat1, lon1, azi1, lat2, lon2, azi2, s12 } of rows) {
      const radians = (azi1 * Math.PI) / 180
      const lat = kernel.direct(lat1, lon1, Math.sin(radians), Math.cos(radians), s12)
      // The given azimuth has a relative error of 10⁻¹⁸, its sine and cosine 10⁻¹⁶, which is 2 nm at 20,000 km.
      worst = Math.max(worst, WGS84.Inverse(lat, kernel.arrivalLon(), lat2, lon2).s12!)
      // Near a pole the azimuth changes with the longitude, so it is weighted by its effect on a position, as above.
      const axis = Math.cos((lat2 * Math.PI) / 180)
      worstAzimuth = Math.max(
        worstAzimuth,
        axis * azimuthDifference(azi2, kernel.arrivalSalp2(), kernel.arrivalCalp2()),
      )
    }
    console.log(`largest error of an arrival: ${(worst / NANOMETER).toFixed(2)} nm`)
    expect(worst).toBeLessThanOrEqual(15 * NANOMETER)
    expect(worstAzimuth).toBeLessThanOrEqual((15 * NANOMETER) / EQUATORIAL_RADIUS_METERS)
  })

  it('reaches the second point again along the azimuth of the inverse problem', () => {
    let worst = 0
    for (const { lat1, lon1, lat2, lon2 } of rows) {
      const s12 = kernel.inverse(lat1, lon1, lat2, lon2)
      const lat = kernel.direct(lat1, lon1, kernel.salp1(), kernel.calp1(), s12)
      worst = Math.max(worst, kernel.inverse(lat, kernel.arrivalLon(), lat2, lon2))
    }
    console.log(`largest error of a round trip: ${(worst / NANOMETER).toFixed(2)} nm`)
    expect(worst).toBeLessThanOrEqual(20 * NANOMETER)
  })
})
