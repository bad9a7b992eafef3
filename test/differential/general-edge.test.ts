import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, loadKernel } from '../../src/wasm/loader.ts'
import { LATITUDES, type RandomBetween, seededBetween } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const { WGS84 } = geodesic.Geodesic
const kernel = loadKernel()
const NANOMETER = 1e-9

type Line = readonly [lat1: number, lon1: number, lat2: number, lon2: number]

function oppositeMeridian(lon: number): number {
  return lon > 0 ? lon - 180 : lon + 180
}

/** Lengths of lines in metres, measured in one batch. */
function pairLengths(lines: readonly Line[], kernelBuild = kernel): Float64Array {
  kernelBuild.release()
  const pairs = kernelBuild.write(
    Float64Array.from(lines.flatMap(([lat1, lon1, lat2, lon2]) => [lon1, lat1, lon2, lat2])),
  )
  const out = kernelBuild.write(new Float64Array(lines.length).fill(-1))
  kernelBuild.pairLengths(pairs, lines.length, out)
  return new Float64Array(kernelBuild.memory.buffer, out, lines.length).slice()
}

/** Lengths in metres of the edges of one polyline. Vertices are lon, lat. */
function edgeLengths(vertices: readonly (readonly [number, number])[], kernelBuild = kernel): Float64Array {
  kernelBuild.release()
  const count = vertices.length
  const pointer = kernelBuild.write(Float64Array.from(vertices.flat()))
  const out = kernelBuild.write(new Float64Array(count).fill(-1))
  kernelBuild.generalLengths(pointer, count, out)
  const results = new Float64Array(kernelBuild.memory.buffer, out, count)
  expect(results[count - 1], 'must write exactly one length per edge').toBe(-1)
  return results.slice(0, count - 1)
}

function randomLines(count: number, seed: number): Line[] {
  const random = seededBetween(seed)
  return Array.from({ length: count }, (_, index): Line => {
    const [lat1, lon1] = [random(-90, 90), random(-180, 180)]
    const scale = 10 ** -(index % 9)
    const lat2 = Math.max(-90, Math.min(90, lat1 + random(-90, 90) * scale))
    const lon2 = Math.max(-180, Math.min(180, lon1 + random(-360, 360) * scale))
    return index % 17 === 0
      ? [lat1, lon1, -lat1 + random(-1, 1) * scale, oppositeMeridian(lon1)]
      : [lat1, lon1, lat2, lon2]
  }).filter(([, , lat2]) => Math.abs(lat2) <= 90)
}

const SPECIAL: Record<string, (lat: number, lon: number, random: RandomBetween) => Line> = {
  'on one meridian': (lat, lon, random) => [lat, lon, random(-90, 90), lon],
  'on opposite meridians': (lat, lon, random) => [lat, lon, random(-90, 90), oppositeMeridian(lon)],
  'on the equator': (_, lon, random) => [0, lon, 0, random(-180, 180)],
  'along the antimeridian, from 180 to −180': (lat, _, random) => [lat, 180, random(-90, 90), -180],
  'across the antimeridian': (lat, _, random) => [lat, 180 - random(0, 1), lat * random(0.9, 1), random(0, 1) - 180],
  'between coincident points': (lat, lon) => [lat, lon, lat, lon],
  'between neighbouring doubles': (lat, lon) => [lat, lon, lat * (1 - 2 ** -52), lon],
  'between exact antipodes': (lat, lon) => [lat, lon, -lat, oppositeMeridian(lon)],
  'between antipodes on the equator': (_, lon) => [0, lon, 0, oppositeMeridian(lon)],
  'near the antipode': (lat, lon, random) => [
    lat * 0.99,
    lon,
    -lat * 0.99 + random(-0.5, 0.5),
    oppositeMeridian(lon) * (1 - 10 ** random(-12, -2)),
  ],
  'from pole to pole': (_, lon, random) => [90, lon, -90, random(-180, 180)],
  'from a pole': (lat, lon, random) => [90, lon, lat, random(-180, 180)],
  'between two longitudes of one pole': (_, lon, random) => [-90, lon, -90, random(-180, 180)],
  'over a pole': (_, lon, random) => [90 - random(0, 5), lon, 90 - random(0, 5), oppositeMeridian(lon)],
}

/** Largest error of the lengths in metres, against the library. */
function largestError(lines: readonly Line[], lengths: Float64Array): number {
  let worst = 0
  lines.forEach((line, index) => {
    const error = Math.abs(lengths[index]! - WGS84.Inverse(...line).s12!)
    if (!(error <= worst)) worst = error
  })
  return worst
}

