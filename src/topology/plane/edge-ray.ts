import { spendWork } from '../../base/work.ts'
import { orientation } from '../exact/exact.ts'
import { isOnSegment } from '../exact/point-in-ring.ts'
import { type EdgeTree, FANOUT } from './edge-tree.ts'

/** Flags that are kept by sequence. */
export const ODD = 1
export const ON = 2
const SEEN = 4

/** Leaves whose edges are compared with a position that count as one unit of work. */
const LEAVES_PER_UNIT = 4

/**
 * Locates positions among the rings of an edge tree by ray casting. A ray runs from the position to the east; the position is
 * inside when the ray crosses an odd number of edges.
 *
 * Nodes whose box does not contain the latitude of the position, or lies wholly to its west or east, are not opened. A node wholly
 * to the east holds a run of vertices, and the latitudes at its ends tell whether the ray crosses it an odd number of times.
 */
export class EdgeRay {
  /** Whether the ray crosses an odd number of edges, over all rings. */
  isOdd = false
  /** Whether the position lies on an edge. */
  isOnRing = false
  /** By sequence: `ODD` when the ray crosses an odd number of its edges, and `ON` when the position lies on it. */
  readonly flagsBySequence: Uint8Array | undefined
  /** The sequences that have a flag, each once. */
  readonly flaggedSequences: number[] = []
  /** Number of leaves opened so far, as a measure of cost. */
  openedLeaves = 0
  /** Number of nodes visited so far. */
  visitedNodes = 0
  readonly #tree: EdgeTree
  #lon = 0
  #lat = 0

  /**
   * @param tree the edges
   * @param keepsSequences whether parities are kept by sequence. The parity over all rings is meaningful when the tree holds
   *   rings only, the parity of a sequence when that sequence is a ring.
   */
  constructor(tree: EdgeTree, keepsSequences: boolean) {
    this.#tree = tree
    this.flagsBySequence = keepsSequences ? new Uint8Array(tree.sequenceStarts.length - 1) : undefined
  }

  /** Casts the ray from a position. Exact. */
  cast(lon: number, lat: number): this {
    this.#lon = lon
    this.#lat = lat
    this.isOdd = false
    this.isOnRing = false
    if (this.flagsBySequence !== undefined) {
      for (const sequence of this.flaggedSequences) this.flagsBySequence[sequence] = 0
      this.flaggedSequences.length = 0
    }
    if (this.#tree.leafCount > 0) this.#visit(this.#tree.rootLevel, 0)
    return this
  }

  #visit(level: number, node: number): void {
    this.visitedNodes++
    const { boxes, levels } = this.#tree
    const lon = this.#lon
    const lat = this.#lat
    const o = 4 * (levels[level]! + node)
    if (lat < boxes[o + 1]! || lat > boxes[o + 3]! || lon > boxes[o + 2]!) return
    if (lon < boxes[o]!) this.#crossNode(level, node)
    else if (level === 0) this.#visitLeaf(node)
    else {
      const end = Math.min(FANOUT * node + FANOUT, levels[level]! - levels[level - 1]!)
      for (let child = FANOUT * node; child < end; child++) this.#visit(level - 1, child)
    }
  }

  /** Counts the crossings of a node that lies wholly to the east. A whole ring in it is crossed an even number of times. */
  #crossNode(level: number, node: number): void {
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
    // The end of the first ring, which leads back to that ring's start, and the beginning of the last ring.
    if (isFirstAbove !== vertices[2 * sequenceStarts[first]! + 1]! > this.#lat) this.#toggle(first)
    if (isLastAbove !== vertices[2 * sequenceStarts[last]! + 1]! > this.#lat) this.#toggle(last)
  }

  #toggle(sequence: number): void {
    this.isOdd = !this.isOdd
    if (this.flagsBySequence === undefined) return
    if (this.flagsBySequence[sequence] === 0) this.flaggedSequences.push(sequence)
    this.flagsBySequence[sequence] = (this.flagsBySequence[sequence]! ^ ODD) | SEEN
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
    this.openedLeaves++
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
    if (this.flagsBySequence === undefined) return
    const sequence = leafSequence[leaf]!
    if (this.flagsBySequence[sequence] === 0) this.flaggedSequences.push(sequence)
    this.flagsBySequence[sequence]! |= ON | SEEN
  }
}

/**
 * Tells whether a position lies on an edge of a tree or equals one of its points.
 *
 * @param isSkipped by sequence: 1 for those that do not count; absent when all count
 */
export function isOnEdges(tree: EdgeTree, lon: number, lat: number, isSkipped?: Uint8Array): boolean {
  const { boxes, levels, leafFirst, leafLast, leafSequence, vertices, leafCount } = tree
  if (leafCount === 0) return false
  const stack = [tree.rootLevel, 0]
  let visited = 0
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
    if (isSkipped?.[leafSequence[node]!] === 1) continue
    visited++
    let i = leafFirst[node]!
    do {
      const j = Math.min(i + 1, leafLast[node]!)
      if (isOnSegment(vertices[2 * i]!, vertices[2 * i + 1]!, vertices[2 * j]!, vertices[2 * j + 1]!, lon, lat)) {
        spendWork(visited / LEAVES_PER_UNIT)
        return true
      }
      i++
    } while (i < leafLast[node]!)
  }
  spendWork(visited / LEAVES_PER_UNIT)
  return false
}

/**
 * Tells whether a vertex of the first tree lies exactly where two edges cross.
 *
 * @param edgeA vertex at which the edge of the first tree starts
 * @param edgeB vertex at which the edge of the second tree starts
 */
export function isVertexAtCrossing(a: EdgeTree, edgeA: number, b: EdgeTree, edgeB: number): boolean {
  const { vertices: v, boxes, levels, leafFirst, leafLast } = a
  const w = b.vertices
  const [ax, ay, bx, by] = [v[2 * edgeA]!, v[2 * edgeA + 1]!, v[2 * edgeA + 2]!, v[2 * edgeA + 3]!]
  const [cx, cy, dx, dy] = [w[2 * edgeB]!, w[2 * edgeB + 1]!, w[2 * edgeB + 2]!, w[2 * edgeB + 3]!]
  const west = Math.max(Math.min(ax, bx), Math.min(cx, dx))
  const south = Math.max(Math.min(ay, by), Math.min(cy, dy))
  const east = Math.min(Math.max(ax, bx), Math.max(cx, dx))
  const north = Math.min(Math.max(ay, by), Math.max(cy, dy))
  const stack = [a.rootLevel, 0]
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
