/** The bound on what one distance may cost. A solution of the inverse problem is one unit, 16 looks at boxes are one more. */

const LOOKS_A_UNIT: i32 = 16

let limit: f64 = 0
let solutions: f64 = 0
let looks: f64 = 0

/** Starts a new count. */
export function allow(units: f64): void {
  limit = units
  solutions = 0
  looks = 0
}

@inline
export function countSolutions(n: i32): void {
  solutions += n
}

@inline
export function countLooks(n: i32): void {
  looks += n
}

export function isSpent(): bool {
  return workDone() > limit
}

/** Units since `allow`. */
export function workDone(): f64 {
  return solutions + Math.floor(looks / LOOKS_A_UNIT)
}
