/** Splits edges until they meet at common vertices only. Crossings are rounded to doubles, so this takes several rounds. */
import { remainingWork, spendWork } from '../../base/work.ts'
import { computeCrossing } from '../exact/crossing.ts'
import { orientation } from '../exact/exact.ts'
import { SegmentSet } from '../layout/segment-set.ts'
import { CROSS, joinEdges } from '../plane/edge-join.ts'
import { EdgeTree } from '../plane/edge-tree.ts'

/** A closed ring in the plane of longitude and latitude. */
export interface Chain {
  /** Interleaved lon, lat in degrees, the first vertex again as the last; no vertex repeats the one before it. */
  readonly vertices: Float64Array
  /** Which of two depths the ring counts for. */
  readonly layer: 0 | 1
  /** Sequence of the input from which it comes. */
  readonly source: number
}

/** A place at which edges of two chains meet that have no common vertex there. */
export interface Meeting {
  readonly lon: number
  readonly lat: number
  readonly isCrossing: boolean
  readonly sources: readonly [number, number]
}

/** Rounds of splitting. Real data needs two or three. */
const MAX_ROUNDS = 16
/**
 * From this round on, ends of edges that cross become one if they are near each other, and edges that cross meet at an end of one of
 * them that is near the other. Otherwise edges along the same line, of which one was rounded, would cross each other again and again.
 */
const FIRST_SNAPPING_ROUND = 2
/** The distance in that round, degrees: about 6 nm. It grows fourfold in each later round, up to 1.6 µm. */
const FIRST_SNAP_DEGREES = 2 ** -44
const LAST_SNAP_DEGREES = 2 ** -36
/** Units of work of a crossing, which is computed with integers. */
const CROSSING_WORK = 16
/** Units of work of each vertex in a round. */
const VERTEX_WORK = 1 / 4
/** Comparisons of boxes that count as one unit of work in `joinEdges`. */
const COMPARISONS_PER_UNIT = 256

/**
 * Returns the chains with all vertices at which they meet. In the result, two edges share ends, are the same, or are apart.
 *
 * @param visit gets each meeting of the first round
 * @returns undefined if rounding still makes new crossings after `MAX_ROUNDS`
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function nodeChains(
  chains: readonly Chain[],
  visit: (meeting: Meeting) => void = () => {},
): readonly Chain[] | undefined {
  let current = chains
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { splits, merges } = findSplits(current, round, round === 0 ? visit : () => {})
    if (splits.size === 0 && merges.isEmpty) return current
    current = splitChains(current, splits, merges)
  }
  return undefined
}

/** New vertices of edges, each as lon, lat, by the index of the vertex at which the edge starts. */
type Splits = Map<number, (readonly [number, number])[]>

/** Places that become one. */
class Merges {
  readonly #targets = new Map<string, Pair>()

  get isEmpty(): boolean {
    return this.#targets.size === 0
  }

