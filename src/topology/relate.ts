import type { PoleResolver } from '../geometry/pole-resolver.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { Location } from './exact/point-in-ring.ts'
import { buildSegmentSet, type TouchingEdges } from './layout/build-segments.ts'
import { LineBoundary } from './layout/line-boundary.ts'
import type { SegmentSet } from './layout/segment-set.ts'
import { BOUNDARY, EXTERIOR, INTERIOR, Matrix, type Place } from './matrix.ts'
import type { Topology } from './plane/prepared.ts'
import { relateInPlane } from './plane/relate-in-plane.ts'
import { Sweep, type SweepNode, type SweepVisitor } from './sweep/sweep.ts'

/** The boundaries of the lines of a and of b. */
type LineBoundaries = readonly [LineBoundary, LineBoundary]

/**
 * Fills a matrix by a sweep over the arrangement of both geometries: every node, piece and face is located in both of them.
 * In each geometry polygons take precedence over lines, and lines over points.
 */
export class RelateSweep implements SweepVisitor {
  readonly matrix = new Matrix()
  readonly #segments: SegmentSet
  readonly #sweep: Sweep
  readonly #lineBoundaries: LineBoundaries

  constructor(segments: SegmentSet, lineBoundaries: LineBoundaries) {
    this.#segments = segments
    this.#sweep = new Sweep(segments)
    this.#lineBoundaries = lineBoundaries
  }

  /** @param active segments that take part */
  run(active: Int32Array): Matrix {
    this.#sweep.run(active, this)
    return this.matrix
  }

  visitCrossing(): boolean {
    return true
  }

  visitPiece(outgoing: readonly number[], from: number, to: number): boolean {
    const { operand, dimension } = this.#segments
    const { below0, below1, above0, above1 } = this.#sweep
    const lowest = outgoing[from]!
    const [isBelow0, isBelow1] = [below0[lowest]! > 0, below1[lowest]! > 0]
    const [isAbove0, isAbove1] = [above0[lowest]! > 0, above1[lowest]! > 0]
    this.matrix.record(isBelow0 ? INTERIOR : EXTERIOR, isBelow1 ? INTERIOR : EXTERIOR, 2)
    this.matrix.record(isAbove0 ? INTERIOR : EXTERIOR, isAbove1 ? INTERIOR : EXTERIOR, 2)
    // A pole is one point at all longitudes; it is located apart.
    if (this.#isAlongPole(lowest)) return true
    let lines = 0
    for (let i = from; i < to; i++) if (dimension[outgoing[i]!] === 1) lines |= 1 << operand[outgoing[i]!]!
    const inA = placeOnPiece(isBelow0, isAbove0, (lines & 1) !== 0)
    const inB = placeOnPiece(isBelow1, isAbove1, (lines & 2) !== 0)
    this.matrix.record(inA, inB, 1)
    return true
  }

  visitNode(node: SweepNode): boolean {
    const { positions } = this.#segments
    if (!positions.planar && Math.abs(positions.lat[node.position]!) === 90) return true
    return this.#recordNode(node, node.position)
  }

  visitPassedCrossing(node: SweepNode): boolean {
    return this.#recordNode(node, -1)
  }

  /** @param position −1 for a crossing, at which no line ends */
  #recordNode(node: SweepNode, position: number): boolean {
    const inA = this.#placeOfNode(node, 0, node.minDepth0, node.maxDepth0, position)
    const inB = this.#placeOfNode(node, 1, node.minDepth1, node.maxDepth1, position)
    this.matrix.record(inA, inB, 0)
    return true
  }

  #placeOfNode(node: SweepNode, own: 0 | 1, minDepth: number, maxDepth: number, position: number): Place {
    if (maxDepth > 0) return minDepth > 0 ? INTERIOR : BOUNDARY
    const { operand, dimension } = this.#segments
    const isOwnLine = (segment: number): boolean => operand[segment] === own && dimension[segment] === 1
    const isOnLine = node.incoming.some(isOwnLine) || node.outgoing.some(isOwnLine)
    if (!isOnLine && !node.points.some((point) => operand[point] === own)) return EXTERIOR
    // A point may stand for the end of a line, see `segmentsToRelate`.
    return position >= 0 && this.#lineBoundaries[own].has(this.#segments, position) ? BOUNDARY : INTERIOR
  }

  #isAlongPole(segment: number): boolean {
    const { positions, left, right } = this.#segments
    const lat = positions.lat[left[segment]!]!
    return !positions.planar && Math.abs(lat) === 90 && positions.lat[right[segment]!] === lat
  }
}

function placeOnPiece(isBelow: boolean, isAbove: boolean, isOnLine: boolean): Place {
  if (isBelow !== isAbove) return BOUNDARY
  return isBelow || isOnLine ? INTERIOR : EXTERIOR
}

