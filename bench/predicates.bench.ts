/**
 * Exact predicates beside jsts: points in polygons, polygons against polygons, interlocking combs, validity. Medians in
 * microseconds; both sides start from what they work on (flat arrays, jsts geometries), reading is not counted.
 */
import GeoJSONReader from 'jsts/org/locationtech/jts/io/GeoJSONReader.js'
import IsValidOp from 'jsts/org/locationtech/jts/operation/valid/IsValidOp.js'
import 'jsts/org/locationtech/jts/monkey.js'
import { readGeometry } from '../src/geometry/read.ts'
import { contains } from '../src/topology/contains.ts'
import { intersects } from '../src/topology/intersects.ts'
import { findInvalidity } from '../src/topology/validity.ts'
import type { Geometry, Position } from '../src/types/generated.ts'

const LIMITS = { maxVertices: 50_001, maxParts: 10_000 }
const SECONDS = 0.5
const MOST_RUNS = 200

interface Jts {
  contains(other: Jts): boolean
  intersects(other: Jts): boolean
}

interface Row {
  readonly what: string
  readonly micros: number
  readonly jstsMicros: number
}

const north = () => 1 as const
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const jts = (geometry: Geometry) => new GeoJSONReader(undefined as never).read(geometry as never) as unknown as Jts

/** Prints a table; throws when the two disagree. */
export async function run(): Promise<readonly Row[]> {
  const center: Geometry = { type: 'Point', coordinates: [1, 1] }
  const rows: Row[] = [
    compare('contains(100, point)', wavyCircle(100, 10), center, 'contains'),
    compare('contains(10k, point)', wavyCircle(10_000, 10), center, 'contains'),
    compare('contains(50k, point)', wavyCircle(50_000, 10), center, 'contains'),
    compare('intersects(1k, 1k), overlapping', wavyCircle(1000, 10), wavyCircle(1000, 10, 5), 'intersects'),
    compare('intersects(10k, 10k), overlapping', wavyCircle(10_000, 10), wavyCircle(10_000, 10, 5), 'intersects'),
    compare('intersects(10k, 10k), inside', wavyCircle(10_000, 10), wavyCircle(10_000, 5), 'intersects'),
    compare('contains(1k, 1k), inside', wavyCircle(1000, 10), wavyCircle(1000, 5), 'contains'),
    compare('contains(10k, 10k), inside', wavyCircle(10_000, 10), wavyCircle(10_000, 5), 'contains'),
    compare('contains(10k, itself)', wavyCircle(10_000, 10), wavyCircle(10_000, 10), 'contains'),
    compare('intersects(comb, comb), 85 KB each', comb(950, 1), comb(950, -1), 'intersects'),
    compareValidity('validity(1k)', wavyCircle(1000, 10)),
    compareValidity('validity(10k)', wavyCircle(10_000, 10)),
    compareValidity('validity(comb of 85 KB)', comb(950, 1)),
  ]
  for (const { what, micros, jstsMicros } of rows) {
    const ratio = (jstsMicros / micros).toFixed(1)
    console.log(
      `${what.padEnd(38)} ${micros.toFixed(1).padStart(10)} µs  jsts ${jstsMicros.toFixed(1).padStart(12)} µs  ×${ratio}`,
    )
  }
  return rows
}

function compare(what: string, a: Geometry, b: Geometry, predicate: 'contains' | 'intersects'): Row {
  const [flatA, flatB, jtsA, jtsB] = [read(a), read(b), jts(a), jts(b)]
  const ours = () => (predicate === 'contains' ? contains : intersects)(flatA, flatB, north)
  const theirs = () => jtsA[predicate](jtsB)
  return row(what, ours, theirs)
}

function compareValidity(what: string, geometry: Geometry): Row {
  const [flat, other] = [read(geometry), jts(geometry)]
  const ours = () => findInvalidity(flat, north) === undefined
  const theirs = () => (new IsValidOp(other as never) as unknown as { isValid(): boolean }).isValid()
  return row(what, ours, theirs)
}

function row(what: string, ours: () => boolean, theirs: () => boolean): Row {
  if (ours() !== theirs()) throw new Error(`${what}: jsts disagrees`)
  return { what, micros: medianMicros(ours), jstsMicros: medianMicros(theirs) }
}

/** Median over calls in batches of at least 0.2 ms, after a warm-up of a tenth of the time. */
function medianMicros(call: () => unknown): number {
  let batch = 1
  const warm = performance.now()
  while (performance.now() - warm < SECONDS * 100) {
    const start = performance.now()
    for (let i = 0; i < batch; i++) call()
    if (performance.now() - start < 0.2) batch *= 2
  }
  const times: number[] = []
  const begin = performance.now()
  do {
    const start = performance.now()
    for (let i = 0; i < batch; i++) call()
    times.push(((performance.now() - start) * 1000) / batch)
  } while (performance.now() - begin < SECONDS * 1000 && times.length < MOST_RUNS)
  return times.sort((p, q) => p - q)[times.length >>> 1]!
}

function wavyCircle(count: number, radius: number, lon = 0): Geometry {
  return ring(
    Array.from({ length: count }, (_, i): Position => {
      const angle = (2 * Math.PI * i) / count
      const distance = radius * (1 + 0.1 * Math.sin(37 * angle))
      return [lon + distance * Math.cos(angle), distance * Math.sin(angle)]
    }),
  )
}

/** Long thin teeth from one side, which fit between those from the other. */
function comb(teeth: number, side: 1 | -1): Geometry {
  const pitch = 10 / teeth
  const vertices: Position[] = []
  for (let i = 0; i < teeth; i++) {
    const y = i * pitch + (side > 0 ? pitch / 2 : 0)
    vertices.push(
      [side * 10, y],
      [-side * 9, y + 0.05 * pitch],
      [-side * 9, y + 0.2 * pitch],
      [side * 10, y + 0.25 * pitch],
    )
  }
  return ring([...vertices, [side * 11, 10], [side * 11, 0]])
}

function ring(vertices: Position[]): Geometry {
  return { type: 'Polygon', coordinates: [[...vertices, vertices[0]!]] }
}
