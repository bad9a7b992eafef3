/**
 * Lengths and areas by all contenders. Each library is used as its documentation recommends for many values: unused outputs are
 * disabled, and polygons are added vertex by vertex. Trigpoint's time includes copying the coordinates into the kernel.
 */
import turfArea from '@turf/area'
import turfDistance from '@turf/distance'
import turfLength from '@turf/length'
import geodesic from 'geographiclib-geodesic'
import { areaSquareMeters } from '../src/geodesy/area.ts'
import { lengthMeters } from '../src/geodesy/length.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import type { Kernel } from '../src/wasm/loader.ts'
import { createPairs, interleaved, roundRing, viewBytes } from './inputs.ts'
import type { Native, NativeProgram } from './native.ts'
import { type PostGis, tableName } from './postgis.ts'
import { inProcess, type Row } from './rounds.ts'
import { encodeWkb } from './wkb.ts'

const { Geodesic } = geodesic
const { WGS84 } = Geodesic
const PAIRS = 1000
const LIMITS = { maxVertices: 1_000_000, maxParts: 10 }
const PROGRAMS: readonly NativeProgram[] = ['geographiclib', 'geographiclibNative', 'proj']

export interface Libraries {
  readonly kernel: Kernel
  readonly native: Native
  readonly postGis: PostGis | undefined
}

/** Distances of independent pairs of positions. */
export function inverseRows(libraries: Libraries): Row[] {
  const { anywhere, medium, short, antipodal } = createPairs(PAIRS)
  return [
    inverseRow(libraries, 'inverse, anywhere', anywhere),
    inverseRow(libraries, 'inverse, 1 to 1000 km', medium),
    inverseRow(libraries, 'inverse, 10 m to 1 km', short),
    inverseRow(libraries, 'inverse, near the antipode', antipodal),
  ]
}

function inverseRow({ kernel, native, postGis }: Libraries, name: string, pairs: Float64Array): Row {
  const sum = (distance: (lon1: number, lat1: number, lon2: number, lat2: number) => number) => () => {
    let total = 0
    for (let index = 0; index < pairs.length; index += 4) {
      total += distance(pairs[index]!, pairs[index + 1]!, pairs[index + 2]!, pairs[index + 3]!)
    }
    return total
  }
  const table = tableName(name)
  postGis?.load(
    table,
    ['geography(Point,4326)', 'geography(Point,4326)'],
    Array.from({ length: pairs.length / 4 }, (_, pair) => [
      encodeWkb({ type: 'Point', coordinates: [pairs[4 * pair]!, pairs[4 * pair + 1]!] }),
      encodeWkb({ type: 'Point', coordinates: [pairs[4 * pair + 2]!, pairs[4 * pair + 3]!] }),
    ]),
  )
  const select = `SELECT sum(ST_Distance(a, b)) / :n FROM ${table}, generate_series(1, :n)`
  return {
    name,
    items: pairs.length / 4,
    item: 'pair',
    unit: 'm',
    contenders: [
      inProcess('Trigpoint, in one call', () => {
        kernel.release()
        const out = kernel.reserve(2 * pairs.length)
        kernel.pairLengths(kernel.write(pairs), pairs.length / 4, out)
        const lengths = new Float64Array(kernel.memory.buffer, out, pairs.length / 4)
        let total = 0
        for (let pair = 0; pair < lengths.length; pair++) total += lengths[pair]!
        return total
      }),
      inProcess(
        'Trigpoint, a call a pair',
        sum((lon1, lat1, lon2, lat2) => kernel.inverse(lat1, lon1, lat2, lon2)),
      ),
      inProcess(
        'geographiclib-geodesic',
        sum((lon1, lat1, lon2, lat2) => WGS84.Inverse(lat1, lon1, lat2, lon2, Geodesic.DISTANCE).s12!),
      ),
      inProcess(
        'turf (sphere)',
        sum((lon1, lat1, lon2, lat2) => turfDistance([lon1, lat1], [lon2, lat2], { units: 'meters' })),
      ),
      ...native.contenders(PROGRAMS, 'inverse', native.input(name, viewBytes(pairs))),
      ...(postGis === undefined ? [] : [postGis.contender('PostGIS ST_Distance(geography)', select)]),
    ],
  }
}

