/** Exact integer arithmetic on doubles: the last resort for a sign that floating point cannot decide. */

import { orient2d } from 'robust-predicates'
import { spendWork } from '../../base/work.ts'

/** Units of work of one orientation test by expansions, and by integers. */
const EXPANSION_WORK = 1 / 8
const INTEGER_WORK = 4

const bits = new DataView(new ArrayBuffer(8))

/** Returns a number of fraction bits, 0 to 1074, that suffices for a value: value · 2^bits is an integer. */
export function countFractionBits(value: number): number {
  if (value === 0) return 0
  bits.setFloat64(0, value)
  const biased = (bits.getUint32(0) >>> 20) & 0x7ff
  return Math.max(0, biased === 0 ? 1074 : 1075 - biased)
}

/**
 * Returns value · 2^fractionBits, exactly.
 *
 * @param value finite
 * @param fractionBits at least as many as the value needs
 */
export function scaledInteger(value: number, fractionBits: number): bigint {
  if (value === 0) return 0n
  bits.setFloat64(0, value)
  const highWord = bits.getUint32(0)
  const biased = (highWord >>> 20) & 0x7ff
  const fraction = (BigInt(highWord & 0xfffff) << 32n) | BigInt(bits.getUint32(4))
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n)
  const shift = fractionBits + (biased === 0 ? -1074 : biased - 1075)
  const magnitude = mantissa << BigInt(shift)
  return highWord >>> 31 === 1 ? -magnitude : magnitude
}

/** Returns (lon + 360 · turn) · 2^fractionBits, exactly. */
export function scaledLongitude(lon: number, turn: number, fractionBits: number): bigint {
  return scaledInteger(lon, fractionBits) + (BigInt(360 * turn) << BigInt(fractionBits))
}

/** Returns −1, 0 or 1. */
export function bigintSign(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0
}

/**
 * Orientation test with integers: 1 when c lies to the left of the line a → b, −1 to the right, 0 on it. Longitudes are lon + 360
 * · turn.
 */
export function exactOrientation(
  aLon: number,
  aLat: number,
  aTurn: number,
  bLon: number,
  bLat: number,
  bTurn: number,
  cLon: number,
  cLat: number,
  cTurn: number,
): number {
  spendWork(INTEGER_WORK)
  const fractionBits = Math.max(
    countFractionBits(aLon),
    countFractionBits(aLat),
    countFractionBits(bLon),
    countFractionBits(bLat),
    countFractionBits(cLon),
    countFractionBits(cLat),
  )
  const cx = scaledLongitude(cLon, cTurn, fractionBits)
  const cy = scaledInteger(cLat, fractionBits)
  const left = (scaledLongitude(aLon, aTurn, fractionBits) - cx) * (scaledInteger(bLat, fractionBits) - cy)
  const right = (scaledInteger(aLat, fractionBits) - cy) * (scaledLongitude(bLon, bTurn, fractionBits) - cx)
  return bigintSign(left - right)
}

/** Shewchuk's bound A: the error of the determinant relative to the sum of its two products. */
const EPSILON = 2 ** -53
export const FILTER = (3 + 16 * EPSILON) * EPSILON

/** Below this a product may have lost bits to underflow, which the filter does not account for. */
export const SMALLEST_PRODUCT = 1e-250
/** Numbers above this have no bits below 2^-452, so that products of their parts stay above 2^-1074. */
const SMALLEST_EXPANDABLE = 1e-120
/** Brings numbers below SMALLEST_EXPANDABLE to 2^-1074 · 2^800 or more, exactly and without overflow. */
const MAGNIFICATION = 2 ** 800

/**
 * Orientation test: on which side of the directed line a → b the position c lies. The sign is exact for all finite doubles.
 *
 * A floating-point filter decides nearly always, then expansion arithmetic. Integers decide where expansions would underflow: for
 * coordinates below 1e-120, which JSON can express.
 *
 * @returns positive when c lies to the left (counter-clockwise), negative to the right, 0 on the line; the magnitude has no
 *   meaning
 * @see J. R. Shewchuk, Adaptive precision floating-point arithmetic, Discrete Comput. Geom. 18 (1997)
 */
export function orientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const left = (ax - cx) * (by - cy)
  const right = (ay - cy) * (bx - cx)
  const determinant = left - right
  const sum = Math.abs(left) + Math.abs(right)
  if (sum > SMALLEST_PRODUCT && Math.abs(determinant) > FILTER * sum) return determinant
  if (isTiny(ax) || isTiny(ay) || isTiny(bx) || isTiny(by) || isTiny(cx) || isTiny(cy)) {
    return orientTiny(ax, ay, bx, by, cx, cy)
  }
  spendWork(EXPANSION_WORK)
  // orient2d has the sign of a y axis that points down.
  return -orient2d(ax, ay, bx, by, cx, cy)
}

/**
 * Magnifies an axis that holds only tiny numbers, which changes no sign. Where an axis mixes tiny and large ones, integers
 * decide.
 */
function orientTiny(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
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
  spendWork(EXPANSION_WORK)
  return -orient2d(sx * ax, sy * ay, sx * bx, sy * by, sx * cx, sy * cy)
}

function isTiny(value: number): boolean {
  return value !== 0 && Math.abs(value) < SMALLEST_EXPANDABLE
}
