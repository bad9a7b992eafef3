import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { loadKernel } from '../../src/wasm/loader.ts'
import { type RandomBetween, seededBetween } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const { WGS84 } = geodesic.Geodesic
const kernel = loadKernel()

/** An open ring of `count` vertices around a centre, as interleaved lon, lat. `minFraction` times `radiusMeters` is the smallest radius. */
function star(random: RandomBetween, lat0: number, count: number, radiusMeters: number, minFraction = 0.5): number[] {
  const lon0 = random(-180, 180)
  return Array.from({ length: count }, (_, index) => {
    const end = WGS84.Direct(lat0, lon0, (-360 * index) / count, radiusMeters * random(minFraction, 1))
    return [end.lon2!, end.lat2!]
  }).flat()
}

interface Comparison {
  readonly kernelArea: number
  readonly libraryArea: number
  readonly kernelPerimeter: number
  readonly libraryPerimeter: number
  /** The rounding error that the library may have, m². */
  readonly libraryRounding: number
}

/**
 * e²a² of WGS 84 in m², the scale of the library's rounding error per edge. The library measures areas from the equator. It
 * computes S12 as c² times an angle, whose rounding is proportional to S12, plus a difference of two numbers up to e²a², whose
 * rounding is the same for every edge. Quadrature confirms this: at 84° its error was 1.8·10⁻³ m² where the kernel's was
 * 4·10⁻⁶, and on sixty edges of 700 m it was 2·10⁻⁴ where the kernel's was 6·10⁻⁸. The vectors in
 * test/vectors/geodesic-area.json check the kernel beyond the library's rounding.
 */
const EDGE_ROUNDING_SCALE = 0.0066943799901413165 * 6378137 ** 2

function compare(ring: readonly number[]): Comparison {
  const polygon = WGS84.Polygon(false)
  const closed = [...ring, ring[0]!, ring[1]!]
  let edgeAreaSum = 0
  for (let index = 0; index < ring.length; index += 2) {
    polygon.AddPoint(ring[index + 1]!, ring[index]!)
    kernel.inverseWithArea(closed[index + 1]!, closed[index]!, closed[index + 3]!, closed[index + 2]!)
    edgeAreaSum += Math.abs(kernel.S12())
  }
  const library = polygon.Compute(false, true)
  kernel.release()
  const vertices = kernel.write(Float64Array.from(closed))
  return {
    kernelArea: kernel.ringArea(vertices, closed.length / 2),
    libraryArea: Math.abs(library.area!),
    kernelPerimeter: kernel.lineLength(vertices, closed.length / 2),
    libraryPerimeter: library.perimeter,
    libraryRounding: (2 * edgeAreaSum + EDGE_ROUNDING_SCALE * Math.sqrt(ring.length / 2)) * 2 ** -52,
  }
}

describe('areas and perimeters compared with geographiclib-geodesic', () => {
  it.each([4, 12])('agree within 1 cm² for rings of %d vertices up to 10¹⁰ m² within 29° of the equator', (count) => {
    const random = seededBetween(count)
    let worst = 0
    // Where all edges are short the library is less accurate: against quadrature at 34 digits, on the eight rings of twelve
    // vertices that differ most, the kernel's error is below 4·10⁻⁷ m² and the library's is up to 1.1·10⁻⁴ m².
    for (let index = 0; index < scaled(1000); index++) {
      const { kernelArea, libraryArea, libraryRounding } = compare(
        star(random, random(-28, 28), count, 10 ** random(1, 4.7)),
      )
      expect(libraryArea).toBeLessThanOrEqual(1e10)
      worst = Math.max(worst, Math.abs(kernelArea - libraryArea) - libraryRounding)
    }
    expect(worst).toBeLessThanOrEqual(1e-4)
  })

  it.each([
    [0, 31],
    [31, 50],
    [50, 70],
    [70, 85],
    [85, 89],
  ])('agree at %d° to %d° within 1 cm² plus the rounding of the library', (low, high) => {
    const random = seededBetween(low + 1)
    for (let index = 0; index < scaled(1000); index++) {
      const lat = random(low, high) * (index % 2 === 0 ? 1 : -1)
      const ring = star(random, lat, 3 + (index % 60), 10 ** random(1, 4.6))
      const { kernelArea, libraryArea, libraryRounding } = compare(ring)
      expect(Math.abs(kernelArea - libraryArea)).toBeLessThanOrEqual(1e-4 + libraryRounding)
    }
  })

  it('agree on perimeters within 15 nm times the root of the number of edges', () => {
    const random = seededBetween(5)
    for (let index = 0; index < scaled(500); index++) {
      const count = 3 + (index % 100)
      const ring = star(random, random(-89, 89), count, 10 ** random(0, 6.5))
      const { kernelPerimeter, libraryPerimeter } = compare(ring)
      expect(Math.abs(kernelPerimeter - libraryPerimeter)).toBeLessThanOrEqual(15e-9 * Math.sqrt(count))
    }
  })

  it('agree on rings of continental size anywhere within 10⁻¹⁴ of the area of the ellipsoid', () => {
    const random = seededBetween(6)
    for (let index = 0; index < scaled(500); index++) {
      const { kernelArea, libraryArea } = compare(star(random, random(-89, 89), 3 + (index % 40), 10 ** random(5, 6.8)))
      expect(Math.abs(kernelArea - libraryArea)).toBeLessThanOrEqual(1e-14 * 5.1e14)
    }
  })

  it('agree on 100,000 edges', () => {
    const ring = star(seededBetween(8), 12.5, 100_000, 56_000, 1)
    const { kernelArea, libraryArea, kernelPerimeter, libraryPerimeter, libraryRounding } = compare(ring)
    expect(Math.abs(kernelArea - libraryArea)).toBeLessThanOrEqual(1e-4 + libraryRounding)
    expect(Math.abs(kernelPerimeter - libraryPerimeter)).toBeLessThanOrEqual(15e-9 * Math.sqrt(100_000))
  })

  it('agree for dense rings and for the same rings with one long edge, so both methods of the kernel give the same areas', () => {
    const random = seededBetween(9)
    for (let index = 0; index < scaled(300); index++) {
      // Radii around the size at which the edges of a ring of sixty are no longer short.
      const ring = star(random, random(-80, 80), 60, 10 ** random(3.5, 4.7), 0.99)
      const { kernelArea, libraryArea, libraryRounding } = compare(ring)
      expect(Math.abs(kernelArea - libraryArea)).toBeLessThanOrEqual(1e-4 + libraryRounding)
      const withLongEdge = compare(ring.slice(0, -40))
      expect(Math.abs(withLongEdge.kernelArea - withLongEdge.libraryArea)).toBeLessThanOrEqual(
        1e-4 + withLongEdge.libraryRounding,
      )
    }
  })
})
