import type { SegmentSet } from '../layout/scene.ts'

/** Number of children of a node. Those of the lowest nodes are segments. */
const FANOUT = 8

/** Cost of a pair of segments that the boxes let through, in comparisons of boxes. */
const PAIR_EFFORT = 4

/**
 * Returns the cost that a join of this many segments may have before the sweep takes over. Ordinary rings need 10 to 60
 * comparisons per segment; a sweep takes as long as about 300.
 */
export function joinBudget(segmentCount: number): number {
  return 60 * segmentCount + 10_000
}

/** How a join ended: all pairs were visited, the visitor stopped it, or the budget was spent. */
export type JoinEnd = 'done' | 'stopped' | 'exhausted'

/**
 * A hierarchy of bounding boxes around consecutive segments. Consecutive edges of a line or ring are near each other, so nothing
 * has to be sorted. Boxes only save work: the pairs that they let through are tested exactly.
 */
export class SegmentIndex {
  readonly #items: Int32Array
  /** minLon, minLat, maxLon, maxLat of each node, the leaves first. */
  readonly #boxes: Float64Array
  /** First node of each level; the last entry is the number of nodes. */
  readonly #levels: number[]

  /** @param items segments, in their order along lines and rings */
  constructor(segments: SegmentSet, items: Int32Array) {
    this.#items = items
    const levels = [0]
    let nodes = 0
    for (let size = items.length; ; size = Math.ceil(size / FANOUT)) {
      nodes += size
      levels.push(nodes)
      if (size <= 1) break
    }
    this.#levels = levels
    this.#boxes = new Float64Array(4 * nodes)
    this.#fill(segments)
  }

  /**
   * Visits the pairs of segments, one of each index, whose boxes meet. When an index is joined with itself, every pair comes
   * once, with own ≤ others, and each segment also comes with itself.
   *
   * @param budget comparisons of boxes after which the join gives up
   * @param visit returns false to stop
   */
  join(other: SegmentIndex, budget: number, visit: (own: number, others: number) => boolean): JoinEnd {
    const a = this.#boxes
    const b = other.#boxes
    if (this.#items.length === 0 || other.#items.length === 0) return 'done'
    let remaining = budget
    // Pairs of (level, node) of both indexes.
    const stack = [this.#levels.length - 2, 0, other.#levels.length - 2, 0]
    while (stack.length > 0) {
      const otherNode = stack.pop()!
      const otherLevel = stack.pop()!
      const node = stack.pop()!
      const level = stack.pop()!
      // Joined with itself, each pair of nodes comes in both orders. One is enough.
      if (other === this && level === otherLevel && node > otherNode) continue
      if (level === 0 && otherLevel === 0) {
        remaining -= PAIR_EFFORT
        if (!visit(this.#items[node]!, other.#items[otherNode]!)) return 'stopped'
        continue
      }
      const splitsOwn = level >= otherLevel
      const split = splitsOwn ? this : other
      const childLevel = (splitsOwn ? level : otherLevel) - 1
      const first = FANOUT * (splitsOwn ? node : otherNode)
      const levelStart = split.#levels[childLevel]!
      const end = Math.min(first + FANOUT, split.#levels[childLevel + 1]! - levelStart)
      const boxes = splitsOwn ? a : b
      const fixed = splitsOwn ? b : a
      const f = 4 * (splitsOwn ? other.#levels[otherLevel]! + otherNode : this.#levels[level]! + node)
      remaining -= end - first
      if (remaining < 0) return 'exhausted'
      for (let child = end - 1; child >= first; child--) {
        const c = 4 * (levelStart + child)
        if (
          boxes[c]! > fixed[f + 2]! ||
          boxes[c + 2]! < fixed[f]! ||
          boxes[c + 1]! > fixed[f + 3]! ||
          boxes[c + 3]! < fixed[f + 1]!
        ) {
          continue
        }
        if (splitsOwn) stack.push(childLevel, child, otherLevel, otherNode)
        else stack.push(level, node, childLevel, child)
      }
    }
    return 'done'
  }

  #fill({ positions, left, right }: SegmentSet): void {
    const boxes = this.#boxes
    const { x, lat, planar } = positions
    // Longitudes are rounded. The margin is more than half a unit in the last place of the largest one.
    const margin = planar ? 0 : 1e-8
    this.#items.forEach((segment, node) => {
      const a = left[segment]!
      const b = right[segment]!
      boxes[4 * node] = Math.min(x[a]!, x[b]!) - margin
      boxes[4 * node + 1] = Math.min(lat[a]!, lat[b]!)
      boxes[4 * node + 2] = Math.max(x[a]!, x[b]!) + margin
      boxes[4 * node + 3] = Math.max(lat[a]!, lat[b]!)
    })
    for (let level = 1; level < this.#levels.length - 1; level++) {
      const start = this.#levels[level]!
      const below = this.#levels[level - 1]!
      for (let node = start; node < this.#levels[level + 1]!; node++) {
        const from = below + FANOUT * (node - start)
        const to = Math.min(from + FANOUT, start)
        let minLon = Number.POSITIVE_INFINITY
        let minLat = Number.POSITIVE_INFINITY
        let maxLon = Number.NEGATIVE_INFINITY
        let maxLat = Number.NEGATIVE_INFINITY
        for (let child = from; child < to; child++) {
          minLon = Math.min(minLon, boxes[4 * child]!)
          minLat = Math.min(minLat, boxes[4 * child + 1]!)
          maxLon = Math.max(maxLon, boxes[4 * child + 2]!)
          maxLat = Math.max(maxLat, boxes[4 * child + 3]!)
        }
        boxes[4 * node] = minLon
        boxes[4 * node + 1] = minLat
        boxes[4 * node + 2] = maxLon
        boxes[4 * node + 3] = maxLat
      }
    }
  }
}
