import geodesic from 'geographiclib-geodesic'
import { describe, expect, it } from 'vitest'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, loadKernel } from '../../src/wasm/loader.ts'
import { scaled } from '../scale.ts'

const { WGS84 } = geodesic.Geodesic
const kernel = loadKernel()
const NANO = 1e-9

type Line = readonly [lat1: number, lon1: number, lat2: number, lon2: number]

/** Park and Miller's generator, so that every run sees the same lines. */
function generator(seed: number): (low: number, high: number) => number {
  let state = seed
  return (low, high) => {
    state = (state * 16807) % 2147483647
    return low + (state / 2147483647) * (high - low)
  }
}

function opposite(lon: number): number {
  return lon > 0 ? lon - 180 : lon + 180
}

/** Lengths by the exported batch. */
function pairLengths(lines: readonly Line[], by = kernel): Float64Array {
  by.release()
  const pairs = by.write(Float64Array.from(lines.flatMap(([lat1, lon1, lat2, lon2]) => [lon1, lat1, lon2, lat2])))
  const out = by.write(new Float64Array(lines.length).fill(-1))
  by.pairLengths(pairs, lines.length, out)
  return new Float64Array(by.memory.buffer, out, lines.length).slice()
}

/** Lengths of the edges of one polyline; vertices are lon, lat. */
function edgeLengths(vertices: readonly (readonly [number, number])[], by = kernel): Float64Array {
  by.release()
  const count = vertices.length
  const pointer = by.write(Float64Array.from(vertices.flat()))
  const out = by.write(new Float64Array(count).fill(-1))
  by.generalLengths(pointer, count, out)
  const results = new Float64Array(by.memory.buffer, out, count)
  expect(results[count - 1], 'writes one length an edge and no more').toBe(-1)
  return results.slice(0, count - 1)
}

function randomLines(count: number, seed: number): Line[] {
  const random = generator(seed)
  return Array.from({ length: count }, (_, index): Line => {
    const [lat1, lon1] = [random(-90, 90), random(-180, 180)]
    const scale = 10 ** -(index % 9)
    const lat2 = Math.max(-90, Math.min(90, lat1 + random(-90, 90) * scale))
    const lon2 = Math.max(-180, Math.min(180, lon1 + random(-360, 360) * scale))
    return index % 17 === 0 ? [lat1, lon1, -lat1 + random(-1, 1) * scale, opposite(lon1)] : [lat1, lon1, lat2, lon2]
  }).filter(([, , lat2]) => Math.abs(lat2) <= 90)
}

const BANDS = {
  anywhere: (random: ReturnType<typeof generator>) => random(-90, 90),
  'at the equator': (random: ReturnType<typeof generator>) => random(-1e-6, 1e-6),
  'on the equator': () => 0,
  'in the tropics': (random: ReturnType<typeof generator>) => random(-23, 23),
  'at high latitude': (random: ReturnType<typeof generator>) => random(66, 89),
  'at the north pole': (random: ReturnType<typeof generator>) => 90 - 10 ** random(-9, 0),
  'on the south pole': () => -90,
}

const SPECIAL: Record<string, (lat: number, lon: number, random: ReturnType<typeof generator>) => Line> = {
  'on one meridian': (lat, lon, random) => [lat, lon, random(-90, 90), lon],
  'on opposite meridians': (lat, lon, random) => [lat, lon, random(-90, 90), opposite(lon)],
  'on the equator': (_, lon, random) => [0, lon, 0, random(-180, 180)],
  'along the antimeridian under both its names': (lat, _, random) => [lat, 180, random(-90, 90), -180],
  'across the antimeridian': (lat, _, random) => [lat, 180 - random(0, 1), lat * random(0.9, 1), random(0, 1) - 180],
  'between coincident points': (lat, lon) => [lat, lon, lat, lon],
  'between neighbouring doubles': (lat, lon) => [lat, lon, lat * (1 - 2 ** -52), lon],
  'between exact antipodes': (lat, lon) => [lat, lon, -lat, opposite(lon)],
  'between antipodes on the equator': (_, lon) => [0, lon, 0, opposite(lon)],
  'near the antipode': (lat, lon, random) => [
    lat * 0.99,
    lon,
    -lat * 0.99 + random(-0.5, 0.5),
    opposite(lon) * (1 - 10 ** random(-12, -2)),
  ],
  'from pole to pole': (_, lon, random) => [90, lon, -90, random(-180, 180)],
  'from a pole': (lat, lon, random) => [90, lon, lat, random(-180, 180)],
  'between two names of one pole': (_, lon, random) => [-90, lon, -90, random(-180, 180)],
  'over a pole': (_, lon, random) => [90 - random(0, 5), lon, 90 - random(0, 5), opposite(lon)],
}

