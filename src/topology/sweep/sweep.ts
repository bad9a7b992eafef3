import { spendWork } from '../../base/work.ts'
import { type Crossing, CrossingQueue, compareToPosition, computeCrossing, liesOn } from '../exact/crossing.ts'
import { bucketByEnd, type EndBuckets, rankPositions } from '../exact/positions.ts'
import { SweepStatus } from '../exact/sweep-status.ts'
import { SweepBudget } from '../exact/undecidable.ts'
import type { SegmentSet } from '../layout/segment-set.ts'

/** Units of work for each segment: building it, and sorting its ends. */
const WORK_PER_SEGMENT = 1 / 4

/**
 * Receives the arrangement of the segments while the sweep line moves over it. A method that returns false ends the sweep.
 *
 * The arrangement is the subdivision of the plane by all segments. Its vertices are called nodes and its edges pieces, because a
 * geometry has vertices and edges of its own.
 */
export interface SweepVisitor {
  /** The interiors of two segments are about to cross at one point. */
  visitCrossing(lower: number, upper: number): boolean
  /**
   * A piece leaves a node to the right: the collinear segments `outgoing[from]` … `outgoing[to − 1]`. The sweep holds the depths
   * below and above it.
   */
  visitPiece(outgoing: readonly number[], from: number, to: number): boolean
  /** The sweep line has passed a position. Crossings are not reported here. */
  visitNode(node: SweepNode): boolean
  /**
   * The sweep line has passed a crossing that is no position. `position` of the node is meaningless. A visitor with this method gets the
   * sectors of every node.
   */
  visitPassedCrossing?(node: SweepNode): boolean
}

/**
 * A position and what meets there: segments that come from the left and leave to the right, each from bottom to top, and points.
 */
export interface SweepNode {
  position: number
  incoming: number[]
  outgoing: number[]
  /** Segments of dimension 0. */
  points: number[]
  /**
   * Least and greatest depth of the sectors around the position; valid only when `points` is not empty, or for a visitor of passed
   * crossings.
   */
  minDepth0: number
  maxDepth0: number
  minDepth1: number
  maxDepth1: number
}

/**
 * Bentley–Ottmann sweep over a segment set, by longitude, then latitude. It reports the arrangement of the segments, with the
 * depths on both sides of every piece.
 *
 * The events are the ends of segments, which are sorted beforehand, and the crossings, which are found ahead of the sweep line
 * where two segments become neighbours in the status structure. Coordinates of crossings are never rounded: where a crossing is
 * allowed, its point is an exact fraction. Segments are split only at the positions that were received.
 *
 * @see M. de Berg et al., Computational Geometry, chapter 2
 */
