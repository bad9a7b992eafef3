import type { FlatGeometry } from '../geometry/flat.ts'
import { sceneOf } from './lay-geometry.ts'
import { meet } from './meeting.ts'
import type { Scene } from './scene.ts'
import { Sweep } from './sweep.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'
import type { PoleOf } from './unwrap.ts'

/**
 * Whether a and b share any place, boundaries included, in the plane of lon and lat.
 *
 * @param a of valid polygons (`findInvalidity`); for invalid ones the answer means nothing
 * @param b likewise
 * @param poleOf asked for rings that wind around the axis
 * @throws {UndecidableError} when it cannot be decided exactly with reasonable effort
 */
export function intersects(a: FlatGeometry, b: FlatGeometry, poleOf: PoleOf): boolean {
  const scene = sceneOf(a, b, poleOf)
  const meeting = meet(scene, () => true)
  if (meeting.kind === 'decided') return true
  const places = meeting.kind === 'apart' ? meeting.locate() : undefined
  if (places !== undefined) return places.some(({ depth }) => depth > 0)
  return !new ContactSweep(scene).isApart(meeting.needed)
}

/** Looks for the first place that both geometries share. */
class ContactSweep implements SweepVisitor {
  readonly #scene: Scene
  readonly #sweep: Sweep

  constructor(scene: Scene) {
    this.#scene = scene
    this.#sweep = new Sweep(scene)
  }

  isApart(needed: Int32Array): boolean {
    return this.#sweep.run(needed, this)
  }

  crossing(lower: number, upper: number): boolean {
    return this.#scene.operand[lower] === this.#scene.operand[upper]
  }

  piece(outgoing: readonly number[], from: number): boolean {
    const { below0, below1, above0, above1 } = this.#sweep
    const first = outgoing[from]!
    const { operand, dimension } = this.#scene
    if ((below0[first]! > 0 && below1[first]! > 0) || (above0[first]! > 0 && above1[first]! > 0)) return false
    // A line inside the other's polygons.
    return dimension[first] === 2 || (operand[first] === 0 ? below1[first]! <= 0 : below0[first]! <= 0)
  }

  node({ incoming, outgoing, points, most0, most1 }: SweepNode): boolean {
    const { operand } = this.#scene
    let seen = 0
    for (const segment of incoming) seen |= 1 << operand[segment]!
    for (const segment of outgoing) seen |= 1 << operand[segment]!
    for (const segment of points) {
      seen |= 1 << operand[segment]!
      if ((operand[segment] === 0 ? most1 : most0) > 0) return false
    }
    return seen !== 3
  }
}
