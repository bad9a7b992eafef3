import type { SegmentSet } from '../layout/segment-set.ts'
import { countFractionBits, scaledInteger, scaledLongitude } from './exact.ts'

/**
 * Rounded coordinates that differ by more than this belong to different points: rounding stays below 1e-8° up to 16,000 turns.
 */
const CERTAIN_DEGREES = 1e-7

/**
 * The point at which two segments cross, as the exact fraction (x/w, y/w) · 2^-fractionBits, with a rounded copy that serves as a
 * filter.
 *
 * It is computed only where a crossing is allowed and the sweep has to continue past it.
 */
export interface Crossing {
  readonly lower: number
  readonly upper: number
  readonly x: bigint
  readonly y: bigint
  /** > 0 */
  readonly w: bigint
  readonly fractionBits: number
  /** The rounded copy, degrees. It depends only on the value of the fraction, so equal points have equal copies. */
  readonly lon: number
  readonly lat: number
}

/** Returns the point at which two segments cross. They must not be parallel. */
export function computeCrossing(segments: SegmentSet, lower: number, upper: number): Crossing {
  const a = segments.left[lower]!
  const b = segments.right[lower]!
  const c = segments.left[upper]!
  const d = segments.right[upper]!
  const fractionBits = Math.max(
    fractionBitsOfPosition(segments, a),
    fractionBitsOfPosition(segments, b),
    fractionBitsOfPosition(segments, c),
    fractionBitsOfPosition(segments, d),
  )
  const ax = longitude(segments, a, fractionBits)
  const ay = latitude(segments, a, fractionBits)
  const ux = longitude(segments, b, fractionBits) - ax
  const uy = latitude(segments, b, fractionBits) - ay
  const cx = longitude(segments, c, fractionBits)
  const cy = latitude(segments, c, fractionBits)
  const vx = longitude(segments, d, fractionBits) - cx
  const vy = latitude(segments, d, fractionBits) - cy
  const cross = ux * vy - uy * vx
  const along = (cx - ax) * vy - (cy - ay) * vx
  const sign = cross < 0n ? -1n : 1n
  const x = (ax * cross + ux * along) * sign
  const y = (ay * cross + uy * along) * sign
  const w = cross * sign
  return {
    lower,
    upper,
    x,
    y,
    w,
    fractionBits,
    lon: quotient(x, w, fractionBits),
    lat: quotient(y, w, fractionBits),
  }
}

/** Compares two crossings by longitude, then latitude. */
function compareCrossings(p: Crossing, q: Crossing): number {
  // Rounding is monotonic: where the copies differ, the fractions differ in the same direction.
  if (p.lon !== q.lon) return p.lon - q.lon
  const byLon = compareFractions(p.x, p.w, p.fractionBits, q.x, q.w, q.fractionBits)
  if (byLon !== 0) return byLon
  if (p.lat !== q.lat) return p.lat - q.lat
  return compareFractions(p.y, p.w, p.fractionBits, q.y, q.w, q.fractionBits)
}

/** Compares a crossing with a position by longitude, then latitude. */
export function compareToPosition(segments: SegmentSet, p: Crossing, position: number): number {
  const { positions } = segments
  if (Math.abs(p.lon - positions.x[position]!) > CERTAIN_DEGREES) return p.lon - positions.x[position]!
  const fractionBits = fractionBitsOfPosition(segments, position)
  const byLon = compareFractions(
    p.x,
    p.w,
    p.fractionBits,
    longitude(segments, position, fractionBits),
    1n,
    fractionBits,
  )
  if (byLon !== 0) return byLon
  return compareFractions(p.y, p.w, p.fractionBits, latitude(segments, position, fractionBits), 1n, fractionBits)
}

/** Tells whether a crossing lies on the line of a segment. */
export function liesOn(segments: SegmentSet, p: Crossing, segment: number): boolean {
  if (segment === p.lower || segment === p.upper) return true
  const { x, lat } = segments.positions
  const a = segments.left[segment]!
  const b = segments.right[segment]!
  const ux = x[b]! - x[a]!
  const uy = lat[b]! - lat[a]!
  const size = Math.abs(ux) + Math.abs(uy)
  if (size > 1e-200 && Math.abs(ux * (p.lat - lat[a]!) - uy * (p.lon - x[a]!)) > CERTAIN_DEGREES * size) return false
  const fractionBits = Math.max(
    fractionBitsOfPosition(segments, a),
    fractionBitsOfPosition(segments, b),
    p.fractionBits,
  )
  const ax = longitude(segments, a, fractionBits)
  const ay = latitude(segments, a, fractionBits)
  const scale = BigInt(fractionBits - p.fractionBits)
  return (
    (longitude(segments, b, fractionBits) - ax) * ((p.y << scale) - ay * p.w) ===
    (latitude(segments, b, fractionBits) - ay) * ((p.x << scale) - ax * p.w)
  )
}

function compareFractions(a: bigint, aw: bigint, aBits: number, b: bigint, bw: bigint, bBits: number): number {
  const left = (a * bw) << BigInt(Math.max(0, bBits - aBits))
  const right = (b * aw) << BigInt(Math.max(0, aBits - bBits))
  return left < right ? -1 : left > right ? 1 : 0
}

function fractionBitsOfPosition({ positions }: SegmentSet, position: number): number {
  return Math.max(countFractionBits(positions.lon[position]!), countFractionBits(positions.lat[position]!))
}

function longitude({ positions }: SegmentSet, position: number, fractionBits: number): bigint {
  return scaledLongitude(positions.lon[position]!, positions.planar ? 0 : positions.turn[position]!, fractionBits)
}

function latitude({ positions }: SegmentSet, position: number, fractionBits: number): bigint {
  return scaledInteger(positions.lat[position]!, fractionBits)
}

function quotient(numerator: bigint, denominator: bigint, fractionBits: number): number {
  return Number((numerator << 64n) / (denominator << BigInt(fractionBits))) / 2 ** 64
}

/** The event queue for the crossings ahead of the sweep line: a binary heap. The ends of segments are sorted beforehand. */
export class CrossingQueue {
  readonly #heap: Crossing[] = []

  get first(): Crossing | undefined {
    return this.#heap[0]
  }

  add(crossing: Crossing): void {
    const heap = this.#heap
    let child = heap.length
    heap.push(crossing)
    while (child > 0) {
      const parent = (child - 1) >>> 1
      if (compareCrossings(heap[parent]!, crossing) <= 0) break
      heap[child] = heap[parent]!
      child = parent
    }
    heap[child] = crossing
  }

  /** Removes the first crossing and all others at the same point. */
  removeFirstPoint(): void {
    const first = this.first
    if (first === undefined) return
    do this.#removeFirst()
    while (this.first !== undefined && compareCrossings(this.first, first) === 0)
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && compareCrossings(heap[child + 1]!, heap[child]!) < 0) child++
      if (compareCrossings(last, heap[child]!) <= 0) break
      heap[parent] = heap[child]!
      parent = child
    }
    heap[parent] = last
  }
}
