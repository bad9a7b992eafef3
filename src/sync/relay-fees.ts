/** What a unit of gas costs at most, in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Nodes take a transaction in the place of another only for a tenth more in both fees; an eighth is on the safe side. */
const RAISE = { numerator: 9n, denominator: 8n }

/**
 * Fees for the next blocks: the base fee may double before the transaction is too cheap.
 *
 * @param baseFeePerGas of the head
 * @returns undefined when the base fee alone is beyond the ceiling
 */
export function chooseFees(baseFeePerGas: bigint, priority: bigint, ceiling: bigint): Fees | undefined {
  if (baseFeePerGas > ceiling) return undefined
  const maxFeePerGas = min(2n * baseFeePerGas + priority, ceiling)
  // A fee of nothing is no fee: chains without any still want a transaction that pays something.
  const paid = maxFeePerGas === 0n ? min(1n, ceiling) : maxFeePerGas
  return { maxFeePerGas: paid, maxPriorityFeePerGas: min(priority, paid) }
}

/**
 * Fees with which a transaction takes the place of the last one with its nonce.
 *
 * @param now what would be chosen for a new one
 * @returns undefined when they would be beyond the ceiling
 */
export function raiseFees(last: Fees, now: Fees, ceiling: bigint): Fees | undefined {
  const maxFeePerGas = max(raised(last.maxFeePerGas), now.maxFeePerGas)
  const maxPriorityFeePerGas = max(raised(last.maxPriorityFeePerGas), now.maxPriorityFeePerGas)
  if (maxFeePerGas > ceiling) return undefined
  return { maxFeePerGas, maxPriorityFeePerGas: min(maxPriorityFeePerGas, maxFeePerGas) }
}

/** By more than nothing, whatever it was. */
function raised(fee: bigint): bigint {
  const { numerator, denominator } = RAISE
  return max((fee * numerator + denominator - 1n) / denominator, fee + 1n)
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
