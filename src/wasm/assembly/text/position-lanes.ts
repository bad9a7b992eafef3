/**
 * Reads one position, `lon,lat`, with SIMD: one lane for each number, and no loop over the digits.
 * Texts of another form, and numbers too near the midpoint between two doubles, are left to decimal.ts.
 *
 * A number is W + A × 10⁻⁸ + B × 10⁻¹⁶ + C × 10⁻²⁴, with its whole part W and its decimals in groups of eight.
 * S = W × 10⁸ + A is an integer below 2³⁵. If B and C are 0, one division of exact doubles, S / 10⁸, gives the
 * correctly rounded result.
 *
 * Otherwise the code uses 10⁻⁸ = i₁ + i₂ + i₃ with 18 bits in each of the first two, so S i₁ and S i₂ are exact, and so
 * is the rounding error of their sum. All further terms are below 2⁻²⁶ (B × 10⁻¹⁶ is the largest). The nine roundings
 * on the way, together with the decimals beyond the 24th, amount to less than 2⁻⁷⁷. The final sum is rounded twice,
 * once with 2⁻⁷⁶ subtracted and once with 2⁻⁷⁶ added. If both give the same double, the number itself rounds to it,
 * because rounding is monotone.
 */
import { isCanonical, markNotCanonical } from './decimal'

const SPACE: u8 = 0x20
const COMMA: u8 = 0x2c
const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e

/**
 * Decimals in one group and in two groups, and the most decimals that are read here. Decimals after the third group are
 * ignored. All are powers of two, because the tests below rely on that: (n − 1) | (m − 1) is below a power of two if
 * and only if n − 1 and m − 1 are.
 */
const GROUP: i32 = 8
const TWO_GROUPS: i32 = 16
const MAX_DECIMALS: i32 = 32

/** The 16 bytes that start at byte 16 − n are a mask that keeps the values of n digits and clears all other bytes. */
const digitMasks = memory.data<u64>([0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f, 0, 0], 16)
/**
 * A row for each number of digits before the point, 0 … 63: the mask for the four bytes before the point, and the least
 * number of that length without a leading zero.
 */
const wholes = memory.data(8 * 64, 16)
/** Multiplying this by the bytes 0, a, b, c gives 100a + 10b + c in the byte at bit 40, if a < 2. */
const WHOLE_WEIGHTS: u64 = (100 << 32) | (10 << 24) | (1 << 16)
/** Sign bits of a longitude and a latitude, for: neither negative, the first, the second, both. */
const signs = memory.data<f64>([0, 0, -0.0, 0, 0, -0.0, -0.0, -0.0], 16)

/** 2⁻⁷⁶, the error bound above. */
const ERROR_BOUND: f64 = 1 / (<f64>(1 << 30) * <f64>(1 << 30) * <f64>(1 << 16))
/** 2⁻⁵³: half a unit in the last place of 1. */
const HALF_ULP: f64 = 1 / (<f64>(1 << 30) * <f64>(1 << 23))
/** 2³⁵ + 1: splits a double so that the first part has 18 bits (T. J. Dekker, 1971). */
const SPLITTER: f64 = 34359738369
const INVERSE_1: f64 = 1e-8 * SPLITTER - (1e-8 * SPLITTER - 1e-8)
const REMAINDER_1: f64 = 1e-8 - INVERSE_1
const INVERSE_2: f64 = REMAINDER_1 * SPLITTER - (REMAINDER_1 * SPLITTER - REMAINDER_1)
/** Includes the difference of 10⁻⁸ and the double 1e-8. */
const INVERSE_3: f64 = REMAINDER_1 - INVERSE_2 - 2.092256083012847e-25

