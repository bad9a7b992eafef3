/**
 * Sine, cosine and arctangent for one lane or two, by the minimax polynomials of fdlibm (Sun Microsystems, 1993).
 * Errors stay below one unit in the last place. The caller reduces the argument of sine and cosine; the arctangent
 * reduces its own, without branches.
 */
import { absLanes, add, div, ifLess, mul, mulAdd, negate, splat, sub } from './lanes'
import { coefficient, polynomial2, polynomial4, polynomial5 } from './lane-series'

const SINE = memory.data<f64>([
  -1.66666666666666324348e-1, 8.33333333332248946124e-3, -1.98412698298579493134e-4, 2.75573137070700676789e-6,
  -2.50507602534068634195e-8, 1.58969099521155010221e-10,
])
const COSINE = memory.data<f64>([
  4.16666666666666019037e-2, -1.38888888888741095749e-3, 2.48015872894767294178e-5, -2.75573143513906633035e-7,
  2.08757232129817482790e-9, -1.13596475577881948265e-11,
])
/** Even and odd orders are summed separately: two short chains of operations run faster than one long chain. */
const ARCTANGENT_ODD = memory.data<f64>([
  3.33333333333329318027e-1, 1.42857142725034663711e-1, 9.09088713343650656196e-2, 6.66107313738753120669e-2,
  4.97687799461593236017e-2, 1.62858201153657823623e-2,
])
const ARCTANGENT_EVEN = memory.data<f64>([
  -1.99999999998764832476e-1, -1.11111104054623557880e-1, -7.69187620504482999495e-2, -5.83357013379057348645e-2,
  -3.65315727442169155270e-2,
])
/** π/4, π/2 and π as the sum of two doubles. */
const QUARTER_HIGH: f64 = 0.7853981633974483
const QUARTER_LOW: f64 = 3.061616997868383e-17
const HALF_HIGH: f64 = 1.5707963267948966
const HALF_LOW: f64 = 6.123233995736766e-17
const PI_HIGH: f64 = 3.141592653589793
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
export function smallVersine<T>(x: T): T {
  const z = mul<T>(x, x)
  return mul<T>(z, polynomial2<T>(SMALL_COSINE, z))
}