/** Largest error of lengths, metres. */
function worstOf(lines: readonly Line[], lengths: Float64Array): number {
  let worst = 0
  lines.forEach((line, index) => {
    const error = Math.abs(lengths[index]! - WGS84.Inverse(...line).s12!)
    if (!(error <= worst)) worst = error
  })
  return worst
}

describe('general edges beside geographiclib-geodesic', () => {
  for (const [band, latitude] of Object.entries(BANDS)) {
    it(`agree on lines of any decade that begin ${band}`, () => {
      for (const decade of [-3, -1, 1, 2, 3, 4, 5, 6, 7]) {
        const random = generator(3000 + decade)
        const lines = Array.from({ length: 301 }, (): Line => {
          const [lat1, lon1] = [latitude(random), random(-180, 180)]
          const end = WGS84.Direct(lat1, lon1, random(0, 360), 10 ** decade * random(0.5, 1.9))
          return [lat1, lon1, end.lat2!, end.lon2!]
        })
        // The JavaScript library is itself off by up to 2.9 nm below 1000 km and 8 nm anywhere: 3 and 7.5 of ours are added.
        const tolerance = decade < 6 ? 6 * NANO : 15 * NANO
        expect(worstOf(lines, pairLengths(lines)), `10^${decade} m`).toBeLessThanOrEqual(tolerance)
      }
    })
  }

  it.each(Object.keys(SPECIAL))('agree within 15 nm on lines %s', (name) => {
    const random = generator(11)
    const lines = Array.from({ length: 1001 }, () => SPECIAL[name]!(random(-90, 90), random(-180, 180), random))
    expect(worstOf(lines, pairLengths(lines))).toBeLessThanOrEqual(15 * NANO)
  })
})

