import type { Bounds } from '../store-messages.ts'
import type { Geometry, Position } from '../types/generated.ts'

/** West and east in degrees, east not below west and perhaps past 180. */
type Arc = readonly [west: number, east: number]

/** What a geometry covers while it is looked at. */
interface Extent {
  readonly arcs: Arc[]
  south: number
  north: number
}

/**
 * The smallest box of meridians and parallels around a geometry.
 *
 * Edges are straight in longitude and latitude and go the short way around when their ends are more than 180° apart, as in the
 * predicates (decision 93). Of several parts the box is the one that leaves out the widest gap between them, so that a geometry
 * cut at the antimeridian has the same box as the uncut one. A ring around a pole takes in that pole.
 *
 * @param geometry shape and ranges checked, not empty
 * @returns west in −180..180; east goes past 180 where the box crosses the antimeridian
 */
export function boundsOf(geometry: Geometry): Bounds {
  const extent: Extent = { arcs: [], south: 90, north: -90 }
  addGeometry(geometry, extent)
  const [west, east] = smallestCover(extent.arcs)
  return [west, extent.south, east, extent.north]
}

function addGeometry(geometry: Geometry, extent: Extent): void {
  switch (geometry.type) {
    case 'Point':
      addPath([geometry.coordinates], extent)
      break
    case 'MultiPoint':
      for (const position of geometry.coordinates) addPath([position], extent)
      break
    case 'LineString':
      addPath(geometry.coordinates, extent)
      break
    case 'MultiLineString':
      for (const line of geometry.coordinates) addPath(line, extent)
      break
    case 'Polygon':
      addRing(geometry.coordinates[0]!, extent)
      break
    case 'MultiPolygon':
      for (const rings of geometry.coordinates) addRing(rings[0]!, extent)
      break
    case 'GeometryCollection':
      for (const member of geometry.geometries) addGeometry(member, extent)
  }
}

/** @returns how far the path went east in all, degrees */
function addPath(positions: readonly Position[], extent: Extent): number {
  let at = positions[0]![0]
  let turns = 0
  let [west, east] = [at, at]
  for (let index = 0; index < positions.length; index++) {
    const [, latitude] = positions[index]!
    if (index > 0) {
      const [from, to] = [positions[index - 1]!, positions[index]!]
      // A sum of steps would miss the positions by its roundings, and a box that misses its corner is not found by it.
      turns += Math.round((stepEast(from, to) - (to[0] - from[0])) / 360)
      at = to[0] + 360 * turns
    }
    west = Math.min(west, at)
    east = Math.max(east, at)
    extent.south = Math.min(extent.south, latitude)
    extent.north = Math.max(extent.north, latitude)
  }
  // Longitudes that were never unwrapped stay the numbers they were.
  if (east - west >= 360) extent.arcs.push([-180, 180])
  else if (west < -180) extent.arcs.push([west + 360, east + 360])
  else extent.arcs.push([west, east])
  return at - positions[0]![0]
}

function addRing(ring: readonly Position[], extent: Extent): void {
  const turned = addPath(ring, extent)
  // Either it comes back to where it began, or it goes once around a pole, or it is the whole world.
  if (Math.abs(turned) < 180) return
  extent.arcs.push([-180, 180])
  let northward = 0
  for (let index = 1; index < ring.length; index++) {
    const [from, to] = [ring[index - 1]!, ring[index]!]
    northward += Math.abs(stepEast(from, to)) * (Math.sin(radians(from[1])) + Math.sin(radians(to[1])))
  }
  // The smaller of its two sides is its inside (decision 92).
  if (northward >= 0) extent.north = 90
  else extent.south = -90
}

/** Degrees from one position to the next, the short way unless it is a walk on a pole or once around the world. */
function stepEast([fromLongitude, fromLatitude]: Position, [toLongitude, toLatitude]: Position): number {
  const step = toLongitude - fromLongitude
  const isPolar = fromLatitude === toLatitude && Math.abs(fromLatitude) === 90
  if (isPolar || Math.abs(step) <= 180 || Math.abs(step) === 360) return step
  return step > 0 ? step - 360 : step + 360
}

function smallestCover(arcs: readonly Arc[]): Arc {
  if (arcs.length === 1) return arcs[0]!
  const sorted = [...arcs].sort((a, b) => a[0] - b[0])
  const first = sorted[0]!
  let reach = first[1]
  let widest = 0
  let start = first[0]
  let end = reach
  for (const [west, east] of sorted) {
    if (west - reach > widest) {
      widest = west - reach
      start = west
      end = reach + 360
    }
    reach = Math.max(reach, east)
  }
  // The gap around the antimeridian comes last, and is preferred: then the box does not cross it.
  const last = first[0] + 360 - reach
  if (last >= widest) return last <= 0 ? [-180, 180] : [first[0], reach]
  return end - start >= 360 ? [-180, 180] : [start, end]
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}
