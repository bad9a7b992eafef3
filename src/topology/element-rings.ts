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
      rings.push({ unwrapped, role, isHole: sequence > exterior })
    }
  }
  const planar = !hasLongitudeJump(geometry, firstPart, elementStarts[element + 1]!)
  const scene = new Scene(
    rings.reduce((sum, { unwrapped }) => sum + unwrapped.lon.length, 0),
    planar,
  )
  for (const { unwrapped, role, isHole } of rings) {
    const first = scene.positions.count
    scene.addRing(unwrapped, role, isHole, 0)
    if (!hasInside(scene, first)) {
      const { sequence } = role
      return { reason: 'ring without an inside', lon: unwrapped.lon[0]!, lat: unwrapped.lat[0]!, sequence, vertex: 0 }
    }
  }
  return { scene, rings, exteriors }
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
