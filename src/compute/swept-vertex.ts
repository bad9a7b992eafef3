import { WorkLimitError } from '../geodesy/distance.ts'
import { GeodesicEdge } from '../geodesy/edge-offset.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { orientation } from '../topology/orientation.ts'
import { wrapLongitude } from '../topology/scene.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { Chord } from './edge-bulge.ts'

/** By how much more of an edge may lie beyond another than of a straight line, by its length in metres. */
const STRAIGHT = { toMeters: 1e5, factor: 1.01 }
const BENT = { toMeters: 9e6, factor: 2 }
/** A vertex between an edge and its geodesic, or perhaps there. Indices are those of `FlatGeometry.vertices`. */
export interface Swept {
  readonly vertex: number
  /** The edge that starts at this vertex. */
  readonly edge: number
  readonly vertexSequence: number
  readonly edgeSequence: number
  readonly depthMeters: number
  readonly isCertain: boolean
  /** At least what of the two edges at the vertex lies beyond the edge; infinite when another vertex does, or may. */
  readonly beyondMeters: number
}

/** Solutions of the inverse problem that a judgement may still cost. */
export class SolutionBudget {
  readonly #limit: number
  #left: number

  constructor(limit: number) {
    this.#limit = limit
    this.#left = limit
  }

  /** @throws {WorkLimitError} when they are spent */
  spend(solutions: number): void {
    this.#left -= solutions
    if (this.#left < 0) throw new WorkLimitError(`the rings need more than ${this.#limit} solutions`)
  }
}

/** Decides of one edge and one vertex at a time whether the edge swept over the vertex. */
export class SweptVertex {
  readonly #kernel: Kernel
  readonly #geometry: FlatGeometry
  readonly #isRounded: boolean
  readonly #budget: SolutionBudget
  #edge: { readonly start: number; readonly geodesic: GeodesicEdge } | undefined

  /**
   * @param geometry longitudes unrolled along each ring: no edge jumps
   * @param isRounded whether that has rounded them
   */
  constructor(kernel: Kernel, geometry: FlatGeometry, isRounded: boolean, budget: SolutionBudget) {
    this.#kernel = kernel
    this.#geometry = geometry
    this.#isRounded = isRounded
    this.#budget = budget
  }

