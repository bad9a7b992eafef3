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
import { type ChainHead, createRelayChain } from './relay-chain.ts'
import { createRelayJudge } from './relay-judge.ts'
import { createRelaySender, READY, type Scene, type Sent, waiting } from './relay-sender.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'
import { createAskAnother } from './second-opinion.ts'

export interface RelayParts {
  readonly chain: Pick<Chain, 'id' | 'easAddress' | 'finalityDepth'>
  /** Our account, lower case. */
  readonly sender: Hex
  readonly rpcs: Pick<RpcList, 'use' | 'size'>
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
/** Without any progress for so long, the endpoints are asked in turn: the quickest may hold back what another one has. */
const STUCK_MS = 15_000

/**
 * The relay of one chain. One transaction is on its way at a time, of up to 40 attestations by `multiAttest`.
 *
 * A nonce belongs to its submissions from the moment both are stored, before anything is sent: whatever is sent again for it,
 * and however often, attests the same, once. It is given up only when the chain shows, in a block that stays, that another
 * transaction used it or that ours reverted; where there is a second endpoint, it has to say so too.
 */
export function createRelay(parts: RelayParts): Relay {
  const { rpcs, store, sender, settings, nowMs, note } = parts
  const { id: chainId, easAddress, finalityDepth } = parts.chain
  const chainParts = { chainId, sender, easAddress, keccak: parts.keccak }
  const transactions = createRelaySender({ chainId, sign: parts.sign, step, settings, note })
  const askAnother = createAskAnother(rpcs, chainParts)
  const judge = createRelayJudge({ chainId, finalityDepth, settings, step, askAnother, nowMs, note })
  let state: RelayState = { state: 'unknown', reason: 'the chain was not asked yet' }
  let lookedMs = Number.NEGATIVE_INFINITY
  let forgotMs = Number.NEGATIVE_INFINITY
  let movedMs = nowMs()
  let lastPlace: number | undefined
  let ticksBehind = 0
  /** In this tick: an endpoint was passed over because its head is behind. */
  let isBehind = false
  return { tick }

  async function tick(): Promise<RelayState> {
    const work = await readWork()
    const isCalm = work.queued.length === 0 && work.open.every((open) => open.state !== 'sent')
    const isIdle = isCalm && work.open.length === 0
    const now = nowMs()
    if (isCalm) movedMs = now
    if (isCalm && !isOver(now, lookedMs, isIdle ? CHECK_MS : CALM_MS)) return state
    lookedMs = now
    if (isOver(now, forgotMs, CHECK_MS)) {
      await step({ step: 'forget', beforeMs: now - settings.keepMs })
      forgotMs = now
    }
    isBehind = false
    try {
      state = await ask(isOver(now, movedMs, STUCK_MS), async (rpc) => {
        lastPlace = rpc.place
        const chain = createRelayChain(rpc, chainParts)
        await chain.requireChain()
        return isIdle ? await transactions.fundsFor(chain, 0n) : await advance({ chain, place: rpc.place })
      })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (isBehind) ticksBehind++
      state = { state: 'waiting', reason: error.message }
    }
    return state
  }

  /** The best endpoint, or when nothing moves another than last time. */
  async function ask(isStuck: boolean, look: (rpc: RpcEndpoint) => Promise<RelayState>): Promise<RelayState> {
    if (isStuck && rpcs.size > 1 && lastPlace !== undefined) {
      try {
        return await rpcs.use(look, new Set([lastPlace]))
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
      }
    }
    return await rpcs.use(look)
  }

  function readWork(): Promise<RelayWork> {
    return store.relayWork({ chainId, sender, maxItems: 2 * MAX_SEQUENCE })
  }

  async function step(change: RelayStep): Promise<boolean> {
    const isTaken = await store.relayStep({ chainId, sender, change, nowMs: nowMs() })
    // A higher fee brings nothing forward by itself.
    if (isTaken && change.step !== 'raise' && change.step !== 'forget') movedMs = nowMs()
    return isTaken
  }

  async function advance({ chain, place }: Pick<Scene, 'chain' | 'place'>): Promise<RelayState> {
    // Read again: before this endpoint another one may have done a part of it.
    const work = await readWork()
    const head = await chain.head()
    const finalized = await chain.finalizedNumber(head, finalityDepth)
    const scene = { chain, place, head, finalized, used: await chain.transactionCount() }
    const settled = await settleInBlocks(scene, work)
    if (settled === 'gone') return READY // what is gone is looked after next
    const unsettled: Sent[] = []
    for (const open of work.open) {
      if (open.state === 'sent' && !(await judge.settleSent(scene, open))) unsettled.push(open)
    }
    const [first, ...others] = unsettled
    for (const open of others) await transactions.resend(scene, open)
    if (first !== undefined) return await urge(scene, first)
    if (work.queued.length === 0) return settled
    return await sendNext(scene, work)
  }

  /** What was in a block: gone with it, final, or neither. */
  async function settleInBlocks(scene: Scene, work: RelayWork): Promise<RelayState | 'gone'> {
    const { chain, head } = scene
    const inBlocks = work.open.filter((open) => open.state !== 'sent')
    const gone: number[] = []
    // From the newest on: a block that is still there says so of every block before it.
    for (const open of inBlocks.toSorted((left, right) => right.blockNumber - left.blockNumber)) {
      if (open.blockNumber > head.number && isPatient(open.blockNumber, head)) return READY
      if ((await chain.block(open.blockNumber))?.hash === open.blockHash) break
      gone.push(open.nonce)
    }
    ticksBehind = 0
    if (gone.length === 0) return await judge.settleFinal(scene, inBlocks)
    await step({ step: 'vanished', nonces: gone })
    note('submissions vanished with their block', { chainId, nonces: gone.join(' ') })
    return 'gone'
  }

  /**
   * Whether a head before a block that was seen is taken for that of a node that lags.
   *
   * @throws {RpcError} when there are other nodes to ask
   */
  function isPatient(seen: number, head: ChainHead): boolean {
    if (rpcs.size === 1) return ++ticksBehind < PATIENT_TICKS
    if (ticksBehind >= PATIENT_TICKS) return false
    isBehind = true
    throw new RpcError(`its head is ${head.number}, and block ${seen} was seen`)
  }

  /** Does what can be done for the oldest transaction that is in no block. */
  async function urge(scene: Scene, open: Sent): Promise<RelayState> {
    const { head, used } = scene
    const { nonce, attempts } = open
    if (used > nonce) return await judge.judgeUsed(scene, open)
    if (used < nonce && isOverdue(head, attempts[0]!)) return await fillGap(scene, open)
    const isDue = used === nonce && isOverdue(head, attempts.at(-1)!)
    return isDue ? await transactions.raise(scene, open) : await transactions.resend(scene, open)
  }

  /** Blocks went by without it. A head that is far before the one of then was no head of this chain. */
  function isOverdue(head: ChainHead, { sentBlock }: Sent['attempts'][number]): boolean {
    return head.number - sentBlock >= settings.bumpBlocks || sentBlock - head.number > finalityDepth
  }

  /** Nonces before ours that nobody used: an endpoint had said they were. Empty transactions use them up. */
  async function fillGap(scene: Scene, open: Sent): Promise<RelayState> {
    const { used } = scene
    const missing = open.nonce - used
    if (missing > settings.maxNonceGap) {
      return waiting(`the chain is ${missing} nonces behind ours: only transactions with them help`)
    }
    const doubt = await judge.gapDoubt(scene, open.nonce)
    if (doubt !== undefined) return waiting(doubt)
    const fees = await transactions.feesNow(scene)
    if (fees === undefined) return transactions.tooDear(scene)
    const trial = await scene.chain.estimate([])
    if (!trial.ok) {
      if (trial.error !== undefined) throw trial.error
      return waiting('the contract refuses an empty multiAttest')
    }
    for (let nonce = used; nonce < open.nonce; nonce++) {
      // A nonce that is stored and over was used when it was final: then the endpoint is behind.
      const filled = await transactions.begin(scene, nonce, [], [], 2 * trial.gas, fees)
      if (!filled) return waiting('the endpoint is behind')
      if (filled.state !== 'ready') return filled
    }
    return await transactions.resend(scene, open)
  }

  async function sendNext(scene: Scene, { queued, nextNonce: known }: RelayWork): Promise<RelayState> {
    const { chain, used, head } = scene
    const nextNonce = known ?? used
    if (used < nextNonce) return waiting(`the endpoint counts ${used} nonces where ${nextNonce} are used`)
    const doubt = await judge.countDoubt(scene, known)
    if (doubt !== undefined) return waiting(doubt)
    const fees = await transactions.feesNow(scene)
    if (fees === undefined) return transactions.tooDear(scene)
    const { chosen, gas, refused } = await chooseBatch(chain, queued, settings.maxGas)
    const refusal = refused.length === 0 ? READY : await judge.refuse(scene, refused)
    if (chosen.length === 0) return refusal
    const funds = await transactions.fundsFor(chain, fees.maxFeePerGas * BigInt(gas))
    if (funds.state !== 'ready') return funds
    const ids = chosen.map(({ id }) => id)
    const payloads = chosen.map(({ payload }) => payload)
    const sent = await transactions.begin(scene, used, ids, payloads, gas, fees)
    if (sent) note('submissions sent', { chainId, nonce: used, submissions: ids.length, head: head.number })
    return sent || READY // otherwise another relay was first
  }
}

/** Whether so long has passed. A clock that was put back says nothing: then it has. */
function isOver(nowMs: number, sinceMs: number, pauseMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= pauseMs
}
