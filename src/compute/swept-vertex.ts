import { spendWork } from '../base/work.ts'
import { GeodesicEdge, UNCERTAIN_METERS } from '../geodesy/edge-offset.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { orientation } from '../topology/exact/exact.ts'
import { wrapLongitude } from '../topology/layout/segment-set.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Bounds on how far the geodesic of an edge leaves its planar edge. They only rule candidates out; they never decide a case. */

/**
 * a (π/180)² / 8, m. The geodesic of an edge of w by h degrees, w at most 90, leaves its planar edge by less than this · w (w +
 * 2h).
 */
const METERS_PER_SQUARE_DEGREE = 242.9
/** Width of an edge, in degrees of longitude, up to which that bound is used. */
const BOUND_TO_DEGREES = 90
/** Lower bound on the metres in a degree of latitude. */
export const METERS_PER_DEGREE = 110_000
/** Largest width of an edge and largest latitude, in degrees, for which `isFar` uses cos φ ≥ 1 − |φ| / 90, and its safety factor. */
const [MAX_WIDTH, MAX_LATITUDE, SAFETY_FACTOR] = [20, 85, 1.2]
/**
 * Smallest share of an edge's length that must remain after subtracting four times the reach. Near the ends of an edge with a
 * smaller share, `isFar` rules nothing out.
 */
const MIN_REMAINING = 0.5
/** Degrees, about a millimetre: far above the error of an offset, which is below a micrometre for such edges. */
const FAR_FROM_END = 1e-8

/** A planar edge on the unrolled cylinder with its ends in order from west to east, degrees. */
export interface Chord {
  /** Index of the vertex at which the edge starts on its ring; it may be the western or the eastern end. */
  readonly start: number
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
}

/** Returns an upper bound, in degrees of latitude, on how far the geodesic of an edge of these degrees leaves the edge's box. */
export function edgeReachDegrees(width: number, height: number): number {
  return width === 0 ? 0 : bulgeMeters(width, height) / METERS_PER_DEGREE
}

/** Returns an upper bound, in metres, on how far the geodesic of an edge of these degrees leaves its planar edge. */
export function bulgeMeters(width: number, height: number): number {
  return width > BOUND_TO_DEGREES ? 180 * METERS_PER_DEGREE : METERS_PER_SQUARE_DEGREE * width * (width + 2 * height)
}

/**
 * Returns true if a position is certainly neither between the edge and its geodesic nor within the error of the geodesic. False
 * proves nothing.
 *
 * Along the edge, the geodesic's distance from it rises no faster than a parabola that is 0 at both ends and `reach` in the middle:
 * the planar edge, walked at a constant rate, has an acceleration of at most a (π/180)² w (w + 2h), and on a surface of positive
 * curvature a deviation with a constant acceleration stays below the parabola of the same height. So most vertices near an end of
 * the edge are far from it, such as those around the center of a star.
 */
export function isFar({ x1, y1, x2, y2 }: Chord, x: number, y: number, reach: number): boolean {
  const latitude = Math.max(Math.abs(y1), Math.abs(y2)) + reach
  if (x2 - x1 > MAX_WIDTH || latitude > MAX_LATITUDE) return false
  const shrink = 1 - latitude / 90
  const width = shrink * (x2 - x1)
  const height = y2 - y1
  const cross = shrink * (Math.abs((x2 - x1) * (y - y1) - height * (x - x1)) - 1e-13 * (x2 - x1 + Math.abs(height)))
  const square = width * width + height * height
  const across = SAFETY_FACTOR * reach
  if (cross > 0 && cross * cross > across * across * square) return true
  const along = (shrink * (x - x1) * width + (y - y1) * height) / square
  // The point of the edge that is nearest to the position may be farther from the end than `along`, by at most their distance.
  const remaining = 1 - (4 * across) / Math.sqrt(square)
  if (remaining < MIN_REMAINING) return false
  const fraction = Math.max(0, Math.min(along, 1 - along)) / remaining
  if (fraction >= 0.5) return false
  const least = 4 * across * fraction * (1 - fraction) + FAR_FROM_END
  return cross > 0 && cross * cross > least * least * square
}

