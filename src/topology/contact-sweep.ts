import type { Scene } from './scene.ts'
import { Sweep } from './sweep.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'

/** Decides `intersects` over the arrangement of both geometries: the sweep ends at the first place that both share. */
export class ContactSweep implements SweepVisitor {
  readonly #scene: Scene
  readonly #sweep: Sweep

  constructor(scene: Scene) {
    this.#scene = scene
    this.#sweep = new Sweep(scene)
  }

  /** @param needed segments that matter */
  isApart(needed: Int32Array): boolean {
    return this.#sweep.run(needed, this)
  }

  crossing(lower: number, upper: number): boolean {
    const { operand } = this.#scene
    // An edge that is no boundary may lie in a hole: what crosses it is judged by the depths around it.
    return operand[lower] === operand[upper] || !this.#scene.isReal(lower) || !this.#scene.isReal(upper)
  }

  piece(outgoing: readonly number[], from: number, to: number): boolean {
    const { below0, below1, above0, above1 } = this.#sweep
    const first = outgoing[from]!
    if (!this.#scene.isInWindow(first)) return true
    const { operand, dimension } = this.#scene
    if ((below0[first]! > 0 && below1[first]! > 0) || (above0[first]! > 0 && above1[first]! > 0)) return false
    // A line inside the other's polygons, or along an edge that only closes one of their rings.
    for (let i = from; i < to; i++) {
      const segment = outgoing[i]!
      if (dimension[segment] !== 1) continue
      const [below, above] = operand[segment] === 0 ? [below1, above1] : [below0, above0]
      if (below[first]! > 0 || above[first]! > 0) return false
    }
    return true
  }

  node({ incoming, outgoing, points, most0, most1 }: SweepNode): boolean {
    const scene = this.#scene
    const { operand } = scene
    let seen = 0
    for (const segment of incoming) if (scene.isReal(segment)) seen |= 1 << operand[segment]!
    for (const segment of outgoing) if (scene.isReal(segment)) seen |= 1 << operand[segment]!
    for (const segment of points) {
      seen |= 1 << operand[segment]!
      if ((operand[segment] === 0 ? most1 : most0) > 0) return false
    }
    return seen !== 3
  }
}
