import type { SubmissionConfig } from '../config/submission.ts'
import { RpcError } from '../sync/rpc.ts'
import type { RpcList } from '../sync/rpc-list.ts'
import type { OpenTransaction, RelayFacts, RelayState, RelayStep, RelayWork } from '../wire/relay-messages.ts'
import { RelayChain, type RelayChainParts } from './relay-chain.ts'
import { type ChainSnapshot, READY, type SentTransaction, waiting } from './relay-sender.ts'

/** What a second endpoint says about the first. `single`: there is only one endpoint. `silent`: none of the others responds. */
type SecondOpinion = 'single' | 'agrees' | 'differs' | 'silent'

type InBlock = Exclude<OpenTransaction, { state: 'sent' }>

interface RelayJudgeParts {
  readonly chainParts: RelayChainParts
  readonly rpcs: Pick<RpcList, 'use' | 'size'>
  /** Blocks at least this far below the head are treated as final when an endpoint does not report finality. */
  readonly finalityDepth: number
  readonly settings: Pick<SubmissionConfig, 'maxAttempts' | 'maxGas'>
  readonly step: (change: RelayStep) => Promise<boolean>
  readonly note: (event: string, facts: RelayFacts) => void
}

/** The most transactions that are settled as final per tick; the next tick continues. */
const MAX_FINAL_PER_TICK = 50

/**
 * The half of the relay that decides when a transaction is settled. If several endpoints are configured, a second one has to
 * confirm what cannot be undone: that a transaction is final or lost, that a submission failed, or which nonces are used. Until
 * one does, the submission stays as it is, and the next tick asks again.
 */
export class RelayJudge {
  readonly #chainId: number
  readonly #finalityDepth: number
  readonly #settings: RelayJudgeParts['settings']
  readonly #step: RelayJudgeParts['step']
  readonly #chainParts: RelayChainParts
  readonly #rpcs: RelayJudgeParts['rpcs']
  readonly #note: RelayJudgeParts['note']

  constructor(parts: RelayJudgeParts) {
    this.#chainId = parts.chainParts.chainId
    this.#chainParts = parts.chainParts
    this.#rpcs = parts.rpcs
    this.#finalityDepth = parts.finalityDepth
    this.#settings = parts.settings
    this.#step = parts.step
    this.#note = parts.note
  }

  /**
   * Asks a second endpoint whether the first one is right.
   *
   * @param index of the first endpoint, which is not asked
   * @param isRight evaluates the chain as the second endpoint shows it
   */
  async #askSecondEndpoint(index: number, isRight: (chain: RelayChain) => Promise<boolean>): Promise<SecondOpinion> {
    if (this.#rpcs.size === 1) return 'single'
    try {
      return await this.#rpcs.use(
        async (rpc) => {
          const chain = new RelayChain(rpc, this.#chainParts)
          await chain.requireChain()
          return (await isRight(chain)) ? 'agrees' : 'differs'
        },
        new Set([index]),
      )
    } catch (error) {
      if (error instanceof RpcError) return 'silent'
      throw error
    }
  }

