import type { FlatGeometry } from '../../geometry/flat.ts'

/** Largest number of edges in a leaf. All belong to one sequence. */
const LEAF_EDGES = 8
/** Children of a node. */
export const FANOUT = 4

/** Directions that all edges of a node share, as bits. A chain with such a direction is monotone and cannot intersect itself. */
export const EASTWARD = 1
export const WESTWARD = 2
const NORTHWARD = 4
const SOUTHWARD = 8
const ANY = EASTWARD | WESTWARD | NORTHWARD | SOUTHWARD

/** The arrays of an edge tree, for example in shared memory. */
export type EdgeTreeArrays = Pick<EdgeTree, 'boxes' | 'leafFirst' | 'leafLast' | 'leafSequence'>

/**
 * A hierarchy of bounding boxes around consecutive edges of a geometry in the plane. Consecutive edges are near each other, so
 * nothing has to be sorted. A leaf holds edges of one sequence. Boxes are exact, because their sides are coordinates of vertices.
 *
 * Node i of a level covers the leaves [i · FANOUT^level, (i + 1) · FANOUT^level), hence consecutive vertices.
 */
export class EdgeTree {
  readonly vertices: Float64Array
  readonly sequenceStarts: Uint32Array
  /** West, south, east, north of each node, the leaves first. */
  readonly boxes: Float64Array
  /** First node of each level; the last entry is the number of nodes. */
  readonly levels: readonly number[]
  /**
   * First and last vertex of each leaf. The last one is also the first of the next leaf of the sequence. A point has one vertex.
   */
  readonly leafFirst: Int32Array
  readonly leafLast: Int32Array
  readonly leafSequence: Int32Array
  #trends: Uint8Array | undefined

  /**
   * @param firstSequence first sequence to include
   * @param endSequence index after the last sequence to include
   * @param arrays those of the tree that was built of the same vertices and sequences; they are used as they are
   */
  constructor(
    { vertices, sequenceStarts }: Pick<FlatGeometry, 'vertices' | 'sequenceStarts'>,
    firstSequence = 0,
    endSequence = sequenceStarts.length - 1,
    arrays?: EdgeTreeArrays,
  ) {
    this.vertices = vertices
    this.sequenceStarts = sequenceStarts
    if (arrays !== undefined) {
      this.levels = levelsOf(arrays.leafFirst.length)
      this.boxes = arrays.boxes
      this.leafFirst = arrays.leafFirst
      this.leafLast = arrays.leafLast
      this.leafSequence = arrays.leafSequence
      return
    }
    let leaves = 0
    for (let sequence = firstSequence; sequence < endSequence; sequence++) {
      leaves += countLeaves(sequenceStarts[sequence + 1]! - sequenceStarts[sequence]!)
    }
    const levels = levelsOf(leaves)
    const nodes = levels[levels.length - 1]!
    this.levels = levels
    this.boxes = new Float64Array(4 * nodes)
    this.leafFirst = new Int32Array(leaves)
    this.leafLast = new Int32Array(leaves)
    this.leafSequence = new Int32Array(leaves)
    this.#fillLeaves(firstSequence, endSequence)
    this.#fillLevels()
  }

  /** Level of the root. */
  get rootLevel(): number {
    return this.levels.length - 2
  }

  get leafCount(): number {
    return this.leafFirst.length
  }

  /** True when the box of all vertices proves that none is at ±180 or a pole and that no edge spans 180° of longitude or more. */
  get isSurelyPlanar(): boolean {
    const { boxes } = this
    const root = boxes.length - 4
    if (root < 0) return true
    const west = boxes[root]!
    const east = boxes[root + 2]!
    return west > -180 && east < 180 && boxes[root + 1]! > -90 && boxes[root + 3]! < 90 && east - west < 180
  }

  /** Tells whether a position lies outside of the box of all vertices. */
  isOutside(lon: number, lat: number): boolean {
    const { boxes } = this
    const root = boxes.length - 4
    return lon < boxes[root]! || lat < boxes[root + 1]! || lon > boxes[root + 2]! || lat > boxes[root + 3]!
  }

  get byteLength(): number {
    // Includes the trends, which are computed later.
    return this.boxes.byteLength + this.boxes.length / 4 + 3 * this.leafFirst.byteLength
  }

