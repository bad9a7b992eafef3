/**
 * Sines and cosines of degrees for one lane or two: of latitudes, of their reduced latitudes and of differences of longitude.
 * What a sine and its cosine have in common is written in both and computed once: the compiler merges equal expressions.
 */
import { add, div, ifEqual, mul, mulAdd, nearestOf, splat, sqrtOf, sub } from './lanes'
import { cosineOf, sineOf } from './lane-trigonometry'
import { DEGREE } from './math'
import { f1 } from './series'

/** The multiple of 90° that is nearest. */
@inline
function quadrantOf<T>(degrees: T): T {
  return nearestOf<T>(mul<T>(degrees, splat<T>(1 / 90.0)))
}

/** The rest in radians: exact before it is multiplied, so that multiples of 90° give exact zeros and ones. */
@inline
function restOf<T>(degrees: T, low: T): T {
  return mul<T>(add<T>(sub<T>(degrees, mul<T>(quadrantOf<T>(degrees), splat<T>(90))), low), splat<T>(DEGREE))
}

/** sin of `degrees` + `low`, |degrees| ≤ 90. */
@inline
export function sineOfLatitude<T>(lat: T): T {
  const quadrant = quadrantOf<T>(lat)
  const x = restOf<T>(lat, splat<T>(0))
  const x2 = mul<T>(x, x)
  return ifEqual<T>(quadrant, splat<T>(0), sineOf<T>(x, x2), mul<T>(quadrant, cosineOf<T>(x2)))
}

/** cos of a latitude in degrees, never −0. */
@inline
export function cosineOfLatitude<T>(lat: T): T {
  const quadrant = quadrantOf<T>(lat)
  const x = restOf<T>(lat, splat<T>(0))
  const x2 = mul<T>(x, x)
  const beyond = sub<T>(splat<T>(0), mul<T>(quadrant, sineOf<T>(x, x2)))
  return ifEqual<T>(quadrant, splat<T>(0), cosineOf<T>(x2), beyond)
}

/** 1 / √(f1² sin²φ + cos²φ): from the geographic to the reduced latitude. */
@inline
function toReduced<T>(lat: T): T {
  const s = mul<T>(sineOfLatitude<T>(lat), splat<T>(f1))
  const c = cosineOfLatitude<T>(lat)
  return div<T>(splat<T>(1), sqrtOf<T>(mulAdd<T>(s, s, mul<T>(c, c))))
}

/** sin β of a latitude in degrees. */
@inline
export function reducedSine<T>(lat: T): T {
  return mul<T>(mul<T>(sineOfLatitude<T>(lat), splat<T>(f1)), toReduced<T>(lat))
}

/** cos β of a latitude in degrees: 0 at the poles. */
@inline
export function reducedCosine<T>(lat: T): T {
  return mul<T>(cosineOfLatitude<T>(lat), toReduced<T>(lat))
}

/** sin of an angle of `degrees` + `low` in [0°, 180°]. */
@inline
export function sineOfTurn<T>(degrees: T, low: T): T {
  const quadrant = quadrantOf<T>(degrees)
  const x = restOf<T>(degrees, low)
  const x2 = mul<T>(x, x)
  const upright = ifEqual<T>(quadrant, splat<T>(1), cosineOf<T>(x2), sineOf<T>(x, x2))
  return mul<T>(upright, ifEqual<T>(quadrant, splat<T>(2), splat<T>(-1), splat<T>(1)))
}

/** cos of the same. */
@inline
export function cosineOfTurn<T>(degrees: T, low: T): T {
  const quadrant = quadrantOf<T>(degrees)
  const x = restOf<T>(degrees, low)
  const x2 = mul<T>(x, x)
  const upright = ifEqual<T>(quadrant, splat<T>(1), sineOf<T>(x, x2), cosineOf<T>(x2))
  return mul<T>(upright, ifEqual<T>(quadrant, splat<T>(0), splat<T>(1), splat<T>(-1)))
}

/** y − x reduced to [−180, 180] by a multiple of 360; what rounding lost is `turnLow`. Both in [−180, 180]. */
@inline
export function turnOf<T>(x: T, y: T): T {
  const d = sub<T>(y, x)
  return sub<T>(d, mul<T>(nearestOf<T>(mul<T>(d, splat<T>(1 / 360.0))), splat<T>(360)))
}

/** The rounding error of y − x (Knuth). */
@inline
export function turnLow<T>(x: T, y: T): T {
  const d = sub<T>(y, x)
  const up = add<T>(d, x)
  const back = sub<T>(d, up)
  return sub<T>(sub<T>(y, up), add<T>(x, back))
}
