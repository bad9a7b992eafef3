/** Exact integer arithmetic on doubles: the last resort for a sign that floating point cannot decide. */

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
