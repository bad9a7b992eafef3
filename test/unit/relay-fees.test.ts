import { describe, expect, it } from 'vitest'
import { chooseFees, raiseFees } from '../../src/sync/relay-fees.ts'

const GWEI = 10n ** 9n
const CEILING = 100n * GWEI

describe('fees of the relay', () => {
  it('leave the base fee room to double', () => {
    expect(chooseFees(3n * GWEI, GWEI, CEILING)).toEqual({ maxFeePerGas: 7n * GWEI, maxPriorityFeePerGas: GWEI })
  })

  it('stay below the ceiling, and are none above it', () => {
    expect(chooseFees(80n * GWEI, GWEI, CEILING)).toEqual({ maxFeePerGas: CEILING, maxPriorityFeePerGas: GWEI })
    expect(chooseFees(CEILING, 200n * GWEI, CEILING)).toEqual({ maxFeePerGas: CEILING, maxPriorityFeePerGas: CEILING })
    expect(chooseFees(CEILING + 1n, 0n, CEILING)).toBeUndefined()
  })

  it('are something where a chain asks for nothing', () => {
    expect(chooseFees(0n, 0n, CEILING)).toEqual({ maxFeePerGas: 1n, maxPriorityFeePerGas: 0n })
  })

  it('rise by an eighth at least in both, however small', () => {
    for (const last of [0n, 1n, 7n, 8n, 9n, GWEI, 12_345_678_901n]) {
      const fees = { maxFeePerGas: last + 1n, maxPriorityFeePerGas: last }
      const raised = raiseFees(fees, { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }, CEILING)!
      for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(raised[name]).toBeGreaterThan(fees[name])
        // geth's own test for a transaction in the place of another, with 12.5 % in the place of its 10 %.
        expect(raised[name] * 1000n).toBeGreaterThanOrEqual(fees[name] * 1125n)
      }
      expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
    }
  })

  it('rise to what a new transaction would pay, and not beyond the ceiling', () => {
    const last = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI }
    const now = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 2n * GWEI }
    expect(raiseFees(last, now, CEILING)).toEqual(now)
    expect(raiseFees({ ...last, maxFeePerGas: 90n * GWEI }, now, CEILING)).toBeUndefined()
  })
})
