/**
 * One position, `lon,lat`, read at once: a lane for each number, and no step that depends on how long they are. For builds
 * with SIMD; what is not of this form, or too near the middle of two doubles, is left to `decimal.ts`.
 *
 * A number is W + A × 10⁻⁸ + B × 10⁻¹⁶ + C × 10⁻²⁴ with its whole part W and its decimals in groups of eight. S = W × 10⁸ + A
 * is an integer below 2³⁵. Without B and C one division of exact doubles, S / 10⁸, is rounded right.
 *
 * With them, 10⁻⁸ = i₁ + i₂ + i₃ with 18 bits in each of the first two, so S i₁ and S i₂ are exact, and so is what their sum
 * loses. All that is added to it is below 2⁻²⁶ (B × 10⁻¹⁶ is the largest), and the nine roundings on the way come to less than
 * 2⁻⁷⁷, with what decimals beyond the 24th may say. The sum is taken once with 2⁻⁷⁶ less and once with 2⁻⁷⁶ more: where both round to one double, the number itself does,
 * because rounding is monotone.
 */
import { isCanonical, markRespelled } from './decimal'

const SPACE: u8 = 0x20
const COMMA: u8 = 0x2c
const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e

/** Decimals in a group and in two of them. Of more than three groups the rest is left out. Powers of two, tested as such. */
const GROUP: i32 = 8
const TWO_GROUPS: i32 = 16
const MOST_DECIMALS: i32 = 32

/** From byte 16 − n on, a mask that leaves n digits and drops all else. */
const digitMasks = memory.data<u64>([0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f, 0, 0], 16)
/** Of each number of digits before a point, 0 … 63: a mask of the four bytes there; the least number without a leading zero. */
const wholes = memory.data(8 * 64, 16)
/** Multiplied by the bytes 0, a, b, c, gives 100a + 10b + c in the byte from bit 40 on while a < 2. */
const WHOLE_WEIGHTS: u64 = (100 << 32) | (10 << 24) | (1 << 16)
/** Signs of a longitude and a latitude: neither, the first, the second, both. */
const signs = memory.data<f64>([0, 0, -0.0, 0, 0, -0.0, -0.0, -0.0], 16)

/** 2⁻⁷⁶; see above. */
const DOUBT: f64 = 1 / (<f64>(1 << 30) * <f64>(1 << 30) * <f64>(1 << 16))
/** 2⁻⁵³: half a unit in the last place of 1. */
const HALF_ULP: f64 = 1 / (<f64>(1 << 30) * <f64>(1 << 23))
/** 2³⁵ + 1: splits a double so that 18 bits are in the first part (T. J. Dekker, 1971). */
const SPLITTER: f64 = 34359738369
const INVERSE_1: f64 = 1e-8 * SPLITTER - (1e-8 * SPLITTER - 1e-8)
const BELOW_1: f64 = 1e-8 - INVERSE_1
const INVERSE_2: f64 = BELOW_1 * SPLITTER - (BELOW_1 * SPLITTER - BELOW_1)
/** With what the double 1e-8 lacks of 10⁻⁸. */
const INVERSE_3: f64 = BELOW_1 - INVERSE_2 - 2.092256083012847e-25

// Constants stand in memory: a load is one instruction, a vector in the code is several.
const factors = memory.data<f64>([1e8, INVERSE_1, INVERSE_2, INVERSE_3, 1e-16, 1e-24, DOUBT, HALF_ULP], 16)
/** Plus the first, the ten digits are the greatest signed bytes, the second and above. */
const toTop = memory.data<u64>([0x4646464646464646, 0x4646464646464646], 16)
const leastTop = memory.data<u64>([0x7676767676767676, 0x7676767676767676], 16)
/** Weights of two digits in their word, of two pairs, of two fours. */
const pairWeights = memory.data<u64>([0x0a010a010a010a01, 0x0a010a010a010a01], 16)
const fourWeights = memory.data<u64>([0x0001006400010064, 0x0001006400010064], 16)
const eightWeights = memory.data<u64>([0x0001271000012710, 0x0001271000012710], 16)
const exponentBits = memory.data<u64>([0x7ff0000000000000, 0x7ff0000000000000], 16)
/** ECMAScript writes less than 10⁻⁶ with an exponent, and 0 without a sign: both take the long way. */
const leastDegrees = memory.data<f64>([1e-6, 1e-6], 16)
const mostDegrees = memory.data<f64>([180, 90], 16)

