import { describe, expect, it } from 'vitest'
import { limitStates, readLimits } from '../../web/explorer/account/limits.ts'
import { usageByDay } from '../../web/explorer/account/usage-days.ts'
import { nextMinute } from '../../web/explorer/format.ts'

describe('the limits of the account page', () => {
  it('are those of the headers that docs/limits.md shows', () => {
    const policy =
      '"requests";q=100;w=3600, "bytes";q=1048576000;qu="content-bytes";w=3600, "vertices";q=1000000;qu="vertices";w=3600, "cpu-ms";q=1800000;qu="cpu-ms";w=3600'
    const state = '"requests";r=99;t=3600, "cpu-ms";r=1799998;t=3500'
    const limits = readLimits(new Headers({ 'ratelimit-policy': policy, ratelimit: state }))
    expect(Object.fromEntries(limits!.quotas)).toEqual({
      requests: 100,
      bytes: 1_048_576_000,
      vertices: 1_000_000,
      'cpu-ms': 1_800_000,
    })
    expect(Object.fromEntries(limits!.left)).toEqual({
      requests: { remaining: 99, resetSeconds: 3600 },
      'cpu-ms': { remaining: 1_799_998, resetSeconds: 3500 },
    })
  })

  // Regression: the limits of the address were not shown, and its used-up budget was taken for one of the account.
  it('are those of the account, then those of its network address', () => {
    const headers = new Headers({
      'ratelimit-policy':
        '"requests";q=1000;w=3600, "bytes";q=100;w=3600, "address-requests";q=10000;w=3600, "address-bytes";q=1000;w=3600, "address-vertices";q=50;w=3600',
      ratelimit: '"address-requests";r=20;t=900, "address-bytes";r=0;t=800',
    })
    expect(limitStates(readLimits(headers)!, ['requests', 'bytes', 'vertices'])).toEqual([
      { resource: 'requests', isOfAddress: false, quota: 1000, share: undefined },
      { resource: 'bytes', isOfAddress: false, quota: 100, share: undefined },
      { resource: 'requests', isOfAddress: true, quota: 10_000, share: 0.002, remaining: 20, resetSeconds: 900 },
      { resource: 'bytes', isOfAddress: true, quota: 1000, share: 0, remaining: 0, resetSeconds: 800 },
      { resource: 'vertices', isOfAddress: true, quota: 50, share: 0 },
    ])
  })

  it('are at least the share of the budget that is reported', () => {
    const headers = new Headers({
      'ratelimit-policy': '"requests";q=100;w=3600, "bytes";q=100;w=3600, "vertices";q=50;w=3600',
      ratelimit: '"requests";r=99;t=900, "vertices";r=10;t=800',
    })
    expect(limitStates(readLimits(headers)!, ['bytes', 'vertices']).map(({ share }) => share)).toEqual([0.2, 0.2])
  })

  it('are undefined without the headers', () => {
    expect(readLimits(new Headers({ ratelimit: '"requests";r=99;t=3600' }))).toBeUndefined()
  })
})

describe('the time of the next try', () => {
  it.each([
    ['10:42:00.000', '10:42:00.000'],
    ['10:42:00.001', '10:43:00.000'],
    ['23:59:59.000', '00:00:00.000'],
  ])('is a full minute that is not earlier: %s is shown as %s', (time, shown) => {
    expect(nextMinute(Date.parse(`2030-01-01T${time}Z`)).toISOString()).toContain(`T${shown}Z`)
  })
})

describe('usage by day', () => {
  const row = (day: string, kind: string, requests: number) => {
    return { day, kind, requests, operations: 0, bytes: 0, vertices: 0, cpuMs: 0, errors4xx: 0, errors5xx: 0 }
  }

  it('has all days of the range, over the ends of months', () => {
    const { days, kinds, requests } = usageByDay({
      from: '2028-02-28',
      to: '2028-03-01',
      usage: [row('2028-02-29', 'area', 3), row('2028-03-01', 'area', 1), row('2028-03-01', 'batch', 5)],
    })
    expect(days).toEqual(['2028-02-28', '2028-02-29', '2028-03-01'])
    expect(kinds).toEqual(['batch', 'area'])
    expect(requests).toEqual([
      [0, 0],
      [0, 3],
      [5, 1],
    ])
  })

  it('puts the kinds with the fewest requests together', () => {
    const usage = ['a', 'b', 'c', 'd', 'e', 'f'].map((kind, index) => row('2030-01-01', kind, 10 - index))
    const { kinds, requests } = usageByDay({ from: '2030-01-01', to: '2030-01-01', usage })
    expect(kinds).toEqual(['a', 'b', 'c', 'd', 'further kinds'])
    expect(requests).toEqual([[10, 9, 8, 7, 6 + 5]])
  })
})
