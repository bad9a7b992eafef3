import { enclosedPole, partAreaSquareMeters } from '../geodesy/area.ts'
import { type FlatGeometry, placeOf } from '../geometry/flat.ts'
import { findRing, hasWholeParallel, hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import { type ProblemError, problemAt } from '../problem.ts'
import type { Invalidity, InvalidityReason } from '../topology/invalidity.ts'
import { preparedOf } from '../topology/prepared.ts'
import type { PoleOf } from '../topology/unwrap.ts'
import { findInvalidity } from '../topology/validity.ts'
import type { Kernel } from '../wasm/loader.ts'
import { findGeodesicFault, type GeodesicFault } from './geodesic-rings.ts'
import { checkParallels, collapseBands } from './measurable.ts'

/** Area below which a polygon with an edge over half the globe counts as nothing, m²: such a ring is degenerate. */
const NOTHING_SQUARE_METERS = 1

const HINT_HALF_GLOBE =
  'edges are shortest geodesics: insert vertices along edges over 180° of longitude or more, at most 90° apart'
const HINT_GEODESIC =
  'measures follow shortest geodesics, which leave straight lines in longitude and latitude: put vertices along long edges, ' +
  'and one where another ring touches an edge'
/** What the sender of an invalid polygon can do. */
const HINTS: Readonly<Record<InvalidityReason, string>> = {
  'self-intersection':
    'two edges cross here: send the vertices in their order around the shape, or repair the polygon (ST_MakeValid, make_valid)',
  'self-touch': 'a ring may not touch itself: split it here into an exterior ring and a hole, or into two polygons',
  'repeated edge':
    'the ring follows the same edge twice here: remove the spike, or the vertices that lead there and back',
  'shared edge': 'two rings share an edge here: merge the two polygons, or make the hole a part of the exterior ring',
  'ring without an inside':
    'all vertices lie on one line: a ring needs three that do not; insert vertices along edges over 180° of longitude, which go the short way',
  'ring around the axis more than once': 'a ring may go around the axis once: split it into rings that do',
  'inside not defined by edges along the poles': `${HINT_HALF_GLOBE}; along a pole, put one every 90°`,
  'hole outside its exterior ring': 'draw the hole inside its exterior ring, or send it as a polygon of a MultiPolygon',
  'nested holes': 'remove the hole that lies in another hole; land in a hole is another polygon of a MultiPolygon',
  'overlapping polygons': 'merge the polygons that overlap into one (ST_Union, unary_union)',
  'disconnected interior': 'rings that touch cut the inside in two here: send its parts as polygons of a MultiPolygon',
  'too intricate around the axis': 'simplify the polygon, or cut it at the antimeridian',
}

/** The pole a winding ring encloses, by the same decision that its area rests on (decision 92). */
export function poleOf(kernel: Kernel): PoleOf {
  return (ring) => (enclosedPole(kernel, ring) < 0 ? -1 : 1)
}

/**
 * Refuses polygons whose interior is not defined: a signed number of a bowtie would be worse than an error (decision 32).
 *
 * For measures the rings must be valid as geodesics too. Otherwise an area would be a difference of lobes, and a hole outside
 * its exterior ring would count as a part of the polygon (decisions 94 and 125).
 *
 * @param path where the geometry stands in the request
 * @param measures how many solutions of the inverse problem the judgement of geodesic rings may cost; absent for predicates,
 *   which take edges as straight
 * @throws {ProblemError} `invalid-input` that names the place
 * @throws {WorkLimitError} when the judgement costs more
 */
export function checkInterior(
  geometry: FlatGeometry,
  path: readonly (string | number)[],
  kernel: Kernel,
  measures?: { readonly maxSolves: number },
): void {
  if (!geometry.partDimensions.includes(2)) return
  const topology = preparedOf(geometry)
  const invalidity = findInvalidity(topology, poleOf(kernel))
  if (invalidity !== undefined) throw invalidAt(geometry, path, invalidity, HINTS[invalidity.reason])
  checkExtent(geometry, path, kernel)
  if (measures === undefined) return
  checkPassagesOfPoles(geometry, path)
  const isAround = hasWholeParallel(geometry)
  if (isAround) checkParallels(geometry, path, kernel, HINT_GEODESIC, measures.maxSolves)
  const geodesics = isAround ? preparedOf(collapseBands(geometry)) : topology
  const fault = findGeodesicFault(kernel, geodesics, measures.maxSolves)
  if (fault !== undefined) throw invalidGeodesics(geometry, path, fault)
}

function invalidGeodesics(
  geometry: FlatGeometry,
  path: readonly (string | number)[],
  fault: GeodesicFault,
): ProblemError {
  const { reason, lon, lat, sequence, vertex, depthMeters, edge } = fault
  const depth = depthMeters < 1 ? depthMeters.toPrecision(1) : Math.round(depthMeters)
  const [lon1, lat1, lon2, lat2] = edge
  const detail = `${reason} at [${lon}, ${lat}], ${depth} m beyond the geodesic from [${lon1}, ${lat1}] to [${lon2}, ${lat2}]`
  return problemAt('invalid-input', [...path, ...placeOf(geometry, sequence, vertex)], detail, {
    code: reason.replaceAll(' ', '-'),
    hint: HINT_GEODESIC,
  })
}

function invalidAt(
  geometry: FlatGeometry,
  path: readonly (string | number)[],
  { reason, lon, lat, sequence, vertex }: Invalidity,
  hint: string,
): ProblemError {
  const place = [...path, ...placeOf(geometry, sequence, vertex)]
  return problemAt('invalid-input', place, `${reason} at [${lon}, ${lat}]`, {
    code: reason.replaceAll(' ', '-'),
    hint,
  })
}

/**
 * A band drawn halfway around the globe has vertices on one meridian circle only: as geodesics its edges run back and forth,
 * and it encloses nothing, as exterior ring or as hole (decision 93). Only an edge over half the globe can bring that about,
 * so only then an area is computed.
 */
function checkExtent(geometry: FlatGeometry, path: readonly (string | number)[], kernel: Kernel): void {
  const { partDimensions, partStarts, sequenceStarts, vertices } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!hasHalfGlobeEdge(vertices, start, end)) continue
      // What whole parallels enclose was found to have an inside; with other edges it has no geodesic area.
      if (hasWholeTurn(vertices, start, end) && ringForm(vertices, start, end).kind !== 'ordinary') continue
      const ring = { ...geometry, sequenceStarts: Uint32Array.of(start, end), partStarts: Uint32Array.of(0, 1) }
      const isSmall = partAreaSquareMeters(kernel, ring, 0) < NOTHING_SQUARE_METERS
      if (!isSmall && findRing(geometry, ({ kind }) => kind === 'mixed', part) !== undefined) continue
      if (!isSmall && partAreaSquareMeters(kernel, geometry, part) >= NOTHING_SQUARE_METERS) continue
      throw noArea([...path, ...placeOf(geometry, sequence)])
    }
  }
}

