import { expect, it } from 'vitest'
import { restMs } from '../../src/cross-check/pace.ts'

it('lets checks take 20 times their share of a core', () => {
  expect(restMs(2, 0.001)).toBeCloseTo(98) // 2 ms of 100
  expect(restMs(2, 0.01)).toBeCloseTo(8)
})

it('does not slow checks down if every twentieth answer or more is checked', () => {
  expect(restMs(2, 0.05)).toBe(0)
  expect(restMs(2, 1)).toBe(0)
})
