/**
 * Sines and cosines of every eighth of a degree of latitude, to twice the digits of a double.
 *
 * With them the sine of any latitude takes a polynomial of an angle below 1/16°, and the difference of two sines is exact to
 * the last bit of the difference: areas of small rings are such differences, at a radius of 6,400 km.
 */
import { high, low, sumOfProducts } from './double-double'

/** Rows in a degree of latitude. */
export const ROWS_A_DEGREE: f64 = 8
/** Bytes of a row: sine, cosine, what rounding the sine lost, and the latitude in degrees. */
export const ROW_BYTES: usize = 32

const ROWS_TO_POLE: i32 = 720
const rows = memory.data(46112, 16) // (2 · 720 + 1) · 32
/** The row of the equator; those of southern latitudes lie before it. */
export const equatorRow: usize = rows + <usize>ROWS_TO_POLE * ROW_BYTES

// Sine and cosine of 1/8°, evaluated to 80 digits and split into two doubles each.
const SINE: f64 = 0.0021816598343367697
const SINE_LOW: f64 = 6.583291321863734e-20
const COSINE: f64 = 0.9999976201773518
const COSINE_LOW: f64 = 1.1516662945757236e-17

let isFilled = false

/** Fills the table, once: to be called before it is read. */
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
    // One eighth of a degree further; 720 steps lose nothing that one of these doubles could hold.
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
  store<f64>(p, <f64>row / ROWS_A_DEGREE, 24)
}
