/**
 * Sorts the sequences of a geometry along a space-filling curve (Morton order). So points, short lines and rings in any
 * input order give a tree of small boxes.
 */
import { ECEF_BYTES } from '../edges/ecef'

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
  return counts + (((<usize>(key >> shift)) & (COUNTS - 1)) << 2)
}
