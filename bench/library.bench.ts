/**
 * Compares `trigpoint/geodesy` and `trigpoint/topology` with other libraries for JavaScript, as a program uses them: every
 * contender starts from GeoJSON objects, except in the rows of prepared polygons.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import turfArea from '@turf/area'
import turfContains from '@turf/boolean-point-in-polygon'
import turfDistance from '@turf/distance'
import turfLength from '@turf/length'
import geodesic from 'geographiclib-geodesic'
import IndexedPointInAreaLocator from 'jsts/org/locationtech/jts/algorithm/locate/IndexedPointInAreaLocator.js'
import Coordinate from 'jsts/org/locationtech/jts/geom/Coordinate.js'
import RelateOp from 'jsts/org/locationtech/jts/operation/relate/RelateOp.js'
import { area, distance, GeometryError, length, prepare } from '../src/library/geodesy.ts'
import { contains, intersects, relate } from '../src/library/topology.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { jtsAnswer, jtsGeometry } from '../test/jts.ts'
import { planimeter } from './geodesy-rows.ts'
import { type Geos, loadGeos } from './geos-wasm.ts'
import { createPairs, point, roundRing, wavyCircle } from './inputs.ts'
import { printPackages } from './machine.ts'
import { createCases } from './near-touch.ts'
import { pointsAround } from './predicate-rows.ts'
import { inProcess, type Row } from './rounds.ts'
import { printCells, printHeader, printRows } from './tables.ts'

const { Geodesic } = geodesic
const { WGS84 } = Geodesic
const GEODTEST = fileURLToPath(new URL('../../test/vectors/GeodTest-short.dat.gz', import.meta.url))
const AREAS = fileURLToPath(new URL('../../test/vectors/geodesic-area.json', import.meta.url))
const INTERIOR = 0 // The value of Location.INTERIOR in JTS.

type Point = Extract<Geometry, { type: 'Point' }>
type Line = Extract<Geometry, { type: 'LineString' }>
type Polygon = Extract<Geometry, { type: 'Polygon' }>

/** Prints tables of times and of errors, and returns them. */
export async function run(): Promise<object> {
  printPackages(['@turf/distance', 'geographiclib-geodesic', 'geos-wasm', 'jsts'])
  const geos = await loadGeos()
  const rows = [...printRows('Measures', measureRows()), ...printRows('Predicates', predicateRows(geos))]
  return { rows, lengths: printLengthErrors(), areas: printAreaErrors(), wrong: printWrong(geos) }
}

function measureRows(): Row[] {
  const { anywhere } = createPairs(1000)
  const pairs = Array.from({ length: anywhere.length / 4 }, (_, pair) => {
    const [lon1, lat1, lon2, lat2] = anywhere.subarray(4 * pair, 4 * pair + 4)
    return [point(lon1!, lat1!) as Point, point(lon2!, lat2!) as Point] as const
  })
  const total = (of: (from: Point, to: Point) => number) => () => {
    let sum = 0
    for (const [from, to] of pairs) sum += of(from, to)
    return sum
  }
  const ring = roundRing(10_000, 60)
  const line: Line = { type: 'LineString', coordinates: ring }
  const polygon: Polygon = { type: 'Polygon', coordinates: [ring] }
  const prepared = prepare(polygon)
  return [
    {
      name: 'distance of two points',
      items: pairs.length,
      item: 'pair',
      unit: 'm',
      contenders: [
        inProcess('Trigpoint', total(distance)),
        inProcess('geographiclib-geodesic', total(geographicLibDistance)),
        inProcess('turf (sphere)', total(turfMeters)),
      ],
    },
    {
      name: 'length of a line of 10,000',
      items: ring.length,
      item: 'edge',
      unit: 'm',
      contenders: [
        inProcess('Trigpoint', () => length(line)),
        inProcess('geographiclib-geodesic', () => planimeter(ring, true).perimeter!),
        inProcess('turf (sphere)', () => turfLength({ type: 'Feature', properties: {}, geometry: line }, METERS)),
      ],
    },
    {
      name: 'area of a polygon of 10,000',
      items: ring.length,
      item: 'edge',
      unit: 'm²',
      contenders: [
        inProcess('Trigpoint, with the check that the polygon is valid', () => area(polygon)),
        inProcess('Trigpoint, prepared', () => area(prepared)),
        inProcess('geographiclib-geodesic', () => Math.abs(planimeter(ring, false).area!)),
        inProcess('turf (sphere)', () => turfArea(polygon)),
      ],
    },
  ]
}

