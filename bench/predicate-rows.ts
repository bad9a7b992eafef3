/**
 * Predicates and validity by all contenders. All start from their own representation (flat arrays or library objects), so the
 * times do not include reading. Contenders are compared after warm-up, and prepared ones with prepared ones.
 */
import turfContains from '@turf/boolean-point-in-polygon'
import IndexedPointInAreaLocator from 'jsts/org/locationtech/jts/algorithm/locate/IndexedPointInAreaLocator.js'
import Coordinate from 'jsts/org/locationtech/jts/geom/Coordinate.js'
import { kernelPoleResolver } from '../src/compute/validity.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { contains } from '../src/topology/contains.ts'
import { intersects } from '../src/topology/intersects.ts'
import type { Matrix } from '../src/topology/matrix.ts'
import { prepareTopology } from '../src/topology/plane/prepared.ts'
import { relate } from '../src/topology/relate.ts'
import { findInvalidity } from '../src/topology/validity.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import type { Kernel } from '../src/wasm/loader.ts'
import { jtsGeometry, jtsIsValid } from '../test/jts.ts'
import type { Geos } from './geos-wasm.ts'
import { comb, generator, point, wavyCircle } from './inputs.ts'
import type { Native } from './native.ts'
import { type PostGis, tableName } from './postgis.ts'
import { type Contender, inProcess, type Row } from './rounds.ts'
import { encodeWkb, encodeWkbPairs } from './wkb.ts'

const LIMITS = { maxVertices: 200_000, maxParts: 10_000 }
const INTERIOR = 0 // The value of Location.INTERIOR in JTS.

export interface TopologyLibraries {
  readonly kernel: Kernel
  readonly geos: Geos
  readonly native: Native
  readonly postGis: PostGis | undefined
}

type Predicate = 'contains' | 'intersects'

/** Whether polygons contain positions in and around them. */
export function pointRows(libraries: TopologyLibraries): Row[] {
  return [100, 10_000, 100_000].flatMap((count) => {
    const shape = wavyCircle(count, 10)
    const size = count.toLocaleString('en')
    return [
      unindexedRow(libraries, `contains(polygon of ${size}, point)`, shape, 10),
      preparedRow(libraries, `prepared contains(polygon of ${size}, point)`, shape, 1000),
    ]
  })
}

export function polygonRows(libraries: TopologyLibraries): Row[] {
  const row = (name: string, predicate: Predicate, a: Geometry, b: Geometry) =>
    pairRow(libraries, name, predicate, a, b)
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

/** Matrices of DE-9IM, each as a number in base 4. */
export function relateRows(libraries: TopologyLibraries): Row[] {
  const large = wavyCircle(10_000, 10)
  const [west, east] = neighbours(10_000)
  return [
    relateRow(libraries, 'relate, 10,000 and 10,000 overlapping', large, wavyCircle(10_000, 10, 5)),
    relateRow(libraries, 'relate, 10,000 and 10,000 with a common border of 5,000', west, east),
    relateRow(libraries, 'relate, 10,000 and itself', large, large),
    relatePointsRow(libraries, 'relate(prepared polygon of 10,000, point)', large, 1000),
  ]
}

export function validityRows(libraries: TopologyLibraries): Row[] {
  return [
    validityRow(libraries, 'validity of a ring of 1,000', wavyCircle(1000, 10)),
    validityRow(libraries, 'validity of a ring of 10,000', wavyCircle(10_000, 10)),
    validityRow(libraries, 'validity of a comb of 85 KB', comb(950, 1)),
  ]
}

function unindexedRow({ kernel, geos, native }: TopologyLibraries, name: string, shape: Geometry, count: number): Row {
  const points = pointsAround(count)
  const pole = kernelPoleResolver(kernel)
  const flat = read(shape)
  const flatPoints = points.map(read)
  const jts = jtsGeometry(shape)
  const jtsPoints = points.map(jtsGeometry)
  const geosShape = geos.read(shape)
  const geosPoints = points.map((each) => geos.read(each))
  const positions = points.map(getPosition)
  return {
    name,
    items: count,
    item: 'point',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => countTrue(flatPoints, (each) => contains(flat, each, pole, kernel))),
      inProcess('jsts', () => countTrue(jtsPoints, (each) => jts.contains(each))),
      inProcess('geos-wasm', () => countTrue(geosPoints, (each) => geos.contains(geosShape, each))),
      inProcess('turf', () => countTrue(positions, (each) => turfContains([...each], asPolygon(shape)))),
      ...native.contenders(
        ['geos'],
        'contains',
        native.input(name, encodeWkbPairs(points.map((each) => [shape, each]))),
      ),
    ],
  }
}

