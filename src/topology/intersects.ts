import type { PoleResolver } from '../geometry/pole-resolver.ts'
import type { Kernel } from '../wasm/loader.ts'
import { buildSegmentSet, segmentsToSweep } from './layout/build-segments.ts'
import type { SegmentSet } from './layout/segment-set.ts'
import { intersectsInPlane } from './plane/in-plane.ts'
import type { Topology } from './plane/prepared.ts'
import { Sweep, type SweepNode, type SweepVisitor } from './sweep/sweep.ts'

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

/**
 * Tells whether a and b share any point, boundaries included. Geometries are compared in the plane of longitude and latitude, in
 * which −180 and 180 are one meridian and each pole is one point.
 *
 * @param a has valid polygons (`findInvalidity`), as received or prepared; the result for invalid ones is undefined
 * @param b likewise
 * @param resolvePole is called for rings that wind around the axis
 * @param kernel makes passes over large geometries faster; the result is the same without it
 * @throws {UndecidableError} when an exact decision would cost too much
 */
export function intersects(a: Topology, b: Topology, resolvePole: PoleResolver, kernel?: Kernel): boolean {
  const touches = intersectsInPlane(a, b, kernel)
  if (typeof touches === 'boolean') return touches
  const segments = buildSegmentSet(touches.a, touches.b, resolvePole)
  if (segments.poles.some(([inA, inB]) => inA !== 'exterior' && inB !== 'exterior')) return true
  const active = segmentsToSweep(segments, touches)
  return !new IntersectsSweep(segments).isDisjoint(active)
}