// The constants are in memory because a load is one instruction; a vector constant in the code is several.
const factors = memory.data<f64>([1e8, INVERSE_1, INVERSE_2, INVERSE_3, 1e-16, 1e-24, ERROR_BOUND, HALF_ULP], 16)
/** After adding `toTop` to a byte, exactly the ten digits are signed bytes ≥ `leastTop`. */
const toTop = memory.data<u64>([0x4646464646464646, 0x4646464646464646], 16)
const leastTop = memory.data<u64>([0x7676767676767676, 0x7676767676767676], 16)
/** Weights that join two digits, two pairs of digits, two groups of four digits. */
const pairWeights = memory.data<u64>([0x0a010a010a010a01, 0x0a010a010a010a01], 16)
const fourWeights = memory.data<u64>([0x0001006400010064, 0x0001006400010064], 16)
const eightWeights = memory.data<u64>([0x0001271000012710, 0x0001271000012710], 16)
const exponentBits = memory.data<u64>([0x7ff0000000000000, 0x7ff0000000000000], 16)
/** ECMAScript writes numbers below 10⁻⁶ with an exponent, and −0 without its sign. Both are left to decimal.ts. */
const leastDegrees = memory.data<f64>([1e-6, 1e-6], 16)
const mostDegrees = memory.data<f64>([180, 90], 16)

/** A row for each number of decimals, u being the unit of the last: (t − 5) u for each last digit t, then 5u and u/2. */
const spellings = memory.data(128 * (32 + 1), 16)
const ROW_SHIFT: usize = 7
const LIMITS: usize = 80

for (let digits: usize = 0; digits < 64; digits++) {
  const row = wholes + (digits << 3)
  store<u32>(row, digits == 1 ? 0x0f000000 : digits == 2 ? 0x0f0f0000 : 0x0f0f0f00)
  store<i32>(row, digits == 1 ? 0 : digits == 2 ? 10 : digits == 3 ? 100 : i32.MAX_VALUE, 4)
}
for (let decimals: usize = 1, power: f64 = 10; decimals <= <usize>MAX_DECIMALS; decimals++, power *= 10) {
  const row = spellings + (decimals << ROW_SHIFT)
  const unit = 1 / power
  store<f64>(row, -1) // fails the test: a number that ends in 0 has a shorter spelling
  for (let last: usize = 1; last < 10; last++) store<f64>(row + (last << 3), <f64>(<i32>last - 5) * unit)
  store<f64>(row, 5 * unit - 2 * ERROR_BOUND, LIMITS)
  store<f64>(row, 0.5 * unit - 2 * ERROR_BOUND, LIMITS + 8)
}

/**
 * Reads two numbers with a comma between them, which one space may follow, and stores two doubles.
 *
 * Clears `isCanonical` when ECMAScript would spell one of them differently.
 *
 * @param p the first byte; 96 bytes after it must be readable, and the byte after the text must not be a digit
 * @returns the byte after the latitude; 0 when decimal.ts must read the numbers
 */
