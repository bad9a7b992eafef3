import { spendWork } from '../../base/work.ts'
import { bigintSign, scaledInteger, scaledLongitude } from '../exact/exact.ts'
import type { Location } from '../exact/point-in-ring.ts'
import { Positions } from '../exact/positions.ts'
import { UndecidableError } from '../exact/undecidable.ts'
import type { UnwrappedRing } from './antimeridian-edges.ts'

/** Units of work of each edge in `addRingInWindow`. */
const CLIP_WORK = 1 / 64

/** What a segment stands for: where it comes from, and how the depths change across it. */
export interface SegmentRole {
  /** 0 for the first geometry, 1 for the second. */
  readonly operand: number
  /** 0 for a point, 1 for an edge of a line, 2 for an edge of a ring. */
  readonly dimension: number
  /**
   * Change of the two depths on stepping over this ring from the outside of the polygon to its inside; 0 for lines and points.
   */
  readonly step0: number
  readonly step1: number
  /** Index of the sequence that it belongs to. */
  readonly sequence: number
}

/**
 * The segments of one or two geometries in one plane, as flat arrays: the form in which intersection, containment and validity
 * are decided. The plane is that of longitude and latitude, or the unrolled cylinder.
 *
 * Every ring is closed in the plane. So the depth of a point, which is the number of polygons that cover it, is the sum of the
 * steps of the segments below it. Each segment has two steps, one for each of two depths that are counted independently. A Point
 * is a segment whose two ends are the same position.
 *
 * Auxiliary edges close a ring over its pole, or follow the antimeridian with the interior on both sides. They have steps,
 * because rings have to be closed, but they are no boundary.
 */
export class SegmentSet {
  readonly positions: Positions
  count = 0
  /** The end that comes first by longitude, then latitude. */
  left: Int32Array
  right: Int32Array
  operand: Uint8Array
  dimension: Uint8Array
  /** Change of the two depths on stepping upward over the segment. */
  step0: Int32Array
  step1: Int32Array
  sequence: Int32Array
  /** Index in its sequence of the vertex at which it starts; −1 for an auxiliary edge (see `UnwrappedRing.source`). */
  vertex: Int32Array
  /** Whole turns by which this copy is shifted; 0 for the original. */
  copy: Int32Array
  /**
   * Longitudes of the unrolled cylinder at which the sweep looks; undefined when it looks everywhere. Everything within the window is
   * in the set; what lies outside of it may be missing.
   */
  window: Extent | undefined
  /** Whether one copy of everything of the first geometry lies within the window; only known where every position is to be located. */
  isFirstInWindow = false
  /**
   * Location of each pole relative to the two geometries, when they may meet there. Then no segment of dimension 0 or 1 lies on a
   * pole.
   */
  poles: readonly (readonly [Location, Location])[] = []

  constructor(capacity: number, planar: boolean) {
    this.positions = new Positions(capacity, planar)
    this.left = new Int32Array(capacity)
    this.right = new Int32Array(capacity)
    this.operand = new Uint8Array(capacity)
    this.dimension = new Uint8Array(capacity)
    this.step0 = new Int32Array(capacity)
    this.step1 = new Int32Array(capacity)
    this.sequence = new Int32Array(capacity)
    this.vertex = new Int32Array(capacity)
    this.copy = new Int32Array(capacity)
    this.window = undefined
  }

  /**
   * @param upward 1 when the interior lies above the segment, −1 below, 0 for neither
   * @returns the index of the new segment
   */
  addSegment(from: number, to: number, role: SegmentRole, upward: number, vertex: number, copy: number): number {
    if (this.count === this.left.length) this.#grow()
    const index = this.count++
    const isForward = this.positions.compare(from, to) <= 0
    this.left[index] = isForward ? from : to
    this.right[index] = isForward ? to : from
    this.operand[index] = role.operand
    this.dimension[index] = role.dimension
    this.step0[index] = upward * role.step0
    this.step1[index] = upward * role.step1
    this.sequence[index] = role.sequence
    this.vertex[index] = vertex
    this.copy[index] = copy
    return index
  }

