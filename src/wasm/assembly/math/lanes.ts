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
 * Shifts a sequence by one element. `previous` and `next` are consecutive groups of laneCount<T>() elements; the result
 * is the group that starts one element before `next`.
 */
@inline
export function shiftIn<T>(previous: T, next: T): T {
  if (isVector<T>()) {
    return changetype<T>(v128.shuffle<f64>(changetype<v128>(previous), changetype<v128>(next), 1, 2))
  }
  return previous
}

/*
 * Polynomials for one lane or two. The coefficients are in memory, lowest order first: loading one double into both
 * lanes is one instruction, whereas a constant in the code takes three.
 */

/** Loads the coefficient of order `order` into every lane. */
@inline
function coefficient<T>(table: usize, order: i32): T {
  const pointer = table + ((<usize>order) << 3)
  if (isVector<T>()) return changetype<T>(v128.load_splat<f64>(pointer))
  return <T>load<f64>(pointer)
}

/** c₀ + c₁x. The functions below are polynomials of degree 2, 3 … */
@inline
export function polynomial1<T>(table: usize, x: T): T {
  return mulAdd<T>(coefficient<T>(table, 1), x, coefficient<T>(table, 0))
}

@inline
export function polynomial2<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial1<T>(table + 8, x), x, coefficient<T>(table, 0))
}

@inline
export function polynomial3<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial1<T>(table + 16, x), mul<T>(x, x), polynomial1<T>(table, x))
}

@inline
export function polynomial4<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial2<T>(table + 16, x), mul<T>(x, x), polynomial1<T>(table, x))
}

@inline
export function polynomial5<T>(table: usize, x: T): T {
  return mulAdd<T>(polynomial3<T>(table + 16, x), mul<T>(x, x), polynomial1<T>(table, x))
}

/*
 * Sine, cosine and arctangent for one lane or two, by the minimax polynomials of fdlibm (Sun Microsystems, 1993).
 * Errors stay below one unit in the last place. The caller reduces the argument of sine and cosine; the arctangent
 * reduces its own, without branches.
 */

const SINE = memory.data<f64>([
  -1.66666666666666324348e-1, 8.33333333332248946124e-3, -1.98412698298579493134e-4, 2.75573137070700676789e-6,
  -2.50507602534068634195e-8, 1.58969099521155010221e-10,
])
const COSINE = memory.data<f64>([
  4.16666666666666019037e-2, -1.38888888888741095749e-3, 2.48015872894767294178e-5, -2.75573143513906633035e-7,
  2.0875723212981748279e-9, -1.13596475577881948265e-11,
])
/** Even and odd orders are summed separately: two short chains of operations run faster than one long chain. */
const ARCTANGENT_ODD = memory.data<f64>([
  3.33333333333329318027e-1, 1.42857142725034663711e-1, 9.09088713343650656196e-2, 6.66107313738753120669e-2,
  4.97687799461593236017e-2, 1.62858201153657823623e-2,
])
const ARCTANGENT_EVEN = memory.data<f64>([
  -1.99999999998764832476e-1, -1.1111110405462355788e-1, -7.69187620504482999495e-2, -5.83357013379057348645e-2,
  -3.6531572744216915527e-2,
])
/** π/4, π/2 and π as the sum of two doubles. */
const QUARTER_HIGH: f64 = 0.7853981633974483
const QUARTER_LOW: f64 = 3.061616997868383e-17
const HALF_HIGH: f64 = 1.5707963267948966
const HALF_LOW: f64 = 6.123233995736766e-17
const PI_HIGH: f64 = Math.PI
const PI_LOW: f64 = 1.2246467991473532e-16

/** sin x for |x| ≤ π/4; the caller passes z = x². */
@inline
export function sinLanes<T>(x: T, z: T): T {
  return mulAdd<T>(mul<T>(x, z), polynomial5<T>(SINE, z), x)
}

/** cos x for |x| ≤ π/4; the caller passes z = x². */
@inline
export function cosLanes<T>(z: T): T {
  const half = mul<T>(z, splat<T>(0.5))
  const w = sub<T>(splat<T>(1), half)
  // The rounding error of 1 − z/2 is added back with the small terms.
  const lost = sub<T>(sub<T>(splat<T>(1), w), half)
  return add<T>(w, mulAdd<T>(mul<T>(z, z), polynomial5<T>(COSINE, z), lost))
}

/** Angle of the direction (x, y) in [0, π], radians; y ≥ 0, and x and y not both zero. */
@inline
export function atan2Lanes<T>(y: T, x: T): T {
  // The angle of (|x|, y) is offset + arctan t, where the offset is 0 below π/8, π/4 up to 3π/8 and π/2 above.
  const u = absLanes<T>(x)
  const low = mul<T>(u, splat<T>(0.41421356237309503)) // tan π/8
  const high = mul<T>(u, splat<T>(2.414213562373095)) // tan 3π/8
  const numerator = ifLess<T>(y, low, y, ifLess<T>(high, y, negate<T>(u), sub<T>(y, u)))
  const denominator = ifLess<T>(y, low, u, ifLess<T>(high, y, y, add<T>(y, u)))
  const offset = ifLess<T>(y, low, splat<T>(0), ifLess<T>(high, y, splat<T>(HALF_HIGH), splat<T>(QUARTER_HIGH)))
  const offsetLow = ifLess<T>(y, low, splat<T>(0), ifLess<T>(high, y, splat<T>(HALF_LOW), splat<T>(QUARTER_LOW)))
  const t = div<T>(numerator, denominator)
  const z = mul<T>(t, t)
  const w = mul<T>(z, z)
  const series = mulAdd<T>(z, polynomial5<T>(ARCTANGENT_ODD, w), mul<T>(w, polynomial4<T>(ARCTANGENT_EVEN, w)))
  const angle = add<T>(offset, sub<T>(t, sub<T>(mul<T>(t, series), offsetLow)))
  return ifLess<T>(x, splat<T>(0), add<T>(sub<T>(splat<T>(PI_HIGH), angle), splat<T>(PI_LOW)), angle)
}

/** Coefficients of the arcsine series: 1/6, 3/40, 15/336. */
const ARCSINE = memory.data<f64>([1 / 6.0, 3 / 40.0, 15 / 336.0])

/** arcsin x for |x| < 0.02, with an error below 3·10⁻¹⁷. */
@inline
export function smallAsin<T>(x: T): T {
  const z = mul<T>(x, x)
  return mulAdd<T>(mul<T>(x, z), polynomial2<T>(ARCSINE, z), x)
}

const SMALL_SINE = memory.data<f64>([-1 / 6.0, 1 / 120.0])
const SMALL_COSINE = memory.data<f64>([-1 / 2.0, 1 / 24.0, -1 / 720.0])

/** sin x for |x| < 0.02. */
@inline
export function smallSin<T>(x: T): T {
  const z = mul<T>(x, x)
  const series = mulAdd<T>(coefficient<T>(SMALL_SINE, 1), z, coefficient<T>(SMALL_SINE, 0))
  return mulAdd<T>(mul<T>(x, z), series, x)
}

/** cos x − 1 for |x| < 0.02. */
@inline
export function smallCosm1<T>(x: T): T {
  const z = mul<T>(x, x)
  return mul<T>(z, polynomial2<T>(SMALL_COSINE, z))
}
