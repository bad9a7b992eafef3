import { relayCeilings } from '../attest/relay-transaction.ts'
import type { SubmissionConfig } from '../config/submission.ts'
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
  /** Limit of the part that goes to the block producer. A node proposes it, and unlike `maxFeePerGas` it is paid in full. */
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
 * @param current fees that would be chosen for a new transaction now
 * @returns undefined when they would exceed a ceiling
 */
export function raiseFees(last: Fees, current: Fees, ceilings: FeeCeilings): Fees | undefined {
  const maxFeePerGas = max(raiseFee(last.maxFeePerGas), current.maxFeePerGas)
  const maxPriorityFeePerGas = min(max(raiseFee(last.maxPriorityFeePerGas), current.maxPriorityFeePerGas), maxFeePerGas)
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
  /** Index of the endpoint in the RPC list. */
  readonly endpointIndex: number
  readonly head: ChainHead
  /** Number of the newest final block. */
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
export class RelaySender {
  readonly #chainId: number
  readonly #sign: RelaySenderParts['sign']
  readonly #step: RelaySenderParts['step']
  readonly #settings: SubmissionConfig
  readonly #note: RelaySenderParts['note']
  readonly #ceilings: FeeCeilings

  constructor({ chainId, sign, step, settings, note }: RelaySenderParts) {
    this.#chainId = chainId
    this.#sign = sign
    this.#step = step
    this.#settings = settings
    this.#note = note
    this.#ceilings = relayCeilings(settings)
  }

  /** Stores a transaction, then sends it. Returns false when another relay already took the nonce or one of the submissions. */
  async begin(
    snapshot: ChainSnapshot,
    nonce: number,
    ids: readonly string[],
    items: readonly AttestationPayload[],
    gas: number,
    fees: Fees,
  ): Promise<RelayState | false> {
    const attempt = await this.#makeAttempt(snapshot, nonce, items, gas, fees)
    if ('state' in attempt) return attempt
    if (!(await this.#step({ step: 'begin', nonce, ids, attempt }))) return false
    return await this.#send(snapshot.chain, attempt.raw)
  }

  /** Makes a signed transaction. Returns the state of the relay if the signer rejects it. */
  async #makeAttempt(
    { head }: ChainSnapshot,
    nonce: number,
    items: readonly AttestationPayload[],
    gas: number,
    { maxFeePerGas, maxPriorityFeePerGas }: Fees,
  ): Promise<RelayAttempt | RelayState> {
    const payload = { chainId: this.#chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, items }
    const signed = await this.#sign({ kind: 'relay-transaction', ...payload })
    if (!signed.ok) return waiting(signed.problem.detail)
    const { raw, hash } = signed
    return { hash, raw, gas, maxFeePerGas, maxPriorityFeePerGas, sentBlock: head.number }
  }

  /** Returns the fees for a new transaction; undefined when the base fee exceeds the ceiling. */
  async readFees({ chain, head }: ChainSnapshot): Promise<Fees | undefined> {
    return chooseFees(head.baseFeePerGas, await chain.priorityFee(), this.#ceilings)
  }

  /** Returns the state of a relay that waits because the chain's base fee is above the ceiling. */
  waitForLowerFees({ head }: ChainSnapshot): RelayState {
    return waiting(
      `the base fee is ${head.baseFeePerGas} wei per gas, above the ceiling of ${this.#ceilings.feePerGas} wei`,
    )
  }

  /** Sends the newest signed form of a transaction again if the node does not have it. */
  async resend({ chain }: ChainSnapshot, { attempts }: Pick<SentTransaction, 'attempts'>): Promise<RelayState> {
    const { hash, raw } = attempts.at(-1)!
    if (await chain.hasTransaction(hash)) return READY
    return await this.#send(chain, raw)
  }

  async #send(chain: RelayChain, raw: Hex): Promise<RelayState> {
    const objection = await chain.send(raw)
    return objection === undefined ? READY : waiting(objection)
  }

  /** Replaces a transaction by one with the same nonce and attestations but higher fees. */
  async raise(snapshot: ChainSnapshot, open: SentTransaction): Promise<RelayState> {
    const { nonce, attempts, items } = open
    const last = attempts.at(-1)!
    const current = await this.readFees(snapshot)
    const fees = current && raiseFees(last, current, this.#ceilings)
    if (fees === undefined) {
      await this.resend(snapshot, open)
      if (current === undefined) return this.waitForLowerFees(snapshot)
      const { feePerGas, priorityFeePerGas } = this.#ceilings
      return waiting(
        `the fees of ${last.hash} cannot be raised: the ceilings are ${feePerGas} wei per gas and ${priorityFeePerGas} wei of priority fee`,
      )
    }
    const funds = await this.checkFunds(snapshot.chain, fees.maxFeePerGas * BigInt(last.gas))
    if (funds.state !== 'ready') {
      await this.resend(snapshot, open) // the pool may have dropped the last transaction
      return funds
    }
    const attempt = await this.#makeAttempt(snapshot, nonce, items, last.gas, fees)
    if ('state' in attempt) return attempt
    if (!(await this.#step({ step: 'raise', nonce, attempts: attempts.length, attempt }))) return READY // another relay was first
    this.#note('fee raised', {
      chainId: this.#chainId,
      nonce,
      hash: attempt.hash,
      maxFeePerGas: String(fees.maxFeePerGas),
    })
    return await this.#send(snapshot.chain, attempt.raw)
  }

  /** Checks that the account can pay `costWei` and keep `minBalanceEther`. Returns `ready` or `unfunded`. */
  async checkFunds(chain: RelayChain, costWei: bigint): Promise<RelayState> {
    const minBalanceWei = BigInt(Math.round(this.#settings.minBalanceEther * 1e9)) * GWEI
    const balance = await chain.balance()
    if (balance >= minBalanceWei + costWei) return READY
    return { state: 'unfunded', reason: `the account has ${balance} wei and needs ${minBalanceWei + costWei}` }
  }
}

/** Returns the state of a relay that cannot continue for now. */
export function waiting(reason: string): RelayState {
  return { state: 'waiting', reason }
}
