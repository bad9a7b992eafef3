import type { FlatGeometry } from '../geometry/flat.ts'
import { EASTWARD, EdgeTree, FANOUT, WESTWARD } from '../topology/edge-tree.ts'
import type { PreparedTopology } from '../topology/prepared.ts'
import { wrapLongitude } from '../topology/scene.ts'
import { hasLongitudeJump, turnOfEdge } from '../topology/unwrap.ts'
import type { Kernel } from '../wasm/loader.ts'
import { type Chord, isFar, reachOfEdge } from './edge-bulge.ts'
import { isHalfTurn, type SolutionBudget, type Swept, SweptVertex } from './swept-vertex.ts'

/** So many comparisons of boxes count as one solution of the inverse problem. */
const LOOKS_PER_SOLUTION = 16

type Edge = [lon1: number, lat1: number, lon2: number, lat2: number]

/** Finds the swept vertices of a Polygon or MultiPolygon. */
export class SweptVertices {
  /** Longitudes unrolled along each ring: no edge jumps. The same as sent where none did. */
  readonly #geometry: FlatGeometry
  /** Unrolled longitudes are rounded. */
  readonly #isRounded: boolean
  readonly #tree: EdgeTree
  /** By node of the tree, degrees of latitude by which the geodesics of its edges may leave its box. */
  readonly #reach: Float64Array
  readonly #budget: SolutionBudget
  readonly #found: Swept[] = []
  readonly #decider: SweptVertex

  constructor(
    kernel: Kernel,
    topology: PreparedTopology,
    element: number,
    firstSequence: number,
    endSequence: number,
    budget: SolutionBudget,
  ) {
    const { geometry } = topology
    const { elementStarts } = geometry
    this.#isRounded = hasLongitudeJump(geometry, elementStarts[element]!, elementStarts[element + 1]!)
    this.#geometry = this.#isRounded ? unrolled(geometry, firstSequence, endSequence) : geometry
    const isWhole = topology.isOnePolygonal && !this.#isRounded
    this.#tree = isWhole ? topology.tree : new EdgeTree(this.#geometry, firstSequence, endSequence)
    this.#reach = reachOf(this.#tree)
    this.#budget = budget
    this.#decider = new SweptVertex(kernel, this.#geometry, this.#isRounded, budget)
  }

  find(): readonly Swept[] {
    const { boxes } = this.#tree
    const root = boxes.length - 4
    const turns = this.#isRounded ? Math.ceil((boxes[root + 2]! - boxes[root]!) / 360) : 0
    for (let turn = 0; turn <= turns; turn++) this.#join(360 * turn)
    if (Math.max(-boxes[root + 1]!, boxes[root + 3]!) === 90 || boxes[root + 2]! - boxes[root]! >= 180) {
      this.#lookAlongMeridians()
    }
    return this.#found
  }

