/**
 * Arithmetic on one double or on two at a time. Code written with these functions for a type `T` is compiled twice: for
 * `v128` (two lanes of f64x2), and for `f64` where WebAssembly has no SIMD. In each lane the operations and their order
 * are the same, and no operation is fused, so both builds give the same bits.
 */

/** Number of doubles in a T. */
@inline
export function laneCount<T>(): i32 {
  return isVector<T>() ? 2 : 1
}

/** The same number in every lane. */
@inline
export function splat<T>(x: f64): T {
  if (isVector<T>()) return changetype<T>(f64x2.splat(x))
  return <T>x
}

/** Loads as many adjacent doubles as a T holds. */
@inline
export function loadLanes<T>(pointer: usize): T {
  if (isVector<T>()) return changetype<T>(v128.load(pointer))
  return <T>load<f64>(pointer)
}

@inline
export function storeLanes<T>(pointer: usize, x: T): void {
  if (isVector<T>()) v128.store(pointer, changetype<v128>(x))
  else store<f64>(pointer, <f64>x)
}

@inline
export function add<T>(x: T, y: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.add(changetype<v128>(x), changetype<v128>(y)))
  return <T>(<f64>x + <f64>y)
}

@inline
export function sub<T>(x: T, y: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.sub(changetype<v128>(x), changetype<v128>(y)))
  return <T>(<f64>x - <f64>y)
}

@inline
export function mul<T>(x: T, y: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.mul(changetype<v128>(x), changetype<v128>(y)))
  return <T>(<f64>x * <f64>y)
}

@inline
export function div<T>(x: T, y: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.div(changetype<v128>(x), changetype<v128>(y)))
  return <T>(<f64>x / <f64>y)
}

@inline
export function sqrtLanes<T>(x: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.sqrt(changetype<v128>(x)))
  return <T>sqrt<f64>(<f64>x)
}

@inline
export function absLanes<T>(x: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.abs(changetype<v128>(x)))
  return <T>abs<f64>(<f64>x)
}

@inline
export function negate<T>(x: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.neg(changetype<v128>(x)))
  return <T>-(<f64>x)
}

/** The nearest integer; halves round to even. */
@inline
export function nearestLanes<T>(x: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.nearest(changetype<v128>(x)))
  return <T>nearest<f64>(<f64>x)
}

@inline
export function maxLanes<T>(x: T, y: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.max(changetype<v128>(x), changetype<v128>(y)))
  return <T>max<f64>(<f64>x, <f64>y)
}

@inline
export function minLanes<T>(x: T, y: T): T {
  if (isVector<T>()) return changetype<T>(f64x2.min(changetype<v128>(x), changetype<v128>(y)))
  return <T>min<f64>(<f64>x, <f64>y)
}

/** Lane by lane: x < y ? a : b. */
@inline
export function ifLess<T>(x: T, y: T, a: T, b: T): T {
  if (isVector<T>()) {
    const mask = f64x2.lt(changetype<v128>(x), changetype<v128>(y))
    return changetype<T>(v128.bitselect(changetype<v128>(a), changetype<v128>(b), mask))
  }
  return select<T>(a, b, <f64>x < <f64>y)
}

/** Lane by lane: x = y ? a : b. */
@inline
export function ifEqual<T>(x: T, y: T, a: T, b: T): T {
  if (isVector<T>()) {
    const mask = f64x2.eq(changetype<v128>(x), changetype<v128>(y))
    return changetype<T>(v128.bitselect(changetype<v128>(a), changetype<v128>(b), mask))
  }
  return select<T>(a, b, <f64>x == <f64>y)
}

/** x · y + z with two roundings, never fused. */
@inline
export function mulAdd<T>(x: T, y: T, z: T): T {
  return add<T>(mul<T>(x, y), z)
}

/** Loads the first double of the pair at `pointer`; with two lanes, also the first of the pair `stride` bytes further. */
@inline
export function loadFirsts<T>(pointer: usize, stride: usize): T {
  if (isVector<T>()) return changetype<T>(v128.shuffle<f64>(v128.load(pointer), v128.load(pointer + stride), 0, 2))
  return <T>load<f64>(pointer)
}

/** Loads the second double of the same pairs. */
@inline
export function loadSeconds<T>(pointer: usize, stride: usize): T {
  if (isVector<T>()) return changetype<T>(v128.shuffle<f64>(v128.load(pointer), v128.load(pointer + stride), 1, 3))
  return <T>load<f64>(pointer, 8)
}

/**
 * Shifts a sequence by one element. `previous` and `next` are consecutive groups of lanesOf<T>() elements; the result
 * is the group that starts one element before `next`.
 */
@inline
export function shiftIn<T>(previous: T, next: T): T {
  if (isVector<T>()) {
    return changetype<T>(v128.shuffle<f64>(changetype<v128>(previous), changetype<v128>(next), 1, 2))
  }
  return previous
}
