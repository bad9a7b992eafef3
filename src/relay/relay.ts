import type { Chain } from '../attest/chains.ts'
import type { SubmissionConfig } from '../config/config.ts'
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
import { type ChainHead, RelayChain } from './relay-chain.ts'
import { createSecondOpinion, RelayJudge } from './relay-judge.ts'
import { type ChainSnapshot, createRelaySender, READY, type SentTransaction, waiting } from './relay-sender.ts'

type Queued = RelayWork['queued'][number]

/** The submissions for the next transaction, and those that can never be in one. */
interface Batch {
  readonly chosen: readonly Queued[]
  readonly gas: number
  /** Submissions whose attestations the contract rejects even separately. */
  readonly rejected: readonly Queued[]
}

/** Gas may rise if others change the state before our transaction is mined: allow a fifth more than the estimate. */
const HEADROOM = 1.2

/**
 * Chooses attestations that succeed together in a trial on the head. Those that revert separately are excluded. While the others
 * revert together or need too much gas, half of them are left for later.
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
      const gas = Math.min(Math.ceil(trial.gas * HEADROOM), maxGas)
      return { chosen: candidates, gas, rejected }
    }
    // The error may be a limit of the node in its own words; fewer attestations may be within it.
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

/** Sends the submissions of one chain and follows them until they are final. */
export interface Relay {
  /**
   * Reads the stored state and the chain once, and takes the steps that follow. All state that matters is in the store, so a
   * relay may end at any moment and another one continues.
   *
   * @throws {StoreFault}
   */
  tick(): Promise<RelayState>
}

/** How often a relay without work checks the account's balance and deletes old submissions. */
const CHECK_MS = 60_000
/** How often the relay checks blocks that have to become final. */
const FINALITY_CHECK_MS = 4000
/** After this many ticks, a head below a block that was seen counts as a reorganisation, not as a lagging node. */
const MAX_LAGGING_TICKS = 3
/** After this long without progress, the relay alternates between endpoints: the fastest may withhold what another one has. */
const STUCK_MS = 15_000

/**
 * Creates the relay of one chain. It has one transaction in flight at a time: a `multiAttest` of up to 40 attestations.
 *
 * A nonce belongs to its submissions from the moment both are stored, which is before anything is sent. Every transaction sent
 * with that nonce makes the same attestations, so they are made once. The nonce is given up only when a final block shows that
 * another transaction used it or that ours reverted. A second endpoint, if there is one, has to confirm this.
 */