describe('general edges compared with geographiclib-geodesic', () => {
  for (const [band, latitude] of Object.entries(LATITUDES)) {
    it(`agree on lines of any length that begin ${band}`, () => {
      for (const decade of [-3, -1, 1, 2, 3, 4, 5, 6, 7]) {
        const random = seededBetween(3000 + decade)
        const lines = Array.from({ length: 301 }, (): Line => {
          const [lat1, lon1] = [latitude(random), random(-180, 180)]
          const end = WGS84.Direct(lat1, lon1, random(0, 360), 10 ** decade * random(0.5, 1.9))
          return [lat1, lon1, end.lat2!, end.lon2!]
        })
        // The JavaScript library has errors of up to 2.9 nm below 1000 km and 8 nm anywhere. The kernel's 3 and 7.5 nm are added.
        const tolerance = decade < 6 ? 6 * NANOMETER : 15 * NANOMETER
        expect(largestError(lines, pairLengths(lines)), `10^${decade} m`).toBeLessThanOrEqual(tolerance)
      }
    })
  }

  it.each(Object.keys(SPECIAL))('agree within 15 nm on lines %s', (name) => {
    const random = seededBetween(11)
    const lines = Array.from({ length: 1001 }, () => SPECIAL[name]!(random(-90, 90), random(-180, 180), random))
    expect(largestError(lines, pairLengths(lines))).toBeLessThanOrEqual(15 * NANOMETER)
  })
})

describe('the length of an edge', () => {
  const lines = randomLines(12_000, 5)

  it('is zero between equal positions, and between different coordinates of one position', () => {
    for (const lat of [-90, -89.9, -45, -1e-300, 0, 1e-17, 30, 90]) {
      for (const lon of [-180, -90.1, 0, 45, 180]) {
        expect(pairLengths([[lat, lon, lat, lon]])[0]).toBe(0)
        expect(pairLengths([[lat, 180, lat, -180]])[0]).toBe(0)
      }
    }
    expect(pairLengths([[90, 10, 90, -120]])[0]).toBe(0)
  })

  it('has the same bits measured singly, in a batch of pairs, in a polyline of any length and in the build without SIMD', () => {
    expect(lines.length).toBeGreaterThan(10_000)
    const singleLengths = Float64Array.from(lines, (line) => kernel.fastInverse(...line))
    expect(pairLengths(lines)).toEqual(singleLengths)
    expect(pairLengths(lines.slice(1)), 'in the other SIMD lane').toEqual(singleLengths.slice(1))
    const scalar = instantiateKernel(compileModule(scalarBase64))
    expect(pairLengths(lines, scalar)).toEqual(singleLengths)

    const vertices = lines.map(([lat1, lon1]) => [lon1, lat1] as const)
    const edges = Float64Array.from(vertices.slice(1), ([lon2, lat2], index) => {
      const [lon1, lat1] = vertices[index]!
      return kernel.fastInverse(lat1, lon1, lat2, lon2)
    })
    expect(edgeLengths(vertices)).toEqual(edges)
    expect(edgeLengths(vertices.slice(1))).toEqual(edges.slice(1))
    expect(edgeLengths(vertices, scalar)).toEqual(edges)
    for (const count of [1, 2, 3, 4, 5]) {
      expect(edgeLengths(vertices.slice(0, count))).toEqual(edges.slice(0, count - 1))
    }
  })

  it('has the same bits in one SIMD lane as in two where no guard fails, over 10,000 lines', () => {
    const accepted = randomLines(40_000, 6).filter(
      (line) => !(kernel.guardedInverse(...line) < 60_000) && !Number.isNaN(kernel.guardedInverse(...line)),
    )
    expect(accepted.length).toBeGreaterThan(10_000)
    const guarded = Float64Array.from(accepted, (line) => kernel.guardedInverse(...line))
    expect(pairLengths(accepted)).toEqual(guarded)
  })

  it('equals the length of a line with two vertices', () => {
    for (const [lat1, lon1, lat2, lon2] of lines) {
      kernel.release()
      const line = kernel.write(Float64Array.of(lon1, lat1, lon2, lat2))
      expect(kernel.lineLength(line, 2)).toBe(kernel.fastInverse(lat1, lon1, lat2, lon2))
    }
  })

  it('does not jump by more than 5 nm where the short-edge method takes over', () => {
    const random = seededBetween(23)
    // Edges are short up to 0.125°, measured as on a plane (short-edge.ts).
    for (let index = 0; index < scaled(20_000); index++) {
      const lat1 = index % 2 === 0 ? random(-90, 89.8) : 90 - 10 ** random(-6, 0)
      const [lon1, direction] = [random(-179, 179), random(0, 2 * Math.PI)]
      const fraction = index % 3 === 0 ? random(0, 1) : 1
      const line: Line = [
        lat1,
        lon1,
        lat1 + 0.125 * fraction * Math.cos(direction) * (lat1 > 89.8 ? -1 : 1),
        lon1 + 0.125 * fraction * Math.sin(direction),
      ]
      if (Math.abs(line[2]) > 90) continue
      const difference = Math.abs(kernel.guardedInverse(...line) - kernel.fastInverse(...line))
      expect(difference, `${line}`).toBeLessThanOrEqual(5 * NANOMETER)
    }
  })

  it('has the same bits for the reverse of a line and its mirror images', () => {
    const lengths = pairLengths(lines)
    expect(pairLengths(lines.map(([lat1, lon1, lat2, lon2]) => [lat2, lon2, lat1, lon1]))).toEqual(lengths)
    expect(pairLengths(lines.map(([lat1, lon1, lat2, lon2]) => [-lat1, lon1, -lat2, lon2]))).toEqual(lengths)
    expect(pairLengths(lines.map(([lat1, lon1, lat2, lon2]) => [lat1, -lon1, lat2, -lon2]))).toEqual(lengths)
  })
})

