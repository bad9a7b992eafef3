import type { Geometry, Position } from '../types/generated.ts'
import type { Bounds } from '../wire/store-messages.ts'
import { edgeTurn, ringEdgeTurn } from './edge-turn.ts'
import type { PoleResolver } from './pole-resolver.ts'
import { hasWholeTurn, ringForm } from './whole-parallels.ts'

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
 * antimeridian has the same box as the uncut one. The box of a ring around the axis includes the pole that the ring encloses.
 *
 * @param geometry shape and ranges checked, not empty
 * @param resolvePole called only for rings around the axis without a vertex at a pole
 * @returns west in −180..180; east exceeds 180 where the box crosses the antimeridian
 */
export function computeBounds(geometry: Geometry, resolvePole: PoleResolver): Bounds {
  const extent: Extent = { arcs: [], south: 90, north: -90 }
  addGeometry(geometry, extent, resolvePole)
  const [west, east] = smallestCover(extent.arcs)
  return [west, extent.south, east, extent.north]
}

function addGeometry(geometry: Geometry, extent: Extent, resolvePole: PoleResolver): void {
  switch (geometry.type) {
    case 'Point':
      addLine([geometry.coordinates], extent)
      break
    case 'MultiPoint':
      for (const position of geometry.coordinates) addLine([position], extent)
      break
    case 'LineString':
      addLine(geometry.coordinates, extent)
      break
    case 'MultiLineString':
      for (const line of geometry.coordinates) addLine(line, extent)
      break
    case 'Polygon':
      addRing(geometry.coordinates[0]!, extent, resolvePole)
      break
    case 'MultiPolygon':
      for (const rings of geometry.coordinates) addRing(rings[0]!, extent, resolvePole)
      break
    case 'GeometryCollection':
      for (const member of geometry.geometries) addGeometry(member, extent, resolvePole)
  }
}

function addLine(positions: readonly Position[], extent: Extent): void {
  addPath(positions, extent, (index) => {
    const [[lon1, lat1], [lon2, lat2]] = [positions[index]!, positions[index + 1]!]
    return edgeTurn(lon1, lat1, lon2, lat2)
  })
}

/**
 * @param turnOfEdge takes the index of the position at which an edge starts
 * @returns how often the path goes around the axis, east-going positive
 */
function addPath(positions: readonly Position[], extent: Extent, turnOfEdge: (index: number) => number): number {
  let turns = 0
  let [west, east] = [positions[0]![0], positions[0]![0]]
  for (const [index, [lon, latitude]] of positions.entries()) {
    if (index > 0) turns += turnOfEdge(index - 1)
    // Summing differences would add rounding errors, and a query for a corner of the geometry could miss the geometry.
    const longitude = lon + 360 * turns
    west = Math.min(west, longitude)
    east = Math.max(east, longitude)
    extent.south = Math.min(extent.south, latitude)
    extent.north = Math.max(extent.north, latitude)
  }
  // Longitudes that did not have to be unwrapped keep their exact values.
  if (east - west >= 360) extent.arcs.push([-180, 180])
  else if (west < -180) extent.arcs.push([west + 360, east + 360])
  else extent.arcs.push([west, east])
  return turns
}

function addRing(ring: readonly Position[], extent: Extent, resolvePole: PoleResolver): void {
  const vertices = new Float64Array(2 * ring.length)
  for (const [index, [longitude, latitude]] of ring.entries()) vertices.set([longitude, latitude], 2 * index)
  const winding = addPath(ring, extent, (index) => ringEdgeTurn(vertices, 0, ring.length, index))
  if (winding === 0) return
  extent.arcs.push([-180, 180])
  // A ring with a vertex at a pole encloses that pole, and the box has reached it.
  if (ring.some(([, latitude]) => Math.abs(latitude) === 90)) return
  // An invalid ring, whose interior is not defined: it mixes whole parallels with edges that cross the antimeridian.
  const isMixed = hasWholeTurn(vertices, 0, ring.length) && ringForm(vertices, 0, ring.length).kind !== 'ordinary'
  const pole = isMixed ? undefined : resolvePole(vertices)
  if (pole !== -1) extent.north = 90
  if (pole !== 1) extent.south = -90
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
