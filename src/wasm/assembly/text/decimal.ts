/**
 * Converts decimal text to the nearest double, as `JSON.parse` does, for numbers of the size of degrees.
 *
 * The digits are read eight at a time (D. Lemire, Number parsing at a gigabyte per second, 2021) into an integer m with
 * n decimals. For m below 10¹⁵ one division of two exact doubles gives the correctly rounded result. Above, m × 10⁻ⁿ is
 * computed in double-double arithmetic. Where its error could change the rounding, which happens only for ties and
 * their neighbours, the number is left to the host (a patch).
 */

/**
 * Both variables are global because every function of this file that reads a number may change them.
 *
 * Whether all numbers since `resetCanonical` have the spelling that ECMAScript gives them; false also where that is
 * uncertain.
 */
export let isCanonical: bool = true
/** Numbers that are left to the host. Three words each: address of the double, start and end of the text. */
export let patchCount: i32 = 0
const MAX_PATCHES: i32 = 32
export const patches = memory.data(12 * MAX_PATCHES, 16)

const DIGIT_0: u8 = 0x30
const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e
const ZEROS: u64 = 0x3030303030303030

const MAX_DECIMALS: i32 = 22 // 10²² is the last power of ten that is a double
/**
 * Smaller integers have at most 15 digits, so they are exact doubles, and their decimal text is the shortest for that
 * double.
 */
const FIFTEEN_DIGITS: u64 = 1_000_000_000_000_000
const SEVENTEEN_DIGITS: u64 = 100_000_000_000_000_000
const SPLITTER: f64 = 134217729 // 2²⁷ + 1: splits a double into halves (T. J. Dekker, 1971)
/** Bound on the relative error of the double-double product: 2⁻⁸⁸. The errors add up to 2⁻⁹¹. */
const PRODUCT_ERROR: f64 = 1 / (<f64>(1 << 30) * <f64>(1 << 30) * <f64>(1 << 28))
/** 2⁻⁵³: half a unit in the last place of 1. */
const HALF_ULP: f64 = 1 / (<f64>(1 << 30) * <f64>(1 << 23))

/** A row for each power of ten: 10ⁿ as a double; 10⁻ⁿ as a double; the error of that double; its two halves. */
const POWER_BYTES: usize = 40
const powers = memory.data(40 * 23, 16)
/** 10⁰ … 10⁸ as integers. */
const integers = memory.data<u64>([1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000])

for (let n: usize = 0, power: f64 = 1; n <= <usize>MAX_DECIMALS; n++, power *= 10) {
  const row = powers + n * POWER_BYTES
  const inverse = 1 / power
  const inverseHigh = upperHalf(inverse)
  const inverseLow = inverse - inverseHigh
  const powerHigh = upperHalf(power)
  const powerLow = power - powerHigh
  const product = inverse * power
  // 1 − inverse × power, exactly.
  const error =
    1 - product - (inverseHigh * powerHigh - product + inverseHigh * powerLow + inverseLow * powerHigh + inverseLow * powerLow)
  store<f64>(row, power)
  store<f64>(row, inverse, 8)
  store<f64>(row, error / power, 16)
  store<f64>(row, inverseHigh, 24)
  store<f64>(row, inverseLow, 32)
}

function upperHalf(x: f64): f64 {
  const c = x * SPLITTER
  return c - (c - x)
}

/** Resets the patches. Call before a text is read. */
export function resetPatches(): void {
  patchCount = 0
}

/** Sets `isCanonical`. Call before reading a part whose spelling is judged separately. */
export function resetCanonical(): void {
  isCanonical = true
}

export function markNotCanonical(): void {
  isCanonical = false
}

/**
 * Reads one number and stores it as a double; −0 becomes 0.
 *
 * Clears `isCanonical` when ECMAScript would spell the number differently, or when that is uncertain.
 *
 * @param p first byte of the number; 16 bytes after the text must be readable
 * @param maxValue largest allowed absolute value
 * @returns the byte after the number; 0 when the text is not a JSON number or the number is too large
 */
