import { describe, expect, it } from 'vitest'
import {
  RateLimiter,
  rateLimitProblem,
  rateStatus,
  secondsUntil,
  takeOwnQuota,
} from '../../src/http/access/rate-limit.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

describe('the hourly window', () => {
  it('begins with the first request of its subject and ends 3,600 s later', () => {
    const limiter = new RateLimiter(10)
    const window = limiter.open('a', NOON)
    expect(window.endSeconds).toBe(NOON / 1000 + 3600)
    expect(limiter.open('a', NOON + 3_599_999)).toBe(window)
    expect(limiter.open('a', NOON + 3_600_000)).not.toBe(window)
  })

  it('admits exactly the limit', () => {
    const window = new RateLimiter(10).open('a', NOON)
    expect(Array.from({ length: 3 }, () => takeOwnQuota(window, 3, 2))).toEqual([2, 1, 0])
    expect(rateStatus(window, 3, NOON).remaining).toBe(0)
  })

  it('reports a full hour for a subject without a window, and does not begin one', () => {
    const limiter = new RateLimiter(10)
    expect(limiter.peek('a', NOON)).toBeUndefined()
    expect(rateStatus(undefined, 100, NOON + 999)).toEqual({
      limit: 100,
      remaining: 100,
      resetSeconds: NOON / 1000 + 3600,
    })
    expect(limiter.size).toBe(0)
  })

  it('does not return an expired window', () => {
    const limiter = new RateLimiter(10)
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
      rateLimitProblem(30, 'developer', 'answer', hasOwnLimit).invalidParts![0]!.hint
    expect(hintOf(false)).toContain('RATE_LIMIT_DEVELOPER')
    expect(hintOf(true)).not.toContain('RATE_LIMIT')
    expect(hintOf(true)).toContain('a limit of its own')
  })
})

describe('the memory of the limiter', () => {
  it('never exceeds its maximum of subjects, and evicts the oldest', () => {
    const limiter = new RateLimiter(3)
    for (const subject of ['a', 'b', 'c', 'd']) takeOwnQuota(limiter.open(subject, NOON), 10, 1)
    expect(limiter.size).toBe(3)
    expect(limiter.peek('a', NOON)).toBeUndefined()
    expect(limiter.peek('d', NOON)?.used).toBe(1)
  })

  it('drops expired windows as new ones begin', () => {
    const limiter = new RateLimiter(1000)
    for (let subject = 0; subject < 100; subject++) limiter.open(subject, NOON)
    for (let subject = 1000; subject < 1060; subject++) limiter.open(subject, NOON + 4_000_000)
    expect(limiter.size).toBe(60)
  })
})
