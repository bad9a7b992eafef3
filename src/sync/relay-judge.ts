import type { SubmissionConfig } from '../config.ts'
import type { OpenTransaction, RelayFacts, RelayState, RelayStep, RelayWork } from '../relay-messages.ts'
import type { RelayChain } from './relay-chain.ts'
import { READY, type Scene, type Sent, waiting } from './relay-sender.ts'
import { RpcError } from './rpc.ts'
import type { AskAnother, SecondOpinion } from './second-opinion.ts'

type InBlock = Exclude<OpenTransaction, { state: 'sent' }>

export interface RelayJudgeParts {
  readonly chainId: number
  /** Blocks below the head that stay, where an endpoint does not say which ones do. */
  readonly finalityDepth: number
  readonly settings: Pick<SubmissionConfig, 'maxAttempts' | 'maxNonceGap' | 'maxGas'>
  readonly step: (change: RelayStep) => Promise<boolean>
  readonly askAnother: AskAnother
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  readonly note: (event: string, facts: RelayFacts) => void
}

/** Blocks that become final in one look; the next look takes the next ones. */
const FINAL_AT_ONCE = 50
/** An endpoint that failed is left alone for a minute at most: in so long it was asked many times. */
const AWAY_MS = 600_000

/** The half of the relay that decides what is over: where two endpoints are configured, no word of one alone ends anything. */
export function createRelayJudge(parts: RelayJudgeParts) {
  const { chainId, finalityDepth, settings, step, askAnother, nowMs, note } = parts
  let silentSinceMs: number | undefined
  return { settleSent, settleFinal, judgeUsed, countDoubt, gapDoubt, refuse }

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

  /**
   * What lies in blocks that stay is over: mined, or reverted and queued again.
   *
   * @returns `gone` when it turns out to be something else than what was stored: it is looked after next
   */
  async function settleFinal(scene: Scene, inBlocks: readonly InBlock[]): Promise<RelayState | 'gone'> {
    const over = inBlocks.filter(({ blockNumber }) => blockNumber <= scene.finalized).slice(0, FINAL_AT_ONCE)
    if (over.length === 0) return READY
    const wrong = await contradicted(scene.chain, over)
    if (wrong.length > 0) return await settleWrong(scene, wrong)
    const opinion = await askAnother(scene.place, async (chain) => {
      const finalized = await chain.finalizedNumber(await chain.head(), finalityDepth)
      const isFinal = over.every(({ blockNumber }) => blockNumber <= finalized)
      return isFinal && (await contradicted(chain, over)).length === 0
    })
    const isAway = isAwayForLong(opinion)
    const mined = over.filter(({ state }) => state === 'mined')
    if (mined.length > 0 && (isAway || opinion === 'alone' || opinion === 'agrees')) {
      await step({ step: 'finalized', blocks: mined.map(({ nonce, blockHash }) => ({ nonce, hash: blockHash })) })
    }
    let state = READY
    for (const { state: outcome, nonce, hash } of over) {
      if (outcome !== 'reverted') continue
      if (opinion === 'alone' || opinion === 'agrees') await lose(nonce, `transaction ${hash} reverted`)
      else state = waiting(`transaction ${hash} reverted, says one endpoint; ${WORDS[opinion]}`)
    }
    return state
  }

  /** The endpoint shows another outcome than an endpoint did before. */
  async function settleWrong(scene: Scene, wrong: readonly InBlock[]): Promise<RelayState | 'gone'> {
    const opinion = await askAnother(scene.place, async (chain) => (await contradicted(chain, wrong)).length === 0)
    const hashes = wrong.map(({ hash }) => hash).join(' ')
    // Neither can be proven wrong: nothing ends before the operator takes one of them away.
    if (opinion === 'agrees') return waiting(`endpoints contradict each other about transaction ${hashes}`)
    const nonces = wrong.map(({ nonce }) => nonce)
    await step({ step: 'vanished', nonces })
    note('submissions have another outcome', { chainId, nonces: nonces.join(' ') })
    return 'gone'
  }

  /** What is mined needs no decision, and so is not held back for ever by an endpoint that is gone. */
  function isAwayForLong(opinion: SecondOpinion): boolean {
    if (opinion !== 'silent') silentSinceMs = undefined
    else silentSinceMs ??= nowMs()
    return silentSinceMs !== undefined && nowMs() - silentSinceMs >= AWAY_MS
  }

  /** Those that an endpoint does not show as they are stored. */
  async function contradicted(chain: RelayChain, over: readonly InBlock[]): Promise<readonly InBlock[]> {
    const outcomes = await chain.outcomes(over.map(({ hash }) => hash))
    return over.filter(({ state, blockHash }, index) => {
      const outcome = outcomes[index]
      return outcome?.blockHash !== blockHash || outcome.isSuccess !== (state === 'mined')
    })
  }

  /** The chain counts the nonce as used, and none of our transactions with it is in a block. */
  async function judgeUsed({ chain, place, head, finalized }: Scene, { nonce, attempts }: Sent): Promise<RelayState> {
    const user = await userOf(chain, nonce, head)
    if (user === 'too-old') {
      return waiting(
        `nonce ${nonce} is used, and the endpoint has no such old blocks to show by what: add one that has`,
      )
    }
    if (user === undefined) return waiting(`nonce ${nonce} is said to be used, and no transaction is shown that did`)
    const { hash, blockNumber } = user
    const hashes = attempts.map((attempt) => attempt.hash)
    if (hashes.includes(hash)) return waiting(`the receipt of ${hash} is not there yet`)
    if (blockNumber > finalized) return waiting(`nonce ${nonce} was used by ${hash}, in a block that may still go`)
    const opinion = await askAnother(place, async (other) => {
      const isUsed = (await other.transactionCount()) > nonce
      return isUsed && (await other.outcomes(hashes)).every((outcome) => outcome === undefined)
    })
    if (opinion === 'differs' || opinion === 'silent') {
      return waiting(`nonce ${nonce} was used by ${hash}, says one endpoint; ${WORDS[opinion]}`)
    }
    await lose(nonce, `its nonce was used by transaction ${hash}`)
    return READY
  }

  /** Why a count of used nonces is not believed that is higher than what is known here; undefined when it is. */
  async function countDoubt(scene: Scene, nextNonce: number | undefined): Promise<string | undefined> {
    const { chain, place, head, used } = scene
    const jump = used - (nextNonce ?? 0)
    if (jump <= 0) return undefined
    if (nextNonce !== undefined && (await userOf(chain, used - 1, head)) === undefined) {
      return `nonce ${used - 1} is said to be used, and no transaction is shown that did`
    }
    // A nonce that is much too high could never be used: nobody fills such a gap.
    const opinion = await askAnother(place, async (other) => (await other.transactionCount()) >= used)
    const isDoubtful = opinion === 'differs' || (opinion === 'silent' && jump > settings.maxNonceGap)
    return isDoubtful ? `${used} nonces are used, says one endpoint; ${WORDS[opinion]}` : undefined
  }

  /** Why nonces before ours are not believed to be free; undefined when they are. */
  async function gapDoubt({ place, used }: Scene, nonce: number): Promise<string | undefined> {
    const opinion = await askAnother(place, async (other) => (await other.transactionCount()) < nonce)
    const isDoubtful = opinion === 'differs' || opinion === 'silent'
    return isDoubtful ? `only ${used} nonces are used, says one endpoint; ${WORDS[opinion]}` : undefined
  }

  /** Attestations that reverted when they were tried alone fail. */
  async function refuse({ place }: Scene, refused: RelayWork['queued']): Promise<RelayState> {
    const ids = refused.map(({ id }) => id)
    const opinion = await askAnother(place, async (other) => {
      const trials = await other.estimateEach(refused.map(({ payload }) => payload))
      return trials.every((trial) => (trial.ok ? trial.gas > settings.maxGas : trial.error === undefined))
    })
    if (opinion === 'differs')
      return waiting(`the contract refuses ${ids.length} submissions, says one endpoint; ${WORDS.differs}`)
    await step({ step: 'failed', ids, error: 'the contract refuses it: a trial reverted, or needs too much gas' })
    note('submissions refused by the contract', { chainId, ids: ids.join(' ') })
    return READY
  }

  async function lose(nonce: number, error: string): Promise<void> {
    await step({ step: 'lost', nonce, maxAttempts: settings.maxAttempts, error })
    note('transaction lost', { chainId, nonce, reason: error })
  }
}

const WORDS = {
  differs: 'another one does not',
  silent: 'no other one answers, and one is not enough',
} as const

/** The transaction of the account that used a nonce; it may lie before everything that the endpoint still has. */
async function userOf(chain: RelayChain, nonce: number, head: Scene['head']) {
  try {
    return await chain.user(nonce, head)
  } catch (error) {
    if (error instanceof RpcError && error.failure === 'error') return 'too-old'
    throw error
  }
}
