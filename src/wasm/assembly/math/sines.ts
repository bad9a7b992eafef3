/**
 * A table with the sine (as a double-double) and the cosine of every eighth of a degree of latitude.
 *
 * With the table, the sine of any latitude needs only a polynomial of an angle below 1/16°. The difference of two sines
 * is then exact to the last bit of the difference. Areas of small rings are such differences times the square of the
 * Earth's radius, so this precision matters.
 */
import { DoubleDouble, sumOfProducts } from './double-double'

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

/** The next row while the table is filled. */
const sine = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))
const cosine = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))

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
    sumOfProducts(s, sLow, COSINE, COSINE_LOW, c, cLow, SINE, SINE_LOW, sine)
    sumOfProducts(c, cLow, COSINE, COSINE_LOW, -s, -sLow, SINE, SINE_LOW, cosine)
    s = sine.high
    sLow = sine.low
    c = cosine.high
    cLow = cosine.low
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