  /** Adds a single position: a Point, or a position to be located. */
  addPoint(lon: number, lat: number, turn: number, role: SegmentRole, vertex: number, copy: number): number {
    const position = this.positions.add(lon, lat, turn)
    return this.addSegment(position, position, role, 0, vertex, copy)
  }

  /**
   * Tells whether an edge counts as boundary. False for auxiliary edges, and for edges of rings along a pole, which is one point.
   */
  isReal(segment: number): boolean {
    if (this.vertex[segment]! < 0) return false
    const { lat } = this.positions
    const south = lat[this.left[segment]!]!
    return this.dimension[segment] !== 2 || (south !== 90 && south !== -90) || south !== lat[this.right[segment]!]
  }

  /** Adds all edges of a ring, except those of zero length. */
  addRing(ring: UnwrappedRing, role: SegmentRole, isHole: boolean, copy: number): void {
    const { positions } = this
    const first = positions.count
    const size = ring.lon.length
    for (let i = 0; i < size; i++) positions.add(ring.lon[i]!, ring.lat[i]!, ring.turn[i]! + copy)
    const isLeftInside = isInsideOnLeft(positions, first, size, ring) !== isHole
    for (let i = 0; i < size - 1; i++) {
      const from = first + i
      const order = positions.compare(from, from + 1)
      if (order === 0) continue
      this.addSegment(from, from + 1, role, order < 0 === isLeftInside ? 1 : -1, ring.source[i]!, copy)
    }
  }

  /**
   * Adds the edges of a ring that reach into a window, except those of zero length. Edges that end before the window begins, or begin
   * after it ends, do not matter to a sweep that looks at the window only.
   *
   * @param isInteriorOnLeft whether the interior of the polygon lies to the left of the ring
   */
  addRingInWindow(
    { lon, lat, turn, source }: UnwrappedRing,
    role: SegmentRole,
    isInteriorOnLeft: boolean,
    copy: number,
    { west, east }: Extent,
  ): void {
    spendWork(lon.length * CLIP_WORK)
    const { positions } = this
    // Rounded as in `Positions.x`, and rounding keeps the order: what is outside here is outside for the sweep.
    const x = (i: number): number => lon[i]! + 360 * (turn[i]! + copy)
    let lastVertex = -1
    let last = -1
    for (let i = 0; i + 1 < lon.length; i++) {
      if (Math.max(x(i), x(i + 1)) < west || Math.min(x(i), x(i + 1)) > east) continue
      const from = lastVertex === i ? last : positions.add(lon[i]!, lat[i]!, turn[i]! + copy)
      last = positions.add(lon[i + 1]!, lat[i + 1]!, turn[i + 1]! + copy)
      lastVertex = i + 1
      const order = positions.compare(from, last)
      if (order === 0) continue
      this.addSegment(from, last, role, order < 0 === isInteriorOnLeft ? 1 : -1, source[i]!, copy)
    }
  }

  #grow(): void {
    const capacity = 2 * this.left.length + 16
    this.left = copyInto(this.left, new Int32Array(capacity))
    this.right = copyInto(this.right, new Int32Array(capacity))
    this.operand = copyInto(this.operand, new Uint8Array(capacity))
    this.dimension = copyInto(this.dimension, new Uint8Array(capacity))
    this.step0 = copyInto(this.step0, new Int32Array(capacity))
    this.step1 = copyInto(this.step1, new Int32Array(capacity))
    this.sequence = copyInto(this.sequence, new Int32Array(capacity))
    this.vertex = copyInto(this.vertex, new Int32Array(capacity))
    this.copy = copyInto(this.copy, new Int32Array(capacity))
  }
}

/** Returns the same longitude in [−180, 180]. */
export function wrapLongitude(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : lon - 360 * Math.round(lon / 360)
}

function copyInto<T extends Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/**
 * Tells whether the interior lies to the left of a ring whose positions are [first, first + size).
 *
 * For a ring over a pole this follows from the direction in which it winds. Otherwise the leftmost position decides: there a
 * simple ring turns towards its interior. Where the ring folds back on itself there (along a pole, or because it is invalid), the
 * sign of its exact area decides.
 */