/**
 * Safety factors of `#metersBeyond` for edges up to `toMeters`: the estimate assumes straight lines, but the edges are geodesics.
 */
const STRAIGHT = { toMeters: 1e5, factor: 1.01 }
const BENT = { toMeters: 9e6, factor: 2 }

/**
 * A vertex that lies between an edge's geodesic and its planar edge, or so near to the geodesic that its side is uncertain.
 * Indices are those of `FlatGeometry.vertices`.
 */
export interface SweptVertex {
  readonly vertex: number
  /** Index of the vertex at which the edge starts. */
  readonly edge: number
  readonly vertexSequence: number
  readonly edgeSequence: number
  /** Distance of the vertex from the geodesic, at least the error of that distance. */
  readonly depthMeters: number
  /** False if the vertex is so near to the geodesic that its side is uncertain. */
  readonly isCertain: boolean
  /**
   * Upper bound on the length of the vertex's two edges beyond the geodesic. Infinite if a neighbouring vertex is or may be beyond
   * it too, or if one of the two edges is longer than 9,000 km.
   */
  readonly beyondMeters: number
}

/** Tests one edge and one vertex at a time: did the edge sweep over the vertex when it was bent into its geodesic? */
export class SweptVertexTest {
  readonly #kernel: Kernel
  readonly #geometry: FlatGeometry
  readonly #isRounded: boolean
  readonly #strictMargin: number | undefined
  #edge: { readonly start: number; readonly geodesic: GeodesicEdge } | undefined

  /**
   * @param geometry with longitudes unrolled along each ring, so that no edge jumps over ±180
   * @param isRounded whether unrolling has rounded the longitudes
   * @param strictMargin metres; counts a vertex as swept if it is on the planar edge, or nearer than this to the geodesic
   */
  constructor(kernel: Kernel, geometry: FlatGeometry, isRounded: boolean, strictMargin?: number) {
    this.#kernel = kernel
    this.#geometry = geometry
    this.#isRounded = isRounded
    this.#strictMargin = strictMargin
  }

