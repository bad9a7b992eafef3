import { describe, expect, it } from 'vitest'
import { countWork, remainingWork, spendWork, Work, WorkLimitError, workSoFar } from '../../src/base/work.ts'

describe('the work of a request', () => {
  it('has no limit outside of a count', () => {
    spendWork(1e9)
    expect(remainingWork()).toBe(Number.POSITIVE_INFINITY)
  })

  it('is counted up to its limit, and names both when it exceeds it', () => {
    const work = new Work(10)
    const result = countWork(work, () => {
      spendWork(9.5)
      expect(remainingWork()).toBe(0.5)
      spendWork(0.5)
      return workSoFar()
    })
    expect([result, work.units]).toEqual([10, 10])
    expect(() => countWork(work, () => spendWork(2.5))).toThrow(
      new WorkLimitError('12 units of work were counted, and the limit is 10'),
    )
  })

  it('of a count within another counts for both, also when it exceeds its limit', () => {
    const [outer, inner] = [new Work(100), new Work(1)]
    countWork(outer, () => {
      expect(() => countWork(inner, () => spendWork(3))).toThrow(WorkLimitError)
      spendWork(4)
    })
    expect([outer.units, inner.units]).toEqual([7, 3])
  })

  it('is counted once if a count contains another of the same request', () => {
    const work = new Work(10)
    countWork(work, () => {
      countWork(work, () => spendWork(3))
      spendWork(1)
    })
    expect(work.units).toBe(4)
  })
})
