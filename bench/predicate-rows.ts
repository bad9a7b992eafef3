/**
 * Predicates and validity by everyone. All start from what they work on (flat arrays, their own geometries): reading is not
 * counted here. Warm against warm, prepared against prepared.
 */
import turfContains from '@turf/boolean-point-in-polygon'
import IndexedPointInAreaLocator from 'jsts/org/locationtech/jts/algorithm/locate/IndexedPointInAreaLocator.js'
import Coordinate from 'jsts/org/locationtech/jts/geom/Coordinate.js'
import { poleOf } from '../src/compute/validity.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { contains } from '../src/topology/contains.ts'
import { intersects } from '../src/topology/intersects.ts'
import { prepareTopology } from '../src/topology/plane/prepared.ts'
import { findInvalidity } from '../src/topology/validity.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import type { Kernel } from '../src/wasm/loader.ts'
import { jtsGeometry, jtsIsValid } from '../test/jts.ts'
import type { Geos } from './geos-wasm.ts'
import { comb, generator, point, wavyCircle } from './inputs.ts'
import type { Native } from './native.ts'
import { type PostGis, tableName } from './postgis.ts'
import { type Contender, inProcess, type Row } from './rounds.ts'
import { wkb, wkbPairs } from './wkb.ts'

const LIMITS = { maxVertices: 200_000, maxParts: 10_000 }
const INTERIOR = 0 // JTS's Location

export interface TopologyAnchors {
  readonly kernel: Kernel
  readonly geos: Geos
  readonly native: Native
  readonly postGis: PostGis | undefined
}

type Predicate = 'contains' | 'intersects'

/** Positions in and around polygons. */
export function pointRows(anchors: TopologyAnchors): Row[] {
  return [100, 10_000, 100_000].flatMap((count) => {
    const shape = wavyCircle(count, 10)
    const size = count.toLocaleString('en')
    return [
      unindexedRow(anchors, `contains(polygon of ${size}, point)`, shape, 10),
      preparedRow(anchors, `prepared contains(polygon of ${size}, point)`, shape, 1000),
    ]
  })
}

export function polygonRows(anchors: TopologyAnchors): Row[] {
  const row = (name: string, predicate: Predicate, a: Geometry, b: Geometry) => pairRow(anchors, name, predicate, a, b)
  const [small, large] = [wavyCircle(1000, 10), wavyCircle(10_000, 10)]
  return [
    row('intersects, 1,000 and 1,000 overlapping', 'intersects', small, wavyCircle(1000, 10, 5)),
    row('intersects, 10,000 and 10,000 overlapping', 'intersects', large, wavyCircle(10_000, 10, 5)),
    row('intersects, 10,000 inside 10,000', 'intersects', large, wavyCircle(10_000, 5)),
    row('contains, 1,000 inside 1,000', 'contains', small, wavyCircle(1000, 5)),
    row('contains, 10,000 inside 10,000', 'contains', large, wavyCircle(10_000, 5)),
    row('contains, 10,000 and itself', 'contains', large, large),
    row('intersects, interlocking combs of 85 KB, warm', 'intersects', comb(950, 1), comb(950, -1)),
  ]
}

export function validityRows(anchors: TopologyAnchors): Row[] {
  return [
    validityRow(anchors, 'validity of a ring of 1,000', wavyCircle(1000, 10)),
    validityRow(anchors, 'validity of a ring of 10,000', wavyCircle(10_000, 10)),
    validityRow(anchors, 'validity of a comb of 85 KB', comb(950, 1)),
  ]
}

function unindexedRow({ kernel, geos, native }: TopologyAnchors, name: string, shape: Geometry, count: number): Row {
  const points = pointsAround(count)
  const pole = poleOf(kernel)
  const flat = read(shape)
  const flatPoints = points.map(read)
  const jts = jtsGeometry(shape)
  const jtsPoints = points.map(jtsGeometry)
  const inGeos = geos.read(shape)
  const geosPoints = points.map((each) => geos.read(each))
  const positions = points.map(positionOf)
  return {
    name,
    items: count,
    item: 'point',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => countOf(flatPoints, (each) => contains(flat, each, pole, kernel))),
      inProcess('jsts', () => countOf(jtsPoints, (each) => jts.contains(each))),
      inProcess('geos-wasm', () => countOf(geosPoints, (each) => geos.contains(inGeos, each))),
      inProcess('turf', () => countOf(positions, (each) => turfContains([...each], polygonOf(shape)))),
      ...native.contenders(['geos'], 'contains', native.input(name, wkbPairs(points.map((each) => [shape, each])))),
    ],
  }
}

