import { type ProblemError, problemAt } from '../base/problem.ts'
import { partAreaSquareMeters } from '../geodesy/area.ts'
import { findParallelCrossing } from '../geodesy/parallel-crossing.ts'
import { shortWayTurn } from '../geometry/edge-turn.ts'
import { type FlatGeometry, vertexPath } from '../geometry/flat.ts'
import { enclosedPole, type PoleResolver } from '../geometry/pole-resolver.ts'
import { findRing, firstWholeParallel, hasWholeParallel, hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import type { Invalidity, InvalidityReason } from '../topology/invalidity.ts'
import { findAntimeridianHole } from '../topology/layout/antimeridian-cuts.ts'
import { toPrepared } from '../topology/plane/prepared.ts'
import { findInvalidity } from '../topology/validity.ts'
import type { Kernel } from '../wasm/loader.ts'
import { findGeodesicFault, type GeodesicFault } from './geodesic-rings.ts'

/** A ring with an edge over half the globe is degenerate if its area is below this. */
const DEGENERATE_SQUARE_METERS = 1

type Path = readonly (string | number)[]

const HINT_HALF_GLOBE =
  'edges are shortest geodesics: insert vertices along edges over 180° of longitude or more, at most 90° apart'
const HINT_GEODESIC =
  'measures follow shortest geodesics, which leave straight lines in longitude and latitude: put vertices along long edges, ' +
  'and one where another ring touches an edge'
/** Hints for each reason why a polygon is invalid. */
const HINTS: Readonly<Record<InvalidityReason, string>> = {
  'self-intersection': 'two edges cross here: send the vertices in their order around the shape',
  'self-touch': 'a ring may not touch itself: split it here into an exterior ring and a hole, or into two polygons',
  'repeated edge':
    'the ring follows the same edge twice here: remove the spike, or the vertices that lead there and back',
  'shared edge': 'two rings share an edge here: merge the two polygons, or make the hole a part of the exterior ring',
  'ring without an inside':
    'all vertices lie on one line: a ring needs three that do not; insert vertices along edges over 180° of longitude, because such edges go the short way',
  'ring around the axis more than once': 'a ring may go around the axis once: split it into rings that do',
  'inside not defined by edges along the poles': `${HINT_HALF_GLOBE}; along a pole, put one every 90°`,
  'hole outside its exterior ring': 'draw the hole inside its exterior ring, or send it as a polygon of a MultiPolygon',
  'nested holes': 'remove the hole that lies in another hole; land in a hole is another polygon of a MultiPolygon',
  'overlapping polygons': 'merge the polygons that overlap into one (ST_Union, unary_union)',
  'disconnected interior': 'rings that touch cut the inside in two here: send its parts as polygons of a MultiPolygon',
  'too intricate around the axis': 'simplify the polygon, or cut it at the antimeridian',
}

/** Creates the function that decides which pole a ring around the axis encloses. Areas use the same rule (decision 92). */
export function kernelPoleResolver(kernel: Kernel): PoleResolver {
  return (ring) => (enclosedPole(kernel, ring) < 0 ? -1 : 1)
}

/**
 * Rejects polygons whose interior is not defined. A signed number for a bowtie would be worse than an error (decision 32).
 *
 * For measures the rings must be valid as geodesics too. Otherwise an area would be a difference of lobes, and a hole outside
 * its exterior ring would count as a part of the polygon (decisions 94 and 125).
 *
 * @param path pointer of the geometry in the request
 * @param isMeasured also checks the rings as geodesics; false for predicates, which use planar edges
 * @throws {ProblemError} `invalid-input`, with the pointer of the faulty vertex or ring
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function checkInterior(geometry: FlatGeometry, path: Path, kernel: Kernel, isMeasured = false): void {
  if (!geometry.partDimensions.includes(2)) return
  const topology = toPrepared(geometry)
  const invalidity = findInvalidity(topology, kernelPoleResolver(kernel))
  if (invalidity !== undefined) throw invalidityProblem(geometry, path, invalidity, HINTS[invalidity.reason])
  checkExtent(geometry, path, kernel)
  if (!isMeasured) return
  checkPolesReachedTwice(geometry, path)
  const hasParallel = hasWholeParallel(geometry)
  if (hasParallel) checkParallels(geometry, path, kernel, HINT_GEODESIC)
  const geodesics = hasParallel ? toPrepared(collapseBands(geometry)) : topology
  const fault = findGeodesicFault(kernel, geodesics)
  if (fault !== undefined) throw geodesicProblem(geometry, path, fault)
}

function geodesicProblem(geometry: FlatGeometry, path: Path, fault: GeodesicFault): ProblemError {
  const { reason, lon, lat, sequence, vertex, depthMeters, edge } = fault
  const depth = depthMeters < 1 ? depthMeters.toPrecision(1) : Math.round(depthMeters)
  const [lon1, lat1, lon2, lat2] = edge
  const detail = `${reason} at [${lon}, ${lat}], ${depth} m beyond the geodesic from [${lon1}, ${lat1}] to [${lon2}, ${lat2}]`
  return problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex)], detail, {
    code: reason.replaceAll(' ', '-'),
    hint: HINT_GEODESIC,
  })
}

function invalidityProblem(
  geometry: FlatGeometry,
  path: Path,
  { reason, lon, lat, sequence, vertex }: Invalidity,
  hint: string,
): ProblemError {
  const pointer = [...path, ...vertexPath(geometry, sequence, vertex)]
  return problemAt('invalid-input', pointer, `${reason} at [${lon}, ${lat}]`, {
    code: reason.replaceAll(' ', '-'),
    hint: `${hint}; or let POST /compute/v0/repair do it`,
  })
}

/**
 * Rejects rings that enclose no area because of edges over half the globe (decision 93).
 *
 * A band drawn halfway around the globe has all its vertices on one meridian circle. As geodesics its edges run back and forth,
 * so it encloses nothing, as exterior ring or as hole. Only an edge over half the globe can cause this, so areas are computed
 * only for rings with such an edge.
 */
function checkExtent(geometry: FlatGeometry, path: Path, kernel: Kernel): void {
  const { partDimensions, partStarts, sequenceStarts, vertices } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!hasHalfGlobeEdge(vertices, start, end)) continue
      // Skip rings with whole parallels: the planar check has found their interior, and a mixed ring has no geodesic area.
      if (hasWholeTurn(vertices, start, end) && ringForm(vertices, start, end).kind !== 'ordinary') continue
      const ring = { ...geometry, sequenceStarts: Uint32Array.of(start, end), partStarts: Uint32Array.of(0, 1) }
      const isSmall = partAreaSquareMeters(kernel, ring, 0) < DEGENERATE_SQUARE_METERS
      if (!isSmall && findRing(geometry, ({ kind }) => kind === 'mixed', part) !== undefined) continue
      // The area of a part with one ring is the area of that ring.
      if (!isSmall && partStarts[part + 1]! - partStarts[part]! === 1) continue
      if (!isSmall && partAreaSquareMeters(kernel, geometry, part) >= DEGENERATE_SQUARE_METERS) continue
      throw noAreaProblem([...path, ...vertexPath(geometry, sequence)])
    }
  }
}

