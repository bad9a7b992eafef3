import type { FlatGeometry } from '../geometry/flat.ts'
import { type Extent, extentOfRing, NO_EXTENT, shifted, turnsToward, union } from './extent.ts'
import { LineBoundary } from './line-boundary.ts'
import type { Location } from './point-in-ring.ts'
import { type PolygonRing, poleLocation } from './pole-location.ts'
import type { Role, Scene } from './scene.ts'
import { type PoleOf, turnOfEdge, type UnwrappedRing, unwrapRing } from './unwrap.ts'

/** A ring, an edge of a line or a point, which may be laid in any number of copies. */
interface Item {
  readonly role: Role
  readonly extent: Extent
  /** Longest way in longitude of one of its edges, degrees. */
  readonly reach: number
  readonly segments: number
  lay(turns: number): void
}

/**
 * Lays both geometries on the unrolled cylinder, where cut and uncut forms of one shape cover the same places.
 *
 * A pole is one place, at all longitudes, and judged apart: points and edges of lines that stand on one are not laid.
 *
 * All of b stands there once, gathered within one turn as far as it goes: the scene's window. Rings of both come in all
 * copies, shifted by whole turns, that come near the window by the longest edge, so that the depths of every edge in it are
 * complete; lines and points of a in all copies that come near it. Edges of lines need no continuity and stand one by one.
 *
 * @throws {UndecidableError} when that takes too many copies
 */
export function layOnCylinder(scene: Scene, a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf): void {
  const { items: own, rings: ownRings } = itemsOf(scene, a, 0, poleOf)
  const { items: others, rings: otherRings } = itemsOf(scene, b, 1, poleOf)
  scene.poles = ([1, -1] as const).map(
    (pole) => [locatePole(pole, a, ownRings), locatePole(pole, b, otherRings)] as const,
  )
  if (others.length === 0) return
  const west = others[0]!.extent.west
  const homes = others.map(({ extent }) => -Math.floor((extent.west - west) / 360))
  let window = NO_EXTENT
  others.forEach(({ extent, lay }, i) => {
    window = union(window, shifted(extent, homes[i]!))
    lay(homes[i]!)
  })
  let reach = 0
  for (const item of own) reach = Math.max(reach, item.reach)
  for (const item of others) reach = Math.max(reach, item.reach)
  const around = { west: window.west - reach, east: window.east + reach }
  for (const { role, extent, segments, lay } of own) {
    const [first, last] = turnsToward(scene, extent, role.dimension === 2 ? around : window, segments)
    for (let turns = first; turns <= last; turns++) lay(turns)
  }
  others.forEach(({ role, extent, segments, lay }, i) => {
    if (role.dimension !== 2) return
    const [first, last] = turnsToward(scene, extent, around, segments)
    for (let turns = first; turns <= last; turns++) if (turns !== homes[i]) lay(turns)
  })
  scene.window = window
}

/** Where a pole lies to a geometry: to its polygons, where they cover it, else to its lines, else to its points. */
function locatePole(pole: 1 | -1, geometry: FlatGeometry, rings: readonly PolygonRing[]): Location {
  const toPolygons = poleLocation(pole, rings)
  if (toPolygons !== 'exterior') return toPolygons
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  let isMet = false
  let isOnLine = false
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] === 2) continue
    const sequence = partStarts[part]!
    for (let vertex = sequenceStarts[sequence]!; vertex < sequenceStarts[sequence + 1]!; vertex++) {
      if (vertices[2 * vertex + 1] !== 90 * pole) continue
      isMet = true
      if (partDimensions[part] === 1) isOnLine = true
    }
  }
  if (!isMet) return 'exterior'
  return isOnLine && new LineBoundary(geometry, false).hasPlace(0, 90 * pole) ? 'boundary' : 'interior'
}

interface Items {
  readonly items: Item[]
  readonly rings: PolygonRing[]
}

function itemsOf(scene: Scene, geometry: FlatGeometry, operand: 0 | 1, poleOf: PoleOf): Items {
  const { vertices, sequenceStarts, partStarts, partDimensions } = geometry
  const items: Item[] = []
  const rings: PolygonRing[] = []
  for (let part = 0; part < partDimensions.length; part++) {
    const dimension = partDimensions[part]!
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const sent = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      const role = { operand, dimension, step0: 1 - operand, step1: operand, sequence }
      if (dimension < 2) addLine(items, scene, sent, { ...role, step0: 0, step1: 0 })
      else {
        const ring = { unwrapped: unwrapRing(sent, poleOf), isHole: sequence > partStarts[part]! }
        rings.push(ring)
        items.push(ringItem(scene, ring.unwrapped, role, ring.isHole))
      }
    }
  }
  return { items, rings }
}

function ringItem(scene: Scene, ring: UnwrappedRing, role: Role, isHole: boolean): Item {
  const { lon, turn } = ring
  let reach = 0
  for (let i = 1; i < lon.length; i++) {
    reach = Math.max(reach, Math.abs(lon[i]! - lon[i - 1]! + 360 * (turn[i]! - turn[i - 1]!)))
  }
  const lay = (turns: number): void => scene.addRing(ring, role, isHole, turns)
  return { role, extent: extentOfRing(ring), reach, segments: lon.length, lay }
}

/** Every edge by itself; a line of no length, and a point, as a point. */
function addLine(items: Item[], scene: Scene, sent: Float64Array, role: Role): void {
  const { positions } = scene
  const before = items.length
  for (let i = 2; i < sent.length; i += 2) {
    const [lon1, lat1, lon2, lat2] = [sent[i - 2]!, sent[i - 1]!, sent[i]!, sent[i + 1]!]
    const turn = turnOfEdge(lon1, lat1, lon2, lat2)
    const x = lon2 + 360 * turn
    // Also an edge between the two names of one meridian has no length: 180 and −180 + 360 are equal without rounding.
    if (lat1 === lat2 && (lon1 === x || Math.abs(lat1) === 90)) continue
    const lay = (turns: number): void => {
      const from = positions.add(lon1, lat1, turns)
      scene.addSegment(from, positions.add(lon2, lat2, turn + turns), { ...role, dimension: 1 }, 0, i / 2 - 1, turns)
    }
    const extent = { west: Math.min(lon1, x), east: Math.max(lon1, x) }
    items.push({ role: { ...role, dimension: 1 }, extent, reach: Math.abs(x - lon1), segments: 1, lay })
  }
  if (items.length > before || Math.abs(sent[1]!) === 90) return
  const point = { ...role, dimension: 0 }
  const lay = (turns: number): void => {
    scene.addPoint(sent[0]!, sent[1]!, turns, point, 0, turns)
  }
  items.push({ role: point, extent: { west: sent[0]!, east: sent[0]! }, reach: 0, segments: 1, lay })
}
