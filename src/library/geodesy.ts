/**
 * `trigpoint/geodesy`: geodesic measures on WGS 84, as the service computes them, but not rounded. Edges are shortest geodesics.
 * Lengths are in metres, areas in square metres, angles in degrees.
 */
import { solveDirect, solveInverse } from '../geodesy/geodesic.ts'
import { GeometryError, type GeometryInput, pointPosition } from './geometry.ts'
import { kernel } from './kernel.ts'
import { measure } from './run.ts'

// biome-ignore lint/performance/noBarrelFile: a module has one entry, which exports everything that callers need
export { GeometryError, type GeometryInput, type Prepared, prepare } from './geometry.ts'

/**
 * Returns the least distance of two geometries, metres. Polygons include their interior, so it is 0 when the geometries meet.
 *
 * @throws {GeometryError} if a geometry is not valid
 */
export function distance(from: GeometryInput, to: GeometryInput): number {
  const [a, b] = [pointPosition(from), pointPosition(to)]
  if (a !== undefined && b !== undefined) return kernel.fastInverse(a[1], a[0], b[1], b[0])
  return measure('distance', [from, to])
}

/** Returns the length of a LineString or MultiLineString, metres. @throws {GeometryError} for another type */
export function length(geometry: GeometryInput): number {
  return measure('length', [geometry])
}

/**
 * Returns the area of a Polygon or MultiPolygon without its holes, square metres. The orientation of rings does not matter.
 *
 * @throws {GeometryError} for another type, a polygon that is not valid, and one without an area
 */
export function area(geometry: GeometryInput): number {
  return measure('area', [geometry])
}

/** Longitude and latitude in degrees; more numbers are ignored. */
export type Position = readonly number[]

/** The shortest geodesic between two positions. */
export interface Course {
  readonly distanceMeters: number
  /** Azimuth at the first position, degrees clockwise from north, −180 to 180. */
  readonly azimuthDegrees: number
  /** Azimuth at the second position, in the direction of travel. */
  readonly arrivalAzimuthDegrees: number
}

/** Returns the course from a position to another. Between antipodes it is one of several. @throws {GeometryError} */
export function inverse(from: Position, to: Position): Course {
  const { meters, azimuth, arrivalAzimuth } = solveInverse(
    kernel,
    requirePosition(from, 'from'),
    requirePosition(to, 'to'),
  )
  return { distanceMeters: meters, azimuthDegrees: azimuth, arrivalAzimuthDegrees: arrivalAzimuth }
}

/** Where a course ends. */
export interface Arrival {
  /** Longitude and latitude in degrees. */
  readonly position: [longitude: number, latitude: number]
  /** Azimuth there, in the direction of travel, degrees. */
  readonly arrivalAzimuthDegrees: number
}

/**
 * Returns the end of a geodesic.
 *
 * @param azimuthDegrees clockwise from north
 * @param distanceMeters a negative one goes backwards
 * @throws {GeometryError} if the position is not one
 * @throws {TypeError} if a number is not finite
 */
export function direct(from: Position, azimuthDegrees: number, distanceMeters: number): Arrival {
  const start = requirePosition(from, 'from')
  if (!Number.isFinite(azimuthDegrees)) throw new TypeError(`azimuthDegrees is ${azimuthDegrees}, not a finite number`)
  if (!Number.isFinite(distanceMeters)) throw new TypeError(`distanceMeters is ${distanceMeters}, not a finite number`)
  const { position, arrivalAzimuth } = solveDirect(kernel, start, azimuthDegrees, distanceMeters)
  return { position, arrivalAzimuthDegrees: arrivalAzimuth }
}

function requirePosition(position: Position, name: string): readonly [number, number] {
  const [longitude, latitude] = Array.isArray(position) ? position : []
  const point = pointPosition({ type: 'Point', coordinates: [longitude, latitude] })
  if (point !== undefined) return point
  const found = JSON.stringify(position) ?? String(position)
  throw new GeometryError(
    `${name}: ${found} is not a position: longitude −180 to 180 and latitude −90 to 90, in degrees`,
    'not-a-position',
    `#/${name}`,
  )
}
