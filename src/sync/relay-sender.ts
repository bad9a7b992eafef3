import { relayCeilings } from '../attest/relay-transaction.ts'
import type { SubmissionConfig } from '../config.ts'
import type { AttestationPayload, Hex } from '../messages.ts'
import type {
  OpenTransaction,
  RelayAttempt,
  RelayFacts,
  RelayPayload,
  RelaySigningResult,
  RelayState,
  RelayStep,
} from '../relay-messages.ts'
import type { ChainHead, RelayChain } from './relay-chain.ts'
import { chooseFees, type Fees, raiseFees } from './relay-fees.ts'

export type Sent = Extract<OpenTransaction, { state: 'sent' }>

/** What one look at a chain found. */
export interface Scene {
  readonly chain: RelayChain
  /** Of the endpoint. */
  readonly place: number
  readonly head: ChainHead
  readonly finalized: number
  /** Nonces that the account has used at the head. */
  readonly used: number
}

export interface RelaySenderParts {
  readonly chainId: number
  readonly sign: (payload: RelayPayload) => Promise<RelaySigningResult>
  readonly step: (change: RelayStep) => Promise<boolean>
  readonly settings: SubmissionConfig
  readonly note: (event: string, facts: RelayFacts) => void
}

export const READY: RelayState = { state: 'ready' }
const GWEI = 10n ** 9n

/** The half of the relay that spends money: every transaction is stored before a node sees it. */
export function createRelaySender({ chainId, sign, step, settings, note }: RelaySenderParts) {
  const ceilings = relayCeilings(settings)
  return { begin, raise, resend, feesNow, tooDear, fundsFor }

  /** Stores a transaction, then sends it. @returns false when the nonce or one of the submissions is another's */
  async function begin(
    scene: Scene,
    nonce: number,
    ids: readonly string[],
    items: readonly AttestationPayload[],
    gas: number,
    fees: Fees,
  ): Promise<RelayState | false> {
    const attempt = await makeAttempt(scene, nonce, items, gas, fees)
    if ('state' in attempt) return attempt
    if (!(await step({ step: 'begin', nonce, ids, attempt }))) return false
    return await send(scene.chain, attempt.raw)
  }

  async function makeAttempt(
    { head }: Scene,
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

  async function feesNow({ chain, head }: Scene): Promise<Fees | undefined> {
    return chooseFees(head.baseFeePerGas, await chain.priorityFee(), ceilings)
  }

  function tooDear({ head }: Scene): RelayState {
    return waiting(`gas costs ${head.baseFeePerGas} wei a unit, and the ceiling is ${ceilings.feePerGas}`)
  }

  async function resend({ chain }: Scene, { attempts }: Pick<Sent, 'attempts'>): Promise<RelayState> {
    const { hash, raw } = attempts.at(-1)!
    if (await chain.knows(hash)) return READY
    return await send(chain, raw)
  }

  async function send(chain: RelayChain, raw: Hex): Promise<RelayState> {
    const objection = await chain.send(raw)
    return objection === undefined ? READY : waiting(objection)
  }

  /** The same attestations with the same nonce, for more. */
  async function raise(scene: Scene, open: Sent): Promise<RelayState> {
    const { nonce, attempts, items } = open
    const last = attempts.at(-1)!
    const now = await feesNow(scene)
    const fees = now && raiseFees(last, now, ceilings)
    if (fees === undefined) {
      await resend(scene, open)
      if (now === undefined) return tooDear(scene)
      const { feePerGas, priorityFeePerGas } = ceilings
      return waiting(
        `no fee above that of ${last.hash}: the ceiling is ${feePerGas} wei, ${priorityFeePerGas} for the tip`,
      )
    }
    const funds = await fundsFor(scene.chain, fees.maxFeePerGas * BigInt(last.gas))
    if (funds.state !== 'ready') {
      await resend(scene, open) // what was paid for may be lost from the pool all the same
      return funds
    }
    const attempt = await makeAttempt(scene, nonce, items, last.gas, fees)
    if ('state' in attempt) return attempt
    if (!(await step({ step: 'raise', nonce, attempts: attempts.length, attempt }))) return READY // another relay was first
    note('fee raised', { chainId, nonce, hash: attempt.hash, maxFeePerGas: String(fees.maxFeePerGas) })
    return await send(scene.chain, attempt.raw)
  }

  async function fundsFor(chain: RelayChain, costWei: bigint): Promise<RelayState> {
    const floor = BigInt(Math.round(settings.minBalanceEther * 1e9)) * GWEI
    const balance = await chain.balance()
    if (balance >= floor + costWei) return READY
    return { state: 'unfunded', reason: `the account has ${balance} wei and needs ${floor + costWei}` }
  }
}

/** Why nothing goes on for now. */
export function waiting(reason: string): RelayState {
  return { state: 'waiting', reason }
}