/** A row for each number of decimals, with a unit u of the last one: (t − 5) u for each last digit t; then 5u and u / 2. */
const spellings = memory.data(128 * (32 + 1), 16)
const ROW_SHIFT: usize = 7
const LIMITS: usize = 80

for (let digits: usize = 0; digits < 64; digits++) {
  const row = wholes + (digits << 3)
  store<u32>(row, digits == 1 ? 0x0f000000 : digits == 2 ? 0x0f0f0000 : 0x0f0f0f00)
  store<i32>(row, digits == 1 ? 0 : digits == 2 ? 10 : digits == 3 ? 100 : i32.MAX_VALUE, 4)
}
for (let decimals: usize = 1, power: f64 = 10; decimals <= <usize>MOST_DECIMALS; decimals++, power *= 10) {
  const row = spellings + (decimals << ROW_SHIFT)
  const unit = 1 / power
  store<f64>(row, -1) // no number that ends in 0 is as short as it could be
  for (let last: usize = 1; last < 10; last++) store<f64>(row + (last << 3), <f64>(<i32>last - 5) * unit)
  store<f64>(row, 5 * unit - 2 * DOUBT, LIMITS)
  store<f64>(row, 0.5 * unit - 2 * DOUBT, LIMITS + 8)
}

/**
 * Reads two numbers and the comma between them, behind which one space may stand, and stores two doubles.
 *
 * Clears `isCanonical` when ECMAScript would spell one of them differently.
 *
 * @param p the first byte; 96 readable bytes follow, and no digit right behind the text
 * @returns the byte after the latitude; 0 when the numbers have to be read one by one
 */
@inline
export function readPosition(p: usize, out: usize): usize {
  // Which of the next 48 bytes are no digits: signs apart, a point, the comma, a point and the end.
  let stops = stopsOf(p) | (stopsOf(p + 16) << 16) | (stopsOf(p + 32) << 32)
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
    markRespelled()
    stops &= stops - 1
    sign = load<u8>(++lat)
  }
  let latSign: usize = 0
  // A branch, which the processor foresees: the end of the position, where the next one begins, need not wait for the sign.
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
  if ((belowLeast & 0x80000000) | ((lonBytes | latBytes) & 0xfe00)) return 0 // a leading zero, or no digits, four or 200
  const whole = f64x2.mul(f64x2.convert_low_i32x4_s(i64x2.splat(<i64>(lonWhole | (latWhole << 32)))), factor(0))

  const lonDecimals = <i32>(comma - lonPoint) - 1
  const latDecimals = <i32>(end - latPoint) - 1
  const lonLast = <usize>load<u8>(comma - 1) & 15
  const latLast = <usize>load<u8>(end - 1) & 15
  let x: v128
  if (<u32>((lonDecimals - 1) | (latDecimals - 1)) < <u32>GROUP) {
    const group = groupOfEach(lonPoint + 1, lonDecimals, latPoint + 1, latDecimals)
    x = f64x2.div(f64x2.add(whole, f64x2.convert_low_i32x4_s(group)), factor(0))
    if (isCanonical && (lonLast == 0 || latLast == 0)) markRespelled()
  } else {
    if (<u32>((lonDecimals - 1) | (latDecimals - 1)) >= <u32>MOST_DECIMALS) return 0
    x = longDegrees(whole, lonPoint + 1, lonDecimals, lonLast, latPoint + 1, latDecimals, latLast)
  }
  if (i64x2.bitmask(v128.and(f64x2.ge(x, v128.load(leastDegrees)), f64x2.le(x, v128.load(mostDegrees)))) != 3) return 0
  // Last, so that the branch before it stays one: a choice between two addresses would make the next position wait.
  v128.store(out, v128.xor(x, v128.load(signs + ((lonSign | (latSign << 1)) << 4))))
  return end
}