/**
 * Refuses rings that come to a pole twice as geodesics: they touch themselves there. An edge over exactly 180° of longitude leads
 * over the pole that is nearer to its ends. Between exactly opposite positions both ways are as short, and the planar verdict stands.
 * Also refuses a vertex between two at one pole: both edges run along its meridian.
 */
function checkPassagesOfPoles(geometry: FlatGeometry, path: readonly (string | number)[]): void {
  const { partDimensions, partStarts, sequenceStarts, vertices } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!reachesPole(vertices, start, end) && !hasHalfGlobeEdge(vertices, start, end)) continue
      // North and south; the planar judgement has refused rings with several vertices at one pole.
      const passages = [false, false]
      for (let vertex = start; vertex < end; vertex++) {
        const lat = vertices[2 * vertex + 1]!
        if (Math.abs(lat) === 90) passages[lat > 0 ? 0 : 1] = true
      }
      for (let vertex = start; vertex < end - 1; vertex++) {
        const [lon1, lat1, lon2, lat2] = vertices.subarray(2 * vertex, 2 * vertex + 4) as unknown as Edge
        const before = vertices[2 * (vertex === start ? end - 2 : vertex - 1) + 1]!
        if (Math.abs(lat1) !== 90 && Math.abs(lat2) === 90 && before === lat2) {
          const detail = 'both edges lead to one pole along the same meridian'
          throw problemAt('invalid-input', [...path, ...placeOf(geometry, sequence, vertex - start)], detail, {
            code: 'repeated-edge',
            hint: 'remove the vertex, or give the ring two vertices on different meridians away from the pole',
          })
        }
        const isOverPole = Math.abs(lon2 - lon1) === 180 && Math.abs(lat1) !== 90 && Math.abs(lat2) !== 90
        if (!isOverPole || lat1 === -lat2) continue
        const pole = lat1 > -lat2 ? 0 : 1
        if (!passages[pole]) {
          passages[pole] = true
          continue
        }
        const detail = `the geodesic from here to [${lon2}, ${lat2}] leads over a pole at which the ring has been before`
        throw problemAt('invalid-input', [...path, ...placeOf(geometry, sequence, vertex - start)], detail, {
          code: 'self-touch',
          hint: HINT_HALF_GLOBE,
        })
      }
    }
  }
}

type Edge = readonly [lon1: number, lat1: number, lon2: number, lat2: number]

/** The refusal of a polygon that encloses nothing. */
export function noArea(path: readonly (string | number)[]): ProblemError {
  return problemAt('invalid-input', path, 'the polygon encloses no area on the ground', {
    code: 'no-area',
    hint: HINT_HALF_GLOBE,
  })
}

function reachesPole(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = 2 * start + 1; i < 2 * end; i += 2) if (Math.abs(vertices[i]!) === 90) return true
  return false
}

function hasHalfGlobeEdge(vertices: Float64Array, start: number, end: number): boolean {
  for (let vertex = start + 1; vertex < end; vertex++) {
    if (Math.abs(vertices[2 * vertex]! - vertices[2 * vertex - 2]!) >= 180) return true
  }
  return false
}
