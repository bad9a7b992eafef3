import { describe, expect, it } from 'vitest'
import { HourTable } from '../../src/base/hour-table.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import {
  CostLimiter,
  costProblem,
  createBudgets,
  remainingField,
  StreamMeter,
} from '../../src/http/access/cost-limit.ts'
import { rateStatus } from '../../src/http/access/rate-limit.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const HOUR_MS = 3_600_000
const budgetsOf = (limit: string, metrics = new Metrics()) =>
  createBudgets(readConfig({ COST_LIMIT_PUBLIC: limit }, 2), metrics)
const { public: budget } = budgetsOf('bytes=100,vertices=10,cpu-ms=50')
const rate = rateStatus(undefined, 100, NOON)

describe('the budgets of a client', () => {
  it.each([
    ['bytes', 99, 1],
    ['vertices', 9, 1],
    ['cpu-ms', 49.5, 0.5],
  ] as const)('are used up exactly at their limit: %s', (resource, most, last) => {
    const window = new CostLimiter(new HourTable(10)).open('a', budget, NOON)
    window.charge(resource, most)
    expect(window.usedUp()).toBeUndefined()
    window.charge(resource, last)
    expect(window.usedUp()?.resource).toBe(resource)
  })

  it('begin with the first request and are full again after an hour', () => {
    const limiter = new CostLimiter(new HourTable(10))
    const window = limiter.open('a', budget, NOON + 999)
    window.charge('vertices', 10)
    expect(window.endSeconds * 1000).toBe(NOON + HOUR_MS)
    expect(limiter.open('a', budget, NOON + HOUR_MS - 1).usedUp()).toBeDefined()
    expect(limiter.open('a', budget, NOON + HOUR_MS).usedUp()).toBeUndefined()
    expect(limiter.open('b', budget, NOON).usedUp()).toBeUndefined()
  })

  it('have no limit of a resource whose limit is 0', () => {
    const { public: unlimited } = budgetsOf('bytes=0,vertices=0,cpu-ms=0')
    const window = new CostLimiter(new HourTable(10)).open('a', unlimited, NOON)
    window.charge('bytes', 1e15)
    expect(window.usedUp()).toBeUndefined()
    expect(unlimited.policies).toBe('"requests";q=100;w=3600')
    expect(remainingField(rate, unlimited, window, NOON)).toBe('"requests";r=100;t=3600')
  })

  it('change with the tier of a key within the hour', () => {
    const { public: small, developer } = budgetsOf('vertices=10')
    const limiter = new CostLimiter(new HourTable(10))
    limiter.open('key:a', small, NOON).charge('vertices', 10)
    expect(limiter.open('key:a', small, NOON).usedUp()).toBeDefined()
    expect(limiter.open('key:a', developer, NOON).usedUp()).toBeUndefined()
  })

  it('are those of the key or session that asks, whichever of an account was used last', () => {
    const { public: small, developer } = budgetsOf('vertices=10')
    const limiter = new CostLimiter(new HourTable(10))
    const window = limiter.open('account:a', developer, NOON)
    window.charge('vertices', 10)
    limiter.open('account:a', small, NOON)
    expect(window.usedUp(developer)).toBeUndefined()
    limiter.open('account:a', developer, NOON)
    expect(window.usedUp(small)?.resource).toBe('vertices')
  })

  it('of a stream are those of the hour in which it uses them', () => {
    const limiter = new CostLimiter(new HourTable(10))
    let nowMs = NOON
    const meter = new StreamMeter(() => limiter.open('a', budget, nowMs))
    meter.charge('bytes', 60)
    nowMs += HOUR_MS
    meter.charge('bytes', 70)
    expect(limiter.peek('a', budget, nowMs)?.used('bytes')).toBe(70)
  })

  it('are forgotten for the oldest client when there are too many, and when their hour has ended', () => {
    const table = new HourTable(3)
    const limiter = new CostLimiter(table)
    for (const subject of ['a', 'b', 'c', 'd']) limiter.open(subject, budget, NOON).charge('bytes', 1)
    expect([table.size, limiter.peek('a', budget, NOON), limiter.peek('d', budget, NOON)?.used('bytes')]).toEqual([
      3,
      undefined,
      1,
    ])
    limiter.open('e', budget, NOON + HOUR_MS)
    expect(table.size).toBeLessThan(3)
  })

  it('are counted in the metrics', () => {
    const metrics = new Metrics()
    const limiter = new CostLimiter(new HourTable(10))
    const { public: counted } = budgetsOf('vertices=10', metrics)
    for (const subject of ['a', 'b']) limiter.open(subject, counted, NOON).charge('vertices', 4)
    expect(metrics.render()).toContain('cost_charged_total{tier="public",resource="vertices"} 8\n')
    expect(metrics.render()).toContain('cost_rejected_total{tier="internal",resource="cpu-ms"} 0\n')
  })
})

describe('the header fields', () => {
  it('report the budget of which the smallest share remains', () => {
    const limiter = new CostLimiter(new HourTable(10))
    const window = limiter.open('a', budget, NOON)
    const read = (nowMs = NOON) => remainingField(rate, budget, window, nowMs)
    expect(remainingField(rate, budget, undefined, NOON)).toBe('"requests";r=100;t=3600, "cpu-ms";r=50;t=3600')
    window.charge('bytes', 30)
    expect(read()).toBe('"requests";r=100;t=3600, "bytes";r=70;t=3600')
    window.charge('vertices', 4)
    expect(read(NOON + 600_000)).toBe('"requests";r=100;t=3000, "vertices";r=6;t=3000')
    // Rounded up: while the budget is not used up, something remains.
    window.charge('cpu-ms', 49.9)
    expect(read()).toBe('"requests";r=100;t=3600, "cpu-ms";r=1;t=3600')
    window.charge('cpu-ms', 1000)
    expect(read()).toBe('"requests";r=100;t=3600, "cpu-ms";r=0;t=3600')
  })

  it('have only integers that a structured field may have', () => {
    const { public: most } = createBudgets(
      readConfig({ RATE_LIMIT_PUBLIC: '1000000000', MAX_BODY_BYTES: '67108864' }, 256),
      new Metrics(),
    )
    for (const [digits] of most.policies.matchAll(/\d+/g)) expect(digits.length).toBeLessThanOrEqual(15)
  })
})

describe('the problem of a request beyond a budget', () => {
  it('names the resource, its limit and the end of the hour', () => {
    const window = new CostLimiter(new HourTable(10)).open('a', budget, NOON)
    window.charge('bytes', 100)
    const problem = costProblem(window.budget, window, window.usedUp()!, NOON + 1_800_000)
    expect(problem).toMatchObject({ type: 'rate-limited', retryAfterSeconds: 1800 })
    expect(problem.detail).toMatch(
      /^the limit of 100 bytes .* per hour .* ends at 2026-01-01T13:00:00Z, and an API key/,
    )
  })
})