function predicateRows(geos: Geos): Row[] {
  const points = pointsAround(1000) as Point[]
  const small = wavyCircle(100, 10) as Polygon
  const large = wavyCircle(10_000, 10) as Polygon
  const other = wavyCircle(10_000, 10, 5) as Polygon
  const prepared = prepare(large)
  const locator = new IndexedPointInAreaLocator(jtsGeometry(large) as never)
  const geosPrepared = geos.prepare(geos.read(large))
  const isInside = ({ coordinates: [lon, lat] }: Point) =>
    (locator.locate(new Coordinate(lon, lat) as never) as unknown) === INTERIOR
  const geosTwo = <T>(a: Geometry, b: Geometry, answer: (a: number, b: number) => T): T => {
    const [p, q] = [geos.read(a), geos.read(b)]
    try {
      return answer(p, q)
    } finally {
      geos.free(p)
      geos.free(q)
    }
  }
  return [
    {
      name: 'contains(polygon of 100, point)',
      items: points.length,
      item: 'point',
      unit: 'answers',
      contenders: [
        inProcess(
          'Trigpoint',
          countTrue(points, (each) => contains(small, each)),
        ),
        inProcess(
          'jsts',
          countTrue(points, (each) => jtsGeometry(small).contains(jtsGeometry(each))),
        ),
        inProcess(
          'geos-wasm',
          countTrue(points, (each) => geosTwo(small, each, geos.contains)),
        ),
        inProcess(
          'turf',
          countTrue(points, (each) => turfContains(each, small)),
        ),
      ],
    },
    {
      name: 'contains(prepared polygon of 10,000, point)',
      items: points.length,
      item: 'point',
      unit: 'answers',
      contenders: [
        inProcess(
          'Trigpoint, prepared',
          countTrue(points, (each) => contains(prepared, each)),
        ),
        inProcess('jsts IndexedPointInAreaLocator', countTrue(points, isInside)),
        inProcess(
          'geos-wasm, prepared',
          countTrue(points, ({ coordinates: [lon, lat] }) => geos.preparedContainsPosition(geosPrepared, lon, lat)),
        ),
        inProcess(
          'turf',
          countTrue(points, (each) => turfContains(each, large)),
        ),
      ],
    },
    {
      name: 'intersects, polygons of 10,000',
      items: 1,
      item: 'call',
      unit: 'answers',
      contenders: [
        inProcess('Trigpoint', () => Number(intersects(large, other))),
        inProcess('jsts', () => Number(jtsGeometry(large).intersects(jtsGeometry(other)))),
        inProcess('geos-wasm', () => Number(geosTwo(large, other, geos.intersects))),
      ],
    },
    {
      name: 'relate, polygons of 10,000',
      items: 1,
      item: 'call',
      unit: 'answers',
      contenders: [
        inProcess('Trigpoint', () => matrixNumber(relate(large, other))),
        inProcess('jsts', () => {
          const matrix: unknown = RelateOp.relate(jtsGeometry(large) as never, jtsGeometry(other) as never)
          return matrixNumber(String(matrix))
        }),
        inProcess('geos-wasm', () => matrixNumber(geosTwo(large, other, geos.relate) ?? '')),
      ],
    },
  ]
}

const METERS = { units: 'meters' } as const

function turfMeters(from: Point, to: Point): number {
  return turfDistance(from, to, METERS)
}

function geographicLibDistance({ coordinates: [lon1, lat1] }: Point, { coordinates: [lon2, lat2] }: Point): number {
  return WGS84.Inverse(lat1, lon1, lat2, lon2, Geodesic.DISTANCE).s12!
}

/** A number in base 4 for each entry of the matrix. */
function matrixNumber(matrix: string): number {
  let number = 0
  for (const entry of matrix) number = 4 * number + (entry === 'F' ? 3 : Number(entry))
  return number
}

