/** Edges for the map, as geodesics or planar edges. Longitudes continue past ±180, so that no line breaks at the antimeridian. */
import type { Geometry, Position } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { type LonLat, near, sequencesOf, wrapped } from './shape.ts'

/** How an operation reads an edge. */
export type Reading = 'geodesic' | 'planar'

/** Geodesic edges are drawn in pieces of about this length; more than `MAX_PIECES` in one edge would not be visible. */
const PIECE_METERS = 60_000
const MAX_PIECES = 160
/** Sequences with more vertices are drawn without extra ones, because their edges are short anyway. */
const MAX_DENSIFIED_VERTICES = 2000

/** Length of one piece of a planar edge, in degrees. A planar edge is curved on a Mercator map, so it needs pieces too. */
const PIECE_DEGREES = 2

/** Returns the vertices along a sequence. The first longitude stays as it is; each next one is within 180° of the one before. */
export function along(kernel: Kernel, positions: readonly Position[], reading: Reading): LonLat[] {
  const isDensified = positions.length <= MAX_DENSIFIED_VERTICES
  const between = reading === 'geodesic' ? alongGeodesic : alongPlane
  const line: LonLat[] = []
  let last = positions[0]?.[0] ?? 0
  const put = (longitude: number, latitude: number) => {
    last = near(longitude, last)
    line.push([last, latitude])
  }
  for (const [index, position] of positions.entries()) {
    const before = positions[index - 1]
    if (before !== undefined && isDensified) {
      for (const [longitude, latitude] of between([before[0], before[1]], [position[0], position[1]], kernel))
        put(longitude, latitude)
    }
    put(position[0], position[1])
  }
  return line
}

/** Yields positions along a geodesic, without its ends. */
function* alongGeodesic(from: LonLat, to: LonLat, kernel: Kernel): Generator<LonLat> {
  const meters = kernel.inverse(from[1], from[0], to[1], to[0])
  const [sine, cosine] = [kernel.salp1(), kernel.calp1()]
  const pieces = Math.min(MAX_PIECES, Math.ceil(meters / PIECE_METERS))
  for (let piece = 1; piece < pieces; piece++) {
    const latitude = kernel.direct(from[1], from[0], sine, cosine, (meters * piece) / pieces)
    yield [kernel.arrivalLon(), latitude]
  }
}

/** Yields positions along a planar edge, in the shorter direction around the globe, without its ends. */
function* alongPlane(from: LonLat, to: LonLat): Generator<LonLat> {
  const [east, north] = [near(to[0], from[0]) - from[0], to[1] - from[1]]
  // Along a meridian or a parallel the edge is straight on the map too.
  const pieces =
    east === 0 || north === 0 ? 1 : Math.min(MAX_PIECES, Math.ceil(Math.hypot(east, north) / PIECE_DEGREES))
  for (let piece = 1; piece < pieces; piece++)
    yield [from[0] + (east * piece) / pieces, from[1] + (north * piece) / pieces]
}

/** Returns the length of the geodesic between two positions, in metres. */
export function metersBetween(kernel: Kernel, from: LonLat, to: LonLat): number {
  return kernel.inverse(from[1], from[0], to[1], to[0])
}

/** Returns a circle on the ellipsoid as a closed ring of `count` different positions, with longitudes within ±180. */
export function circleAround(
  kernel: Kernel,
  [longitude, latitude]: LonLat,
  radiusMeters: number,
  count = 64,
): LonLat[] {
  const ring: LonLat[] = []
  for (let index = 0; index < count; index++) {
    const azimuth = (2 * Math.PI * index) / count
    const arrived = kernel.direct(latitude, longitude, Math.sin(azimuth), Math.cos(azimuth), radiusMeters)
    ring.push([wrapped(kernel.arrivalLon()), arrived])
  }
  return [...ring, ring[0]!]
}

export type DrawnFeature = {
  readonly type: 'Feature'
  readonly properties: Readonly<Record<string, string | number | boolean>>
  readonly geometry: { readonly type: string; readonly coordinates: unknown }
}

/** Returns the points, lines and areas of a geometry, with edges in one reading. */
export function drawnFeatures(
  kernel: Kernel,
  geometry: Geometry,
  reading: Reading,
  properties: DrawnFeature['properties'],
): DrawnFeature[] {
  if (geometry.type === 'GeometryCollection') {
    return geometry.geometries.flatMap((member) => drawnFeatures(kernel, member, reading, properties))
  }
  const feature = (type: string, coordinates: unknown, part: string): DrawnFeature => ({
    type: 'Feature',
    properties: { ...properties, part },
    geometry: { type, coordinates },
  })
  const sequences = sequencesOf(geometry)
  const lines = sequences.map(({ positions }) => along(kernel, positions, reading))
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') {
    return lines.map(([position]) => feature('Point', position, 'point'))
  }
  const drawn = lines.map((line) => feature('LineString', line, 'edge'))
  if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return drawn
  const counts = geometry.type === 'Polygon' ? [lines.length] : geometry.coordinates.map((rings) => rings.length)
  let start = 0
  for (const count of counts) {
    const [shell, ...holes] = lines.slice(start, start + count)
    start += count
    if (shell === undefined) continue
    const first = shell[0]!
    // Shifts holes by a multiple of 360° so that they lie inside the unwrapped exterior ring.
    const placed = holes.map((hole) => {
      const shiftDegrees = near(hole[0]![0], first[0]) - hole[0]![0]
      return hole.map(([longitude, latitude]): LonLat => [longitude + shiftDegrees, latitude])
    })
    drawn.unshift(feature('Polygon', [closed(shell), ...placed.map(closed)], 'area'))
  }
  return drawn
}

/** Closes a ring. The ends of an unwrapped ring around a pole are 360° apart, so it is closed over the nearer pole. */
function closed(ring: readonly LonLat[]): readonly LonLat[] {
  const [first, last] = [ring[0]!, ring.at(-1)!]
  if (Math.abs(last[0] - first[0]) < 180) return ring
  const mean = ring.reduce((sum, [, latitude]) => sum + latitude, 0) / ring.length
  const pole = mean < 0 ? -90 : 90
  return [...ring, [last[0], pole], [first[0], pole], first]
}
