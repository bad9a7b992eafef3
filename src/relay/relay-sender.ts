import { relayCeilings } from '../attest/relay-transaction.ts'
import type { SubmissionConfig } from '../config/config.ts'
import type { OpenTransaction, RelayAttempt, RelayFacts, RelayState, RelayStep } from '../wire/relay-messages.ts'
import type { AttestationPayload, RelayPayload, RelaySigningResult } from '../wire/signing-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { ChainHead, RelayChain } from './relay-chain.ts'

/** The most that a unit of gas may cost, in wei. */
interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Upper limits of what we pay, in wei per unit of gas. */
interface FeeCeilings {
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

export type SentTransaction = Extract<OpenTransaction, { state: 'sent' }>

/** The chain as one endpoint shows it during one tick. */
export interface ChainSnapshot {
  readonly chain: RelayChain
  /** Number of the endpoint. */
  readonly endpointIndex: number
  readonly head: ChainHead
  readonly finalized: number
  /** Number of nonces that the account has used at the head. */
  readonly usedNonces: number
}

interface RelaySenderParts {
  readonly chainId: number
  readonly sign: (payload: RelayPayload) => Promise<RelaySigningResult>
  readonly step: (change: RelayStep) => Promise<boolean>
  readonly settings: SubmissionConfig
  readonly note: (event: string, facts: RelayFacts) => void
}

export const READY: RelayState = { state: 'ready' }
const GWEI = 10n ** 9n

/** The half of the relay that spends money. Every transaction is stored before a node sees it. */
export function createRelaySender({ chainId, sign, step, settings, note }: RelaySenderParts) {
  const ceilings = relayCeilings(settings)
  return { begin, raise, resend, readFees, waitForLowerFees, checkFunds }

  /** Stores a transaction, then sends it. Returns false when another relay already took the nonce or one of the submissions. */
  async function begin(
    snapshot: ChainSnapshot,
    nonce: number,
    ids: readonly string[],
    items: readonly AttestationPayload[],
    gas: number,
    fees: Fees,
  ): Promise<RelayState | false> {
    const attempt = await makeAttempt(snapshot, nonce, items, gas, fees)
    if ('state' in attempt) return attempt
    if (!(await step({ step: 'begin', nonce, ids, attempt }))) return false
    return await send(snapshot.chain, attempt.raw)
  }

  async function makeAttempt(
    { head }: ChainSnapshot,
    nonce: number,
    items: readonly AttestationPayload[],
    gas: number,
    { maxFeePerGas, maxPriorityFeePerGas }: Fees,
  ): Promise<RelayAttempt | RelayState> {
    const payload = { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, items }
    const signed = await sign({ kind: 'relay-transaction', ...payload })
    if (!signed.ok) return waiting(signed.problem.detail)
    const { raw, hash } = signed
    return { hash, raw, gas, maxFeePerGas, maxPriorityFeePerGas, sentBlock: head.number }
  }

  async function readFees({ chain, head }: ChainSnapshot): Promise<Fees | undefined> {
    return chooseFees(head.baseFeePerGas, await chain.priorityFee(), ceilings)
  }

  function waitForLowerFees({ head }: ChainSnapshot): RelayState {
    return waiting(`the base fee is ${head.baseFeePerGas} wei per gas, above the ceiling of ${ceilings.feePerGas} wei`)
  }

  async function resend(
    { chain }: ChainSnapshot,
    { attempts }: Pick<SentTransaction, 'attempts'>,
  ): Promise<RelayState> {
    const { hash, raw } = attempts.at(-1)!
    if (await chain.hasTransaction(hash)) return READY
    return await send(chain, raw)
  }

  async function send(chain: RelayChain, raw: Hex): Promise<RelayState> {
    const objection = await chain.send(raw)
    return objection === undefined ? READY : waiting(objection)
  }

  /** Replaces a transaction by one with the same nonce and attestations but higher fees. */
  async function raise(snapshot: ChainSnapshot, open: SentTransaction): Promise<RelayState> {
    const { nonce, attempts, items } = open
    const last = attempts.at(-1)!
    const now = await readFees(snapshot)
    const fees = now && raiseFees(last, now, ceilings)
    if (fees === undefined) {
      await resend(snapshot, open)
      if (now === undefined) return waitForLowerFees(snapshot)
      const { feePerGas, priorityFeePerGas } = ceilings
      return waiting(
        `the fees of ${last.hash} cannot be raised: the ceilings are ${feePerGas} wei per gas and ${priorityFeePerGas} wei of priority fee`,
      )
    }
    const funds = await checkFunds(snapshot.chain, fees.maxFeePerGas * BigInt(last.gas))
    if (funds.state !== 'ready') {
      await resend(snapshot, open) // the pool may have dropped the last transaction
      return funds
    }
    const attempt = await makeAttempt(snapshot, nonce, items, last.gas, fees)
    if ('state' in attempt) return attempt
    if (!(await step({ step: 'raise', nonce, attempts: attempts.length, attempt }))) return READY // another relay was first
    note('fee raised', { chainId, nonce, hash: attempt.hash, maxFeePerGas: String(fees.maxFeePerGas) })
    return await send(snapshot.chain, attempt.raw)
  }

  async function checkFunds(chain: RelayChain, costWei: bigint): Promise<RelayState> {
    const floor = BigInt(Math.round(settings.minBalanceEther * 1e9)) * GWEI
    const balance = await chain.balance()
    if (balance >= floor + costWei) return READY
    return { state: 'unfunded', reason: `the account has ${balance} wei and needs ${floor + costWei}` }
  }
}

/** Returns the state of a relay that cannot continue for now. */
export function waiting(reason: string): RelayState {
  return { state: 'waiting', reason }
}
