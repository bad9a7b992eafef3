import type { FlatGeometry } from '../geometry/flat.ts'
import type { Touches } from './in-plane.ts'
import { depthsAt } from './locate.ts'
import type { Scene } from './scene.ts'
import { APART, type Contact, contactOf } from './segment-contact.ts'
import { joinBudget, SegmentIndex } from './segment-index.ts'

/** Segments passed while locating parts one by one, before the sweep takes over: about 10 ms. */
const MAX_LOCATED_SEGMENTS = 2_000_000

/** A segment of a part that touches nothing of the other geometry, and how many polygons of that one cover it. */
export interface PartPlace {
  readonly segment: number
  readonly operand: number
  readonly depth: number
}

/** What the edges of two geometries have to do with each other. */
export interface Meeting {
  /**
   * `apart`: no edge or point of one touches one of the other. `decided`: a decisive contact was found. `touching`: anything
   * else, or too much to tell.
   */
  readonly kind: 'apart' | 'decided' | 'touching'
  /**
   * The segments a sweep needs: rings, points, and of the lines only what touches the other geometry, with one point for
   * each stretch of b's lines that does not. Lines that cross themselves a million times would cost a sweep as much.
   */
  needed(): Int32Array
  /** One place of each ring, line and point in the window of two geometries that are apart; undefined: too many. */
  locate(): readonly PartPlace[] | undefined
}

/** @param isDecisive whether this contact of a segment of a with one of b settles the question */
export function meet(scene: Scene, isDecisive: (contact: Contact, own: number, other: number) => boolean): Meeting {
  const touched = new Uint8Array(scene.count)
  const own = new SegmentIndex(scene, segmentsOf(scene, 0))
  const others = new SegmentIndex(scene, segmentsOf(scene, 1))
  let isTouching = false
  const end = own.join(others, joinBudget(scene.count), (s, t) => {
    const contact = contactOf(scene, s, t)
    if (contact === APART) return true
    isTouching = true
    touched[s] = 1
    touched[t] = 1
    return !isDecisive(contact, s, t)
  })
  if (end === 'stopped') return { kind: 'decided', needed: () => new Int32Array(0), locate: () => undefined }
  const isKnown = end === 'done'
  return {
    kind: isKnown && !isTouching ? 'apart' : 'touching',
    needed: () => (isKnown ? neededSegments(scene, touched) : Int32Array.from(touched.keys())),
    locate: () => locateParts(scene),
  }
}

function locateParts(scene: Scene): PartPlace[] | undefined {
  const firsts = firstSegments(scene)
  if (firsts.length * scene.count > MAX_LOCATED_SEGMENTS) return undefined
  const places: PartPlace[] = []
  for (const segment of firsts) {
    if (!scene.isInWindow(segment)) continue
    const operand = scene.operand[segment]!
    const depths = depthsAt(scene, scene.left[segment]!, { marks: scene.operand, value: operand, isEqual: false })
    if (depths === undefined) return undefined
    places.push({ segment, operand, depth: operand === 0 ? depths.depth1 : depths.depth0 })
  }
  return places
}

/**
 * The segments a sweep needs when it is known what touches.
 *
 * @param scene both geometries in the plane, as sent
 * @param touches undefined by operand: nothing is known of its edges
 */
export function neededOfTouches(scene: Scene, geometries: readonly FlatGeometry[], touches: Touches): Int32Array {
  const { own, others } = touches
  if (own === undefined || others === undefined) return Int32Array.from({ length: scene.count }, (_, s) => s)
  const marks = [own, others]
  const touched = new Uint8Array(scene.count)
  for (let s = 0; s < scene.count; s++) {
    const operand = scene.operand[s]!
    touched[s] = marks[operand]![geometries[operand]!.sequenceStarts[scene.sequence[s]!]! + scene.vertex[s]!]!
  }
  return neededSegments(scene, touched)
}

function segmentsOf({ operand, count }: Scene, wanted: number): Int32Array {
  const segments = new Int32Array(count)
  let size = 0
  for (let s = 0; s < count; s++) if (operand[s] === wanted) segments[size++] = s
  return segments.subarray(0, size)
}

/** The first segment of every sequence and copy. */
function firstSegments({ sequence, operand, copy, count }: Scene): number[] {
  const firsts: number[] = []
  for (let s = 0; s < count; s++) {
    const isSame = s > 0 && sequence[s] === sequence[s - 1] && operand[s] === operand[s - 1] && copy[s] === copy[s - 1]
    if (!isSame) firsts.push(s)
  }
  return firsts
}

function neededSegments(scene: Scene, touched: Uint8Array): Int32Array {
  const { operand, dimension, sequence, left, count } = scene
  const needed: number[] = []
  let last = -1
  for (let s = 0; s < count; s++) {
    if (dimension[s] !== 1 || touched[s] === 1) {
      needed.push(s)
      last = -1
      continue
    }
    if (operand[s] === 0) continue
    // The rest of this stretch is where its first position is, since it touches nothing on the way.
    const follows = last >= 0 && sequence[s] === sequence[last]
    if (!follows) {
      const role = { operand: 1, dimension: 0, step0: 0, step1: 0, sequence: sequence[s]! }
      needed.push(scene.addSegment(left[s]!, left[s]!, role, 0, scene.vertex[s]!, 0))
    }
    last = s
  }
  return Int32Array.from(needed)
}