export function createRelay(parts: RelayParts): Relay {
  const { rpcs, store, sender, settings, nowMs, note } = parts
  const { id: chainId, easAddress, finalityDepth } = parts.chain
  const chainParts = { chainId, sender, easAddress, keccak: parts.keccak }
  const transactions = createRelaySender({ chainId, sign: parts.sign, step, settings, note })
  const askAnother = createSecondOpinion(rpcs, chainParts)
  const judge = new RelayJudge({ chainId, finalityDepth, settings, step, askSecondEndpoint: askAnother, nowMs, note })
  let state: RelayState = { state: 'unknown', reason: 'the chain has not been checked yet' }
  let lastCheckMs = Number.NEGATIVE_INFINITY
  let lastForgetMs = Number.NEGATIVE_INFINITY
  let lastProgressMs = nowMs()
  let lastEndpointIndex: number | undefined
  let ticksBehind = 0
  /** Whether this tick skipped an endpoint because its head is behind. */
  let isBehind = false
  return { tick }

  async function tick(): Promise<RelayState> {
    const work = await readWork()
    const isNothingSent = work.queued.length === 0 && work.open.every((open) => open.state !== 'sent')
    const isIdle = isNothingSent && work.open.length === 0
    const now = nowMs()
    if (isNothingSent) lastProgressMs = now
    if (isNothingSent && !isOver(now, lastCheckMs, isIdle ? CHECK_MS : FINALITY_CHECK_MS)) return state
    lastCheckMs = now
    if (isOver(now, lastForgetMs, CHECK_MS)) {
      await step({ step: 'forget', beforeMs: now - settings.retentionMs })
      lastForgetMs = now
    }
    isBehind = false
    try {
      state = await useEndpoint(isOver(now, lastProgressMs, STUCK_MS), async (rpc) => {
        lastEndpointIndex = rpc.index
        const chain = new RelayChain(rpc, chainParts)
        await chain.requireChain()
        return isIdle ? await transactions.checkFunds(chain, 0n) : await advance({ chain, endpointIndex: rpc.index })
      })
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (isBehind) ticksBehind++
      state = { state: 'waiting', reason: error.message }
    }
    return state
  }

  /** Uses the best endpoint or, without progress, another one than last time. */
  async function useEndpoint(isStuck: boolean, run: (rpc: RpcEndpoint) => Promise<RelayState>): Promise<RelayState> {
    if (isStuck && rpcs.size > 1 && lastEndpointIndex !== undefined) {
      try {
        return await rpcs.use(run, new Set([lastEndpointIndex]))
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
      }
    }
    return await rpcs.use(run)
  }

  function readWork(): Promise<RelayWork> {
    return store.relayWork({ chainId, sender, maxItems: 2 * MAX_SEQUENCE })
  }

  async function step(change: RelayStep): Promise<boolean> {
    const isTaken = await store.relayStep({ chainId, sender, change, nowMs: nowMs() })
    // Raising a fee is not progress.
    if (isTaken && change.step !== 'raise' && change.step !== 'forget') lastProgressMs = nowMs()
    return isTaken
  }

  async function advance({
    chain,
    endpointIndex,
  }: Pick<ChainSnapshot, 'chain' | 'endpointIndex'>): Promise<RelayState> {
    // Read again, because an attempt with another endpoint may already have taken some steps.
    const work = await readWork()
    const head = await chain.head()
    const finalized = await chain.finalizedNumber(head, finalityDepth)
    const snapshot = { chain, endpointIndex, head, finalized, usedNonces: await chain.transactionCount() }
    const settled = await settleInBlocks(snapshot, work)
    if (settled === 'changed') return READY // the next tick handles it
    const unsettled: SentTransaction[] = []
    for (const open of work.open) {
      if (open.state === 'sent' && !(await judge.settleSent(snapshot, open))) unsettled.push(open)
    }
    const [first, ...others] = unsettled
    for (const open of others) await transactions.resend(snapshot, open)
    if (first !== undefined) return await advanceOldest(snapshot, first)
    if (work.queued.length === 0) return settled
    return await sendNext(snapshot, work)
  }

  /** Settles transactions that were in a block: the block left the chain, or is final, or neither. */
  async function settleInBlocks(snapshot: ChainSnapshot, work: RelayWork): Promise<RelayState | 'changed'> {
    const { chain, head } = snapshot
    const inBlocks = work.open.filter((open) => open.state !== 'sent')
    const vanished: number[] = []
    // Newest first: if a block is still in the chain, so is every block before it.
    for (const open of inBlocks.toSorted((left, right) => right.blockNumber - left.blockNumber)) {
      if (open.blockNumber > head.number && isLagging(open.blockNumber, head)) return READY
      if ((await chain.block(open.blockNumber))?.hash === open.blockHash) break
      vanished.push(open.nonce)
    }
    ticksBehind = 0
    if (vanished.length === 0) return await judge.settleFinal(snapshot, inBlocks)
    await step({ step: 'vanished', nonces: vanished })
    note('submissions vanished with their block', { chainId, nonces: vanished.join(' ') })
    return 'changed'
  }

  /**
   * Tells whether a head below a block that was seen is treated as that of a lagging node.
   *
   * @throws {RpcError} when there are other endpoints to try
   */
  function isLagging(seen: number, head: ChainHead): boolean {
    if (rpcs.size === 1) return ++ticksBehind < MAX_LAGGING_TICKS
    if (ticksBehind >= MAX_LAGGING_TICKS) return false
    isBehind = true
    throw new RpcError(`its head is ${head.number}, below block ${seen} that was already seen`)
  }

  /** Advances the oldest transaction that is not in a block. */
  async function advanceOldest(snapshot: ChainSnapshot, open: SentTransaction): Promise<RelayState> {
    const { head, usedNonces } = snapshot
    const { nonce, attempts } = open
    if (usedNonces > nonce) return await judge.settleUsedNonce(snapshot, open)
    if (usedNonces < nonce && isOverdue(head, attempts[0]!)) return await fillGap(snapshot, open)
    const isDue = usedNonces === nonce && isOverdue(head, attempts.at(-1)!)
    return isDue ? await transactions.raise(snapshot, open) : await transactions.resend(snapshot, open)
  }

  /** Tells whether enough blocks passed without the transaction. A much lower head means that the former one was wrong. */
  function isOverdue(head: ChainHead, { sentBlock }: SentTransaction['attempts'][number]): boolean {
    return head.number - sentBlock >= settings.bumpBlocks || sentBlock - head.number > finalityDepth
  }

  /** Fills unused nonces before ours, which an endpoint had reported as used, with empty transactions. */
  async function fillGap(snapshot: ChainSnapshot, open: SentTransaction): Promise<RelayState> {
    const { usedNonces } = snapshot
    const missing = open.nonce - usedNonces
    if (missing > settings.maxNonceGap) {
      return waiting(`${missing} nonces before ours are unused: send transactions with these nonces from the account`)
    }
    const doubt = await judge.checkNonceGap(snapshot, open.nonce)
    if (doubt !== undefined) return waiting(doubt)
    const fees = await transactions.readFees(snapshot)
    if (fees === undefined) return transactions.waitForLowerFees(snapshot)
    const trial = await snapshot.chain.estimate([])
    if (!trial.ok) {
      if (trial.error !== undefined) throw trial.error
      return waiting('the contract rejects an empty multiAttest')
    }
    for (let nonce = usedNonces; nonce < open.nonce; nonce++) {
      // A stored nonce was used in a final block, so the endpoint is behind.
      const filled = await transactions.begin(snapshot, nonce, [], [], 2 * trial.gas, fees)
      if (!filled) return waiting('the endpoint is behind')
      if (filled.state !== 'ready') return filled
    }
    return await transactions.resend(snapshot, open)
  }

  async function sendNext(snapshot: ChainSnapshot, { queued, nextNonce: storedNonce }: RelayWork): Promise<RelayState> {
    const { chain, usedNonces, head } = snapshot
    const nextNonce = storedNonce ?? usedNonces
    if (usedNonces < nextNonce)
      return waiting(`the endpoint counts ${usedNonces} used nonces, but ${nextNonce} are used`)
    const doubt = await judge.checkNonceCount(snapshot, storedNonce)
    if (doubt !== undefined) return waiting(doubt)
    const fees = await transactions.readFees(snapshot)
    if (fees === undefined) return transactions.waitForLowerFees(snapshot)
    const { chosen, gas, rejected } = await chooseBatch(chain, queued, settings.maxGas)
    const rejectionState = rejected.length === 0 ? READY : await judge.failRejected(snapshot, rejected)
    if (chosen.length === 0) return rejectionState
    const funds = await transactions.checkFunds(chain, fees.maxFeePerGas * BigInt(gas))
    if (funds.state !== 'ready') return funds
    const ids = chosen.map(({ id }) => id)
    const payloads = chosen.map(({ payload }) => payload)
    const sent = await transactions.begin(snapshot, usedNonces, ids, payloads, gas, fees)
    if (sent) note('submissions sent', { chainId, nonce: usedNonces, submissions: ids.length, head: head.number })
    return sent || READY // otherwise another relay was first
  }
}

/** Tells whether a pause is over. If the clock was set back, the pause counts as over. */
function isOver(nowMs: number, sinceMs: number, pauseMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= pauseMs
}
