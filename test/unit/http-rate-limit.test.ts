import { describe, expect, it } from 'vitest'
import { HourTable } from '../../src/base/hour-table.ts'
import type { WalletTierToken } from '../../src/config/sign-in.ts'
import {
  type LimitName,
  RateLimiter,
  rateLimitProblem,
  rateStatus,
  secondsUntil,
  takeOwnQuota,
  takeQuotas,
} from '../../src/http/access/rate-limit.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

describe('the hourly window', () => {
  it('begins with the first request of its subject and ends 3,600 s later', () => {
    const limiter = new RateLimiter(new HourTable(10))
    const window = limiter.open('a', NOON)
    expect(window.endSeconds).toBe(NOON / 1000 + 3600)
    takeOwnQuota(window, 3, 2)
    expect(limiter.open('a', NOON + 3_599_999)).toMatchObject({ used: 2, endSeconds: window.endSeconds })
    expect(limiter.open('a', NOON + 3_600_000)).toMatchObject({ used: 0, endSeconds: window.endSeconds + 3600 })
  })

  it('admits exactly the limit', () => {
    const window = new RateLimiter(new HourTable(10)).open('a', NOON)
    expect(Array.from({ length: 3 }, () => takeOwnQuota(window, 3, 2))).toEqual([2, 1, 0])
    expect(rateStatus(window, 3, NOON).remaining).toBe(0)
  })

  it('reports a full hour for a subject without a window, and does not begin one', () => {
    const table = new HourTable(10)
    expect(new RateLimiter(table).peek('a', NOON)).toBeUndefined()
    expect(rateStatus(undefined, 100, NOON + 999)).toEqual({
      limit: 100,
      remaining: 100,
      resetSeconds: NOON / 1000 + 3600,
    })
    expect(table.size).toBe(0)
  })

  it('does not return an expired window', () => {
    const limiter = new RateLimiter(new HourTable(10))
    limiter.open('a', NOON)
    expect(limiter.peek('a', NOON + 3_599_999)).toBeDefined()
    expect(limiter.peek('a', NOON + 3_600_000)).toBeUndefined()
  })

  it('never tells a client to retry too early', () => {
    for (const offset of [0, 1, 500, 999, 1000]) {
      const seconds = secondsUntil(NOON / 1000 + 3600, NOON + offset)
      expect(NOON + offset + seconds * 1000).toBeGreaterThanOrEqual(NOON + 3_600_000)
    }
    expect(secondsUntil(5, 10_000)).toBe(0)
  })
})

describe('the problem for a request over the limit', () => {
  it('says in its detail how long to wait and how to get more', () => {
    const { detail } = rateLimitProblem(100, 'public', 'answer')
    expect(detail).toBe(
      'the limit of 100 requests per hour is reached; Retry-After has the seconds to wait, ' +
        'and an API key (X-API-Key or Authorization: Bearer) raises the limit',
    )
  })

  it('names no header that is missing from a batch response', () => {
    expect(rateLimitProblem(100, 'public', 'item').detail).not.toContain('Retry-After')
    expect(rateLimitProblem(100, 'public', 'item').detail).toContain('X-RateLimit-Reset')
  })

  it('suggests no API key to a client that sent one', () => {
    expect(rateLimitProblem(1000, 'developer', 'answer').detail).not.toContain('API key')
  })

  it('names the setting of the tier, unless the key has a limit of its own', () => {
    const hintOf = (hasOwnLimit: boolean) =>
      rateLimitProblem(30, 'developer', 'answer', { hasOwnLimit }).invalidParts![0]!.hint
    expect(hintOf(false)).toContain('RATE_LIMIT_DEVELOPER')
    expect(hintOf(true)).not.toContain('RATE_LIMIT')
    expect(hintOf(true)).toContain('a limit of its own')
  })
})