describe('the area under an edge', () => {
  /** Areas in m² under the edges of a polyline. Vertices are lon, lat; `side` is 0 for the equator, 1 or −1 for a pole. */
  function edgeAreas(
    vertices: readonly (readonly [number, number])[],
    side: number,
    kernelBuild = kernel,
  ): Float64Array {
    kernelBuild.release()
    const pointer = kernelBuild.write(Float64Array.from(vertices.flat()))
    const out = kernelBuild.write(new Float64Array(vertices.length).fill(-1))
    kernelBuild.generalAreas(pointer, vertices.length, side, out)
    const results = new Float64Array(kernelBuild.memory.buffer, out, vertices.length)
    expect(results[vertices.length - 1]).toBe(-1)
    return results.slice(0, vertices.length - 1)
  }
  function karneyAreas(vertices: readonly (readonly [number, number])[], side: number): Float64Array {
    return Float64Array.from(vertices.slice(1), ([lon2, lat2], index) => {
      kernel.inverseWithArea(vertices[index]![1], vertices[index]![0], lat2, lon2)
      return side === 0 ? kernel.S12() : kernel.P12()
    })
  }
  const random = seededBetween(19)
  /** A random walk whose steps are from 100 m to 10,000 km long. */
  const walk = Array.from({ length: 5001 }, (): readonly [number, number] => [0, 0])
  for (let index = 1; index < walk.length; index++) {
    const [lon, lat] = walk[index - 1]!
    const end = WGS84.Direct(lat, lon, random(0, 360), 10 ** random(2, 7))
    walk[index] = [end.lon2!, end.lat2!]
  }
  const north = walk.map(([lon, lat]) => [lon, Math.abs(lat)] as const)
  const south = walk.map(([lon, lat]) => [lon, -Math.abs(lat)] as const)
  // Every pair of positions with round coordinates: poles with several longitudes, meridians, the equator, the antimeridian.
  const round = [-180, -90, 0, 1e-9, 90, 180].flatMap((lon) => [-90, -45, 0, 30, 90].map((lat) => [lon, lat] as const))
  const roundPairs = round.flatMap((a) => round.flatMap((b) => [a, b]))

  it.each([
    ['the equator, anywhere', walk, 0],
    ['the north pole', north, 1],
    ['the south pole', south, -1],
    ['the equator, between round coordinates', roundPairs, 0],
    ['the north pole, between round coordinates', roundPairs.map(([lon, lat]) => [lon, Math.abs(lat)] as const), 1],
  ] as const)('agrees with the iterative solution, measured from %s', (_, vertices, side) => {
    const expected = karneyAreas(vertices, side)
    edgeAreas(vertices, side).forEach((area, index) => {
      // Sources of rounding: ω in a sum as large as the area, and c² times the angles of long lines.
      const [[lon1, lat1], [lon2, lat2]] = [vertices[index]!, vertices[index + 1]!]
      const meters = kernel.inverse(lat1, lon1, lat2, lon2)
      const tolerance = meters < 1e6 ? 1e-4 + 2e-15 * Math.abs(expected[index]!) : 0.25
      expect(Math.abs(area - expected[index]!), `${lat1} ${lon1} ${lat2} ${lon2}`).toBeLessThanOrEqual(tolerance)
    })
  })

  it('agrees with geographiclib-geodesic', () => {
    const areas = edgeAreas(walk, 0)
    let worst = 0
    for (let index = 1; index < walk.length; index++) {
      const [[lon1, lat1], [lon2, lat2]] = [walk[index - 1]!, walk[index]!]
      const { S12 } = WGS84.Inverse(lat1, lon1, lat2, lon2, geodesic.Geodesic.AREA)
      worst = Math.max(worst, Math.abs(areas[index - 1]! - S12!))
    }
    expect(worst).toBeLessThanOrEqual(0.25)
  })

  it('has the same bits in one SIMD lane as in two, and changes its sign when reversed or mirrored', () => {
    const scalar = instantiateKernel(compileModule(scalarBase64))
    for (const [vertices, side] of [
      [walk, 0],
      [north, 1],
      [south, -1],
      [roundPairs, 0],
    ] as const) {
      const areas = edgeAreas(vertices, side)
      expect(edgeAreas(vertices, side, scalar)).toEqual(areas)
      expect(edgeAreas(vertices.slice(1), side)).toEqual(areas.slice(1))
      edgeAreas(vertices.toReversed(), side)
        .toReversed()
        .forEach((area, index) => {
          // Between the poles every meridian is a shortest path. The kernel leaves point 1 along the longitude of point 2.
          const [lat1, lat2] = [vertices[index]![1], vertices[index + 1]![1]]
          if (lat1 * lat2 !== -8100) expect(area).toBe(0 - areas[index]!)
        })
    }
    expect(edgeAreas(south, -1)).toEqual(edgeAreas(north, 1))
    const mirrored = walk.map(([lon, lat]) => [lon, -lat] as const)
    expect(edgeAreas(mirrored, 0)).toEqual(edgeAreas(walk, 0).map((area) => 0 - area))
  })
})

