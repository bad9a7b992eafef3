import { type Crossing, comparePosition, crossingOf, liesOn } from './crossing.ts'
import { CrossingQueue } from './crossing-queue.ts'
import { bucketByEnd, type EndBuckets, rankPositions } from './position-ranks.ts'
import type { Scene } from './scene.ts'
import { SegmentOrder } from './segment-order.ts'
import { SweepBudget } from './sweep-budget.ts'
import type { SweepNode, SweepVisitor } from './sweep-visitor.ts'

/**
 * Bentley–Ottmann sweep over the segments of a scene, by longitude then latitude, with the depth on both sides of every
 * piece. Segments split only at positions that were sent; where a crossing is allowed, its place is an exact fraction.
 *
 * @see M. de Berg et al., Computational Geometry, chapter 2
 */
export class Sweep {
  readonly scene: Scene
  /** Depths below and above each segment, true for the piece it is on. */
  readonly below0: Int32Array
  readonly below1: Int32Array
  readonly above0: Int32Array
  readonly above1: Int32Array
  readonly #order: SegmentOrder
  readonly #crossings: CrossingQueue
  readonly #budget = new SweepBudget()
  #incoming: number[] = []
  #outgoing: number[] = []
  /** Rank by position of what takes part. */
  #rank: Int32Array = new Int32Array(0)

  constructor(scene: Scene) {
    const { count } = scene
    this.scene = scene
    this.below0 = new Int32Array(count)
    this.below1 = new Int32Array(count)
    this.above0 = new Int32Array(count)
    this.above1 = new Int32Array(count)
    this.#order = new SegmentOrder(count)
    this.#crossings = new CrossingQueue()
  }

