/** What exports ask of their arguments: for `assert`, so only the checked build contains calls. */

/** Whether a position in degrees is one: finite, |lon| ≤ 180, |lat| ≤ 90. */
export function isPosition(lon: f64, lat: f64): bool {
  return Math.abs(lon) <= 180 && Math.abs(lat) <= 90
}

/** Whether `count` doubles are at `pointer`: aligned, not at 0 and inside the memory. */
export function areDoubles(pointer: usize, count: i64): bool {
  if (count <= 0) return true
  return pointer != 0 && (pointer & 7) == 0 && <i64>pointer + 8 * count <= (<i64>memory.size()) << 16
}

/** Whether `count` positions, interleaved lon, lat in degrees, are at `pointer`. */
export function areDegrees(pointer: usize, count: i64): bool {
  if (!areDoubles(pointer, 2 * count)) return false
  for (let i: i64 = 0; i < count; i++) {
    const p = pointer + ((<usize>i) << 4)
    if (!isPosition(load<f64>(p), load<f64>(p, 8))) return false
  }
  return true
}

/** Whether no position lies beyond the equator as seen from a pole: 1 north, −1 south, 0 neither. */
export function areOnSide(pointer: usize, count: i64, side: i32): bool {
  for (let i: i64 = 0; i < count; i++) {
    if (<f64>side * load<f64>(pointer + ((<usize>i) << 4), 8) < 0) return false
  }
  return true
}
