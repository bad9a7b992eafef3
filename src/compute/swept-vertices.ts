import { spendWork } from '../base/work.ts'
import { edgeTurn } from '../geometry/edge-turn.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { wrapLongitude } from '../topology/layout/segment-set.ts'
import { hasLongitudeJump } from '../topology/layout/unwrap.ts'
import { EASTWARD, EdgeTree, FANOUT, WESTWARD } from '../topology/plane/edge-tree.ts'
import type { PreparedTopology } from '../topology/plane/prepared.ts'
import type { Kernel } from '../wasm/loader.ts'
import { type Chord, edgeReachDegrees, isFar, isHalfTurn, type SweptVertex, SweptVertexTest } from './swept-vertex.ts'

/** How many box comparisons count as one unit of work, and how many take as long as the test of one vertex inside a box. */
const COMPARISONS_PER_UNIT = 128
const FAR_COMPARISONS = 4

type Edge = [lon1: number, lat1: number, lon2: number, lat2: number]

/** Searches one Polygon or MultiPolygon for swept vertices: those between an edge's geodesic and its planar edge. */
export class SweptVertexSearch {
  /** A copy whose longitudes are unrolled along each ring, so that no edge jumps over ±180; the input itself if no edge jumps. */
  readonly #geometry: FlatGeometry
  /** True if longitudes were unrolled, which rounds them. */
  readonly #isRounded: boolean
  readonly #tree: EdgeTree
  /** For each node of the tree: degrees of latitude by which the geodesics of its edges may leave its box. */
  readonly #reach: Float64Array
  readonly #sweptVertices: SweptVertex[] = []
  readonly #edgeTest: SweptVertexTest

  /**
   * @param element index of the Polygon or MultiPolygon
   * @param firstSequence index of its first ring
   * @param endSequence index after its last ring
   * @param strictMargin see `SweptVertexTest`
   */
  constructor(
    kernel: Kernel,
    topology: PreparedTopology,
    element: number,
    firstSequence: number,
    endSequence: number,
    strictMargin?: number,
  ) {
    const { geometry } = topology
    const { elementStarts } = geometry
    this.#isRounded = hasLongitudeJump(geometry, elementStarts[element]!, elementStarts[element + 1]!)
    this.#geometry = this.#isRounded ? unrollRings(geometry, firstSequence, endSequence) : geometry
    const isWhole = topology.isOnePolygonal && !this.#isRounded
    this.#tree = isWhole ? topology.tree : new EdgeTree(this.#geometry, firstSequence, endSequence)
    this.#reach = nodeReaches(this.#tree)
    this.#edgeTest = new SweptVertexTest(kernel, this.#geometry, this.#isRounded, strictMargin)
  }

  /** @throws {WorkLimitError} when the request exceeds its limit of work */
  find(): readonly SweptVertex[] {
    const { boxes } = this.#tree
    const root = boxes.length - 4
    const turns = this.#isRounded ? Math.ceil((boxes[root + 2]! - boxes[root]!) / 360) : 0
    for (let turn = 0; turn <= turns; turn++) this.#compareNodes(360 * turn)
    if (Math.max(-boxes[root + 1]!, boxes[root + 3]!) === 90 || boxes[root + 2]! - boxes[root]! >= 180) {
      this.#testAlongMeridians()
    }
    return this.#sweptVertices
  }

