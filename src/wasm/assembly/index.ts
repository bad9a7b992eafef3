/** What the host sees. Vertices are pointers to interleaved lon, lat in degrees; scalars come lat first, as in the literature. */
export { mark, release, releaseTo, reserve } from './memory'
export { inverse } from './inverse'
export { direct } from './direct'
export { lineLength } from './length'
export { ringArea } from './area'

import * as solution from './inverse'
import * as arrival from './direct'
import * as ring from './area'

export function s12(): f64 {
  return solution.s12
}
export function m12(): f64 {
  return solution.m12
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
export function enclosedPole(): i32 {
  return ring.enclosedPole
}
