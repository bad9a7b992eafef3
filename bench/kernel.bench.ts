/**
 * The geodesic kernel beside geographiclib-geodesic, the same ellipsoid in JavaScript, and beside turf, which computes on a
 * sphere. All contenders see the same numbers in one run, round by round in turn, so that noise of the machine hits them
 * alike; before anything is timed, the two ellipsoids have to agree.
 */
import turfArea from '@turf/area'
import turfDistance from '@turf/distance'
import turfLength from '@turf/length'
import geodesic from 'geographiclib-geodesic'
import { Bench } from 'tinybench'
import { areaSquareMeters } from '../src/geodesy/area.ts'
import { lengthMeters } from '../src/geodesy/length.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { Geometry } from '../src/types/generated.ts'
import { type Kernel, loadKernel } from '../src/wasm/loader.ts'

const { Geodesic } = geodesic
const { WGS84 } = Geodesic
const ROUNDS = 7
const MILLISECONDS_A_TASK = 40
const PAIRS = 256
const LIMITS = { maxVertices: 100_000, maxParts: 10 }

const CONTENDERS = ['kernel', 'geographiclib', 'turf'] as const
type Contender = (typeof CONTENDERS)[number]

interface Scenario {
  readonly name: string
  /** What one call does this many of: pairs or edges. */
  readonly items: number
  /** Each computes its whole and returns a sum, so that nothing can be left out. */
  readonly ways: Record<Contender, () => number>
  /** How far the two ellipsoids may differ, relative: the accuracy of the sum and no more. */
  readonly agreement: number
}

export interface KernelRow {
  readonly scenario: string
  readonly contender: Contender
  /** Median over the rounds of each round's median, and the extremes of the rounds. */
  readonly nanosecondsPerItem: number
  readonly fastest: number
  readonly slowest: number
  /** Time of this contender / time of the kernel, medians of the rounds. */
  readonly timesKernel: number
}

/** Prints a table of nanoseconds per pair or edge; returns its rows. */
export async function run(): Promise<object> {
  const scenarios = createScenarios(loadKernel())
  for (const { name, ways, agreement } of scenarios) {
    const [ours, theirs] = [ways.kernel(), ways.geographiclib()]
    if (!(Math.abs(ours / theirs - 1) <= agreement)) throw new Error(`${name}: ${ours} and ${theirs} do not agree`)
  }
  const rounds: Map<string, number>[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const bench = new Bench({ time: MILLISECONDS_A_TASK, iterations: 3, warmup: false })
    for (const { name, ways } of scenarios) {
      for (const contender of CONTENDERS) bench.add(`${name}|${contender}`, () => void ways[contender]())
    }
    await bench.run()
    // The first round warms the compilers up.
    if (round > 0) rounds.push(mediansOf(bench))
  }
  const rows = scenarios.flatMap((scenario) => rowsOf(scenario, rounds))
  console.table(
    rows.map(({ scenario, contender, nanosecondsPerItem, fastest, slowest, timesKernel }) => ({
      scenario,
      contender,
      'ns an item': nanosecondsPerItem,
      spread: `${fastest}–${slowest}`,
      '× kernel': timesKernel,
    })),
  )
  return { rows, rounds: ROUNDS, millisecondsATask: MILLISECONDS_A_TASK }
}

/** Milliseconds a call, by task. */
function mediansOf(bench: Bench): Map<string, number> {
  return new Map(
    bench.tasks.map(({ name, result }) => {
      if (!('latency' in result)) throw new Error(`${name} did not run`)
      return [name, result.latency.p50]
    }),
  )
}

function rowsOf({ name, items }: Scenario, rounds: readonly Map<string, number>[]): KernelRow[] {
  const times = (contender: Contender) =>
    rounds.map((round) => (round.get(`${name}|${contender}`)! * 1e6) / items).sort((a, b) => a - b)
  const median = (sorted: readonly number[]) => sorted[sorted.length >> 1]!
  return CONTENDERS.map((contender) => {
    const sorted = times(contender)
    return {
      scenario: name,
      contender,
      nanosecondsPerItem: round(median(sorted)),
      fastest: round(sorted[0]!),
      slowest: round(sorted.at(-1)!),
      timesKernel: round(median(sorted) / median(times('kernel'))),
    }
  })
}

