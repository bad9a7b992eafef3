import type { FlatGeometry } from '../geometry/flat.ts'
import { extentOf, extentOfRing, turnsToward } from './extent.ts'
import type { Invalidity } from './invalidity.ts'
import { type Role, Scene } from './scene.ts'
import { hasLongitudeJump, type PoleOf, type UnwrappedRing, unwrapRing } from './unwrap.ts'

/** A ring of an element on its way into a scene. */
export interface ElementRing {
  readonly unwrapped: UnwrappedRing
  /** Depth 0 counts polygons, depth 1 adds up their keys: a place of a valid element has (0, 0) or (1, some key). */
  readonly role: Role
  readonly isHole: boolean
}

/** The rings of one element, laid in a scene. */
export interface ElementRings {
  readonly scene: Scene
  readonly rings: readonly ElementRing[]
  /** Sequence of the exterior ring by key: the number of the part within the element, from 1. */
  readonly exteriors: readonly number[]
  /** By pole, the rings that have a vertex there: it is one place, so there they touch. */
  readonly atPoles: readonly (readonly ElementRing[])[]
}

/**
 * @param element index of a Polygon or MultiPolygon
 * @returns its rings, or the fault of one that encloses nothing or winds too often
 * @throws {UndecidableError} when it winds around the axis so often that judging it would cost too much
 */
export function layElement(geometry: FlatGeometry, element: number, poleOf: PoleOf): ElementRings | Invalidity {
  const { vertices, sequenceStarts, partStarts, elementStarts } = geometry
  const rings: ElementRing[] = []
  const exteriors: number[] = [-1]
  const atPoles: ElementRing[][] = [[], []]
  const firstPart = elementStarts[element]!
  for (let part = firstPart; part < elementStarts[element + 1]!; part++) {
    const exterior = partStarts[part]!
    exteriors.push(exterior)
    for (let sequence = exterior; sequence < partStarts[part + 1]!; sequence++) {
      const sent = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
      const role = { operand: 0, dimension: 2, step0: 1, step1: part - firstPart + 1, sequence }
      const unwrapped = unwrapRing(sent, poleOf)
      if (Math.abs(unwrapped.winding) > 1) {
        const reason = 'ring around the axis more than once'
        return { reason, lon: sent[0]!, lat: sent[1]!, sequence, vertex: 0 }
      }
      if (!unwrapped.isClear) {
        const reason = 'inside not defined by edges along the poles'
        return { reason, lon: sent[0]!, lat: sent[1]!, sequence, vertex: 0 }
      }
      const ring = { unwrapped, role, isHole: sequence > exterior }
      rings.push(ring)
      for (const [index, lat] of [90, -90].entries()) {
        const visits = visitsTo(sent, lat)
        if (visits.length > 1) {
          const vertex = visits[1]!
          return { reason: 'self-touch', lon: sent[2 * vertex]!, lat, sequence, vertex }
        }
        if (visits.length === 1) atPoles[index]!.push(ring)
      }
    }
  }
  const planar = !hasLongitudeJump(geometry, firstPart, elementStarts[element + 1]!)
  const scene = new Scene(
    rings.reduce((sum, { unwrapped }) => sum + unwrapped.lon.length, 0),
    planar,
  )
  let worlds = 0
  for (const { unwrapped, role, isHole } of rings) {
    const [first, firstSegment] = [scene.positions.count, scene.count]
    scene.addRing(unwrapped, role, isHole, 0)
    // A ring without any boundary is the whole world, and two of them have no edges by which a sweep could find the fault.
    if (hasNoBoundary(scene, firstSegment) && ++worlds > 1) {
      const reason = isHole ? 'hole outside its exterior ring' : 'overlapping polygons'
      return { reason, lon: unwrapped.lon[0]!, lat: unwrapped.lat[0]!, sequence: role.sequence, vertex: 0 }
    }
    if (!hasInside(scene, first)) {
      const { sequence } = role
      return { reason: 'ring without an inside', lon: unwrapped.lon[0]!, lat: unwrapped.lat[0]!, sequence, vertex: 0 }
    }
  }
  return { scene, rings, exteriors, atPoles }
}

/** Whether no edge from one segment on, those of a ring, is a boundary: all run along poles or have the inside on both sides. */
function hasNoBoundary(scene: Scene, first: number): boolean {
  for (let s = first; s < scene.count; s++) if (scene.isReal(s)) return false
  return scene.count > first
}

/** First vertices of the stretches in which a ring stands at a latitude, without the one that only goes on from its start. */
function visitsTo(ring: Float64Array, lat: number): number[] {
  const visits: number[] = []
  for (let i = 2; i < ring.length; i += 2) {
    if (ring[i + 1] === lat && ring[i - 1] !== lat) visits.push(i / 2)
  }
  // A stretch that begins at the first vertex was entered at the end, where the ring closes, or it is all there is.
  return visits
}

/** Copies shifted by whole turns, wherever they come near: what is wrong on the cylinder shows around the originals. */
export function addCopies({ scene, rings }: ElementRings): void {
  const extent = extentOf(scene.positions)
  for (const { unwrapped, role, isHole } of rings) {
    const [first, last] = turnsToward(scene, extentOfRing(unwrapped), extent, unwrapped.lon.length)
    for (let copy = first; copy <= last; copy++) if (copy !== 0) scene.addRing(unwrapped, role, isHole, copy)
  }
}

/** Whether the positions of a scene from one on, a ring, lie on more than one line. */
function hasInside({ positions }: Scene, first: number): boolean {
  let second = first
  for (let i = first; i < positions.count; i++) {
    if (second === first) {
      if (positions.compare(first, i) !== 0) second = i
    } else if (positions.orientation(first, second, i) !== 0) return true
  }
  return false
}