function preparedRow(libraries: TopologyLibraries, name: string, shape: Geometry, count: number): Row {
  const { kernel, geos, native, postGis } = libraries
  const points = pointsAround(count)
  const pole = kernelPoleResolver(kernel)
  const preparedShape = prepareTopology(read(shape))
  const flatPoints = points.map(read)
  const locator = new IndexedPointInAreaLocator(jtsGeometry(shape) as never)
  const coordinates = points.map(getPosition).map(([lon, lat]) => new Coordinate(lon, lat))
  const prepared = geos.prepare(geos.read(shape))
  const positions = points.map(getPosition)
  const contenders: Contender[] = [
    inProcess('Trigpoint, prepared', () =>
      countTrue(flatPoints, (each) => contains(preparedShape, each, pole, kernel)),
    ),
    inProcess('jsts IndexedPointInAreaLocator', () =>
      countTrue(coordinates, (each) => (locator.locate(each as never) as unknown) === INTERIOR),
    ),
    inProcess('geos-wasm, prepared', () =>
      countTrue(positions, ([lon, lat]) => geos.preparedContainsPosition(prepared, lon, lat)),
    ),
    ...native.contenders(
      ['geos'],
      'prepared-contains',
      native.input(name, encodeWkbPairs(points.map((each, index) => [index === 0 ? shape : each, each]))),
    ),
  ]
  if (postGis !== undefined) {
    const table = tableName(name)
    postGis.load(table, ['geometry'], [[encodeWkb(shape)]])
    postGis.load(
      `${table}_points`,
      ['geometry'],
      points.map((each) => [encodeWkb(each)]),
    )
    const select = `SELECT count(*) FILTER (WHERE ST_Contains(p.a, q.a)) / :n FROM ${table} p, ${table}_points q, generate_series(1, :n)`
    contenders.push(postGis.contender('PostGIS ST_Contains, rows', select))
  }
  return { name, items: count, item: 'point', unit: 'answers', contenders }
}

function pairRow(libraries: TopologyLibraries, name: string, predicate: Predicate, a: Geometry, b: Geometry): Row {
  const { kernel, geos, native, postGis } = libraries
  const pole = kernelPoleResolver(kernel)
  const [flatA, flatB, jtsA, jtsB] = [read(a), read(b), jtsGeometry(a), jtsGeometry(b)]
  const [geosA, geosB] = [geos.read(a), geos.read(b)]
  const prepared = geos.prepare(geosA)
  const [preparedA, preparedB] = [prepareTopology(flatA), prepareTopology(flatB)]
  const trigpointPredicate = predicate === 'contains' ? contains : intersects
  return {
    name,
    items: 1,
    item: 'call',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => Number(trigpointPredicate(flatA, flatB, pole, kernel))),
      inProcess('Trigpoint, both prepared', () => Number(trigpointPredicate(preparedA, preparedB, pole, kernel))),
      inProcess('jsts', () => Number(jtsA[predicate](jtsB))),
      inProcess('geos-wasm', () => Number(geos[predicate](geosA, geosB))),
      inProcess('geos-wasm, prepared', () =>
        Number(
          predicate === 'contains' ? geos.preparedContains(prepared, geosB) : geos.preparedIntersects(prepared, geosB),
        ),
      ),
      ...native.contenders(['geos'], predicate, native.input(name, encodeWkbPairs([[a, b]]))),
      ...postGisPair(postGis, name, predicate === 'contains' ? 'ST_Contains' : 'ST_Intersects', a, b),
    ],
  }
}

function relateRow({ kernel, geos, native }: TopologyLibraries, name: string, a: Geometry, b: Geometry): Row {
  const pole = kernelPoleResolver(kernel)
  const [flatA, flatB, geosA, geosB] = [read(a), read(b), geos.read(a), geos.read(b)]
  const [preparedA, preparedB] = [prepareTopology(flatA), prepareTopology(flatB)]
  return {
    name,
    items: 1,
    item: 'call',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => matrixNumber(relate(flatA, flatB, pole, kernel).toString())),
      inProcess('Trigpoint, both prepared', () => matrixNumber(relate(preparedA, preparedB, pole, kernel).toString())),
      inProcess('geos-wasm', () => matrixNumber(geos.relate(geosA, geosB) ?? '')),
      ...native.contenders(['geos'], 'relate', native.input(name, encodeWkbPairs([[a, b]]))),
    ],
  }
}

