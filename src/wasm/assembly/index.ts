/**
 * The exports of the module. Vertices are pointers to interleaved lon, lat in degrees; scalar arguments take lat before
 * lon, as in the literature. A function returns at most one number, so further results are read with the getters below
 * after the call.
 */
import * as nearest from './distance/nearest'
import * as area from './edges/area'
import { Ring } from './edges/area'
import * as general from './edges/general-edge'
import * as arrivals from './geodesic/direct'
import { Waypoint } from './geodesic/direct'
import { Guards } from './geodesic/general-length'
import * as solver from './geodesic/inverse'
import { Geodesic } from './geodesic/inverse'
import { atan2Degrees, SineCosine, sincosDegrees } from './math/math'
import * as canonical from './text/canonical-text'

export { isWithin, minimumDistance } from './distance/nearest'
export { sideOfRing } from './distance/point-in-ring'
export { operandBytes, operandInputs, prepareOperand } from './distance/prepare-operand'
export { lineLength } from './edges/area'
export { generalAreas } from './edges/general-areas'
export { fastInverse, generalLengths, pairLengths } from './edges/general-edge'
export { mark, release, releaseTo, reserve, setAside } from './math/memory'
export { startWork, workDone } from './math/work'
export { canonicalText } from './text/canonical-text'
export { keccakAdd, keccakEnd, keccakStart } from './text/keccak'
export { scanJson, scanResult } from './text/scan'

const solution = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))
const onFirst = changetype<Waypoint>(memory.data(offsetof<Waypoint>(), 8))
const onSecond = changetype<Waypoint>(memory.data(offsetof<Waypoint>(), 8))
const start = changetype<SineCosine>(memory.data(offsetof<SineCosine>(), 8))
const arrival = changetype<Waypoint>(memory.data(offsetof<Waypoint>(), 8))
const ring = changetype<Ring>(memory.data(offsetof<Ring>(), 8))
const guards = changetype<Guards>(memory.data(offsetof<Guards>(), 8))

export function inverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  return solver.inverse(lat1, lon1, lat2, lon2, solution)
}
export function inverseWithArea(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  return solver.inverseWithArea(lat1, lon1, lat2, lon2, solution)
}
/** Returns the latitude of the end point. */
export function direct(lat1: f64, lon1: f64, salp1: f64, calp1: f64, s12: f64): f64 {
  arrivals.direct(lat1, lon1, salp1, calp1, s12, arrival)
  return arrival.lat
}
/** `direct` for an azimuth in degrees, clockwise from north; |azimuth| ≤ 360. */
export function directDegrees(lat1: f64, lon1: f64, azimuth: f64, s12: f64): f64 {
  sincosDegrees(azimuth, 0, start)
  return direct(lat1, lon1, start.sine, start.cosine, s12)
}
/** The direction (cosine, sine) in degrees, (-180, 180]. */
export function degreesOf(sine: f64, cosine: f64): f64 {
  return atan2Degrees(sine, cosine)
}
/** As `minimumDistance`; the two places are read with the getters below. */
export function nearestPlaces(first: usize, second: usize, units: f64): f64 {
  return nearest.nearestPlaces(first, second, units, onFirst, onSecond)
}
export function latOnFirst(): f64 {
  return onFirst.lat
}
export function lonOnFirst(): f64 {
  return onFirst.lon
}
export function latOnSecond(): f64 {
  return onSecond.lat
}
export function lonOnSecond(): f64 {
  return onSecond.lon
}
export function ringArea(vertices: usize, count: i32): f64 {
  return area.ringArea(vertices, count, ring)
}
export function guardedInverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  return general.guardedInverse(lat1, lon1, lat2, lon2, guards)
}
export function s12(): f64 {
  return solution.s12
}
export function m12(): f64 {
  return solution.m12
}
export function M12(): f64 {
  return solution.M12
}
export function M21(): f64 {
  return solution.M21
}
export function S12(): f64 {
  return solution.S12
}
export function P12(): f64 {
  return solution.P12
}
export function salp1(): f64 {
  return solution.salp1
}
export function calp1(): f64 {
  return solution.calp1
}
export function salp2(): f64 {
  return solution.salp2
}
export function calp2(): f64 {
  return solution.calp2
}
export function arrivalLon(): f64 {
  return arrival.lon
}
export function arrivalSalp2(): f64 {
  return arrival.salp
}
export function arrivalCalp2(): f64 {
  return arrival.calp
}
export function enclosedPole(): i32 {
  return ring.enclosedPole
}
export function residualSeen(): f64 {
  return guards.residual
}
export function correctionSeen(): f64 {
  return guards.correction
}
export function lengthSeen(): f64 {
  return guards.length
}
export function canonicalLength(): i32 {
  return canonical.canonicalLength
}
/** Length in metres of the ring that `ringArea` measured last. */
export function perimeter(): f64 {
  return ring.perimeter
}