  /** Returns the place that a place becomes. */
  find(place: Pair): Pair {
    let target = place
    for (let next = this.#targets.get(`${target}`); next !== undefined; next = this.#targets.get(`${target}`))
      target = next
    return target
  }

  /** Returns false if they are one already. */
  add(p: Pair, q: Pair): boolean {
    const [a, b] = [this.find(p), this.find(q)]
    if (a[0] === b[0] && a[1] === b[1]) return false
    this.#targets.set(`${b}`, a)
    return true
  }
}

type Pair = readonly [lon: number, lat: number]

function findSplits(
  chains: readonly Chain[],
  round: number,
  visit: (meeting: Meeting) => void,
): { splits: Splits; merges: Merges } {
  const sequenceStarts = new Uint32Array(chains.length + 1)
  for (const [i, { vertices }] of chains.entries()) sequenceStarts[i + 1] = sequenceStarts[i]! + vertices.length / 2
  const count = sequenceStarts[chains.length]!
  const v = new Float64Array(2 * count)
  const chainAt = new Int32Array(count)
  for (const [i, { vertices }] of chains.entries()) {
    v.set(vertices, 2 * sequenceStarts[i]!)
    chainAt.fill(i, sequenceStarts[i]!, sequenceStarts[i + 1]!)
  }
  spendWork(count * VERTEX_WORK)
  const splits: Splits = new Map()
  const merges = new Merges()
  /** Returns true if vertex k lies on edge i, between its ends. */
  const splitAt = (i: number, lon: number, lat: number): boolean => {
    const [ax, ay, bx, by] = [v[2 * i]!, v[2 * i + 1]!, v[2 * i + 2]!, v[2 * i + 3]!]
    if ((lon === ax && lat === ay) || (lon === bx && lat === by)) return false
    const points = splits.get(i)
    if (points === undefined) splits.set(i, [[lon, lat]])
    else points.push([lon, lat])
    return true
  }
  const splitAtVertex = (i: number, k: number): boolean => {
    const [lon, lat] = [v[2 * k]!, v[2 * k + 1]!]
    const [ax, ay, bx, by] = [v[2 * i]!, v[2 * i + 1]!, v[2 * i + 2]!, v[2 * i + 3]!]
    if (lon < Math.min(ax, bx) || lon > Math.max(ax, bx) || lat < Math.min(ay, by) || lat > Math.max(ay, by))
      return false
    return orientation(ax, ay, bx, by, lon, lat) === 0 && splitAt(i, lon, lat)
  }
  const mergeNearVertices = (i: number, j: number): boolean => {
    const ends = [i, i + 1, j, j + 1].map((k): Pair => [v[2 * k]!, v[2 * k + 1]!])
    let isMerged = false
    for (const [index, p] of ends.entries())
      for (const q of ends.slice(index + 1))
        if (Math.max(Math.abs(p[0] - q[0]), Math.abs(p[1] - q[1])) <= snap && merges.add(p, q)) isMerged = true
    return isMerged
  }
  const splitNearVertices = (i: number, j: number): boolean => {
    let isSplit = false
    for (const [edge, vertex] of endsOf(i, j))
      if (isNear(v, edge, vertex, snap) && splitAt(edge, v[2 * vertex]!, v[2 * vertex + 1]!)) isSplit = true
    return isSplit
  }
  const report = (i: number, j: number, lon: number, lat: number, isCrossing: boolean) =>
    visit({ lon, lat, isCrossing, sources: [chains[chainAt[i]!]!.source, chains[chainAt[j]!]!.source] })
  const snap =
    round < FIRST_SNAPPING_ROUND
      ? 0
      : Math.min(LAST_SNAP_DEGREES, FIRST_SNAP_DEGREES * 4 ** (round - FIRST_SNAPPING_ROUND))
  const tree = new EdgeTree({ vertices: v, sequenceStarts })
  // Beyond this budget the limit of work is exceeded, and `joinEdges` says so.
  const budget = Math.min(2 ** 44, COMPARISONS_PER_UNIT * (remainingWork() + 1))
  joinEdges(tree, tree, budget, (contact, i, j) => {
    if (j <= i) return true
    if (contact === CROSS) {
      spendWork(CROSSING_WORK)
      if (snap > 0 && (mergeNearVertices(i, j) || splitNearVertices(i, j))) return true
      const [lon, lat] = crossingPoint(v, i, j)
      splitAt(i, lon, lat)
      splitAt(j, lon, lat)
      report(i, j, lon, lat, true)
      return true
    }
    for (const [edge, vertex] of endsOf(i, j)) {
      if (splitAtVertex(edge, vertex)) report(i, j, v[2 * vertex]!, v[2 * vertex + 1]!, false)
    }
    return true
  })
  return { splits, merges }
}

const ROLE = { operand: 0, dimension: 2, step0: 0, step1: 0, sequence: 0 }

/** Returns each of two edges with each end of the other. */
function endsOf(i: number, j: number): readonly (readonly [edge: number, vertex: number])[] {
  return [
    [i, j],
    [i, j + 1],
    [j, i],
    [j, i + 1],
  ]
}

/** Tells whether a vertex is within a distance of an edge, in degrees. */
function isNear(v: Float64Array, edge: number, vertex: number, degrees: number): boolean {
  const [ax, ay] = [v[2 * edge]!, v[2 * edge + 1]!]
  const [dx, dy] = [v[2 * edge + 2]! - ax, v[2 * edge + 3]! - ay]
  const [px, py] = [v[2 * vertex]! - ax, v[2 * vertex + 1]! - ay]
  const length = Math.sqrt(dx * dx + dy * dy)
  const along = (px * dx + py * dy) / length
  return Math.abs(px * dy - py * dx) <= degrees * length && along >= -degrees && along <= length + degrees
}

/** Returns where two edges cross, rounded. */
function crossingPoint(v: Float64Array, i: number, j: number): readonly [number, number] {
  const segments = new SegmentSet(4, true)
  for (const edge of [i, j]) {
    const from = segments.positions.add(v[2 * edge]!, v[2 * edge + 1]!, 0)
    const to = segments.positions.add(v[2 * edge + 2]!, v[2 * edge + 3]!, 0)
    segments.addSegment(from, to, ROLE, 0, 0, 0)
  }
  const { lon, lat } = computeCrossing(segments, 0, 1)
  return [lon + 0, lat + 0]
}

function splitChains(chains: readonly Chain[], splits: Splits, merges: Merges): Chain[] {
  let start = 0
  const split = chains.map((chain) => {
    const { vertices } = chain
    const size = vertices.length / 2
    const next: number[] = [...merges.find([vertices[0]!, vertices[1]!])]
    const add = (...place: Pair) => {
      const [lon, lat] = merges.find(place)
      if (lon !== next.at(-2) || lat !== next.at(-1)) next.push(lon, lat)
    }
    for (let i = 0; i < size - 1; i++) {
      const [ax, ay, bx, by] = vertices.subarray(2 * i, 2 * i + 4) as unknown as [number, number, number, number]
      for (const [lon, lat] of sortAlong(splits.get(start + i) ?? [], bx - ax, by - ay)) add(lon, lat)
      add(bx, by)
    }
    start += size
    return { ...chain, vertices: Float64Array.from(next) }
  })
  // With fewer than three places, a ring has no area.
  return split.filter(({ vertices }) => vertices.length >= 8)
}

function sortAlong(points: (readonly [number, number])[], dx: number, dy: number): (readonly [number, number])[] {
  const [major, minor] = Math.abs(dx) >= Math.abs(dy) ? ([0, 1] as const) : ([1, 0] as const)
  const signs = [dx < 0 ? -1 : 1, dy < 0 ? -1 : 1] as const
  return points.sort((p, q) => signs[major] * (p[major] - q[major]) || signs[minor] * (p[minor] - q[minor]))
}
