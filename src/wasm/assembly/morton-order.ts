/**
 * Puts the sequences of a geometry into the order of a space-filling curve, so that points, short lines and rings that
 * come in any order still make a tree of small boxes.
 */
import { ECEF_BYTES } from './ecef'

const TALLIES: usize = 1024
const tallies: usize = memory.data(4096, 16)

/**
 * Writes for each sequence 8 bytes: its index, and above it the Morton code of its first vertex; ascending by code.
 *
 * @param positions pointer to x, y, z of each vertex
 * @param starts pointer to the u32 index of each sequence's first vertex
 * @param out pointer to one u64 a sequence
 * @param spare pointer to as much, overwritten
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
  radixSort(out, count, spare)
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

/** Sorts by the upper half: three passes of ten bits, each stable, through a second table of the same size. */
function radixSort(keys: usize, count: i32, spare: usize): void {
  let from = keys
  let to = spare
  for (let shift: u64 = 32; shift < 62; shift += 10) {
    memory.fill(tallies, 0, TALLIES << 2)
    for (let i = 0; i < count; i++) {
      const at = tallyOf(load<u64>(from + ((<usize>i) << 3)), shift)
      store<i32>(at, load<i32>(at) + 1)
    }
    let sum = 0
    for (let i: usize = 0; i < TALLIES; i++) {
      const tally = load<i32>(tallies + (i << 2))
      store<i32>(tallies + (i << 2), sum)
      sum += tally
    }
    for (let i = 0; i < count; i++) {
      const key = load<u64>(from + ((<usize>i) << 3))
      const at = tallyOf(key, shift)
      const place = load<i32>(at)
      store<i32>(at, place + 1)
      store<u64>(to + ((<usize>place) << 3), key)
    }
    const t = from
    from = to
    to = t
  }
  memory.copy(keys, spare, (<usize>count) << 3)
}

@inline
function tallyOf(key: u64, shift: u64): usize {
  return tallies + (((<usize>(key >> shift)) & (TALLIES - 1)) << 2)
}