@inline
export function readPosition(p: usize, out: usize): usize {
  // A bit for each of the next 48 bytes that is not a digit. Apart from signs these must be: point, comma, point, end.
  let stops = nonDigits(p) | (nonDigits(p + 16) << 16) | (nonDigits(p + 32) << 32)
  const lonSign = <usize>(load<u8>(p) == MINUS)
  stops &= stops - <u64>lonSign
  const lonPoint = p + <usize>ctz(stops)
  if (load<u8>(lonPoint) != POINT) return 0
  stops &= stops - 1
  const comma = p + <usize>ctz(stops)
  stops &= stops - 1
  let lat = comma + 1
  let sign = load<u8>(lat)
  if (sign == SPACE) {
    markNotCanonical()
    stops &= stops - 1
    sign = load<u8>(++lat)
  }
  let latSign: usize = 0
  // A branch, because the processor predicts it: then the end of the position, where the next one starts, does not
  // depend on the sign.
  if (sign == MINUS) {
    latSign = 1
    stops &= stops - 1
  }
  const latPoint = p + <usize>ctz(stops)
  stops &= stops - 1
  if (stops == 0 || load<u8>(comma) != COMMA || load<u8>(latPoint) != POINT) return 0
  const end = p + <usize>ctz(stops)
  if ((load<u8>(end) | 0x20) == 0x65) return 0 // an exponent

  const lonRow = wholes + ((lonPoint - p - lonSign) << 3)
  const latRow = wholes + ((latPoint - lat - latSign) << 3)
  const lonBytes = load<u32>(lonPoint - 4) & load<u32>(lonRow)
  const latBytes = load<u32>(latPoint - 4) & load<u32>(latRow)
  const lonWhole = ((<u64>lonBytes * WHOLE_WEIGHTS) >> 40) & 0xff
  const latWhole = ((<u64>latBytes * WHOLE_WEIGHTS) >> 40) & 0xff
  const belowLeast = (<i32>lonWhole - load<i32>(lonRow, 4)) | (<i32>latWhole - load<i32>(latRow, 4))
  // Declines numbers with a leading zero, with no digits or with four, and from 200 on.
  if ((belowLeast & 0x80000000) | ((lonBytes | latBytes) & 0xfe00)) return 0
  const whole = f64x2.mul(f64x2.convert_low_i32x4_s(i64x2.splat(<i64>(lonWhole | (latWhole << 32)))), factor(0))

  const lonDecimals = <i32>(comma - lonPoint) - 1
  const latDecimals = <i32>(end - latPoint) - 1
  const lonLast = <usize>load<u8>(comma - 1) & 15
  const latLast = <usize>load<u8>(end - 1) & 15
  let x: v128
  if (<u32>((lonDecimals - 1) | (latDecimals - 1)) < <u32>GROUP) {
    const group = readGroups(lonPoint + 1, lonDecimals, latPoint + 1, latDecimals)
    x = f64x2.div(f64x2.add(whole, f64x2.convert_low_i32x4_s(group)), factor(0))
    if (isCanonical && (lonLast == 0 || latLast == 0)) markNotCanonical()
  } else {
    if (<u32>((lonDecimals - 1) | (latDecimals - 1)) >= <u32>MAX_DECIMALS) return 0
    x = longDegrees(whole, lonPoint + 1, lonDecimals, lonLast, latPoint + 1, latDecimals, latLast)
  }
  if (i64x2.bitmask(v128.and(f64x2.ge(x, v128.load(leastDegrees)), f64x2.le(x, v128.load(mostDegrees)))) != 3) return 0
  // The sign is applied last, so that the branch above stays a branch. A select between two addresses would delay the
  // next position.
  v128.store(out, v128.xor(x, v128.load(signs + ((lonSign | (latSign << 1)) << 4))))
  return end
}

/**
 * Returns two numbers of up to 32 decimals, without their signs.
 *
 * @param whole their whole parts × 10⁸
 * @param lon pointer to the first decimal of the longitude
 * @param lonLast its last digit
 * @returns NaN for a number whose rounding is uncertain, or whose spelling is uncertain or not canonical while
 *   `isCanonical` is set
 */
