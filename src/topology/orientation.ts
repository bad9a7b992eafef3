import { orient2d } from 'robust-predicates'
import { exactOrientation } from './exact.ts'

/** Shewchuk's bound A on the error of the determinant, relative to the sum of its two products. */
const EPSILON = 2 ** -53
export const FILTER = (3 + 16 * EPSILON) * EPSILON

/** Below it a product may have lost bits to underflow, which the filter does not foresee. */
export const SMALLEST_PRODUCT = 1e-250
/** Numbers above it have bits no lower than 2^-452, so that products of their parts stay above 2^-1074. */
const SMALLEST_EXPANDABLE = 1e-120
/** Brings numbers below SMALLEST_EXPANDABLE to 2^-1074 · 2^800 or more, exactly and without overflow. */
const MAGNIFICATION = 2 ** 800

/**
 * Side of c to the directed line a → b in the plane; the sign is exact for all finite doubles.
 *
 * Adaptive: a floating point filter decides almost always, then expansion arithmetic, and integers where expansions would
 * underflow (coordinates below 1e-120, which JSON can write).
 *
 * @returns positive when c lies left (counter-clockwise), negative when right, 0 when on the line; the size means nothing
 * @see J. R. Shewchuk, Adaptive precision floating-point arithmetic, Discrete Comput. Geom. 18 (1997)
 */
export function orientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const left = (ax - cx) * (by - cy)
  const right = (ay - cy) * (bx - cx)
  const determinant = left - right
  const sum = Math.abs(left) + Math.abs(right)
  if (sum > SMALLEST_PRODUCT && Math.abs(determinant) > FILTER * sum) return determinant
  if (isTiny(ax) || isTiny(ay) || isTiny(bx) || isTiny(by) || isTiny(cx) || isTiny(cy)) {
    return orientationOfTiny(ax, ay, bx, by, cx, cy)
  }
  // Its sign is that of a y axis pointing down.
  return -orient2d(ax, ay, bx, by, cx, cy)
}

/** An axis that holds tiny numbers alone is magnified, which changes no sign; where large ones mix in, integers decide. */
function orientationOfTiny(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const sx = Math.max(Math.abs(ax), Math.abs(bx), Math.abs(cx)) < SMALLEST_EXPANDABLE ? MAGNIFICATION : 1
  const sy = Math.max(Math.abs(ay), Math.abs(by), Math.abs(cy)) < SMALLEST_EXPANDABLE ? MAGNIFICATION : 1
  const left = (sx * ax - sx * cx) * (sy * by - sy * cy)
  const right = (sy * ay - sy * cy) * (sx * bx - sx * cx)
  const determinant = left - right
  const sum = Math.abs(left) + Math.abs(right)
  if (sum > SMALLEST_PRODUCT && Math.abs(determinant) > FILTER * sum) return determinant
  const isMixed =
    (sx === 1 && (isTiny(ax) || isTiny(bx) || isTiny(cx))) || (sy === 1 && (isTiny(ay) || isTiny(by) || isTiny(cy)))
  if (isMixed) return exactOrientation(ax, ay, 0, bx, by, 0, cx, cy, 0)
  return -orient2d(sx * ax, sy * ay, sx * bx, sy * by, sx * cx, sy * cy)
}

function isTiny(value: number): boolean {
  return value !== 0 && Math.abs(value) < SMALLEST_EXPANDABLE
}
