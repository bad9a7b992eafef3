/**
 * Area and interior of a ring of geodesics: the one place where it is decided which side of a ring is inside.
 *
 * A ring that does not wind around the axis encloses the side without poles, whatever its orientation. A ring that winds
 * once encloses the pole that one of its vertices stands on, or else the smaller side.
 */
import { inverseWithArea, P12, S12 } from './inverse'
import { DEGREE, high, longitudeDifference, low, twoSum } from './math'
import { c2 } from './series'
import * as edge from './short-edge'

/** Area of half the ellipsoid, m². */
const HALF: f64 = 2 * Math.PI * c2

/** Which pole a ring encloses. */
export const NO_POLE: i32 = 0
export const NORTH: i32 = 1
export const SOUTH: i32 = -1

/** Beyond this latitude a position has less of the hemisphere between itself and the pole than towards the equator. */
const POLAR_DEGREES: f64 = 30

/** Set by `ringArea`: NO_POLE, NORTH or SOUTH. */
export let enclosedPole: i32 = NO_POLE

/**
 * Area enclosed by a ring, m², ≥ 0; sets `enclosedPole`.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, the last equal to the first
 */
export function ringArea(vertices: usize, count: i32): f64 {
  const side = polarSide(vertices, count)
  const winding = windingOf(vertices, count)
  // One method for the whole ring: what the two differ by in the last place of A(φ) cancels around a ring, not between them.
  const area = sumShort(vertices, count, side) ? total : sumGeneral(vertices, count, side)
  if (winding == 0) {
    enclosedPole = NO_POLE
    return Math.abs(area)
  }
  if (side != NO_POLE) {
    // Measured from the pole that the ring surrounds, which is the smaller side.
    enclosedPole = side
    return Math.abs(area)
  }
  const eastward = winding > 0 ? area : -area
  const onNorth = touches(vertices, count, 90)
  const isNorth = onNorth == touches(vertices, count, -90) ? eastward >= 0 : onNorth
  enclosedPole = isNorth ? NORTH : SOUTH
  return isNorth ? HALF - eastward : HALF + eastward
}

/** The pole a ring encloses: the decision of `ringArea`, without the area where the ring does not wind. */
export function enclosedPoleOf(vertices: usize, count: i32): i32 {
  if (windingOf(vertices, count) == 0) return NO_POLE
  ringArea(vertices, count)
  return enclosedPole
}

/** Σ S12 or, measured from a pole, Σ P12: by Karney's inverse, for edges of any length. */
function sumGeneral(vertices: usize, count: i32, side: i32): f64 {
  let sum: f64 = 0
  let error: f64 = 0
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    inverseWithArea(load<f64>(p - 8), load<f64>(p - 16), load<f64>(p, 8), load<f64>(p))
    twoSum(sum, side == NO_POLE ? S12 : P12)
    sum = high
    error += low
  }
  return sum + error
}

/** Result of `sumShort`. */
let total: f64 = 0

/** The same sum for a ring of short edges; false when one of them is not. */
function sumShort(vertices: usize, count: i32, side: i32): bool {
  let sum: f64 = 0
  let error: f64 = 0
  edge.place(load<f64>(vertices, 8))
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    longitudeDifference(load<f64>(p - 16), load<f64>(p))
    const lam12 = high * DEGREE
    const sphi1 = edge.sphi
    const r1 = edge.r
    const z1 = edge.z
    const A1 = edge.A
    edge.place(load<f64>(p, 8))
    if (!edge.isShort(lam12, sphi1, r1, z1, A1)) return false
    twoSum(sum, lam12 * (side == NO_POLE ? edge.meanA : c2 - <f64>side * edge.meanA))
    sum = high
    error += low
  }
  total = sum + error
  return true
}

/** How often a ring winds around the axis, east-going positive. */
function windingOf(vertices: usize, count: i32): f64 {
  let turn: f64 = 0 // Σ Δlon, degrees: a multiple of 360 up to rounding
  for (let i = 1; i < count; i++) {
    const p = vertices + ((<usize>i) << 4)
    // Two names of one pole count too: S12 takes the wedge between them, and the turn has to match it.
    longitudeDifference(load<f64>(p - 16), load<f64>(p))
    turn += high
  }
  return Math.round(turn / 360)
}

/** Whether a vertex of the ring has exactly this latitude. */
function touches(vertices: usize, count: i32, lat: f64): bool {
  for (let i = 0; i < count; i++) {
    if (load<f64>(vertices + ((<usize>i) << 4), 8) == lat) return true
  }
  return false
}

/**
 * The pole to measure from: that of a ring that lies wholly beyond 30° on its side, else none, which is the equator.
 *
 * The terms of the sum are then no larger than they have to be. From the equator, a ring of 80 km at 85° lost 10⁻³ m² and
 * any ring around a pole up to 0.01 m² to cancellation.
 */
function polarSide(vertices: usize, count: i32): i32 {
  let lowest: f64 = 90
  let highest: f64 = -90
  for (let i = 0; i < count; i++) {
    const lat = load<f64>(vertices + ((<usize>i) << 4), 8)
    lowest = Math.min(lowest, lat)
    highest = Math.max(highest, lat)
  }
  return lowest > POLAR_DEGREES ? NORTH : highest < -POLAR_DEGREES ? SOUTH : NO_POLE
}
