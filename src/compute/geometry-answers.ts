/** Operations whose answer is a geometry. It is not signed (decision 150); it comes with the reference that it has as an input. */
import { problemAt } from '../base/problem.ts'
import { CM_PER_METER, fromScaledInteger, toScaledInteger } from '../base/units.ts'
import { spendWork } from '../base/work.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { azimuthDegrees } from '../geodesy/azimuth.ts'
import {
  bufferPolygons,
  defaultTolerance,
  MAX_RADIUS_METERS,
  MIN_RADIUS_METERS,
  MIN_TOLERANCE_METERS,
} from '../geodesy/buffer.ts'
import { nearestPlaces, type Place } from '../geodesy/distance.ts'
import type { PreparedDistance } from '../geodesy/prepared-distance.ts'
import { countSteps, solveGeodesic, waypointLines } from '../geodesy/waypoints.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { GeometryLimits } from '../geometry/read.ts'
import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import { repairGeometry } from './repair.ts'

/** What a computation may use. */
interface Context {
  readonly kernel: Kernel
  readonly keccak: Keccak
  readonly limits: GeometryLimits
  readonly counts?: { vertices: number }
  readonly maxAnswerVertices?: number
}

/** What these operations take beside their inputs. */
export interface GeometryParameters {
  /** For `direct`: degrees clockwise from north. */
  readonly azimuthDegrees?: number | undefined
  /** For `direct`. */
  readonly distanceMeters?: number | undefined
  /** For `waypoints`. */
  readonly everyMeters?: number | undefined
  /** For `buffer`, and for `within`. */
  readonly radiusMeters?: number | undefined
  /** For `buffer`: the most that its boundary may leave the circle. */
  readonly toleranceMeters?: number | undefined
}

/** Half of the circumference at the equator, metres. No two places are farther apart (decision 8). */
const MAX_METERS = 20_037_508

/**
 * Returns a parameter of a request.
 *
 * @throws {ProblemError} `invalid-input` if it is not a number in its range. The schema of a request says so too; this is for
 *   computations that come with no request
 */
function requireNumber(
  parameters: GeometryParameters,
  name: keyof GeometryParameters,
  low: number,
  high: number,
  member: string = name,
) {
  const value = parameters[name]
  if (typeof value === 'number' && value >= low && value <= high) return value
  throw problemAt('invalid-input', [member], `must be a number from ${low} to ${high}`, { code: 'out-of-range' })
}

/** Writes a geometry and its reference as members of a response. The text of the geometry is the one that the reference hashes. */
function geometryMembers({ keccak }: Context, geometry: Geometry): string {
  const text = canonicalGeometry(geometry)
  return `"geometry":${text},"ref":"${keccak.hashHex(utf8(text))}"`
}

/**
 * Computes where a geodesic ends.
 *
 * @param from a Point
 * @param parameters with `azimuthDegrees` and `distanceMeters`
 * @returns the members `geometry`, `ref` and `azimuthDegrees`, the direction at the end
 */
export function directMembers(context: Context, from: FlatGeometry, parameters: GeometryParameters): string {
  const { kernel } = context
  const azimuth = requireNumber(parameters, 'azimuthDegrees', -360, 360)
  const meters = requireNumber(parameters, 'distanceMeters', 0, MAX_METERS)
  spendWork(1)
  const latitude = kernel.directDegrees(from.vertices[1]!, from.vertices[0]!, azimuth, meters)
  // Rounding must not move a place to which the way has no length.
  const place: Place = meters === 0 ? pointOf(from) : [kernel.arrivalLon() + 0, latitude + 0]
  const end: Geometry = { type: 'Point', coordinates: [...place] }
  const arrival = azimuthDegrees(kernel, kernel.arrivalSalp2(), kernel.arrivalCalp2())
  return `${geometryMembers(context, end)},"azimuthDegrees":${arrival}`
}

/**
 * Computes places along the shortest geodesic between two Points.
 *
 * @returns the members `geometry`, a LineString, or a MultiLineString if it crosses longitude ±180; `ref`; and `lengthMeters`
 * @throws {ProblemError} `invalid-input` if there would be more vertices than a request may have
 */
export function waypointMembers(
  context: Context,
  from: FlatGeometry,
  to: FlatGeometry,
  parameters: GeometryParameters,
): string {
  const { kernel, counts } = context
  const everyMeters = requireNumber(parameters, 'everyMeters', Number.MIN_VALUE, MAX_METERS)
  const geodesic = solveGeodesic(kernel, pointOf(from), pointOf(to))
  // Two at the ends, and two at a cut.
  const vertices = countSteps(geodesic, everyMeters) + 4
  const most = mostVertices(context)
  if (vertices > most) {
    const least = Math.ceil(geodesic.lengthMeters / (most - 4))
    throw problemAt('invalid-input', ['everyMeters'], `gives more than ${most} vertices`, {
      code: 'too-many-vertices',
      hint: `the line has ${Math.round(geodesic.lengthMeters)} m: send at least ${least}${aloneHint(context)}`,
    })
  }
  if (counts !== undefined) counts.vertices += vertices
  const lines = waypointLines(kernel, geodesic, everyMeters) as [number, number][][]
  const geometry =
    lines.length === 1
      ? { type: 'LineString', coordinates: lines[0]! }
      : { type: 'MultiLineString', coordinates: lines }
  return `${geometryMembers(context, geometry as Geometry)},"lengthMeters":${geodesic.lengthMeters}`
}

/**
 * Computes a polygon around a geodesic circle.
 *
 * @param centre a Point
 * @param parameters with `radiusMeters`; `toleranceMeters` is by default 1/1000 of it
 * @returns the members `geometry`, a Polygon, or a MultiPolygon if it crosses longitude ±180; `ref`; and `errorMeters`
 * @throws {ProblemError} `invalid-input` if it would have more vertices than a request may have
 */