@inline
function longDegrees(
  whole: v128,
  lon: usize,
  lonDecimals: i32,
  lonLast: usize,
  lat: usize,
  latDecimals: i32,
  latLast: usize,
): v128 {
  let lonDigits = lonDecimals
  let latDigits = latDecimals
  let third = i64x2.splat(0)
  if (<u32>((lonDigits - 1) | (latDigits - 1)) >= <u32>TWO_GROUPS) {
    third = thirdGroups(lon, lonDigits, lat, latDigits)
    lonDigits = min(lonDigits, TWO_GROUPS)
    latDigits = min(latDigits, TWO_GROUPS)
  }
  const groups = eightDigits(
    fourDigits(v128.and(v128.load(lon), v128.load(digitMasks + <usize>(TWO_GROUPS - lonDigits)))),
    fourDigits(v128.and(v128.load(lat), v128.load(digitMasks + <usize>(TWO_GROUPS - latDigits)))),
  )
  const first = v128.shuffle<i32>(groups, groups, 0, 2, 1, 3)
  const second = v128.shuffle<i64>(first, first, 1, 1)
  const s = f64x2.add(whole, f64x2.convert_low_i32x4_s(first))
  const product1 = f64x2.mul(s, factor(1))
  const product2 = f64x2.mul(s, factor(2))
  const lower = f64x2.add(f64x2.mul(s, factor(3)), f64x2.mul(f64x2.convert_low_i32x4_s(second), factor(4)))
  const lowest = f64x2.add(lower, f64x2.mul(f64x2.convert_low_i32x4_s(third), factor(5)))
  const sum = f64x2.add(product1, product2)
  const remainder = f64x2.add(f64x2.sub(product2, f64x2.sub(sum, product1)), lowest)
  const x = f64x2.add(sum, f64x2.sub(remainder, factor(6)))
  let isUncertain = f64x2.ne(x, f64x2.add(sum, f64x2.add(remainder, factor(6))))
  if (isCanonical) {
    // ECMAScript spells x with these digits if no decimal with fewer digits, that is, no multiple of ten units of the
    // last decimal, rounds to x, and if none with as many digits is nearer. Both limits leave a margin of 2⁻⁷⁵.
    const excess = f64x2.sub(remainder, f64x2.sub(x, sum))
    const reach = f64x2.mul(v128.and(x, v128.load(exponentBits)), factor(7))
    const lonRow = spellings + ((<usize>lonDecimals) << ROW_SHIFT)
    const latRow = spellings + ((<usize>latDecimals) << ROW_SHIFT)
    const centre = v128.load_lane<f64>(latRow + (latLast << 3), v128.load_splat<f64>(lonRow + (lonLast << 3)), 1)
    const lonLimits = v128.load(lonRow, LIMITS)
    const latLimits = v128.load(latRow, LIMITS)
    const span = f64x2.add(f64x2.abs(f64x2.sub(centre, excess)), reach)
    const isShorter = f64x2.ge(span, v128.shuffle<f64>(lonLimits, latLimits, 0, 2))
    const isNearer = f64x2.ge(f64x2.abs(excess), v128.shuffle<f64>(lonLimits, latLimits, 1, 3))
    isUncertain = v128.or(isUncertain, v128.or(isShorter, isNearer))
  }
  return v128.or(x, isUncertain)
}

/** A bit for each of the 16 bytes from p that is not a digit. */
@inline
function nonDigits(p: usize): u64 {
  return <u64>i8x16.bitmask(i8x16.lt_s(i8x16.add(v128.load(p), v128.load(toTop)), v128.load(leastTop)))
}

/** Reads up to eight digits from each of two addresses as integers, in the two low words. */
@inline
function readGroups(lon: usize, lonDigits: i32, lat: usize, latDigits: i32): v128 {
  const lonMask = digitMasks + <usize>(TWO_GROUPS - lonDigits)
  const latMask = digitMasks + <usize>(TWO_GROUPS - latDigits)
  const digits = v128.load_lane<u64>(lat, v128.load_splat<u64>(lon), 1)
  const fours = fourDigits(v128.and(digits, v128.load_lane<u64>(latMask, v128.load_splat<u64>(lonMask), 1)))
  return eightDigits(fours, fours)
}

/** The third groups of both numbers. Not inlined, because few numbers have that many decimals. */
function thirdGroups(lon: usize, lonDecimals: i32, lat: usize, latDecimals: i32): v128 {
  const lonDigits = min(max(lonDecimals - TWO_GROUPS, 0), GROUP)
  const latDigits = min(max(latDecimals - TWO_GROUPS, 0), GROUP)
  return readGroups(lon + TWO_GROUPS, lonDigits, lat + TWO_GROUPS, latDigits)
}

/** 16 digits, one per byte → four numbers of four digits. */
@inline
function fourDigits(digits: v128): v128 {
  const pairs = i16x8.shr_u(i16x8.mul(digits, v128.load(pairWeights)), 8)
  return i32x4.dot_i16x8_s(pairs, v128.load(fourWeights))
}

/** Four numbers of four digits in each of a and b → two numbers of eight digits each. */
@inline
function eightDigits(a: v128, b: v128): v128 {
  return i32x4.dot_i16x8_s(i16x8.narrow_i32x4_u(a, b), v128.load(eightWeights))
}

/** Loads one of `factors` into both lanes. */
@inline
function factor(index: usize): v128 {
  return v128.load_splat<f64>(factors + (index << 3))
}
