import type { LineBoundary } from './line-boundary.ts'
import type { Scene } from './scene.ts'
import { Sweep } from './sweep.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'

/**
 * Decides `contains` over the arrangement of both geometries: every face, piece and point of b has to lie in a, and some of
 * b's interior in a's. Where polygons of a cover a place, its lines and points do not matter there.
 */
export class CoverSweep implements SweepVisitor {
  readonly #scene: Scene
  readonly #sweep: Sweep
  readonly #lineBoundary: LineBoundary
  #isInteriorMet = false

  /** @param lineBoundary of a's lines */
  constructor(scene: Scene, lineBoundary: LineBoundary) {
    this.#scene = scene
    this.#sweep = new Sweep(scene)
    this.#lineBoundary = lineBoundary
  }

  /**
   * @param needed segments that matter
   * @param isInteriorMet the interiors meet at a pole
   */
  decide(needed: Int32Array, isInteriorMet = false): boolean {
    this.#isInteriorMet = isInteriorMet
    return this.#sweep.run(needed, this) && this.#isInteriorMet
  }

  crossing(): boolean {
    return true
  }

  piece(outgoing: readonly number[], from: number, to: number): boolean {
    const { operand, dimension } = this.#scene
    const { below0, below1, above0, above1 } = this.#sweep
    const first = outgoing[from]!
    if (!this.#scene.isInWindow(first)) return true
    const coversBelow = below0[first]! > 0
    const coversAbove = above0[first]! > 0
    if ((below1[first]! > 0 && !coversBelow) || (above1[first]! > 0 && !coversAbove)) return false
    if (below1[first]! > 0 || above1[first]! > 0) this.#isInteriorMet = true
    let isLine = false
    let isOnLine = false
    for (let i = from; i < to; i++) {
      if (dimension[outgoing[i]!] !== 1) continue
      if (operand[outgoing[i]!] === 1) isLine = true
      else isOnLine = true
    }
    if (!isLine) return true
    if (!coversBelow && !coversAbove && !isOnLine) return false
    // Along a's boundary only one side is covered. On a line of a all but finitely many positions are interior.
    if (coversBelow === coversAbove) this.#isInteriorMet = true
    return true
  }

  node(node: SweepNode): boolean {
    const { operand, dimension } = this.#scene
    if (!node.points.some((point) => operand[point] === 1)) return true
    if (node.most0 > 0) {
      if (node.least0 > 0) this.#isInteriorMet = true
      return true
    }
    const isOnLine = (segment: number): boolean => operand[segment] === 0 && dimension[segment] === 1
    if (node.incoming.some(isOnLine) || node.outgoing.some(isOnLine)) {
      if (!this.#lineBoundary.has(this.#scene, node.position)) this.#isInteriorMet = true
      return true
    }
    if (!node.points.some((point) => operand[point] === 0)) return false
    this.#isInteriorMet = true
    return true
  }
}