describe('the guards of the kernel without iteration', () => {
  /** Names of the guards that a line fails. */
  function failedGuards(line: Line): string {
    const isRejected = Number.isNaN(kernel.guardedInverse(...line))
    const names = [
      kernel.residualSeen() < 1e-6 ? '' : 'residual',
      kernel.correctionSeen() < 1e-7 ? '' : 'correction',
      kernel.lengthSeen() < 19.4e6 ? '' : 'length',
    ].filter((name) => name !== '')
    expect(isRejected, 'must be rejected exactly when a guard fails').toBe(names.length > 0)
    return names.join(' and ')
  }

  // For each other guard, a line that it accepts and this guard rejects. No known line is rejected by the residual only.
  const cases: readonly (readonly [guards: string, line: Line])[] = [
    ['correction', [38.37691778150141, 0, -32.4688846793053, 172.66977387111842]],
    ['correction', [28.116713370250878, 0, -23.21847015990784, 174.49349944385327]],
    ['length', [74.54340953591438, 0, -71.17750532155138, 179.9749264532045]],
    ['length', [90, 0, -90, 30]],
    ['residual and length', [2.596712475979183e-8, 0, -2.5967154051302238e-8, 179.99860922504354]],
    ['residual and correction', [12.093951749659126, 0, -9.974729948630884, 174.01346669319753]],
    ['', [76.16170291144479, 0, -66.30978427899322, 179.96856578966717]],
  ]
  it.each(cases)('reject a line by: %s', (expected, line) => {
    expect(failedGuards(line)).toBe(expected)
    // A rejected line is measured by Karney's inverse instead.
    expect(Math.abs(pairLengths([line])[0]! - WGS84.Inverse(...line).s12!)).toBeLessThanOrEqual(15 * NANOMETER)
  })

  it('accept every line below 15,000 km and more than 99 of 100 lines of any length', () => {
    const random = seededBetween(77)
    const count = scaled(10_000)
    let rejectedCount = 0
    for (let index = 0; index < count; index++) {
      const position = () => [(Math.asin(random(-1, 1)) * 180) / Math.PI, random(-180, 180)] as const
      const line: Line = [...position(), ...position()]
      if (Number.isNaN(kernel.guardedInverse(...line))) {
        rejectedCount++
        expect(kernel.inverse(...line)).toBeGreaterThan(15e6)
      }
    }
    if (count >= 10_000) expect(rejectedCount).toBeGreaterThan(0)
    expect(rejectedCount).toBeLessThan(count / 100)
  })
})
