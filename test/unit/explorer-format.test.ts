import { expect, it } from 'vitest'
import { exactMeters, shortMeters } from '../../web/explorer/format.ts'

// Regression: a radius of 1 km was shown as `1.000 km`, which many readers take for a thousand kilometres.
it('rounds a length without zeros at the end', () => {
  const lengths = [0, 0.5, 5, 10, 310.4, 1000, 1234.56, 4200, 100_000, 2e6, 20_037_508]
  expect(lengths.map(shortMeters)).toEqual([
    '0 m',
    '0.5 m',
    '5 m',
    '10 m',
    '310 m',
    '1 km',
    '1.235 km',
    '4.2 km',
    '100 km',
    '2,000 km',
    '20,038 km',
  ])
})

// Regression: the statement of a signed `within` rounded its radius to four digits.
it('writes a signed length to the centimetre', () => {
  expect([1, 1000, 1234.56, 100_000.01].map(exactMeters)).toEqual(['1 m', '1,000 m', '1,234.56 m', '100,000.01 m'])
})