  /**
   * Tests one edge and one vertex.
   *
   * @param shift degrees of longitude added to the vertex
   * @returns undefined if the vertex was not swept
   * @throws {WorkLimitError} when the request exceeds its limit of work
   */
  test(
    chord: Chord,
    edgeSequence: number,
    vertex: number,
    vertexSequence: number,
    shift: number,
  ): SweptVertex | undefined {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * vertex]! + shift, vertices[2 * vertex + 1]!]
    // A pole is the same position at every longitude. Geodesics that end at the pole, or pass over it, touch a vertex there.
    if (Math.abs(y) === 90 && (isHalfTurn(chord.x1, chord.x2) || y === chord.y1 || y === chord.y2)) return undefined
    // Between antipodal positions, such as the poles, several geodesics are shortest. The planar check decides for such an edge.
    const isOpposite = chord.y1 === -chord.y2 && (Math.abs(chord.y1) === 90 || isHalfTurn(chord.x1, chord.x2))
    if (isOpposite) return undefined
    const offset = this.#offsetFrom(chord, x, y)
    const isStrict = this.#strictMargin !== undefined
    const margin = isStrict ? (this.#strictMargin * offset.errorMeters) / UNCERTAIN_METERS : offset.errorMeters
    const isCertain = Math.abs(offset.northMeters) > margin
    const side = isStrict
      ? this.#sideOfEdge(chord, vertex, shift)
      : this.#sideInPlane(chord, vertex, vertexSequence, shift)
    if (isCertain && side !== 0 && side > 0 === offset.northMeters > 0) return undefined
    const depthMeters = Math.max(Math.abs(offset.northMeters), offset.errorMeters)
    const sweptSide = isCertain ? Math.sign(offset.northMeters) : side > 0 ? -1 : 1
    const [before, after] = this.#neighbours(vertex, vertexSequence)
    return {
      vertex,
      edge: chord.start,
      vertexSequence,
      edgeSequence,
      depthMeters,
      isCertain,
      beyondMeters:
        this.#metersBeyond(chord, vertex, before, shift, sweptSide, depthMeters) +
        this.#metersBeyond(chord, vertex, after, shift, sweptSide, depthMeters),
    }
  }

  /** Returns the latitude of the pole that an edge over 180° of longitude passes over. */
  poleOver(chord: Chord): number {
    return this.#geodesicFor(chord).startsNorthward ? 90 : -90
  }

  /** Returns how far north of the geodesic a position lies; negative to the south. */
  #offsetFrom(chord: Chord, x: number, y: number): { northMeters: number; errorMeters: number } {
    spendWork(1)
    const { x1, y1, x2, y2 } = chord
    const isNearSecond = Math.abs(x2 - x) + Math.abs(y2 - y) < Math.abs(x - x1) + Math.abs(y1 - y)
    const { leftMeters, errorMeters } = this.#geodesicFor(chord).measureOffset(wrapLongitude(x), y, isNearSecond)
    return { northMeters: leftMeters, errorMeters }
  }

  #geodesicFor({ start, x1, y1, x2, y2 }: Chord): GeodesicEdge {
    if (this.#edge?.start !== start) {
      spendWork(1)
      this.#edge = { start, geodesic: new GeodesicEdge(this.#kernel, wrapLongitude(x1), y1, wrapLongitude(x2), y2) }
    }
    return this.#edge.geodesic
  }

  /**
   * Returns 1 for a vertex north of the planar edge, −1 for south. A vertex on the edge takes the side of its neighbours; 0 if
   * they are on it too.
   */
  #sideInPlane(chord: Chord, vertex: number, sequence: number, shift: number): number {
    const own = this.#sideOfEdge(chord, vertex, shift)
    if (own !== 0) return own
    const [before, after] = this.#neighbours(vertex, sequence)
    return this.#sideOfEdge(chord, before, shift) || this.#sideOfEdge(chord, after, shift)
  }

  #sideOfEdge({ x1, y1, x2, y2 }: Chord, vertex: number, shift: number): number {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * vertex]! + shift, vertices[2 * vertex + 1]!]
    const side = orientation(x1, y1, x2, y2, x, y)
    if (!this.#isRounded) return Math.sign(side)
    const rounding = 2e-13 * (Math.abs(y2 - y1) + Math.abs(y - y1))
    return Math.abs(side) <= rounding ? 0 : Math.sign(side)
  }

  /** Returns the nearest vertices before and after a vertex on its ring that differ from it in position. */
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

  /**
   * Returns an upper bound on the length of the edge from `vertex` to `other` that lies on the swept side of the geodesic, metres.
   * Infinite if `other` is or may be on that side too, or if the edge is longer than 9,000 km.
   */
  #metersBeyond(
    chord: Chord,
    vertex: number,
    other: number,
    shift: number,
    sweptSide: number,
    depthMeters: number,
  ): number {
    const { vertices } = this.#geometry
    const [x, y] = [vertices[2 * other]!, vertices[2 * other + 1]!]
    spendWork(1)
    const length = this.#kernel.inverse(
      vertices[2 * vertex + 1]!,
      wrapLongitude(vertices[2 * vertex]!),
      y,
      wrapLongitude(x),
    )
    const { northMeters, errorMeters } = this.#offsetFrom(chord, x + shift, y)
    const away = -sweptSide * northMeters
    if (!(away > errorMeters) || length > BENT.toMeters) return Number.POSITIVE_INFINITY
    const { factor } = length > STRAIGHT.toMeters ? BENT : STRAIGHT
    return (factor * depthMeters * length) / (depthMeters + away)
  }
}

/** Returns true if two longitudes are 180° apart, within the rounding error of unrolled longitudes. */
export function isHalfTurn(x: number, y: number): boolean {
  return Math.abs(Math.abs(x - y) - 180) < 1e-12
}
