import { describe, expect, it } from 'vitest'
import { chooseFees, raiseFees } from '../../src/relay/relay-sender.ts'

const GWEI = 10n ** 9n
const CEILING = 100n * GWEI
const CEILINGS = { feePerGas: CEILING, priorityFeePerGas: 4n * GWEI }

describe('relay fees', () => {
  it('leave the base fee room to double', () => {
    expect(chooseFees(3n * GWEI, GWEI, CEILINGS)).toEqual({ maxFeePerGas: 7n * GWEI, maxPriorityFeePerGas: GWEI })
  })

  it('stay below the ceiling, and are undefined above it', () => {
    expect(chooseFees(80n * GWEI, GWEI, CEILINGS)).toEqual({ maxFeePerGas: CEILING, maxPriorityFeePerGas: GWEI })
    expect(chooseFees(CEILING, GWEI, CEILINGS)).toEqual({ maxFeePerGas: CEILING, maxPriorityFeePerGas: GWEI })
    expect(chooseFees(CEILING + 1n, 0n, CEILINGS)).toBeUndefined()
  })

  it('never exceed the ceiling of the priority fee, whatever a node reports and however often they are raised', () => {
    // The whole priority fee is paid: at 16 million gas, the ceiling of the total fee would cost 1.6 units of the chain's
    // currency per transaction.
    let fees = chooseFees(GWEI, 90n * GWEI, CEILINGS)
    expect(fees).toEqual({ maxFeePerGas: 4n * GWEI, maxPriorityFeePerGas: 2n * GWEI })
    let raises = 0
    for (; fees !== undefined; raises++) {
      expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(4n * GWEI)
      fees = raiseFees(fees, chooseFees(GWEI, 90n * GWEI, CEILINGS)!, CEILINGS)
    }
    // 2 × 1.125⁵ = 3.6; one more raise would give 4.05.
    expect(raises).toBe(6)
  })

  it('include a total fee above zero where a chain asks for nothing', () => {
    expect(chooseFees(0n, 0n, CEILINGS)).toEqual({ maxFeePerGas: 1n, maxPriorityFeePerGas: 0n })
  })

  it('are both raised by at least an eighth, however small', () => {
    const high = { feePerGas: CEILING, priorityFeePerGas: CEILING }
    for (const last of [0n, 1n, 7n, 8n, 9n, GWEI, 12_345_678_901n]) {
      const fees = { maxFeePerGas: last + 1n, maxPriorityFeePerGas: last }
      const raised = raiseFees(fees, { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }, high)!
      for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(raised[name]).toBeGreaterThan(fees[name])
        // The rule by which geth accepts a replacement transaction, with 12.5 % instead of its 10 %.
        expect(raised[name] * 1000n).toBeGreaterThanOrEqual(fees[name] * 1125n)
      }
      expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
    }
  })

  it('are raised to what a new transaction would pay, but not above the ceiling', () => {
    const last = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI }
    const current = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 2n * GWEI }
    expect(raiseFees(last, current, CEILINGS)).toEqual(current)
    expect(raiseFees({ ...last, maxFeePerGas: 90n * GWEI }, current, CEILINGS)).toBeUndefined()
  })
})
