/** Edges as maps draw them: along geodesics of the kernel, or straight in longitude and latitude. Longitudes run on past ±180. */
import type { Geometry, Position } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { type LonLat, near, sequencesOf, wrapped } from './shape.ts'

/** How an operation reads an edge. */
export type Reading = 'geodesic' | 'planar'

/** Pieces are about so long; more of them than this in one edge nobody sees. */
const PIECE_METERS = 60_000
const MAX_PIECES = 160
/** In all of a drawing: a geometry of many vertices has short edges anyway. */
const MAX_DENSIFIED_VERTICES = 2000

/** Degrees of a piece of a planar edge: straight in longitude and latitude is not straight on a map of Mercator. */
const PIECE_DEGREES = 2

/** Vertices along a sequence, the first longitude as it is, each next one within half a turn of the last. */
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

/** Places along a geodesic, without its ends. */
function* alongGeodesic(from: LonLat, to: LonLat, kernel: Kernel): Generator<LonLat> {
  const meters = kernel.inverse(from[1], from[0], to[1], to[0])
  const [sine, cosine] = [kernel.salp1(), kernel.calp1()]
  const pieces = Math.min(MAX_PIECES, Math.ceil(meters / PIECE_METERS))
  for (let piece = 1; piece < pieces; piece++) {
    const latitude = kernel.direct(from[1], from[0], sine, cosine, (meters * piece) / pieces)
    yield [kernel.arrivalLon(), latitude]
  }
}

/** Places along the straight line in longitude and latitude, the short way around, without its ends. */
function* alongPlane(from: LonLat, to: LonLat): Generator<LonLat> {
  const [east, north] = [near(to[0], from[0]) - from[0], to[1] - from[1]]
  // Along a meridian or a parallel the map draws it straight as well.
  const pieces =
    east === 0 || north === 0 ? 1 : Math.min(MAX_PIECES, Math.ceil(Math.hypot(east, north) / PIECE_DEGREES))
  for (let piece = 1; piece < pieces; piece++)
    yield [from[0] + (east * piece) / pieces, from[1] + (north * piece) / pieces]
}

/** Metres of the geodesic between two places. */
export function metersBetween(kernel: Kernel, from: LonLat, to: LonLat): number {
  return kernel.inverse(from[1], from[0], to[1], to[0])
}

/** A circle on the ellipsoid as a ring of so many places, the last equal to the first; longitudes within ±180. */
export function circleAround(
  kernel: Kernel,
  [longitude, latitude]: LonLat,
  radiusMeters: number,
  places = 64,
): LonLat[] {
  const ring: LonLat[] = []
  for (let place = 0; place < places; place++) {
    const azimuth = (2 * Math.PI * place) / places
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

/** Lines and areas of a geometry in one reading. */
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
    // Holes on the same turn of the globe as their shell.
    const placed = holes.map((hole) => {
      const turn = near(hole[0]![0], first[0]) - hole[0]![0]
      return hole.map(([longitude, latitude]): LonLat => [longitude + turn, latitude])
    })
    drawn.unshift(feature('Polygon', [closed(shell), ...placed.map(closed)], 'area'))
  }
  return drawn
}

/** A ring around a pole does not close by itself: it goes over the nearer one. */
function closed(ring: readonly LonLat[]): readonly LonLat[] {
  const [first, last] = [ring[0]!, ring.at(-1)!]
  if (Math.abs(last[0] - first[0]) < 180) return ring
  const mean = ring.reduce((sum, [, latitude]) => sum + latitude, 0) / ring.length
  const pole = mean < 0 ? -90 : 90
  return [...ring, [last[0], pole], [first[0], pole], first]
}
