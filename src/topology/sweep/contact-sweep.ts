import type { SegmentSet } from '../layout/scene.ts'
import { Sweep } from './sweep.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'

/** Decides `intersects` by a sweep over the arrangement of both geometries. The sweep ends at the first point that both share. */
export class IntersectsSweep implements SweepVisitor {
  readonly #segments: SegmentSet
  readonly #sweep: Sweep

  constructor(segments: SegmentSet) {
    this.#segments = segments
    this.#sweep = new Sweep(segments)
  }

  /** @param active segments that take part */
  isDisjoint(active: Int32Array): boolean {
    return this.#sweep.run(active, this)
  }

  visitCrossing(lower: number, upper: number): boolean {
    const { operand } = this.#segments
    // An auxiliary edge is no boundary and may lie in a hole, so the depths around it decide about what crosses it.
    return operand[lower] === operand[upper] || !this.#segments.isReal(lower) || !this.#segments.isReal(upper)
  }

  visitPiece(outgoing: readonly number[], from: number, to: number): boolean {
    const { below0, below1, above0, above1 } = this.#sweep
    const lowest = outgoing[from]!
    if (!this.#segments.isInWindow(lowest)) return true
    const { operand, dimension } = this.#segments
    if ((below0[lowest]! > 0 && below1[lowest]! > 0) || (above0[lowest]! > 0 && above1[lowest]! > 0)) return false
    // A line inside a polygon of the other geometry, or along an auxiliary edge of one of its rings.
    for (let i = from; i < to; i++) {
      const segment = outgoing[i]!
      if (dimension[segment] !== 1) continue
      const [below, above] = operand[segment] === 0 ? [below1, above1] : [below0, above0]
      if (below[lowest]! > 0 || above[lowest]! > 0) return false
    }
    return true
  }

  visitNode({ incoming, outgoing, points, maxDepth0: most0, maxDepth1: most1 }: SweepNode): boolean {
    const segments = this.#segments
    const { operand } = segments
    let operandsMet = 0
    for (const segment of incoming) if (segments.isReal(segment)) operandsMet |= 1 << operand[segment]!
    for (const segment of outgoing) if (segments.isReal(segment)) operandsMet |= 1 << operand[segment]!
    for (const segment of points) {
      operandsMet |= 1 << operand[segment]!
      if ((operand[segment] === 0 ? most1 : most0) > 0) return false
    }
    return operandsMet !== 3
  }
}
