import type { FlatGeometry } from '../geometry/flat.ts'
import type { PoleResolver } from '../geometry/pole-resolver.ts'
import { APART, CROSS, doOverlap, findSegmentContact } from './exact/segment-contact.ts'
import { UndecidableError } from './exact/undecidable.ts'
import { crossingFault, faultAt, type Invalidity, overlapFault } from './invalidity.ts'
import { addShiftedCopies, buildElementRings, type ElementRing, type ElementRings } from './layout/element-rings.ts'
import type { SegmentSet } from './layout/scene.ts'
import { depthsAt } from './plane/locate.ts'
import { type Topology, toPrepared } from './plane/prepared.ts'
import { joinBudget, SegmentIndex } from './plane/segment-index.ts'
import { isProvablyValid } from './plane/valid-apart.ts'
import { ValiditySweep } from './sweep/ring-sweep.ts'

/** Segments passed while rings are located one by one, before the sweep takes over. */
const MAX_LOCATED_SEGMENTS = 2_000_000

/**
 * Finds the first fault in the polygons of a geometry by the rules of RFC 7946 and OGC: rings are simple, holes lie inside,
 * interiors are connected, and members of a MultiPolygon touch at points at most. Elements of a collection are checked
 * separately; lines and points have no faults. Repeated vertices are no fault, nor is orientation.
 *
 * The decision is exact and takes O(n log n). Edges along a pole do not count. A polygon that would cost too much to decide is
 * reported as a fault too.
 *
 * @param topology closed rings of at least 4 positions, as received or prepared
 * @param resolvePole is called for rings that wind around the axis
 */
export function findInvalidity(topology: Topology, resolvePole: PoleResolver): Invalidity | undefined {
  const prepared = toPrepared(topology)
  const { geometry } = prepared
  for (let element = 0; element < geometry.elementTypes.length; element++) {
    if (!geometry.elementTypes[element]!.endsWith('Polygon')) continue
    if (isProvablyValid(prepared, element)) continue
    const invalidity = checkElement(geometry, element, resolvePole)
    if (invalidity !== undefined) return invalidity
  }
  return undefined
}

function checkElement(geometry: FlatGeometry, element: number, resolvePole: PoleResolver): Invalidity | undefined {
  let elementRings: ElementRings | undefined
  try {
    const rings = buildElementRings(geometry, element, resolvePole)
    if ('reason' in rings) return rings
    elementRings = rings
    const invalidity =
      elementRings.segments.positions.planar && elementRings.atPoles.every((at) => at.length < 2)
        ? findApart(elementRings)
        : 'unknown'
    return invalidity === 'unknown' ? findInvalidityBySweep(elementRings) : invalidity
  } catch (error) {
    // For rings that wind around the axis hundreds of times, or cross the closing edges over a pole 20,000 times.
    if (!(error instanceof UndecidableError)) throw error
    const crossing = elementRings === undefined ? undefined : findCrossing(elementRings.segments)
    if (crossing !== undefined) return crossing
    const sequence = geometry.partStarts[geometry.elementStarts[element]!]!
    const first = 2 * geometry.sequenceStarts[sequence]!
    const location = { lon: geometry.vertices[first]!, lat: geometry.vertices[first + 1]! }
    return { reason: 'too intricate around the axis', ...location, sequence, vertex: 0 }
  }
}

/** Looks for any crossing of two edges with little effort: a better report than that the polygon is too intricate. */
function findCrossing(segments: SegmentSet): Invalidity | undefined {
  const index = new SegmentIndex(segments, realSegments(segments))
  let invalidity: Invalidity | undefined
  index.join(index, joinBudget(segments.count), (s, t) => {
    if (s !== t && findSegmentContact(segments, s, t) === CROSS) invalidity = crossingFault(segments, s, t)
    return invalidity === undefined
  })
  return invalidity
}

/**
 * Checks the rings by sweep only. This handles everything, but is slower where rings do not touch.
 *
 * @param elementRings without shifted copies
 */
export function findInvalidityBySweep(elementRings: ElementRings): Invalidity | undefined {
  if (!elementRings.segments.positions.planar) addShiftedCopies(elementRings)
  return new ValiditySweep(elementRings).findFault()
}