  /** Stores the outcome of a sent transaction. Returns true when any signed form of it is in a block. */
  async settleSent({ chain }: ChainSnapshot, { nonce, attempts, items }: SentTransaction): Promise<boolean> {
    const hashes = attempts.map(({ hash }) => hash)
    const transaction = await chain.findMined(hashes, items)
    if (transaction === undefined) return false
    const { hash, block, uids, gasUsed } = transaction
    if (transaction.isSuccess) await this.#step({ step: 'mined', nonce, hash, block, uids, gasUsed })
    else await this.#step({ step: 'reverted', nonce, hash, block })
    this.#note(transaction.isSuccess ? 'submissions mined' : 'submissions reverted', {
      chainId: this.#chainId,
      nonce,
      hash,
      block: block.number,
      submissions: items.length,
    })
    return true
  }

  /**
   * Settles transactions in final blocks: mined ones become final, and submissions of reverted ones are queued again.
   *
   * @returns `changed` when an outcome differs from the stored one; the next tick handles the transaction
   */
  async settleFinal(snapshot: ChainSnapshot, inBlocks: readonly InBlock[]): Promise<RelayState | 'changed'> {
    const final = inBlocks.filter(({ blockNumber }) => blockNumber <= snapshot.finalized).slice(0, MAX_FINAL_PER_TICK)
    if (final.length === 0) return READY
    const contradicted = await findContradicted(snapshot.chain, final)
    if (contradicted.length > 0) return await this.#settleContradicted(snapshot, contradicted)
    const opinion = await this.#askSecondEndpoint(snapshot.endpointIndex, async (chain) => {
      const finalized = await chain.finalizedNumber(await chain.head(), this.#finalityDepth)
      const isFinal = final.every(({ blockNumber }) => blockNumber <= finalized)
      return isFinal && (await findContradicted(chain, final)).length === 0
    })
    const mined = final.filter(({ state }) => state === 'mined')
    const reverted = final.filter(({ state }) => state === 'reverted')
    if (!isConfirmed(opinion)) {
      if (reverted.length > 0)
        return waiting(`one endpoint says that transaction ${reverted[0]!.hash} reverted; ${OPINION_TEXTS[opinion]}`)
      // After each new block, one endpoint is often slightly behind the other. The operator need not know.
      if (opinion === 'differs') return READY
      return waiting(`one endpoint says that transaction ${mined[0]!.hash} is final; ${OPINION_TEXTS.silent}`)
    }
    if (mined.length > 0) {
      const blocks = mined.map(({ nonce, blockHash }) => ({ nonce, hash: blockHash }))
      await this.#step({ step: 'finalized', blocks })
    }
    for (const { nonce, hash } of reverted) await this.#storeLost(nonce, `transaction ${hash} reverted`)
    return READY
  }

  /** Handles transactions whose outcome at this endpoint differs from the stored outcome, which an endpoint showed earlier. */
  async #settleContradicted(
    snapshot: ChainSnapshot,
    contradicted: readonly InBlock[],
  ): Promise<RelayState | 'changed'> {
    const opinion = await this.#askSecondEndpoint(
      snapshot.endpointIndex,
      async (chain) => (await findContradicted(chain, contradicted)).length === 0,
    )
    const hashes = contradicted.map(({ hash }) => hash).join(' ')
    // Neither endpoint can be proven wrong: nothing is settled until the operator removes one of them.
    if (opinion === 'agrees') return waiting(`endpoints contradict each other about transactions ${hashes}`)
    const nonces = contradicted.map(({ nonce }) => nonce)
    await this.#step({ step: 'vanished', nonces })
    this.#note('submissions have another outcome', { chainId: this.#chainId, nonces: nonces.join(' ') })
    return 'changed'
  }

  /** Handles a nonce that the chain counts as used although none of our transactions with it is in a block. */
  async settleUsedNonce(
    { chain, endpointIndex, head, finalized }: ChainSnapshot,
    { nonce, attempts }: SentTransaction,
  ): Promise<RelayState> {
    const user = await findTransactionByNonce(chain, nonce, head)
    if (user === 'too-old') {
      return waiting(
        `nonce ${nonce} is used, and the endpoint does not have blocks old enough to show by which transaction: add an endpoint that has`,
      )
    }
    if (user === undefined)
      return waiting(`the endpoint counts nonce ${nonce} as used but shows no transaction that used it`)
    const { hash, blockNumber } = user
    const hashes = attempts.map((attempt) => attempt.hash)
    if (hashes.includes(hash)) return waiting(`the receipt of ${hash} is not available yet`)
    if (blockNumber > finalized) return waiting(`nonce ${nonce} was used by ${hash}, in a block that is not final`)
    const opinion = await this.#askSecondEndpoint(endpointIndex, async (other) => {
      const isUsed = (await other.transactionCount()) > nonce
      return isUsed && (await other.readOutcomes(hashes)).every((outcome) => outcome === undefined)
    })
    if (!isConfirmed(opinion)) {
      return waiting(`one endpoint says that nonce ${nonce} was used by ${hash}; ${OPINION_TEXTS[opinion]}`)
    }
    await this.#storeLost(nonce, `its nonce was used by transaction ${hash}`)
    return READY
  }

  /**
   * Checks an endpoint's count of used nonces that is higher than the stored one.
   *
   * @returns why the count is not trusted; undefined when it is
   */
  async checkNonceCount(snapshot: ChainSnapshot, nextNonce: number | undefined): Promise<string | undefined> {
    const { chain, endpointIndex, head, usedNonces } = snapshot
    if (usedNonces <= (nextNonce ?? 0)) return undefined
    if (nextNonce !== undefined && (await findTransactionByNonce(chain, usedNonces - 1, head)) === undefined) {
      return `the endpoint counts nonce ${usedNonces - 1} as used but shows no transaction that used it`
    }
    // A nonce far too high could never be mined, because the relay does not fill such a gap.
    const opinion = await this.#askSecondEndpoint(
      endpointIndex,
      async (other) => (await other.transactionCount()) >= usedNonces,
    )
    if (isConfirmed(opinion)) return undefined
    return `one endpoint says that ${usedNonces} nonces are used; ${OPINION_TEXTS[opinion]}`
  }

  /** Checks that nonces before ours are unused. Returns why this is not trusted; undefined when it is. */
  async checkNonceGap({ endpointIndex, usedNonces }: ChainSnapshot, nonce: number): Promise<string | undefined> {
    const opinion = await this.#askSecondEndpoint(
      endpointIndex,
      async (other) => (await other.transactionCount()) < nonce,
    )
    if (isConfirmed(opinion)) return undefined
    return `one endpoint says that only ${usedNonces} nonces are used; ${OPINION_TEXTS[opinion]}`
  }

  /** Marks submissions as failed whose attestations reverted, or needed too much gas, when tried separately. */
  async failRejected({ endpointIndex }: ChainSnapshot, rejected: RelayWork['queued']): Promise<RelayState> {
    const ids = rejected.map(({ id }) => id)
    const opinion = await this.#askSecondEndpoint(endpointIndex, async (other) => {
      const trials = await other.estimateEach(rejected.map(({ payload }) => payload))
      return trials.every((trial) => (trial.ok ? trial.gas > this.#settings.maxGas : trial.error === undefined))
    })
    if (!isConfirmed(opinion))
      return waiting(`one endpoint says that the contract rejects ${ids.length} submissions; ${OPINION_TEXTS[opinion]}`)
    const error = 'the contract rejects it: a trial reverted or needs too much gas'
    await this.#step({ step: 'failed', ids, error })
    this.#note('submissions refused by the contract', { chainId: this.#chainId, ids: ids.join(' ') })
    return READY
  }

  /** Queues the submissions of a transaction again that can no longer be mined; after too many attempts they fail. */
  async #storeLost(nonce: number, error: string): Promise<void> {
    await this.#step({ step: 'lost', nonce, maxAttempts: this.#settings.maxAttempts, error })
    this.#note('transaction lost', { chainId: this.#chainId, nonce, reason: error })
  }
}

/** Tells whether a decision may be made. A single configured endpoint is trusted. */
function isConfirmed(opinion: SecondOpinion): opinion is 'single' | 'agrees' {
  return opinion === 'single' || opinion === 'agrees'
}

const OPINION_TEXTS = {
  differs: 'another endpoint disagrees',
  silent: 'no other endpoint responds, and one is not enough',
} as const

/** Finds the transaction that used a nonce. Returns `too-old` when the endpoint no longer has the state of that time. */
async function findTransactionByNonce(chain: RelayChain, nonce: number, head: ChainSnapshot['head']) {
  try {
    return await chain.findTransactionByNonce(nonce, head)
  } catch (error) {
    if (error instanceof RpcError && error.failure === 'error') return 'too-old'
    throw error
  }
}

/** Returns the transactions whose outcome at an endpoint differs from the stored one. */
async function findContradicted(chain: RelayChain, final: readonly InBlock[]): Promise<readonly InBlock[]> {
  const outcomes = await chain.readOutcomes(final.map(({ hash }) => hash))
  return final.filter(({ state, blockHash }, index) => {
    const outcome = outcomes[index]
    return outcome?.blockHash !== blockHash || outcome.isSuccess !== (state === 'mined')
  })
}
