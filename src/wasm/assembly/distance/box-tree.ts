/**
 * Boxes in space, and implicit trees of boxes: node i of a level covers nodes 4i … 4i + 3 of the level below. The trees
 * need no pointers and are built from the bottom up, in the order of the items.
 *
 * A box is six doubles in metres: its lower x, y, z, then its upper x, y, z negated. So joining two boxes takes six
 * minima.
 */

import { ECEF_BYTES, RHI, RLO } from '../edges/ecef'
import { square } from '../math/math'

/*
 * Sorts the sequences of a geometry along a space-filling curve (Morton order). So points, short lines and rings in any
 * input order give a tree of small boxes.
 */

const COUNTS: usize = 1024
const counts: usize = memory.data(4096, 16)

/**
 * Writes 8 bytes for each sequence, its index in the lower half and the Morton code of its first vertex in the upper
 * half, ascending by code.
 *
 * @param positions pointer to x, y, z of each vertex
 * @param starts pointer to the u32 index of each sequence's first vertex
 * @param out pointer to one u64 per sequence
 * @param spare pointer to as many bytes, overwritten
 */
export function mortonOrder(positions: usize, starts: usize, count: i32, out: usize, spare: usize): void {
  if (count == 1) {
    store<u64>(out, 0)
    return
  }
  let minX = Infinity
  let minY = Infinity
  let minZ = Infinity
  let extent: f64 = 0
  for (let axis: usize = 0; axis < 24; axis += 8) {
    let low = Infinity
    let high = -Infinity
    for (let i = 0; i < count; i++) {
      const value = load<f64>(firstPosition(positions, starts, i) + axis)
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
    if (axis == 0) minX = low
    else if (axis == 8) minY = low
    else minZ = low
    extent = Math.max(extent, high - low)
  }
  const scale = extent > 0 ? 1023 / extent : 0
  for (let i = 0; i < count; i++) {
    const p = firstPosition(positions, starts, i)
    const code =
      spread(<u64>((load<f64>(p) - minX) * scale)) |
      (spread(<u64>((load<f64>(p, 8) - minY) * scale)) << 1) |
      (spread(<u64>((load<f64>(p, 16) - minZ) * scale)) << 2)
    store<u64>(out + ((<usize>i) << 3), (code << 32) | <u64>i)
  }
  radixSort(out, count, spare)
}

@inline
function firstPosition(positions: usize, starts: usize, sequence: i32): usize {
  return positions + <usize>load<u32>(starts + ((<usize>sequence) << 2)) * ECEF_BYTES
}

/** Spreads the 10 low bits of x, with two zero bits after each. */
function spread(x: u64): u64 {
  x = (x | (x << 16)) & 0x030000ff
  x = (x | (x << 8)) & 0x0300f00f
  x = (x | (x << 4)) & 0x030c30c3
  return (x | (x << 2)) & 0x09249249
}

/** Sorts by the upper half with a radix sort: three stable passes of ten bits, alternating between both tables. */
function radixSort(keys: usize, count: i32, spare: usize): void {
  let from = keys
  let to = spare
  for (let shift: u64 = 32; shift < 62; shift += 10) {
    memory.fill(counts, 0, COUNTS << 2)
    for (let i = 0; i < count; i++) {
      const entry = countEntry(load<u64>(from + ((<usize>i) << 3)), shift)
      store<i32>(entry, load<i32>(entry) + 1)
    }
    let sum = 0
    for (let i: usize = 0; i < COUNTS; i++) {
      const bucketSize = load<i32>(counts + (i << 2))
      store<i32>(counts + (i << 2), sum)
      sum += bucketSize
    }
    for (let i = 0; i < count; i++) {
      const key = load<u64>(from + ((<usize>i) << 3))
      const entry = countEntry(key, shift)
      const index = load<i32>(entry)
      store<i32>(entry, index + 1)
      store<u64>(to + ((<usize>index) << 3), key)
    }
    const t = from
    from = to
    to = t
  }
  memory.copy(keys, spare, (<usize>count) << 3)
}

@inline
function countEntry(key: u64, shift: u64): usize {
  return counts + ((<usize>(key >> shift) & (COUNTS - 1)) << 2)
}

export const FANOUT: i32 = 4
export const BOX_BYTES: usize = 48

/** Number of nodes in the level above a level of n nodes. */
@inline
export function parentCount(n: i32): i32 {
  return (n + FANOUT - 1) / FANOUT
}

/** Number of nodes in a level of n nodes and all levels above it. */
export function treeSize(n: i32): i32 {
  let total = n
  while (n > 1) {
    n = parentCount(n)
    total += n
  }
  return total
}

@inline
function lower(x: f64, y: f64): f64 {
  return x < y ? x : y
}

@inline
function upper(x: f64, y: f64): f64 {
  return x > y ? x : y
}

/** Makes a box empty. */
export function emptyBox(box: usize): void {
  for (let axis: usize = 0; axis < BOX_BYTES; axis += 8) store<f64>(box + axis, Infinity)
}

/** Widens a box to include a position. */
@inline
export function extend(box: usize, position: usize): void {
  const x = load<f64>(position)
  const y = load<f64>(position, 8)
  const z = load<f64>(position, 16)
  store<f64>(box, lower(x, load<f64>(box)))
  store<f64>(box, lower(y, load<f64>(box, 8)), 8)
  store<f64>(box, lower(z, load<f64>(box, 16)), 16)
  store<f64>(box, lower(-x, load<f64>(box, 24)), 24)
  store<f64>(box, lower(-y, load<f64>(box, 32)), 32)
  store<f64>(box, lower(-z, load<f64>(box, 40)), 40)
}

/** Widens a box by a margin on all sides. */
export function widen(box: usize, margin: f64): void {
  for (let axis: usize = 0; axis < BOX_BYTES; axis += 8) store<f64>(box + axis, load<f64>(box + axis) - margin)
}

/** Widens a box to include another one. */
export function extendByBox(box: usize, other: usize): void {
  for (let axis: usize = 0; axis < BOX_BYTES; axis += 8) {
    store<f64>(box + axis, lower(load<f64>(box + axis), load<f64>(other + axis)))
  }
}

/** Writes the bounding box of two positions, widened by a margin. */
export function writeBox(box: usize, from: usize, to: usize, margin: f64): void {
  const x = load<f64>(from)
  const y = load<f64>(from, 8)
  const z = load<f64>(from, 16)
  const u = load<f64>(to)
  const v = load<f64>(to, 8)
  const w = load<f64>(to, 16)
  store<f64>(box, lower(x, u) - margin)
  store<f64>(box, lower(y, v) - margin, 8)
  store<f64>(box, lower(z, w) - margin, 16)
  store<f64>(box, -upper(x, u) - margin, 24)
  store<f64>(box, -upper(y, v) - margin, 32)
  store<f64>(box, -upper(z, w) - margin, 40)
}

/** Metres: far above the rounding of positions and of the bulge. */
const BULGE_ROUNDING: f64 = 1e-6
/** Greatest and least curvature, 1/m: multiplied by, because divisions take long. */
const MOST_CURVED: f64 = 1 / RLO
const LEAST_CURVED: f64 = 1 / RHI

/**
 * Writes a box around a long geodesic, given its ends. A geodesic leaves its chord along the normals of the ellipsoid only, so
 * the box is widened in their directions: with s along the chord, r'' = −κn, so r is the chord plus the mean of κn, with weights
 * whose sum is at most length² / 8, and κ ≤ 1 / Rlo.
 *
 * The normal itself stays near the straight line between its values at the ends, because |n''| ≤ κ² + τ² + |κ'| + |τ'|. On WGS 84
 * that is less than 1.05 / Rlo²: the torsion τ and the derivatives are of the order of e² / Rlo².
 *
 * @param length upper bound of its length, metres
 * @param margin the sagitta for that length
 */
export function writeBulgingBox(box: usize, from: usize, to: usize, length: f64, margin: f64): void {
  const turn = (1.05 / 8) * square(length * MOST_CURVED)
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const least = lower(load<f64>(from + axis), load<f64>(to + axis))
    const most = upper(load<f64>(from + axis), load<f64>(to + axis))
    store<f64>(box + axis, least - margin * bulge(-least, turn) - BULGE_ROUNDING)
    store<f64>(box + axis, -most - margin * bulge(most, turn) - BULGE_ROUNDING, 24)
  }
}

