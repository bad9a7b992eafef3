import type { PoleResolver } from '../geometry/pole-resolver.ts'
import type { Kernel } from '../wasm/loader.ts'
import { buildSegmentSet, segmentsToSweep } from './layout/build-segments.ts'
import { LineBoundary } from './layout/line-boundary.ts'
import type { SegmentSet } from './layout/segment-set.ts'
import { containsInPlane } from './plane/in-plane.ts'
import { type Topology, toPrepared } from './plane/prepared.ts'
import { Sweep, type SweepNode, type SweepVisitor } from './sweep/sweep.ts'

/**
 * Decides `contains` by a sweep over the arrangement of both geometries. Every face, piece and point of b has to lie in a, and
 * the interiors have to meet. Where polygons of a cover a point, the lines and points of a do not matter.
 */
export class ContainsSweep implements SweepVisitor {
  readonly #segments: SegmentSet
  readonly #sweep: Sweep
  readonly #lineBoundary: LineBoundary
  #isInteriorMet = false

  /** @param lineBoundary the boundary of the lines of a */
  constructor(segments: SegmentSet, lineBoundary: LineBoundary) {
    this.#segments = segments
    this.#sweep = new Sweep(segments)
    this.#lineBoundary = lineBoundary
  }

  /**
   * @param active segments that take part
   * @param isInteriorMet whether the interiors already meet at a pole
   */
  decide(active: Int32Array, isInteriorMet = false): boolean {
    this.#isInteriorMet = isInteriorMet
    return this.#sweep.run(active, this) && this.#isInteriorMet
  }

  visitCrossing(): boolean {
    return true
  }

  visitPiece(outgoing: readonly number[], from: number, to: number): boolean {
    const { operand, dimension } = this.#segments
    const { below0, below1, above0, above1 } = this.#sweep
    const lowest = outgoing[from]!
    const coversBelow = below0[lowest]! > 0
    const coversAbove = above0[lowest]! > 0
    if ((below1[lowest]! > 0 && !coversBelow) || (above1[lowest]! > 0 && !coversAbove)) return false
    if (below1[lowest]! > 0 || above1[lowest]! > 0) this.#isInteriorMet = true
    let isLineOfB = false
    let isLineOfA = false
    for (let i = from; i < to; i++) {
      if (dimension[outgoing[i]!] !== 1) continue
      if (operand[outgoing[i]!] === 1) isLineOfB = true
      else isLineOfA = true
    }
    if (!isLineOfB) return true
    if (!coversBelow && !coversAbove && !isLineOfA) return false
    // Along the boundary of a only one side is covered. On a line of a all but finitely many positions are interior.
    if (coversBelow === coversAbove) this.#isInteriorMet = true
    return true
  }

  visitNode(node: SweepNode): boolean {
    const { operand, dimension } = this.#segments
    if (!node.points.some((point) => operand[point] === 1)) return true
    if (node.maxDepth0 > 0) {
      if (node.minDepth0 > 0) this.#isInteriorMet = true
      return true
    }
    const isLineOfA = (segment: number): boolean => operand[segment] === 0 && dimension[segment] === 1
    if (node.incoming.some(isLineOfA) || node.outgoing.some(isLineOfA)) {
      if (!this.#lineBoundary.has(this.#segments, node.position)) this.#isInteriorMet = true
      return true
    }
    if (!node.points.some((point) => operand[point] === 0)) return false
    this.#isInteriorMet = true
    return true
  }
}

/**
 * Tells whether a contains b: no point of b lies outside a, and their interiors meet. So what lies only on the boundary of a is
 * not contained.
 *
 * Geometries are compared in the plane of longitude and latitude, in which −180 and 180 are one meridian and each pole is one
 * point. A collection counts as the union of its elements: polygons take precedence over lines and lines over points, and shared
 * edges inside the union are interior. Lines have the boundary of the mod-2 rule.
 *
 * @param a has valid polygons (`findInvalidity`), as received or prepared; the result for invalid ones is undefined
 * @param b likewise
 * @param resolvePole is called for rings that wind around the axis
 * @param kernel makes passes over large geometries faster; the result is the same without it
 * @throws {UndecidableError} when an exact decision would cost too much
 * @see OGC 06-103r4, 6.1.15; JTS RelateNG for the union of collections
 */
export function contains(a: Topology, b: Topology, resolvePole: PoleResolver, kernel?: Kernel): boolean {
  const touches = containsInPlane(toPrepared(a), b, kernel)
  if (typeof touches === 'boolean') return touches
  const segments = buildSegmentSet(touches.a, touches.b, resolvePole)
  let isInteriorMet = false
  for (const [inA, inB] of segments.poles) {
    if (inB === 'exterior') continue
    if (inA === 'exterior') return false
    if (inA === 'interior' && inB === 'interior') isInteriorMet = true
  }
  // b lies at the poles only.
  if (segments.count === 0) return isInteriorMet
  // Must come before the sweep is constructed, because it may add points to the segment set.
  const active = segmentsToSweep(segments, touches)
  const lineBoundary = new LineBoundary(touches.a, segments.positions.planar)
  return new ContainsSweep(segments, lineBoundary).decide(active, isInteriorMet)
}
