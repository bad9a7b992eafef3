import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { CostLimiter, createBudgets } from '../../src/http/access/cost-limit.ts'
import { accountSubject, RateLimiter, takeOwnQuota } from '../../src/http/access/rate-limit.ts'
import { UsageCounts } from '../../src/service/usage/usage-counts.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

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

/** Memory of this process after a collection of garbage, in bytes: the heap, and what typed arrays hold outside of it. */
function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it('holds the limits and the usage of a million accounts in tables of a bounded size, and prints how much that is', () => {
  const accounts = 1_000_000
  const config = readConfig({}, 2)
  const sizes: Record<string, number> = {}
  let before = usedBytes()
  const measure = <T>(name: string, make: () => T): T => {
    const made = make()
    const after = usedBytes()
    sizes[name] = (after - before) / 1_048_576
    before = after
    return made
  }
  // The text of an account comes from the store or a message in one piece. A template would keep its pieces.
  const subjectOf = (account: number) =>
    accountSubject(Buffer.from(`eip155:0:0x${account.toString(16).padStart(40, '0')}`).toString('latin1'))
  const requests = measure('requests', () => {
    const limiter = new RateLimiter(accounts)
    for (let account = 0; account < accounts * 1.1; account++)
      takeOwnQuota(limiter.open(subjectOf(account), NOON), 100, 1)
    return limiter
  })
  const costs = measure('costs', () => {
    const { developer } = createBudgets(config, new Metrics())
    const limiter = new CostLimiter(accounts)
    for (let account = 0; account < accounts * 1.1; account++)
      limiter.open(subjectOf(account), developer, NOON).charge('cpu-ms', 0.1)
    return limiter
  })
  const usage = measure('usage', () => {
    const counts = new UsageCounts(config.limits.maxUsageRows)
    for (let account = 0; account < accounts * 1.1; account++)
      counts.add(subjectOf(account), 0, NOON, 1, 100, 2, 0.1, 200)
    return counts
  })
  const sum = Object.values(sizes).reduce((total, size) => total + size, 0)
  const text = Object.entries(sizes).map(([name, size]) => `${name} ${size.toFixed(0)} MiB`)
  console.log(`${accounts} accounts: ${text.join(', ')}; together ${sum.toFixed(0)} MiB`)
  expect([requests.size, costs.size]).toEqual([accounts, accounts])
  // The last row counts all further accounts together.
  expect(usage.rows).toBe(config.limits.maxUsageRows + 1)
})
