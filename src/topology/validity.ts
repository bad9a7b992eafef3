import type { FlatGeometry } from '../geometry/flat.ts'
import { addCopies, type ElementRing, type ElementRings, layElement } from './element-rings.ts'
import { crossingFault, faultAt, type Invalidity, overlapFault } from './invalidity.ts'
import { depthsAt } from './locate.ts'
import { preparedOf, type Topology } from './prepared.ts'
import { RingSweep } from './ring-sweep.ts'
import type { Scene } from './scene.ts'
import { APART, CROSS, contactOf, overlap } from './segment-contact.ts'
import { joinBudget, SegmentIndex } from './segment-index.ts'
import { UndecidableError } from './undecidable.ts'
import type { PoleOf } from './unwrap.ts'
import { isValidApart } from './valid-apart.ts'

/** Segments passed while locating rings one by one, before the sweep takes over. */
const MAX_LOCATED_SEGMENTS = 2_000_000

/**
 * The first fault found in the polygons of a geometry by the rules of RFC 7946 and OGC: rings simple, holes inside, interiors
 * connected, members of a MultiPolygon touching at points at most. Elements of a collection are judged separately; lines and
 * points have no faults. Repeated vertices are no fault, nor is orientation.
 *
 * Decided exactly, in O(n log n). Edges along a pole do not count. What would cost too much to decide is a fault as well.
 *
 * @param topology closed rings of at least 4 positions, as sent or prepared
 * @param poleOf asked for rings that wind around the axis
 */
export function findInvalidity(topology: Topology, poleOf: PoleOf): Invalidity | undefined {
  const prepared = preparedOf(topology)
  const { geometry } = prepared
  for (let element = 0; element < geometry.elementTypes.length; element++) {
    if (!geometry.elementTypes[element]!.endsWith('Polygon')) continue
    if (isValidApart(prepared, element)) continue
    const found = judgeElement(geometry, element, poleOf)
    if (found !== undefined) return found
  }
  return undefined
}

function judgeElement(geometry: FlatGeometry, element: number, poleOf: PoleOf): Invalidity | undefined {
  let laid: ElementRings | undefined
  try {
    const rings = layElement(geometry, element, poleOf)
    if ('reason' in rings) return rings
    laid = rings
    const found = laid.scene.positions.planar && laid.atPoles.every((at) => at.length < 2) ? findApart(laid) : 'unknown'
    return found === 'unknown' ? findBySweep(laid) : found
  } catch (error) {
    // Rings that wind around the axis hundreds of times, or cross the closing over a pole 20,000 times.
    if (!(error instanceof UndecidableError)) throw error
    const crossing = laid === undefined ? undefined : findCrossing(laid.scene)
    if (crossing !== undefined) return crossing
    const sequence = geometry.partStarts[geometry.elementStarts[element]!]!
    const first = 2 * geometry.sequenceStarts[sequence]!
    const place = { lon: geometry.vertices[first]!, lat: geometry.vertices[first + 1]! }
    return { reason: 'too intricate around the axis', ...place, sequence, vertex: 0 }
  }
}

/** Some crossing of two edges, as far as it is found without much effort: better than to say that it is too intricate. */
function findCrossing(scene: Scene): Invalidity | undefined {
  const index = new SegmentIndex(scene, realSegments(scene))
  let found: Invalidity | undefined
  index.join(index, joinBudget(scene.count), (s, t) => {
    if (s !== t && contactOf(scene, s, t) === CROSS) found = crossingFault(scene, s, t)
    return found === undefined
  })
  return found
}

/**
 * The judgement by sweep alone: for everything, and slower where rings do not touch.
 *
 * @param laid as laid, without copies
 */
export function findBySweep(laid: ElementRings): Invalidity | undefined {
  if (!laid.scene.positions.planar) addCopies(laid)
  return new RingSweep(laid).find()
}

/** Two segments at fault: 0 they cross, 1 they overlap, 2 a ring touches itself. The first in the order sent is told. */
interface Fault {
  readonly rank: number
  readonly s: number
  readonly t: number
}

/** The judgement without a sweep, when no two rings touch: faults within rings, and every ring in its place. */
function findApart({ scene, rings }: ElementRings): Invalidity | undefined | 'unknown' {
  const real = realSegments(scene)
  const last = lastSegments(scene)
  const index = new SegmentIndex(scene, real)
  let fault: Fault | undefined
  let isTouching = false
  const end = index.join(index, joinBudget(scene.count), (s, t) => {
    if (s === t) return true
    const contact = contactOf(scene, s, t)
    if (contact === APART) return true
    const isSameRing = scene.sequence[s] === scene.sequence[t]
    const isNext =
      isSameRing && (t === s + 1 || (t === last[s] && (s === 0 || scene.sequence[s - 1] !== scene.sequence[s])))
    const rank = contact === CROSS ? 0 : overlap(scene, s, t) ? 1 : isSameRing && !isNext ? 2 : 3
    if (rank < 3 && (fault === undefined || isBefore({ rank, s, t }, fault))) fault = { rank, s, t }
    if (rank === 3 && !isSameRing) isTouching = true
    return true
  })
  if (fault !== undefined) return describe(scene, fault)
  if (end === 'exhausted' || isTouching) return 'unknown'
  return rings.length === 1 ? undefined : findMisplaced(scene, rings)
}

function realSegments(scene: Scene): Int32Array {
  const real: number[] = []
  for (let s = 0; s < scene.count; s++) if (scene.isReal(s)) real.push(s)
  return Int32Array.from(real)
}

/** By segment, the last segment of its ring. */
function lastSegments({ sequence, count }: Scene): Int32Array {
  const last = new Int32Array(count)
  for (let s = count - 1; s >= 0; s--) last[s] = s + 1 < count && sequence[s + 1] === sequence[s] ? last[s + 1]! : s
  return last
}

function isBefore(a: Fault, b: Fault): boolean {
  return (a.rank - b.rank || a.s - b.s || a.t - b.t) < 0
}

function describe(scene: Scene, { rank, s, t }: Fault): Invalidity {
  if (rank === 0) return crossingFault(scene, s, t)
  if (rank === 1) return overlapFault(scene, s, t)
  const { positions, left, right } = scene
  const isOn = (segment: number, position: number): boolean =>
    positions.orientation(left[segment]!, right[segment]!, position) === 0 &&
    positions.compare(left[segment]!, position) <= 0 &&
    positions.compare(position, right[segment]!) <= 0
  const place = isOn(s, left[t]!) ? left[t]! : isOn(s, right[t]!) ? right[t]! : isOn(t, left[s]!) ? left[s]! : right[s]!
  return faultAt(scene, 'self-touch', place, t)
}

/** Rings that do not touch: every exterior ring outside of all polygons, every hole inside its own alone. */
function findMisplaced(scene: Scene, rings: readonly ElementRing[]): Invalidity | undefined | 'unknown' {
  if (rings.length * scene.count > MAX_LOCATED_SEGMENTS) return 'unknown'
  let segment = 0
  for (const { role, isHole } of rings) {
    while (scene.sequence[segment] !== role.sequence) segment++
    const counted = { marks: scene.sequence, value: role.sequence, isEqual: false }
    const depths = depthsAt(scene, scene.left[segment]!, counted)
    // The sweep names the fault, and knows places on a pole.
    if (depths === undefined || Math.abs(scene.positions.lat[scene.left[segment]!]!) === 90) return 'unknown'
    if (depths.depth0 !== (isHole ? 1 : 0) || depths.depth1 !== (isHole ? role.step1 : 0)) return 'unknown'
  }
  return undefined
}