export function bufferMembers(context: Context, centre: FlatGeometry, parameters: GeometryParameters): string {
  const { kernel, counts } = context
  const radius = requireNumber(parameters, 'radiusMeters', MIN_RADIUS_METERS, MAX_RADIUS_METERS, 'radius')
  const tolerance =
    parameters.toleranceMeters === undefined
      ? defaultTolerance(radius)
      : requireNumber(parameters, 'toleranceMeters', MIN_TOLERANCE_METERS, MAX_METERS)
  const most = mostVertices(context)
  const buffer = bufferPolygons(kernel, pointOf(centre), radius, tolerance, most - EXTRA_VERTICES)
  if (buffer === undefined) {
    throw problemAt('invalid-input', ['toleranceMeters'], `${tolerance} m needs more than ${most} vertices`, {
      code: 'too-many-vertices',
      hint: `send at least ${sufficientTolerance(kernel, pointOf(centre), radius, most)}${aloneHint(context)}`,
    })
  }
  const { polygons, errorMeters } = buffer
  if (counts !== undefined) counts.vertices += polygons.flat(2).length
  const rings = polygons as [number, number][][][]
  const geometry =
    rings.length === 1 ? { type: 'Polygon', coordinates: rings[0]! } : { type: 'MultiPolygon', coordinates: rings }
  return `${geometryMembers(context, geometry as Geometry)},"errorMeters":${errorMeters}`
}

/** Vertices of a buffer beside those of its circle: where it is cut, at a pole, or around the world. */
const EXTRA_VERTICES = 8

/** Returns a tolerance, with two digits, for which a buffer has few enough vertices. Their number falls with its square root. */
function sufficientTolerance(kernel: Kernel, centre: Place, radius: number, most: number): number {
  const coarse = radius / 50
  const { polygons } = bufferPolygons(kernel, centre, radius, coarse, Number.POSITIVE_INFINITY)!
  // Halving edges may give up to twice the vertices, which is four times the tolerance.
  const tolerance = 4 * coarse * (polygons.flat(2).length / most) ** 2
  return Number(tolerance.toPrecision(2))
}

/**
 * Finds the places between which `distance` measures.
 *
 * @returns the members `from` and `to`, each with `geometry`, `ref` and, unless the places are one, `azimuthDegrees`: the direction
 *   there of the geodesic from the one to the other; and `distanceMeters`, rounded as the result of `distance`
 */
export function nearestMembers(
  context: Context,
  from: FlatGeometry | PreparedDistance,
  to: FlatGeometry | PreparedDistance,
): string {
  const { kernel } = context
  const { meters, onA, onB } = nearestPlaces(kernel, from, to)
  const { lengthMeters, sine, cosine } = solveGeodesic(kernel, onA, onB)
  const end = [kernel.salp2(), kernel.calp2()] as const
  const write = (place: Place, direction: readonly [number, number]) => {
    const azimuth = lengthMeters === 0 ? '' : `,"azimuthDegrees":${azimuthDegrees(kernel, ...direction)}`
    return `{${geometryMembers(context, { type: 'Point', coordinates: [...place] })}${azimuth}}`
  }
  const rounded = fromScaledInteger(toScaledInteger(meters, CM_PER_METER), CM_PER_METER)
  return `"from":${write(onA, [sine, cosine])},"to":${write(onB, end)},"distanceMeters":${rounded}`
}

/**
 * Makes a geometry valid.
 *
 * @param geometry with closed rings
 * @param openRings sequences that were received open
 * @param operand its path, and the geometry as received ; without it, its vertices are those of `geometry`
 * @returns the members `geometry`, the same one if it was valid; `ref`; `changes`, one by one; `omittedChanges` if there are too many; and
 *   `areaMovedSquareMeters`
 * @throws {ProblemError} `not-repairable` if a polygon has no area, or its repair is not valid; `invalid-input` if it would have more
 *   vertices than a request may have
 */
export function repairMembers(
  context: Context,
  geometry: FlatGeometry,
  openRings: ReadonlySet<number>,
  { path, ...received }: { readonly path: readonly (string | number)[]; readonly geometry?: Geometry },
): string {
  const { kernel, limits, counts } = context
  const repaired = repairGeometry(kernel, geometry, openRings, path, limits)
  const { changes, omittedChanges, areaMovedSquareMeters } = repaired
  const answer = changes.length === 0 ? (received.geometry ?? repaired.geometry) : repaired.geometry
  const vertices = repaired.vertexCount
  const most = mostVertices(context)
  if (vertices > most) {
    throw problemAt('invalid-input', path, `its repair has ${vertices} vertices, more than ${most}`, {
      code: 'too-many-vertices',
      hint: `simplify it or split it over several requests${aloneHint(context)}`,
    })
  }
  if (counts !== undefined) counts.vertices += vertices
  const omitted = omittedChanges === 0 ? '' : `,"omittedChanges":${omittedChanges}`
  return `${geometryMembers(context, answer)},"changes":${JSON.stringify(changes)}${omitted},"areaMovedSquareMeters":${areaMovedSquareMeters}`
}

function mostVertices({ limits, maxAnswerVertices = limits.maxVertices }: Context): number {
  return Math.min(limits.maxVertices, maxAnswerVertices)
}

/** Returns the end of a hint for an answer that is too large for a batch. */
function aloneHint(context: Context): string {
  return mostVertices(context) < context.limits.maxVertices ? ', or send it as a request of its own' : ''
}

function pointOf({ vertices }: FlatGeometry): Place {
  return [vertices[0]!, vertices[1]!]
}
