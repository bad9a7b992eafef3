import { scaledInteger, scaledLongitude, signOf } from './exact.ts'
import type { Extent } from './extent.ts'
import type { Location } from './point-in-ring.ts'
import { Positions } from './positions.ts'
import type { UnwrappedRing } from './unwrap.ts'

/** What a segment means to the question: who sent it, and what changes when one steps over it. */
export interface Role {
  /** 0 or 1: the first or the second geometry. */
  readonly operand: number
  /** 0 a point, 1 an edge of a line, 2 an edge of a ring. */
  readonly dimension: number
  /** Depths gained on stepping from the outside of the polygon to its inside over this ring; 0 for lines and points. */
  readonly step0: number
  readonly step1: number
  /** Index of the sequence it was sent in. */
  readonly sequence: number
}

/**
 * Segments between positions, as flat arrays: the one form in which intersection, containment and validity are judged.
 *
 * Every ring is closed in the plane, so the depth of a place (how many polygons cover it) is the sum of the steps of the
 * segments below it. A point is a segment whose two ends are the same position.
 */
export class Scene {
  readonly positions: Positions
  count = 0
  /** Position that comes first by longitude, then latitude. */
  left: Int32Array
  right: Int32Array
  operand: Uint8Array
  dimension: Uint8Array
  /** Change of the two depths on stepping upward over the segment. */
  step0: Int32Array
  step1: Int32Array
  sequence: Int32Array
  /** Index in its sequence of the vertex it starts at; −1 for an edge that is no boundary (`UnwrappedRing.source`). */
  vertex: Int32Array
  /** Whole turns by which this is a shifted copy; 0 for the original. */
  copy: Int32Array
  /** Longitudes within which the depths of every edge are complete; undefined: everywhere. */
  window: Extent | undefined
  /** Where each pole lies to the two geometries, when they may meet there; then nothing of dimension 0 or 1 stands on a pole. */
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

  /** @returns the index of the segment between two positions; `upward`: 1 when the inside lies above, −1 below, 0 neither */
  addSegment(from: number, to: number, role: Role, upward: number, vertex: number, copy: number): number {
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

  /** A position alone: a Point, or a place to be located. */
  addPoint(lon: number, lat: number, turn: number, role: Role, vertex: number, copy: number): number {
    const position = this.positions.add(lon, lat, turn)
    return this.addSegment(position, position, role, 0, vertex, copy)
  }

  /**
   * Edges that count as boundary: not those along a pole, which is one point, nor those that only close a ring over its pole or
   * have its inside on both sides.
   */
  isReal(segment: number): boolean {
    if (this.vertex[segment]! < 0) return false
    const { lat } = this.positions
    const south = lat[this.left[segment]!]!
    return this.dimension[segment] !== 2 || (south !== 90 && south !== -90) || south !== lat[this.right[segment]!]
  }

  /** Whether a segment comes into the window. */
  isInWindow(segment: number): boolean {
    if (this.window === undefined) return true
    const { x } = this.positions
    return x[this.right[segment]!]! >= this.window.west && x[this.left[segment]!]! <= this.window.east
  }

  /** All edges of a ring but those of no length. */
  addRing(ring: UnwrappedRing, role: Role, isHole: boolean, copy: number): void {
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

  #grow(): void {
    const capacity = 2 * this.left.length + 16
    this.left = grown(this.left, new Int32Array(capacity))
    this.right = grown(this.right, new Int32Array(capacity))
    this.operand = grown(this.operand, new Uint8Array(capacity))
    this.dimension = grown(this.dimension, new Uint8Array(capacity))
    this.step0 = grown(this.step0, new Int32Array(capacity))
    this.step1 = grown(this.step1, new Int32Array(capacity))
    this.sequence = grown(this.sequence, new Int32Array(capacity))
    this.vertex = grown(this.vertex, new Int32Array(capacity))
    this.copy = grown(this.copy, new Int32Array(capacity))
  }
}

/** The same longitude in [−180, 180]. */
export function wrapLongitude(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : lon - 360 * Math.round(lon / 360)
}

function grown<T extends Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/**
 * Whether the enclosed side lies to the left of a ring that stands at positions [first, first + size).
 *
 * Over a pole it follows from the direction of winding. Otherwise the leftmost position tells: there a simple ring turns
 * towards its inside. When the ring folds back on itself there (along a pole, or because it is invalid), its exact area tells.
 */
export function isInsideOnLeft(positions: Positions, first: number, size: number, ring: UnwrappedRing): boolean {
  if (ring.pole !== 0) return ring.winding > 0 === ring.pole > 0
  let extreme = 0
  for (let i = 1; i < size - 1; i++) {
    if (positions.compare(first + i, first + extreme) < 0) extreme = i
  }
  const span = size - 1
  let before = extreme
  let after = extreme
  for (let k = 1; k < span && positions.compare(first + before, first + extreme) === 0; k++) {
    before = (extreme - k + span) % span
  }
  for (let k = 1; k < span && positions.compare(first + after, first + extreme) === 0; k++) {
    after = (extreme + k) % span
  }
  const side = positions.orientation(first + before, first + extreme, first + after)
  return side !== 0 ? side > 0 : exactAreaSign(positions, first, size) > 0
}

/** Sign of the shoelace sum, by integers: 1074 binary places hold every double. */
function exactAreaSign({ lon, lat, turn, planar }: Positions, first: number, size: number): number {
  const places = 1074
  const x = (i: number): bigint => scaledLongitude(lon[i]!, planar ? 0 : turn[i]!, places)
  const originX = x(first)
  const originY = scaledInteger(lat[first]!, places)
  let sum = 0n
  let lastX = 0n
  let lastY = 0n
  for (let i = first + 1; i < first + size; i++) {
    const nextX = x(i) - originX
    const nextY = scaledInteger(lat[i]!, places) - originY
    sum += lastX * nextY - lastY * nextX
    lastX = nextX
    lastY = nextY
  }
  return signOf(sum)
}
