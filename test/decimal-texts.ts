import type { Random } from './random-geometry.ts'

/**
 * Returns a random spelling of a number: common ones, and those that break number parsers. Some are not valid JSON, some are
 * not valid degrees.
 */
export function decimalText(random: Random): string {
  const below = (count: number) => Math.floor(random() * count)
  const digits = (count: number) => Array.from({ length: count }, () => below(10)).join('')
  const sign = below(2) === 0 ? '' : '-'
  switch (below(15)) {
    case 0:
      return sign + String(random() * 180)
    case 1:
      return sign + (random() * 180).toFixed(below(25))
    case 2:
      return sign + (random() * 10 ** -below(20)).toPrecision(1 + below(21))
    case 3:
      return sign + below(181)
    case 4:
      return `${sign}${below(181)}.${digits(1 + below(22))}`
    case 5:
      return `${sign}0.${'0'.repeat(below(22))}${digits(1 + below(20))}`
    case 6:
      return sign + tieText(random)
    case 7:
      return sign + (random() * 180).toExponential(below(20))
    case 8:
      return `${sign}${digits(1 + below(5))}${below(2) ? `.${digits(below(5))}` : ''}${below(3) ? `${below(2) ? 'e' : 'E'}${below(2) ? '-' : '+'}${digits(below(4))}` : ''}`
    case 9:
      return `${sign}${'0'.repeat(below(3))}${below(181)}.${digits(1 + below(18))}`
    case 10:
      return `${sign}${below(1800) / 10}${'0'.repeat(below(12))}`
    case 11:
      return sign + String(5e-324 * below(1e6))
    case 12:
      return sign + besides(random() * 90, below(7)).toPrecision(17)
    case 13:
      return sign + besides(below(181), below(5) - 2).toPrecision(15 + below(5))
    default:
      return `${sign}${below(10)}.${digits(14 + below(5))}`
  }
}

/** Returns spellings of degrees below `most` without exponents: as computed, rounded, or near the middle of two doubles. */
export function degreesText(random: Random, most: number): string {
  const below = (count: number) => Math.floor(random() * count)
  const sign = below(2) === 0 ? '' : '-'
  const x = random() * most
  switch (below(5)) {
    case 0:
      return sign + (x < 1e-6 ? '0.5' : String(x))
    case 1:
      return sign + x.toFixed(1 + below(8))
    case 2:
      return sign + (x * 10 ** -below(6)).toFixed(9 + below(14))
    case 3:
      return sign + besides(x, below(7)).toFixed(12 + below(8))
    default:
      return sign + nearTieText(x * 2 ** -below(12), 14 + below(19), below(3) - 1)
  }
}

/** Returns the middle of x and the next double, cut to `decimals` decimals; `nudge` then changes the last of them. */
function nearTieText(x: number, decimals: number, nudge: number): string {
  const { digits, point } = middleOf(x)
  const kept = BigInt(digits.slice(0, point + decimals)) + BigInt(nudge)
  const text = kept.toString().padStart(decimals + 1, '0')
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

/** Returns the digits of the middle of x and the next double, and how many of them precede the decimal point. */
function middleOf(x: number): { digits: string; point: number } {
  double.setFloat64(0, x)
  const bits = double.getBigUint64(0)
  const exponent = Number(bits >> 52n) - 1075
  const halves = 2n * ((bits & ((1n << 52n) - 1n)) | (1n << 52n)) + 1n
  const decimals = 1 - exponent
  const digits = (halves * 5n ** BigInt(decimals)).toString().padStart(decimals + 1, '0')
  return { digits, point: digits.length - decimals }
}

const double = new DataView(new ArrayBuffer(8))

/** Returns the double that is `ulps` units in the last place away from x. */
function besides(x: number, ulps: number): number {
  if (x === 0) return 0
  double.setFloat64(0, x)
  double.setBigInt64(0, double.getBigInt64(0) + BigInt(ulps))
  return double.getFloat64(0)
}

/** Returns a text exactly half way between two doubles, one digit off, or truncated: the hardest cases of rounding. */
function tieText(random: Random): string {
  const { digits, point } = middleOf(random() * 180)
  const exact = `${digits.slice(0, point)}.${digits.slice(point)}`
  const kind = Math.floor(random() * 5)
  return kind === 0
    ? exact
    : kind === 1
      ? `${exact}1`
      : kind === 2
        ? `${exact.slice(0, -1)}4`
        : exact.slice(0, 16 + Math.floor(random() * 10))
}