/** Area and length of one ring, and the length of the same positions as a line. */
export function ringRows(libraries: Libraries): Row[] {
  return [
    ...[100, 1000, 10_000, 100_000].map((count) =>
      areaRow(libraries, `area and length, ring of ${count.toLocaleString('en')}, 60 m`, count, 60),
    ),
    areaRow(libraries, 'area and length, ring of 1,000, 900 m', 1000, 900),
    areaRow(libraries, 'area and length, ring of 1,000, 20 km', 1000, 20_000),
    areaRow(libraries, 'area and length, ring of 100, 60 km', 100, 60_000),
    lengthRow(libraries, 'length of a line of 10,000, 60 m', 10_000, 60),
    lengthRow(libraries, 'length of a line of 1,000, 20 km', 1000, 20_000),
  ]
}

function areaRow({ kernel, native, postGis }: Libraries, name: string, count: number, edgeMeters: number): Row {
  const ring = roundRing(count, edgeMeters)
  const geometry: Geometry = { type: 'Polygon', coordinates: [ring] }
  const polygon = readGeometry(geometry, [], LIMITS)
  const table = tableName(name)
  postGis?.load(table, ['geography(Polygon,4326)'], [[encodeWkb(geometry)]])
  return {
    name,
    items: count,
    item: 'edge',
    unit: 'm²',
    contenders: [
      inProcess('Trigpoint', () => {
        const area = areaSquareMeters(kernel, polygon)
        if (!(kernel.perimeter() > 0)) throw new Error('the ring has no length')
        return area
      }),
      inProcess('geographiclib-geodesic', () => Math.abs(planimeter(ring, false).area!)),
      inProcess('turf (sphere; area alone)', () => turfArea(geometry)),
      ...native.contenders(PROGRAMS, 'area', native.input(name, viewBytes(interleaved(ring)))),
      ...(postGis === undefined
        ? []
        : [
            postGis.contender(
              'PostGIS ST_Area(geography) alone',
              `SELECT max(ST_Area(a)) FROM ${table}, generate_series(1, :n)`,
            ),
          ]),
    ],
  }
}

function lengthRow({ kernel, native, postGis }: Libraries, name: string, count: number, edgeMeters: number): Row {
  const positions = roundRing(count, edgeMeters)
  const geometry: Geometry = { type: 'LineString', coordinates: positions }
  const feature = { type: 'Feature' as const, properties: {}, geometry }
  const line = readGeometry(geometry, [], LIMITS)
  const table = tableName(name)
  postGis?.load(table, ['geography(LineString,4326)'], [[encodeWkb(geometry)]])
  const select = `SELECT max(ST_Length(a)) FROM ${table}, generate_series(1, :n)`
  return {
    name,
    items: count,
    item: 'edge',
    unit: 'm',
    contenders: [
      inProcess('Trigpoint', () => lengthMeters(kernel, line)),
      inProcess('geographiclib-geodesic', () => planimeter(positions, true).perimeter),
      inProcess('turf (sphere)', () => turfLength(feature, { units: 'meters' })),
      ...native.contenders(PROGRAMS, 'length', native.input(name, viewBytes(interleaved(positions)))),
      ...(postGis === undefined ? [] : [postGis.contender('PostGIS ST_Length(geography)', select)]),
    ],
  }
}

/** Measures with geographiclib-geodesic's PolygonArea, which closes rings itself. */
export function planimeter(positions: readonly Position[], isLine: boolean) {
  const measure = WGS84.Polygon(isLine)
  const end = positions.length - (isLine ? 0 : 1)
  for (let index = 0; index < end; index++) measure.AddPoint(positions[index]![1], positions[index]![0])
  return measure.Compute(false, true)
}