/**
 * Upper bound, at least 0, of a component of the normals of a geodesic, given the greater of the coordinates of its ends on that
 * axis. A component of a normal is the coordinate divided by a length between Rlo and Rhi.
 */
@inline
function bulge(coordinate: f64, turn: f64): f64 {
  return upper(0, lower(1, coordinate * (coordinate > 0 ? MOST_CURVED : LEAST_CURVED) + turn))
}

/**
 * Builds the levels above n boxes, directly after them in memory.
 *
 * @returns the number of levels, including that of the n boxes
 */
export function buildBoxes(boxes: usize, n: i32): i32 {
  let levels = 1
  let below = boxes
  while (n > 1) {
    const level = below + <usize>n * BOX_BYTES
    const size = parentCount(n)
    for (let i = 0; i < size; i++) {
      join(level + <usize>i * BOX_BYTES, below + <usize>(FANOUT * i) * BOX_BYTES, min(FANOUT, n - FANOUT * i))
    }
    below = level
    n = size
    levels++
  }
  return levels
}

function join(box: usize, child: usize, count: i32): void {
  memory.copy(box, child, BOX_BYTES)
  for (let i = 1; i < count; i++) {
    child += BOX_BYTES
    if (ASC_FEATURE_SIMD) {
      v128.store(box, f64x2.pmin(v128.load(box), v128.load(child)))
      v128.store(box, f64x2.pmin(v128.load(box, 16), v128.load(child, 16)), 16)
      v128.store(box, f64x2.pmin(v128.load(box, 32), v128.load(child, 32)), 32)
    } else {
      for (let axis: usize = 0; axis < BOX_BYTES; axis += 8) {
        store<f64>(box + axis, lower(load<f64>(box + axis), load<f64>(child + axis)))
      }
    }
  }
}

