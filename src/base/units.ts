/**
 * Converts metres to on-chain integers and back. No other file converts between them.
 *
 * On-chain integers are `bigint` (centimetres, square centimetres), API numbers are `number` (metres, square metres).
 * The JSON number is integer / scale, so the two always agree (decision 6).
 */

/** Units of an on-chain length (centimetres) per metre. */
export const CM_PER_METER = 100
/** Units of an on-chain area (square centimetres) per square metre. */
export const CM2_PER_SQUARE_METER = 10_000

/**
 * Returns the on-chain integer of a measured value: the double's exact value × scale, rounded half away from zero.
 *
 * `Math.round(value * scale)` would round twice: the double 1.115 lies below 1.115, and its exact product with 100 below
 * 111.5, yet `1.115 * 100` is 111.50000000000001. Therefore the exact product is computed from the bits.
 *
 * @param value finite, ≥ 0, metres or square metres
 * @param scale units per metre (or per square metre), a positive integer
 * @throws {RangeError} on a negative or non-finite value, which is a bug of ours, never a client's fault
 */
export function toScaledInteger(value: number, scale: number): bigint {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`cannot scale ${value}`)
  const product = value * scale
  if (product < MAX_FAST_PRODUCT) {
    // `product` is at most half an ulp from the exact product, so both round alike unless `product` is that close to a half.
    const below = Math.floor(product)
    const aboveHalf = product - below - 0.5
    if (Math.abs(aboveHalf) > product * DOUBLE_EPSILON) return BigInt(aboveHalf > 0 ? below + 1 : below)
  }
  return scaleExactly(value, scale)
}

/** Doubles below this have at least five fraction bits. */
const MAX_FAST_PRODUCT = 2 ** 48
/** Twice the relative error of one rounding. */
const DOUBLE_EPSILON = 2 ** -52

function scaleExactly(value: number, scale: number): bigint {
  if (value === 0) return 0n
  const { mantissa, exponent } = decompose(value)
  const product = mantissa * BigInt(scale)
  if (exponent >= 0) return product << BigInt(exponent)
  const shift = BigInt(-exponent)
  return (product + (1n << (shift - 1n))) >> shift
}

/** Returns the JSON number of an on-chain integer: `integer / scale`, correctly rounded below 2⁵³. */
export function fromScaledInteger(integer: bigint, scale: number): number {
  return Number(integer) / scale
}

const bits = new DataView(new ArrayBuffer(8))

/** Splits a finite value > 0 so that value = mantissa × 2^exponent exactly. */
function decompose(value: number): { mantissa: bigint; exponent: number } {
  bits.setFloat64(0, value)
  const high = bits.getUint32(0)
  const biased = (high >>> 20) & 0x7ff
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4))
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 }
}
