import { expect, it } from 'vitest'
import { restMs } from '../../src/threads/cross-check-pace.ts'

it('lets checks take 10 times their share of a core', () => {
  expect(restMs(2, 0.001)).toBeCloseTo(198) // 2 ms of 200
  expect(restMs(2, 0.01)).toBeCloseTo(18)
})

it('does not slow checks down if every tenth answer or more is checked', () => {
  expect(restMs(2, 0.1)).toBe(0)
  expect(restMs(2, 1)).toBe(0)
})