describe('the length of an edge', () => {
  const lines = randomLines(12_000, 5)

  it('is zero between equal positions, and between names of one position', () => {
    for (const lat of [-90, -89.9, -45, -1e-300, 0, 1e-17, 30, 90]) {
      for (const lon of [-180, -90.1, 0, 45, 180]) {
        expect(pairLengths([[lat, lon, lat, lon]])[0]).toBe(0)
        expect(pairLengths([[lat, 180, lat, -180]])[0]).toBe(0)
      }
    }
    expect(pairLengths([[90, 10, 90, -120]])[0]).toBe(0)
  })

  it('is the same bits alone, in a batch of pairs, in a polyline of any count and in the build without SIMD', () => {
    expect(lines.length).toBeGreaterThan(10_000)
    const lone = Float64Array.from(lines, (line) => kernel.fastInverse(...line))
    expect(pairLengths(lines)).toEqual(lone)
    expect(pairLengths(lines.slice(1)), 'in the other lane').toEqual(lone.slice(1))
    const scalar = instantiateKernel(compileModule(scalarBase64))
    expect(pairLengths(lines, scalar)).toEqual(lone)

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

  it('is the same bits in one lane as in two where no guard fails, over 10,000 lines', () => {
    const accepted = randomLines(40_000, 6).filter(
      (line) => !(kernel.guardedInverse(...line) < 60_000) && !Number.isNaN(kernel.guardedInverse(...line)),
    )
    expect(accepted.length).toBeGreaterThan(10_000)
    const guarded = Float64Array.from(accepted, (line) => kernel.guardedInverse(...line))
    expect(pairLengths(accepted)).toEqual(guarded)
  })

  it('is the length of the line with two vertices', () => {
    for (const [lat1, lon1, lat2, lon2] of lines) {
      kernel.release()
      const line = kernel.write(Float64Array.of(lon1, lat1, lon2, lat2))
      expect(kernel.lineLength(line, 2)).toBe(kernel.fastInverse(lat1, lon1, lat2, lon2))
    }
  })

  it('does not jump by more than 5 nm where another kernel takes over', () => {
    const random = generator(23)
    // Short edges end at 0.125° as on a plane (short-edge.ts).
    for (let index = 0; index < scaled(20_000); index++) {
      const lat1 = index % 2 === 0 ? random(-90, 89.8) : 90 - 10 ** random(-6, 0)
      const [lon1, turn] = [random(-179, 179), random(0, 2 * Math.PI)]
      const share = index % 3 === 0 ? random(0, 1) : 1
      const line: Line = [
        lat1,
        lon1,
        lat1 + 0.125 * share * Math.cos(turn) * (lat1 > 89.8 ? -1 : 1),
        lon1 + 0.125 * share * Math.sin(turn),
      ]
      if (Math.abs(line[2]) > 90) continue
      const gap = Math.abs(kernel.guardedInverse(...line) - kernel.fastInverse(...line))
      expect(gap, `${line}`).toBeLessThanOrEqual(5 * NANO)
    }
  })

  it('is the same bits for the reverse of a line and its mirror images', () => {
    const lengths = pairLengths(lines)
    expect(pairLengths(lines.map(([lat1, lon1, lat2, lon2]) => [lat2, lon2, lat1, lon1]))).toEqual(lengths)
    expect(pairLengths(lines.map(([lat1, lon1, lat2, lon2]) => [-lat1, lon1, -lat2, lon2]))).toEqual(lengths)
    expect(pairLengths(lines.map(([lat1, lon1, lat2, lon2]) => [lat1, -lon1, lat2, -lon2]))).toEqual(lengths)
  })
})

describe('the area under an edge', () => {
  /** Areas of the edges of a polyline; vertices are lon, lat. */
  function edgeAreas(vertices: readonly (readonly [number, number])[], side: number, by = kernel): Float64Array {
    by.release()
    const pointer = by.write(Float64Array.from(vertices.flat()))
    const out = by.write(new Float64Array(vertices.length).fill(-1))
    by.generalAreas(pointer, vertices.length, side, out)
    const results = new Float64Array(by.memory.buffer, out, vertices.length)
    expect(results[vertices.length - 1]).toBe(-1)
    return results.slice(0, vertices.length - 1)
  }
  function karneyAreas(vertices: readonly (readonly [number, number])[], side: number): Float64Array {
    return Float64Array.from(vertices.slice(1), ([lon2, lat2], index) => {
      kernel.inverseWithArea(vertices[index]![1], vertices[index]![0], lat2, lon2)
      return side === 0 ? kernel.S12() : kernel.P12()
    })
  }
  const random = generator(19)
  /** A walk whose steps are of every decade from 100 m to 10,000 km. */
  const walk = Array.from({ length: 5001 }, (): readonly [number, number] => [0, 0])
  for (let index = 1; index < walk.length; index++) {
    const [lon, lat] = walk[index - 1]!
    const end = WGS84.Direct(lat, lon, random(0, 360), 10 ** random(2, 7))
    walk[index] = [end.lon2!, end.lat2!]
  }
  const north = walk.map(([lon, lat]) => [lon, Math.abs(lat)] as const)
  const south = walk.map(([lon, lat]) => [lon, -Math.abs(lat)] as const)
  // Every pair of positions with round coordinates: poles under several names, meridians, the equator, the antimeridian.
  const round = [-180, -90, 0, 1e-9, 90, 180].flatMap((lon) => [-90, -45, 0, 30, 90].map((lat) => [lon, lat] as const))
  const everyPair = round.flatMap((a) => round.flatMap((b) => [a, b]))

  it.each([
    ['the equator, anywhere', walk, 0],
    ['the north pole', north, 1],
    ['the south pole', south, -1],
    ['the equator, between round coordinates', everyPair, 0],
    ['the north pole, between round coordinates', everyPair.map(([lon, lat]) => [lon, Math.abs(lat)] as const), 1],
  ] as const)('is that of the iterative solution, measured from %s', (_, vertices, side) => {
    const expected = karneyAreas(vertices, side)
    edgeAreas(vertices, side).forEach((area, index) => {
      // Rounding: of ω in a sum of the size of the area, and of c² times the angles of long lines.
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

  it('is the same bits in one lane as in two, changes its sign with the way and in the mirror', () => {
    const scalar = instantiateKernel(compileModule(scalarBase64))
    for (const [vertices, side] of [
      [walk, 0],
      [north, 1],
      [south, -1],
      [everyPair, 0],
    ] as const) {
      const areas = edgeAreas(vertices, side)
      expect(edgeAreas(vertices, side, scalar)).toEqual(areas)
      expect(edgeAreas(vertices.slice(1), side)).toEqual(areas.slice(1))
      edgeAreas(vertices.toReversed(), side)
        .toReversed()
        .forEach((area, index) => {
          // Between the poles every meridian is shortest, and the one taken leaves point 1 with the longitude of point 2.
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
  /** Which guards a line fails. */
  function failing(line: Line): string {
    const refused = Number.isNaN(kernel.guardedInverse(...line))
    const names = [
      kernel.residualSeen() < 1e-6 ? '' : 'residual',
      kernel.correctionSeen() < 1e-7 ? '' : 'correction',
      kernel.lengthSeen() < 19.4e6 ? '' : 'length',
    ].filter((name) => name !== '')
    expect(refused, 'is refused exactly when a guard fails').toBe(names.length > 0)
    return names.join(' and ')
  }

  // Each guard is seen to refuse what each of the others would let pass. No line is known that the residual alone refuses.
  const cases: readonly (readonly [guards: string, line: Line])[] = [
    ['correction', [38.37691778150141, 0, -32.4688846793053, 172.66977387111842]],
    ['correction', [28.116713370250878, 0, -23.21847015990784, 174.49349944385327]],
    ['length', [74.54340953591438, 0, -71.17750532155138, 179.9749264532045]],
    ['length', [90, 0, -90, 30]],
    ['residual and length', [2.596712475979183e-8, 0, -2.5967154051302238e-8, 179.99860922504354]],
    ['residual and correction', [12.093951749659126, 0, -9.974729948630884, 174.01346669319753]],
    ['', [76.16170291144479, 0, -66.30978427899322, 179.96856578966717]],
  ]
  it.each(cases)('refuse by: %s', (expected, line) => {
    expect(failing(line)).toBe(expected)
    // Whatever refused it, Karney's inverse has measured it then.
    expect(Math.abs(pairLengths([line])[0]! - WGS84.Inverse(...line).s12!)).toBeLessThanOrEqual(15 * NANO)
  })

  it('accept every line below 15,000 km and more than 99 of 100 anywhere', () => {
    const random = generator(77)
    const count = scaled(10_000)
    let refused = 0
    for (let index = 0; index < count; index++) {
      const at = () => [(Math.asin(random(-1, 1)) * 180) / Math.PI, random(-180, 180)] as const
      const line: Line = [...at(), ...at()]
      if (Number.isNaN(kernel.guardedInverse(...line))) {
        refused++
        expect(kernel.inverse(...line)).toBeGreaterThan(15e6)
      }
    }
    if (count >= 10_000) expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThan(count / 100)
  })
})
