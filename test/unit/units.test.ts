import { describe, expect, it } from 'vitest'
import { parseDecimal } from '../../src/base/decimal.ts'
import { fromScaledInteger, toScaledInteger } from '../../src/base/units.ts'
import { seededRandom } from '../random-geometry.ts'

describe('a decimal number', () => {
  it.each([
    ['0', 0],
    ['-1.5', -1.5],
    ['+.5', 0.5],
    [' 5. ', 5],
    ['1e3', 1000],
    ['2.5E-1', 0.25],
  ])('is read from %j', (text, value) => {
    expect(parseDecimal(text)).toBe(value)
  })

  it.each(['', ' ', '.', '1e', '0x10', '0b1', 'Infinity', 'NaN', '1_000', '1,5', '1 2', '--1', '1e999', '１'])(
    'is not read from %j',
    (text) => {
      expect(parseDecimal(text)).toBeUndefined()
    },
  )
})

describe('the on-chain integer', () => {
  it.each([
    [0, 100, 0n],
    [0.004999, 100, 0n],
    [0.005, 100, 1n],
    [1.5, 100, 150n],
    [500, 100, 50_000n],
    // The double 1.005 is 1.00499999999999989…: its exact product with 100 is below 100.5.
    [1.005, 100, 100n],
    // 1.115 is 1.11499999999999999…, but 1.115 * 100 rounds up to 111.5 as a double: rounding twice would give 112.
    [1.115, 100, 111n],
    [0.125, 100, 13n],
    // Half the area of the ellipsoid is beyond 2⁵³ square centimetres, so the integer is more precise than a double.
    [255_032_810_862_044.25, 10_000, 2_550_328_108_620_442_500n],
    [Number.MIN_VALUE, 10_000, 0n],
  ])('of %d at scale %d is %d', (value, scale, integer) => {
    expect(toScaledInteger(value, scale)).toBe(integer)
  })

  it('is exact wherever a product comes near a half', () => {
    const random = seededRandom(17)
    for (let round = 0; round < 20_000; round++) {
      const scale = round % 2 === 0 ? 100 : 10_000
      const half = (Math.floor(10 ** (12 * random())) + 0.5) / scale
      const value = Math.max(0, half * (1 + Math.floor(9 * random() - 4) * 2 ** -53) + (round % 3) * 1e-9)
      expect(toScaledInteger(value, scale)).toBe(exactly(value, scale))
    }
  })

  it('rejects values that are not measures', () => {
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => toScaledInteger(value, 100)).toThrow(RangeError)
    }
  })

  it('agrees with the JSON number below 2⁵³', () => {
    expect(fromScaledInteger(toScaledInteger(4236.4799, 100), 100)).toBe(4236.48)
    expect(fromScaledInteger(558_142_117n, 100)).toBe(5_581_421.17)
  })
})

/** Rounds the exact product half up, with the double as a fraction whose denominator is a power of two. */
function exactly(value: number, scale: number): bigint {
  let shift = 0n
  let numerator = value
  while (!Number.isInteger(numerator)) {
    numerator *= 2
    shift++
  }
  const doubled = 2n * BigInt(numerator) * BigInt(scale) + (1n << shift)
  return doubled >> (shift + 1n)
}