export function isInsideOnLeft(
  positions: Positions,
  first: number,
  size: number,
  ring: Pick<UnwrappedRing, 'pole' | 'winding'>,
): boolean {
  if (ring.pole !== 0) return ring.winding > 0 === ring.pole > 0
  let extreme = 0
  for (let i = 1; i < size - 1; i++) {
    if (positions.compare(first + i, first + extreme) < 0) extreme = i
  }
  const edgeCount = size - 1
  let before = extreme
  let after = extreme
  for (let k = 1; k < edgeCount && positions.compare(first + before, first + extreme) === 0; k++) {
    before = (extreme - k + edgeCount) % edgeCount
  }
  for (let k = 1; k < edgeCount && positions.compare(first + after, first + extreme) === 0; k++) {
    after = (extreme + k) % edgeCount
  }
  const side = positions.orientation(first + before, first + extreme, first + after)
  return side !== 0 ? side > 0 : exactAreaSign(positions, first, size) > 0
}

/** Units of work of each edge in `exactAreaSign`. */
const AREA_WORK = 4

/** Returns the sign of the shoelace sum, computed with integers: 1074 fraction bits hold every double. */
function exactAreaSign({ lon, lat, turn, planar }: Positions, first: number, size: number): number {
  spendWork(AREA_WORK * size)
  const fractionBits = 1074
  const x = (i: number): bigint => scaledLongitude(lon[i]!, planar ? 0 : turn[i]!, fractionBits)
  const originX = x(first)
  const originY = scaledInteger(lat[first]!, fractionBits)
  let sum = 0n
  let lastX = 0n
  let lastY = 0n
  for (let i = first + 1; i < first + size; i++) {
    const nextX = x(i) - originX
    const nextY = scaledInteger(lat[i]!, fractionBits) - originY
    sum += lastX * nextY - lastY * nextX
    lastX = nextX
    lastY = nextY
  }
  return bigintSign(sum)
}

/** A range of longitudes in degrees on the unrolled cylinder. It is rounded, so it may save work but never decides. */
export interface Extent {
  readonly west: number
  readonly east: number
}

/** The empty extent. */
export const EMPTY_EXTENT: Extent = { west: Number.POSITIVE_INFINITY, east: Number.NEGATIVE_INFINITY }

export function uniteExtents(a: Extent, b: Extent): Extent {
  return { west: Math.min(a.west, b.west), east: Math.max(a.east, b.east) }
}

export function shiftExtent({ west, east }: Extent, turns: number): Extent {
  return { west: west + 360 * turns, east: east + 360 * turns }
}

export function computeExtent({ x, count }: Positions): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < count; i++) {
    west = Math.min(west, x[i]!)
    east = Math.max(east, x[i]!)
  }
  return { west, east }
}

export function computeRingExtent({ lon, turn }: UnwrappedRing): Extent {
  let west = Number.POSITIVE_INFINITY
  let east = Number.NEGATIVE_INFINITY
  for (let i = 0; i < lon.length; i++) {
    const x = lon[i]! + 360 * turn[i]!
    west = Math.min(west, x)
    east = Math.max(east, x)
  }
  return { west, east }
}

/** Largest number of segments, copies included. Beyond it, rings that wind around the axis many times would cost too much. */
const MAX_SEGMENTS = 300_000

/**
 * Returns the whole turns by which copies of a shape have to be shifted to come near a target.
 *
 * @param own extent of the shape
 * @param segmentCount number of segments in one copy
 * @returns the first and the last turn, both included
 * @throws {UndecidableError} when there would be too many copies
 */
export function turnsToReach(
  segments: SegmentSet,
  own: Extent,
  target: Extent,
  segmentCount: number,
): readonly [number, number] {
  // The margin of one degree makes rounding harmless.
  const first = Math.ceil((target.west - own.east - 1) / 360)
  const last = Math.floor((target.east - own.west + 1) / 360)
  if (segments.count + (last - first + 1) * segmentCount > MAX_SEGMENTS) {
    throw new UndecidableError('the geometries wind around the axis too often')
  }
  return [first, last]
}
