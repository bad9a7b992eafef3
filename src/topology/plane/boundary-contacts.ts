import { spendWork } from '../../base/work.ts'
import { findOwner } from '../../geometry/flat.ts'
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

/** What is known about the boundary of one of the geometries. */
class Outline {
  readonly prepared: PreparedTopology
  /** Whether parts of it lie inside the other geometry, and outside of it. */
  isInside = false
  isOutside = false
  /** By vertex: 1 when the edge that starts there touches the other boundary. */
  readonly isTouching: Uint8Array
  /** By vertex: 1 when the edge that starts there lies on an edge of the other boundary. */
  readonly isCovered: Uint8Array
  /** By vertex: 1 when it lies on the other boundary. */
  readonly isOn: Uint8Array
  readonly #vertices: Float64Array
  readonly #isInteriorOnLeft = new Map<number, boolean>()

  constructor(prepared: PreparedTopology) {
    const count = prepared.geometry.vertices.length / 2
    this.prepared = prepared
    this.#vertices = prepared.geometry.vertices
    this.isTouching = new Uint8Array(count)
    this.isCovered = new Uint8Array(count)
    this.isOn = new Uint8Array(count)
  }

  /** Records what an edge shares with an edge of the other boundary. */
  touch(edge: number, range: SharedRange): void {
    this.isTouching[edge] = 1
    const isFirstOn = this.#touchVertex(edge, range)
    const isLastOn = this.#touchVertex(edge + 1, range)
    if (isFirstOn && isLastOn) this.isCovered[edge] = 1
  }

