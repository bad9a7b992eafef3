import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { HourTable } from '../../src/base/hour-table.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { type CostBudget, CostLimiter, createBudgets } from '../../src/http/access/cost-limit.ts'
import { RateLimiter, type Subject, takeOwnQuota } from '../../src/http/access/rate-limit.ts'
import { type SealedCounts, UsageCounts } from '../../src/service/usage/usage-counts.ts'
import { accountSubject } from '../../src/wire/usage-messages.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const NOON = Date.UTC(2026, 0, 1, 12)

/** Memory of this process after a collection of garbage, in bytes: the heap, and what typed arrays hold outside of it. */
function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const CLIENTS = 1_000_000
const config = readConfig({}, 2)
const { public: addressBudget, developer } = createBudgets(config, new Metrics())

/** The text of an account comes from the store or a message in one piece. A template would keep its pieces. */
const subjectOf = (account: number) =>
  accountSubject(Buffer.from(`eip155:0:0x${account.toString(16).padStart(40, '0')}`).toString('latin1'))

/** Runs what fills a table. @returns the table, and by how much the memory of this process has grown, in MiB */
function measure<T>(fill: () => T): { filled: T; mib: number } {
  const before = usedBytes()
  const filled = fill()
  return { filled, mib: (usedBytes() - before) / 1_048_576 }
}

/** Fills a table for a million clients with the requests and costs of a tenth more. */
function fillLimits(budget: CostBudget, subjectOf: (client: number) => Subject): HourTable {
  const table = new HourTable(CLIENTS)
  const requests = new RateLimiter(table)
  const costs = new CostLimiter(table)
  for (let client = 0; client < CLIENTS * 1.1; client++) {
    const subject = subjectOf(client)
    takeOwnQuota(requests.open(subject, NOON), 100, 1)
    const window = costs.open(subject, budget, NOON)
    window.charge('bytes', 1000)
    window.charge('cpu-ms', 0.1)
  }
  return table
}

it('holds the limits of a million clients in at most 64 MiB, their usage too, and prints how much both take', () => {
  // All tables stay until the end: the memory of a former one would be counted against the next.
  const addresses = measure(() => fillLimits(addressBudget, (address) => address))
  const accounts = measure(() => fillLimits(developer, subjectOf))
  let sealed: SealedCounts | undefined
  const usage = measure(() => {
    const counts = new UsageCounts(config.limits.maxUsageRows)
    // A part is being stored while the rest is counted.
    for (let account = 0; account < CLIENTS * 1.1; account++) {
      if (account === config.limits.maxUsageRows / 2) sealed = counts.seal()
      counts.add(subjectOf(account), 0, NOON, 1, 100, 2, 0.1, 200)
    }
    return counts
  })
  const text = Object.entries({ 'limits of addresses': addresses, 'limits of accounts': accounts, usage })
  console.log(`${CLIENTS} clients: ${text.map(([name, { mib }]) => `${name} ${mib.toFixed(1)} MiB`).join(', ')}`)
  expect(usage.mib).toBeLessThanOrEqual(64)
  for (const { filled, mib } of [addresses, accounts]) {
    expect(filled.size).toBe(CLIENTS)
    expect(mib).toBeLessThanOrEqual(64)
    // Less than the rows take was not measured.
    expect(mib).toBeGreaterThan((CLIENTS * 56) / 1_048_576)
  }
  // The last row counts all further accounts together.
  expect(usage.filled.rows).toBe(config.limits.maxUsageRows + 1)
  sealed?.release()
  expect(usage.filled.rows).toBe(config.limits.maxUsageRows / 2 + 1)
})
