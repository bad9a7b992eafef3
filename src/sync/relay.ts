import type { Chain } from '../attest/chains.ts'
import type { SubmissionConfig } from '../config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { type Hex, MAX_SEQUENCE } from '../messages.ts'
import type {
  RelayFacts,
  RelayPayload,
  RelaySigningResult,
  RelayState,
  RelayStep,
  RelayWork,
} from '../relay-messages.ts'
import type { RecordStore } from '../store-messages.ts'
import { chooseBatch } from './relay-batch.ts'
import { createRelayChain, type RelayChain } from './relay-chain.ts'
import { createRelaySender, READY, type Scene, type Sent, waiting } from './relay-sender.ts'
import { RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

export interface RelayParts {
  readonly chain: Pick<Chain, 'id' | 'easAddress'>
  /** Our account, lower case. */
  readonly sender: Hex
  readonly rpcs: Pick<RpcList, 'use'>
  readonly store: Pick<RecordStore, 'relayWork' | 'relayStep'>
  readonly sign: (payload: RelayPayload) => Promise<RelaySigningResult>
  readonly keccak: Keccak
  readonly settings: SubmissionConfig
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** What an operator wants to read later. */
  readonly note: (event: string, facts: RelayFacts) => void
}

/** Puts the submissions of one chain into its blocks. */
export interface Relay {
  /**
   * Looks once at what is stored and at the chain, and does what follows from both. Nothing is remembered that the store does
   * not know: a relay may end at any moment, and another one goes on.
   *
   * @throws {StoreFault}
   */
  tick(): Promise<RelayState>
}

/** How often a relay without work looks whether the account still has money, and forgets what is over. */
const CHECK_MS = 60_000
/** How often it looks at blocks that have to become final. */
const CALM_MS = 4000
/** Ticks after which a head below a block that was seen counts as a reorg, not as a node that lags. */
const PATIENT_TICKS = 3

/**
 * The relay of one chain. One transaction is on its way at a time, of up to 40 attestations by `multiAttest`.
 *
 * A nonce belongs to its submissions from the moment both are stored, before anything is sent: whatever is sent again for it,
 * and however often, attests the same, once. It is given up only when the chain shows, in a block that stays, that another
 * transaction used it or that ours reverted.
 */
export function createRelay(parts: RelayParts): Relay {
  const { rpcs, store, sender, settings, nowMs, note } = parts
  const { id: chainId, easAddress } = parts.chain
  const transactions = createRelaySender({ chainId, sign: parts.sign, step, settings, note })
  let state: RelayState = { state: 'unknown', reason: 'the chain was not asked yet' }
  let lookAtMs = Number.NEGATIVE_INFINITY
  let ticksBehind = 0
  return { tick }

  async function tick(): Promise<RelayState> {
    const work = await readWork()
    const isCalm = work.queued.length === 0 && work.open.every((open) => open.state !== 'sent')
    const isIdle = isCalm && work.open.length === 0
    if (isCalm && nowMs() < lookAtMs) return state
    lookAtMs = nowMs() + (isIdle ? CHECK_MS : CALM_MS)
    try {
      state = await rpcs.use(async (rpc) => {
        const chain = createRelayChain(rpc, { chainId, sender, easAddress, keccak: parts.keccak })
        await chain.requireChain()
        return isIdle ? await check(chain) : await advance(chain)
      })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      state = { state: 'waiting', reason: error.message }
    }
    return state
  }

  function readWork(): Promise<RelayWork> {
    return store.relayWork({ chainId, sender, maxItems: 2 * MAX_SEQUENCE })
  }

  function step(change: RelayStep): Promise<boolean> {
    return store.relayStep({ chainId, sender, change, nowMs: nowMs() })
  }

  async function check(chain: RelayChain): Promise<RelayState> {
    await step({ step: 'forget', beforeMs: nowMs() - settings.keepMs })
    return await transactions.fundsFor(chain, 0n)
  }

  async function advance(chain: RelayChain): Promise<RelayState> {
    // Read again: before this endpoint another one may have done a part of it.
    const work = await readWork()
    const head = await chain.head()
    const finalized = await chain.finalizedNumber(head, settings.finalityBlocks)
    const scene = { chain, head, finalized, used: await chain.transactionCount() }
    if (await settleMined(scene, work)) return READY // what is gone is looked after next
    const unsettled: Sent[] = []
    for (const open of work.open) {
      if (open.state === 'sent' && !(await settleSent(scene, open))) unsettled.push(open)
    }
    const [first, ...others] = unsettled
    for (const open of others) await transactions.resend(scene, open)
    if (first !== undefined) return await urge(scene, first)
    if (work.queued.length === 0) return READY
    return await sendNext(scene, work)
  }

  /** What was in a block: gone with it, final, or neither. @returns true when something is gone */
  async function settleMined({ chain, head, finalized }: Scene, work: RelayWork): Promise<boolean> {
    const inBlocks = work.open.filter((open) => open.state !== 'sent')
    const gone: number[] = []
    // From the newest on: a block that is still there says so of every block before it.
    for (const open of inBlocks.toSorted((left, right) => right.blockNumber - left.blockNumber)) {
      if (open.blockNumber > head.number && ++ticksBehind < PATIENT_TICKS) return false
      if ((await chain.block(open.blockNumber))?.hash === open.blockHash) break
      gone.push(open.nonce)
    }
    ticksBehind = 0
    if (gone.length > 0) {
      await step({ step: 'vanished', nonces: gone })
      note('submissions vanished with their block', { chainId, nonces: gone.join(' ') })
      return true
    }
    if (inBlocks.some((open) => open.state === 'mined' && open.blockNumber <= finalized)) {
      await step({ step: 'finalized', blockNumber: finalized })
    }
    for (const { state: outcome, nonce, blockNumber, hash } of inBlocks) {
      if (outcome === 'reverted' && blockNumber <= finalized) await lose(nonce, `transaction ${hash} reverted`)
    }
    return false
  }

  /** @returns true when the transaction is in a block, in whatever form */
  async function settleSent({ chain }: Scene, { nonce, attempts, items }: Sent): Promise<boolean> {
    const hashes = attempts.map(({ hash }) => hash)
    const found = await chain.mined(hashes, items)
    if (found === undefined) return false
    const { hash, block, uids, gasUsed } = found
    if (found.isSuccess) await step({ step: 'mined', nonce, hash, block, uids, gasUsed })
    else await step({ step: 'reverted', nonce, hash, block })
    note(found.isSuccess ? 'submissions mined' : 'submissions reverted', {
      chainId,
      nonce,
      hash,
      block: block.number,
      submissions: items.length,
    })
    return true
  }

  /** Does what can be done for the oldest transaction that is in no block. */
  async function urge(scene: Scene, open: Sent): Promise<RelayState> {
    const { head, used } = scene
    const { nonce, attempts } = open
    if (used > nonce) return await judgeUsed(scene, open)
    if (used < nonce) {
      const isOverdue = head.number - attempts[0]!.sentBlock >= settings.bumpBlocks
      return isOverdue ? await fillGap(scene, open) : await transactions.resend(scene, open)
    }
    const isOverdue = head.number - attempts.at(-1)!.sentBlock >= settings.bumpBlocks
    return isOverdue ? await transactions.raise(scene, open) : await transactions.resend(scene, open)
  }

  /** The chain counts the nonce as used, and none of our transactions with it is in a block. */
  async function judgeUsed({ chain, head, finalized }: Scene, { nonce, attempts }: Sent): Promise<RelayState> {
    const user = await chain.user(nonce, head)
    if (user === undefined) return waiting(`nonce ${nonce} is said to be used, and no transaction is shown that did`)
    const { hash, blockNumber } = user
    if (attempts.some((attempt) => attempt.hash === hash)) return waiting(`the receipt of ${hash} is not there yet`)
    if (blockNumber > finalized) return waiting(`nonce ${nonce} was used by ${hash}, in a block that may still go`)
    await lose(nonce, `its nonce was used by transaction ${hash}`)
    return READY
  }

  async function lose(nonce: number, error: string): Promise<void> {
    await step({ step: 'lost', nonce, maxAttempts: settings.maxAttempts, error })
    note('transaction lost', { chainId, nonce, reason: error })
  }

  /** Nonces before ours that nobody used: an endpoint had said they were. Empty transactions use them up. */
  async function fillGap(scene: Scene, open: Sent): Promise<RelayState> {
    const { used } = scene
    const missing = open.nonce - used
    if (missing > settings.maxNonceGap) {
      return waiting(`the chain is ${missing} nonces behind ours: only transactions with them help`)
    }
    const fees = await transactions.feesNow(scene)
    if (fees === undefined) return transactions.tooDear(scene)
    const trial = await scene.chain.estimate([])
    if (!trial.ok) return waiting('the contract refuses an empty multiAttest')
    for (let nonce = used; nonce < open.nonce; nonce++) {
      // A nonce that is stored and over was used when it was final: then the endpoint is behind.
      const filled = await transactions.begin(scene, nonce, [], [], 2 * trial.gas, fees)
      if (!filled) return waiting('the endpoint is behind')
      if (filled.state !== 'ready') return filled
    }
    return await transactions.resend(scene, open)
  }

  async function sendNext(scene: Scene, { queued, nextNonce = scene.used }: RelayWork): Promise<RelayState> {
    const { chain, used, head } = scene
    if (used < nextNonce) return waiting(`the endpoint counts ${used} nonces where ${nextNonce} are used`)
    if (used > nextNonce && !(await isShown(scene, used - 1))) {
      return waiting(`nonce ${used - 1} is said to be used, and no transaction is shown that did`)
    }
    const fees = await transactions.feesNow(scene)
    if (fees === undefined) return transactions.tooDear(scene)
    const { chosen, gas, refused } = await chooseBatch(chain, queued, settings.maxGas)
    if (refused.length > 0) {
      const ids = refused.map(({ id }) => id)
      await step({ step: 'failed', ids, error: 'the contract refuses it: a trial reverted, or needs too much gas' })
      note('submissions refused by the contract', { chainId, ids: ids.join(' ') })
    }
    if (chosen.length === 0) return READY
    const funds = await transactions.fundsFor(chain, fees.maxFeePerGas * BigInt(gas))
    if (funds.state !== 'ready') return funds
    const ids = chosen.map(({ id }) => id)
    const payloads = chosen.map(({ payload }) => payload)
    const sent = await transactions.begin(scene, used, ids, payloads, gas, fees)
    if (sent) note('submissions sent', { chainId, nonce: used, submissions: ids.length, head: head.number })
    return sent || READY // otherwise another relay was first
  }

  /** A nonce that somebody else used with our account; an old one may lie before everything that the endpoint still has. */
  async function isShown({ chain, head }: Scene, nonce: number): Promise<boolean> {
    try {
      return (await chain.user(nonce, head)) !== undefined
    } catch (error) {
      if (error instanceof RpcError && error.failure === 'error') return true
      throw error
    }
  }
}