describe('the problem for a wallet over the limit', () => {
  const problemOf = (name: LimitName, holders?: WalletTierToken) =>
    rateLimitProblem(1000, name, 'answer', { isWallet: true, signInPage: '/explore/account', holders })
  const hintOf = (name: LimitName, holders?: WalletTierToken) => problemOf(name, holders).invalidParts![0]!.hint

  it('names no command of the operator', () => {
    for (const tier of ['public', 'developer', 'internal'] as const) {
      expect(hintOf(tier)).toMatch(/^ask the operator of the service for a key with a higher limit/)
      expect(JSON.stringify(problemOf(tier))).not.toMatch(/trigpoint keys|RATE_LIMIT|X-API-Key/)
    }
    expect(hintOf('wallet-address')).toContain('RATE_LIMIT_WALLET_ADDRESS')
  })

  it('names what a wallet has to hold for a higher tier, unless it has that tier', () => {
    const holders = { tier: 'internal', chainId: 1, proof: { kind: 'token', token: '0x1', balance: 1n } } as const
    expect(hintOf('developer', holders)).toMatch(/^a wallet that holds the token .* tier internal .*ask the operator/)
    expect(hintOf('internal', holders)).not.toContain('holds')
  })
})

describe('quotas of an account and its address, if other nodes count too', () => {
  /** The requests of a subject, of which a number may be answered. The database answers when `answer` is called. */
  class FakeGrants {
    left: number
    readonly waiting: (() => void)[] = []
    readonly #asks: boolean

    constructor(left: number, asks = false) {
      this.left = left
      this.#asks = asks
    }

    take(requests: number): number | Promise<number> {
      const use = () => {
        const used = Math.min(this.left, requests)
        this.left -= used
        return used
      }
      return this.#asks ? new Promise((resolve) => this.waiting.push(() => resolve(use()))) : use()
    }

    giveBack(requests: number): void {
      this.left += requests
    }
  }
  const quota = (grants: FakeGrants) => ({ window: { used: 0, endSeconds: 0, grants }, limit: 1000 })

  // Regression: the second request got 429, although the first did not count in the end.
  it('do not reject a request because of others that their own address rejects', async () => {
    const account = new FakeGrants(3)
    const full = new FakeGrants(0, true)
    const free = new FakeGrants(100)
    const rejected = takeQuotas(quota(account), quota(full), 3)
    const granted = takeQuotas(quota(account), quota(free), 5)
    full.waiting[0]!()
    expect(await rejected).toBe(0)
    expect(await granted).toBe(3)
    expect([account.left, free.left]).toEqual([0, 97])
    expect(await takeQuotas(quota(account), quota(free), 1)).toBe(0)
  })

  it('wait for all requests whose address is being asked', async () => {
    const account = new FakeGrants(2)
    const addresses = [new FakeGrants(0, true), new FakeGrants(0, true)]
    const rejected = addresses.map((address) => takeQuotas(quota(account), quota(address), 1))
    const granted = takeQuotas(quota(account), quota(new FakeGrants(100)), 2)
    for (const { waiting } of addresses) waiting[0]!()
    expect(await Promise.all(rejected)).toEqual([0, 0])
    expect(await granted).toBe(2)
  })
})

describe('the memory of the limiter', () => {
  it('never exceeds its maximum of subjects, and evicts the oldest', () => {
    const table = new HourTable(3)
    const limiter = new RateLimiter(table)
    for (const subject of ['a', 'b', 'c', 'd']) takeOwnQuota(limiter.open(subject, NOON), 10, 1)
    expect(table.size).toBe(3)
    expect(limiter.peek('a', NOON)).toBeUndefined()
    expect(limiter.peek('d', NOON)?.used).toBe(1)
  })

  it('drops expired windows as new ones begin', () => {
    const table = new HourTable(1000)
    const limiter = new RateLimiter(table)
    for (let subject = 0; subject < 100; subject++) limiter.open(subject, NOON)
    for (let subject = 1000; subject < 1060; subject++) limiter.open(subject, NOON + 4_000_000)
    expect(table.size).toBe(60)
  })
})