  /**
   * Tests vertices on the meridians of edges that pass over a pole or end there. The geodesic of such an edge runs along its
   * meridians, away from its planar edge.
   */
  #testAlongMeridians(): void {
    const { leafFirst, leafLast, leafSequence } = this.#tree
    const { vertices } = this.#geometry
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      for (let start = leafFirst[leaf]!; start < leafLast[leaf]!; start++) {
        const [ax, ay, bx, by] = vertices.slice(2 * start, 2 * start + 4) as unknown as Edge
        const poles = Number(Math.abs(ay) === 90) + Number(Math.abs(by) === 90)
        if (poles === 2 || ax === bx || (poles === 0 && !isHalfTurn(ax, bx))) continue
        const chord = ax < bx ? { start, x1: ax, y1: ay, x2: bx, y2: by } : { start, x1: bx, y1: by, x2: ax, y2: ay }
        this.#testMeridiansOfEdge(chord, leafSequence[leaf]!)
      }
    }
  }

  /** Tests the vertices that lie on the meridians of one edge, between its ends and the pole. */
  #testMeridiansOfEdge(chord: Chord, edgeSequence: number): void {
    const { leafFirst, leafLast, leafSequence } = this.#tree
    const { vertices } = this.#geometry
    const { x1, y1, x2, y2 } = chord
    const pole = Math.abs(y1) === 90 ? y1 : Math.abs(y2) === 90 ? y2 : this.#edgeTest.poleOver(chord)
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      spendWork((leafLast[leaf]! - leafFirst[leaf]!) / COMPARISONS_PER_UNIT)
      for (let vertex = leafFirst[leaf]!; vertex < leafLast[leaf]!; vertex++) {
        const [x, y] = [vertices[2 * vertex]!, vertices[2 * vertex + 1]!]
        const [isFirst, isSecond] = [isSameMeridian(x, x1), isSameMeridian(x, x2)]
        const end = isFirst ? y1 : y2
        if ((!isFirst && !isSecond) || Math.abs(y) === 90 || Math.abs(pole - y) >= Math.abs(pole - end)) continue
        const shift = 360 * Math.round(((isFirst ? x1 : x2) - x) / 360)
        this.#test(chord, edgeSequence, vertex, leafSequence[leaf]!, shift)
      }
    }
  }

  /**
   * Visits pairs of tree nodes from the root down, and compares two leaves if one may have an edge near a vertex of the other.
   *
   * @param shift degrees of longitude added to the second node of each pair
   */
  #compareNodes(shift: number): void {
    const { boxes, levels, rootLevel: top, trends } = this.#tree
    const reach = this.#reach
    let comparisons = 0
    // Entries are (levelA, nodeA, levelB, nodeB).
    const stack = [top, 0, top, 0]
    while (stack.length > 0) {
      const nodeB = stack.pop()!
      const levelB = stack.pop()!
      const nodeA = stack.pop()!
      const levelA = stack.pop()!
      const isSelf = shift === 0 && levelA === levelB && nodeA === nodeB
      // In a chain whose edges all run east, or all west, no vertex lies within the longitudes of another edge.
      if (isSelf && (trends[levels[levelA]! + nodeA]! & (EASTWARD | WESTWARD)) !== 0) continue
      if (levelA === 0 && levelB === 0) {
        comparisons += this.#compareLeaves(nodeA, nodeB, shift)
        if (!isSelf) comparisons += this.#compareLeaves(nodeB, nodeA, -shift)
        continue
      }
      const splitsA = levelA >= levelB
      const level = (splitsA ? levelA : levelB) - 1
      const first = FANOUT * (splitsA ? nodeA : nodeB)
      const start = levels[level]!
      const end = Math.min(first + FANOUT, levels[level + 1]! - start)
      const fixed = splitsA ? levels[levelB]! + nodeB : levels[levelA]! + nodeA
      const boxShift = splitsA ? shift : -shift
      comparisons += end - first
      spendWork(comparisons / COMPARISONS_PER_UNIT)
      comparisons = 0
      for (let child = first; child < end; child++) {
        // Without a shift, each pair of nodes would be visited in both orders; one order is enough.
        if (shift === 0 && (splitsA ? level === levelB && child > nodeB : levelA === level && nodeA > child)) continue
        const childBox = 4 * (start + child)
        const fixedBox = 4 * fixed
        const margin = Math.max(reach[start + child]!, reach[fixed]!)
        if (
          margin === 0 ||
          boxes[fixedBox]! + boxShift >= boxes[childBox + 2]! ||
          boxes[fixedBox + 2]! + boxShift <= boxes[childBox]! ||
          boxes[fixedBox + 1]! > boxes[childBox + 3]! + margin ||
          boxes[fixedBox + 3]! < boxes[childBox + 1]! - margin
        ) {
          continue
        }
        if (splitsA) stack.push(level, child, levelB, nodeB)
        else stack.push(levelA, nodeA, level, child)
      }
    }
    spendWork(comparisons / COMPARISONS_PER_UNIT)
  }

  /**
   * Compares the edges of one leaf with the vertices of another, shifted in longitude.
   *
   * @returns the number of comparisons made
   */
  #compareLeaves(leafE: number, leafV: number, shift: number): number {
    const { vertices, boxes, leafFirst, leafLast, leafSequence } = this.#tree
    const firstV = leafFirst[leafV]!
    const lastV = leafLast[leafV]!
    const leafWest = boxes[4 * leafV]! + shift
    const leafSouth = boxes[4 * leafV + 1]!
    const leafEast = boxes[4 * leafV + 2]! + shift
    const leafNorth = boxes[4 * leafV + 3]!
    let comparisons = 0
    for (let start = leafFirst[leafE]!; start < leafLast[leafE]!; start++) {
      comparisons++
      const ax = vertices[2 * start]!
      const bx = vertices[2 * start + 2]!
      const isForward = ax < bx
      const west = isForward ? ax : bx
      const east = isForward ? bx : ax
      if (west >= leafEast || east <= leafWest || west === east) continue
      const ay = vertices[2 * start + 1]!
      const by = vertices[2 * start + 3]!
      // An edge along a pole has no length.
      if (ay === by && Math.abs(ay) === 90) continue
      const margin = edgeReachDegrees(east - west, Math.abs(by - ay))
      const south = (ay < by ? ay : by) - margin
      const north = (ay < by ? by : ay) + margin
      if (south > leafNorth || north < leafSouth) continue
      comparisons += lastV - firstV
      for (let vertex = firstV; vertex < lastV; vertex++) {
        const x = vertices[2 * vertex]! + shift
        const y = vertices[2 * vertex + 1]!
        if (x <= west || x >= east || y < south || y > north) continue
        comparisons += FAR_COMPARISONS
        const chord = isForward ? { start, x1: ax, y1: ay, x2: bx, y2: by } : { start, x1: bx, y1: by, x2: ax, y2: ay }
        if (isFar(chord, x, y, margin)) continue
        this.#test(chord, leafSequence[leafE]!, vertex, leafSequence[leafV]!, shift)
      }
    }
    return comparisons
  }

  #test(chord: Chord, edgeSequence: number, vertex: number, vertexSequence: number, shift: number): void {
    const swept = this.#edgeTest.test(chord, edgeSequence, vertex, vertexSequence, shift)
    if (swept !== undefined) this.#sweptVertices.push(swept)
  }
}