function preparedRow(anchors: TopologyAnchors, name: string, shape: Geometry, count: number): Row {
  const { kernel, geos, native, postGis } = anchors
  const points = pointsAround(count)
  const pole = poleOf(kernel)
  const ours = prepareTopology(read(shape))
  const flatPoints = points.map(read)
  const locator = new IndexedPointInAreaLocator(jtsGeometry(shape) as never)
  const coordinates = points.map(positionOf).map(([lon, lat]) => new Coordinate(lon, lat))
  const prepared = geos.prepare(geos.read(shape))
  const positions = points.map(positionOf)
  const contenders: Contender[] = [
    inProcess('Trigpoint, prepared', () => countOf(flatPoints, (each) => contains(ours, each, pole, kernel))),
    inProcess('jsts IndexedPointInAreaLocator', () =>
      countOf(coordinates, (each) => (locator.locate(each as never) as unknown) === INTERIOR),
    ),
    inProcess('geos-wasm, prepared', () =>
      countOf(positions, ([lon, lat]) => geos.preparedContainsPosition(prepared, lon, lat)),
    ),
    ...native.contenders(
      ['geos'],
      'prepared-contains',
      native.input(name, wkbPairs(points.map((each, index) => [index === 0 ? shape : each, each]))),
    ),
  ]
  if (postGis !== undefined) {
    const table = tableName(name)
    postGis.load(table, ['geometry'], [[wkb(shape)]])
    postGis.load(
      `${table}_points`,
      ['geometry'],
      points.map((each) => [wkb(each)]),
    )
    const select = `SELECT count(*) FILTER (WHERE ST_Contains(p.a, q.a)) / :n FROM ${table} p, ${table}_points q, generate_series(1, :n)`
    contenders.push(postGis.contender('PostGIS ST_Contains, rows', select))
  }
  return { name, items: count, item: 'point', unit: 'answers', contenders }
}

function pairRow(anchors: TopologyAnchors, name: string, predicate: Predicate, a: Geometry, b: Geometry): Row {
  const { kernel, geos, native, postGis } = anchors
  const pole = poleOf(kernel)
  const [flatA, flatB, jtsA, jtsB] = [read(a), read(b), jtsGeometry(a), jtsGeometry(b)]
  const [geosA, geosB] = [geos.read(a), geos.read(b)]
  const prepared = geos.prepare(geosA)
  const [preparedA, preparedB] = [prepareTopology(flatA), prepareTopology(flatB)]
  const ours = predicate === 'contains' ? contains : intersects
  return {
    name,
    items: 1,
    item: 'call',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => Number(ours(flatA, flatB, pole, kernel))),
      inProcess('Trigpoint, both prepared', () => Number(ours(preparedA, preparedB, pole, kernel))),
      inProcess('jsts', () => Number(jtsA[predicate](jtsB))),
      inProcess('geos-wasm', () => Number(geos[predicate](geosA, geosB))),
      inProcess('geos-wasm, prepared', () =>
        Number(
          predicate === 'contains' ? geos.preparedContains(prepared, geosB) : geos.preparedIntersects(prepared, geosB),
        ),
      ),
      ...native.contenders(['geos'], predicate, native.input(name, wkbPairs([[a, b]]))),
      ...postGisPair(postGis, name, predicate === 'contains' ? 'ST_Contains' : 'ST_Intersects', a, b),
    ],
  }
}

function validityRow({ kernel, geos, native, postGis }: TopologyAnchors, name: string, shape: Geometry): Row {
  const pole = poleOf(kernel)
  const [flat, jts, inGeos] = [read(shape), jtsGeometry(shape), geos.read(shape)]
  return {
    name,
    items: 1,
    item: 'call',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => Number(findInvalidity(flat, pole) === undefined)),
      inProcess('jsts', () => Number(jtsIsValid(jts))),
      inProcess('geos-wasm', () => Number(geos.isValid(inGeos))),
      ...native.contenders(['geos'], 'valid', native.input(name, wkbPairs([[shape, shape]]))),
      ...postGisPair(postGis, name, 'ST_IsValid', shape),
    ],
  }
}

/** One statement a call: repeated in one, PostGIS would prepare an argument that recurs. */
function postGisPair(postGis: PostGis | undefined, name: string, what: string, ...shapes: Geometry[]): Contender[] {
  if (postGis === undefined) return []
  const table = tableName(name)
  postGis.load(
    table,
    shapes.map(() => 'geometry'),
    [shapes.map(wkb)],
  )
  const select = `SELECT ${what}(${shapes.map((_, index) => 'ab'[index]).join(', ')})::int FROM ${table}`
  return [postGis.contender(`PostGIS ${what}`, select)]
}

function read(geometry: Geometry) {
  return readGeometry(geometry, [], LIMITS)
}

/** Half of them near the outline of a wavy circle of radius 10. */
function pointsAround(count: number): Geometry[] {
  const random = generator(17)
  return Array.from({ length: count }, (_, index) => {
    const angle = random(0, 2 * Math.PI)
    const radius = index % 2 === 0 ? 10 * (1 + 0.1 * Math.sin(37 * angle)) + random(-0.01, 0.01) : random(0, 12)
    return point(radius * Math.cos(angle), radius * Math.sin(angle))
  })
}

function positionOf(geometry: Geometry): Position {
  return (geometry as Extract<Geometry, { type: 'Point' }>).coordinates
}

function polygonOf(geometry: Geometry) {
  return geometry as Extract<Geometry, { type: 'Polygon' }>
}

function countOf<T>(list: readonly T[], isTrue: (each: T) => boolean | undefined): number {
  let count = 0
  for (const each of list) if (isTrue(each)) count++
  return count
}
