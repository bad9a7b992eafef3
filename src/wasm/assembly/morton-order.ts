/**
 * Puts the sequences of a geometry into the order of a space-filling curve, so that points, short lines and rings that
 * come in any order still make a tree of small boxes.
 */
import { ECEF_BYTES } from './ecef'

/**
 * Writes for each sequence 8 bytes: its index, and above it the Morton code of its first vertex; ascending by code.
 *
 * @param positions pointer to x, y, z of each vertex
 * @param starts pointer to the u32 index of each sequence's first vertex
 * @param out pointer to one u64 a sequence
 */
export function mortonOrder(positions: usize, starts: usize, count: i32, out: usize): void {
  let minX = Infinity
  let minY = Infinity
  let minZ = Infinity
  let extent: f64 = 0
  for (let axis: usize = 0; axis < 24; axis += 8) {
    let low = Infinity
    let high = -Infinity
    for (let i = 0; i < count; i++) {
      const value = load<f64>(firstOf(positions, starts, i) + axis)
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
    const p = firstOf(positions, starts, i)
    const code =
      spread(<u64>((load<f64>(p) - minX) * scale)) |
      (spread(<u64>((load<f64>(p, 8) - minY) * scale)) << 1) |
      (spread(<u64>((load<f64>(p, 16) - minZ) * scale)) << 2)
    store<u64>(out + ((<usize>i) << 3), (code << 32) | <u64>i)
  }
  heapSort(out, count)
}

@inline
function firstOf(positions: usize, starts: usize, sequence: i32): usize {
  return positions + <usize>load<u32>(starts + ((<usize>sequence) << 2)) * ECEF_BYTES
}

/** The 10 low bits of x, two zero bits between each. */
function spread(x: u64): u64 {
  x = (x | (x << 16)) & 0x030000ff
  x = (x | (x << 8)) & 0x0300f00f
  x = (x | (x << 4)) & 0x030c30c3
  return (x | (x << 2)) & 0x09249249
}

function heapSort(keys: usize, count: i32): void {
  for (let i = count / 2 - 1; i >= 0; i--) sink(keys, i, count)
  for (let end = count - 1; end > 0; end--) {
    const key = load<u64>(keys + ((<usize>end) << 3))
    store<u64>(keys + ((<usize>end) << 3), load<u64>(keys))
    store<u64>(keys, key)
    sink(keys, 0, end)
  }
}

/** Lets a key of the heap sink until both below it are smaller. */
function sink(keys: usize, at: i32, count: i32): void {
  const key = load<u64>(keys + ((<usize>at) << 3))
  for (let child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && load<u64>(keys + ((<usize>child) << 3), 8) > load<u64>(keys + ((<usize>child) << 3))) {
      child++
    }
    const below = load<u64>(keys + ((<usize>child) << 3))
    if (below <= key) break
    store<u64>(keys + ((<usize>at) << 3), below)
    at = child
  }
  store<u64>(keys + ((<usize>at) << 3), key)
}
