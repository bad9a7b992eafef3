/** Exact integers of doubles: the last resort of every sign, when floating point arithmetic cannot tell. */

const bits = new DataView(new ArrayBuffer(8))

/** A number of binary places, 0 to 1074, that holds the value: value · 2^places is an integer. */
export function binaryPlaces(value: number): number {
  if (value === 0) return 0
  bits.setFloat64(0, value)
  const biased = (bits.getUint32(0) >>> 20) & 0x7ff
  return Math.max(0, biased === 0 ? 1074 : 1075 - biased)
}

/**
 * value · 2^places, exactly.
 *
 * @param value finite
 * @param places at least `binaryPlaces(value)`
 */
export function scaledInteger(value: number, places: number): bigint {
  if (value === 0) return 0n
  bits.setFloat64(0, value)
  const high = bits.getUint32(0)
  const biased = (high >>> 20) & 0x7ff
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4))
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n)
  const shift = places + (biased === 0 ? -1074 : biased - 1075)
  const magnitude = mantissa << BigInt(shift)
  return high >>> 31 === 1 ? -magnitude : magnitude
}

/** (lon + 360 · turn) · 2^places, exactly. */
export function scaledLongitude(lon: number, turn: number, places: number): bigint {
  return scaledInteger(lon, places) + (BigInt(360 * turn) << BigInt(places))
}

/** −1, 0 or 1. */
export function signOf(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0
}

/**
 * Side of c to the line a → b by integers: 1 left, −1 right, 0 on it. Longitudes are lon + 360 · turn.
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
  const places = Math.max(
    binaryPlaces(aLon),
    binaryPlaces(aLat),
    binaryPlaces(bLon),
    binaryPlaces(bLat),
    binaryPlaces(cLon),
    binaryPlaces(cLat),
  )
  const cx = scaledLongitude(cLon, cTurn, places)
  const cy = scaledInteger(cLat, places)
  const left = (scaledLongitude(aLon, aTurn, places) - cx) * (scaledInteger(bLat, places) - cy)
  const right = (scaledInteger(aLat, places) - cy) * (scaledLongitude(bLon, bTurn, places) - cx)
  return signOf(left - right)
}
