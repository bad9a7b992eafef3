/**
 * Counts work, and that of one distance against a limit. One solution of the inverse problem is one unit; 16 box checks are
 * one unit. The count is global: passed as an argument, it would have to go through every function that solves.
 */

const CHECKS_PER_UNIT: i32 = 16

let limit: f64 = 0
let solutions: f64 = 0
let checks: f64 = 0

/** Resets the count and sets the limit. */
export function startWork(units: f64): void {
  limit = units
  solutions = 0
  checks = 0
}

@inline
export function countSolutions(n: i32): void {
  solutions += n
}

@inline
export function countChecks(n: i32): void {
  checks += n
}

export function isOverLimit(): bool {
  return workDone() > limit
}

/** Units of work since `startWork`. */
export function workDone(): f64 {
  return solutions + Math.floor(checks / CHECKS_PER_UNIT)
}