/**
 * Rejects rings that, as geodesics, reach the same pole twice and so touch themselves there. An edge over exactly 180° of
 * longitude passes over the pole that is nearer to its ends. Between exactly antipodal positions both ways are equally short, so
 * only the planar check applies. Also rejects a vertex whose two neighbours are at one pole: both of its edges run along its
 * meridian.
 */
function checkPolesReachedTwice(geometry: FlatGeometry, path: Path): void {
  const { partDimensions, partStarts, sequenceStarts, vertices } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!reachesPole(vertices, start, end) && !hasHalfGlobeEdge(vertices, start, end)) continue
      // [north, south]. The planar check has already rejected rings with several separate vertices at one pole.
      const isReached = [false, false]
      for (let vertex = start; vertex < end; vertex++) {
        const lat = vertices[2 * vertex + 1]!
        if (Math.abs(lat) === 90) isReached[lat > 0 ? 0 : 1] = true
      }
      for (let vertex = start; vertex < end - 1; vertex++) {
        const [lon1, lat1, lon2, lat2] = vertices.subarray(2 * vertex, 2 * vertex + 4) as unknown as Edge
        const before = vertices[2 * (vertex === start ? end - 2 : vertex - 1) + 1]!
        if (Math.abs(lat1) !== 90 && Math.abs(lat2) === 90 && before === lat2) {
          const detail = 'both edges run to the same pole along the same meridian'
          throw problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex - start)], detail, {
            code: 'repeated-edge',
            hint: 'remove the vertex, or give the ring two vertices on different meridians away from the pole',
          })
        }
        const passesOverPole = Math.abs(lon2 - lon1) === 180 && Math.abs(lat1) !== 90 && Math.abs(lat2) !== 90
        if (!passesOverPole || lat1 === -lat2) continue
        const pole = lat1 > -lat2 ? 0 : 1
        if (!isReached[pole]) {
          isReached[pole] = true
          continue
        }
        const detail = `the geodesic from here to [${lon2}, ${lat2}] passes over a pole that the ring has already reached`
        throw problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex - start)], detail, {
          code: 'self-touch',
          hint: HINT_HALF_GLOBE,
        })
      }
    }
  }
}

type Edge = readonly [lon1: number, lat1: number, lon2: number, lat2: number]

/** Makes the problem for a polygon that encloses no area. */
export function noAreaProblem(path: Path): ProblemError {
  return problemAt('invalid-input', path, 'the polygon encloses no area on the ground', {
    code: 'no-area',
    hint: HINT_HALF_GLOBE,
  })
}

function reachesPole(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = 2 * start + 1; i < 2 * end; i += 2) if (Math.abs(vertices[i]!) === 90) return true
  return false
}

