/**
 * The one place where a metre becomes an on-chain integer and back.
 *
 * On-chain integers are `bigint` (centimetres, square centimetres), API numbers are `number` (metres, square metres).
 * JSON = integer / scale, so the two can never disagree (decision 6).
 */

/** Units per metre of an on-chain length: centimetres. */
export const CM_PER_METER = 100
/** Units per square metre of an on-chain area: square centimetres. */
export const CM2_PER_SQUARE_METER = 10_000

/**
 * The on-chain integer of a measured value: the double's exact value × scale, rounded half away from zero.
 *
 * `Math.round(value * scale)` would round twice: the double 1.115 lies below 1.115 and its exact product with 100 below
 * 111.5, yet `1.115 * 100` is 111.50000000000001. So the product is taken exactly, from the bits.
 *
 * @param value finite, ≥ 0, metres or square metres
 * @param scale units per metre (or per square metre), a positive integer
 * @throws {RangeError} on a negative or non-finite value: a bug of ours, never a client's fault
 */
export function toScaledInteger(value: number, scale: number): bigint {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`cannot scale ${value}`)
  const product = value * scale
  if (product < MOST_QUICK) {
    // The exact product is at most half an ulp away: it rounds the same way unless a half is that near.
    const below = Math.floor(product)
    const beyondHalf = product - below - 0.5
    if (Math.abs(beyondHalf) > product * DOUBLE_EPSILON) return BigInt(beyondHalf > 0 ? below + 1 : below)
  }
  return scaledExactly(value, scale)
}

/** Products below it have several bits for their fraction. */
const MOST_QUICK = 2 ** 48
/** Twice the relative error of one rounding. */
const DOUBLE_EPSILON = 2 ** -52

function scaledExactly(value: number, scale: number): bigint {
  if (value === 0) return 0n
  const { mantissa, exponent } = decompose(value)
  const product = mantissa * BigInt(scale)
  if (exponent >= 0) return product << BigInt(exponent)
  const shift = BigInt(-exponent)
  return (product + (1n << (shift - 1n))) >> shift
}

/** The JSON number of an on-chain integer: `integer / scale`, correctly rounded below 2⁵³. */
export function fromScaledInteger(integer: bigint, scale: number): number {
  return Number(integer) / scale
}

const bits = new DataView(new ArrayBuffer(8))

/** value = mantissa × 2^exponent exactly; value finite and > 0. */
function decompose(value: number): { mantissa: bigint; exponent: number } {
  bits.setFloat64(0, value)
  const high = bits.getUint32(0)
  const biased = (high >>> 20) & 0x7ff
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4))
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 }
}