/**
 * Two numbers of up to 32 decimals.
 *
 * @param whole their whole parts × 10⁸
 * @param lon the first decimal of the longitude
 * @param lonLast its last digit
 * @returns NaN where a number cannot be told, or its spelling while all before it are canonical
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
  const rest = f64x2.add(f64x2.sub(product2, f64x2.sub(sum, product1)), lowest)
  const x = f64x2.add(sum, f64x2.sub(rest, factor(6)))
  let isDoubtful = f64x2.ne(x, f64x2.add(sum, f64x2.add(rest, factor(6))))
  if (isCanonical) {
    // ECMAScript writes x so when no decimal with fewer digits rounds to x, which is no multiple of ten units of the last
    // one, and none with as many is nearer. Both limits keep 2⁻⁷⁵ away from being wrong.
    const excess = f64x2.sub(rest, f64x2.sub(x, sum))
    const reach = f64x2.mul(v128.and(x, v128.load(exponentBits)), factor(7))
    const lonRow = spellings + ((<usize>lonDecimals) << ROW_SHIFT)
    const latRow = spellings + ((<usize>latDecimals) << ROW_SHIFT)
    const centre = v128.load_lane<f64>(latRow + (latLast << 3), v128.load_splat<f64>(lonRow + (lonLast << 3)), 1)
    const lonLimits = v128.load(lonRow, LIMITS)
    const latLimits = v128.load(latRow, LIMITS)
    const span = f64x2.add(f64x2.abs(f64x2.sub(centre, excess)), reach)
    const isShorter = f64x2.ge(span, v128.shuffle<f64>(lonLimits, latLimits, 0, 2))
    const isNearer = f64x2.ge(f64x2.abs(excess), v128.shuffle<f64>(lonLimits, latLimits, 1, 3))
    isDoubtful = v128.or(isDoubtful, v128.or(isShorter, isNearer))
  }
  return v128.or(x, isDoubtful)
}

/** A bit for each of the 16 bytes from p that is no digit. */
@inline
function stopsOf(p: usize): u64 {
  return <u64>i8x16.bitmask(i8x16.lt_s(i8x16.add(v128.load(p), v128.load(toTop)), v128.load(leastTop)))
}

/** Up to eight digits from each of two places as one integer each, in the low words. */
@inline
function groupOfEach(lon: usize, lonDigits: i32, lat: usize, latDigits: i32): v128 {
  const lonMask = digitMasks + <usize>(TWO_GROUPS - lonDigits)
  const latMask = digitMasks + <usize>(TWO_GROUPS - latDigits)
  const digits = v128.load_lane<u64>(lat, v128.load_splat<u64>(lon), 1)
  const fours = fourDigits(v128.and(digits, v128.load_lane<u64>(latMask, v128.load_splat<u64>(lonMask), 1)))
  return eightDigits(fours, fours)
}

/** Out of line: few numbers have that many decimals. */
function thirdGroups(lon: usize, lonDecimals: i32, lat: usize, latDecimals: i32): v128 {
  const lonDigits = min(max(lonDecimals - TWO_GROUPS, 0), GROUP)
  const latDigits = min(max(latDecimals - TWO_GROUPS, 0), GROUP)
  return groupOfEach(lon + TWO_GROUPS, lonDigits, lat + TWO_GROUPS, latDigits)
}

/** 16 digits, one a byte → four numbers of four digits. */
@inline
function fourDigits(digits: v128): v128 {
  const pairs = i16x8.shr_u(i16x8.mul(digits, v128.load(pairWeights)), 8)
  return i32x4.dot_i16x8_s(pairs, v128.load(fourWeights))
}

/** Twice four numbers of four digits → twice two numbers of eight. */
@inline
function eightDigits(a: v128, b: v128): v128 {
  return i32x4.dot_i16x8_s(i16x8.narrow_i32x4_u(a, b), v128.load(eightWeights))
}

/** One of `factors` in both lanes. */
@inline
function factor(index: usize): v128 {
  return v128.load_splat<f64>(factors + (index << 3))
}
