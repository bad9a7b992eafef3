import type { LineBoundary } from '../layout/line-boundary.ts'
import type { SegmentSet } from '../layout/scene.ts'
import { Sweep } from './sweep.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'

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
    if (!this.#segments.isInWindow(lowest)) return true
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
