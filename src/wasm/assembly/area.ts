/**
 * Area and interior of a ring of geodesics: the one place where it is decided which side of a ring is inside.
 *
 * A ring that does not wind around the axis encloses the side without poles, whatever its orientation. A ring that winds
 * once encloses the pole that one of its vertices stands on, or else the smaller side.
 */
import { inverseWithArea, S12 } from './inverse'
import { high, longitudeDifference, low, twoSum } from './math'
import { c2 } from './series'

/** Area of half the ellipsoid, m². */
const HALF: f64 = 2 * Math.PI * c2

/** Which pole a ring encloses. */
export const NO_POLE: i32 = 0
export const NORTH: i32 = 1
export const SOUTH: i32 = -1

/** Set by `ringArea`: NO_POLE, NORTH or SOUTH. */
export let enclosedPole: i32 = NO_POLE

/**
 * Area enclosed by a ring, m², ≥ 0; sets `enclosedPole`.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, the last equal to the first
 */
export function ringArea(vertices: usize, count: i32): f64 {
  let sum: f64 = 0
  let error: f64 = 0
  let turn: f64 = 0 // Σ Δlon, degrees: a multiple of 360 up to rounding
  let atNorth = false
  let atSouth = false
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    const lon1 = load<f64>(p - 16)
    const lat1 = load<f64>(p - 8)
    const lon2 = load<f64>(p)
    const lat2 = load<f64>(p, 8)
    inverseWithArea(lat1, lon1, lat2, lon2)
    twoSum(sum, S12)
    sum = high
    error += low
    // Two names of one pole count too: S12 takes the wedge between them, and the turn has to match it.
    longitudeDifference(lon1, lon2)
    turn += high
    if (lat2 == 90) atNorth = true
    if (lat2 == -90) atSouth = true
  }
  const strip = sum + error
  const winding = Math.round(turn / 360)
  if (winding == 0) {
    enclosedPole = NO_POLE
    return Math.abs(strip)
  }
  const eastward = winding > 0 ? strip : -strip
  const isNorth = atNorth == atSouth ? eastward >= 0 : atNorth
  enclosedPole = isNorth ? NORTH : SOUTH
  return isNorth ? HALF - eastward : HALF + eastward
}

/** The pole a ring encloses: the decision of `ringArea`, without the area where the ring does not wind. */
export function enclosedPoleOf(vertices: usize, count: i32): i32 {
  let turn: f64 = 0
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    longitudeDifference(load<f64>(p - 16), load<f64>(p))
    turn += high
  }
  if (Math.round(turn / 360) == 0) return NO_POLE
  ringArea(vertices, count)
  return enclosedPole
}