@inline
export function readDegrees(p: usize, out: usize, maxValue: f64): usize {
  const start = p
  const isNegative = load<u8>(p) == MINUS
  p += <usize>isNegative
  // Reads up to three digits before the point at once.
  const head = load<u32>(p) ^ <u32>ZEROS
  const stop = ((head + 0x76767676) | head) & 0x80808080
  const digits = ctz(stop) >> 3 // 4 when all four bytes are digits
  if (<u32>(digits - 1) > 2 || ((head & 0xff) == 0 && digits > 1)) return 0
  const pairs = head << (32 - (digits << 3))
  const tens = (pairs * 10 + (pairs >> 8)) & 0x00ff00ff
  const whole = <u64>((tens & 0xff) * 100 + (tens >> 16))
  if (whole > 180) return 0 // keeps m below under 2⁶³
  p += <usize>digits
  let next = load<u8>(p)
  if (next != POINT) {
    if ((next | 0x20) == 0x65) return leaveToHost(start, p, out)
    if (isNegative && whole == 0) isCanonical = false
    const x = <f64>(<u32>whole)
    store<f64>(out, isNegative ? 0 - x : x)
    return x <= maxValue ? p : 0
  }
  p++
  const decimals = leadingDigits(p)
  if (decimals == 0) return 0
  p += <usize>decimals
  next = load<u8>(p)
  if ((next | 0x20) == 0x65) return leaveToHost(start, p, out)
  let m = tailDigits(p - 8, decimals < 8 ? decimals : 8)
  if (decimals > 8) {
    m += tailDigits(p - 16, decimals - 8) * 100_000_000
    m += whole * load<u64>(integers + ((<usize>(decimals - 8)) << 3)) * 100_000_000
    if (decimals == 16 && <u8>(next - DIGIT_0) <= 9) return readLong(start, p, out, maxValue, m, isNegative)
  } else {
    m += whole * load<u64>(integers + ((<usize>decimals) << 3))
  }
  if (load<u8>(p - 1) == DIGIT_0) isCanonical = false
  if (m >= FIFTEEN_DIGITS) return storeLong(start, p, out, maxValue, m, decimals, isNegative)
  return storeShort(p, out, maxValue, m, decimals, isNegative)
}

/** Stores m × 10⁻ⁿ for m < 10¹⁵. */
@inline
function storeShort(p: usize, out: usize, maxValue: f64, m: u64, decimals: i32, isNegative: bool): usize {
  const x = <f64>(<i64>m) / load<f64>(powers + <usize>decimals * POWER_BYTES)
  // ECMAScript writes numbers below 10⁻⁶ with an exponent.
  if (x < 1e-6) isCanonical = false
  store<f64>(out, isNegative ? 0 - x : x)
  return x <= maxValue ? p : 0
}

/** Number of digits at p before the first other byte, at most 16. */
@inline
function leadingDigits(p: usize): i32 {
  if (ASC_FEATURE_SIMD) {
    const isOther = i8x16.gt_u(i8x16.sub(v128.load(p), i8x16.splat(<i8>DIGIT_0)), i8x16.splat(9))
    return <i32>ctz(i8x16.bitmask(isOther) | 0x10000)
  }
  const first = leadingOfEight(p)
  return first < 8 ? first : 8 + leadingOfEight(p + 8)
}

@inline
function leadingOfEight(p: usize): i32 {
  const v = load<u64>(p) ^ ZEROS
  // A carry affects only later bytes, and only a byte that is not a digit produces one, so the first non-digit is still
  // found.
  return <i32>(ctz(((v + 0x7676767676767676) | v) & 0x8080808080808080) >> 3)
}

