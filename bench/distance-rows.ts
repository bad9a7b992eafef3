/**
 * The distance between two geometries. PostGIS finds the nearest positions on a sphere and then measures between them on the
 * ellipsoid. The other libraries compare only vertices. The last column of the tables therefore shows their error, not Trigpoint's.
 */
import turfDistance from '@turf/distance'
import geodesic from 'geographiclib-geodesic'
import { distanceMeters, isWithinCentimeters } from '../src/geodesy/distance.ts'
import { prepareDistance } from '../src/geodesy/prepared-distance.ts'
import type { FlatGeometry } from '../src/geometry/flat.ts'
import { readGeometry } from '../src/geometry/read.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import type { Libraries } from './geodesy-rows.ts'
import { generator, point } from './inputs.ts'
import { tableName } from './postgis.ts'
import { type Contender, inProcess, type Row } from './rounds.ts'
import { encodeWkb } from './wkb.ts'

const { WGS84 } = geodesic.Geodesic
const WORK_LIMIT = 2_000_000
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
/** Number of positions that are compared with one polygon. */
const POINTS = 100
const RADIUS_METERS = 100_000

type Distance = (lon1: number, lat1: number, lon2: number, lat2: number) => number

const onEllipsoid: Distance = (lon1, lat1, lon2, lat2) => WGS84.Inverse(lat1, lon1, lat2, lon2).s12!
const onSphere: Distance = (lon1, lat1, lon2, lat2) => turfDistance([lon1, lat1], [lon2, lat2], { units: 'meters' })

export function distanceRows(libraries: Libraries): Row[] {
  const largePolygon = island(10, 45, 10_000, 1e5)
  return [
    unpreparedRow(libraries, 'point to polygon of 10,000, near', point(12, 45), largePolygon, true),
    unpreparedRow(libraries, 'point to polygon of 10,000, far', point(150, -45), largePolygon, true),
    unpreparedRow(libraries, 'line of 500 to line of 500, interleaved', zigzag(500, 0), zigzag(500, 0.002), true),
    unpreparedRow(
      libraries,
      'line of 10,000 to line of 10,000, interleaved',
      zigzag(10_000, 0),
      zigzag(10_000, 0.002),
      false,
    ),
    unpreparedRow(
      libraries,
      'polygon of 10,000 to polygon of 10,000, 15,000 km',
      largePolygon,
      island(146, -25, 10_000, 1e5),
      false,
    ),
    preparedRow(libraries, 'point to polygon of 10,000, prepared', largePolygon),
    withinRow(libraries, 'polygon of 10,000 within 100 km of points', largePolygon),
  ]
}

/** Distance without preparation. The time starts at flat coordinates and includes copying them and building trees. */
function unpreparedRow({ kernel, postGis }: Libraries, name: string, a: Geometry, b: Geometry, isSmall: boolean): Row {
  const [flatA, flatB] = [a, b].map((geometry) => readGeometry(geometry, [], LIMITS)) as [FlatGeometry, FlatGeometry]
  const contenders: Contender[] = [inProcess('Trigpoint', () => distanceMeters(kernel, flatA, flatB, WORK_LIMIT))]
  if (isSmall) {
    contenders.push(
      inProcess('geographiclib-geodesic, vertices alone', () => minVertexDistance(flatA, flatB, onEllipsoid)),
      inProcess('turf (sphere), vertices alone', () => minVertexDistance(flatA, flatB, onSphere)),
    )
  }
  // PostGIS compares all pairs of edges of two lines: 12 s for 10,000 and 10,000.
  if (postGis !== undefined && (isSmall || a.type === 'Polygon')) {
    const table = tableName(name)
    postGis.load(table, ['geography', 'geography'], [[encodeWkb(a), encodeWkb(b)]])
    // One call per statement: within one statement PostGIS would cache the tree of a repeated argument.
    contenders.push(postGis.contender('PostGIS ST_Distance(geography)', `SELECT ST_Distance(a, b) FROM ${table}`))
  }
  return { name, items: 1, item: 'call', unit: 'm', contenders }
}

