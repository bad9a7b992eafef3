import { expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { CostLimiter, createBudgets } from '../../src/http/access/cost-limit.ts'
import { RateLimiter, takeOwnQuota } from '../../src/http/access/rate-limit.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

it('holds a million addresses in the rate limiter in less than 200 MB', () => {
  const before = process.memoryUsage().heapUsed
  const limiter = new RateLimiter(1_000_000)
  for (let address = 0; address < 1_200_000; address++) takeOwnQuota(limiter.open(address, NOON), 100, 1)
  expect(limiter.size).toBe(1_000_000)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1_048_576)
})

it('holds the budgets of a million addresses in less than 250 MB', () => {
  const before = process.memoryUsage().heapUsed
  const { public: budget } = createBudgets(readConfig({}, 2), new Metrics())
  const limiter = new CostLimiter(1_000_000)
  for (let address = 0; address < 1_200_000; address++) {
    const window = limiter.open(address, budget, NOON)
    window.charge('bytes', 1000)
    window.charge('cpu-ms', 0.1)
  }
  expect(limiter.size).toBe(1_000_000)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(250 * 1_048_576)
})