export class Sweep {
  readonly segments: SegmentSet
  /** Depths below and above each segment, valid for the piece that the sweep line is on. */
  readonly below0: Int32Array
  readonly below1: Int32Array
  readonly above0: Int32Array
  readonly above1: Int32Array
  readonly #status: SweepStatus
  readonly #crossings: CrossingQueue
  readonly #budget = new SweepBudget()
  #incoming: number[] = []
  #outgoing: number[] = []
  readonly #node: SweepNode = {
    position: 0,
    incoming: [],
    outgoing: [],
    points: [],
    minDepth0: 0,
    maxDepth0: 0,
    minDepth1: 0,
    maxDepth1: 0,
  }
  /** Rank by position, for the ends of active segments. */
  #rank: Int32Array = new Int32Array(0)
  /** Whether the sweep line is in the window of the segment set. Until then depths mean nothing. */
  #isInWindow: boolean

  constructor(segments: SegmentSet) {
    const { count } = segments
    this.segments = segments
    this.below0 = new Int32Array(count)
    this.below1 = new Int32Array(count)
    this.above0 = new Int32Array(count)
    this.above1 = new Int32Array(count)
    this.#status = new SweepStatus(count)
    this.#crossings = new CrossingQueue()
    this.#isInWindow = segments.window === undefined
  }

  /**
   * @param active segments that take part; must include all edges of rings in the window
   * @returns false when the visitor ended the sweep
   * @throws {UndecidableError} after too many crossings, or when too many segments meet
   * @throws {WorkLimitError} when the request exceeds its limit of work
   */
  run(active: Int32Array, visitor: SweepVisitor): boolean {
    const { segments } = this
    const { left, right, positions, window } = segments
    spendWork(active.length * WORK_PER_SEGMENT)
    const endPositions = new Int32Array(2 * active.length)
    active.forEach((segment, i) => {
      endPositions[2 * i] = left[segment]!
      endPositions[2 * i + 1] = right[segment]!
    })
    const { rank, representative, count } = rankPositions(segments.positions, endPositions)
    this.#rank = rank
    const starts = bucketByEnd(active, left, rank, count)
    const ends = bucketByEnd(active, right, rank, count)
    for (let r = 0; r < count; r++) {
      const position = representative[r]!
      if (window !== undefined && positions.x[position]! > window.east) return true
      for (let crossing = this.#crossings.first; crossing !== undefined; crossing = this.#crossings.first) {
        this.#budget.spendOnComparison(crossing.fractionBits)
        const order = compareToPosition(segments, crossing, position)
        if (order > 0) break
        // Of several crossings at one point the first is enough: passing it handles all segments that meet there.
        this.#crossings.removeFirstPoint()
        if (order < 0 && !this.#passCrossing(crossing, visitor)) return false
      }
      if (!this.#isInWindow && positions.x[position]! >= window!.west && !this.#enterWindow(visitor)) return false
      this.#budget.spendOnPosition()
      if (!this.#passPosition(position, r, starts, ends, visitor)) return false
    }
    return true
  }

  #passPosition(position: number, r: number, starts: EndBuckets, ends: EndBuckets, visitor: SweepVisitor): boolean {
    const node = this.#node
    const { left, right } = this.segments
    const rank = this.#rank
    const status = this.#status
    const incoming = this.#incoming
    const outgoing = this.#outgoing
    incoming.length = 0
    outgoing.length = 0
    node.points.length = 0
    let endingSegment = -1
    for (let i = ends.from[r]!; i < ends.from[r + 1]!; i++) {
      const segment = ends.items[i]!
      if (left[segment] === right[segment]) node.points.push(segment)
      else endingSegment = segment
    }
    const meets = (segment: number): boolean => rank[right[segment]!] === r || this.#side(segment, position) === 0
    let below: number
    if (endingSegment >= 0) {
      below = status.below[endingSegment]!
      while (below >= 0 && meets(below)) below = status.below[below]!
    } else {
      below = status.highest((segment) => this.#side(segment, position) > 0)
    }
    let above = below < 0 ? status.lowest : status.above[below]!
    while (above >= 0 && meets(above)) {
      incoming.push(above)
      if (rank[right[above]!] !== r) outgoing.push(above)
      above = status.above[above]!
    }
    for (let i = starts.from[r]!; i < starts.from[r + 1]!; i++) {
      const segment = starts.items[i]!
      if (left[segment] !== right[segment]) outgoing.push(segment)
    }
    node.position = position
    node.incoming = incoming
    node.outgoing = outgoing
    const needsSectors = node.points.length > 0 || visitor.visitPassedCrossing !== undefined
    if (needsSectors) this.#startSectors(node, below)
    if (!this.#leave(below, above, visitor)) return false
    if (needsSectors) this.#endSectors(node)
    return !this.#isInWindow || visitor.visitNode(node)
  }

  /**
   * Starts to report. The status structure then holds everything that the sweep line meets, whatever is missing before the window,
   * so the depths follow from it alone.
   */
  #enterWindow(visitor: SweepVisitor): boolean {
    this.#isInWindow = true
    const status = this.#status
    const outgoing = this.#outgoing
    outgoing.length = 0
    for (let segment = status.lowest; segment >= 0; segment = status.above[segment]!) outgoing.push(segment)
    this.#budget.spendOnNode(outgoing.length)
    return this.#setDepths(-1, visitor)
  }

  /** Passes a crossing. All segments that meet there were neighbours so far; they reverse their order and continue. */
  #passCrossing(crossing: Crossing, visitor: SweepVisitor): boolean {
    const status = this.#status
    const incoming = this.#incoming
    incoming.length = 0
    let lowest = crossing.lower
    for (let s = status.below[lowest]!; s >= 0 && this.#passes(s, crossing); s = status.below[s]!) lowest = s
    let above = lowest
    for (let isKnown = true; above >= 0 && (isKnown || this.#passes(above, crossing)); above = status.above[above]!) {
      incoming.push(above)
      if (above === crossing.lower) isKnown = false
    }
    // Nearly in order already for the sort in #leave.
    this.#outgoing = incoming.toReversed()
    const below = status.below[lowest]!
    if (visitor.visitPassedCrossing === undefined) return this.#leave(below, above, visitor)
    const node = this.#node
    node.incoming = incoming
    node.outgoing = this.#outgoing
    node.points.length = 0
    this.#startSectors(node, below)
    if (!this.#leave(below, above, visitor)) return false
    this.#endSectors(node)
    return !this.#isInWindow || visitor.visitPassedCrossing(node)
  }

  #passes(segment: number, crossing: Crossing): boolean {
    this.#budget.spendOnCrossingTest(crossing.fractionBits)
    return liesOn(this.segments, crossing, segment)
  }

  /** Sorts the outgoing segments, puts them where the incoming ones were, sets depths, and looks for crossings ahead. */
  #leave(below: number, above: number, visitor: SweepVisitor): boolean {
    const status = this.#status
    const incoming = this.#incoming
    const outgoing = this.#outgoing
    this.#budget.spendOnNode(incoming.length + outgoing.length)
    if (outgoing.length > 1) outgoing.sort((s, t) => this.#compareSlopes(t, s) || s - t)
    if (incoming.length === 1 && outgoing.length === 1) {
      if (incoming[0] !== outgoing[0]) status.replace(incoming[0]!, outgoing[0]!)
    } else {
      for (const segment of incoming) status.remove(segment)
      let after = below
      for (const segment of outgoing) {
        status.insert(after, segment)
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
    const { step0, step1 } = this.segments
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
      } while (to < outgoing.length && this.#isCollinear(outgoing[from]!, outgoing[to]!))
      for (let i = from; i < to; i++) {
        const segment = outgoing[i]!
        this.below0[segment] = low0
        this.below1[segment] = low1
        this.above0[segment] = depth0
        this.above1[segment] = depth1
      }
      if (this.#isInWindow && !visitor.visitPiece(outgoing, from, to)) return false
    }
    return true
  }

  /** Looks for a crossing of two neighbours. They cross when the one that ends first ends on the wrong side of the other. */
  #lookAhead(lower: number, upper: number, visitor: SweepVisitor): boolean {
    if (lower < 0 || upper < 0) return true
    const { right, positions } = this.segments
    const rank = this.#rank
    const lowerEnd = right[lower]!
    const upperEnd = right[upper]!
    if (rank[lowerEnd] === rank[upperEnd]) return true
    const crosses =
      rank[upperEnd]! < rank[lowerEnd]!
        ? this.#side(lower, upperEnd) < 0
        : positions.orientation(this.segments.left[upper]!, upperEnd, lowerEnd) > 0
    if (!crosses) return true
    if (!visitor.visitCrossing(lower, upper)) return false
    const crossing = computeCrossing(this.segments, lower, upper)
    this.#budget.spendOnCrossing(crossing.fractionBits)
    this.#crossings.add(crossing)
    return true
  }

  #startSectors(node: SweepNode, below: number): void {
    node.minDepth0 = node.maxDepth0 = below < 0 ? 0 : this.above0[below]!
    node.minDepth1 = node.maxDepth1 = below < 0 ? 0 : this.above1[below]!
    for (const segment of node.incoming) this.#includeSector(node, this.above0[segment]!, this.above1[segment]!)
  }

  #endSectors(node: SweepNode): void {
    for (const segment of node.outgoing) this.#includeSector(node, this.above0[segment]!, this.above1[segment]!)
  }

  #includeSector(node: SweepNode, depth0: number, depth1: number): void {
    node.minDepth0 = Math.min(node.minDepth0, depth0)
    node.maxDepth0 = Math.max(node.maxDepth0, depth0)
    node.minDepth1 = Math.min(node.minDepth1, depth1)
    node.maxDepth1 = Math.max(node.maxDepth1, depth1)
  }

  /** Orientation test: positive when a position lies above a segment, negative below, 0 on its line. */
  #side(segment: number, position: number): number {
    return this.segments.positions.orientation(this.segments.left[segment]!, this.segments.right[segment]!, position)
  }

  /** Compares two segments that meet: positive when the second leaves above the first. */
  #compareSlopes(first: number, second: number): number {
    return this.#side(first, this.segments.right[second]!)
  }

  #isCollinear(first: number, second: number): boolean {
    return this.#compareSlopes(first, second) === 0 && this.#side(first, this.segments.left[second]!) === 0
  }
}