/** Square of the distance between two boxes; 0 when they overlap. */
@inline
export function boxDistanceSquare(p: usize, q: usize): f64 {
  if (ASC_FEATURE_SIMD) {
    const one = f64x2.add(v128.load(p), v128.load(q, 24))
    const other = f64x2.add(v128.load(q), v128.load(p, 24))
    const gap = f64x2.pmax(f64x2.splat(0), f64x2.pmax(one, other))
    const squares = f64x2.mul(gap, gap)
    const z = upper(0, upper(load<f64>(p, 16) + load<f64>(q, 40), load<f64>(q, 16) + load<f64>(p, 40)))
    return f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1) + z * z
  }
  const x = axisGap(p, q)
  const y = axisGap(p + 8, q + 8)
  const z = axisGap(p + 16, q + 16)
  return x * x + y * y + z * z
}

@inline
function axisGap(p: usize, q: usize): f64 {
  return upper(0, upper(load<f64>(p) + load<f64>(q, 24), load<f64>(q) + load<f64>(p, 24)))
}

/** Whether a box contains a position. */
export function containsPosition(box: usize, position: usize): bool {
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const value = load<f64>(position + axis)
    if (value < load<f64>(box + axis) || -value < load<f64>(box + axis, 24)) return false
  }
  return true
}

/** Square of the diagonal of a box. */
@inline
export function boxSizeSquare(box: usize): f64 {
  const x = load<f64>(box) + load<f64>(box, 24)
  const y = load<f64>(box, 8) + load<f64>(box, 32)
  const z = load<f64>(box, 16) + load<f64>(box, 40)
  return x * x + y * y + z * z
}

/** Greatest distance in space from a position to any corner of a box. */
export function boxReach(box: usize, position: usize): f64 {
  let sum: f64 = 0
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const p = load<f64>(position + axis)
    const side = upper(p - load<f64>(box + axis), -load<f64>(box + axis, 24) - p)
    sum += side * side
  }
  return Math.sqrt(sum)
}

/** Least value of the dot product (x − position)·(ux, uy, uz) for all points x of a box. */
export function boxSupport(box: usize, position: usize, ux: f64, uy: f64, uz: f64): f64 {
  return support(box, position, ux) + support(box + 8, position + 8, uy) + support(box + 16, position + 16, uz)
}

@inline
function support(side: usize, position: usize, u: f64): f64 {
  return u * ((u > 0 ? load<f64>(side) : -load<f64>(side, 24)) - load<f64>(position))
}
