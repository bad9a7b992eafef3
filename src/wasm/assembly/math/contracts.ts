/**
 * Preconditions of the exports, for use inside `assert`. In a build without assertions the compiler would still
 * evaluate the condition, here a pass over all vertices, because it cannot prove that it has no side effects. So each
 * function returns true at once when ASC_NO_ASSERT is set, and the optimiser removes the call.
 */

/** Whether lon and lat are a valid position in degrees: finite, |lon| ≤ 180, |lat| ≤ 90. */
export function isPosition(lon: f64, lat: f64): bool {
  if (ASC_NO_ASSERT) return true
  return Math.abs(lon) <= 180 && Math.abs(lat) <= 90
}

/** Whether `pointer` can hold `count` doubles: not null, aligned and inside the memory. */
export function areDoubles(pointer: usize, count: i64): bool {
  if (ASC_NO_ASSERT) return true
  if (count <= 0) return true
  return pointer != 0 && (pointer & 7) == 0 && <i64>pointer + 8 * count <= (<i64>memory.size()) << 16
}

/** Whether `pointer` leads to `count` valid positions, interleaved lon, lat in degrees. */
export function areDegrees(pointer: usize, count: i64): bool {
  if (ASC_NO_ASSERT) return true
  if (!areDoubles(pointer, 2 * count)) return false
  for (let i: i64 = 0; i < count; i++) {
    const p = pointer + ((<usize>i) << 4)
    if (!isPosition(load<f64>(p), load<f64>(p, 8))) return false
  }
  return true
}

/** Whether all positions lie in the hemisphere `side`, the equator included: 1 north, −1 south, 0 any. */
export function areOnSide(pointer: usize, count: i64, side: i32): bool {
  if (ASC_NO_ASSERT) return true
  for (let i: i64 = 0; i < count; i++) {
    if (<f64>side * load<f64>(pointer + ((<usize>i) << 4), 8) < 0) return false
  }
  return true
}

/** Whether the last of `count` ≥ 1 positions at `pointer` equals the first. */
export function isClosed(pointer: usize, count: i32): bool {
  if (ASC_NO_ASSERT) return true
  const last = pointer + ((<usize>(count - 1)) << 4)
  return load<f64>(pointer) == load<f64>(last) && load<f64>(pointer, 8) == load<f64>(last, 8)
}
