import { enclosedPole, partAreaSquareMeters } from '../geodesy/area.ts'
import { crossesNear } from '../geodesy/crossing-edges.ts'
import { type Densified, densify, isNearlyPlanar } from '../geodesy/densify.ts'
import { isPlainlySimple } from '../geodesy/ring-sides.ts'
import { type FlatGeometry, placeOf } from '../geometry/flat.ts'
import { type ProblemError, problemAt } from '../problem.ts'
import type { Invalidity, InvalidityReason } from '../topology/invalidity.ts'
import type { PoleOf } from '../topology/unwrap.ts'
import { findInvalidity } from '../topology/validity.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Area below which a polygon with an edge over half the globe counts as nothing, m²: such a ring is degenerate. */
const NOTHING_SQUARE_METERS = 1

const HINT = 'a polygon needs rings that do not cross or overlap, holes inside, and parts that touch at points at most'
const HINT_HALF_GLOBE =
  'edges are shortest geodesics: insert vertices along edges over 180° of longitude, or cut at the antimeridian'
const HINT_GEODESIC =
  'area follows shortest geodesics, which leave straight lines in longitude and latitude: put vertices along long edges'
/** Metres by which pieces of an edge may leave its geodesic when its rings are judged as geodesics. */
const GEODESIC_BOUND_METERS = 1
/** By how much that is finer where the first look is not believed. */
const FINER = 64
/** Faults of a ring that crosses nothing. */
const MISPLACED: ReadonlySet<InvalidityReason> = new Set([
  'hole outside its exterior ring',
  'nested holes',
  'overlapping polygons',
])
const HINTS: Partial<Record<InvalidityReason, string>> = {
  'ring without an inside': HINT_HALF_GLOBE,
  'inside not defined by edges along the poles': HINT_HALF_GLOBE,
}

/** The pole a winding ring encloses, by the same decision that its area rests on (decision 92). */
export function poleOf(kernel: Kernel): PoleOf {
  return (ring) => (enclosedPole(kernel, ring) < 0 ? -1 : 1)
}

/**
 * Refuses polygons whose interior is not defined: a signed number of a bowtie would be worse than an error (decision 32).
 *
 * @param path where the geometry stands in the request
 * @throws {ProblemError} `invalid-input` that names the place
 */
export function checkInterior(geometry: FlatGeometry, path: readonly (string | number)[], kernel: Kernel): void {
  if (!geometry.partDimensions.includes(2)) return
  const invalidity = findInvalidity(geometry, poleOf(kernel))
  if (invalidity !== undefined) throw invalidAt(geometry, path, invalidity, HINTS[invalidity.reason] ?? HINT)
  checkExtent(geometry, path, kernel)
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
 * Refuses polygons whose rings are valid as drawn in longitude and latitude but cross as geodesics, which their area is
 * measured along: it would be a difference of lobes, or a hole outside taken away (decision 94).
 *
 * Long edges get vertices along their geodesics, and the rings are judged again. What is so near to a touch that this cannot
 * tell, and what runs over a pole, is left to the judgement in the plane.
 *
 * @param geometry valid in the plane
 * @param maxAdded vertices that may be put along its edges
 * @throws {ProblemError} `invalid-input` that names the place
 * @throws {WorkLimitError} when it takes more than `maxAdded`
 */
export function checkGeodesicRings(
  geometry: FlatGeometry,
  path: readonly (string | number)[],
  kernel: Kernel,
  maxAdded: number,
): void {
  if (isNearlyPlanar(geometry, GEODESIC_BOUND_METERS) || isPlainlySimple(kernel, geometry)) return
  const coarse = judgeDensified(kernel, geometry, GEODESIC_BOUND_METERS, maxAdded)
  if (coarse === undefined) return
  if (isCrossing(kernel, geometry, coarse)) throw crossesAsGeodesics(geometry, path, coarse)
  const fine = judgeDensified(kernel, geometry, GEODESIC_BOUND_METERS / FINER, maxAdded)
  if (fine === undefined || fine.boundMeters >= coarse.boundMeters) return
  const isMisplaced = MISPLACED.has(coarse.reason) && MISPLACED.has(fine.reason)
  if (isMisplaced || isCrossing(kernel, geometry, fine)) throw crossesAsGeodesics(geometry, path, fine)
}

/** A fault of the rings with vertices along their edges, its vertex one of the original. */
type GeodesicFault = Invalidity & { readonly vertex: number; readonly boundMeters: number }

function judgeDensified(
  kernel: Kernel,
  geometry: FlatGeometry,
  boundMeters: number,
  maxAdded: number,
): GeodesicFault | undefined {
  const densified = densify(kernel, geometry, boundMeters, maxAdded)
  if (densified === undefined) return undefined
  const fault = findInvalidity(densified.geometry, poleOf(kernel))
  return fault === undefined ? undefined : onOriginal(densified, fault)
}

function onOriginal({ geometry, sources, boundMeters }: Densified, fault: Invalidity): GeodesicFault {
  const vertex = sources[geometry.sequenceStarts[fault.sequence]! + (fault.vertex ?? 0)]!
  return { ...fault, vertex, boundMeters }
}

/** Whether the edge at fault really crosses another: pieces of edges that meet at a small angle may cross where they do not. */
function isCrossing(kernel: Kernel, geometry: FlatGeometry, fault: GeodesicFault): boolean {
  if (fault.reason !== 'self-intersection') return false
  const vertex = geometry.sequenceStarts[fault.sequence]! + fault.vertex
  return crossesNear(kernel, geometry, vertex, [fault.lon, fault.lat], 4 * fault.boundMeters)
}

function crossesAsGeodesics(
  geometry: FlatGeometry,
  path: readonly (string | number)[],
  fault: GeodesicFault,
): ProblemError {
  return invalidAt(geometry, path, fault, HINT_GEODESIC)
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
      const ring = { ...geometry, sequenceStarts: Uint32Array.of(start, end), partStarts: Uint32Array.of(0, 1) }
      const isSmall = partAreaSquareMeters(kernel, ring, 0) < NOTHING_SQUARE_METERS
      if (!isSmall && partAreaSquareMeters(kernel, geometry, part) >= NOTHING_SQUARE_METERS) continue
      throw noArea([...path, ...placeOf(geometry, sequence)])
    }
  }
}

/** The refusal of a polygon that encloses nothing. */
export function noArea(path: readonly (string | number)[]): ProblemError {
  return problemAt('invalid-input', path, 'the polygon encloses no area on the ground', {
    code: 'no-area',
    hint: HINT_HALF_GLOBE,
  })
}

function hasHalfGlobeEdge(vertices: Float64Array, start: number, end: number): boolean {
  for (let vertex = start + 1; vertex < end; vertex++) {
    if (Math.abs(vertices[2 * vertex]! - vertices[2 * vertex - 2]!) >= 180) return true
  }
  return false
}