/** The number in the last `count` (1 … 8) of the 8 bytes from p. */
@inline
function tailDigits(p: usize, count: i32): u64 {
  const unusedBits = <u64>(64 - (count << 3))
  let v = ((load<u64>(p) ^ ZEROS) >> unusedBits) << unusedBits
  v = v * 10 + (v >> 8)
  return ((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32
}

/** Reads a number with more than 16 decimals: the further ones one by one, while m stays below 10¹⁸. */
function readLong(start: usize, p: usize, out: usize, maxValue: f64, m: u64, isNegative: bool): usize {
  let decimals = 16
  let digit = <u32>load<u8>(p) - DIGIT_0
  for (; digit <= 9; digit = <u32>load<u8>(p) - DIGIT_0) {
    if (m >= SEVENTEEN_DIGITS || decimals == MAX_DECIMALS) return leaveToHost(start, p, out)
    m = m * 10 + <u64>digit
    decimals++
    p++
  }
  if ((load<u8>(p) | 0x20) == 0x65) return leaveToHost(start, p, out)
  if (load<u8>(p - 1) == DIGIT_0) isCanonical = false
  if (m < FIFTEEN_DIGITS) return storeShort(p, out, maxValue, m, decimals, isNegative)
  return storeLong(start, p, out, maxValue, m, decimals, isNegative)
}

/** Stores m × 10⁻ⁿ for 10¹⁵ ≤ m < 2⁶³. */
@inline
function storeLong(start: usize, p: usize, out: usize, maxValue: f64, m: u64, decimals: i32, isNegative: bool): usize {
  const row = powers + <usize>decimals * POWER_BYTES
  // m = high + low. high has at most 52 bits and is split into high1 + high2, for exact products.
  const upper = (m + ((<u64>1) << 36)) >> 37
  const lower = <i64>((m & ~(<u64>0x7ff)) - (upper << 37))
  const high1 = <f64>(<i64>upper) * <f64>((<u64>1) << 37)
  const high2 = <f64>lower
  const high = high1 + high2
  const low = <f64>(<i64>(m & 0x7ff))
  const inverse = load<f64>(row, 8)
  const inverse1 = load<f64>(row, 24)
  const inverse2 = load<f64>(row, 32)
  const product = high * inverse
  const error = high1 * inverse1 - product + high1 * inverse2 + high2 * inverse1 + high2 * inverse2
  const correction = error + (high * load<f64>(row, 16) + low * inverse)
  const errorBound = product * PRODUCT_ERROR
  const x = product + correction
  if (product + (correction + errorBound) != product + (correction - errorBound)) return leaveToHost(start, p, out)
  if (isCanonical) isCanonical = isShortest(m, x, product - x + correction, load<f64>(row), <u32>load<u8>(p - 1) - DIGIT_0)
  store<f64>(out, isNegative ? 0 - x : x)
  return x <= maxValue ? p : 0
}

/**
 * Whether ECMAScript writes x as m × 10⁻ⁿ, which rounds to x and whose last digit is not 0: no decimal with fewer
 * digits may round to x, and none with as many digits may be nearer. Returns false also when it is too close to call.
 *
 * @param excess m × 10⁻ⁿ − x
 * @param power 10ⁿ
 * @param last last digit of m
 */
@inline
function isShortest(m: u64, x: f64, excess: f64, power: f64, last: u32): bool {
  // In units of the last decimal: the distance of m from x, and half the width of the interval that rounds to x.
  const offset = excess * power
  const reach = reinterpret<f64>(reinterpret<u64>(x) & 0x7ff0000000000000) * HALF_ULP * power * 1.000001
  // Decimals with fewer digits are multiples of ten units; the nearest are below and above m.
  const below = <f64>last - offset
  return m < SEVENTEEN_DIGITS && x >= 1e-6 && abs(offset) < 0.499999 && below > reach && 10 - below > reach
}

/**
 * Leaves a number to the host: one with an exponent, too many digits or a tie. Adds a patch and stores NaN for now.
 *
 * @param p an address in the number; everything before it is already checked
 * @returns the byte after the number; 0 when it is not a JSON number or there are too many patches
 */
function leaveToHost(start: usize, p: usize, out: usize): usize {
  isCanonical = false
  while (<u8>(load<u8>(p) - DIGIT_0) <= 9) p++
  if ((load<u8>(p) | 0x20) == 0x65) {
    p = skipExponent(p)
    if (p == 0) return 0
  }
  if (patchCount == MAX_PATCHES) return 0
  const patch = patches + <usize>patchCount * 12
  store<u32>(patch, <u32>out)
  store<u32>(patch, <u32>start, 4)
  store<u32>(patch, <u32>p, 8)
  patchCount++
  store<f64>(out, NaN)
  return p
}

/** Skips `e`, a sign and digits. Returns the byte after them; 0 when the digits are missing. */
function skipExponent(p: usize): usize {
  p++
  const sign = load<u8>(p)
  if (sign == MINUS || sign == 0x2b) p++
  const first = p
  while (<u8>(load<u8>(p) - DIGIT_0) <= 9) p++
  return p == first ? 0 : p
}

/**
 * Skips a number whose value is not needed, such as an altitude. Clears `isCanonical` when ECMAScript might spell it
 * differently.
 *
 * @returns the byte after it; 0 when it is not a JSON number or could be too large for a double
 */
export function skipNumber(p: usize): usize {
  const isNegative = load<u8>(p) == MINUS
  p += <usize>isNegative
  const first = p
  while (<u8>(load<u8>(p) - DIGIT_0) <= 9) p++
  const whole = <i32>(p - first)
  if (whole == 0 || whole > 100 || (whole > 1 && load<u8>(first) == DIGIT_0)) return 0
  const isBelowOne = load<u8>(first) == DIGIT_0
  let decimals = 0
  let zeros = 0 // zeros between the point and the first other digit
  if (load<u8>(p) == POINT) {
    const point = p++
    while (load<u8>(p) == DIGIT_0) p++
    zeros = <i32>(p - point) - 1
    while (<u8>(load<u8>(p) - DIGIT_0) <= 9) p++
    decimals = <i32>(p - point) - 1
    if (decimals == 0) return 0
    if (load<u8>(p - 1) == DIGIT_0) isCanonical = false
  } else if (isBelowOne && isNegative) isCanonical = false
  if (whole + decimals > 15 || (isBelowOne && zeros > 5)) isCanonical = false
  if ((load<u8>(p) | 0x20) != 0x65) return p
  isCanonical = false
  const exponent = p
  p = skipExponent(p)
  return p - exponent > 3 ? 0 : p // at most e and two digits: 10¹⁰⁰ × 10⁹⁹ still fits a double
}
