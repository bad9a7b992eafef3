import type { Chain } from '../attest/chains.ts'
import type { SubmissionConfig } from '../config/submission.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { type RpcEndpoint, RpcError } from '../sync/rpc.ts'
import type { RpcList } from '../sync/rpc-list.ts'
import type { RelayFacts, RelayState, RelayStep, RelayWork } from '../wire/relay-messages.ts'
import {
  type AttestationPayload,
  MAX_SEQUENCE,
  type RelayPayload,
  type RelaySigningResult,
} from '../wire/signing-messages.ts'
import type { RecordStore } from '../wire/store-messages.ts'
import type { Hex } from '../wire/values.ts'
import { type ChainHead, RelayChain, type RelayChainParts } from './relay-chain.ts'
import { RelayJudge } from './relay-judge.ts'
import { type ChainSnapshot, READY, RelaySender, type SentTransaction, waiting } from './relay-sender.ts'

type Queued = RelayWork['queued'][number]

/** The submissions for the next transaction, and those that can never be in one. */
interface Batch {
  readonly chosen: readonly Queued[]
  readonly gas: number
  /** Submissions whose attestations the contract rejects even separately. */
  readonly rejected: readonly Queued[]
}

/** A transaction may need more gas than its estimate if other transactions are mined first: allow a fifth more. */
const GAS_MARGIN = 1.2

/**
 * Chooses attestations that succeed together when they are tried on the head. Those that revert when tried separately are
 * excluded. While the others revert together or need too much gas, half of them are left for later.
 *
 * @param maxGas gas limit of one transaction
 * @throws {RpcError} when the endpoint reports neither gas nor a revert for a single attestation
 */
async function chooseBatch(chain: RelayChain, queued: readonly Queued[], maxGas: number): Promise<Batch> {
  let candidates = dropRepeated(queued).slice(0, MAX_SEQUENCE)
  let rejected: readonly Queued[] = []
  let areTriedSeparately = false
  while (candidates.length > 0) {
    const trial = await chain.estimate(candidates.map(({ payload }) => payload))
    if (trial.ok && trial.gas <= maxGas) {
      const gas = Math.min(Math.ceil(trial.gas * GAS_MARGIN), maxGas)
      return { chosen: candidates, gas, rejected }
    }
    // A node may report its own limit with an unknown error. Fewer attestations may stay within that limit.
    const isUnclear = !trial.ok && trial.error !== undefined
    if (candidates.length === 1) {
      if (isUnclear) throw trial.error
      return { chosen: [], gas: 0, rejected: [...rejected, ...candidates] }
    }
    if (!trial.ok && !isUnclear && !areTriedSeparately) {
      const trials = await chain.estimateEach(candidates.map(({ payload }) => payload))
      for (const separateTrial of trials)
        if (!separateTrial.ok && separateTrial.error !== undefined) throw separateTrial.error
      const isReverted = candidates.map((_, index) => !trials[index]!.ok)
      rejected = candidates.filter((_, index) => isReverted[index])
      candidates = candidates.filter((_, index) => !isReverted[index])
      areTriedSeparately = true
      if (rejected.length > 0) continue
    }
    candidates = candidates.slice(0, Math.ceil(candidates.length / 2))
  }
  return { chosen: [], gas: 0, rejected }
}

