import type { Scene } from './scene.ts'

/** Children of a node; also segments of a leaf's parent. */
const FANOUT = 8

/** Effort of a pair of segments let through, in comparisons of boxes. */
const PAIR_EFFORT = 4

/**
 * Effort that a join of so many segments is worth before the sweep takes over. Ordinary rings need 10 to 60 comparisons by
 * segment; a sweep takes as long as some 300.
 */
export function joinBudget(segments: number): number {
  return 60 * segments + 10_000
}

/** How a walk over pairs ended: all seen, ended by the visitor, or given up. */
export type JoinEnd = 'done' | 'stopped' | 'exhausted'

/**
 * Boxes around consecutive segments, level by level: consecutive edges of a line or ring are near each other, so no sorting
 * is needed. Boxes only spare work; what they let through is judged exactly.
 */
export class SegmentIndex {
  readonly #items: Int32Array
  /** minLon, minLat, maxLon, maxLat of each node, the leaves first. */
  readonly #boxes: Float64Array
  /** First node of each level; the last entry is the number of nodes. */
  readonly #levels: number[]

  /** @param items segments, in their order along lines and rings */
  constructor(scene: Scene, items: Int32Array) {
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
    this.#fill(scene)
  }

  /**
   * Visits the pairs of segments, one of each index, whose boxes meet. Joined with itself, every pair comes once, own ≤ others,
   * each segment with itself among them.
   *
   * @param budget effort in comparisons of boxes after which it gives up
   * @param visit answers false to stop
   */
  join(other: SegmentIndex, budget: number, visit: (own: number, others: number) => boolean): JoinEnd {
    const a = this.#boxes
    const b = other.#boxes
    if (this.#items.length === 0 || other.#items.length === 0) return 'done'
    let left = budget
    // Pairs of (level, node) of both indexes.
    const stack = [this.#levels.length - 2, 0, other.#levels.length - 2, 0]
    while (stack.length > 0) {
      const otherNode = stack.pop()!
      const otherLevel = stack.pop()!
      const node = stack.pop()!
      const level = stack.pop()!
      // With itself, each pair comes in both orders: one will do.
      if (other === this && level === otherLevel && node > otherNode) continue
      if (level === 0 && otherLevel === 0) {
        left -= PAIR_EFFORT
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
      left -= end - first
      if (left < 0) return 'exhausted'
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

  #fill({ positions, left, right }: Scene): void {
    const boxes = this.#boxes
    const { x, lat, planar } = positions
    // Rounded longitudes: half a unit in the last place of the largest, and more.
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
