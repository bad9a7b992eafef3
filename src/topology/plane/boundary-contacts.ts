import { spendWork } from '../../base/work.ts'
import { findOwner } from '../../geometry/flat.ts'
import { orientation } from '../exact/exact.ts'
import { isOnSegment } from '../exact/point-in-ring.ts'
import { Positions } from '../exact/positions.ts'
import { isInsideOnLeft } from '../layout/segment-set.ts'
import { BOUNDARY, EXTERIOR, INTERIOR, Matrix } from '../matrix.ts'
import { CROSS, joinEdges } from './edge-join.ts'
import { isVertexAtCrossing } from './edge-ray.ts'
import { budgetFor, NODES_PER_UNIT } from './in-plane.ts'
import type { PreparedTopology } from './prepared.ts'

/** Crossings that are examined before a sweep takes over. The first one nearly always decides. */
const MAX_CROSSINGS = 4
/** Units of work for each pair of edges that touch. */
const TOUCH_WORK = 1 / 16

/** Where parts of the boundary of one geometry lie in the other. */
interface Whereabouts {
  isInside: boolean
  isOutside: boolean
}

/**
 * Fills the matrix of two polygonal geometries in the plane from their boundaries alone, without an arrangement of faces.
 *
 * The interiors meet if and only if a part of one boundary lies inside the other geometry, or both boundaries share an edge with
 * both interiors on the same side. For where the interiors meet in some region, every part of that region's own boundary is one of
 * these. The other two entries of dimension 2 follow in the same way.
 *
 * A crossing of two edges shows parts of both boundaries on both sides. Where edges only touch, they do so at vertices: between two
 * touches a boundary lies on one side, and one vertex there shows on which.
 */
export class BoundaryContacts {
  readonly #a: PreparedTopology
  readonly #b: PreparedTopology
  readonly #ofA: Whereabouts = { isInside: false, isOutside: false }
  readonly #ofB: Whereabouts = { isInside: false, isOutside: false }
  #isMet = false
  #isShared = false
  #isSharedOnSameSide = false
  #isSharedOnOtherSides = false
  /** Pairs of edges that touch: edge of a, edge of b. */
  readonly #touches: number[] = []
  readonly #isLeftInside = new Map<number, boolean>()

  /** @param a one Polygon or MultiPolygon in the same plane as b */
  constructor(a: PreparedTopology, b: PreparedTopology) {
    this.#a = a
    this.#b = b
  }

