import { type EdgeTree, FANOUT } from './edge-tree.ts'
import { FILTER, orientation } from './orientation.ts'
import { isOnSegment } from './point-in-ring.ts'

/** What is kept by sequence, as bits. */
export const ODD = 1
export const ON = 2
const SEEN = 4

/** Products below it may have lost bits to underflow. */
const SMALLEST = 1e-250

/** Where a position lies to the rings of a tree: the two answers of one ray. */
export class EdgeRay {
  /** Edges of rings that the ray from the position to the east passes: whether their number is odd, over all rings. */
  isOdd = false
  /** The position lies on an edge. */
  isOnRing = false
  /** With a margin: the position is too close to an edge to tell. */
  isUnsure = false
  /** By sequence: `ODD` when the number of its edges passed is odd, and `ON` when the position lies on it. */
  readonly sequences: Uint8Array | undefined
  /** The sequences for which there is something in `sequences`, each once. */
  readonly seen: number[] = []
  /** Leaves looked into since the ray was made: what it costs. */
  effort = 0
  readonly #tree: EdgeTree
  readonly #margin: number
  #lon = 0
  #lat = 0

  /**
   * @param tree of the edges
   * @param keepsSequences whether the parity is wanted by sequence. Over all rings it means something when the tree holds rings
   *   alone; by sequence, for the sequences that are rings.
   * @param margin in degrees by which longitudes may be wrong; what that leaves open is unsure
   */
  constructor(tree: EdgeTree, keepsSequences: boolean, margin = 0) {
    this.#tree = tree
    this.#margin = margin
    this.sequences = keepsSequences ? new Uint8Array(tree.sequenceStarts.length - 1) : undefined
  }

  /** Exact. Looks only into boxes around the position: what lies east of it as a whole is passed as its ends say. */
  cast(lon: number, lat: number): this {
    this.#lon = lon
    this.#lat = lat
    this.isOdd = false
    this.isOnRing = false
    this.isUnsure = false
    if (this.sequences !== undefined) {
      for (const sequence of this.seen) this.sequences[sequence] = 0
      this.seen.length = 0
    }
    if (this.#tree.leafCount > 0) this.#visit(this.#tree.top, 0)
    return this
  }

  #visit(level: number, node: number): void {
    const { boxes, levels } = this.#tree
    const lon = this.#lon
    const lat = this.#lat
    const o = 4 * (levels[level]! + node)
    if (lat < boxes[o + 1]! || lat > boxes[o + 3]! || lon > boxes[o + 2]! + this.#margin) return
    if (lon < boxes[o]! - this.#margin) this.#pass(level, node)
    else if (level === 0) this.#margin === 0 ? this.#visitLeaf(node) : this.#visitRoundedLeaf(node)
    else {
      const end = Math.min(FANOUT * node + FANOUT, levels[level]! - levels[level - 1]!)
      for (let child = FANOUT * node; child < end; child++) this.#visit(level - 1, child)
    }
  }

  /** All edges of a node lie east: whole rings are passed an even number of times. */
  #pass(level: number, node: number): void {
    const { leafFirst, leafLast, leafSequence, sequenceStarts, vertices, leafCount } = this.#tree
    const width = FANOUT ** level
    const firstLeaf = width * node
    const lastLeaf = Math.min(firstLeaf + width, leafCount) - 1
    const isFirstAbove = vertices[2 * leafFirst[firstLeaf]! + 1]! > this.#lat
    const isLastAbove = vertices[2 * leafLast[lastLeaf]! + 1]! > this.#lat
    const first = leafSequence[firstLeaf]!
    const last = leafSequence[lastLeaf]!
    if (first === last) {
      if (isFirstAbove !== isLastAbove) this.#toggle(first)
      return
    }
    // The rest of the first ring, which ends where it began, and the beginning of the last.
    if (isFirstAbove !== vertices[2 * sequenceStarts[first]! + 1]! > this.#lat) this.#toggle(first)
    if (isLastAbove !== vertices[2 * sequenceStarts[last]! + 1]! > this.#lat) this.#toggle(last)
  }

  #toggle(sequence: number): void {
    this.isOdd = !this.isOdd
    if (this.sequences === undefined) return
    if (this.sequences[sequence] === 0) this.seen.push(sequence)
    this.sequences[sequence] = (this.sequences[sequence]! ^ ODD) | SEEN
  }

  #visitLeaf(leaf: number): void {
    const { vertices, leafFirst, leafLast, leafSequence } = this.#tree
    const lon = this.#lon
    const lat = this.#lat
    const end = 2 * leafLast[leaf]!
    let x1 = vertices[2 * leafFirst[leaf]!]!
    let y1 = vertices[2 * leafFirst[leaf]! + 1]!
    let isOdd = false
    let isOn = false
    this.effort++
    for (let i = 2 * leafFirst[leaf]! + 2; i <= end; i += 2) {
      const x2 = vertices[i]!
      const y2 = vertices[i + 1]!
      if (y1 > lat !== y2 > lat) {
        if (x1 > lon && x2 > lon) {
          isOdd = !isOdd
        } else if (x1 >= lon || x2 >= lon) {
          const side = orientation(x1, y1, x2, y2, lon, lat)
          if (side === 0) isOn = true
          if (side > 0 === y2 > y1) isOdd = !isOdd
        }
      } else if (y1 === lat && (x1 === lon || (y2 === lat && x1 > lon !== x2 > lon))) {
        isOn = true
      }
      x1 = x2
      y1 = y2
    }
    if (isOdd) this.#toggle(leafSequence[leaf]!)
    if (!isOn) return
    this.isOnRing = true
    if (this.sequences === undefined) return
    const sequence = leafSequence[leaf]!
    if (this.sequences[sequence] === 0) this.seen.push(sequence)
    this.sequences[sequence]! |= ON | SEEN
  }

  /** The same with longitudes that may be wrong by the margin; latitudes are exact. */
  #visitRoundedLeaf(leaf: number): void {
    const { vertices, leafFirst, leafLast, leafSequence } = this.#tree
    const lon = this.#lon
    const lat = this.#lat
    const margin = this.#margin
    this.effort++
    let isOdd = false
    for (let i = 2 * leafFirst[leaf]!; i < 2 * leafLast[leaf]!; i += 2) {
      const x1 = vertices[i]! - lon
      const y1 = vertices[i + 1]! - lat
      const x2 = vertices[i + 2]! - lon
      const y2 = vertices[i + 3]! - lat
      if (x1 < -margin && x2 < -margin) continue
      if (y1 > 0 !== y2 > 0) {
        if (x1 > margin && x2 > margin) {
          isOdd = !isOdd
          continue
        }
        const left = x1 * y2
        const right = y1 * x2
        const bound = FILTER * (Math.abs(left) + Math.abs(right)) + margin * (Math.abs(y1) + Math.abs(y2)) + SMALLEST
        const side = left - right
        if (Math.abs(side) <= bound) this.isUnsure = true
        else if (side > 0 === y2 > y1) isOdd = !isOdd
      } else if (y1 === 0 && (Math.abs(x1) <= margin || (y2 === 0 && !(x1 > margin && x2 > margin)))) {
        this.isUnsure = true
      }
    }
    if (isOdd) this.#toggle(leafSequence[leaf]!)
  }
}