function relatePointsRow(
  { kernel, geos, native }: TopologyLibraries,
  name: string,
  shape: Geometry,
  count: number,
): Row {
  const points = pointsAround(count)
  const pole = kernelPoleResolver(kernel)
  const prepared = prepareTopology(read(shape))
  const flatPoints = points.map(read)
  const preparedShape = geos.prepare(geos.read(shape))
  const positions = points.map(getPosition)
  // Neither GEOS prepares a matrix. A prepared `contains` is true for the same points, so it is the faster comparison.
  const isInside = (matrix: Matrix): boolean => matrix.matches('T*****FF*')
  return {
    name,
    items: count,
    item: 'point',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint, prepared', () =>
        countTrue(flatPoints, (each) => isInside(relate(prepared, each, pole, kernel))),
      ),
      inProcess('geos-wasm, prepared contains', () =>
        countTrue(positions, ([lon, lat]) => geos.preparedContainsPosition(preparedShape, lon, lat)),
      ),
      ...native.contenders(
        ['geos'],
        'prepared-contains',
        native.input(name, encodeWkbPairs(points.map((each, index) => [index === 0 ? shape : each, each]))),
      ),
    ],
  }
}

/** The number that `bench/native/geos.cc` makes of a matrix. */
function matrixNumber(matrix: string): number {
  let number = 0
  for (const entry of matrix) number = 4 * number + (entry === 'F' ? 3 : Number(entry))
  return number
}

/** Two polygons of `count` vertices on both sides of a wavy border with half of the vertices. */
function neighbours(count: number): readonly [Geometry, Geometry] {
  const half = count / 2
  const border = Array.from({ length: half }, (_, i): Position => [0.1 * Math.sin(i / 10), (10 * i) / half])
  const arc = (side: number) =>
    Array.from({ length: half }, (_, i): Position => {
      const angle = (Math.PI * (i + 1)) / (half + 1)
      return [side * (1 + 5 * Math.sin(angle)), 5 + 5 * Math.cos(angle)]
    })
  const polygon = (side: number): Geometry => {
    const ring = [...border, ...arc(side)]
    return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
  }
  return [polygon(-1), polygon(1)]
}

function validityRow({ kernel, geos, native, postGis }: TopologyLibraries, name: string, shape: Geometry): Row {
  const pole = kernelPoleResolver(kernel)
  const [flat, jts, geosShape] = [read(shape), jtsGeometry(shape), geos.read(shape)]
  return {
    name,
    items: 1,
    item: 'call',
    unit: 'answers',
    contenders: [
      inProcess('Trigpoint', () => Number(findInvalidity(flat, pole) === undefined)),
      inProcess('jsts', () => Number(jtsIsValid(jts))),
      inProcess('geos-wasm', () => Number(geos.isValid(geosShape))),
      ...native.contenders(['geos'], 'valid', native.input(name, encodeWkbPairs([[shape, shape]]))),
      ...postGisPair(postGis, name, 'ST_IsValid', shape),
    ],
  }
}

/** One call per statement: within one statement PostGIS would prepare a repeated argument. */
function postGisPair(
  postGis: PostGis | undefined,
  name: string,
  sqlFunction: string,
  ...shapes: Geometry[]
): Contender[] {
  if (postGis === undefined) return []
  const table = tableName(name)
  postGis.load(
    table,
    shapes.map(() => 'geometry'),
    [shapes.map(encodeWkb)],
  )
  const select = `SELECT ${sqlFunction}(${shapes.map((_, index) => 'ab'[index]).join(', ')})::int FROM ${table}`
  return [postGis.contender(`PostGIS ${sqlFunction}`, select)]
}

function read(geometry: Geometry) {
  return readGeometry(geometry, [], LIMITS)
}

/** Random positions, half of them near the outline of a wavy circle of radius 10. */
export function pointsAround(count: number): Geometry[] {
  const random = generator(17)
  return Array.from({ length: count }, (_, index) => {
    const angle = random(0, 2 * Math.PI)
    const radius = index % 2 === 0 ? 10 * (1 + 0.1 * Math.sin(37 * angle)) + random(-0.01, 0.01) : random(0, 12)
    return point(radius * Math.cos(angle), radius * Math.sin(angle))
  })
}

function getPosition(geometry: Geometry): Position {
  return (geometry as Extract<Geometry, { type: 'Point' }>).coordinates
}

function asPolygon(geometry: Geometry) {
  return geometry as Extract<Geometry, { type: 'Polygon' }>
}

function countTrue<T>(list: readonly T[], isTrue: (each: T) => boolean | undefined): number {
  let count = 0
  for (const each of list) if (isTrue(each)) count++
  return count
}