/** Copies the geometry and unrolls the rings from `firstSequence` to before `endSequence`: longitudes continue beyond ±180. */
function unrollRings(geometry: FlatGeometry, firstSequence: number, endSequence: number): FlatGeometry {
  const { vertices: original, sequenceStarts } = geometry
  const vertices = Float64Array.from(original)
  for (let sequence = firstSequence; sequence < endSequence; sequence++) {
    let turns = 0
    for (let i = 2 * sequenceStarts[sequence]! + 2; i < 2 * sequenceStarts[sequence + 1]!; i += 2) {
      const lon = original[i]!
      turns += edgeTurn(original[i - 2]!, original[i - 1]!, lon, original[i + 1]!)
      vertices[i] = lon + 360 * turns
    }
  }
  return { ...geometry, vertices }
}

/** Tells whether two longitudes are the same meridian, within the rounding error of unrolled longitudes. */
function isSameMeridian(x: number, y: number): boolean {
  return Math.abs(wrapLongitude(x - y)) < 1e-12
}

/** Returns for each node of the tree how far, in degrees of latitude, the geodesics of its edges may leave its box. */
function nodeReaches(tree: EdgeTree): Float64Array {
  const { vertices, levels, leafFirst, leafLast } = tree
  const reach = new Float64Array(tree.boxes.length / 4)
  for (let leaf = 0; leaf < leafFirst.length; leaf++) {
    let width = 0
    let height = 0
    for (let i = 2 * leafFirst[leaf]!; i < 2 * leafLast[leaf]!; i += 2) {
      width = Math.max(width, Math.abs(vertices[i + 2]! - vertices[i]!))
      height = Math.max(height, Math.abs(vertices[i + 3]! - vertices[i + 1]!))
    }
    reach[leaf] = edgeReachDegrees(width, height)
  }
  for (let level = 1; level < levels.length - 1; level++) {
    const [below, start, end] = [levels[level - 1]!, levels[level]!, levels[level + 1]!]
    for (let node = start; node < end; node++) {
      const from = below + FANOUT * (node - start)
      for (let child = from; child < Math.min(from + FANOUT, start); child++) {
        reach[node] = Math.max(reach[node]!, reach[child]!)
      }
    }
  }
  return reach
}