  #touchVertex(vertex: number, { x1, y1, x2, y2 }: SharedRange): boolean {
    const x = this.#vertices[2 * vertex]!
    const y = this.#vertices[2 * vertex + 1]!
    const isOn = (x === x1 && y === y1) || (x === x2 && y === y2)
    if (isOn) this.isOn[vertex] = 1
    return isOn
  }

  /** Tells whether the interior lies above an edge, which is to its left if it runs eastward. */
  hasInteriorAbove(edge: number): boolean {
    const v = this.#vertices
    const isEastward = compare(v[2 * edge]!, v[2 * edge + 1]!, v[2 * edge + 2]!, v[2 * edge + 3]!) < 0
    return isEastward === this.#hasInteriorOnLeft(edge)
  }

  #hasInteriorOnLeft(edge: number): boolean {
    const { sequenceStarts, partStarts, vertices } = this.prepared.geometry
    const sequence = findOwner(sequenceStarts, edge)
    const known = this.#isInteriorOnLeft.get(sequence)
    if (known !== undefined) return known
    const start = sequenceStarts[sequence]!
    const end = sequenceStarts[sequence + 1]!
    const positions = new Positions(end - start, true)
    for (let i = start; i < end; i++) positions.add(vertices[2 * i]!, vertices[2 * i + 1]!, 0)
    const isHole = !partStarts.includes(sequence)
    const isLeft = isInsideOnLeft(positions, 0, end - start, { pole: 0, winding: 0 }) !== isHole
    this.#isInteriorOnLeft.set(sequence, isLeft)
    return isLeft
  }

  /**
   * Locates the parts between touches by one vertex of each. What ends at touches on both sides within one edge has none.
   */
  locateParts(other: PreparedTopology): void {
    const { vertices, sequenceStarts } = this.prepared.geometry
    const { isTouching, isOn } = this
    const { ray } = other
    ray.visitedNodes = 0
    for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
      const [start, last] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]! - 1]
      for (let i = start; i < last && !(this.isInside && this.isOutside); i++) {
        // Edges that touch nothing continue on the side of the vertex before.
        if (i > start && isTouching[i] === 0 && isTouching[i - 1] === 0) continue
        // The mark of the first vertex may be at the last one.
        if (isOn[i] === 1 || (i === start && isOn[last] === 1)) continue
        if (ray.cast(vertices[2 * i]!, vertices[2 * i + 1]!).isOdd) this.isInside = true
        else this.isOutside = true
      }
    }
    spendWork(ray.visitedNodes / NODES_PER_UNIT)
  }
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
  readonly #a: Outline
  readonly #b: Outline
  #isMet = false
  #isShared = false
  #isSharedOnSameSide = false
  #isSharedOnOtherSides = false
  /** Pairs of edges that touch, unless both are covered: edge of a, edge of b. */
  readonly #touches: number[] = []
  readonly #range: SharedRange = { x1: 0, y1: 0, x2: 0, y2: 0 }

  /** @param a one Polygon or MultiPolygon in the same plane as b */
  constructor(a: PreparedTopology, b: PreparedTopology) {
    this.#a = new Outline(a)
    this.#b = new Outline(b)
  }

  /** @returns undefined when a sweep has to decide */
  findMatrix(): Matrix | undefined {
    const [a, b] = [this.#a.prepared, this.#b.prepared]
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
      this.#a.isInside = this.#a.isOutside = this.#b.isInside = this.#b.isOutside = true
    } else if (isUncertain || !this.#locateParts()) return undefined
    return this.#toMatrix()
  }

  #toMatrix(): Matrix {
    const [ofA, ofB] = [this.#a, this.#b]
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
    const range = this.#range
    findSharedRange(this.#a.prepared.geometry.vertices, i, this.#b.prepared.geometry.vertices, j, range)
    const isOverlap = range.x1 !== range.x2 || range.y1 !== range.y2
    if (isCrossed) return isOverlap
    this.#a.touch(i, range)
    this.#b.touch(j, range)
    if (this.#a.isCovered[i] === 0 || this.#b.isCovered[j] === 0) this.#touches.push(i, j)
    if (!isOverlap || (this.#isSharedOnSameSide && this.#isSharedOnOtherSides)) return isOverlap
    if (this.#a.hasInteriorAbove(i) === this.#b.hasInteriorAbove(j)) this.#isSharedOnSameSide = true
    else this.#isSharedOnOtherSides = true
    return true
  }

  /** Locates all parts of both boundaries. @returns false when there may be one that no vertex shows */
  #locateParts(): boolean {
    const [a, b] = [this.#a, this.#b]
    a.locateParts(b.prepared)
    b.locateParts(a.prepared)
    return !(this.#hasHiddenPart(a, b, 0) || this.#hasHiddenPart(b, a, 1))
  }

  /** Tells whether a part of an edge may begin and end at touches, where it is not known what lies on both sides already. */
  #hasHiddenPart(own: Outline, other: Outline, operand: 0 | 1): boolean {
    if (own.isInside && own.isOutside) return false
    const ranges = new Map<number, SharedRange[]>()
    for (let k = 0; k < this.#touches.length; k += 2) {
      const edge = this.#touches[k + operand]!
      if (own.isCovered[edge] === 1) continue
      const range = { x1: 0, y1: 0, x2: 0, y2: 0 }
      const otherEdge = this.#touches[k + 1 - operand]!
      findSharedRange(own.prepared.geometry.vertices, edge, other.prepared.geometry.vertices, otherEdge, range)
      const onEdge = ranges.get(edge)
      if (onEdge === undefined) ranges.set(edge, [range])
      else onEdge.push(range)
    }
    return [...ranges.values()].some(hasGap)
  }
}

/** Tells whether a vertex of a lies where two edges cross. A ring alone has none in the interior of its edges. */
function hasVertexAt(a: PreparedTopology, i: number, b: PreparedTopology, j: number): boolean {
  return a.geometry.sequenceStarts.length > 2 && isVertexAtCrossing(a.tree, i, b.tree, j)
}

/** Tells whether ranges of one edge leave a gap between them. */
function hasGap(ranges: SharedRange[]): boolean {
  ranges.sort((p, q) => compare(p.x1, p.y1, q.x1, q.y1))
  let { x2: x, y2: y } = ranges[0]!
  for (const { x1, y1, x2, y2 } of ranges) {
    if (compare(x1, y1, x, y) > 0) return true
    if (compare(x2, y2, x, y) > 0) [x, y] = [x2, y2]
  }
  return false
}

/** The first and the last point of what two edges share, by longitude, then latitude. Both are vertices. */
interface SharedRange {
  x1: number
  y1: number
  x2: number
  y2: number
}

/** Finds what two touching edges share: the range of those of their ends that lie on both. */
function findSharedRange(v: Float64Array, i: number, w: Float64Array, j: number, range: SharedRange): void {
  const ax = v[2 * i]!
  const ay = v[2 * i + 1]!
  const bx = v[2 * i + 2]!
  const by = v[2 * i + 3]!
  const cx = w[2 * j]!
  const cy = w[2 * j + 1]!
  const dx = w[2 * j + 2]!
  const dy = w[2 * j + 3]!
  range.x1 = Number.POSITIVE_INFINITY
  range.x2 = Number.NEGATIVE_INFINITY
  if (isOnEdge(cx, cy, dx, dy, ax, ay)) extendRange(range, ax, ay)
  if (isOnEdge(cx, cy, dx, dy, bx, by)) extendRange(range, bx, by)
  if (isOnEdge(ax, ay, bx, by, cx, cy)) extendRange(range, cx, cy)
  if (isOnEdge(ax, ay, bx, by, dx, dy)) extendRange(range, dx, dy)
}

/** As `isOnSegment`, but faster for ends. */
function isOnEdge(x1: number, y1: number, x2: number, y2: number, x: number, y: number): boolean {
  return (x === x1 && y === y1) || (x === x2 && y === y2) || isOnSegment(x1, y1, x2, y2, x, y)
}

function extendRange(range: SharedRange, x: number, y: number): void {
  if (x < range.x1 || (x === range.x1 && y < range.y1)) {
    range.x1 = x
    range.y1 = y
  }
  if (x > range.x2 || (x === range.x2 && y > range.y2)) {
    range.x2 = x
    range.y2 = y
  }
}

/** Compares two points by longitude, then latitude. */
function compare(x1: number, y1: number, x2: number, y2: number): number {
  return x1 - x2 || y1 - y2
}
