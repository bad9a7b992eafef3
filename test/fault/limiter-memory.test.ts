import { expect, it } from 'vitest'
import { RateLimiter, takeQuota } from '../../src/http/access/rate-limit.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

it('holds a million addresses in the rate limiter in less than 200 MB', () => {
  const before = process.memoryUsage().heapUsed
  const limiter = new RateLimiter(1_000_000)
  for (let address = 0; address < 1_200_000; address++) takeQuota(limiter.open(address, NOON), 100, 1)
  expect(limiter.size).toBe(1_000_000)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1_048_576)
})
