import type { FlatGeometry } from '../../geometry/flat.ts'
import { APART, type Contact, findSegmentContact } from '../exact/segment-contact.ts'
import type { SegmentSet } from '../layout/scene.ts'
import type { TouchingEdges } from './in-plane.ts'
import { depthsAt } from './locate.ts'
import { joinBudget, SegmentIndex } from './segment-index.ts'

/** Segments passed while parts are located one by one, before the sweep takes over: about 10 ms. */
const MAX_LOCATED_SEGMENTS = 2_000_000

/** A segment of a part that touches nothing of the other geometry, and the number of polygons of the other that cover it. */
export interface PartLocation {
  readonly segment: number
  readonly operand: number
  readonly depth: number
}

/** How the edges of two geometries meet. */
export interface ContactSummary {
  /**
   * `apart`: no edge or point of one geometry touches one of the other. `decided`: a decisive contact was found. `touching`:
   * anything else, also when the budget was spent.
   */
  readonly kind: 'apart' | 'decided' | 'touching'
  /**
   * Returns the segments that a sweep needs: rings, points, and of the lines only what touches the other geometry, with one point
   * for each run of edges of b that does not. Otherwise lines that cross themselves a million times would make the sweep as
   * expensive.
   */
  segmentsToSweep(): Int32Array
  /**
   * Returns one position of each ring, line and point in the window, for two geometries that are apart; undefined when there are
   * too many.
   */
  locateParts(): readonly PartLocation[] | undefined
}

/**
 * Finds out how the edges of two geometries meet.
 *
 * @param isDecisive whether a contact of a segment of a with one of b decides the predicate
 */
export function findContacts(
  segments: SegmentSet,
  isDecisive: (contact: Contact, s: number, t: number) => boolean,
): ContactSummary {
  const touched = new Uint8Array(segments.count)
  const indexA = new SegmentIndex(segments, selectOperand(segments, 0))
  const indexB = new SegmentIndex(segments, selectOperand(segments, 1))
  let isTouching = false
  const end = indexA.join(indexB, joinBudget(segments.count), (s, t) => {
    const contact = findSegmentContact(segments, s, t)
    if (contact === APART) return true
    isTouching = true
    touched[s] = 1
    touched[t] = 1
    return !isDecisive(contact, s, t)
  })
  if (end === 'stopped')
    return { kind: 'decided', segmentsToSweep: () => new Int32Array(0), locateParts: () => undefined }
  const isKnown = end === 'done'
  return {
    kind: isKnown && !isTouching ? 'apart' : 'touching',
    segmentsToSweep: () => (isKnown ? segmentsForSweep(segments, touched) : Int32Array.from(touched.keys())),
    locateParts: () => locateParts(segments),
  }
}

function locateParts(segments: SegmentSet): PartLocation[] | undefined {
  const firsts = firstSegments(segments)
  if (firsts.length * segments.count > MAX_LOCATED_SEGMENTS) return undefined
  const locations: PartLocation[] = []
  for (const segment of firsts) {
    if (!segments.isInWindow(segment)) continue
    const operand = segments.operand[segment]!
    const depths = depthsAt(segments, segments.left[segment]!, {
      marks: segments.operand,
      value: operand,
      isEqual: false,
    })
    if (depths === undefined) return undefined
    locations.push({ segment, operand, depth: operand === 0 ? depths.depth1 : depths.depth0 })
  }
  return locations
}

/**
 * Returns the segments that a sweep needs when the edges that touch are known.
 *
 * @param selection both geometries in the plane, as received
 * @param touches an undefined member says that nothing is known about the edges
 */
export function segmentsToSweep(
  segments: SegmentSet,
  geometries: readonly FlatGeometry[],
  touches: TouchingEdges,
): Int32Array {
  const { edgesOfA: own, edgesOfB: others } = touches
  if (own === undefined || others === undefined) return Int32Array.from({ length: segments.count }, (_, s) => s)
  const marks = [own, others]
  const touched = new Uint8Array(segments.count)
  for (let s = 0; s < segments.count; s++) {
    const operand = segments.operand[s]!
    touched[s] = marks[operand]![geometries[operand]!.sequenceStarts[segments.sequence[s]!]! + segments.vertex[s]!]!
  }
  return segmentsForSweep(segments, touched)
}

function selectOperand({ operand, count }: SegmentSet, selected: number): Int32Array {
  const selection = new Int32Array(count)
  let size = 0
  for (let s = 0; s < count; s++) if (operand[s] === selected) selection[size++] = s
  return selection.subarray(0, size)
}

/** Returns the first segment of every sequence and of every copy of it. */
function firstSegments({ sequence, operand, copy, count }: SegmentSet): number[] {
  const firsts: number[] = []
  for (let s = 0; s < count; s++) {
    const isSame = s > 0 && sequence[s] === sequence[s - 1] && operand[s] === operand[s - 1] && copy[s] === copy[s - 1]
    if (!isSame) firsts.push(s)
  }
  return firsts
}

function segmentsForSweep(segments: SegmentSet, touched: Uint8Array): Int32Array {
  const { operand, dimension, sequence, left, count } = segments
  const needed: number[] = []
  let last = -1
  for (let s = 0; s < count; s++) {
    if (dimension[s] !== 1 || touched[s] === 1) {
      needed.push(s)
      last = -1
      continue
    }
    if (operand[s] === 0) continue
    // The rest of this run of edges is where its first position is, because it touches nothing on the way.
    const follows = last >= 0 && sequence[s] === sequence[last]
    if (!follows) {
      const role = { operand: 1, dimension: 0, step0: 0, step1: 0, sequence: sequence[s]! }
      needed.push(segments.addSegment(left[s]!, left[s]!, role, 0, segments.vertex[s]!, 0))
    }
    last = s
  }
  return Int32Array.from(needed)
}
