/** What a unit of gas costs at most, in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** What nobody may make us pay more than, in wei for a unit of gas. */
export interface FeeCeilings {
  readonly feePerGas: bigint
  /** The part that goes to whoever makes the block. It is what a node says, and unlike the base fee all of it is paid. */
  readonly priorityFeePerGas: bigint
}

/** Nodes take a transaction in the place of another only for a tenth more in both fees; an eighth is on the safe side. */
const RAISE = { numerator: 9n, denominator: 8n }

/**
 * Fees for the next blocks: the base fee may double before the transaction is too cheap.
 *
 * @param baseFeePerGas of the head
 * @param priority what a node asks for; of more than half of the ceiling the half is paid, so that it can be raised
 * @returns undefined when the base fee alone is beyond the ceiling
 */
export function chooseFees(baseFeePerGas: bigint, priority: bigint, ceilings: FeeCeilings): Fees | undefined {
  const ceiling = ceilings.feePerGas
  if (baseFeePerGas > ceiling) return undefined
  const believed = min(priority, ceilings.priorityFeePerGas / 2n)
  const maxFeePerGas = min(2n * baseFeePerGas + believed, ceiling)
  // A fee of nothing is no fee: chains without any still want a transaction that pays something.
  const paid = maxFeePerGas === 0n ? min(1n, ceiling) : maxFeePerGas
  return { maxFeePerGas: paid, maxPriorityFeePerGas: min(believed, paid) }
}

/**
 * Fees with which a transaction takes the place of the last one with its nonce.
 *
 * @param now what would be chosen for a new one
 * @returns undefined when they would be beyond a ceiling
 */
export function raiseFees(last: Fees, now: Fees, ceilings: FeeCeilings): Fees | undefined {
  const maxFeePerGas = max(raised(last.maxFeePerGas), now.maxFeePerGas)
  const maxPriorityFeePerGas = min(max(raised(last.maxPriorityFeePerGas), now.maxPriorityFeePerGas), maxFeePerGas)
  const isBeyond = maxFeePerGas > ceilings.feePerGas || maxPriorityFeePerGas > ceilings.priorityFeePerGas
  return isBeyond ? undefined : { maxFeePerGas, maxPriorityFeePerGas }
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