function countTrue<T>(list: readonly T[], isTrue: (each: T) => boolean | undefined): () => number {
  return () => {
    let count = 0
    for (const each of list) if (isTrue(each)) count++
    return count
  }
}

function printLengthErrors() {
  const rows = gunzipSync(readFileSync(GEODTEST)).toString('latin1').trim().split('\n')
  const cases = rows.map((row) => {
    const [lat1, lon1, , lat2, lon2, , meters] = row.split(' ').map(Number)
    return { from: point(lon1!, lat1!) as Point, to: point(lon2!, lat2!) as Point, meters: meters! }
  })
  console.log(`\n### Errors of ${cases.length} distances (GeodTest-short)\n`)
  printHeader(['contender', 'largest', 'median'])
  const contenders = {
    Trigpoint: distance,
    'geographiclib-geodesic': geographicLibDistance,
    'turf (sphere)': turfMeters,
  }
  return Object.entries(contenders).map(([contender, of]) => {
    const errors = cases.map(({ from, to, meters }) => Math.abs(of(from, to) - meters)).sort((a, b) => a - b)
    const [largest, median] = [errors.at(-1)!, errors[errors.length >> 1]!]
    printCells([contender, formatMeters(largest), formatMeters(median)])
    return { contender, largest, median }
  })
}

function printAreaErrors() {
  const { polygons } = JSON.parse(readFileSync(AREAS, 'utf8')) as {
    polygons: { ring: Position[]; areaSquareMeters: number }[]
  }
  console.log(`\n### Relative errors of ${polygons.length} areas (quadrature, test/vectors/geodesic-area.json)\n`)
  printHeader(['contender', 'largest', 'refused'])
  const contenders: Record<string, (polygon: Polygon) => number> = {
    Trigpoint: area,
    'geographiclib-geodesic': ({ coordinates: [ring] }) => Math.abs(planimeter(ring!, false).area!),
    'turf (sphere)': turfArea,
  }
  return Object.entries(contenders).map(([contender, of]) => {
    let [largest, refused] = [0, 0]
    for (const { ring, areaSquareMeters } of polygons) {
      const polygon: Polygon = { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
      try {
        largest = Math.max(largest, Math.abs(of(polygon) / areaSquareMeters - 1))
      } catch (error) {
        // Ours wants polygons that are valid with planar edges too.
        if (!(error instanceof GeometryError)) throw error
        refused++
      }
    }
    printCells([contender, largest.toExponential(1), String(refused)])
    return { contender, largest, refused }
  })
}

function printWrong(geos: Geos) {
  const cases = createCases()
  console.log(
    `\n### Wrong answers about ${cases.length} pairs that touch or nearly touch (two predicates, both orders)\n`,
  )
  printHeader(['contender', 'wrong', 'threw', 'of'])
  const contenders: Record<string, (a: Geometry, b: Geometry) => readonly (boolean | undefined)[]> = {
    Trigpoint: (a, b) => [intersects(a, b), intersects(b, a), contains(a, b), contains(b, a)],
    jsts(a, b) {
      const [p, q] = [jtsGeometry(a), jtsGeometry(b)]
      return [() => p.intersects(q), () => q.intersects(p), () => p.contains(q), () => q.contains(p)].map(jtsAnswer)
    },
    'geos-wasm'(a, b) {
      const [p, q] = [geos.read(a), geos.read(b)]
      return [geos.intersects(p, q), geos.intersects(q, p), geos.contains(p, q), geos.contains(q, p)]
    },
  }
  return Object.entries(contenders).map(([contender, answer]) => {
    let [wrong, threw] = [0, 0]
    for (const { a, b, expected } of cases) {
      answer(a, b).forEach((result, index) => {
        if (result === undefined) threw++
        else if (result !== expected[index]) wrong++
      })
    }
    printCells([contender, String(wrong), String(threw), String(4 * cases.length)])
    return { contender, wrong, threw }
  })
}

function formatMeters(value: number): string {
  return value < 1e-3 ? `${(value * 1e9).toFixed(1)} nm` : `${value.toPrecision(3)} m`
}
