import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { ContactSweep } from './contact-sweep.ts'
import { intersectsInPlane, type Touches } from './in-plane.ts'
import { sceneOf } from './lay-geometry.ts'
import { meet, neededOfTouches } from './meeting.ts'
import { geometryOf, type Topology } from './prepared.ts'
import type { PoleOf } from './unwrap.ts'

/**
 * Whether a and b share any place, boundaries included, in the plane of lon and lat, whose seam at ±180 is closed and whose
 * poles are one place each.
 *
 * @param a of valid polygons (`findInvalidity`), as sent or prepared; for invalid ones the answer means nothing
 * @param b likewise
 * @param poleOf asked for rings that wind around the axis
 * @param kernel passes over large geometries faster; the answer is the same without it
 * @throws {UndecidableError} when it cannot be decided exactly with reasonable effort
 */
export function intersects(a: Topology, b: Topology, poleOf: PoleOf, kernel?: Kernel): boolean {
  const inPlane = intersectsInPlane(a, b, kernel)
  if (typeof inPlane === 'boolean') return inPlane
  return intersectsBySweep(geometryOf(a), geometryOf(b), poleOf, inPlane)
}

/** @param touches known in the plane; undefined on the cylinder */
function intersectsBySweep(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf, touches: Touches | undefined): boolean {
  const scene = sceneOf(a, b, poleOf)
  if (touches !== undefined) return !new ContactSweep(scene).isApart(neededOfTouches(scene, [a, b], touches))
  if (scene.poles.some(([own, others]) => own !== 'exterior' && others !== 'exterior')) return true
  // An edge that only closes a ring over its pole may lie in a hole around the pole.
  const meeting = meet(scene, (_, own, other) => scene.isReal(own) && scene.isReal(other))
  if (meeting.kind === 'decided') return true
  const places = meeting.kind === 'apart' ? meeting.locate() : undefined
  if (places !== undefined) return places.some(({ depth }) => depth > 0)
  const needed = meeting.needed()
  return !new ContactSweep(scene).isApart(needed)
}
