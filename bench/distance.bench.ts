/**
 * What the least distance between two geometries costs, cold: copying them into the kernel and building their trees is in
 * every figure. Beside it the loop over pairs of vertices that one would write with a geodesic library (which is not the
 * answer: it knows no edges) and the same on turf's sphere.
 */
import turfDistance from '@turf/distance'
import geodesic from 'geographiclib-geodesic'
import { distanceMeters } from '../src/geodesy/distance.ts'
import type { FlatGeometry } from '../src/geometry/flat.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { loadKernel } from '../src/wasm/loader.ts'

const { WGS84 } = geodesic.Geodesic
const ROUNDS = 11
/** A round calls each way as often as fills this time, so that the clock's steps do not matter. */
const MILLISECONDS_A_ROUND = 5
const WORK_LIMIT = 2_000_000
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }

interface Case {
  readonly name: string
  readonly a: Geometry
  readonly b: Geometry
  /** Whether the loops over vertices are run: up to 250,000 pairs. */
  readonly isSmall: boolean
}

const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })

/** A ring with a wavy outline. */
function island(lon: number, lat: number, count: number, radiusMeters: number): Geometry {
  const ring = Array.from({ length: count }, (_, index): Position => {
    const radius = radiusMeters * (0.9 + 0.08 * Math.sin(index / 7) + 0.02 * Math.sin(2.3 * index))
    const { lat2, lon2 } = WGS84.Direct(lat, lon, (360 * index) / count, radius)
    return [lon2!, lat2!]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
}

/** A zigzag; one moved north runs between the teeth of the other and never meets it. */
const comb = (count: number, north: number): Geometry => ({
  type: 'LineString',
  coordinates: Array.from(
    { length: count },
    (_, index): Position => [10 + 1e-4 * index, 45 + north + 0.01 * (index % 2) + 1e-6 * Math.sin(index)],
  ),
})

const CASES: readonly Case[] = [
  { name: 'point – point', a: point(2.35, 48.85), b: point(-0.13, 51.51), isSmall: true },
  { name: 'point – polygon 10k, near', a: point(12, 45), b: island(10, 45, 10_000, 1e5), isSmall: true },
  { name: 'point – polygon 10k, far', a: point(150, -45), b: island(10, 45, 10_000, 1e5), isSmall: true },
  { name: 'line 500 – line 500, interleaved', a: comb(500, 0), b: comb(500, 0.002), isSmall: true },
  { name: 'line 10k – line 10k, interleaved', a: comb(10_000, 0), b: comb(10_000, 0.002), isSmall: false },
  {
    name: 'polygon 10k – polygon 10k, 15,000 km',
    a: island(10, 45, 10_000, 1e5),
    b: island(146, -25, 10_000, 1e5),
    isSmall: false,
  },
]

/** Prints medians and quartiles in microseconds of each way, measured in turns; returns them by name. */
export async function run(): Promise<object> {
  const kernel = loadKernel()
  const results: Record<string, object> = {}
  const columns = ['trigpoint', 'geographiclib-geodesic, vertices', 'turf, vertices']
  console.log(['median µs [quartiles]'.padEnd(38), ...columns.map((title) => title.padStart(34))].join(''))
  for (const { name, a, b, isSmall } of CASES) {
    const flatA = readGeometry(a, [], LIMITS)
    const flatB = readGeometry(b, [], LIMITS)
    const ours = () => distanceMeters(kernel, flatA, flatB, WORK_LIMIT)
    const least = (distance: Distance) => leastOverVertices(flatA, flatB, distance)
    const meters = ours()
    const solutions = kernel.workDone()
    if (!(meters > 0)) throw new Error(`${name}: they meet, and nothing is measured`)
    // Edges are as near as vertices or nearer.
    if (isSmall && !(meters <= least(onEllipsoid) + 1e-6)) throw new Error(`${name}: ${meters} m is not the least`)
    const times = measure(isSmall ? [ours, () => least(onEllipsoid), () => least(onSphere)] : [ours])
    results[name] = { meters, solutions, microseconds: times }
    const cells = columns.map((_, index) => {
      const time = times[index]
      return time === undefined ? '–' : `${format(time.p50)} [${format(time.p25)}–${format(time.p75)}]`
    })
    console.log([name.padEnd(38), ...cells.map((cell) => cell.padStart(34))].join(''))
  }
  return results
}

interface Quartiles {
  readonly p25: number
  readonly p50: number
  readonly p75: number
}

/** Microseconds a call of each way; the ways take turns, so that a busy moment of the machine hits them all. */
function measure(ways: readonly (() => number)[]): Quartiles[] {
  const calls = ways.map((way) => {
    const start = performance.now()
    way()
    return Math.max(1, Math.ceil(MILLISECONDS_A_ROUND / (performance.now() - start)))
  })
  const samples: number[][] = ways.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    ways.forEach((way, index) => {
      const start = performance.now()
      for (let call = 0; call < calls[index]!; call++) way()
      samples[index]!.push((1000 * (performance.now() - start)) / calls[index]!)
    })
  }
  return samples.map((list) => {
    const sorted = list.sort((x, y) => x - y)
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]!
    return { p25: at(0.25), p50: at(0.5), p75: at(0.75) }
  })
}

type Distance = (lon1: number, lat1: number, lon2: number, lat2: number) => number

const onEllipsoid: Distance = (lon1, lat1, lon2, lat2) => WGS84.Inverse(lat1, lon1, lat2, lon2).s12!
const onSphere: Distance = (lon1, lat1, lon2, lat2) => turfDistance([lon1, lat1], [lon2, lat2], { units: 'meters' })

function leastOverVertices({ vertices: a }: FlatGeometry, { vertices: b }: FlatGeometry, distance: Distance): number {
  let least = Infinity
  for (let i = 0; i < a.length; i += 2) {
    for (let j = 0; j < b.length; j += 2) least = Math.min(least, distance(a[i]!, a[i + 1]!, b[j]!, b[j + 1]!))
  }
  return least
}

const format = (microseconds: number) => (microseconds >= 100 ? microseconds.toFixed(0) : microseconds.toPrecision(3))