/** Returns true if an edge runs over exactly 180° of longitude. One that crosses ±180 the short way does not. */
function hasHalfGlobeEdge(vertices: Float64Array, start: number, end: number): boolean {
  for (let vertex = start + 1; vertex < end; vertex++) {
    const [from, to] = [vertices[2 * vertex - 2]!, vertices[2 * vertex]!]
    if (Math.abs(to - from) >= 180 && shortWayTurn(from, to) === 0) return true
  }
  return false
}

/** A geodesic over w degrees of longitude between two positions at latitude φ leaves the parallel by 243 w² sin φ cos φ metres. */
const HINT_PARALLEL =
  'put vertices along the parallel: one every 1° keeps the geodesics between them within 122 m of it, one every 0.1° within 1.3 m'
const HINT_ANTIMERIDIAN_HOLE =
  'draw the hole over ±180 in one piece, without edges along ±180; if the exterior ring is cut at ±180, make the hole a notch in it'

/**
 * Checks that measures are defined for a valid polygon with whole parallels. Rejects rings that mix whole parallels and
 * geodesics, and geodesics that cross a whole parallel of another ring.
 *
 * @param geometry has whole parallels
 * @param hint for the problem of geodesics that cross
 * @throws {ProblemError} `invalid-input`, with the pointer of the edge
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
function checkParallels(geometry: FlatGeometry, path: Path, kernel: Kernel, hint: string): void {
  const mixed = findRing(geometry, ({ kind }) => kind === 'mixed')
  if (mixed !== undefined) {
    throw wholeParallelProblem(
      geometry,
      path,
      mixed,
      'the edges of a measured ring must be whole parallels or geodesics, not both',
    )
  }
  const crossing = findParallelCrossing(kernel, geometry)
  if (crossing === undefined) return
  const { sequence, vertex, lon, lat } = crossing
  const detail = `self-intersection at [${lon}, ${lat}]`
  throw problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex)], detail, {
    code: 'self-intersection',
    hint,
  })
}

/**
 * Returns a copy of the geometry in which every ring of whole parallels is shrunk to one of its vertices. Indices stay the same.
 * The copy is used to check the other rings; `checkParallels` has already compared them with the whole parallels.
 */
function collapseBands(geometry: FlatGeometry): FlatGeometry {
  const { sequenceStarts, partStarts, partDimensions } = geometry
  const vertices = geometry.vertices.slice()
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!hasWholeTurn(vertices, start, end) || ringForm(vertices, start, end).kind !== 'band') continue
      for (let i = 2 * start + 2; i < 2 * end; i++) vertices[i] = vertices[i - 2]!
    }
  }
  return { ...geometry, vertices }
}

/**
 * Rejects holes with edges along the antimeridian that are not part of the boundary: distances would be measured to these edges.
 *
 * @throws {ProblemError} `invalid-input`, with the pointer of the hole
 */
export function checkAntimeridianHoles(geometry: FlatGeometry, path: Path, poleOf: PoleResolver): void {
  const hole = findAntimeridianHole(geometry, poleOf)
  if (hole === undefined) return
  const detail = 'this hole has edges along the antimeridian that are not a boundary: distances would end at them'
  throw problemAt('invalid-input', [...path, ...vertexPath(geometry, hole)], detail, {
    code: 'hole-at-antimeridian',
    hint: HINT_ANTIMERIDIAN_HOLE,
  })
}

/**
 * Rejects whole parallels, and holes with edges along the antimeridian. Distances from such a geometry to lines and polygons are
 * not defined.
 *
 * @param what names the measure in the problem's detail, e.g. `verification`
 * @throws {ProblemError} `invalid-input`, with the pointer of the edge or hole
 */
export function checkGeodesicEdges(geometry: FlatGeometry, path: Path, poleOf: PoleResolver, what: string): void {
  if (hasWholeParallel(geometry)) throw noMeasureProblem(geometry, path, what)
  checkAntimeridianHoles(geometry, path, poleOf)
}

/**
 * Makes the problem for a measure between a geometry with a whole parallel and anything but a point.
 *
 * @param geometry has a whole parallel
 * @param what names the measure in the problem's detail, e.g. `within`
 */
export function noMeasureProblem(geometry: FlatGeometry, path: Path, what: string): ProblemError {
  const sequence = findRing(geometry, ({ kind }) => kind !== 'ordinary')!
  return wholeParallelProblem(
    geometry,
    path,
    sequence,
    `${what} treats edges as geodesics, but this edge is a whole parallel`,
  )
}

function wholeParallelProblem(geometry: FlatGeometry, path: Path, sequence: number, detail: string): ProblemError {
  const { vertices, sequenceStarts } = geometry
  const start = sequenceStarts[sequence]!
  const vertex = firstWholeParallel(vertices, start, sequenceStarts[sequence + 1]!) - start
  return problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex)], detail, {
    code: 'whole-parallel',
    hint: HINT_PARALLEL,
  })
}