/**
 * Two segments at fault: rank 0 when they cross, 1 when they overlap, 2 when a ring touches itself. The first one by rank, then
 * by the order received, is reported.
 */
interface Fault {
  readonly rank: number
  readonly s: number
  readonly t: number
}

/** Checks the rings without a sweep, when no two of them touch: first each ring, then whether each lies where it belongs. */
function findApart({ segments, rings }: ElementRings): Invalidity | undefined | 'unknown' {
  const real = realSegments(segments)
  const last = lastSegments(segments)
  const index = new SegmentIndex(segments, real)
  let fault: Fault | undefined
  let isTouching = false
  const end = index.join(index, joinBudget(segments.count), (s, t) => {
    if (s === t) return true
    const contact = findSegmentContact(segments, s, t)
    if (contact === APART) return true
    const isSameRing = segments.sequence[s] === segments.sequence[t]
    const isNext =
      isSameRing && (t === s + 1 || (t === last[s] && (s === 0 || segments.sequence[s - 1] !== segments.sequence[s])))
    const rank = contact === CROSS ? 0 : doOverlap(segments, s, t) ? 1 : isSameRing && !isNext ? 2 : 3
    if (rank < 3 && (fault === undefined || isBefore({ rank, s, t }, fault))) fault = { rank, s, t }
    if (rank === 3 && !isSameRing) isTouching = true
    return true
  })
  if (fault !== undefined) return describe(segments, fault)
  if (end === 'exhausted' || isTouching) return 'unknown'
  return rings.length === 1 ? undefined : findMisplaced(segments, rings)
}

function realSegments(segments: SegmentSet): Int32Array {
  const real: number[] = []
  for (let s = 0; s < segments.count; s++) if (segments.isReal(s)) real.push(s)
  return Int32Array.from(real)
}

/** By segment, the last segment of its ring. */
function lastSegments({ sequence, count }: SegmentSet): Int32Array {
  const last = new Int32Array(count)
  for (let s = count - 1; s >= 0; s--) last[s] = s + 1 < count && sequence[s + 1] === sequence[s] ? last[s + 1]! : s
  return last
}

function isBefore(a: Fault, b: Fault): boolean {
  return (a.rank - b.rank || a.s - b.s || a.t - b.t) < 0
}

function describe(segments: SegmentSet, { rank, s, t }: Fault): Invalidity {
  if (rank === 0) return crossingFault(segments, s, t)
  if (rank === 1) return overlapFault(segments, s, t)
  const { positions, left, right } = segments
  const isOn = (segment: number, position: number): boolean =>
    positions.orientation(left[segment]!, right[segment]!, position) === 0 &&
    positions.compare(left[segment]!, position) <= 0 &&
    positions.compare(position, right[segment]!) <= 0
  const touchPosition = isOn(s, left[t]!)
    ? left[t]!
    : isOn(s, right[t]!)
      ? right[t]!
      : isOn(t, left[s]!)
        ? left[s]!
        : right[s]!
  return faultAt(segments, 'self-touch', touchPosition, t)
}

/**
 * Checks rings that do not touch: every exterior ring has to lie outside all polygons, and every hole inside its own polygon
 * only.
 */
function findMisplaced(segments: SegmentSet, rings: readonly ElementRing[]): Invalidity | undefined | 'unknown' {
  if (rings.length * segments.count > MAX_LOCATED_SEGMENTS) return 'unknown'
  let segment = 0
  for (const { role, isHole } of rings) {
    while (segments.sequence[segment] !== role.sequence) segment++
    const counted = { marks: segments.sequence, value: role.sequence, isEqual: false }
    const depths = depthsAt(segments, segments.left[segment]!, counted)
    // The sweep names the fault, and it handles positions on a pole.
    if (depths === undefined || Math.abs(segments.positions.lat[segments.left[segment]!]!) === 90) return 'unknown'
    if (depths.depth0 !== (isHole ? 1 : 0) || depths.depth1 !== (isHole ? role.step1 : 0)) return 'unknown'
  }
  return undefined
}