/** Drops repeated attestations: UIDs of equal ones in one block would differ by a counter, so each waits for another block. */
function dropRepeated(queued: readonly Queued[]): Queued[] {
  const seen = new Set<string>()
  return queued.filter(({ payload }) => {
    const key = payloadKey(payload)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function payloadKey({ schema, recipient, data }: AttestationPayload): string {
  return `${schema} ${recipient} ${data}`
}

interface RelayParts {
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
  /** Logs an event for the operator. */
  readonly note: (event: string, facts: RelayFacts) => void
}

/** How often a relay without work checks the account's balance and deletes old submissions. */
const CHECK_MS = 60_000
/** How often the relay checks blocks that have to become final. */
const FINALITY_CHECK_MS = 4000
/** After this many ticks in a row, a head below a block that was seen counts as a reorganisation, not as a lagging node. */
const MAX_LAGGING_TICKS = 3
/** After this long without progress, the relay alternates between endpoints: the preferred one may lack what another one has. */
const STUCK_MS = 15_000

/**
 * Sends the submissions of one chain and follows them until they are final. It has one transaction in flight at a time: a
 * `multiAttest` of up to 40 attestations.
 *
 * A nonce belongs to its submissions from the moment both are stored, which is before anything is sent. Every transaction sent
 * with that nonce makes the same attestations, so they are made once. The nonce is given up only when a final block shows that
 * another transaction used it or that ours reverted. A second endpoint, if there is one, has to confirm this.
 */
export class Relay {
  readonly #chainParts: RelayChainParts
  readonly #finalityDepth: number
  readonly #settings: SubmissionConfig
  readonly #rpcs: RelayParts['rpcs']
  readonly #store: RelayParts['store']
  readonly #nowMs: RelayParts['nowMs']
  readonly #note: RelayParts['note']
  readonly #transactions: RelaySender
  readonly #judge: RelayJudge
  #state: RelayState = { state: 'unknown', reason: 'the chain has not been checked yet' }
  /* Times are in milliseconds since the epoch. */
  #lastCheckMs = Number.NEGATIVE_INFINITY
  #lastForgetMs = Number.NEGATIVE_INFINITY
  #lastProgressMs: number
  #lastEndpointIndex: number | undefined
  /** Ticks in a row in which a head was below a block that was seen. */
  #ticksBehind = 0
  /** Whether this tick skipped an endpoint because its head is behind. */
  #isBehind = false

  constructor({ chain, sender, rpcs, store, sign, keccak, settings, nowMs, note }: RelayParts) {
    const { id: chainId, easAddress, finalityDepth } = chain
    this.#chainParts = { chainId, sender, easAddress, keccak }
    this.#finalityDepth = finalityDepth
    this.#settings = settings
    this.#rpcs = rpcs
    this.#store = store
    this.#nowMs = nowMs
    this.#note = note
    this.#lastProgressMs = nowMs()
    const step = (change: RelayStep) => this.#step(change)
    this.#transactions = new RelaySender({ chainId, sign, step, settings, note })
    this.#judge = new RelayJudge({ chainParts: this.#chainParts, rpcs, finalityDepth, settings, step, note })
  }

  /**
   * Reads the stored state and the chain once, and takes the steps that follow. All state that matters is in the store, so a
   * relay may end at any moment and another one continues.
   *
   * @throws {StoreFault}
   */
  async tick(): Promise<RelayState> {
    const work = await this.#readWork()
    const isNothingSent = work.queued.length === 0 && work.open.every((open) => open.state !== 'sent')
    const isIdle = isNothingSent && work.open.length === 0
    const now = this.#nowMs()
    if (isNothingSent) this.#lastProgressMs = now
    if (isNothingSent && !hasElapsed(now, this.#lastCheckMs, isIdle ? CHECK_MS : FINALITY_CHECK_MS)) return this.#state
    this.#lastCheckMs = now
    if (hasElapsed(now, this.#lastForgetMs, CHECK_MS)) {
      await this.#step({ step: 'forget', beforeMs: now - this.#settings.retentionMs })
      this.#lastForgetMs = now
    }
    this.#isBehind = false
    try {
      this.#state = await this.#useEndpoint(hasElapsed(now, this.#lastProgressMs, STUCK_MS), async (rpc) => {
        this.#lastEndpointIndex = rpc.index
        const chain = new RelayChain(rpc, this.#chainParts)
        await chain.requireChain()
        return isIdle
          ? await this.#transactions.checkFunds(chain, 0n)
          : await this.#advance({ chain, endpointIndex: rpc.index })
      })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (this.#isBehind) this.#ticksBehind++
      this.#state = { state: 'waiting', reason: error.message }
    }
    return this.#state
  }

  /** Uses the best endpoint or, without progress, another one than last time. */
  async #useEndpoint(isStuck: boolean, run: (rpc: RpcEndpoint) => Promise<RelayState>): Promise<RelayState> {
    if (isStuck && this.#rpcs.size > 1 && this.#lastEndpointIndex !== undefined) {
      try {
        return await this.#rpcs.use(run, new Set([this.#lastEndpointIndex]))
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
      }
    }
    return await this.#rpcs.use(run)
  }

  #readWork(): Promise<RelayWork> {
    const { chainId, sender } = this.#chainParts
    return this.#store.relayWork({ chainId, sender, maxItems: 2 * MAX_SEQUENCE })
  }

  /** Stores a step. Returns false when the stored state no longer allows it, because another relay was first. */
  async #step(change: RelayStep): Promise<boolean> {
    const { chainId, sender } = this.#chainParts
    const isTaken = await this.#store.relayStep({ chainId, sender, change, nowMs: this.#nowMs() })
    // Raising a fee is not progress.
    if (isTaken && change.step !== 'raise' && change.step !== 'forget') this.#lastProgressMs = this.#nowMs()
    return isTaken
  }

  /** Takes the steps that follow from the stored state and the chain as one endpoint shows it. */
  async #advance({ chain, endpointIndex }: Pick<ChainSnapshot, 'chain' | 'endpointIndex'>): Promise<RelayState> {
    // Read again: this tick may have taken some steps with another endpoint before that endpoint failed.
    const work = await this.#readWork()
    const head = await chain.head()
    const finalized = await chain.finalizedNumber(head, this.#finalityDepth)
    const snapshot = { chain, endpointIndex, head, finalized, usedNonces: await chain.transactionCount() }
    const settled = await this.#settleInBlocks(snapshot, work)
    if (settled === 'changed') return READY // the next tick handles it
    const unsettled: SentTransaction[] = []
    for (const open of work.open) {
      if (open.state === 'sent' && !(await this.#judge.settleSent(snapshot, open))) unsettled.push(open)
    }
    const [first, ...others] = unsettled
    for (const open of others) await this.#transactions.resend(snapshot, open)
    if (first !== undefined) return await this.#advanceOldest(snapshot, first)
    if (work.queued.length === 0) return settled
    return await this.#sendNext(snapshot, work)
  }

  /** Settles transactions that were in a block: the block left the chain, or is final, or neither. */
  async #settleInBlocks(snapshot: ChainSnapshot, work: RelayWork): Promise<RelayState | 'changed'> {
    const { chain, head } = snapshot
    const inBlocks = work.open.filter((open) => open.state !== 'sent')
    const vanished: number[] = []
    // Newest first: if a block is still in the chain, so is every block before it.
    for (const open of inBlocks.toSorted((left, right) => right.blockNumber - left.blockNumber)) {
      if (open.blockNumber > head.number && this.#isLagging(open.blockNumber, head)) return READY
      if ((await chain.block(open.blockNumber))?.hash === open.blockHash) break
      vanished.push(open.nonce)
    }
    this.#ticksBehind = 0
    if (vanished.length === 0) return await this.#judge.settleFinal(snapshot, inBlocks)
    await this.#step({ step: 'vanished', nonces: vanished })
    this.#note('submissions vanished with their block', {
      chainId: this.#chainParts.chainId,
      nonces: vanished.join(' '),
    })
    return 'changed'
  }

  /**
   * Tells whether a head below a block that was seen is attributed to a lagging node.
   *
   * @throws {RpcError} when there are other endpoints to try
   */
  #isLagging(seen: number, head: ChainHead): boolean {
    if (this.#rpcs.size === 1) return ++this.#ticksBehind < MAX_LAGGING_TICKS
    if (this.#ticksBehind >= MAX_LAGGING_TICKS) return false
    this.#isBehind = true
    throw new RpcError(`its head is ${head.number}, below block ${seen} that was already seen`)
  }

  /** Advances the oldest transaction that is not in a block. */
  async #advanceOldest(snapshot: ChainSnapshot, open: SentTransaction): Promise<RelayState> {
    const { head, usedNonces } = snapshot
    const { nonce, attempts } = open
    if (usedNonces > nonce) return await this.#judge.settleUsedNonce(snapshot, open)
    if (usedNonces < nonce && this.#isOverdue(head, attempts[0]!)) return await this.#fillGap(snapshot, open)
    const isDue = usedNonces === nonce && this.#isOverdue(head, attempts.at(-1)!)
    return isDue ? await this.#transactions.raise(snapshot, open) : await this.#transactions.resend(snapshot, open)
  }

  /** Tells whether enough blocks passed without the transaction. If the head is now much lower, the head at sending was wrong. */
  #isOverdue(head: ChainHead, { sentBlock }: SentTransaction['attempts'][number]): boolean {
    return head.number - sentBlock >= this.#settings.bumpBlocks || sentBlock - head.number > this.#finalityDepth
  }

  /** Sends empty transactions with the unused nonces before ours, which an endpoint had wrongly reported as used. */
  async #fillGap(snapshot: ChainSnapshot, open: SentTransaction): Promise<RelayState> {
    const { usedNonces } = snapshot
    const missing = open.nonce - usedNonces
    if (missing > this.#settings.maxNonceGap) {
      return waiting(`${missing} nonces before ours are unused: send transactions with these nonces from the account`)
    }
    const doubt = await this.#judge.checkNonceGap(snapshot, open.nonce)
    if (doubt !== undefined) return waiting(doubt)
    const fees = await this.#transactions.readFees(snapshot)
    if (fees === undefined) return this.#transactions.waitForLowerFees(snapshot)
    const trial = await snapshot.chain.estimate([])
    if (!trial.ok) {
      if (trial.error !== undefined) throw trial.error
      return waiting('the contract rejects an empty multiAttest')
    }
    for (let nonce = usedNonces; nonce < open.nonce; nonce++) {
      // `begin` returns false if the store has this nonce. It was then used in a final block, so the endpoint is behind.
      const filled = await this.#transactions.begin(snapshot, nonce, [], [], 2 * trial.gas, fees)
      if (!filled) return waiting('the endpoint is behind')
      if (filled.state !== 'ready') return filled
    }
    return await this.#transactions.resend(snapshot, open)
  }

  /** Sends the next transaction with as many queued submissions as fit. */
  async #sendNext(snapshot: ChainSnapshot, { queued, nextNonce: storedNonce }: RelayWork): Promise<RelayState> {
    const { chain, usedNonces, head } = snapshot
    const nextNonce = storedNonce ?? usedNonces
    if (usedNonces < nextNonce)
      return waiting(`the endpoint counts ${usedNonces} used nonces, but ${nextNonce} are used`)
    const doubt = await this.#judge.checkNonceCount(snapshot, storedNonce)
    if (doubt !== undefined) return waiting(doubt)
    const fees = await this.#transactions.readFees(snapshot)
    if (fees === undefined) return this.#transactions.waitForLowerFees(snapshot)
    const { chosen, gas, rejected } = await chooseBatch(chain, queued, this.#settings.maxGas)
    const rejectionState = rejected.length === 0 ? READY : await this.#judge.failRejected(snapshot, rejected)
    if (chosen.length === 0) return rejectionState
    const funds = await this.#transactions.checkFunds(chain, fees.maxFeePerGas * BigInt(gas))
    if (funds.state !== 'ready') return funds
    const ids = chosen.map(({ id }) => id)
    const payloads = chosen.map(({ payload }) => payload)
    const sent = await this.#transactions.begin(snapshot, usedNonces, ids, payloads, gas, fees)
    if (sent) {
      const { chainId } = this.#chainParts
      this.#note('submissions sent', { chainId, nonce: usedNonces, submissions: ids.length, head: head.number })
    }
    return sent || READY // otherwise another relay was first
  }
}

/** Tells whether a pause has elapsed. Returns true if the clock was set back. */
function hasElapsed(nowMs: number, sinceMs: number, pauseMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= pauseMs
}
