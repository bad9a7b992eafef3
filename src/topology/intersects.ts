import type { FlatGeometry } from '../geometry/flat.ts'
import { ContactSweep } from './contact-sweep.ts'
import { sceneOf } from './lay-geometry.ts'
import { meet } from './meeting.ts'
import type { PoleOf } from './unwrap.ts'

/**
 * Whether a and b share any place, boundaries included, in the plane of lon and lat, whose seam at ±180 is closed and whose
 * poles are one place each.
 *
 * @param a of valid polygons (`findInvalidity`); for invalid ones the answer means nothing
 * @param b likewise
 * @param poleOf asked for rings that wind around the axis
 * @throws {UndecidableError} when it cannot be decided exactly with reasonable effort
 */
export function intersects(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf): boolean {
  const scene = sceneOf(a, b, poleOf)
  if (scene.poles.some(([own, others]) => own !== 'exterior' && others !== 'exterior')) return true
  // An edge that only closes a ring over its pole may lie in a hole around the pole.
  const meeting = meet(scene, (_, own, other) => scene.isReal(own) && scene.isReal(other))
  if (meeting.kind === 'decided') return true
  const places = meeting.kind === 'apart' ? meeting.locate() : undefined
  if (places !== undefined) return places.some(({ depth }) => depth > 0)
  const needed = meeting.needed()
  return !new ContactSweep(scene).isApart(needed)
}
