/** Errors of the contenders against reference values: GeodTest for lengths, quadrature for areas. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import turfArea from '@turf/area'
import turfDistance from '@turf/distance'
import geodesic from 'geographiclib-geodesic'
import { areaSquareMeters } from '../src/geodesy/area.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { type Libraries, planimeter } from './geodesy-rows.ts'
import { interleaved, viewBytes } from './inputs.ts'
import { NATIVE_NAMES, type NativeProgram } from './native.ts'
import { printCells, printHeader } from './tables.ts'
import { encodeWkb } from './wkb.ts'

const { Geodesic } = geodesic
const { WGS84 } = Geodesic
const GEODTEST = fileURLToPath(new URL('../../test/vectors/GeodTest-short.dat.gz', import.meta.url))
const VECTORS = fileURLToPath(new URL('../../test/vectors/geodesic-area.json', import.meta.url))
const PROGRAMS: readonly NativeProgram[] = ['geographiclib', 'geographiclibNative', 'proj']
/** The target applies to polygons up to this size. */
const TARGET_SQUARE_METERS = 1e10
const LIMITS = { maxVertices: 10_000, maxParts: 10 }

export interface LengthErrors {
  readonly contender: string
  /** Errors in metres. */
  readonly largest: number
  readonly p99: number
  readonly median: number
}

/** Prints the errors of lengths on GeodTest-short (test/vectors/README.md). */
export function printLengthErrors({ kernel, native, postGis }: Libraries): LengthErrors[] {
  console.log('\n### Errors of 10,000 lengths (GeodTest-short)\n')
  const rows = gunzipSync(readFileSync(GEODTEST)).toString('latin1').trim().split('\n')
  const columns = rows.map((row) => row.split(' ').map(Number))
  const pairs = Float64Array.from(columns.flatMap(([lat1, lon1, , lat2, lon2]) => [lon1!, lat1!, lon2!, lat2!]))
  const expected = columns.map((column) => column[6]!)
  const measureEach = (distance: (lat1: number, lon1: number, lat2: number, lon2: number) => number) =>
    expected.map((_, row) => distance(pairs[4 * row + 1]!, pairs[4 * row]!, pairs[4 * row + 3]!, pairs[4 * row + 2]!))
  kernel.release()
  const out = kernel.reserve(8 * expected.length)
  kernel.pairLengths(kernel.write(pairs), expected.length, out)
  const batchLengths = Array.from(new Float64Array(kernel.memory.buffer, out, expected.length))
  const results: [string, ArrayLike<number>][] = [
    ['Trigpoint, in one call', batchLengths],
    ['Trigpoint, a call a pair', measureEach((...pair) => kernel.inverse(...pair))],
    ['geographiclib-geodesic', measureEach((...pair) => WGS84.Inverse(...pair, Geodesic.DISTANCE).s12!)],
    [
      'turf (sphere)',
      measureEach((lat1, lon1, lat2, lon2) => turfDistance([lon1, lat1], [lon2, lat2], { units: 'meters' })),
    ],
  ]
  const input = native.input('geodtest', viewBytes(pairs))
  for (const program of PROGRAMS) {
    const lengths = native.results(program, input)
    if (lengths !== undefined) results.push([NATIVE_NAMES[program], lengths])
  }
  if (postGis !== undefined) {
    postGis.load(
      'geodtest',
      ['geography(Point,4326)', 'geography(Point,4326)'],
      expected.map((_, row) => [0, 2].map((offset) => encodeWkb(readPoint(pairs, 4 * row + offset)))),
    )
    results.push(['PostGIS ST_Distance(geography)', postGis.numbers('SELECT ST_Distance(a, b) FROM geodtest')])
  }
  printHeader(['contender', 'largest', '99 %', 'median'])
  return results.map(([contender, lengths]) => {
    const errors = expected.map((length, row) => Math.abs(lengths[row]! - length)).sort((p, q) => p - q)
    const quantile = (fraction: number) => errors[Math.round(fraction * (errors.length - 1))]!
    printCells([contender, formatMeters(quantile(1)), formatMeters(quantile(0.99)), formatMeters(quantile(0.5))])
    return { contender, largest: quantile(1), p99: quantile(0.99), median: quantile(0.5) }
  })
}

export interface AreaErrors {
  readonly contender: string
  /** Largest error of polygons up to 10¹⁰ m², in square metres. */
  readonly largest: number
  /** Largest relative error of larger polygons. */
  readonly largestRelative: number
}

/** Prints the errors of areas against quadrature with 34 digits, and returns them. */
export function printAreaErrors({ kernel, native, postGis }: Libraries): AreaErrors[] {
  const { polygons } = JSON.parse(readFileSync(VECTORS, 'utf8')) as {
    polygons: { name: string; ring: Position[]; areaSquareMeters: number }[]
  }
  const rings = polygons.map(({ ring }) => [...ring, ring[0]!])
  const geometries = rings.map((ring): Geometry => ({ type: 'Polygon', coordinates: [ring] }))
  const flat = geometries.map((geometry) => readGeometry(geometry, [], LIMITS))
  const results: [string, number[]][] = [
    ['Trigpoint', flat.map((geometry) => areaSquareMeters(kernel, geometry))],
    ['geographiclib-geodesic', rings.map((ring) => Math.abs(planimeter(ring, false).area!))],
    ['turf (sphere)', geometries.map((geometry) => turfArea(geometry))],
  ]
  const inputs = rings.map((ring, index) => native.input(`vector-${index}`, viewBytes(interleaved(ring))))
  const contenders = inputs.map((input) => native.contenders(PROGRAMS, 'area', input))
  contenders[0]!.forEach(({ name }, program) => {
    results.push([name, contenders.map((programs) => programs[program]!.round(0).result)])
  })
  if (postGis !== undefined) {
    postGis.load(
      'vectors',
      ['geography(Polygon,4326)'],
      geometries.map((geometry) => [encodeWkb(geometry)]),
    )
    results.push(['PostGIS ST_Area(geography)', postGis.numbers('SELECT ST_Area(a) FROM vectors')])
  }
  const upToTarget = polygons.filter(({ areaSquareMeters }) => areaSquareMeters <= TARGET_SQUARE_METERS)
  console.log(`\n### Errors of ${polygons.length} areas (quadrature, test/vectors/geodesic-area.json)\n`)
  printHeader(['contender', `largest of ${upToTarget.length} up to 10¹⁰ m²`, 'largest of the others, relative'])
  return results.map(([contender, areas]) => {
    let largest = 0
    let largestRelative = 0
    polygons.forEach(({ areaSquareMeters: expected }, index) => {
      const error = Math.abs(areas[index]! - expected)
      if (expected <= TARGET_SQUARE_METERS) largest = Math.max(largest, error)
      else largestRelative = Math.max(largestRelative, error / expected)
    })
    printCells([contender, `${largest.toExponential(1)} m²`, largestRelative.toExponential(1)])
    return { contender, largest, largestRelative }
  })
}

function readPoint(pairs: Float64Array, index: number): Geometry {
  return { type: 'Point', coordinates: [pairs[index]!, pairs[index + 1]!] }
}

function formatMeters(value: number): string {
  if (value < 1e-6) return `${(value * 1e9).toFixed(2)} nm`
  return value < 1e-3 ? `${(value * 1e6).toFixed(2)} µm` : `${value.toPrecision(3)} m`
}