  /** By node, the bits of the directions that all its edges share; 0 for a node with several sequences. Computed on first use. */
  get trends(): Uint8Array {
    this.#trends ??= this.#computeTrends()
    return this.#trends
  }

  #fillLeaves(firstSequence: number, endSequence: number): void {
    const { vertices, sequenceStarts, boxes, leafFirst, leafLast, leafSequence } = this
    let leaf = 0
    for (let sequence = firstSequence; sequence < endSequence; sequence++) {
      const end = sequenceStarts[sequence + 1]! - 1
      let first = sequenceStarts[sequence]!
      do {
        const last = Math.min(first + LEAF_EDGES, end)
        let west = vertices[2 * first]!
        let south = vertices[2 * first + 1]!
        let east = west
        let north = south
        for (let i = 2 * first + 2; i <= 2 * last; i += 2) {
          const lon = vertices[i]!
          const lat = vertices[i + 1]!
          if (lon < west) west = lon
          else if (lon > east) east = lon
          if (lat < south) south = lat
          else if (lat > north) north = lat
        }
        boxes[4 * leaf] = west
        boxes[4 * leaf + 1] = south
        boxes[4 * leaf + 2] = east
        boxes[4 * leaf + 3] = north
        leafFirst[leaf] = first
        leafLast[leaf] = last
        leafSequence[leaf] = sequence
        leaf++
        first = last
      } while (first < end)
    }
  }

  #fillLevels(): void {
    const { boxes, levels } = this
    for (let level = 1; level < levels.length - 1; level++) {
      const start = levels[level]!
      const below = levels[level - 1]!
      for (let node = start; node < levels[level + 1]!; node++) {
        const from = below + FANOUT * (node - start)
        const to = Math.min(from + FANOUT, start)
        let west = boxes[4 * from]!
        let south = boxes[4 * from + 1]!
        let east = boxes[4 * from + 2]!
        let north = boxes[4 * from + 3]!
        for (let child = from + 1; child < to; child++) {
          if (boxes[4 * child]! < west) west = boxes[4 * child]!
          if (boxes[4 * child + 1]! < south) south = boxes[4 * child + 1]!
          if (boxes[4 * child + 2]! > east) east = boxes[4 * child + 2]!
          if (boxes[4 * child + 3]! > north) north = boxes[4 * child + 3]!
        }
        boxes[4 * node] = west
        boxes[4 * node + 1] = south
        boxes[4 * node + 2] = east
        boxes[4 * node + 3] = north
      }
    }
  }

  #computeTrends(): Uint8Array {
    const { vertices, levels, leafFirst, leafLast, leafSequence } = this
    const trends = new Uint8Array(this.boxes.length / 4)
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      let trend = ANY
      for (let i = 2 * leafFirst[leaf]!; i < 2 * leafLast[leaf]! && trend !== 0; i += 2) {
        const lon = vertices[i + 2]! - vertices[i]!
        const lat = vertices[i + 3]! - vertices[i + 1]!
        // An edge of zero length fits every direction.
        if (lon === 0 && lat === 0) continue
        trend &= (lon > 0 ? EASTWARD : lon < 0 ? WESTWARD : 0) | (lat > 0 ? NORTHWARD : lat < 0 ? SOUTHWARD : 0)
      }
      trends[leaf] = trend
    }
    let leaves = 1
    for (let level = 1; level < levels.length - 1; level++) {
      const start = levels[level]!
      const below = levels[level - 1]!
      leaves *= FANOUT
      for (let node = start; node < levels[level + 1]!; node++) {
        const from = below + FANOUT * (node - start)
        const to = Math.min(from + FANOUT, start)
        const firstLeaf = leaves * (node - start)
        const lastLeaf = Math.min(firstLeaf + leaves, leafFirst.length) - 1
        let trend = leafSequence[firstLeaf] === leafSequence[lastLeaf] ? ANY : 0
        for (let child = from; child < to; child++) trend &= trends[child]!
        trends[node] = trend
      }
    }
    return trends
  }
}

/** Returns the first node of each level above a number of leaves, and the number of nodes. */
function levelsOf(leaves: number): number[] {
  const levels = [0]
  let nodes = 0
  for (let size = leaves; ; size = Math.ceil(size / FANOUT)) {
    nodes += size
    levels.push(nodes)
    if (size <= 1) return levels
  }
}

function countLeaves(vertices: number): number {
  return Math.max(1, Math.ceil((vertices - 1) / LEAF_EDGES))
}