/**
 * Returns the segments that the sweep needs: of lines that touch nothing of the other geometry over several edges only the first of
 * these edges, and as points what is boundary of the lines. This keeps the sweep cheap for lines that cross themselves a million times.
 *
 * A geometry that also has polygons keeps all segments, because its lines are located in its polygons too.
 *
 * @param segments of both geometries in the plane; points may be added
 */
function segmentsToRelate(
  segments: SegmentSet,
  { a, b, edgesOfA, edgesOfB }: TouchingEdges,
  lineBoundaries: LineBoundaries,
): Int32Array {
  const all = Int32Array.from({ length: segments.count }, (_, segment) => segment)
  if (edgesOfA === undefined || edgesOfB === undefined) return all
  const touching = [
    a.partDimensions.includes(2) ? undefined : edgesOfA,
    b.partDimensions.includes(2) ? undefined : edgesOfB,
  ]
  const { operand, dimension, sequence, left, right, vertex } = segments
  const needed: number[] = []
  let last = -1
  for (const s of all) {
    const edges = touching[operand[s]!]
    const { sequenceStarts } = operand[s] === 0 ? a : b
    if (edges === undefined || dimension[s] !== 1 || edges[sequenceStarts[sequence[s]!]! + vertex[s]!] === 1) {
      needed.push(s)
      last = -1
      continue
    }
    const follows = last >= 0 && sequence[s] === sequence[last] && operand[s] === operand[last]
    last = s
    if (!follows) {
      needed.push(s)
      continue
    }
    for (const end of [left[s]!, right[s]!]) {
      if (!lineBoundaries[operand[s]!]!.has(segments, end)) continue
      const role = { operand: operand[s]!, dimension: 0, step0: 0, step1: 0, sequence: sequence[s]! }
      needed.push(segments.addSegment(end, end, role, 0, vertex[s]!, 0))
    }
  }
  return Int32Array.from(needed)
}

const PLACES: Readonly<Record<Location, Place>> = { interior: INTERIOR, boundary: BOUNDARY, exterior: EXTERIOR }

/**
 * Fills the matrix for everything that lies within the window of the second geometry. In the plane that is everything.
 *
 * @param touches what is known about the edges; only used in the plane
 */
function sweepWindow(touches: TouchingEdges, resolvePole: PoleResolver): { matrix: Matrix; isComplete: boolean } {
  const { a, b } = touches
  const segments = buildSegmentSet(a, b, resolvePole, true)
  const { planar } = segments.positions
  const boundaries: LineBoundaries = [new LineBoundary(a, planar), new LineBoundary(b, planar)]
  // Must come before the sweep is constructed, because it may add points to the segment set.
  const active = planar
    ? segmentsToRelate(segments, touches, boundaries)
    : Int32Array.from({ length: segments.count }, (_, s) => s)
  const matrix = new RelateSweep(segments, boundaries).run(active)
  for (const [inA, inB] of segments.poles) matrix.record(PLACES[inA], PLACES[inB], 0)
  return { matrix, isComplete: planar || segments.isFirstInWindow }
}

/**
 * Returns the DE-9IM matrix of two geometries, exactly: the dimension in which interior, boundary and exterior of one meet those of the
 * other.
 *
 * Geometries are compared in the plane of longitude and latitude, in which −180 and 180 are one meridian and each pole is one
 * point. So a polygon that covers the whole globe has no boundary, and an edge of a line along a pole has no length. The exteriors always
 * meet in dimension 2. A collection counts as the union of its elements: polygons take precedence over lines and lines over points, and
 * shared edges inside the union are interior. Lines have the boundary of the mod-2 rule. A geometry may be empty.
 *
 * @param a has valid polygons (`findInvalidity`), as received or prepared; the result for invalid ones is undefined
 * @param b likewise
 * @param resolvePole is called for rings that wind around the axis
 * @param kernel makes passes over large geometries faster; the result is the same without it
 * @throws {UndecidableError} when an exact decision would cost too much
 * @see OGC 06-103r4, 6.1.15; JTS RelateNG for the union of collections and for empty geometries
 */
export function relate(a: Topology, b: Topology, resolvePole: PoleResolver, kernel?: Kernel): Matrix {
  const touches = relateInPlane(a, b, kernel)
  if (touches instanceof Matrix) return touches
  return relateBySweep(touches, resolvePole)
}

/** Returns the matrix of two geometries by a sweep alone. */
export function relateBySweep(touches: TouchingEdges, resolvePole: PoleResolver): Matrix {
  const { matrix, isComplete } = sweepWindow(touches, resolvePole)
  if (isComplete) return matrix
  // What lies outside of the window of b is in the exterior of b. The window of a shows it.
  matrix.unite(sweepWindow(swapped(touches), resolvePole).matrix.transposed())
  return matrix
}

function swapped({ a, b, edgesOfA, edgesOfB }: TouchingEdges): TouchingEdges {
  return { a: b, b: a, edgesOfA: edgesOfB, edgesOfB: edgesOfA }
}
