/**
 * An implicit tree of boxes in space over the edges of one geometry: node i of a level covers nodes 4i … 4i + 3 of the
 * level below, level 0 is the edges themselves. No pointers, built from the bottom in the order of the edges.
 *
 * A box is six doubles, min x, y, z and max x, y, z in metres, and holds the geodesics over its edges, not only their chords.
 */

export const FANOUT: i32 = 4
export const BOX_BYTES: usize = 48

/** Nodes of the level above n nodes. */
@inline
function above(n: i32): i32 {
  return (n + FANOUT - 1) / FANOUT
}

/** Bytes of the boxes of all levels over at most this many edges. */
export function boxBytes(edgeCount: i32): usize {
  let total: usize = <usize>edgeCount
  for (let n = edgeCount; n > 1; ) {
    n = above(n)
    total += <usize>n
  }
  return total * BOX_BYTES
}

/** Writes the box of one edge: its end positions, widened by how far the geodesic may leave the chord. */
export function putBox(boxes: usize, index: i32, from: usize, to: usize, margin: f64): void {
  const box = boxes + <usize>index * BOX_BYTES
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const p = load<f64>(from + axis)
    const q = load<f64>(to + axis)
    store<f64>(box + axis, Math.min(p, q) - margin)
    store<f64>(box + axis, Math.max(p, q) + margin, 24)
  }
}

/** Fills the levels above the edges; returns the number of levels, the one of the edges included. */
export function buildBoxes(boxes: usize, edgeCount: i32): i32 {
  let levels = 1
  let below = boxes
  for (let n = edgeCount; n > 1; ) {
    const level = below + <usize>n * BOX_BYTES
    const size = above(n)
    for (let i = 0; i < size; i++) {
      join(level + <usize>i * BOX_BYTES, below + <usize>(FANOUT * i) * BOX_BYTES, min(FANOUT, n - FANOUT * i))
    }
    below = level
    n = size
    levels++
  }
  return levels
}

function join(box: usize, first: usize, count: i32): void {
  for (let axis: usize = 0; axis < 24; axis += 8) {
    let low = load<f64>(first + axis)
    let high = load<f64>(first + axis, 24)
    for (let i = 1; i < count; i++) {
      const child = first + <usize>i * BOX_BYTES + axis
      low = Math.min(low, load<f64>(child))
      high = Math.max(high, load<f64>(child, 24))
    }
    store<f64>(box + axis, low)
    store<f64>(box + axis, high, 24)
  }
}

/** Nodes of a level. */
export function levelSize(edgeCount: i32, level: i32): i32 {
  let n = edgeCount
  for (let i = 0; i < level; i++) n = above(n)
  return n
}

/** Pointer to the first box of a level. */
export function levelAt(boxes: usize, edgeCount: i32, level: i32): usize {
  let n = edgeCount
  for (let i = 0; i < level; i++) {
    boxes += <usize>n * BOX_BYTES
    n = above(n)
  }
  return boxes
}

/** Square of the distance between two boxes; 0 when they overlap. */
export function boxDistanceSquare(p: usize, q: usize): f64 {
  let sum: f64 = 0
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const gap = Math.max(load<f64>(p + axis) - load<f64>(q + axis, 24), load<f64>(q + axis) - load<f64>(p + axis, 24))
    if (gap > 0) sum += gap * gap
  }
  return sum
}

/** Whether a box holds a position. */
export function holds(box: usize, position: usize): bool {
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const value = load<f64>(position + axis)
    if (value < load<f64>(box + axis) || value > load<f64>(box + axis, 24)) return false
  }
  return true
}

/** Square of the diagonal of a box. */
export function boxSizeSquare(box: usize): f64 {
  let sum: f64 = 0
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const side = load<f64>(box + axis, 24) - load<f64>(box + axis)
    sum += side * side
  }
  return sum
}

/** Greatest distance in space from a position to a corner of a box. */
export function boxReach(box: usize, position: usize): f64 {
  let sum: f64 = 0
  for (let axis: usize = 0; axis < 24; axis += 8) {
    const p = load<f64>(position + axis)
    const side = Math.max(p - load<f64>(box + axis), load<f64>(box + axis, 24) - p)
    sum += side * side
  }
  return Math.sqrt(sum)
}

/** Least value of (x − position)·(ux, uy, uz) over a box. */
export function boxSupport(box: usize, position: usize, ux: f64, uy: f64, uz: f64): f64 {
  return (
    support(box, position, ux) + support(box + 8, position + 8, uy) + support(box + 16, position + 16, uz)
  )
}

@inline
function support(side: usize, position: usize, u: f64): f64 {
  return u * ((u > 0 ? load<f64>(side) : load<f64>(side, 24)) - load<f64>(position))
}