/**
 * Whether a position lies on an edge or is a point of a tree.
 *
 * @param isLeftOut by sequence: 1 for those that do not count; absent when all do
 */
export function isOnEdges(tree: EdgeTree, lon: number, lat: number, isLeftOut?: Uint8Array): boolean {
  const { boxes, levels, leafFirst, leafLast, leafSequence, vertices, leafCount } = tree
  if (leafCount === 0) return false
  const stack = [tree.top, 0]
  while (stack.length > 0) {
    const node = stack.pop()!
    const level = stack.pop()!
    const o = 4 * (levels[level]! + node)
    if (lon < boxes[o]! || lat < boxes[o + 1]! || lon > boxes[o + 2]! || lat > boxes[o + 3]!) continue
    if (level > 0) {
      const end = Math.min(FANOUT * node + FANOUT, levels[level]! - levels[level - 1]!)
      for (let child = FANOUT * node; child < end; child++) stack.push(level - 1, child)
      continue
    }
    if (isLeftOut?.[leafSequence[node]!] === 1) continue
    let i = leafFirst[node]!
    do {
      const j = Math.min(i + 1, leafLast[node]!)
      if (isOnSegment(vertices[2 * i]!, vertices[2 * i + 1]!, vertices[2 * j]!, vertices[2 * j + 1]!, lon, lat)) {
        return true
      }
      i++
    } while (i < leafLast[node]!)
  }
  return false
}

/**
 * Whether a vertex of the first tree stands exactly where its edge crosses an edge of the second.
 *
 * @param own vertex at which the edge of the first tree starts
 * @param other vertex at which the edge of the second tree starts
 */
export function isVertexAtCrossing(a: EdgeTree, own: number, b: EdgeTree, other: number): boolean {
  const { vertices: v, boxes, levels, leafFirst, leafLast } = a
  const w = b.vertices
  const [ax, ay, bx, by] = [v[2 * own]!, v[2 * own + 1]!, v[2 * own + 2]!, v[2 * own + 3]!]
  const [cx, cy, dx, dy] = [w[2 * other]!, w[2 * other + 1]!, w[2 * other + 2]!, w[2 * other + 3]!]
  const west = Math.max(Math.min(ax, bx), Math.min(cx, dx))
  const south = Math.max(Math.min(ay, by), Math.min(cy, dy))
  const east = Math.min(Math.max(ax, bx), Math.max(cx, dx))
  const north = Math.min(Math.max(ay, by), Math.max(cy, dy))
  const stack = [a.top, 0]
  while (stack.length > 0) {
    const node = stack.pop()!
    const level = stack.pop()!
    const o = 4 * (levels[level]! + node)
    if (boxes[o]! > east || boxes[o + 1]! > north || boxes[o + 2]! < west || boxes[o + 3]! < south) continue
    if (level > 0) {
      const end = Math.min(FANOUT * node + FANOUT, levels[level]! - levels[level - 1]!)
      for (let child = FANOUT * node; child < end; child++) stack.push(level - 1, child)
      continue
    }
    for (let i = leafFirst[node]!; i <= leafLast[node]!; i++) {
      const [lon, lat] = [v[2 * i]!, v[2 * i + 1]!]
      if (orientation(ax, ay, bx, by, lon, lat) === 0 && orientation(cx, cy, dx, dy, lon, lat) === 0) return true
    }
  }
  return false
}
