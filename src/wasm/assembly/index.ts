/**
 * The exports of the module. Vertices are pointers to interleaved lon, lat in degrees; scalar arguments take lat before
 * lon, as in the literature. A function returns at most one number, so further results are read with the getters below
 * after the call.
 */
export { mark, release, releaseTo, reserve, setAside } from './math/memory'
export { inverse, inverseWithArea } from './geodesic/inverse'
export { generalAreas } from './edges/general-areas'
export { fastInverse, generalLengths, guardedInverse, pairLengths } from './edges/general-edge'
export { direct } from './geodesic/direct'
export { lineLength } from './edges/area'
export { ringArea } from './edges/area'
export { sideOfRing } from './distance/point-in-ring'
export { operandBytes, operandInputs, prepareOperand } from './distance/prepare-operand'
export { isWithin, minimumDistance } from './distance/nearest'
export { workDone } from './math/work'
export { scanJson, scanResult } from './text/scan'
export { canonicalText } from './text/canonical-text'
export { keccakAdd, keccakEnd, keccakStart } from './text/keccak'

import * as solution from './geodesic/inverse'
import * as arrival from './geodesic/direct'
import * as ring from './edges/area'
import * as canonical from './text/canonical-text'
import * as general from './geodesic/general-length'

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
  return arrival.lon2
}
export function arrivalSalp2(): f64 {
  return arrival.salp2
}
export function arrivalCalp2(): f64 {
  return arrival.calp2
}
export function enclosedPole(): i32 {
  return ring.enclosedPole
}
export function residualSeen(): f64 {
  return general.residualSeen
}
export function correctionSeen(): f64 {
  return general.correctionSeen
}
export function lengthSeen(): f64 {
  return general.lengthSeen
}
export function canonicalLength(): i32 {
  return canonical.canonicalLength
}
/** Length in metres of the ring that `ringArea` measured last. */
export function perimeter(): f64 {
  return ring.perimeter
}
