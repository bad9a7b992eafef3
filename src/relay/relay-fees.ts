/** The most that a unit of gas may cost, in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Upper limits of what we pay, in wei per unit of gas. */
export interface FeeCeilings {
  readonly feePerGas: bigint
  /** Limit of the part that goes to the block producer. A node proposes it, and unlike the base fee it is paid in full. */
  readonly priorityFeePerGas: bigint
}

/** Nodes accept a replacement transaction only if both fees rise by a tenth; an eighth leaves a margin. */
const RAISE_FACTOR = { numerator: 9n, denominator: 8n }

/**
 * Chooses fees for the next blocks. The base fee may double before the transaction is too cheap.
 *
 * @param baseFeePerGas base fee of the head
 * @param priority priority fee that a node proposes; at most half of the ceiling is used, so that it can be raised later
 * @returns undefined when the base fee already exceeds the ceiling
 */
export function chooseFees(baseFeePerGas: bigint, priority: bigint, ceilings: FeeCeilings): Fees | undefined {
  const ceiling = ceilings.feePerGas
  if (baseFeePerGas > ceiling) return undefined
  const priorityFee = min(priority, ceilings.priorityFeePerGas / 2n)
  const maxFeePerGas = min(2n * baseFeePerGas + priorityFee, ceiling)
  // Even chains without fees reject a transaction whose fee is 0, so pay at least 1 wei.
  const paid = maxFeePerGas === 0n ? min(1n, ceiling) : maxFeePerGas
  return { maxFeePerGas: paid, maxPriorityFeePerGas: min(priorityFee, paid) }
}

/**
 * Computes fees with which a transaction replaces the last one with its nonce.
 *
 * @param now fees that would be chosen for a new transaction
 * @returns undefined when they would exceed a ceiling
 */
export function raiseFees(last: Fees, now: Fees, ceilings: FeeCeilings): Fees | undefined {
  const maxFeePerGas = max(raiseFee(last.maxFeePerGas), now.maxFeePerGas)
  const maxPriorityFeePerGas = min(max(raiseFee(last.maxPriorityFeePerGas), now.maxPriorityFeePerGas), maxFeePerGas)
  const isBeyond = maxFeePerGas > ceilings.feePerGas || maxPriorityFeePerGas > ceilings.priorityFeePerGas
  return isBeyond ? undefined : { maxFeePerGas, maxPriorityFeePerGas }
}

/** Raises a fee by an eighth, and by at least 1 wei. */
function raiseFee(fee: bigint): bigint {
  const { numerator, denominator } = RAISE_FACTOR
  return max((fee * numerator + denominator - 1n) / denominator, fee + 1n)
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
