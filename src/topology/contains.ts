import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { CoverSweep } from './cover-sweep.ts'
import { containsInPlane, type Touches } from './in-plane.ts'
import { sceneOf } from './lay-geometry.ts'
import { LineBoundary } from './line-boundary.ts'
import { type Meeting, meet, neededOfTouches } from './meeting.ts'
import { geometryOf, preparedOf, type Topology } from './prepared.ts'
import type { Scene } from './scene.ts'
import type { PoleOf } from './unwrap.ts'

/**
 * Whether a contains b, in the plane of lon and lat, with the seam at ±180 closed and each pole one place: nothing of b lies
 * outside a, and their interiors meet. So what lies only on a's boundary is not contained. The elements of a collection count as their union: polygons before lines before points,
 * shared edges inside the union are interior; lines have the boundary of the mod-2 rule.
 *
 * @param a of valid polygons (`findInvalidity`), as sent or prepared; for invalid ones the answer means nothing
 * @param b likewise
 * @param poleOf asked for rings that wind around the axis
 * @param kernel passes over large geometries faster; the answer is the same without it
 * @throws {UndecidableError} when it cannot be decided exactly with reasonable effort
 * @see OGC 06-103r4, 6.1.15; JTS RelateNG for the union of collections
 */
export function contains(a: Topology, b: Topology, poleOf: PoleOf, kernel?: Kernel): boolean {
  const inPlane = containsInPlane(preparedOf(a), b, kernel)
  if (typeof inPlane === 'boolean') return inPlane
  return containsBySweep(geometryOf(a), geometryOf(b), poleOf, inPlane)
}

/** @param touches known in the plane; undefined on the cylinder */
function containsBySweep(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf, touches: Touches | undefined): boolean {
  const scene = sceneOf(a, b, poleOf)
  if (touches !== undefined) {
    const needed = neededOfTouches(scene, [a, b], touches)
    return new CoverSweep(scene, new LineBoundary(a, true)).decide(needed)
  }
  let isInteriorMet = false
  for (const [own, others] of scene.poles) {
    if (others === 'exterior') continue
    if (own === 'exterior') return false
    if (own === 'interior' && others === 'interior') isInteriorMet = true
  }
  // Nothing of b stands elsewhere.
  if (scene.count === 0) return isInteriorMet
  const meeting = meet(scene, () => false)
  const answer = meeting.kind === 'apart' ? containsApart(scene, meeting) : undefined
  if (answer !== undefined) return answer
  // Before the sweep is made: it may add places to the scene.
  const needed = meeting.needed()
  return new CoverSweep(scene, new LineBoundary(a, false)).decide(needed, isInteriorMet)
}

/**
 * No edge of b meets an edge of a: one place of each part tells.
 *
 * @returns undefined when there are too many parts, or more has to be known
 */
function containsApart(scene: Scene, meeting: Meeting): boolean | undefined {
  const places = meeting.locate()
  if (places === undefined) return undefined
  // What touches nothing of a is inside its polygons or outside of a altogether.
  if (places.some(({ operand, depth }) => operand === 1 && depth === 0)) return false
  // A ring of a inside b has the outside of a on one side, unless another polygon of a lies there.
  const isRingInside = places.some(
    ({ operand, depth, segment }) => operand === 0 && depth > 0 && scene.dimension[segment] === 2,
  )
  return isRingInside ? undefined : true
}
