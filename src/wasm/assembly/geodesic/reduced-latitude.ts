/**
 * Sines and cosines of angles in degrees, for one lane or two: latitudes, their reduced latitudes and differences of
 * longitude. A sine and its cosine repeat their common subexpressions; after inlining the compiler merges them, so each
 * is computed once.
 */
import { add, cosLanes, div, ifEqual, mul, mulAdd, nearestLanes, sinLanes, splat, sqrtLanes, sub } from '../math/lanes'
import { DEGREE } from '../math/math'
import { f1 } from './series'

/** The number q of quadrants for which 90q is nearest to the angle. */
@inline
function nearestQuadrant<T>(degrees: T): T {
  return nearestLanes<T>(mul<T>(degrees, splat<T>(1 / 90.0)))
}

/**
 * The angle minus its nearest multiple of 90°, in radians. The difference is exact before the conversion to radians, so
 * multiples of 90° give exact zeros and ones.
 */
@inline
function radiansFromQuadrant<T>(degrees: T, low: T): T {
  return mul<T>(add<T>(sub<T>(degrees, mul<T>(nearestQuadrant<T>(degrees), splat<T>(90))), low), splat<T>(DEGREE))
}

/** sin of a latitude in degrees. */
@inline
function sinLatitude<T>(lat: T): T {
  const quadrant = nearestQuadrant<T>(lat)
  const x = radiansFromQuadrant<T>(lat, splat<T>(0))
  const x2 = mul<T>(x, x)
  return ifEqual<T>(quadrant, splat<T>(0), sinLanes<T>(x, x2), mul<T>(quadrant, cosLanes<T>(x2)))
}

/** cos of a latitude in degrees, never −0. */
@inline
function cosLatitude<T>(lat: T): T {
  const quadrant = nearestQuadrant<T>(lat)
  const x = radiansFromQuadrant<T>(lat, splat<T>(0))
  const x2 = mul<T>(x, x)
  const beyond = sub<T>(splat<T>(0), mul<T>(quadrant, sinLanes<T>(x, x2)))
  return ifEqual<T>(quadrant, splat<T>(0), cosLanes<T>(x2), beyond)
}

/** 1 / √(f1² sin²φ + cos²φ), the factor that normalises (f1 sin φ, cos φ) to (sin β, cos β). */
@inline
function toReduced<T>(lat: T): T {
  const s = mul<T>(sinLatitude<T>(lat), splat<T>(f1))
  const c = cosLatitude<T>(lat)
  return div<T>(splat<T>(1), sqrtLanes<T>(mulAdd<T>(s, s, mul<T>(c, c))))
}

/** sin β for a latitude in degrees. */
@inline
export function reducedSine<T>(lat: T): T {
  return mul<T>(mul<T>(sinLatitude<T>(lat), splat<T>(f1)), toReduced<T>(lat))
}

/** cos β for a latitude in degrees; exactly 0 at the poles. */
@inline
export function reducedCosine<T>(lat: T): T {
  return mul<T>(cosLatitude<T>(lat), toReduced<T>(lat))
}

/** sin of `degrees` + `low`, an angle in [0°, 180°]. */
@inline
export function sinDegrees<T>(degrees: T, low: T): T {
  const quadrant = nearestQuadrant<T>(degrees)
  const x = radiansFromQuadrant<T>(degrees, low)
  const x2 = mul<T>(x, x)
  const value = ifEqual<T>(quadrant, splat<T>(1), cosLanes<T>(x2), sinLanes<T>(x, x2))
  return mul<T>(value, ifEqual<T>(quadrant, splat<T>(2), splat<T>(-1), splat<T>(1)))
}

/** cos of `degrees` + `low`, an angle in [0°, 180°]. */
@inline
export function cosDegrees<T>(degrees: T, low: T): T {
  const quadrant = nearestQuadrant<T>(degrees)
  const x = radiansFromQuadrant<T>(degrees, low)
  const x2 = mul<T>(x, x)
  const value = ifEqual<T>(quadrant, splat<T>(1), sinLanes<T>(x, x2), cosLanes<T>(x2))
  return mul<T>(value, ifEqual<T>(quadrant, splat<T>(0), splat<T>(1), splat<T>(-1)))
}

/**
 * y − x reduced to [−180, 180] by a multiple of 360, for longitudes in [−180, 180]. `lonDifferenceLow` gives its
 * rounding error.
 */
@inline
export function lonDifference<T>(x: T, y: T): T {
  const d = sub<T>(y, x)
  return sub<T>(d, mul<T>(nearestLanes<T>(mul<T>(d, splat<T>(1 / 360.0))), splat<T>(360)))
}

/** The rounding error of y − x (Knuth). */
@inline
export function lonDifferenceLow<T>(x: T, y: T): T {
  const d = sub<T>(y, x)
  const up = add<T>(d, x)
  const back = sub<T>(d, up)
  return sub<T>(sub<T>(y, up), add<T>(x, back))
}
