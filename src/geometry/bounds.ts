import type { Geometry, Position } from '../types/generated.ts'
import type { Bounds } from '../wire/store-messages.ts'

/** West and east in degrees. East is at least west and may exceed 180. */
type Arc = readonly [west: number, east: number]

/** What has been covered so far. */
interface Extent {
  readonly arcs: Arc[]
  south: number
  north: number
}

/**
 * Returns the smallest box of meridians and parallels around a geometry.
 *
 * As in the predicates, edges are straight in longitude and latitude and take the short way when their ends are more than 180°
 * apart (decision 93). The box of several parts leaves out the widest gap between them, so that a geometry that was cut at the
 * antimeridian has the same box as the uncut one. The box of a ring around a pole includes that pole.
 *
 * @param geometry shape and ranges checked, not empty
 * @returns west in −180..180; east exceeds 180 where the box crosses the antimeridian
 */
export function computeBounds(geometry: Geometry): Bounds {
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

/** @returns degrees that the path went east in all */
function addPath(positions: readonly Position[], extent: Extent): number {
  let longitude = positions[0]![0]
  let turns = 0
  let [west, east] = [longitude, longitude]
  for (let index = 0; index < positions.length; index++) {
    const [, latitude] = positions[index]!
    if (index > 0) {
      const [from, to] = [positions[index - 1]!, positions[index]!]
      // Summing the steps would add rounding errors, and a query for a corner of the geometry could miss the geometry.
      turns += Math.round((stepEast(from, to) - (to[0] - from[0])) / 360)
      longitude = to[0] + 360 * turns
    }
    west = Math.min(west, longitude)
    east = Math.max(east, longitude)
    extent.south = Math.min(extent.south, latitude)
    extent.north = Math.max(extent.north, latitude)
  }
  // Longitudes that did not have to be unwrapped keep their exact values.
  if (east - west >= 360) extent.arcs.push([-180, 180])
  else if (west < -180) extent.arcs.push([west + 360, east + 360])
  else extent.arcs.push([west, east])
  return longitude - positions[0]![0]
}

function addRing(ring: readonly Position[], extent: Extent): void {
  const windingDegrees = addPath(ring, extent)
  // A ring comes back to where it began, goes once around a pole, or is the whole world.
  if (Math.abs(windingDegrees) < 180) return
  extent.arcs.push([-180, 180])
  let northward = 0
  for (let index = 1; index < ring.length; index++) {
    const [from, to] = [ring[index - 1]!, ring[index]!]
    northward += Math.abs(stepEast(from, to)) * (Math.sin(radians(from[1])) + Math.sin(radians(to[1])))
  }
  // The smaller of its two sides is the interior (decision 92).
  if (northward >= 0) extent.north = 90
  else extent.south = -90
}

/**
 * Returns the degrees from one position to the next, the short way unless the step runs along a pole or once around the world.
 */
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
  // The gap around the antimeridian comes last and is preferred, because the box then does not cross the antimeridian.
  const last = first[0] + 360 - reach
  if (last >= widest) return last <= 0 ? [-180, 180] : [first[0], reach]
  return end - start >= 360 ? [-180, 180] : [start, end]
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}