function createScenarios(kernel: Kernel): Scenario[] {
  const random = generator(20260101)
  const anywhere = () => [random(-180, 180), (Math.asin(random(-1, 1)) * 180) / Math.PI] as const
  const away = (least: number, most: number) => {
    const [lon, lat] = anywhere()
    const { lat2, lon2 } = WGS84.Direct(lat, lon, random(0, 360), Math.exp(random(Math.log(least), Math.log(most))))
    return [lon, lat, lon2!, lat2!]
  }
  const nearAntipode = () => {
    const [lon, lat] = anywhere()
    const lon2 = lon + 180 + random(-0.5, 0.5)
    return [lon, lat, lon2 > 180 ? lon2 - 360 : lon2, Math.max(-90, Math.min(90, -lat + random(-0.5, 0.5)))]
  }
  return [
    pairs(kernel, 'inverse, anywhere', () => [...anywhere(), ...anywhere()]),
    pairs(kernel, 'inverse, 1 to 1000 km', () => away(1e3, 1e6)),
    pairs(kernel, 'inverse, 10 m to 1 km', () => away(10, 1e3)),
    pairs(kernel, 'inverse, near the antipode', nearAntipode),
    ...rings(kernel, 'ring of 100, edges of 600 m', 100, 10_000),
    ...rings(kernel, 'ring of 100, edges of 60 km', 100, 1_000_000),
    ...rings(kernel, 'ring of 10,000, edges of 60 m', 10_000, 100_000),
  ]
}

function pairs(kernel: Kernel, name: string, next: () => number[]): Scenario {
  const lines = Float64Array.from(Array.from({ length: PAIRS }, next).flat())
  const sum = (distance: (lon1: number, lat1: number, lon2: number, lat2: number) => number) => () => {
    let total = 0
    for (let at = 0; at < lines.length; at += 4) {
      total += distance(lines[at]!, lines[at + 1]!, lines[at + 2]!, lines[at + 3]!)
    }
    return total
  }
  return {
    name,
    items: PAIRS,
    agreement: 1e-11,
    ways: {
      kernel: sum((lon1, lat1, lon2, lat2) => kernel.inverse(lat1, lon1, lat2, lon2)),
      geographiclib: sum((lon1, lat1, lon2, lat2) => WGS84.Inverse(lat1, lon1, lat2, lon2, Geodesic.DISTANCE).s12!),
      turf: sum((lon1, lat1, lon2, lat2) => turfDistance([lon1, lat1], [lon2, lat2])),
    },
  }
}

/** Area and length of one ring, as the service computes them: copying it into the kernel is part of the time. */
function rings(kernel: Kernel, name: string, count: number, radiusMeters: number): Scenario[] {
  const ring = Array.from({ length: count }, (_, index): [number, number] => {
    const { lat2, lon2 } = WGS84.Direct(48, 11, (-360 * index) / count, radiusMeters)
    return [lon2!, lat2!]
  })
  const closed = [...ring, ring[0]!]
  const polygon = { type: 'Polygon' as const, coordinates: [closed] }
  const line = { type: 'LineString' as const, coordinates: closed }
  const flatPolygon = readGeometry(polygon as Geometry, [], LIMITS)
  const flatLine = readGeometry(line as Geometry, [], LIMITS)
  const planimeter = (polyline: boolean) => {
    const sum = WGS84.Polygon(polyline)
    for (const [lon, lat] of polyline ? closed : ring) sum.AddPoint(lat, lon)
    return sum.Compute(false, true)
  }
  return [
    {
      name: `area, ${name}`,
      items: count,
      agreement: 1e-11,
      ways: {
        kernel: () => areaSquareMeters(kernel, flatPolygon),
        geographiclib: () => planimeter(false).area!,
        turf: () => turfArea(polygon),
      },
    },
    {
      name: `length, ${name}`,
      items: count,
      agreement: 1e-12,
      ways: {
        kernel: () => lengthMeters(kernel, flatLine),
        geographiclib: () => planimeter(true).perimeter,
        turf: () => turfLength({ type: 'Feature', properties: {}, geometry: line }),
      },
    },
  ]
}

/** Park and Miller's generator: every run times the same numbers. */
function generator(seed: number): (low: number, high: number) => number {
  let state = seed
  return (low, high) => {
    state = (state * 16807) % 2147483647
    return low + (state / 2147483647) * (high - low)
  }
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