  /** @returns undefined when a sweep has to decide */
  findMatrix(): Matrix | undefined {
    const [a, b] = [this.#a, this.#b]
    let remainingCrossings = MAX_CROSSINGS
    let isCrossed = false
    let isUncertain = false
    const end = joinEdges(a.tree, b.tree, budgetFor(a, b), (contact, i, j) => {
      this.#isMet = true
      if (contact !== CROSS) {
        if (!this.#addTouch(i, j, isCrossed)) return true
        this.#isShared = true
        return !isCrossed
      }
      if (isCrossed) return true
      // Another ring may begin where the edges cross.
      if (remainingCrossings-- > 0 && !hasVertexAt(a, i, b, j) && !hasVertexAt(b, j, a, i)) isCrossed = true
      else isUncertain = true
      return !(isCrossed && this.#isShared)
    })
    if (end === 'exhausted') return undefined
    if (isCrossed) {
      this.#ofA.isInside = this.#ofA.isOutside = this.#ofB.isInside = this.#ofB.isOutside = true
    } else if (isUncertain || !this.#followTouches()) return undefined
    return this.#toMatrix()
  }

  #toMatrix(): Matrix {
    const [ofA, ofB] = [this.#ofA, this.#ofB]
    const matrix = new Matrix()
    if (ofA.isInside) matrix.record(BOUNDARY, INTERIOR, 1)
    if (ofA.isOutside) matrix.record(BOUNDARY, EXTERIOR, 1)
    if (ofB.isInside) matrix.record(INTERIOR, BOUNDARY, 1)
    if (ofB.isOutside) matrix.record(EXTERIOR, BOUNDARY, 1)
    if (this.#isMet) matrix.record(BOUNDARY, BOUNDARY, this.#isShared ? 1 : 0)
    if (ofA.isInside || ofB.isInside || this.#isSharedOnSameSide) matrix.record(INTERIOR, INTERIOR, 2)
    if (ofA.isOutside || ofB.isInside || this.#isSharedOnOtherSides) matrix.record(INTERIOR, EXTERIOR, 2)
    if (ofB.isOutside || ofA.isInside || this.#isSharedOnOtherSides) matrix.record(EXTERIOR, INTERIOR, 2)
    return matrix
  }

  /** @returns whether the two edges overlap in more than a point */
  #addTouch(i: number, j: number, isCrossed: boolean): boolean {
    spendWork(TOUCH_WORK)
    const [v, w] = [this.#a.geometry.vertices, this.#b.geometry.vertices]
    const range = sharedRange(v, i, w, j)
    const isOverlap = compare(range[0], range[1], range[2], range[3]) !== 0
    if (isCrossed) return isOverlap
    this.#touches.push(i, j)
    if (!isOverlap) return false
    const runsForward = (u: Float64Array, k: number): boolean =>
      compare(u[2 * k]!, u[2 * k + 1]!, u[2 * k + 2]!, u[2 * k + 3]!) < 0
    const isInteriorAbove = [
      runsForward(v, i) === this.#isInteriorOnLeft(this.#a, i, 0),
      runsForward(w, j) === this.#isInteriorOnLeft(this.#b, j, 1),
    ]
    if (isInteriorAbove[0] === isInteriorAbove[1]) this.#isSharedOnSameSide = true
    else this.#isSharedOnOtherSides = true
    return true
  }

  /** Tells whether the interior lies to the left of an edge. */
  #isInteriorOnLeft({ geometry }: PreparedTopology, edge: number, operand: 0 | 1): boolean {
    const { sequenceStarts, partStarts, vertices } = geometry
    const sequence = findOwner(sequenceStarts, edge)
    const key = 2 * sequence + operand
    const known = this.#isLeftInside.get(key)
    if (known !== undefined) return known
    const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
    const positions = new Positions(end - start, true)
    for (let i = start; i < end; i++) positions.add(vertices[2 * i]!, vertices[2 * i + 1]!, 0)
    const isHole = !partStarts.includes(sequence)
    const isLeft = isInsideOnLeft(positions, 0, end - start, { pole: 0, winding: 0 }) !== isHole
    this.#isLeftInside.set(key, isLeft)
    return isLeft
  }

  /** Locates all parts of both boundaries between touches. @returns false when it cannot locate one that ends at touches */
  #followTouches(): boolean {
    const touches = this.#touches
    const pairs = Array.from({ length: touches.length / 2 }, (_, pair) => pair)
    const [edgesOfA, edgesOfB] = [pairs.map((pair) => touches[2 * pair]!), pairs.map((pair) => touches[2 * pair + 1]!)]
    return (
      this.#followRings(this.#a, edgesOfA, this.#b, edgesOfB, this.#ofA) &&
      this.#followRings(this.#b, edgesOfB, this.#a, edgesOfA, this.#ofB)
    )
  }

  #followRings(
    own: PreparedTopology,
    ownEdges: readonly number[],
    other: PreparedTopology,
    otherEdges: readonly number[],
    where: Whereabouts,
  ): boolean {
    const { vertices, sequenceStarts } = own.geometry
    const isTouching = new Uint8Array(vertices.length / 2)
    for (const edge of ownEdges) isTouching[edge] = 1
    const { ray } = other
    ray.visitedNodes = 0
    for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
      if (where.isInside && where.isOutside) break
      const [start, last] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]! - 1]
      for (let i = start; i < last; i++) {
        // Edges that touch nothing continue on the side of the vertex before.
        if (i > start && isTouching[i] === 0 && isTouching[i - 1] === 0) continue
        const { isOnRing, isOdd } = ray.cast(vertices[2 * i]!, vertices[2 * i + 1]!)
        if (isOnRing) continue
        if (isOdd) where.isInside = true
        else where.isOutside = true
        if (where.isInside && where.isOutside) break
      }
    }
    spendWork(ray.visitedNodes / NODES_PER_UNIT)
    return (where.isInside && where.isOutside) || !hasPieceBetweenTouches(own, ownEdges, other, otherEdges)
  }
}

/** Tells whether a vertex of a lies where two edges cross. A ring alone has none in the interior of its edges. */
function hasVertexAt(a: PreparedTopology, i: number, b: PreparedTopology, j: number): boolean {
  return a.geometry.sequenceStarts.length > 2 && isVertexAtCrossing(a.tree, i, b.tree, j)
}

/** Tells whether a piece of an edge begins and ends at touches without overlapping an edge of the other geometry. */
function hasPieceBetweenTouches(
  own: PreparedTopology,
  ownEdges: readonly number[],
  other: PreparedTopology,
  otherEdges: readonly number[],
): boolean {
  const [v, w] = [own.geometry.vertices, other.geometry.vertices]
  const order = Int32Array.from(ownEdges.keys()).sort((s, t) => ownEdges[s]! - ownEdges[t]!)
  for (let from = 0, to = 0; from < order.length; from = to) {
    const edge = ownEdges[order[from]!]!
    const ranges: SharedRange[] = []
    while (to < order.length && ownEdges[order[to]!] === edge) {
      ranges.push(sharedRange(v, edge, w, otherEdges[order[to]!]!))
      to++
    }
    ranges.sort((p, q) => compare(p[0], p[1], q[0], q[1]))
    let [x, y] = [ranges[0]![2], ranges[0]![3]]
    for (const range of ranges) {
      if (compare(range[0], range[1], x, y) > 0) return true
      if (compare(range[2], range[3], x, y) > 0) [x, y] = [range[2], range[3]]
    }
  }
  return false
}

/** The first and the last point of what two edges share, by longitude, then latitude. */
type SharedRange = readonly [number, number, number, number]

/** Returns what two touching edges share; both ends are vertices. */
function sharedRange(v: Float64Array, i: number, w: Float64Array, j: number): SharedRange {
  const [ax, ay, bx, by] = [v[2 * i]!, v[2 * i + 1]!, v[2 * i + 2]!, v[2 * i + 3]!]
  const [cx, cy, dx, dy] = [w[2 * j]!, w[2 * j + 1]!, w[2 * j + 2]!, w[2 * j + 3]!]
  if (orientation(ax, ay, bx, by, cx, cy) === 0 && orientation(ax, ay, bx, by, dx, dy) === 0) {
    const isForward = compare(ax, ay, bx, by) <= 0
    const isOtherForward = compare(cx, cy, dx, dy) <= 0
    const [firstX, firstY, lastX, lastY] = isForward ? [ax, ay, bx, by] : [bx, by, ax, ay]
    const [otherFirstX, otherFirstY, otherLastX, otherLastY] = isOtherForward ? [cx, cy, dx, dy] : [dx, dy, cx, cy]
    const [x1, y1] =
      compare(firstX, firstY, otherFirstX, otherFirstY) < 0 ? [otherFirstX, otherFirstY] : [firstX, firstY]
    const [x2, y2] = compare(lastX, lastY, otherLastX, otherLastY) < 0 ? [lastX, lastY] : [otherLastX, otherLastY]
    // A repeated vertex is an edge without direction; it may lie beside the line of the other edge.
    return ax === bx && ay === by ? [ax, ay, ax, ay] : [x1, y1, x2, y2]
  }
  if (isOnSegment(ax, ay, bx, by, cx, cy)) return [cx, cy, cx, cy]
  if (isOnSegment(ax, ay, bx, by, dx, dy)) return [dx, dy, dx, dy]
  return isOnSegment(cx, cy, dx, dy, ax, ay) ? [ax, ay, ax, ay] : [bx, by, bx, by]
}

/** Compares two points by longitude, then latitude. */
function compare(x1: number, y1: number, x2: number, y2: number): number {
  return x1 - x2 || y1 - y2
}