/** Distances from many positions to one polygon, which each contender may prepare. */
function preparedRow({ kernel, postGis }: Libraries, name: string, polygon: Geometry): Row {
  const random = generator(7)
  const points = Array.from({ length: POINTS }, () => point(10 + random(-5, 5), 45 + random(-5, 5)))
  const flat = readGeometry(polygon, [], LIMITS)
  const flatPoints = points.map((geometry) => readGeometry(geometry, [], LIMITS))
  const preparedPolygon = prepareDistance(kernel, flat)
  if (preparedPolygon === undefined) throw new Error('the polygon does not fit into the kernel')
  const contenders: Contender[] = [
    inProcess('Trigpoint, prepared', () => {
      let sum = 0
      for (const flatPoint of flatPoints) sum += distanceMeters(kernel, preparedPolygon, flatPoint, WORK_LIMIT)
      return sum
    }),
  ]
  if (postGis !== undefined) {
    postGis.load('prepared_polygon', ['geography'], [[encodeWkb(polygon)]])
    postGis.load(
      'prepared_points',
      ['geography'],
      points.map((geometry) => [encodeWkb(geometry)]),
    )
    const select =
      'SELECT sum(ST_Distance(p.a, q.a)) / :n FROM prepared_polygon p, prepared_points q, generate_series(1, :n)'
    contenders.push(postGis.contender('PostGIS ST_Distance(geography)', select))
  }
  return { name, items: POINTS, item: 'point', unit: 'm', contenders }
}

/** Which positions are within a radius. Bounds can be enough, because no distances are needed. */
function withinRow({ kernel, postGis }: Libraries, name: string, polygon: Geometry): Row {
  const random = generator(9)
  const points = Array.from({ length: POINTS }, () => point(10 + random(-5, 5), 45 + random(-5, 5)))
  const flat = readGeometry(polygon, [], LIMITS)
  const flatPoints = points.map((geometry) => readGeometry(geometry, [], LIMITS))
  const preparedPolygon = prepareDistance(kernel, flat)
  if (preparedPolygon === undefined) throw new Error('the polygon does not fit into the kernel')
  const radiusCm = BigInt(100 * RADIUS_METERS)
  const contenders: Contender[] = [
    inProcess(
      'Trigpoint, prepared',
      () =>
        flatPoints.filter((flatPoint) => isWithinCentimeters(kernel, preparedPolygon, flatPoint, radiusCm, WORK_LIMIT))
          .length,
    ),
  ]
  if (postGis !== undefined) {
    postGis.load('within_polygon', ['geography'], [[encodeWkb(polygon)]])
    postGis.load(
      'within_points',
      ['geography'],
      points.map((geometry) => [encodeWkb(geometry)]),
    )
    const select = `SELECT count(*) FILTER (WHERE ST_DWithin(p.a, q.a, ${RADIUS_METERS})) / :n FROM within_polygon p, within_points q, generate_series(1, :n)`
    contenders.push(postGis.contender('PostGIS ST_DWithin(geography)', select))
  }
  return { name, items: POINTS, item: 'point', unit: 'answers', contenders }
}

/** A polygon with a wavy outline around a centre. */
function island(lon: number, lat: number, count: number, radiusMeters: number): Geometry {
  const ring = Array.from({ length: count }, (_, index): Position => {
    const radius = radiusMeters * (0.9 + 0.08 * Math.sin(index / 7) + 0.02 * Math.sin(2.3 * index))
    const { lat2, lon2 } = WGS84.Direct(lat, lon, (360 * index) / count, radius)
    return [lon2!, lat2!]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
}

/** A zigzag line. Two of them that are shifted north by different amounts interlock without touching. */
const zigzag = (count: number, north: number): Geometry => ({
  type: 'LineString',
  coordinates: Array.from(
    { length: count },
    (_, index): Position => [10 + 1e-4 * index, 45 + north + 0.01 * (index % 2) + 1e-6 * Math.sin(index)],
  ),
})

function minVertexDistance({ vertices: a }: FlatGeometry, { vertices: b }: FlatGeometry, distance: Distance): number {
  let minDistance = Infinity
  for (let i = 0; i < a.length; i += 2) {
    for (let j = 0; j < b.length; j += 2)
      minDistance = Math.min(minDistance, distance(a[i]!, a[i + 1]!, b[j]!, b[j + 1]!))
  }
  return minDistance
}