  /** Looks at vertices on the meridians of edges that lead over a pole or end there, beside the straight edge. */
  #lookAlongMeridians(): void {
    const { leafFirst, leafLast, leafSequence } = this.#tree
    const { vertices } = this.#geometry
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      for (let start = leafFirst[leaf]!; start < leafLast[leaf]!; start++) {
        const [ax, ay, bx, by] = vertices.slice(2 * start, 2 * start + 4) as unknown as Edge
        const poles = Number(Math.abs(ay) === 90) + Number(Math.abs(by) === 90)
        if (poles === 2 || ax === bx || (poles === 0 && !isHalfTurn(ax, bx))) continue
        const chord = ax < bx ? { start, x1: ax, y1: ay, x2: bx, y2: by } : { start, x1: bx, y1: by, x2: ax, y2: ay }
        this.#lookAlong(chord, leafSequence[leaf]!)
      }
    }
  }

  #lookAlong(chord: Chord, edgeSequence: number): void {
    const { leafFirst, leafLast, leafSequence } = this.#tree
    const { vertices } = this.#geometry
    const { x1, y1, x2, y2 } = chord
    const pole = Math.abs(y1) === 90 ? y1 : Math.abs(y2) === 90 ? y2 : this.#decider.poleOver(chord)
    for (let leaf = 0; leaf < leafFirst.length; leaf++) {
      this.#budget.spend((leafLast[leaf]! - leafFirst[leaf]!) / LOOKS_PER_SOLUTION)
      for (let vertex = leafFirst[leaf]!; vertex < leafLast[leaf]!; vertex++) {
        const [x, y] = [vertices[2 * vertex]!, vertices[2 * vertex + 1]!]
        const [isFirst, isSecond] = [isSameMeridian(x, x1), isSameMeridian(x, x2)]
        const end = isFirst ? y1 : y2
        if ((!isFirst && !isSecond) || Math.abs(y) === 90 || Math.abs(pole - y) >= Math.abs(pole - end)) continue
        const shift = 360 * Math.round(((isFirst ? x1 : x2) - x) / 360)
        this.#look(chord, edgeSequence, vertex, leafSequence[leaf]!, shift)
      }
    }
  }

  /** Looks at the pairs of nodes, the second shifted in longitude, in which an edge of one is near a vertex of the other. */
  #join(shift: number): void {
    const { boxes, levels, top, trends } = this.#tree
    const reach = this.#reach
    let looks = 0
    // Pairs of (level, node).
    const stack = [top, 0, top, 0]
    while (stack.length > 0) {
      const nodeB = stack.pop()!
      const levelB = stack.pop()!
      const nodeA = stack.pop()!
      const levelA = stack.pop()!
      const isSelf = shift === 0 && levelA === levelB && nodeA === nodeB
      // Along a chain that runs east or west, no vertex has a longitude within another edge.
      if (isSelf && (trends[levels[levelA]! + nodeA]! & (EASTWARD | WESTWARD)) !== 0) continue
      if (levelA === 0 && levelB === 0) {
        looks += this.#joinLeaves(nodeA, nodeB, shift)
        if (!isSelf) looks += this.#joinLeaves(nodeB, nodeA, -shift)
        continue
      }
      const splitsA = levelA >= levelB
      const level = (splitsA ? levelA : levelB) - 1
      const first = FANOUT * (splitsA ? nodeA : nodeB)
      const start = levels[level]!
      const end = Math.min(first + FANOUT, levels[level + 1]! - start)
      const fixed = splitsA ? levels[levelB]! + nodeB : levels[levelA]! + nodeA
      const move = splitsA ? shift : -shift
      looks += end - first
      this.#budget.spend(looks / LOOKS_PER_SOLUTION)
      looks = 0
      for (let child = first; child < end; child++) {
        // With itself, each pair comes in both orders: one will do.
        if (shift === 0 && (splitsA ? level === levelB && child > nodeB : levelA === level && nodeA > child)) continue
        const c = 4 * (start + child)
        const f = 4 * fixed
        const room = Math.max(reach[start + child]!, reach[fixed]!)
        if (
          room === 0 ||
          boxes[f]! + move >= boxes[c + 2]! ||
          boxes[f + 2]! + move <= boxes[c]! ||
          boxes[f + 1]! > boxes[c + 3]! + room ||
          boxes[f + 3]! < boxes[c + 1]! - room
        ) {
          continue
        }
        if (splitsA) stack.push(level, child, levelB, nodeB)
        else stack.push(levelA, nodeA, level, child)
      }
    }
    this.#budget.spend(looks / LOOKS_PER_SOLUTION)
  }

  /** Looks at the edges of one leaf and the vertices of another. @returns comparisons made */
  #joinLeaves(leafE: number, leafV: number, shift: number): number {
    const { vertices, boxes, leafFirst, leafLast, leafSequence } = this.#tree
    const firstV = leafFirst[leafV]!
    const lastV = leafLast[leafV]!
    const leafWest = boxes[4 * leafV]! + shift
    const leafSouth = boxes[4 * leafV + 1]!
    const leafEast = boxes[4 * leafV + 2]! + shift
    const leafNorth = boxes[4 * leafV + 3]!
    let looks = 0
    for (let start = leafFirst[leafE]!; start < leafLast[leafE]!; start++) {
      looks++
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
      const room = reachOfEdge(east - west, Math.abs(by - ay))
      const south = (ay < by ? ay : by) - room
      const north = (ay < by ? by : ay) + room
      if (south > leafNorth || north < leafSouth) continue
      looks += lastV - firstV
      for (let vertex = firstV; vertex < lastV; vertex++) {
        const x = vertices[2 * vertex]! + shift
        const y = vertices[2 * vertex + 1]!
        if (x <= west || x >= east || y < south || y > north) continue
        const chord = isForward ? { start, x1: ax, y1: ay, x2: bx, y2: by } : { start, x1: bx, y1: by, x2: ax, y2: ay }
        if (isFar(chord, x, y, room)) continue
        this.#look(chord, leafSequence[leafE]!, vertex, leafSequence[leafV]!, shift)
      }
    }
    return looks
  }

  #look(chord: Chord, edgeSequence: number, vertex: number, vertexSequence: number, shift: number): void {
    const swept = this.#decider.look(chord, edgeSequence, vertex, vertexSequence, shift)
    if (swept !== undefined) this.#found.push(swept)
  }
}

/** The rings from one sequence to another with longitudes that go on where an edge leads over ±180. */
function unrolled(geometry: FlatGeometry, firstSequence: number, endSequence: number): FlatGeometry {
  const { vertices: sent, sequenceStarts } = geometry
  const vertices = Float64Array.from(sent)
  for (let sequence = firstSequence; sequence < endSequence; sequence++) {
    let turns = 0
    for (let i = 2 * sequenceStarts[sequence]! + 2; i < 2 * sequenceStarts[sequence + 1]!; i += 2) {
      const lon = sent[i]!
      turns += turnOfEdge(sent[i - 2]!, sent[i - 1]!, lon, sent[i + 1]!)
      vertices[i] = lon + 360 * turns
    }
  }
  return { ...geometry, vertices }
}

/** Up to the rounding of unrolled longitudes. */
function isSameMeridian(x: number, y: number): boolean {
  return Math.abs(wrapLongitude(x - y)) < 1e-12
}

function reachOf(tree: EdgeTree): Float64Array {
  const { vertices, levels, leafFirst, leafLast } = tree
  const reach = new Float64Array(tree.boxes.length / 4)
  for (let leaf = 0; leaf < leafFirst.length; leaf++) {
    let width = 0
    let height = 0
    for (let i = 2 * leafFirst[leaf]!; i < 2 * leafLast[leaf]!; i += 2) {
      width = Math.max(width, Math.abs(vertices[i + 2]! - vertices[i]!))
      height = Math.max(height, Math.abs(vertices[i + 3]! - vertices[i + 1]!))
    }
    reach[leaf] = reachOfEdge(width, height)
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