  /** Decides about one edge and one vertex. */
  look(chord: Chord, edgeSequence: number, vertex: number, vertexSequence: number, shift: number): Swept | undefined {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * vertex]! + shift, vertices[2 * vertex + 1]!]
    // A pole is one place, whatever its longitude: geodesics that end there or lead over it touch a vertex on it.
    if (Math.abs(y) === 90 && (isHalfTurn(chord.x1, chord.x2) || y === chord.y1 || y === chord.y2)) return undefined
    // Between opposite positions, poles among them, several ways are shortest: the judgement in the plane holds for the edge.
    const isOpposite = chord.y1 === -chord.y2 && (Math.abs(chord.y1) === 90 || isHalfTurn(chord.x1, chord.x2))
    if (isOpposite) return undefined
    const offset = this.#offsetOf(chord, x, y)
    const isCertain = Math.abs(offset.northMeters) > offset.errorMeters
    const side = this.#sideInPlane(chord, vertex, vertexSequence, shift)
    if (isCertain && side !== 0 && side > 0 === offset.northMeters > 0) return undefined
    const depthMeters = Math.max(Math.abs(offset.northMeters), offset.errorMeters)
    const wrongSide = isCertain ? Math.sign(offset.northMeters) : side > 0 ? -1 : 1
    const [before, after] = this.#neighbours(vertex, vertexSequence)
    return {
      vertex,
      edge: chord.start,
      vertexSequence,
      edgeSequence,
      depthMeters,
      isCertain,
      beyondMeters:
        this.#beyond(chord, vertex, before, shift, wrongSide, depthMeters) +
        this.#beyond(chord, vertex, after, shift, wrongSide, depthMeters),
    }
  }

  /** The latitude of the pole that an edge over half the globe leads over. */
  poleOver(chord: Chord): number {
    return this.#geodesicOf(chord).leadsNorth ? 90 : -90
  }

  /** How far north of the geodesic a position lies, negative to the south. */
  #offsetOf(chord: Chord, x: number, y: number): { northMeters: number; errorMeters: number } {
    this.#budget.spend(1)
    const { x1, y1, x2, y2 } = chord
    const isNearSecond = Math.abs(x2 - x) + Math.abs(y2 - y) < Math.abs(x - x1) + Math.abs(y1 - y)
    const { leftMeters, errorMeters } = this.#geodesicOf(chord).offsetOf(wrapLongitude(x), y, isNearSecond)
    return { northMeters: leftMeters, errorMeters }
  }

  #geodesicOf({ start, x1, y1, x2, y2 }: Chord): GeodesicEdge {
    if (this.#edge?.start !== start) {
      this.#budget.spend(1)
      this.#edge = { start, geodesic: new GeodesicEdge(this.#kernel, wrapLongitude(x1), y1, wrapLongitude(x2), y2) }
    }
    return this.#edge.geodesic
  }

  /** 1 when a vertex lies north of the straight edge, −1 south; one on it has the side of its neighbours. */
  #sideInPlane(chord: Chord, vertex: number, sequence: number, shift: number): number {
    const own = this.#sideOf(chord, vertex, shift)
    if (own !== 0) return own
    const [before, after] = this.#neighbours(vertex, sequence)
    return this.#sideOf(chord, before, shift) || this.#sideOf(chord, after, shift)
  }

  #sideOf({ x1, y1, x2, y2 }: Chord, vertex: number, shift: number): number {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * vertex]! + shift, vertices[2 * vertex + 1]!]
    const side = orientation(x1, y1, x2, y2, x, y)
    if (!this.#isRounded) return Math.sign(side)
    const rounding = 2e-13 * (Math.abs(y2 - y1) + Math.abs(y - y1))
    return Math.abs(side) <= rounding ? 0 : Math.sign(side)
  }

  /** The vertices before and after one on its ring. */
  #neighbours(vertex: number, sequence: number): readonly [before: number, after: number] {
    const { vertices, sequenceStarts } = this.#geometry
    const first = sequenceStarts[sequence]!
    const count = sequenceStarts[sequence + 1]! - 1 - first
    const isSame = (other: number) =>
      vertices[2 * other] === vertices[2 * vertex] && vertices[2 * other + 1] === vertices[2 * vertex + 1]
    let before = vertex
    let after = vertex
    for (let i = 0; i < count && isSame(before); i++) before = before === first ? first + count - 1 : before - 1
    for (let i = 0; i < count && isSame(after); i++) after = after + 1 === first + count ? first : after + 1
    return [before, after]
  }

  /** At least what of the edge from a vertex to another lies on the wrong side of a geodesic edge, metres. */
  #beyond(chord: Chord, vertex: number, other: number, shift: number, wrongSide: number, depthMeters: number): number {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * other]!, vertices[2 * other + 1]!]
    this.#budget.spend(1)
    const length = this.#kernel.inverse(
      vertices[2 * vertex + 1]!,
      wrapLongitude(vertices[2 * vertex]!),
      y,
      wrapLongitude(x),
    )
    const { northMeters, errorMeters } = this.#offsetOf(chord, x + shift, y)
    const away = -wrongSide * northMeters
    if (!(away > errorMeters) || length > BENT.toMeters) return Number.POSITIVE_INFINITY
    const { factor } = length > STRAIGHT.toMeters ? BENT : STRAIGHT
    return (factor * depthMeters * length) / (depthMeters + away)
  }
}

// Up to the rounding of unrolled longitudes.
export function isHalfTurn(x: number, y: number): boolean {
  return Math.abs(Math.abs(x - y) - 180) < 1e-12
}
