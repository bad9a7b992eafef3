/**
 * The sums Σ cl (sin 2lσ2 − sin 2lσ1) of one geodesic, computed as products:
 *
 *   sin 2lσ2 − sin 2lσ1 = 2 cos l(σ1 + σ2) sin l(σ2 − σ1)
 *
 * All series of the geodesic share these products, and nothing cancels in them when the ends are near each other.
 *
 * Call `multiplySines` first; the sums use the products of its last call.
 */

import { C311, C312, C313, C314, C315, C322, C323, C324, C325, C333, C334, C335, C344, C345, C355 } from '../geodesic/series'
import { high, low, sumOfProducts } from './double-double'
import { square } from './math'

/** cos l(σ1 + σ2) sin l(σ2 − σ1) for l = 1 … 6, set by `multiplySines`. */
let p1: f64 = 0
let p2: f64 = 0
let p3: f64 = 0
let p4: f64 = 0
let p5: f64 = 0
let p6: f64 = 0

/** Sets the products for the ends σ1 and σ2 and for σ12 = σ2 − σ1 in [0, π], all given by their sines and cosines. */
@inline
export function multiplySines(ssig1: f64, csig1: f64, ssig2: f64, csig2: f64, ssig12: f64, csig12: f64): void {
  const c1 = csig1 * csig2 - ssig1 * ssig2
  const twoC = 2 * c1
  const c2 = twoC * c1 - 1
  const c3 = twoC * c2 - c1
  const c4 = twoC * c3 - c2
  const c5 = twoC * c4 - c3
  const twoD = 2 * csig12
  const s2 = twoD * ssig12
  const s3 = twoD * s2 - ssig12
  const s4 = twoD * s3 - s2
  const s5 = twoD * s4 - s3
  p1 = c1 * ssig12
  p2 = c2 * s2
  p3 = c3 * s3
  p4 = c4 * s4
  p5 = c5 * s5
  p6 = (twoC * c5 - c4) * (twoD * s5 - s4)
}

/** B1(σ2) − B1(σ1), equation 18. */
@inline
export function sumC1(eps: f64): f64 {
  const eps2 = square(eps)
  return 2 * eps * (
    p1 * (((6 - eps2) * eps2 - 16) / 32) + eps * (
      p2 * (((64 - 9 * eps2) * eps2 - 128) / 2048) + eps * (
        p3 * ((9 * eps2 - 16) / 768) + eps * (
          p4 * ((3 * eps2 - 5) / 512) + eps * (p5 * (-7 / 1280.0) + eps * p6 * (-7 / 2048.0))
        )
      )
    )
  )
}

/** B2(σ2) − B2(σ1), equation 43. */
@inline
export function sumC2(eps: f64): f64 {
  const eps2 = square(eps)
  return 2 * eps * (
    p1 * ((eps2 * (eps2 + 2) + 16) / 32) + eps * (
      p2 * ((eps2 * (35 * eps2 + 64) + 384) / 2048) + eps * (
        p3 * ((15 * eps2 + 80) / 768) + eps * (
          p4 * ((7 * eps2 + 35) / 512) + eps * (p5 * (63 / 1280.0) + eps * p6 * (77 / 2048.0))
        )
      )
    )
  )
}

/** B3(σ2) − B3(σ1), equation 25. */
@inline
export function sumC3(eps: f64): f64 {
  return 2 * eps * (
    p1 * (C311 + eps * (C312 + eps * (C313 + eps * (C314 + eps * C315)))) + eps * (
      p2 * (C322 + eps * (C323 + eps * (C324 + eps * C325))) + eps * (
        p3 * (C333 + eps * (C334 + eps * C335)) + eps * (p4 * (C344 + eps * C345) + eps * p5 * C355)
      )
    )
  )
}

/**
 * J(σ2) − J(σ1) of the reduced length (equation 39) to the second order in ε: accurate to 10⁻⁸, enough for a Newton
 * slope.
 */
@inline
export function roughJ12(eps: f64, sig12: f64): f64 {
  return eps * ((2 + eps) * sig12 - 2 * p1 - (eps / 2) * p2)
}

/*
 * A table with the sine (as a double-double) and the cosine of every eighth of a degree of latitude.
 *
 * With the table, the sine of any latitude needs only a polynomial of an angle below 1/16°. The difference of two sines
 * is then exact to the last bit of the difference. Areas of small rings are such differences at a radius of 6,400 km,
 * so that precision matters.
 */

/** Rows per degree of latitude. */
export const ROWS_PER_DEGREE: f64 = 8
/** Bytes of a row: sine, cosine, rounding error of the sine, latitude in degrees. */
export const ROW_BYTES: usize = 32

const ROWS_TO_POLE: i32 = 720
const rows = memory.data(46112, 16) // (2 · 720 + 1) · 32
/** The row of the equator. Rows of southern latitudes precede it. */
export const equatorRow: usize = rows + <usize>ROWS_TO_POLE * ROW_BYTES

// Sine and cosine of 1/8°, evaluated to 80 digits and each split into two doubles.
const SINE: f64 = 0.0021816598343367697
const SINE_LOW: f64 = 6.583291321863734e-20
const COSINE: f64 = 0.9999976201773518
const COSINE_LOW: f64 = 1.1516662945757236e-17

let isFilled = false

/** Fills the table on the first call. Must be called before the table is read. */
export function fillSineTable(): void {
  if (isFilled) return
  let s: f64 = 0
  let sLow: f64 = 0
  let c: f64 = 1
  let cLow: f64 = 0
  for (let row = 0; ; row++) {
    put(row, s, sLow, c)
    put(-row, -s, -sLow, c)
    if (row == ROWS_TO_POLE) break
    // Advance by one eighth of a degree. In double-double arithmetic 720 steps accumulate no error that a stored double
    // would show.
    sumOfProducts(s, sLow, COSINE, COSINE_LOW, c, cLow, SINE, SINE_LOW)
    const sine = high
    const sineLow = low
    sumOfProducts(c, cLow, COSINE, COSINE_LOW, -s, -sLow, SINE, SINE_LOW)
    s = sine
    sLow = sineLow
    c = high
    cLow = low
  }
  isFilled = true
}

function put(row: i32, s: f64, sLow: f64, c: f64): void {
  const p = equatorRow + <usize>row * ROW_BYTES
  store<f64>(p, s)
  store<f64>(p, c, 8)
  store<f64>(p, sLow, 16)
  store<f64>(p, <f64>row / ROWS_PER_DEGREE, 24)
}