  /**
   * @param active segments that take part; must hold all edges of rings
   * @returns false when the visitor ended the sweep
   * @throws {UndecidableError} after too many crossings, or too much effort where many segments meet
   */
  run(active: Int32Array, visitor: SweepVisitor): boolean {
    const { scene } = this
    const { left, right } = scene
    const wanted = new Int32Array(2 * active.length)
    active.forEach((segment, i) => {
      wanted[2 * i] = left[segment]!
      wanted[2 * i + 1] = right[segment]!
    })
    const { rank, representative, count } = rankPositions(scene.positions, wanted)
    this.#rank = rank
    const starts = bucketByEnd(active, left, rank, count)
    const ends = bucketByEnd(active, right, rank, count)
    const node: SweepNode = {
      position: 0,
      incoming: [],
      outgoing: [],
      points: [],
      least0: 0,
      most0: 0,
      least1: 0,
      most1: 0,
    }
    for (let r = 0; r < count; r++) {
      const position = representative[r]!
      for (let crossing = this.#crossings.first; crossing !== undefined; crossing = this.#crossings.first) {
        const order = comparePosition(scene, crossing, position)
        if (order > 0) break
        // Of all that were found at one place the first will do: it passes everything that meets there, as a position does.
        this.#crossings.removeFirstPlace()
        if (order < 0 && !this.#passCrossing(crossing, visitor)) return false
      }
      if (!this.#passPosition(position, r, starts, ends, node, visitor)) return false
    }
    return true
  }

  #passPosition(
    position: number,
    r: number,
    starts: EndBuckets,
    ends: EndBuckets,
    node: SweepNode,
    visitor: SweepVisitor,
  ) {
    const { left, right } = this.scene
    const rank = this.#rank
    const order = this.#order
    const incoming = this.#incoming
    const outgoing = this.#outgoing
    incoming.length = 0
    outgoing.length = 0
    node.points.length = 0
    let some = -1
    for (let i = ends.from[r]!; i < ends.from[r + 1]!; i++) {
      const segment = ends.items[i]!
      if (left[segment] === right[segment]) node.points.push(segment)
      else some = segment
    }
    const meets = (segment: number): boolean => rank[right[segment]!] === r || this.#side(segment, position) === 0
    let below: number
    if (some >= 0) {
      below = order.below[some]!
      while (below >= 0 && meets(below)) below = order.below[below]!
    } else {
      below = order.highest((segment) => this.#side(segment, position) > 0)
    }
    let above = below < 0 ? order.lowest : order.above[below]!
    while (above >= 0 && meets(above)) {
      incoming.push(above)
      if (rank[right[above]!] !== r) outgoing.push(above)
      above = order.above[above]!
    }
    for (let i = starts.from[r]!; i < starts.from[r + 1]!; i++) {
      const segment = starts.items[i]!
      if (left[segment] !== right[segment]) outgoing.push(segment)
    }
    node.position = position
    node.incoming = incoming
    node.outgoing = outgoing
    const hasPoints = node.points.length > 0
    if (hasPoints) this.#firstSectors(node, below)
    if (!this.#leave(below, above, visitor)) return false
    if (hasPoints) for (const segment of outgoing) this.#widen(node, this.above0[segment]!, this.above1[segment]!)
    return visitor.node(node)
  }

  /** All that meets at a crossing, neighbours until there, changes places and goes on. */
  #passCrossing(crossing: Crossing, visitor: SweepVisitor): boolean {
    const order = this.#order
    const incoming = this.#incoming
    incoming.length = 0
    let lowest = crossing.lower
    for (let s = order.below[lowest]!; s >= 0 && this.#passes(s, crossing); s = order.below[s]!) lowest = s
    let above = lowest
    for (let isKnown = true; above >= 0 && (isKnown || this.#passes(above, crossing)); above = order.above[above]!) {
      incoming.push(above)
      if (above === crossing.lower) isKnown = false
    }
    // Nearly in order for the sort to come.
    this.#outgoing = incoming.toReversed()
    return this.#leave(order.below[lowest]!, above, visitor)
  }

  #passes(segment: number, crossing: Crossing): boolean {
    this.#budget.askCrossing(crossing.places)
    return liesOn(this.scene, crossing, segment)
  }

  /** Sorts what goes out, puts it in the place of what came in, sets depths and looks for crossings ahead. */
  #leave(below: number, above: number, visitor: SweepVisitor): boolean {
    const order = this.#order
    const incoming = this.#incoming
    const outgoing = this.#outgoing
    this.#budget.meet(incoming.length + outgoing.length)
    if (outgoing.length > 1) outgoing.sort((s, t) => this.#turn(t, s) || s - t)
    if (incoming.length === 1 && outgoing.length === 1) {
      if (incoming[0] !== outgoing[0]) order.replace(incoming[0]!, outgoing[0]!)
    } else {
      for (const segment of incoming) order.remove(segment)
      let after = below
      for (const segment of outgoing) {
        order.insert(after, segment)
        after = segment
      }
    }
    if (!this.#setDepths(below, visitor)) return false
    if (outgoing.length === 0) return this.#lookAhead(below, above, visitor)
    return (
      this.#lookAhead(below, outgoing[0]!, visitor) && this.#lookAhead(outgoing[outgoing.length - 1]!, above, visitor)
    )
  }

  #setDepths(below: number, visitor: SweepVisitor): boolean {
    const { step0, step1 } = this.scene
    const outgoing = this.#outgoing
    let depth0 = below < 0 ? 0 : this.above0[below]!
    let depth1 = below < 0 ? 0 : this.above1[below]!
    for (let from = 0, to = 0; from < outgoing.length; from = to) {
      const low0 = depth0
      const low1 = depth1
      do {
        depth0 += step0[outgoing[to]!]!
        depth1 += step1[outgoing[to]!]!
        to++
      } while (to < outgoing.length && this.#turn(outgoing[from]!, outgoing[to]!) === 0)
      for (let i = from; i < to; i++) {
        const segment = outgoing[i]!
        this.below0[segment] = low0
        this.below1[segment] = low1
        this.above0[segment] = depth0
        this.above1[segment] = depth1
      }
      if (!visitor.piece(outgoing, from, to)) return false
    }
    return true
  }

  /** Two neighbours cross when the one that ends first ends on the wrong side of the other. */
  #lookAhead(lower: number, upper: number, visitor: SweepVisitor): boolean {
    if (lower < 0 || upper < 0) return true
    const { right, positions } = this.scene
    const rank = this.#rank
    const lowerEnd = right[lower]!
    const upperEnd = right[upper]!
    if (rank[lowerEnd] === rank[upperEnd]) return true
    const crosses =
      rank[upperEnd]! < rank[lowerEnd]!
        ? this.#side(lower, upperEnd) < 0
        : positions.orientation(this.scene.left[upper]!, upperEnd, lowerEnd) > 0
    if (!crosses) return true
    if (!visitor.crossing(lower, upper)) return false
    const crossing = crossingOf(this.scene, lower, upper)
    this.#budget.makeCrossing(crossing.places)
    this.#crossings.add(crossing)
    return true
  }

  #firstSectors(node: SweepNode, below: number): void {
    node.least0 = node.most0 = below < 0 ? 0 : this.above0[below]!
    node.least1 = node.most1 = below < 0 ? 0 : this.above1[below]!
    for (const segment of node.incoming) this.#widen(node, this.above0[segment]!, this.above1[segment]!)
  }

  #widen(node: SweepNode, depth0: number, depth1: number): void {
    node.least0 = Math.min(node.least0, depth0)
    node.most0 = Math.max(node.most0, depth0)
    node.least1 = Math.min(node.least1, depth1)
    node.most1 = Math.max(node.most1, depth1)
  }

  /** Positive when a position lies above a segment. */
  #side(segment: number, position: number): number {
    return this.scene.positions.orientation(this.scene.left[segment]!, this.scene.right[segment]!, position)
  }

  /** Of two segments that meet: positive when the second leaves above the first. */
  #turn(first: number, second: number): number {
    return this.#side(first, this.scene.right[second]!)
  }
}
